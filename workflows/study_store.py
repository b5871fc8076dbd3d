"""A study from its store: what `basepar polish`, `tolerances`, `pictures` and `report` start from.

The store keeps the sweep's specification, and with its plan all that the study was asked for;
where the journal lies it does not say, and it is looked for beside the store.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from basepar_core.errors import UsageError
from basepar_core.grammar import parse_any, parse_comparison, parse_unit
from basepar_core.mechanism import Mechanism
from sweeps import store
from sweeps.asked import Asked
from sweeps.space import Condition
from sweeps.spec_file import from_document

from .quantities import quantities
from .study_spec import Choices, Integers, Objective, Range, Sampler, StudySpec, Variable


def study_of(path: Path | str) -> StudySpec:
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
        raise UsageError(
            f"{path} is the store of a sweep, and nobody asked it for anything: objectives and "
            "constraints are a study's. Name the store of `basepar study`.",
            [str(path)],
        )
    return found


def is_study(path: Path | str) -> StudySpec | None:
    """The study that a store is of; None where it is a sweep's."""
    text = store.open_group(path).attrs.get("spec")
    swept = from_document(str(text)) if text else None
    if swept is None or not isinstance(swept.plan, Asked) or "objectives" not in swept.plan.by:
        return None
    mechanism, by = swept.mechanism, swept.plan.by
    journal = Path(path).with_suffix(".journal")
    return StudySpec(
        mechanism,
        tuple((name, _variable(plain)) for name, plain in swept.plan.variables.items()),
        tuple(_objective(mechanism, *entry) for entry in by["objectives"].items()),
        tuple(
            Condition(text, parse_comparison(text, quantities(mechanism)))
            for text in by["constraints"]
        ),
        Sampler(by["sampler"]["kind"], by["sampler"]["seed"]),
        len(swept.plan),
        by["batch"],
        swept.chunk,
        by["warm_start"],
        str(path),
        str(journal),
        _only_name(journal),
    )


def _variable(plain: Any) -> Variable:
    if not isinstance(plain, Mapping):
        return Range(*map(float, plain))
    if "choices" in plain:
        return Choices(tuple(map(float, plain["choices"])))
    low, high = map(int, plain["integer"])
    return Integers(low, high, parse_unit(plain["unit"]))


def _objective(mechanism: Mechanism, text: str, direction: str) -> Objective:
    expression, dimension = parse_any(text, quantities(mechanism))
    unit = "1" if dimension is None or str(dimension) == "no unit" else str(dimension)
    return Objective(text, expression, direction != "maximize", unit)


def _only_name(journal: Path) -> str:
    """The name of the study in a journal, where there is one."""
    if not journal.exists():
        return "study"
    import optuna
    from optuna.storages.journal import JournalFileBackend

    storage = optuna.storages.JournalStorage(JournalFileBackend(str(journal)))
    names = optuna.get_all_study_names(storage)
    return names[0] if len(names) == 1 else "study"
