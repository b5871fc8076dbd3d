"""The bicycle and the dwell linkage against independent programs' data, in shares of ranges.

`*_reduced` are another derivation of the reduced equation; `*_exudyn` the full model with all
bodies and multipliers, in time; `*_inertia_exudyn` the full model driven at 1 rad/s. What the
first is met to, and the other two are not, is the full model's own error.
"""

from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from basepar_core.api import load
from basepar_core.dynamics.closure import prepare
from basepar_core.single_dof import cycle_integrator
from basepar_core.single_dof.loads import kinked
from basepar_core.single_dof.machines import machine, turn_at
from basepar_core.single_dof.reaction_freedoms import reaction
from basepar_core.single_dof.results import motion_of
from tests.core.single_dof.crossings import sign_changes

DATA = Path(__file__).parents[1] / "tests" / "data" / "onedof"
FORCE = {"bicycle": "knee_1:leg_1:x", "dwell": "S:rocker:y"}
COLUMN = {"bicycle": "F_knee", "dwell": "F_prismatic"}
#: rad: for as long the simulator's damped integrator rings after a jump.
RINGS = 0.03


def table(name):
    return np.genfromtxt(DATA / f"{name}.csv", delimiter=",", names=True)


def off(ours, theirs, at=slice(None)):
    """Largest difference as a share of the range."""
    return float(np.abs(ours - theirs)[at].max() / np.ptp(theirs))


def typical(ours, theirs):
    """Median difference as a share of the range."""
    return float(np.median(np.abs(ours - theirs)) / np.ptp(theirs))


def reduced(made, name):
    """m, m′ and the reaction's parameters against both kinds of data."""
    rows, driven = table(f"{name}_reduced"), table(f"{name}_inertia_exudyn")
    survey, found = made.survey, {}
    q = np.linspace(0, 2 * np.pi, len(rows))  # as printed to twelve digits
    curves, slopes, there = survey.curves(q), survey.curves(q, 1), driven["phi"]
    virtual = curves[survey.virtual_rows(0)]
    for key, ours in (
        ("m", curves[0]),
        ("m_prime", slopes[0]),
        ("m_e1", virtual[0]),
        ("m_e2", virtual[1]),
    ):
        found[f"{key}, analytic data"] = off(ours, rows[key])
        last = 10 ** (np.floor(np.log10(np.abs(rows[key]).max())) - 11)  # the twelfth digit
        found[f"  half the last digit of its {key}"] = float(last / 2 / np.ptp(rows[key]))
    for order, key in enumerate(("m", "m_prime")):
        ours = survey.curves(there, order)[0]
        found[f"{key}, Exudyn's data"] = off(ours, driven[key])
        found[f"{key}, Exudyn's data, median"] = typical(ours, driven[key])
    return found


def moving(made, name):
    """Speed, current and reaction of the steady turn, and of two turns of the full model."""
    rows, full = table(f"{name}_reduced"), table(f"{name}_exudyn")
    fine, turn = turn_at(made.model, made.survey.way, {}, 2880)
    ran = cycle_integrator.run(turn, made.regimes.speed, made.regimes.currents)
    motion = motion_of(fine, turn, ran)
    curves = {"omega": motion.speed[0], COLUMN[name]: motion.reactions[0, 0]}
    if name == "dwell":
        curves["current"] = motion.currents[0, 0]
    turned = [
        sign_changes(made.table.q, made.table.rates[k, 0, 0]) for k in kinked(made.table.loads)
    ]
    jumps, found = np.concatenate(turned), {}
    for data, places, words in (
        (rows, rows["phi"], "analytic data"),
        (full, np.mod(full["phi"], 2 * np.pi), "Exudyn's two turns"),
    ):
        gap = np.abs(places[:, None] - jumps).min(axis=1)
        away = gap > (RINGS if data is full else 2e-3)
        for key, curve in curves.items():
            smooth = CubicSpline if key != COLUMN[name] else _straight
            found[f"{key}, {words}"] = off(smooth(motion.q, curve)(places), data[key], away)
    return found


def _straight(q, curve):
    return lambda at: np.interp(at, q, curve)


@pytest.mark.parametrize("name", list(FORCE))
@pytest.mark.benchmark(group="one-degree-of-freedom machines against data")
def test_against_data(name, benchmark, capsys):
    model = prepare(load(name))

    def job():
        return machine(model, [reaction(model.mechanism, FORCE[name])], period=1.0)

    made = benchmark.pedantic(job, rounds=1)
    found = reduced(made, name) | moving(made, name)
    benchmark.extra_info.update(found)
    with capsys.disabled():
        print(f"\n  {name}: largest differences as shares of the ranges")
        for key, value in found.items():
            print(f"  {key:45} {value:.1e}")
