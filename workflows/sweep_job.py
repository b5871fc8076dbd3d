"""A sweep job: specification, cluster, store."""

from pathlib import Path

from basepar_core.errors import BaseparError, UsageError
from cluster.connect import PlaceError, connect
from cluster.places import Address, Laptop, Place
from sweeps.progress import Progress
from sweeps.spec import SweepSpec
from sweeps.spec_file import load_sweep
from sweeps.sweep import Summary, sweep

from .shipped import sweep_file


class ClusterError(BaseparError):
    """The workers asked for are not to be had."""

    kind = "cluster"


def place_of(cluster: str, workers: int | None) -> Place:
    """The place that `--cluster` and `--workers` mean.

    Raises
    ------
    UsageError
        Neither `laptop` nor an address.
    """
    if cluster == "laptop":
        if workers is not None and workers < 1:
            raise UsageError(f"--workers {workers}: at least 1 is needed.", ["--workers"])
        return Laptop(workers=workers)
    if "://" in cluster:
        return Address(cluster)
    raise UsageError(
        f"--cluster {cluster!r} is neither `laptop` nor an address such as tcp://host:8786.",
        ["--cluster"],
    )


def load_job(spec: str, store: str | None = None) -> SweepSpec:
    """A sweep file, or a shipped sweep by name; `store` overrides the file's.

    Raises
    ------
    UsageError, FileError
        There is none of this name; or all its mistakes.
    """
    job = load_sweep(sweep_file(spec))
    return job.at(store or job.store or f"{Path(spec).stem}.zarr")


def run(job: SweepSpec, place: Place, progress: Progress | None = None) -> Summary:
    """Run a sweep where `place` says; what its store holds already is not done again.

    Raises
    ------
    StoreError, ClusterError
        As their messages say.
    """
    try:
        with connect(place) as client:
            return sweep(job, client, progress)
    except PlaceError as error:
        raise ClusterError(str(error)) from error
