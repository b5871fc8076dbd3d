from . import batch as batch
from . import page as page
from . import tables as tables
from .data import Facts as Facts
from .data import gather as gather
from .results import metric_title as metric_title
from .variant_table import criterion_columns as criterion_columns
from .variant_table import words as words
