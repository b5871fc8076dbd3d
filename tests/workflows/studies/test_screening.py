"""Screening: what comes next follows from what was found, and the best is found with few rows."""

import os
import shutil
import signal
from dataclasses import replace

import numpy as np
import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from scipy.optimize import minimize

from basepar_core.errors import FileError
from cluster.client import connect
from cluster.places import Laptop
from sweeps.spec import sobol_points
from sweeps.store import Store
from tests.oracles.four_bar_design import designs
from tests.workflows.fourbar_study import assert_equal_stores
from tests.workflows.study_specs import study_from
from workflows.studies import rounds, screening_run
from workflows.studies.feasibility import Verdict, dominated, judge
from workflows.studies.reader import parse_study
from workflows.studies.screening import Screen
from workflows.studies.shares import designs_of, shares_of
from workflows.studies.study import study

BOUNDS = {"lx1": (0.2, 0.6), "lx3": (1.0, 1.6), "Dx": (0.6, 1.4)}
START, STROKE = np.radians(34), np.radians(40)
TEXT = """
mechanism: four-bar
variables: {lx1: [0.2, 0.6], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}
objectives: {torque_rms: minimize}
constraints: ["stroke(D) >= 40 deg"]
trials: 200
study: {name: torque}
"""


def spec(**others):
    return study_from(
        "four-bar",
        BOUNDS,
        **{
            "objectives": {"torque_rms": "minimize"},
            "constraints": ["stroke(D) >= 40 deg"],
            "trials": 4096,
            "sampler": "screen",
        }
        | others,
    )


def by_triangles(one, values):
    """A verdict without the program's evaluation."""
    found = np.stack(designs(*values.T, start=START), axis=1)
    good = np.isfinite(found).all(axis=1)
    missed = np.where(good, (STROKE - found[:, 1]) / (STROKE + np.abs(found[:, 1])), 0.0)
    goals = found[:, : len(one.objectives)]
    worst = np.where(one.signs > 0, np.inf, -np.inf)
    violations = np.where(good, 0.0, 2.0)[:, None]
    if one.constraints:
        violations = np.column_stack([violations, missed])
    settled = np.ones(len(values), bool)
    return Verdict(values, {}, np.where(good[:, None], goals, worst), violations, settled)


def screened(one, stop, screen=None):
    """Rows by rounds; descents stay where they begin."""
    screen = screen or Screen(one)
    verdicts = []
    for piece in rounds.of(one.batch, stop, stop, len(one.objectives) > 1):
        proposal = screen.propose(piece)
        begun = screen.shares[[x.row for x in proposal.begins]]
        values = designs_of(one, np.concatenate([begun, proposal.shares]))
        verdict = by_triangles(one, values[: piece.stop - piece.start])
        screen.learn(proposal, verdict)
        verdicts.append(verdict)
    return screen, np.concatenate([x.parameters for x in verdicts])


@pytest.mark.parametrize("several", [False, True])
def test_rows_do_not_depend_on_how_many_there_will_be(several):
    front = {"objectives": {"torque_rms": "minimize", "stroke(D)": "maximize"}, "constraints": []}
    one = spec(**(front if several else {}))
    _, long = screened(one, 1500)
    _, short = screened(one, 700)
    np.testing.assert_array_equal(long[:700], short)
    assert len(np.unique(long, axis=0)) > 1450  # descents that moved nowhere are there twice
    _, other = screened(spec(seed=1), 64)
    assert not np.isin(other, short).any()


def test_boxes_close_in_on_the_best():
    """Without slopes: rows alone reach what a brute force of triangles and SLSQP has."""
    one = spec()
    screen, rows = screened(one, 4096)
    assert ((rows >= [0.2, 1.0, 0.6]) & (rows <= [0.6, 1.6, 1.4])).all()

    def torque(x):
        return float(designs(*np.array(x)[:, None], start=START)[0][0])

    def spare(x):
        return float(designs(*np.array(x)[:, None], start=START)[1][0]) - STROKE

    found = minimize(
        torque,
        [0.21, 1.01, 0.77],
        method="SLSQP",
        bounds=list(BOUNDS.values()),
        constraints=[{"type": "ineq", "fun": spare}],
    )
    best = screen.leaders[0]
    assert screen.violation[best] == 0
    # Boxes stop where a constraint is met by a hair, a thousandth above.
    assert found.fun * (1 - 1e-6) <= screen.goals[best, 0] < 1.001 * found.fun
    # A quarter of the rows is spread over the whole space all the same.
    assert 0.2 * 4096 < len(screen.explored) < 0.35 * 4096


def test_a_front_has_no_one_better():
    one = spec(objectives={"torque_rms": "minimize", "stroke(D)": "maximize"}, constraints=[])
    screen, rows = screened(one, 2048)
    goals = by_triangles(one, rows).values * one.signs
    whole = np.isfinite(goals).all(axis=1)
    front = goals[whole][~dominated(goals[whole])]
    mine = screen.goals[screen.front]
    np.testing.assert_array_equal(mine, np.unique(front, axis=0))
    assert len(mine) > 30


def test_a_descent_at_rest_is_not_begun_again():
    """Ends of descents to a front's ends are better by a hair, and new rows each time."""
    one = spec(objectives={"torque_rms": "minimize", "stroke(D)": "maximize"}, constraints=[])
    screen, free, held = Screen(one), [], 0
    pieces = list(rounds.of(one.batch, 16384, 16384, True))
    for piece in pieces:
        proposal = screen.propose(piece)
        for begin in proposal.begins:
            if np.isfinite(begin.aim.ceilings).any():
                held += 1
            else:
                free.append((begin.aim.weights, screen.shares[begin.row]))
        rows = [x.row for x in proposal.begins]
        values = designs_of(one, np.concatenate([screen.shares[rows], proposal.shares]))
        verdict = by_triangles(one, values[: piece.stop - piece.start])
        verdict.values[: len(rows)] = screen.goals[rows] * one.signs * (1 - 1e-9 * one.signs)
        screen.learn(proposal, verdict)
    # Ends of the front, and sums from even to 1 : 27.
    shares = sorted(weights[0] / weights[1] for weights in {weights for weights, _ in free})
    expected = [1e-3, 1 / 27, 1 / 9, 1 / 3, 1, 3, 9, 27, 1e3]
    np.testing.assert_allclose(shares, expected, rtol=1e-12)  # rounding of the shares
    for k, (weights, start) in enumerate(free):
        for other, place in free[:k]:
            assert weights != other or np.abs(start - place).max() > 1e-3
    # Their places go to others: four of each round at the front and one elsewhere, once there are
    # enough rows for its three variables.
    assert len(free) + held == 5 * sum(one.descends for one in pieces if one.start >= 300)
    assert held > 0


def test_descents_side_by_side_are_one_for_so_many_rows():
    """Half as many more begin at the best of what went through the whole space, and at the least
    of each objective there."""
    one = spec(objectives={"torque_rms": "minimize", "stroke(D)": "maximize"}, constraints=[])
    screen, before, counts, beyond = Screen(one, together=True), 0, [], set()
    for piece in rounds.of(one.batch, 4096, 4096, True):
        proposal = screen.propose(piece)
        rows = [x.row for x in proposal.begins]
        values = designs_of(one, np.concatenate([screen.shares[rows], proposal.shares]))
        assert len({(x.row, x.aim) for x in proposal.begins}) == len(proposal.begins)
        if rows:
            more = proposal.begins[-(len(rows) // 3) :]
            good = screen.explored[np.isfinite(screen.goals[screen.explored]).all(axis=1)]
            best = {int(x) for x in screen._best(good)[:24]}
            least = [{int(x) for x in good[screen.goals[good, k].argsort()[:24]]} for k in (0, 1)]
            assert {x.row for x in more} <= best.union(*least)
            if not any(count for _, count in counts):  # the first ones all are
                assert {x.row for x in proposal.begins} <= best.union(*least)
            beyond |= {x.row for x in more} - best
            assert len({x.aim.weights for x in more}) == min(len(more), 7)
        screen.learn(proposal, by_triangles(one, values[: piece.stop - piece.start]))
        if piece.descends:
            counts.append((before, len(rows)))
        else:
            assert not rows
        before = piece.stop
    assert beyond  # where constraints are violated
    explored = sobol_points(3, one.sampler.seed, 0, len(screen.explored))
    # By way of SI and back: rounding.
    np.testing.assert_allclose(screen.shares[screen.explored], explored, rtol=0, atol=1e-14)
    for rows, count in counts:
        most = 0 if rows < 300 else min(max(rows // 48, 4), 24)
        assert count == most + most // 2


@pytest.mark.parametrize("batch", [32, 64, 100, 200])
def test_large_rounds_of_several_objectives_are_in_three(batch):
    """Descents first: the other parts are proposed with their ends."""
    first = rounds.whole(64, batch)
    sizes = [(one.size / first, one.descends) for one in rounds.of(batch, 4096, 5000, True)]
    assert sizes[:9] == [
        *[(1, True), (1, True), (2, True)],
        *[(1, True), (1, False), (2, False)],
        *[(1, True), (3, False), (4, False)],
    ]
    for several in (True, False):
        whole = list(rounds.of(batch, 4096, 5000, several))
        assert [one.start for one in whole[1:]] == [one.stop for one in whole[:-1]]
        assert whole[-1].stop == 5000
        assert [one for one in whole if one.start >= 4096 and one.descends] == []
    assert [one.size for one in rounds.of(64, 2048, 2048, False)] == [64, 64, 128, 256, 512, 1024]


@pytest.mark.parametrize("gaps", [4, 5, 40])
def test_gaps_of_a_front_are_filled_between_its_designs(gaps):
    """On the line between neighbours and beside it, in every gap; the widest first."""
    one = spec(objectives={"torque_rms": "minimize", "stroke(D)": "maximize"}, constraints=[])
    screen, _ = screened(one, 512)
    screen.front = screen.front[np.linspace(0, len(screen.front) - 1, gaps + 1).astype(int)]
    proposal = screen.propose(rounds.Round(512, 768, 256, False))
    between, front = proposal.shares[:96], screen.front  # half of what explores nothing
    goals = screen.goals[front]
    widths = (np.abs(np.diff(goals, axis=0)) / np.ptp(goals, axis=0)).sum(axis=1)
    on_line = np.zeros((len(between), gaps), bool)
    inside = np.zeros_like(on_line)
    for k in range(gaps):
        first, second = screen.shares[front[k]], screen.shares[front[k + 1]]
        low, high = np.minimum(first, second) - 1e-12, np.maximum(first, second) + 1e-12
        along = (between - first) @ (second - first) / ((second - first) @ (second - first))
        away = np.abs(between - first - along[:, None] * (second - first)).max(axis=1)
        on_line[:, k] = (away < 1e-12) & (along >= 0) & (along <= 1)
        reach = high - low
        inside[:, k] = ((between >= low - reach) & (between <= high + reach)).all(axis=1)
    assert inside.any(axis=1).all()
    assert 48 <= on_line.any(axis=1).sum() < 60  # one of two, and some that were moved along it
    assert (on_line.sum(axis=0) >= 96 // gaps // 2).all()
    assert on_line[:, widths.argmax()].sum() >= on_line[:, widths.argmin()].sum()


def test_gaps_of_a_front_pay():
    """Of designs between its neighbours more are on it than of all others."""
    one = spec(objectives={"torque_rms": "minimize", "stroke(D)": "maximize"}, constraints=[])
    screen, _ = screened(one, 512)
    proposal = screen.propose(rounds.Round(512, 1024, 512, False))
    screen.learn(proposal, by_triangles(one, designs_of(one, proposal.shares)))
    there = np.isin(512 + np.arange(512), screen.front)
    assert there[:192].mean() > 1.5 * there[192:].mean()


def test_whole_numbers_leave_no_gap():
    """Between neighbours that differ by them alone there is nothing; nor in gaps of no width."""
    one = study_from(
        "four-bar",
        {"lx1": {"integer": [1, 9]}, "Dx": (1.0, 2.0)},
        {"torque_rms": "minimize", "stroke(D)": "maximize"},
        trials=64,
        sampler="screen",
    )
    screen, rng = Screen(one), np.random.default_rng(0)
    screen.shares = np.array([[0.1, 0.5], [0.3, 0.5], [0.3, 0.7], [0.3, 0.7 + 1e-6]])
    screen.goals = np.array([[0.0, 1.0], [0.4, 0.6], [0.9999999, 1e-7], [1.0, 0.0]])
    screen.front = np.arange(4)
    found = screen._between(50, rng)
    assert len(found) == 50
    assert (found[:, 0] == 0.3).all()
    assert np.ptp(found[:, 1]) > 0.1
    screen.front = np.arange(2)
    assert screen._between(50, rng).shape == (0, 2)


def test_dominated_is_what_it_says():
    """Against the definition, with ties; of two objectives it goes by sorting."""
    rng = np.random.default_rng(0)
    for trial in range(200):
        values = rng.integers(0, 6, (trial % 40, 2 + trial % 2)).astype(float)
        slow = [((values <= x).all(axis=1) & (values < x).any(axis=1)).any() for x in values]
        np.testing.assert_array_equal(dominated(values), np.array(slow, bool))


def test_shares_and_designs_are_each_other():
    one = study_from(
        "four-bar",
        {"lx1": (0.2, 0.6), "lx3": {"choices": [1.0, 1.3, 1.6]}, "Dx": {"integer": [1, 3]}},
        {"torque_rms": "minimize"},
        trials=10,
        sampler="screen",
    )
    rows = designs_of(one, np.random.default_rng(2).random((50, 3)))
    assert set(np.unique(rows[:, 1])) == {1.0, 1.3, 1.6}
    assert set(np.unique(rows[:, 2])) == {1.0, 2.0, 3.0}
    again = designs_of(one, shares_of(one, rows))
    np.testing.assert_allclose(again, rows, rtol=1e-15)
    np.testing.assert_allclose(designs_of(one, np.ones((1, 3))), [[0.6, 1.6, 3.0]], rtol=1e-15)


def test_who_asks_where_the_file_does_not_say():
    plain = parse_study(TEXT)
    assert (plain.sampler.kind, plain.batch, plain.screened) == ("screen", 64, 200)
    assert "torque_rms" in plain.sampler.why
    assert parse_study(TEXT.replace("trials: 200\n", "")).trials == rounds.SCREENED
    # The reason is no part of what fixes the study.
    stated = parse_study(TEXT + "sampler: {kind: screen}\n")
    assert (stated.hash, stated.sampler.why) == (plain.hash, "")
    discrete = TEXT.replace(
        "{lx1: [0.2, 0.6], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}", "{lx1: {choices: [0.2, 0.3]}}"
    )
    assert parse_study(discrete).sampler.kind == "tpe"
    assert "discrete" in parse_study(discrete).sampler.why
    machine = """
mechanism: dwell
variables: {AB: [0.025, 0.033]}
objectives: {speed_fluctuation: minimize}
trials: 10
"""
    assert parse_study(machine).sampler.kind == "tpe"
    assert "speed_fluctuation of a steady regime" in parse_study(machine).sampler.why


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sampler: {kind: screen, screen: 100}", "screens all rows"),
        ("sampler: {screen: 100}", "goes on from there"),
        ("sampler: {options: {n_ei_candidates: 3}}", "name the sampler"),
        ("sampler: {kind: screen, options: {a: 1}}", "takes none"),
    ],
)
def test_samplers_that_are_none(line, said):
    with pytest.raises(FileError, match=said):
        parse_study(TEXT + line + "\n")


def test_trials_are_required_of_other_samplers():
    with pytest.raises(FileError, match=r"trials \(line 2\): required"):
        parse_study(TEXT.replace("trials: 200\n", "sampler: {kind: tpe}\n"))


@pytest.fixture(scope="module")
def client():
    with connect(Laptop(workers=1)) as found:
        yield found


@pytest.fixture(scope="module")
def done(tmp_path_factory, client):
    """A screened study of 256 rows, descents included."""
    folder = tmp_path_factory.mktemp("screened")
    one = parse_study(TEXT).of(256).at(f"{folder}/whole.zarr")
    study(one, client)
    return one


def trials_of(one):
    storage = JournalStorage(JournalFileBackend(one.storage))
    return optuna.load_study(study_name=one.name, storage=storage).trials


@pytest.mark.slow
def test_the_optimum_is_found_with_few_rows(done):
    """Against designs by triangles: brute force ends above what the screen finds."""
    verdict = judge(done, Store.open(done.path), 0, 256)
    best = verdict.values[verdict.feasible, 0].min()
    low, high = np.array(list(BOUNDS.values())).T
    points = low + (high - low) * np.random.default_rng(5).random((20000, 3))
    torque, swing = designs(*points.T, start=START)
    brute = np.where((swing >= STROKE) & np.isfinite(torque), torque, np.inf).min()
    assert best < brute
    # The corner that bounds and stroke hold: lx1 and lx3 at their least.
    row = np.flatnonzero(verdict.feasible)[verdict.values[verdict.feasible, 0].argmin()]
    np.testing.assert_allclose(verdict.parameters[row, :2], [0.2, 1.0], atol=1e-9)
    torque, swing = (x[0] for x in designs(*verdict.parameters[[row]].T, start=START))
    assert torque == pytest.approx(best, rel=1e-8)
    assert swing == pytest.approx(STROKE, abs=1e-6)


@pytest.mark.slow
def test_what_was_found_is_told(done):
    """The Optuna study has the best as finished trials, each once, and goes on from there."""
    told = trials_of(done)
    verdict = judge(done, Store.open(done.path), 0, 256)
    rows = [one.user_attrs["screened"] for one in told]
    assert len(set(rows)) == len(rows) == 100
    for one in told:
        row = one.user_attrs["screened"]
        assert one.values == verdict.values[row].tolist()
        np.testing.assert_array_equal(list(one.params.values()), verdict.parameters[row])
    best = min((x for x in told if max(x.constraints.values()) <= 0), key=lambda x: x.value)
    assert best.value == verdict.values[verdict.feasible, 0].min()
    storage = JournalStorage(JournalFileBackend(done.storage))
    loaded = optuna.load_study(
        study_name=done.name, storage=storage, sampler=optuna.samplers.TPESampler(seed=1)
    )
    asked = loaded.ask({n: optuna.distributions.FloatDistribution(*b) for n, b in BOUNDS.items()})
    assert set(asked.params) == set(BOUNDS)
    loaded.tell(asked, state=optuna.trial.TrialState.FAIL)


@pytest.mark.slow
def test_a_study_prolonged_is_the_study_in_one_run(done, tmp_path, client):
    short = done.of(100).at(f"{tmp_path}/short.zarr")
    study(short, client)
    study(short.of(256), client)
    assert_equal_stores(short.path, done.path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tpe", "nsga2"])
def test_a_sampler_goes_on_from_what_was_screened(kind, tmp_path, client):
    text = TEXT.replace("trials: 200", f"sampler: {{kind: {kind}, screen: 120}}\ntrials: 192")
    one = parse_study(text).at(f"{tmp_path}/on.zarr")
    assert one.screened == rounds.whole(120, one.batch) < 192
    assert one.screened % one.storing_chunk == one.batch % one.storing_chunk == 0
    study(one, client)
    assert (np.asarray(Store.open(one.path)["status"][:]) != 0).all()
    told = trials_of(one)
    screened = [x for x in told if "screened" in x.user_attrs]
    asked = [x for x in told if "screened" not in x.user_attrs]
    assert len(asked) == 192 - one.screened
    # All that was found was told before the first question.
    assert max(x.number for x in screened) < min(x.number for x in asked)
    if kind == "tpe":  # it knows where to look: near the corner, not all over the space
        spread = np.median([abs(x.params["lx1"] - 0.2) for x in asked])
        assert spread < 0.1
    if kind == "nsga2":  # its first generation is the best of what was screened
        verdict = judge(one, Store.open(one.path), 0, one.trials)
        best = verdict.values[verdict.feasible, 0].min()
        assert min(x.value for x in asked) <= best * (1 + 1e-12)
    study(one, client)  # no trial is added twice
    assert len(trials_of(one)) == len(told)


@pytest.mark.slow
def test_a_lost_store_is_filled_with_the_same(done, tmp_path, client):
    one = replace(done, store=f"{tmp_path}/again.zarr", storage=f"{tmp_path}/again.journal")
    study(one.of(128), client)
    count = len(trials_of(one))
    shutil.rmtree(one.path)
    study(one.of(128), client)
    assert len(trials_of(one)) == count


@pytest.fixture(scope="module")
def front(tmp_path_factory, client):
    """A screened study of two objectives, with descents from rows 512 and 1024 on."""
    folder = tmp_path_factory.mktemp("front")
    text = TEXT.replace("torque_rms: minimize", "torque_rms: minimize, stroke(D): maximize")
    one = parse_study(text).of(1088).at(f"{folder}/whole.zarr")
    study(one, client)
    return one


@pytest.mark.slow
def test_descents_to_a_front_go_down(front):
    screen, held = Screen(front, together=True), Store.open(front.path)
    pieces = list(rounds.of(front.batch, 1088, 1088, True))
    (first,) = (one for one in pieces if one.start == 512)
    for one in pieces[: pieces.index(first)]:
        proposal = screen.propose(one)
        assert not proposal.begins
        screen.learn(proposal, judge(front, held, one.start, one.stop))
    begins = screen.propose(first).begins
    assert len(begins) >= 4
    verdict = judge(front, held, 512, 512 + len(begins))
    ends = verdict.values * front.signs
    for one, end, violation in zip(begins, ends, verdict.violation, strict=True):
        weights = np.array(one.aim.weights) / one.aim.sizes
        if screen.violation[one.row] > 0:
            # The best feasible design seen, whatever it costs, or the start.
            assert violation == 0 or (end == screen.goals[one.row]).all()
        else:
            assert weights @ end <= weights @ screen.goals[one.row] * (1 + 1e-12)
    assert (screen.violation[[one.row for one in begins]] > 0).any()
    starts = np.array([screen.goals[one.row] for one in begins])
    assert (np.abs(ends - starts) > 1e-6 * np.abs(starts)).any(axis=1).sum() >= 3


@pytest.mark.slow
@pytest.mark.parametrize("rows", [514, 700, 1026])
def test_a_front_cut_anywhere_is_the_same(front, tmp_path, client, rows):
    """Among the first descents, in what fills gaps, and among later descents."""
    short = front.of(rows).at(f"{tmp_path}/short.zarr")
    study(short, client)
    study(short.of(1088), client)
    assert_equal_stores(short.path, front.path)


@pytest.mark.slow
def test_a_front_by_three_workers_is_the_same(front, tmp_path):
    other = front.at(f"{tmp_path}/other.zarr")
    with connect(Laptop(workers=3)) as several:
        study(other, several)
    assert_equal_stores(other.path, front.path)


@pytest.mark.slow
def test_a_worker_that_dies_in_descents_changes_nothing(front, tmp_path, monkeypatch):
    """With it goes what all descents of the study need."""
    other, mark, descended = front.at(f"{tmp_path}/other.zarr"), tmp_path / "died", []
    descended.append(screening_run._descended)

    def dies_once(landscape, begins, together):
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return descended[0](landscape, begins, together)

    monkeypatch.setattr(screening_run, "_descended", dies_once)
    with connect(Laptop(workers=1)) as alone:
        study(other, alone)
    assert mark.exists()
    assert_equal_stores(other.path, front.path)
