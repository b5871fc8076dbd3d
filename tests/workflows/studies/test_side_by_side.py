"""Descents side by side: slopes together by differences, and the turns in which they are asked."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from basepar_core.metrics import path_error
from sweeps.chunks import chunk
from workflows.studies import load_job, side_by_side
from workflows.studies.descents import Aim, descend, descend_together
from workflows.studies.gradients import Landscape
from workflows.studies.reader import parse_study
from workflows.studies.screening import MOST, MOST_TOGETHER
from workflows.studies.shares import designs_of

TWO = """
mechanism: four-bar
variables: {lx1: [0.2, 0.6], Dx: [0.8, 1.2]}
derive: {lx3: lx1 + 0.9 m}
objectives: {torque_rms: minimize, "lx3*stroke(D)": maximize}
constraints: ["stroke(D) >= 40 deg"]
trials: 64
"""
ORDERED = """
mechanism: ../mechanisms/straight-line.yaml
variables: {e: [180, 330], f: [-40, 40]}
targets: {wanted: {points: [[0, 0], [0.1, 0], [0.1, 0.1]], fit: [timing, position, rotation]}}
objectives: {torque_rms: minimize, "path_error(P, wanted)": minimize}
constraints: ["order_defects(P, wanted) <= 0", "missed_points(P, wanted) <= 3"]
trials: 64
"""
DESIGNS = [{"lx1": 0.3, "Dx": 1.0}, {"lx1": 0.9, "Dx": 0.3}, {"lx1": 0.35, "Dx": 0.9}]


@pytest.fixture(scope="module")
def landscape():
    return Landscape.of(parse_study(TWO))


def test_slopes_together_are_those_of_each(landscape):
    found = landscape.near(DESIGNS)
    assert landscape.at(DESIGNS[1]) is None  # its crank does not turn
    assert found[1] is None
    for design, near in zip(DESIGNS[::2], found[::2], strict=True):
        exact = landscape.at(design)
        spoken = {*landscape.spec.results, "lx3"}  # the one symbol in its objectives
        assert near.values.keys() == near.slopes.keys() == spoken
        for name in spoken:
            assert near.values[name] == pytest.approx(exact.values[name], rel=1e-11)
            # Differences over 4e-7 m err by that times the curvature, here below 100 a slope.
            np.testing.assert_allclose(near.slopes[name], exact.slopes[name], rtol=4e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("straight-line", "path_error(P,line)"),
        ("jansen", "path_error(toe,floor)"),
        ("press", "function_error(S,draw)"),
    ],
)
def test_steps_keep_what_is_fitted_to_their_design(name, error, monkeypatch):
    fitted, fit = [], path_error._fit

    def counted(track, *others):
        fitted.append(len(track))
        return fit(track, *others)

    monkeypatch.setattr(path_error, "_fit", counted)
    spec = load_job(name)
    landscape = Landscape.of(spec)
    shares = 0.3 + 0.4 * np.random.default_rng(5).random((8, len(spec.variables)))
    designs = [
        dict(zip(spec.names, map(float, row), strict=True)) for row in designs_of(spec, shares)
    ]
    found = [
        (one, near) for one, near in zip(designs, landscape.near(designs), strict=True) if near
    ]
    assert len(found) >= 4
    assert len(found) <= sum(fitted) <= len(designs)
    for design, near in found:
        exact = landscape.at(design)
        # Errors of 0.3 mm and more, of loops that close to a small share of 1e-12 m on either way.
        assert near.values[error] == pytest.approx(exact.values[error], rel=1e-9)
        size = np.abs(exact.slopes[error]).max()
        # A path that is nearly straight bends much: its slopes change by 1e-4 within a step.
        np.testing.assert_allclose(near.slopes[error], exact.slopes[error], atol=5e-4 * size)


def test_points_in_order_are_of_the_same_fit(monkeypatch):
    """Metrics of a target that have no slope are fitted once for a design too."""
    fitted, fit = [], path_error._fit

    def counted(track, *others):
        fitted.append(len(track))
        return fit(track, *others)

    monkeypatch.setattr(path_error, "_fit", counted)
    spec = parse_study(ORDERED, "workflows/examples/studies/ordered.yaml")
    landscape = Landscape.of(spec)
    assert landscape.is_of_the_cycle
    found = landscape.near([{"e": 0.25, "f": 0.0}, {"e": 0.3, "f": 0.02}])
    assert None not in found
    assert sum(fitted) == 3 * len(found)


def test_descents_together_end_where_each_does(landscape):
    aim = Aim((1.0, 0.0), (np.inf, np.inf), (10.0, 1.0))
    together = descend_together(landscape, [(one, aim) for one in DESIGNS], 60)
    for design, found in zip(DESIGNS, together, strict=True):
        alone = descend(landscape, design, aim, 60)
        ends = [landscape.at(one.design) for one in (found, alone)]
        if alone.design == design:  # it does not close
            assert found == alone
            continue
        # Slopes wrong by 1e-6 end within its square of the least.
        assert ends[0].values["torque_rms"] == pytest.approx(
            ends[1].values["torque_rms"], rel=1e-8
        )
        assert ends[0].values["stroke(D)"] >= np.radians(40)


@pytest.mark.parametrize("least", [256, 25])
@pytest.mark.parametrize("name", ["press", "dwell-slide", "straight-line", "jansen"])
def test_no_bit_depends_on_the_designs_beside(name, least, monkeypatch):
    """Nor on where a chunk is cut into pieces: a design's steps stay with it."""
    monkeypatch.setattr(chunk, "PIECE_BYTES", 0)
    monkeypatch.setattr(chunk, "LEAST_PIECE", least)
    spec = load_job(name)
    landscape = Landscape.of(spec)
    assert landscape.is_of_the_cycle
    shares = 0.3 + 0.4 * np.random.default_rng(3).random((6, len(spec.variables)))
    designs = [
        dict(zip(spec.names, map(float, row), strict=True)) for row in designs_of(spec, shares)
    ]
    together = landscape.near(designs)
    assert sum(one is not None for one in together) >= 3
    for design, found in zip(designs, together, strict=True):
        (alone,) = landscape.near([design])
        assert (alone is None) == (found is None)
        if found is not None:
            assert alone.values == found.values
            for result in spec.results:
                np.testing.assert_array_equal(alone.slopes[result], found.slopes[result])


def test_steps_stay_within_the_ranges():
    """Beyond the upper end the formula has no value."""
    formula = '"1.2 m + (0.4 m - lx1)*((0.4 m - lx1)/(1 m))^0.5"'
    text = TWO.replace("lx1 + 0.9 m", formula).replace("0.6", "0.4")
    landscape = Landscape.of(parse_study(text))
    design = {"lx1": 0.4, "Dx": 1.2}
    (found,) = landscape.near([design])
    assert found.slopes["lx3"][0] == pytest.approx(0.0, abs=1e-3)  # (4e-7 m)^0.5 of a step


def test_torques_of_several_drives_are_of_the_cycle():
    assert Landscape.of(load_job("press")).is_of_the_cycle
    assert not Landscape.of(load_job("quick-return")).is_of_the_cycle  # it selects a model
    assert not Landscape.of(load_job("dwell")).is_of_the_cycle  # a regime is integrated


@pytest.mark.slow
def test_descents_to_sums_come_to_rest():
    """With the evaluations that two rounds give them, the second from where the first ended, they
    end as low as with many more; with those of a descent by itself they do not (decision 160)."""
    spec = load_job("press")
    landscape = Landscape.of(spec)
    aim = Aim((0.5, 0.5), (np.inf, np.inf), (5e-3, 20.0))
    shares = 0.2 + 0.6 * np.random.default_rng(7).random((32, len(spec.variables)))
    designs = [
        dict(zip(spec.names, map(float, row), strict=True)) for row in designs_of(spec, shares)
    ]
    begins = [(one, aim) for one in designs if landscape.near([one])[0] is not None][:8]

    def merits(*rounds):
        ends = [design for design, _ in begins]
        for most in rounds:
            begun = [(design, aim) for design in ends]
            ends = [one.design for one in descend_together(landscape, begun, most)]
        found = landscape.near(ends)
        names = [line.expression.name for line in spec.objectives]
        return np.array([[one.values[name] for name in names] for one in found]) @ (
            spec.signs * 0.5 / np.array(aim.sizes)
        )

    rest = merits(200)
    # All eight to the same, but for what is left to whom even these were too few.
    np.testing.assert_allclose(rest, np.median(rest), rtol=1e-3)
    # A race is judged by 1 %: within half of it, and beyond half as much again.
    assert np.median(merits(MOST_TOGETHER, MOST_TOGETHER) / rest) < 1.005
    assert np.median(merits(MOST, MOST) / rest) > 1.015


def test_searches_of_different_lengths_get_their_own_answers():
    asked = []

    def answer(questions):
        asked.append(list(questions))
        return [10 * one for one in questions]

    def search(count):
        return lambda ask: [ask(100 * count + k) for k in range(count)]

    found = side_by_side.run([search(3), search(0), search(1), search(2)], answer)
    assert found == [[3000, 3010, 3020], [], [1000], [2000, 2010]]
    assert asked == [[300, 100, 200], [301, 201], [302]]


def test_an_error_is_its_own_question_s():
    def answer(questions):
        if 0 in questions:
            raise ZeroDivisionError
        return [1 / one for one in questions]

    def search(first):
        def run(ask):
            try:
                return [ask(first), ask(4)]
            except ZeroDivisionError:
                return "nothing"

        return run

    assert side_by_side.run([search(2), search(0), search(1)], answer) == [
        [0.5, 0.25],
        "nothing",
        [1.0, 0.25],
    ]


def test_a_search_that_fails_lets_the_others_go_on():
    def fails(ask):
        ask(1)
        raise ValueError("of its own")

    seen = []
    with pytest.raises(ValueError, match="of its own"):
        side_by_side.run([fails, lambda ask: seen.extend(ask(k) for k in range(3))], list)
    assert seen == [0, 1, 2]


def test_threads_that_cannot_start_leave_nobody_waiting(monkeypatch):
    begun = []
    submit = ThreadPoolExecutor.submit

    def refuses(self, *call):
        if begun:
            raise RuntimeError("can't start new thread")
        begun.append(call)
        return submit(self, *call)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuses)
    with pytest.raises(RuntimeError, match="can't start"):
        side_by_side.run([lambda ask: ask(1), lambda ask: ask(2)], list)
    assert begun
