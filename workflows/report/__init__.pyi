from . import batch as batch
from . import page as page
from . import tables as tables
