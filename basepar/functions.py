"""Any function of columns as a sweep, by the engine that mechanisms use."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from basepar_core.errors import UsageError
from basepar_core.texts import plural

if TYPE_CHECKING:
    import xarray

    from sweeps.run import FunctionJob
    from sweeps.store import Output

#: Rows that a function is called with where no chunk is stated. Its temporary arrays then fit into
#: caches, and into memory that is in use already; what a call costs by itself is small beside it.
BLOCK = 512


class FunctionSweep:
    """A function of arrays, evaluated at many points into a store: resumable, labelled, by parts.

    Parameters
    ----------
    function
        Called as `function(**columns)` with arrays (row,) by name; returns a mapping of arrays
        (row, …) by name. A row's values must not depend on which other rows are there. It may
        return `reason` too, (row,) of whole numbers: 0, or k for the k-th of `reasons`. Rows of
        which it raises, dies or does not return are found, and get a status and a reason.
    space
        As `space` of a sweep file: {"plan": "sobol", "variables": {"b": [-3, 3]},
        "candidates": 100, "seed": 1}; plans grid and zip take lists of numbers.
    outputs
        What it returns: {"root": "m"} by unit, or {"wave": {"unit": "m", "dims": {"sample": 16},
        "dtype": "float64", "long_name": "…"}}; a dimension by its length or its labels. Types are
        bool, int8 to int64 and float16 to float64.
    units
        Of the variables; "1" without.
    reasons
        Why a row may be special, in words.
    name, version
        What it is called; what changes when its results do (without: the text of the function).
    chunk
        Rows that are written together, and that the function is called with; measured without,
        and then the function is called with fewer.
    variant_seconds
        A row that takes longer is timed out.

    Raises
    ------
    UsageError
        The space or the outputs make no sense.

    Examples
    --------
    >>> import numpy, tempfile
    >>> def root(b, c):
    ...     return {"root": (numpy.sqrt(b**2 - 4 * c) - b) / 2}
    >>> space = {"plan": "grid", "variables": {"b": [2, 3], "c": [-1, 0, 1]}}
    >>> sweep = FunctionSweep(root, space, {"root": "m"}, units={"b": "m"}, version="1")
    >>> found = sweep.run(tempfile.mkdtemp() + "/roots.zarr", workers=1, quiet=True)
    >>> found.root.values.round(3).tolist()
    [0.414, 0.0, -1.0, 0.303, 0.0, -0.382]
    """

    def __init__(
        self,
        function: Callable[..., Mapping[str, Any]],
        space: Mapping[str, Any],
        outputs: Mapping[str, str | Mapping[str, Any]],
        *,
        units: Mapping[str, str] | None = None,
        reasons: Sequence[str] = (),
        name: str | None = None,
        version: str = "",
        chunk: int | None = None,
        variant_seconds: float = 60.0,
    ):
        from sweeps.run import FunctionEvaluator, FunctionJob, plan_of, source_of
        from sweeps.store import Output

        plan = plan_of(space)
        coords: dict[str, Any] = {}
        arrays = tuple(_output(name, stated, coords) for name, stated in outputs.items())
        if not arrays or (both := {one.name for one in arrays} & set(plan.names)):
            said = f"{sorted(both)[0]!r} is a variable too" if arrays else "none are stated"
            raise UsageError(f"outputs: {said}.", ["outputs="])
        swept = tuple(Output(one, unit=(units or {}).get(one, "1")) for one in plan.names)
        if chunk is not None and chunk < 1:
            raise UsageError(f"chunk={chunk}: at least 1 is needed.", ["chunk="])
        block = BLOCK if chunk is None else 0
        self._evaluator = FunctionEvaluator(function, arrays, coords, tuple(reasons), block)
        title = name or str(getattr(function, "__name__", "a function"))
        job: FunctionJob = FunctionJob(
            title,
            source_of(function, version),
            plan,
            swept,
            arrays,
            variant_seconds=variant_seconds,
        )
        self._job = job if chunk is None else job.chunked(chunk)

    def __len__(self) -> int:
        return len(self._job)

    def __repr__(self) -> str:
        job = self._job
        names = ", ".join(one.name[:20] for one in job.swept[:8])
        return (
            f"<basepar.FunctionSweep of {job.title[:80]!r}: {plural(len(job), 'row')} of {names}>"
        )

    def run(
        self,
        store: str | Path,
        where: str = "laptop",
        *,
        workers: int | None = None,
        retry_failed: bool = False,
        quiet: bool = False,
    ) -> "xarray.Dataset":
        """Evaluate every row that the store does not hold yet.

        Parameters
        ----------
        where
            laptop: by copies of this process; or a profile or address, whose workers must be able
            to import the function's module.
        workers
            Processes; one per core without. 0: this process itself, for functions that are quick
            and trusted. That saves 15 ms; but a row that kills its process kills the caller, and
            one that never ends holds it. `run` again with another number goes on, and finds it.
        retry_failed
            Evaluate rows again that crashed or timed out.
        quiet
            No progress bar on stderr.

        Returns
        -------
        Of the store, lazy (from 64 MB an array on by Dask), dimension `variant` first; with
        `status` and `reason`.

        Raises
        ------
        StoreError
            The store is of another function or space, damaged, or being filled.
        BaseparError
            The workers asked for are not available.

        Examples
        --------
        >>> import tempfile
        >>> space = {"plan": "grid", "variables": {"x": [1, 2, 3]}}
        >>> sweep = FunctionSweep(lambda x: {"y": x**2}, space, {"y": "1"}, version="1")
        >>> store = tempfile.mkdtemp() + "/squares.zarr"
        >>> sweep.run(store, workers=1, quiet=True).y.values.tolist()
        [1.0, 4.0, 9.0]
        """
        from sweeps.store import read

        job = self._at(store)
        given: dict[str, Any] = {"evaluator": self._evaluator, "retry_failed": retry_failed}
        if where == "laptop":
            _fill_here(job, workers, quiet, given)
        else:
            _fill_there(job, where, workers, quiet, given)
        return read(job.store)

    def prepare(self, store: str | Path) -> None:
        """Make the store, for whoever evaluates parts of it.

        Raises
        ------
        StoreError
            The store is of another function or space, damaged, or being filled.

        Examples
        --------
        >>> import tempfile
        >>> space = {"plan": "grid", "variables": {"x": [1, 2, 3]}}
        >>> sweep = FunctionSweep(lambda x: {"y": x**2}, space, {"y": "1"}, version="1")
        >>> store = tempfile.mkdtemp() + "/squares.zarr"
        >>> sweep.prepare(store)
        """
        from sweeps.run import here

        here.prepare(self._at(store), evaluator=self._evaluator)

    def part(self, store: str | Path, number: int, count: int, *, workers: int = 1) -> int:
        """Evaluate part `number` of `count` (1 … count), on any machine that sees the store.

        Parameters
        ----------
        workers
            As of `run`.

        Returns
        -------
        How many rows were evaluated; 0 where all were there.

        Raises
        ------
        StoreError
            The store is not made yet, is another's, or somebody is at this part.

        Examples
        --------
        >>> import tempfile
        >>> space = {"plan": "grid", "variables": {"x": [1, 2, 3]}}
        >>> sweep = FunctionSweep(lambda x: {"y": x**2}, space, {"y": "1"}, version="1")
        >>> store = tempfile.mkdtemp() + "/squares.zarr"
        >>> sweep.prepare(store)
        >>> sweep.part(store, 1, 1)
        3
        """
        from sweeps.run import Filling, as_stored, here, path_of

        job = self._at(store)
        known = as_stored(job, path_of(job))
        filling = partial(Filling.of, known, self._evaluator, None)
        return here.part(job, number, count, _processes(workers), filling=filling).evaluated

    def _at(self, store: str | Path) -> "FunctionJob":
        from dataclasses import replace

        return replace(self._job, store=str(store))


def _fill_here(
    job: "FunctionJob", workers: int | None, quiet: bool, given: dict[str, Any]
) -> None:
    """By children of this process, which need no Dask: its import takes half a second."""
    from sweeps.run import here

    if workers is None:
        workers = os.cpu_count() or 1
    with _bar(quiet) as bar:
        here.sweep(job, _processes(workers), bar, **given)


def _processes(workers: int) -> int:
    if workers < 0:
        raise UsageError(f"workers={workers}: 0 or more are needed.", ["workers="])
    return workers


def _fill_there(
    job: "FunctionJob", where: str, workers: int | None, quiet: bool, given: dict[str, Any]
) -> None:
    from sweeps.run import sweep
    from workflows.jobs import connected, place_of

    place = place_of(where, workers)
    with _bar(quiet) as bar, connected(place) as client:
        sweep(job, client, bar, **given)


def _bar(quiet: bool) -> AbstractContextManager[Any]:
    if quiet:
        return nullcontext()
    from workflows.views import sweep_bar

    return sweep_bar(quiet)


def _output(name: str, stated: str | Mapping[str, Any], coords: dict[str, Any]) -> "Output":
    """An array as it is stated; its dimensions go into `coords`.

    Raises
    ------
    UsageError
        It says something else, or a dimension has another length elsewhere.
    """
    from sweeps.store import Output

    plain: dict[str, Any] = {"unit": stated} if isinstance(stated, str) else dict(stated)
    dims: Mapping[str, Any] = plain.pop("dims", {})
    if wrong := sorted(plain.keys() - {"unit", "dtype", "long_name"}):
        raise UsageError(f"outputs: {name!r} has no {wrong[0]!r}.", ["outputs="])
    for dim, labels in dims.items():
        found = list(range(labels)) if isinstance(labels, int) else list(labels)
        if coords.setdefault(dim, found) != found:
            raise UsageError(f"outputs: dimension {dim!r} has other labels before.", ["outputs="])
    try:
        return Output(name, ("variant", *dims), **plain)
    except (TypeError, ValueError) as cause:
        raise UsageError(f"outputs: {name!r}: {cause}.", ["outputs="]) from cause
