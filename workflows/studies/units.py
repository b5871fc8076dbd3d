"""Units that people read a study's numbers in: those of its own files; documents stay SI."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from basepar_core.errors import ExpressionError
from basepar_core.expressions import parse_unit
from sweeps.spec import angles

from .quantity_names import metric_units, quantities
from .spec import StudySpec

#: A constraint that compares with a number in a unit: what is compared, and the unit.
_LIMIT = re.compile(r"(.+?)\s*[<>]=?\s*[-+\d.eE*/^() ]*\d\s*([A-Za-z][\w*/^]*)")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit as people read it, and how many of it one SI unit is."""

    text: str
    per_si: float = 1.0


def si_units(spec: StudySpec, others: Sequence[str] = ()) -> dict[str, str]:
    """SI units of parameters, results and objectives, and of other symbols."""
    units = {output.name: output.unit for output in spec.sweep.swept}
    known = quantities(spec.mechanism, spec.own, spec.targets)
    said = dict.fromkeys(angles(spec.mechanism), "rad")
    said |= metric_units(spec.mechanism, spec.own, spec.targets)
    for name in (*others, *spec.results):
        text = str(known[name])
        units[name] = said.get(name, "1" if text == "no unit" else text).replace(" ", "*")
    return {line.text: line.unit for line in spec.objectives} | units


def shown_units(spec: StudySpec, others: Sequence[str] = ()) -> dict[str, Unit]:
    """Units to show numbers in.

    Symbols have the unit of the mechanism's file, what a constraint compares with a number the
    unit of that number; angles are in degrees where one of them is. The rest is SI.
    """
    si = si_units(spec, others)
    found = {name: Unit(unit) for name, unit in si.items()}
    spelled = {"".join(name.split()): name for name in found}
    for line in spec.constraints:
        match = _LIMIT.fullmatch(line.text.strip())
        name = match and spelled.get("".join(match[1].split()))
        if match and name:
            found[name] = _in(match[2]) or found[name]
    for symbol in spec.mechanism.geometry:
        if symbol.name in found and symbol.unit:
            found[symbol.name] = _in(symbol.unit) or found[symbol.name]
    if any(unit.text == "deg" for unit in found.values()):
        degrees = _in("deg")
        assert degrees is not None
        turns = (name for name, unit in found.items() if unit.text == "rad")
        found |= dict.fromkeys(list(turns), degrees)
    return found


def _in(text: str) -> Unit | None:
    try:
        size = parse_unit(text).size
    except ExpressionError:
        return None
    return Unit(text, 1.0 / size)


def plain(units: Mapping[str, Unit]) -> dict[str, dict[str, float | str]]:
    """As plain data for documents."""
    return {name: {"unit": unit.text, "per_si": unit.per_si} for name, unit in units.items()}
