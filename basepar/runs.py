"""Sweeps, studies and their reports: what the commands of these names do, with results returned.

Workers are processes that do not import the script that called: no `__main__` guard is needed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from basepar_core.errors import UsageError
from basepar_core.texts import plural

if TYPE_CHECKING:
    import optuna
    import pandas as pd
    import xarray

    from sweeps.spec import Function
    from workflows.studies import StudySpec

#: A file, the name of a shipped one, or what a file says as a mapping of its keys.
Specification = str | Path | Mapping[str, Any]


def sweep(
    spec: Specification,
    store: str | Path | None = None,
    *,
    workers: int | None = None,
    cluster: str = "laptop",
    retry_failed: bool = False,
    quiet: bool = False,
) -> "xarray.Dataset | dict[str, xarray.Dataset]":
    """Evaluate many variants of a mechanism into a store; call again to go on.

    Parameters
    ----------
    spec
        A sweep file, the name of a shipped one, or a mapping with a file's keys (bare numbers in
        the symbols' own units).
    store
        Where the results go; the file's without, else `NAME.zarr` (of a mapping `sweep.zarr`).
    workers, cluster
        Processes (default: one per core), and where: laptop, a profile, or an address.
    retry_failed
        Evaluate variants again that crashed or timed out.
    quiet
        No progress bar on stderr.

    Returns
    -------
    Of the store, lazy (from 64 MB an array on by Dask), dimension `variant` first, SI; of a family
    one by name.

    Raises
    ------
    FileError, UsageError
        All mistakes of the specification; there is none of this name.
    StoreError
        The store is of another specification, or damaged.
    BaseparError
        The workers asked for are not available.

    Examples
    --------
    >>> import basepar
    >>> space = {"plan": "sobol", "variables": {"lx1": [0.2, 0.4]}, "candidates": 8, "seed": 1}
    >>> found = basepar.sweep(
    ...     {"mechanism": "four-bar", "space": space, "evaluate": {"metrics": ["torque_rms"]}},
    ...     workers=1, quiet=True)
    >>> found.torque_rms.shape
    (8,)
    """
    from workflows.jobs import start_early

    start_early(cluster, store)

    from workflows.jobs import dataset, load_jobs, place_of, run_all
    from workflows.views import sweep_bar

    place = place_of(cluster, workers)
    jobs = load_jobs(_named(spec), None if store is None else str(store))
    with sweep_bar(quiet) as bar:
        run_all(jobs, place, bar, retry_failed)
    found = {name: dataset(job.store) for name, job in jobs.items()}
    return found.get("", found)


def open(store: str | Path) -> "xarray.Dataset":
    """What a sweep or a study has stored, lazily.

    Parameters
    ----------
    store
        Directory of the store, finished or not.

    Returns
    -------
    Dimension `variant` first, SI (units in attributes); `status` says what became of each.

    Raises
    ------
    StoreError, UsageError
        There is no store.

    Examples
    --------
    >>> import basepar
    >>> space = {"plan": "grid", "variables": {"lx1": [0.25, 0.3]}}
    >>> swept = basepar.sweep(
    ...     {"mechanism": "four-bar", "space": space}, "two.zarr", workers=1, quiet=True)
    >>> basepar.open("two.zarr").sizes["variant"]
    2
    """
    from workflows.jobs import dataset

    return dataset(store)


def dataframe(results: "xarray.Dataset | str | Path") -> "pd.DataFrame":
    """Results of a sweep or a study as a table, a row per variant.

    Parameters
    ----------
    results
        What `sweep` or `open` returned, or the directory of a store.

    Returns
    -------
    Index `variant`; the columns are the swept symbols and all arrays (variant,), SI. Arrays with
    more dimensions, such as `singular_values`, stay in the dataset.

    Raises
    ------
    StoreError, UsageError
        There is no store; a dataset without variants.

    Examples
    --------
    >>> import basepar
    >>> space = {"plan": "grid", "variables": {"lx1": [0.25, 0.3]}}
    >>> swept = basepar.sweep(
    ...     {"mechanism": "four-bar", "space": space, "evaluate": {"metrics": ["torque_rms"]}},
    ...     "table.zarr", workers=1, quiet=True)
    >>> basepar.dataframe(swept)[["lx1", "torque_rms"]].shape
    (2, 2)
    """
    found = open(results) if isinstance(results, str | Path) else results
    if "variant" not in found.dims:
        raise UsageError("The dataset has no dimension `variant`: give a sweep's.", ["results"])
    return found.drop_dims([name for name in found.dims if name != "variant"]).to_dataframe()


@dataclass(frozen=True, repr=False)
class Study:
    """A design study after a run; made by `study`.

    Attributes
    ----------
    facts
        Plain data: the store's status, the best variants, what is certified.

    Examples
    --------
    >>> import basepar
    >>> found = basepar.study("four-bar", "few.zarr", trials=20, workers=1, quiet=True)
    >>> sorted(found.best["parameters"])
    ['Dx', 'lx1', 'lx3']
    >>> len(found.study.trials)
    20
    """

    facts: Mapping[str, Any]
    _spec: "StudySpec" = field()

    @property
    def best(self) -> Mapping[str, Any] | None:
        """The best variant that meets all constraints, of several objectives the end of `front`
        that is best by the first one; None without one.

        Returns
        -------
        `variant` (its row), `parameters` and `values` by name (SI), `violations`, …
        """
        return self.front[0] if self.facts["feasible"] else None

    @property
    def front(self) -> list[Mapping[str, Any]]:
        """The best variants, of several objectives the Pareto front; else those nearest to it."""
        return list(self.facts["best"])

    @cached_property
    def study(self) -> "optuna.Study":
        """The plain Optuna study in the storage."""
        import optuna

        from workflows.studies import storages

        with storages.opened(self._spec.storage, self._spec.name) as storage:
            return optuna.load_study(study_name=self._spec.name, storage=storage)

    @cached_property
    def dataset(self) -> "xarray.Dataset":
        """Every trial's results, lazily; see `open`."""
        return open(self._spec.store)

    def to_dataframe(self) -> "pd.DataFrame":
        """A row per trial, SI; see `dataframe`."""
        return dataframe(self.dataset)

    def document(self) -> dict[str, Any]:
        """Plain data, as `basepar study --json` prints it."""
        return dict(self.facts)

    def __repr__(self) -> str:
        aims = ", ".join(f"{way} {name}" for name, way in self.facts["objectives"].items())
        return (
            f"<basepar.Study of {self.facts['mechanism'][:80]!r}: {aims[:400]}; "
            f"{plural(self.facts['trials'], 'trial')}, {self.facts['feasible']} feasible>"
        )

    def _repr_html_(self) -> str:
        from workflows.views import designs

        from .html import sentence, table

        if not self.front:
            return sentence(repr(self))
        return sentence(repr(self)) + table(*designs.columns(self.facts))


def study(
    spec: Specification,
    store: str | Path | None = None,
    *,
    trials: int | None = None,
    workers: int | None = None,
    cluster: str = "laptop",
    certify: int = 1,
    quiet: bool = False,
) -> Study | dict[str, Study]:
    """Search for the best variants of a mechanism; call again to go on.

    Parameters
    ----------
    spec
        A study file, the name of a shipped one, or a mapping with a file's keys.
    store, trials
        In the place of the file's; more trials than before prolong a study.
    workers, cluster
        As of `sweep`.
    certify
        How many of the best to certify in variable precision.
    quiet
        No live table.

    Returns
    -------
    Study
        With `best`, `front`, `dataset`, and `study`, the `optuna.Study`; of several mechanisms or
        assemblies one by name.

    Raises
    ------
    FileError, UsageError
        All mistakes of the specification; there is none of this name.
    StoreError
        Store or storage are of another specification, or damaged.
    BaseparError
        The workers asked for are not available.

    Examples
    --------
    >>> import basepar
    >>> found = basepar.study("four-bar", "some.zarr", trials=20, workers=1, quiet=True)
    >>> found.dataset.sizes["variant"]
    20
    """
    from workflows.jobs import start_early

    start_early(cluster, store)

    from workflows.jobs import place_of
    from workflows.studies import load_jobs, run
    from workflows.views import live_table
    from workflows.views import study as view

    place = place_of(cluster, workers)
    found = {}
    jobs = load_jobs(_named(spec), None if store is None else str(store), trials)
    for name, job in jobs.items():
        with live_table(job, quiet) as live:
            result = run(job, place, live)
        found[name] = Study(view.study(result.spec, result, certify), result.spec)
    return found.get("", found)


def metric(name: str = "", unit: str = "1") -> "Callable[[Function], Function]":
    """Make a function a metric of sweeps and studies: a decorator.

    The function takes some variants, closed along their cycle, and returns a number for each:
    (variant,), nan where there is none. What they offer, with shapes and units, is a table in
    docs/study-files.md: joint values, points, velocities, angles of bodies, symbols, torques.

    Parameters
    ----------
    name
        What files and mappings call it; the function's own without.
    unit
        Of its values, SI, such as `N*m`.

    Returns
    -------
    The decorator; it returns the function as it is.

    Examples
    --------
    >>> import basepar
    >>> @basepar.metric("top_speed", unit="m/s")
    ... def top_speed(cycle):
    ...     return abs(cycle.velocity("rocker")[..., 1]).max(axis=1)
    >>> space = {"plan": "grid", "variables": {"lx1": [0.25, 0.3]}}
    >>> found = basepar.sweep(
    ...     {"mechanism": "four-bar", "space": space, "evaluate": {"metrics": ["top_speed"]}},
    ...     "speeds.zarr", workers=1, quiet=True)
    >>> found.top_speed.attrs["units"]
    'm/s'
    """
    from sweeps.spec import own_metrics

    return own_metrics.metric(name, unit)


def report(store: str | Path, file: str | Path | None = None) -> Path | str:
    """One self-contained page about a sweep or a study.

    Parameters
    ----------
    store
        Directory of the store, finished or not.
    file
        Where the page goes, a file or an address (`s3://…`); the store's name with .html without.

    Returns
    -------
    The page's path, or its address.

    Raises
    ------
    StoreError, UsageError
        There is no store, or it is damaged.

    Examples
    --------
    >>> import basepar
    >>> space = {"plan": "grid", "variables": {"lx1": [0.25, 0.3]}}
    >>> swept = basepar.sweep(
    ...     {"mechanism": "four-bar", "space": space}, "pair.zarr", workers=1, quiet=True)
    >>> basepar.report("pair.zarr").name
    'pair.html'
    """
    from sweeps.store import Bucket, beside, bucket_of, locate
    from workflows.jobs import check_outputs
    from workflows.report import page

    path = locate(store)
    output = beside(path, ".html") if file is None else (bucket_of(str(file)) or Path(file))
    check_outputs([output], overwrite=True)
    page.write(path, output)
    return str(output) if isinstance(output, Bucket) else output


def _named(spec: Specification) -> str | Mapping[str, Any]:
    return spec if isinstance(spec, Mapping) else str(spec)
