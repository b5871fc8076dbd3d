"""Jobs that begin with a store: its sweep once more elsewhere, its damage repaired."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from basepar_core.errors import StoreError, UsageError
from sweeps.run import as_stored, refuse_other
from sweeps.spec import (
    Family,
    SweepSpec,
    from_document,
    is_asked,
    load_family,
    parse_family,
)
from sweeps.store import (
    Store,
    check_and_repair,
    locate,
    locked,
    make_root,
    members_of,
    read,
)

from .examples import as_file, sweep_file

if TYPE_CHECKING:
    import xarray


def load_jobs(spec: str | Mapping[str, Any], store: str | None = None) -> Family:
    """Sweeps of a file, of a shipped one or of a file's keys, by name; mostly one, called "".

    `store` overrides the file's; a family's members have stores below it.

    Raises
    ------
    UsageError, FileError
        There is none of this name; or all its mistakes.
    """
    if isinstance(spec, str):
        name, found = Path(spec).stem, load_family(sweep_file(spec))
    else:
        name, found = "sweep", parse_family(as_file(spec), "sweep")
    if "" in found:
        job = found[""]
        return {"": job.at(store or job.store or f"{name}.zarr")}
    stated = {str(locate(job.store).parent) for job in found.values() if job.store}
    root = locate(store or (stated.pop() if stated else f"{name}.zarr"))
    make_root(root, list(found))
    return {name: job.at(str(root / name)) for name, job in found.items()}


def again_all(store: str, to: str, trust_metrics: bool = False) -> Family:
    """The sweep that a store holds, or those of a family's, to be stored elsewhere, by name."""
    members = members_of(store)
    if not members:
        return {"": again(store, to, trust_metrics)}
    found = {
        name: again(str(locate(store) / name), str(locate(to) / name), trust_metrics)
        for name in members
    }
    make_root(to, list(found))
    return found


def again(store: str, to: str, trust_metrics: bool = False) -> SweepSpec:
    """The sweep that a store holds, to be stored in another.

    Parameters
    ----------
    trust_metrics
        Whether files with own metrics that the store names may be run.

    Raises
    ------
    UsageError, StoreError
        Both are the same store; or the first is a study's, or no store, or of what has changed.
    FileError
        It names a file that has changed.
    OwnCodeError
        It names a program that is not to be trusted.
    """
    if locate(store).absolute() == locate(to).absolute():
        raise UsageError(
            f"--from {store} and --store name the same store; a sweep goes on by its file.",
            ["--store"],
        )
    document = Store.open(store).attrs.get("spec")
    if document is None:
        raise StoreError(f"{store} is not the store of a sweep. Name another.", [store])
    check_and_repair.check(store)
    job = from_document(str(document))
    if is_asked(job.plan):
        raise UsageError(
            f"{store} is a study's: its rows were chosen one after the other. Run its study file "
            f"again, or name the store as a table: `plan: table, file: {store}`.",
            ["--from"],
        )
    _raise_if_changed(store, job, str(document))
    return job.at(to).fetched(trust_metrics)


def _raise_if_changed(store: str, job: SweepSpec, document: str) -> None:
    """Make sure that it is the same sweep; a newer version's arrays may mean something else."""
    lines = job.difference(json.loads(document))
    if changed := [line for line in lines if not line.startswith("schema:")]:
        listed = "".join(f"\n  {line}" for line in changed[:10])
        raise StoreError(
            f"The sweep of {store} cannot be done once more: what it only names has changed since "
            f"(here: as it is now; there: the store's):{listed}\nBring back what it was, or run a "
            "sweep file.",
            [store],
        )


def mend(job: SweepSpec) -> list[str]:
    """Find what is damaged in a sweep's store and make it pending; what was found, in lines.

    Raises
    ------
    StoreError
        Somebody fills the store just now, or it is another sweep's, or none.
    """
    path = locate(job.store).absolute()
    if not path.exists():
        return []
    with locked(path):
        attrs = check_and_repair.stand(path).sealed.attributes
        refuse_other(as_stored(job, path, attrs), path, attrs)
        found = check_and_repair.find(path)
        check_and_repair.repair(path, found)
    return [str(one) for one in found]


def dataset(path: str | Path) -> "xarray.Dataset":
    """What a store holds, read when it is looked at.

    Raises
    ------
    StoreError, UsageError
        There is no store.
    """
    return read(path)
