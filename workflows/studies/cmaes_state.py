"""CMA-ES from a journal: its state without the right to import.

Optuna keeps the state of CMA-ES as a pickle in the trials' attributes, and unpickles what it finds
there. A journal is data, so here the pickle may name nothing but that state's own classes.
"""

import io
import pickle
from collections.abc import Sequence
from typing import Any

from optuna.samplers import CmaEsSampler
from optuna.trial import FrozenTrial

from basepar_core.errors import StoreError

_CLASSES = {("cmaes._cma", "CMA"), ("cmaes._sepcma", "SepCMA"), ("cmaes._cmawm", "CMAwM")}
_ARRAYS = {("numpy", "dtype"), ("numpy", "ndarray")}
_ARRAYS |= {
    (f"numpy.{core}.multiarray", name)
    for core in ("_core", "core")
    for name in ("scalar", "_reconstruct")
}


class _State(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _CLASSES | _ARRAYS:
            raise pickle.UnpicklingError(f"it names {module}.{name}")
        return super().find_class(module, name)


def state(data: bytes) -> Any:
    """The state of CMA-ES; StoreError where the pickle is of anything else."""
    try:
        found = _State(io.BytesIO(data)).load()
        if (type(found).__module__, type(found).__name__) not in _CLASSES:
            raise pickle.UnpicklingError(f"it is a {type(found).__name__}")
    except Exception as cause:
        raise StoreError(
            f"The study's trials do not hold a state of CMA-ES: {cause}. Nothing of it has run. "
            "Name another storage in `study.storage`.",
            ["study.storage"],
        ) from cause
    return found


class CmaEs(CmaEsSampler):
    """Optuna's sampler, which reads its state by `state`."""

    def _restore_optimizer(self, completed_trials: Sequence[FrozenTrial]) -> Any:
        prefix = self._attr_key_optimizer
        for trial in reversed(completed_trials):
            parts = {k: v for k, v in trial.system_attrs.items() if k.startswith(prefix)}
            if parts:
                return state(bytes.fromhex(self._concat_optimizer_attrs(parts)))
        return None
