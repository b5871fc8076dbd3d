from . import base as base
from . import reduction as reduction
from .base import latex_name as latex_name
from .base import to_sympy as to_sympy
from .four_bars import cognates_of as cognates_of
