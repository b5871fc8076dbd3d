"""One question, several mechanisms: topologies, or assemblies of one, each a study of its own.

What a variant has (symbols, joints, base parameters) depends on the mechanism, so each has its own
store and its own Optuna study, which everything else takes as it is: those of the file, with the
member's name behind theirs. Objectives are the same for all, so that the best of all is known.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from basepar_core.errors import Mistake, UsageError
from basepar_core.files import Fields, Node
from sweeps.spec import parse_members, text_of
from sweeps.store import Store, bucket_of, locate

from .feasibility import dominated, judge
from .reader import parse_node
from .spec import StudySpec
from .study_keys import MEMBER

#: Studies by their members' names; the one of a file that has none is "".
Studies: TypeAlias = dict[str, StudySpec]


def load_studies(path: str | Path) -> Studies:
    """Studies of a file by name; the one of a file without `mechanisms` or `assemblies` is "".

    Raises
    ------
    FileError
        With all mistakes.
    """
    return parse_studies(text_of(path), str(path))


def parse_studies(text: str, source_name: str = "study.yaml") -> Studies:
    """Studies of a file's text (`load_studies`)."""

    def member(common: Fields, section: str, name: str, entry: Node) -> StudySpec:
        assembly, unknown = entry if section == "assemblies" else None, list[Mistake]()
        if assembly is None:
            own = entry.entries if isinstance(entry, Fields) else {"mechanism": entry}
            common.entries.update({key: own[key] for key in own if key in MEMBER.names})
            unknown = _unknown(f"{section}.{name}", own)
        spec = parse_node(common, source_name, assembly, unknown)
        named = replace(spec, store=behind(spec.store, name), name=f"{spec.name}-{name}")
        if "://" in spec.storage and bucket_of(spec.storage) is None:
            return named  # several studies have room in a database
        return replace(named, storage=behind(spec.storage, name))

    def alone(node: Node | None, mistakes: Iterable[Mistake]) -> StudySpec:
        return parse_node(node, source_name, mistakes=mistakes)

    return parse_members(text, source_name, alone, member)


def _unknown(path: str, own: Mapping[str, Node]) -> list[Mistake]:
    known = ", ".join(MEMBER.names)
    return [
        Mistake(f"{path}.{key}", f"is the same for all members; of its own are {known}", one.line)
        for key, one in own.items()
        if key not in MEMBER.names
    ]


def behind(place: str, name: str) -> str:
    """A store's or a journal's place with a member's name behind its own.

    Raises
    ------
    UsageError
        It has no name, as the root of a file system.
    """
    found = locate(place)
    if not found.name:
        raise UsageError(
            f"{place} has no name behind which a member's could stand: name the store, such as "
            "results/study.zarr.",
            [place],
        )
    return str(found.with_name(f"{found.stem}-{name}{found.suffix}"))


@dataclass(frozen=True, slots=True)
class Placed:
    """A design of a family: whose, which, and its objectives, SI."""

    member: str
    variant: int
    values: Mapping[str, float]


def best_of_all(studies: Mapping[str, StudySpec]) -> list[Placed]:
    """The best feasible design of all members; of several objectives their common front."""
    every: list[Placed] = []
    goals = []
    for name, spec in studies.items():
        verdict = judge(spec, Store.open(spec.path), 0, spec.trials)
        texts = [line.text for line in spec.objectives]
        for row in np.flatnonzero(verdict.feasible):
            values = verdict.values[row]
            every.append(Placed(name, int(row), dict(zip(texts, values.tolist(), strict=True))))
            goals.append(values * spec.signs)
    if not every:
        return []
    array = np.array(goals)
    order = np.argsort(array[:, 0], kind="stable")
    if array.shape[1] == 1:
        return [every[order[0]]]
    return [every[k] for k in order[~dominated(array[order])]]
