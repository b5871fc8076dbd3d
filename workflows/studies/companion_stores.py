"""Companion stores of a study: how they are distinguished, set aside, and reported as outdated.

A polished design and a tolerance analysis answer a question about a study that may go on. What
answers another question about the same study is set aside under a number, never removed; what is
of another study is left alone.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from basepar_core.errors import StoreError
from sweeps.spec import SweepSpec, asked_plan, from_document
from sweeps.store import Location, Store, locate, locked, move

from .feasibility import Verdict, judge
from .spec import StudySpec

#: What a companion store holds, by the key of its plan.
WORDS = {"polished": "polished designs", "tolerances": "samples about a design"}


def polished_path(study: Location | str) -> Location:
    """Where a study's polished designs are stored."""
    path = locate(study).absolute()
    return path.with_name(f"{path.stem}-polished.zarr")


def tolerances_path(study: Location | str) -> Location:
    """Where the samples about a study's design are stored."""
    path = locate(study).absolute()
    return path.with_name(f"{path.stem}-tolerances.zarr")


def asked_by(path: Location | str) -> Mapping[str, Any]:
    """Who asked for a store's rows: plain data, empty for a sweep's."""
    text = Store.open(path).attrs.get("spec")
    plan = asked_plan(from_document(str(text)).plan) if text else None
    return plan.by if plan is not None else {}


def kind_of_store(by: Mapping[str, Any]) -> str:
    """A key of `WORDS`; "" for a study's or a sweep's store."""
    return next((kind for kind in WORDS if kind in by), "")


def study_beside(path: Location | str, kind: str) -> Location | None:
    """The study's store that a store of polished designs or samples lies beside."""
    found = locate(path)
    name = found.stem.partition(f"-{kind}")[0]
    study = found.with_name(f"{name}.zarr")
    return study if study != found and study.exists() else None


def room(spec: StudySpec, job: SweepSpec, option: str) -> Location | None:
    """Make room for a companion store.

    Returns
    -------
    Where an earlier answer of the same study was moved to; None where there was none, or it is
    the very answer that is asked for.

    Raises
    ------
    StoreError
        What lies there is no answer of this study.
    """
    path = locate(job.store)
    if not path.exists() or Store.open(path).attrs.get("spec_hash") == job.hash:
        return None
    by = asked_by(path)
    kind = kind_of_store(by)
    plan = asked_plan(job.plan)
    if plan is None or kind != kind_of_store(plan.by) or not _is_of(spec, by):
        held = f"{WORDS[kind]} of another study" if kind else "another sweep or study"
        raise StoreError(
            f"{path} holds {held}, and is left alone. Move it away, or name another place: "
            f"{option} OTHER.zarr",
            [str(path)],
        )
    with locked(path):
        aside = _numbered(path)
        move(path, aside)
    return aside


def _is_of(spec: StudySpec, by: Mapping[str, Any]) -> bool:
    """Whether a store's rows were asked for by this very study: its bounds, its lines, all."""
    return bool(by.get("polished", by).get("of") == spec.hash)


def beside(spec: StudySpec, path: Location) -> Mapping[str, Any] | None:
    """Who asked for the rows of a store beside; None if there is none of this very study."""
    if not path.exists() or not _is_of(spec, by := asked_by(path)):
        return None
    return by


def polished_rows(path: Location) -> np.ndarray:
    """(point,) variants of the study that a store of polished designs began from."""
    return np.array(asked_by(path)["polished"]["rows"], int)


def polished_of(spec: StudySpec) -> Verdict | None:
    """The judgement of this very study's polished designs; None where there are none.

    Where `basepar polish` was stopped, none of them is settled.
    """
    path = polished_path(spec.path)
    if beside(spec, path) is None:
        return None
    return judge(spec, Store.open(path), 0, len(polished_rows(path)))


def _numbered(path: Location) -> Location:
    number = 1
    while (found := path.with_name(f"{path.stem}-{number}.zarr")).exists():
        number += 1
    return found
