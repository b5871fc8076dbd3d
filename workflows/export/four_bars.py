"""Four-bars by their pins as mechanism files."""

from collections.abc import Sequence

import numpy as np

from basepar_core.dynamics import FourBar, Model, cognates, four_bar_of
from basepar_core.expressions import evaluate
from basepar_core.files import loads
from basepar_core.mechanism import Mechanism


def cognates_of(model: Model, point: str) -> list[tuple[FourBar, Mechanism]]:
    """Both cognates of the four-bar that guides a point, with their mechanisms.

    `Mechanism.source` is the file. Gravity is that of the given one.

    Raises
    ------
    UsageError
        No such point; its body is no coupler of a four-bar; it goes along a circle.
    """
    it = model.mechanism
    gravity = [float(x) for x in evaluate(it.gravity[:2], it.nominal)]
    return [
        (bar, loads(four_bar_text(bar, f"{it.name}-cognate-{number}", point, gravity)))
        for number, bar in enumerate(cognates(four_bar_of(model, point)), start=1)
    ]


def four_bar_text(bar: FourBar, name: str, point: str = "P", gravity: Sequence[float] = ()) -> str:
    """A mechanism file of a four-bar, its lengths as symbols, driven at its first bar.

    It is assembled in the pose in which it is; bodies have no inertias, there is no motion.
    """
    (A0, A, B, B0), P = bar.pins, bar.point
    first, coupler, second, _ = bar.lengths
    along = (B - A) / coupler
    px, py = float(along @ (P - A)), float(along[0] * (P - A)[1] - along[1] * (P - A)[0])
    lengths = {"a": first, "b": coupler, "c": second, "px": px, "py": py}
    turn = float(np.arctan2(*(A - A0)[::-1]))
    ends = {"Ax": A0[0], "Ay": A0[1], "Dx": B0[0], "Dy": B0[1]}
    symbols = "\n".join(
        f"  {key}: {{value: {float(value)!r}, unit: m}}" for key, value in (lengths | ends).items()
    )
    down = ", ".join(repr(float(x)) for x in gravity) or "0, -9.81"

    def at(spot: Sequence[float]) -> str:
        return f"[{float(spot[0])!r}, {float(spot[1])!r}]"

    return f"""\
name: {name}
space: planar
gravity: [{down}]
geometry:
{symbols}
bodies: {{first: {{}}, coupler: {{}}, second: {{}}}}
joints:
  A: {{type: revolute, connects: [ground, first], at: [[Ax, Ay], [0, 0]]}}
  B: {{type: revolute, connects: [first, coupler], at: [[a, 0], [0, 0]]}}
  C: {{type: revolute, connects: [coupler, second], at: [[b, 0], [c, 0]]}}
  D: {{type: revolute, connects: [ground, second], at: [[Dx, Dy], [0, 0]]}}
coordinates: [A]
assembly: {{A: {turn!r} rad, points: {{B: {at(A)}, C: {at(B)}}}}}
points: {{{point}: {{body: coupler, at: [px, py]}}}}
"""
