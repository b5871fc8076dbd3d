"""Turns by few samples and the kernels against the plain path on every node."""

import pickle

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.base.compiled import compiled
from basepar_core.base.symbolic_route import symbolic
from basepar_core.compiled.backend import Engine
from basepar_core.dynamics.closure import prepare
from basepar_core.files.mechanism_file import loads
from basepar_core.single_dof import periodic, periodic_tables
from basepar_core.single_dof.machines import turn_at
from basepar_core.single_dof.range import find_way
from basepar_core.single_dof.reaction_freedoms import freed, reaction
from tests.core.single_dof.test_onedof_reduced import of_base

SPRUNG = """
springs:
  coil: {joint: D, rest: 0.2, stiffness: 30 N*m}
  wire: {connects: [ground, coupler], at: [[1, 1], [0.2, 0]], rest: 0.4 m, stiffness: 200 N/m}
dampers: {pot: {connects: [crank, rocker], at: [[0.1, 0], [0.3, 0.1]], damping: 7 N*s/m}}
friction: {C: {viscous: 0.3, coulomb: 0.2, rotor: 0.01}}
"""
CASES = {
    "bicycle": (load("bicycle").source, {"l1": [0.41, 0.42, 0.43]}, None),
    "dwell": (load("dwell").source, {"AB": [0.03, 0.0255, 0.0325], "gear": [6, 8, 12.0]}, None),
    "reaction": (load("dwell").source, {"AB": [0.03, 0.028]}, "S:rocker:y"),
    "gravity": (load("four-bar").source, {"lx1": [0.25, 0.35], "Dx": [0.9, 1.0]}, "B:crank:x"),
    "space": (load("rsur").source, {}, None),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name == "space"))
        for name in [*CASES, "springs"]
    ],
)
def test_few_samples_tell_what_all_nodes_do(name):
    text, values, force = CASES.get(name, ("", {}, None))
    if name == "springs":  # of pins that close a loop, a spring's rest and a rotor count too
        text = load("four-bar").source.replace("friction:", "# friction:") + SPRUNG
    model = prepare(loads(text))
    way = find_way(model)
    if force:
        model = freed(model, [reaction(model.mechanism, force)])
    values = {key: np.array(x) for key, x in values.items()}
    plain, turn = turn_at(model, way, values, 360)
    turner = pickle.loads(pickle.dumps(periodic_tables.Turner(Engine(model), way)))
    found = turner(values, 360)
    assert sorted(found.rows) == list(range(turn.count))
    for rows, table, ours in found.parts():
        pairs = [(getattr(ours, f), getattr(turn, f)[rows]) for f in ("m", "work", "drag", "pull")]
        for f in ("theta", "rates"):
            pairs.append((getattr(table, f), np.take(getattr(plain, f), rows, axis=-2)))
        for f in ("slope", "virtual_slope", "potential"):
            pairs.append((getattr(table, f), getattr(plain, f)[rows]))
        for f in ("inertia", "half_slope"):
            pairs.append((getattr(table.reduced, f), getattr(plain.reduced, f)[rows]))
        for one, other in pairs:
            # What the samples are asked to tell (`periodic_tables.TAIL`), of each function's size.
            size = np.abs(other).max(axis=-1, keepdims=True)
            assert (np.abs(one - other) <= periodic_tables.TAIL * size + 1e-15).all()


def test_base_parameters_of_every_geometry(monkeypatch):
    model = prepare(load("four-bar"))
    base = symbolic(model)
    functions = compiled(base, model.mechanism)
    values = {"lx1": np.array([0.25, 0.3, 0.35]), "Dx": np.array([0.9, 1.0, 1.1])}
    way = find_way(model)
    whole = turn_at(model, way, values, 360)[1]
    monkeypatch.setattr(periodic_tables, "inertias", lambda _, v: of_base(base, functions, v))
    small = periodic_tables.Turner(Engine(model), way)(values, 360)
    [(_, _, turn)] = small.parts()
    # φ_b regroups terms of mixed sign, and 64 samples err by `periodic_tables.TAIL` at most.
    for one, other in ((turn.m, whole.m), (turn.work, whole.work)):
        np.testing.assert_allclose(
            one, other, rtol=0, atol=periodic_tables.TAIL * np.abs(other).max()
        )


def test_who_does_not_turn_and_who_needs_more(monkeypatch):
    model = prepare(load("dwell"))
    turner = periodic_tables.Turner(Engine(model), find_way(model))
    values = {"AB": np.array([0.03, 0.2, 0.033]), "OC": np.array([0.075, 0.075, 0.08])}
    found = turner(values, 360)
    assert found.lost.tolist() == [1]
    assert sorted(found.rows) == [0, 2]
    fewer = dict.fromkeys(found.rows.tolist())
    for rows, table, _ in found.parts():
        fewer |= dict.fromkeys(rows.tolist(), table.reduced.path.q.shape[-1])
    assert fewer[2] > fewer[0]  # near its dead point: more harmonics
    monkeypatch.setattr(periodic_tables, "MOST", fewer[0])
    assert turner(values, 360).coarse.tolist() == [2]


@pytest.mark.parametrize(
    ("name", "symbol", "value"),
    [("bicycle", "l1", 0.43), ("dwell", "AB", 0.031), ("four-bar", "Dx", 0.95)],
)
def test_one_variant_deformed_is_the_one_that_walks(name, symbol, value, monkeypatch):
    model = prepare(load(name))
    turner = periodic_tables.Turner(Engine(model), find_way(model))
    [(_, table, turn)] = turner({symbol: np.array([value, value])}, 100).parts()
    assert turner.samples == table.reduced.path.q.shape[-1]
    monkeypatch.setattr(periodic_tables.Turner, "_from", None)  # nothing walks
    found = turner({symbol: np.array([value])}, 100)
    [(_, alone, one)] = found.parts()
    assert found.rows.tolist() == [0]
    assert alone.loads.growth.keys() == table.loads.growth.keys()
    pairs = [(getattr(one, f), getattr(turn, f)) for f in ("m", "work", "drag", "fan", "pull")]
    pairs.append((alone.theta.swapaxes(0, 1), table.theta.swapaxes(0, 1)))
    pairs.append((alone.reduced.half_slope, table.reduced.half_slope))
    for x, y in pairs:
        np.testing.assert_allclose(x, y[:1], rtol=0, atol=1e-12 * np.abs(y).max(initial=1.0))


def test_one_variant_that_does_not_turn_or_needs_more_walks():
    model = prepare(load("dwell"))
    turner = periodic_tables.Turner(Engine(model), find_way(model))
    assert turner({"AB": np.array([0.2])}, 100).lost.tolist() == [0]
    near = {"AB": np.array([0.033]), "OC": np.array([0.08])}
    [(_, table, _)] = turner(near, 100).parts()
    assert table.reduced.path.q.shape[-1] > turner.samples


def known(count):
    """exp(sin q) + q/3, its slope, and what a turn gains."""
    q = np.linspace(0, 2 * np.pi, count, endpoint=False)
    wave = np.exp(np.sin(q))
    return (wave + q / 3)[None], (np.cos(q) * wave + 1 / 3)[None], np.array([2 * np.pi / 3])


@pytest.mark.parametrize("few", [0, 80])
def test_slopes_integrals_and_nodes_of_a_known_function(few, monkeypatch):
    monkeypatch.setattr(periodic, "FEW", few)  # transforms, or sums as they stand
    values, slope, gained = known(48)
    # Coefficients of exp(sin) fall below 1e-16 at 15; slopes multiply rounding by harmonics.
    np.testing.assert_allclose(periodic.slopes(values, gained, 2 * np.pi), slope, atol=1e-13)
    since = values - values[:, :1]
    np.testing.assert_allclose(periodic.integrals(slope, 2 * np.pi), since, atol=1e-14)
    for intervals in (36, 48, 100):
        ends = np.linspace(0, 2 * np.pi, intervals + 1)
        found = periodic.finer(values, gained, intervals)
        np.testing.assert_allclose(found[0], np.exp(np.sin(ends)) + ends / 3, atol=1e-14)


@pytest.mark.parametrize("count", [8, 12, 16, 24])
def test_the_tail_bounds_what_is_between_samples(count):
    q = np.linspace(0, 2 * np.pi, count, endpoint=False)
    ends = np.linspace(0, 2 * np.pi, 361)
    for sharp in (0.3, 0.6):  # harmonics fall like 1/3 and like 1/1.6 to their power
        values = 1 / (1 - sharp * np.cos(q - 0.4))[None]
        off = periodic.finer(values, 0.0, 360) - 1 / (1 - sharp * np.cos(ends - 0.4))
        bound = periodic.tail(values)[0] * np.ptp(values)
        assert np.abs(off).max() < bound
        # And it says something: a third of the harmonics' fall, where the error is half of it.
        assert bound < 30 * np.abs(off).max() ** (2 / 3)
