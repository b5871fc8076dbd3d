from . import warmup as warmup
from .evaluator import ChunkEvaluator as ChunkEvaluator
from .evaluator import prepare as prepare
from .precise import CERTAIN as CERTAIN
from .precise import PreciseEvaluator as PreciseEvaluator
from .recipe import SYMBOLIC as SYMBOLIC
