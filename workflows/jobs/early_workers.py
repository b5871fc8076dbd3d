"""Workers of a sweep begin to import while the sweep is prepared."""

from pathlib import Path

from basepar_core.texts import is_address
from cluster import fork_server

#: What every worker of a sweep imports, two thirds of its start; and what its first kernel loads.
MODULES = (
    "sweeps.run.worker",
    "sweeps.run.chunk_size",
    "sweeps.chunks.evaluator",
    "sweeps.chunks.chunk",
    "basepar_core.compiled.api",
    "basepar_core.metrics.regimes",
    "basepar_core.single_dof.cycle_kernels",
    "scipy.optimize",
    "basepar_core.compiled.numba_loaded",
)


def _is_there(store: str | Path) -> bool:
    """Of one in a bucket nobody knows before it is asked, which the sweep does."""
    return is_address(store) or Path(store).exists()


def start_early(cluster: str, store: str | Path | None) -> None:
    """Begin where workers of this machine are likely needed: the store does not exist yet."""
    if cluster == "laptop" and (store is None or not _is_there(store)):
        fork_server.start(MODULES)
