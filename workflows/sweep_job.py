"""A sweep job: specification, cluster, store."""

from dataclasses import replace
from pathlib import Path

from basepar_core.errors import BaseparError, UsageError
from cluster.connect import PlaceError, connect
from cluster.places import Address, Laptop, Place
from sweeps.progress import Progress
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


def run(
    spec: str, place: Place, store: str | None = None, progress: Progress | None = None
) -> Summary:
    """Run a sweep file (or a shipped sweep by name); what its store holds makes it go on.

    Parameters
    ----------
    spec
        Path of a sweep file, or the name of a shipped one.
    place
        Where the workers are.
    store
        Overrides the file's store.

    Raises
    ------
    FileError, StoreError, ClusterError
        As their messages say.
    """
    job = load_sweep(sweep_file(spec))
    job = replace(job, store=store or job.store or f"{Path(spec).stem}.zarr")
    try:
        with connect(place) as client:
            return sweep(job, client, progress)
    except PlaceError as error:
        raise ClusterError(str(error)) from error
