"""All columns of W with couplings in variable precision, against formulas by hand in mpmath.

Motions are decimals of a table, so that nothing but the couplings' own arithmetic and the bodies'
is compared; digits are those that were asked for.
"""

import mpmath
import pytest
from mpmath import mpf

from basepar_core.dynamics import prepare
from basepar_core.files import loads
from basepar_core.variable_precision.observation import variant

#: Times, values, rates, accelerations (s, rad).
ROWS = [
    (f"0.{k}", f"{0.31 + k / 10:.2f}", f"{1.1 - k / 7:.3f}", f"{k / 3 - 1:.2f}") for k in range(8)
]
GEARS = """
name: gears
space: planar
gravity: [0, -9.81]
geometry: {n: {value: 2.7}, d: {value: 0.3, unit: m}, r: {value: 1.4142135623730951}}
relations: {r: r^2 = 2}
bodies: {pinion: {}, wheel: {}, rack: {}}
joints:
  A: {type: revolute, connects: [ground, pinion]}
  B: {type: revolute, connects: [wheel, ground], at: [[0, 0], [d, 0]]}
  C: {type: prismatic, connects: [ground, rack], axis: [[3, 4], [5, 0]]}
couplings:
  mesh: {values: {A: 1, B: -n}, offset: 0.2 rad}
  teeth: {values: {B: r*d, C: 1}}
coordinates: [A]
assembly: {A: 0.31 rad}
excitation: {kind: data, file: run.csv}
"""
SCREW = """
name: screw
space: spatial
gravity: [0, 0, -9.81]
geometry: {p: {value: 7, unit: mm}}
bodies: {nut: {}, wheel: {}}
joints:
  W: {type: revolute, connects: [ground, wheel], axis: [[0, 0, 1], [0, 0, 1]]}
  S: {type: screw, connects: [ground, nut], axis: [[0, 0, 1], [0, 0, 1]], pitch: p}
couplings:
  belt: {values: {W: 3, S.angle: -7}}
coordinates: [W]
assembly: {W: 0.31 rad}
excitation: {kind: data, file: run.csv}
"""


def gears(q, q_ddot):
    """Columns of unit mass, first moments and inertia of each body: B and C follow A."""
    g, n = mpf("9.81"), mpf("2.7")
    row = [0, g * mpmath.cos(q), -g * mpmath.sin(q), q_ddot]
    # B turns the ground against the wheel: the wheel's own angle is −B = −(q − 0.2)/n.
    rate, angle = -1 / n, -(q - mpf("0.2")) / n
    row += [0, rate * g * mpmath.cos(angle), -rate * g * mpmath.sin(angle), rate**2 * q_ddot]
    slide = -mpmath.sqrt(2) * mpf("0.3") / n  # along (3, 4)/5, which is the rack's own x
    return [*row, slide**2 * q_ddot + slide * g * mpf(4) / 5, 0, 0, 0]


def screw(q, q_ddot):
    """The ten of nut and wheel: about its axis both, and the nut along it."""
    turn = mpf(3) / 7
    rise = turn * mpf("0.007") / (2 * mpmath.pi)
    nut = [rise**2 * q_ddot + rise * mpf("9.81"), *[0] * 8, turn**2 * q_ddot]
    return [*nut, *[0] * 9, q_ddot]


@pytest.mark.parametrize(("text", "formula"), [(GEARS, gears), (SCREW, screw)])
@pytest.mark.parametrize("digits", [30, 60])
def test_all_columns_by_hand(tmp_path, text, formula, digits):
    lines = ["t,q,q',q''".replace("q", "A" if formula is gears else "W")]
    (tmp_path / "run.csv").write_text("\n".join([*lines, *(",".join(row) for row in ROWS)]))
    mechanism = loads(text, str(tmp_path / "it.yaml"))
    seen = variant(prepare(mechanism), {}, 10**6)
    W = seen.observe(digits)
    assert len(seen.picks) == len(ROWS)
    with mpmath.workdps(digits + 20):
        unit = mpf(2) ** W.scale
        for row, sample in zip(W.entries.tolist(), seen.picks, strict=True):
            _, q, _, q_ddot = (mpf(word) for word in ROWS[sample])
            expected = formula(q, q_ddot)
            for found, wanted in zip(row, expected, strict=True):
                # Entries are rounded to these digits of the largest.
                assert abs(int(found) * unit - wanted) < mpf(10) ** -digits * 100
