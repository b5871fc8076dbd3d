from .shell import data as data
from .shell import page as page
from .shell import script as script
from .shell import text_beside as text_beside
