from . import comparison as comparison
from . import printing as printing
from .papers import PAPERS as PAPERS
from .papers import Paper as Paper
from .papers import paper as paper
from .papers import reproduce as reproduce
