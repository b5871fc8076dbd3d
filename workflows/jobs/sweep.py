"""A sweep job: specification, cluster, store."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from distributed import Client

from basepar_core.errors import BaseparError, FileError, Mistake, UsageError
from cluster import (
    Address,
    Batch,
    Kubernetes,
    Laptop,
    Place,
    PlaceError,
    ProfileError,
    Slurm,
    connect,
    find_profile,
    fork_server,
    load_profile,
    problems,
)
from sweeps.run import Leave, Progress, Summary, complete, sweep, sweep_together
from sweeps.spec import SweepSpec

from .early_workers import MODULES


class ClusterError(BaseparError):
    """The workers asked for are unavailable."""

    kind = "cluster"


def place_of(cluster: str, workers: int | None) -> Place:
    """The place that `--cluster` and `--workers` mean.

    Raises
    ------
    UsageError
        Neither `laptop` nor an address nor a profile; or `--workers` where it means nothing.
    FileError
        All mistakes of the profile.
    """
    if workers is not None and workers < 1:
        raise UsageError(f"--workers {workers}: at least 1 is needed.", ["--workers"])
    try:
        place = _named(cluster)
    except ProfileError as error:
        mistakes = [Mistake(one.path, one.message, one.line) for one in error.mistakes]
        raise FileError(error.source, mistakes) from error
    except PlaceError as error:
        raise UsageError(f"--cluster: {error}", ["--cluster"]) from error
    if wrong := [message for _, message in problems(place)]:
        raise UsageError(f"--cluster: {'; '.join(wrong)}.", ["--cluster"])
    if workers is None:
        return place
    if isinstance(place, Laptop | Slurm | Batch | Kubernetes):
        return replace(place, workers=workers)
    raise UsageError(
        f"--workers {workers}: {cluster} says itself how many workers it has.", ["--workers"]
    )


def _named(cluster: str) -> Place:
    if cluster == "laptop":
        return Laptop()
    return Address(cluster) if "://" in cluster else load_profile(find_profile(cluster))


@contextmanager
def connected(place: Place) -> Iterator[Client]:
    """Workers, or one readable message.

    Raises
    ------
    ClusterError
        They are unavailable.
    """
    if isinstance(place, Laptop):
        fork_server.start(MODULES)
    try:
        with connect(place) as client:
            yield client
    except PlaceError as error:
        raise ClusterError(str(error)) from error


def run(
    job: SweepSpec,
    place: Place,
    progress: Progress | None = None,
    retry_failed: bool = False,
    leave: Leave | None = None,
) -> Summary:
    """Run a sweep where `place` says; what its store holds already is not done again.

    What the store rejects is rejected before any worker starts, and none is started where nothing
    is missing.

    Raises
    ------
    StoreError, ClusterError
        As their messages say.
    """
    if (found := complete(job, retry_failed)) is not None:
        return found
    with connected(place) as client:
        return sweep(job, client, progress, retry_failed=retry_failed, leave=leave)


def run_all(
    jobs: Mapping[str, SweepSpec],
    place: Place,
    progress: Progress | None = None,
    retry_failed: bool = False,
    leave: Leave | None = None,
) -> dict[str, Summary]:
    """Run the sweeps of a family, all at once on the same workers; errors as of `run`."""
    if len(jobs) == 1:
        return {name: run(job, place, progress, retry_failed, leave) for name, job in jobs.items()}
    standing = {name: complete(job, retry_failed) for name, job in jobs.items()}
    found = {name: summary for name, summary in standing.items() if summary is not None}
    if len(found) == len(jobs):
        return found
    with connected(place) as client:
        return sweep_together(jobs, client, progress, retry_failed=retry_failed, leave=leave)
