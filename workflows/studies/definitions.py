"""Constraints and objectives that their metrics' definitions decide, or put in doubt."""

import re
from collections.abc import Iterable

from basepar_core.expressions import Call, Expression, Name, evaluate, names
from basepar_core.mechanism import Mechanism
from basepar_core.metrics import Definition, metric_of
from sweeps.spec import Condition

from .spec import Objective

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
#: A share by which a limit may be rounded.
_ROUNDED = 1e-12


def decided(line: Condition) -> tuple[str, bool]:
    """Why a constraint is met by all variants, or by none, and whether by all; "" for others."""
    assert isinstance(line.expression, Call)
    sign, sides = line.expression.operator, line.expression.arguments
    if not isinstance(sides[0], Name):
        sides, sign = sides[::-1], _TURNED.get(sign, sign)
    known = _definition(sides[0])
    if known is None or names(sides[1]):
        return "", False
    limit = float(evaluate([sides[1]], {})[0])
    bare = not re.search(r"\b(deg|rad|rev)\b", line.text)
    if known.most < limit and bare:  # degrees without their unit, which is reported as such
        return "", False
    slack = _ROUNDED * abs(limit)
    ends = {">": (known.least, known.most), "<": (-known.most, -known.least)}[sign[0]]
    limit = limit if sign[0] == ">" else -limit
    is_all = limit <= ends[0] + slack if "=" in sign else limit < ends[0] - slack
    is_none = limit > ends[1] + slack if "=" in sign else limit >= ends[1] - slack
    if not is_all and not is_none:
        return "", False
    word = str(sides[0].name).partition("(")[0] if isinstance(sides[0], Name) else ""
    met = "always met: leave it out" if is_all else "never met"
    return f"{word} is {known.words}: {line.text} is {met}", is_all


def looks_for_the_worst(objective: Objective) -> str:
    """What to tell of an objective that makes a deviation large; "" of others."""
    known = _definition(objective.expression)
    if objective.minimize or known is None or not known.deviation:
        return ""
    return (
        f"{objective.text} is {known.words}: `maximize` looks for the worst; write minimize if "
        "that is not meant"
    )


def at_a_drive(expression: Expression, mechanism: Mechanism, known: Iterable[str]) -> str:
    """What to tell of a transmission angle over the pin of a driven body; "" of others.

    In a full turn of the drive it passes 0, and no dimensions change that.
    """
    drives = {mechanism.value(name).joint.name for name in mechanism.coordinates}
    for name in sorted(names(expression)):
        pins = re.fullmatch(r"transmission_angle\((\w+),(\w+),(\w+)\)", name)
        if pins and pins[1] in drives:
            meant = [x for x in known if x.startswith(f"transmission_angle({pins[2]},{pins[3]},")]
            if meant:
                return (
                    f"{name}: {pins[1]} is driven, so this is the angle at the end of the driven "
                    f"body, 0 twice a turn; what is driven is pushed at {meant[0]}"
                )
    return ""


def _definition(expression: Expression) -> Definition | None:
    metric = metric_of(expression.name) if isinstance(expression, Name) else None
    return metric.definition if metric is not None else None
