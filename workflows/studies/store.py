"""A study from its store: what `basepar polish`, `tolerances`, `pictures` and `report` start from.

The store keeps the sweep's specification, and with its plan all that the study was asked for;
where the journal lies it does not say, and it is looked for beside the store. Nothing that it
names is imported: who evaluates asks for that (`StudySpec.fetched`).
"""

from collections.abc import Mapping
from typing import Any

from basepar_core.errors import UsageError
from basepar_core.expressions import parse_unit
from sweeps.spec import Asked, Reduction, SweepSpec, asked_plan, from_document, own_code
from sweeps.store import Location, Store, as_damage, check_and_repair, locate

from .companion_stores import WORDS, asked_by, kind_of_store, study_beside
from .quantity_names import quantities
from .reader import constraint, objective
from .sampler_kinds import OWN, OwnSampler
from .spec import Choices, Integers, Range, Sampler, StudySpec, Variable
from .storages import names_in


def study_of(path: Location | str) -> StudySpec:
    """The study that a store is of.

    Raises
    ------
    StoreError
        There is no store.
    UsageError
        It is a sweep's.
    """
    found = is_study(path)
    if found is None:
        raise UsageError(_no_study(path), [str(path)])
    check_and_repair.check(path)
    return found


def is_study(path: Location | str) -> StudySpec | None:
    """The study that a store is of; None where it is a sweep's."""
    text = Store.open(path).attrs.get("spec")
    swept = from_document(str(text)) if text else None
    plan = None if swept is None else asked_plan(swept.plan)
    if swept is None or plan is None or "objectives" not in plan.by:
        return None
    with as_damage("study"):
        return _study(path, swept, plan)


def _study(path: Location | str, swept: SweepSpec, plan: Asked) -> StudySpec:
    mechanism, by, asked = swept.mechanism, plan.by, swept.evaluation
    known = quantities(mechanism, asked.users, asked.targets)
    journal = locate(path).with_suffix(".journal")
    return StudySpec(
        mechanism,
        tuple((name, _variable(plain)) for name, plain in plan.variables.items()),
        tuple(
            objective(text, direction != "maximize", known)
            for text, direction in by["objectives"].items()
        ),
        tuple(constraint(text, known) for text in by["constraints"]),
        _sampler(by["sampler"]),
        len(plan),
        by["batch"],
        swept.chunk,
        by["warm_start"],
        str(path),
        str(journal),
        _only_name(journal),
        getattr(swept.plan, "formulas", ()),
        asked.own,
        asked.reduction or Reduction(),
        asked.targets,
    )


def _sampler(plain: Mapping[str, Any]) -> Sampler:
    options, own = tuple(plain.get("options", {}).items()), plain.get("own")
    screen = plain.get("screen", 0)
    if own is None:
        return Sampler(plain["kind"], plain["seed"], options, screen=screen)
    entry, digest = own_code.stated(own, "entry", "sha256")
    return Sampler(OWN, plain["seed"], options, OwnSampler(entry, digest), screen)


def _no_study(path: Location | str) -> str:
    """Why a store is not a study's, and which is."""
    kind = kind_of_store(asked_by(path))
    if not kind:
        return (
            f"{path} is the store of a sweep, which has no objectives and constraints; a study's "
            "has. Name the store of `basepar study`."
        )
    study = study_beside(path, kind)
    return (
        f"{path} holds {WORDS[kind]} of a study, not the study itself. Name the study's store: "
        + (str(study) if study else "the one that `basepar study` made.")
    )


def _variable(plain: Any) -> Variable:
    if not isinstance(plain, Mapping):
        return Range(*map(float, plain))
    if "choices" in plain:
        return Choices(tuple(map(float, plain["choices"])))
    low, high = map(int, plain["integer"])
    return Integers(low, high, parse_unit(plain["unit"]))


def _only_name(journal: Location) -> str:
    """The name of the study in a journal, where there is one."""
    names = names_in(journal)
    return names[0] if len(names) == 1 else "study"
