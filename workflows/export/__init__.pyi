from . import base as base
from . import reduction as reduction
from .base import latex_name as latex_name
