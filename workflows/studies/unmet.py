"""Where no variant of a study meets all constraints: which one is at fault, and by how much.

Either no variant meets some of them, or each is met by some: then the one met by the fewest.
"""

import re
from dataclasses import dataclass

import numpy as np

from sweeps.store import Store

from .constraint_sides import Side, sides
from .feasibility import Verdict
from .spec import StudySpec

#: The least of a cycle or a distance from bad: who limits one from above most often means below.
LEAST = ("transmission_angle", "clearance", "margin", "full_rotation")


@dataclass(frozen=True, slots=True)
class Unmet:
    """A constraint, and the value that comes nearest to its limit or lies farthest within, SI.

    `side` is the text of what is compared; `end` is *greatest* or *least*; `value` is None where
    no variant has one. `met` counts the variants that meet it, `of` those that have results.
    `meant` is the constraint with its limit in m instead of mm (or the reverse), or turned round,
    where some variants, `meant_met`, meet that; else empty.
    """

    constraint: str
    side: str
    end: str
    value: float | None
    unit: str
    per_si: float
    met: int
    of: int
    meant: str = ""
    meant_met: int = 0


def unmet(spec: StudySpec, verdict: Verdict) -> tuple[Unmet, ...]:
    """Constraints that no variant with results meets, else the one met by the fewest.

    Empty where a variant meets all, or no variant has results.
    """
    good = verdict.settled & (verdict.violations[:, 0] <= 0)
    if verdict.feasible.any() or not good.any():
        return ()
    held = Store.open(spec.path)
    symbols = {name: held.rows(name, 0, len(good)) for name in spec.swept}
    met = (verdict.violations[good, 1:] <= 0).sum(axis=0)
    pairs = zip(spec.constraints, sides(spec, verdict, symbols), met.tolist(), strict=True)
    rarest = [
        _told(line.text, side, good, count) for line, side, count in pairs if count == met.min()
    ]
    return tuple(rarest if rarest[0].met == 0 else rarest[:1])


def _told(text: str, side: Side, good: np.ndarray, met: int) -> Unmet:
    values = side.values[good]
    values = values[np.isfinite(values)]
    is_low = side.sign in ("<", "<=")
    nearest = (values.min() if is_low else values.max()) if values.size else None
    meant, meant_met = ("", 0) if met else _in_another_unit(text, side, values, is_low)
    if not (met or meant):
        meant, meant_met = _turned(text, side, values)
    return Unmet(
        text,
        side.text,
        "least" if is_low else "greatest",
        None if nearest is None else float(nearest),
        side.unit.text,
        side.unit.per_si,
        met,
        int(good.sum()),
        meant,
        meant_met,
    )


def _turned(text: str, side: Side, values: np.ndarray) -> tuple[str, int]:
    """The constraint of what is a least as a lower limit, and how many variants meet it."""
    met = int((values > side.limit if side.sign == "<" else values >= side.limit).sum())
    is_one = re.fullmatch(rf"({'|'.join(LEAST)})(\([^()]*\))?", side.text)
    if not (met and is_one and side.sign in ("<", "<=")):
        return "", 0
    return text.translate(str.maketrans("<>", "><")), met


def _in_another_unit(text: str, side: Side, values: np.ndarray, is_low: bool) -> tuple[str, int]:
    """The constraint with a limit a thousand times nearer, and how many variants meet it."""
    old, new = ("mm", "m") if is_low else ("m", "mm")
    meant, count = re.subn(rf"(?<=[0-9 *]){old}\b", new, text)
    limit = side.limit * (1e3 if is_low else 1e-3)
    met = int((values <= limit if is_low else values >= limit).sum())
    return (meant, met) if count == 1 and met and side.limit else ("", 0)
