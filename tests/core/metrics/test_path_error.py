"""Errors of paths: circles that meet, SciPy's minimisers over timing and fit, and differences."""

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize_scalar
from scipy.spatial.transform import Rotation

from basepar_core.dynamics import motion
from basepar_core.dynamics.closure import prepare, trace
from basepar_core.dynamics.motion import Motion
from basepar_core.errors import MechanismError
from basepar_core.files import mechanism_file
from basepar_core.metrics import ClosedCycle, Target, path_error, sensitivity, targets
from basepar_core.metrics.alignment import Fit
from basepar_core.metrics.cycle import find, of_cycle
from tests.core.dynamics.test_points import four_bar, pins

LENGTHS = {"lx1": np.array([0.3, 0.25, 0.28]), "lx2": np.array([0.7, 0.75, 0.68])}
#: Points near P's path, in any order.
POINTS = ((0.45, 0.35), (0.6, 0.5), (0.2, 0.75), (0.25, 0.4), (0.7, 0.8), (0.05, 0.3))
CRANK = (0.7, 1.5, 2.9, 3.3, 5.0, 0.55)  # the last is less than the assembly's 34 degrees
#: Step of the crank over 512 samples to the fourth, 3/128 of it times a derivative near 1.
CLOSE = 1e-9


@pytest.fixture(scope="module")
def cycle():
    """Three four-bars over a turn at constant speed, 512 samples."""
    source = four_bar("{A: 34 deg, B: 91.3 deg, C: -203.8 deg}").source
    mechanism = mechanism_file.loads(source.replace("samples: 24", "samples: 512"))
    model = prepare(mechanism)
    moving = motion.cycle(mechanism, model.assembled.coordinates)
    return ClosedCycle(model, LENGTHS, moving, trace(model, LENGTHS, moving.q).q)


def path(values, crank):
    """P as a complex number, by circles that meet."""
    B, _, coupler, _ = pins(values, crank, 1)
    return B + coupler * (values["lx2"] / 2 + 1j * values["ly2"] / 4)


def variants(cycle):
    nominal = cycle.model.mechanism.nominal
    return [
        {**nominal, **{n: x[k] for n, x in LENGTHS.items()}} for k in range(len(LENGTHS["lx1"]))
    ]


def distance(values, point):
    """Least distance of the true path from a point, over the crank's angle."""

    def away(angle):
        return abs(path(values, angle) - complex(*point))

    grid = np.linspace(0, 2 * np.pi, 721)
    least = grid[np.argmin(np.abs(path(values, grid) - complex(*point)))]
    ends = (least - 0.02, least + 0.02)
    return minimize_scalar(away, bounds=ends, method="bounded", options={"xatol": 1e-9}).fun


def error_on_paper(values, free):
    """Root mean square with the timing free and nothing else, or all stated."""
    if free:
        return np.sqrt(np.mean([distance(values, point) ** 2 for point in POINTS]))
    wanted = np.array([complex(*point) for point in POINTS])
    return np.sqrt(np.mean(np.abs(path(values, np.array(CRANK)) - wanted) ** 2))


@pytest.mark.parametrize("free", [pytest.param(True, marks=pytest.mark.slow), False])
def test_the_error_is_that_of_the_path_on_paper(cycle, free):
    over = ("", (), ("timing",)) if free else ("A", CRANK, ())
    target = Target("wanted", POINTS, *over)
    name = "path_error(P,wanted)"
    found = of_cycle(cycle, [name], [target])[name]
    expected = [error_on_paper(values, free) for values in variants(cycle)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE)
    assert min(expected) > 0.01


def test_times_are_those_of_the_crank(cycle):
    speed = cycle.motion.q_dot[0, 0]
    times = (np.array(CRANK) - cycle.motion.q[0, 0]) / speed % (2 * np.pi / speed)
    by_crank, by_time = (
        Target("wanted", POINTS, over, at, ()) for over, at in (("A", CRANK), ("t", times))
    )
    found = [path_error.fit(*held(cycle, one)).error for one in (by_crank, by_time)]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)  # rounding of the times


def held(cycle, target):
    return cycle.tracks("P"), target, cycle.model.mechanism, cycle.motion


def placed(shift, turn, size, points):
    return size * np.exp(1j * turn) * points + complex(*shift)


@pytest.mark.parametrize(
    "free",
    [
        ("position",),
        ("rotation",),
        ("position", "rotation"),
        ("position", "rotation", "scale"),
        ("scale",),
    ],
)
@pytest.mark.parametrize("timing", [True, False])
def test_what_is_free_is_fitted_best(cycle, free, timing):
    """Against SciPy's least squares over timing and fit at once, from several starts."""
    words = ("timing", *free) if timing else free
    target = Target("wanted", POINTS, *(("", ()) if timing else ("A", CRANK)), words)
    found = path_error.fit(*held(cycle, target))
    wanted = np.array([complex(*point) for point in POINTS])
    for k, values in enumerate(variants(cycle)):

        def missed(x, values=values):
            shift = x[:2] if "position" in free else (0, 0)
            turn = x[2] if "rotation" in free else 0
            size = abs(x[3]) if "scale" in free else 1
            crank = x[4:] if timing else np.array(CRANK)
            gap = placed(shift, turn, size, path(values, crank)) - wanted
            return np.concatenate([gap.real, gap.imag])

        best = np.inf
        for turn in (0, 2, 4):
            middle = wanted.mean() - placed((0, 0), turn, 1, path(values, np.array(CRANK)).mean())
            start = [middle.real, middle.imag, turn, 1.0, *CRANK]
            fitted = least_squares(missed, start, xtol=1e-15, ftol=1e-15, gtol=1e-15)
            best = min(best, np.sqrt(2 * fitted.cost / len(POINTS)))
        if timing:
            # Of six points' many local minima both find good ones; which is least is not said.
            assert found.error[k] <= 1.02 * best
        else:
            assert found.error[k] == pytest.approx(best, abs=CLOSE)


def test_a_copy_of_the_path_is_met(cycle):
    """Turned, larger, elsewhere, in any order: nothing is left."""
    values = variants(cycle)[1]
    crank = np.random.default_rng(3).uniform(0, 2 * np.pi, 25)
    copy = placed((0.3, -2), 2.5, 3, path(values, crank))
    points = tuple(zip(copy.real.tolist(), copy.imag.tolist(), strict=True))
    found = path_error.fit(*held(cycle, Target("wanted", points, fit=targets.FITTED)))
    assert found.error[1] < 3 * CLOSE
    # The others' coupler curves are other curves.
    assert found.error[[0, 2]].min() > 1e-4


@pytest.mark.parametrize(
    ("over", "free"),
    [
        ("A", ()),
        ("A", ("position", "rotation", "scale")),
        ("", ("timing",)),
        ("", ("timing", "position", "rotation")),
        ("", targets.FITTED),
    ],
)
def test_slopes_are_exact(cycle, over, free):
    """By the envelope theorem, against differences of fourth order of the refitted error."""
    model, symbols = cycle.model, ["lx1", "ly2", "Dx"]
    target = Target("wanted", POINTS, over, CRANK if over else (), free)
    seen = sensitivity.slopes(model, {}, cycle.motion, symbols)
    metric = find(model.mechanism, "path_error(P,wanted)", [target])
    slope = seen.of_cycle(metric.value)[1][0]
    h = 3e-4

    def error(symbol, shift):
        values = {**model.mechanism.nominal}
        values[symbol] += shift
        P = path(values, cycle.motion.q[0])
        track = np.stack([P.real, P.imag])[None]
        return path_error.fit(track, target, model.mechanism, cycle.motion).error[0]

    for k, symbol in enumerate(symbols):
        shares = zip((1, -8, 8, -1), (-2, -1, 1, 2), strict=True)
        expected = sum(w * error(symbol, n * h) for w, n in shares) / (12 * h)
        # Differences err by h⁴ times a fifth derivative of up to a million (few points, loosely
        # fitted). Their feet also go from cubic to cubic, whose slopes differ by the cube of the
        # crank's step, 2e-6, times a derivative near 1/10; with 2048 samples by 1e-9.
        assert slope[k] == pytest.approx(expected, abs=5e-7 if "timing" in free else 2e-8)


def test_a_line_is_slid_along_its_path_to_the_end():
    """There the error hardly bends, and turns of fit and feet would creep: slopes tell."""
    mechanism = mechanism_file.load("workflows/examples/mechanisms/straight-line.yaml")
    model = prepare(mechanism)
    moving = motion.cycle(mechanism, model.assembled.coordinates)
    line = tuple((0.01 * k, 0.0) for k in range(19))
    target = Target("line", line, fit=("timing", "position", "rotation"))
    symbols = ["a", "b", "e", "f"]
    metric = find(mechanism, "path_error(P,line)", [target])
    slope = sensitivity.slopes(model, {}, moving, symbols).of_cycle(metric.value)[1][0]
    h = 1e-7
    for k, symbol in enumerate(symbols):
        values = {symbol: mechanism.nominal[symbol] + h * np.array([1.0, -1.0])}
        sides = ClosedCycle(model, values, moving, trace(model, values, moving.q).q)
        error = of_cycle(sides, ["path_error(P,line)"], [target])["path_error(P,line)"]
        # Differences err by h² times a third derivative, and by the error's rounding over h: 1e-9.
        assert slope[k] == pytest.approx((error[0] - error[1]) / (2 * h), abs=1e-7)


@pytest.mark.parametrize("timing", [True, False])
@pytest.mark.parametrize("free", [(), ("position",), ("position", "rotation", "scale")])
def test_small_steps_keep_the_fit_of_their_design(cycle, timing, free):
    """Against paths that are fitted each for itself, on either side; and a path that is met."""
    words = ("timing", *free) if timing else free
    target = Target("wanted", POINTS, *(("", ()) if timing else ("A", CRANK)), words)
    track, _, *motion = held(cycle, target)
    h = 1e-5
    step = h * np.random.default_rng(8).uniform(-1, 1, (len(track), 2, 1)) * track[:, ::-1]
    rows = np.stack([track, track + step], axis=1).reshape(-1, *track.shape[1:])
    designs = np.repeat(np.arange(len(track)), 2)
    kept = path_error.fit(rows, target, *motion, designs).error.reshape(-1, 2)
    ahead, back = (path_error.fit(track + x, target, *motion).error for x in (step, -step))
    np.testing.assert_array_equal(kept[:, 0], path_error.fit(track, target, *motion).error)
    # Feet go from cubic to cubic, whose slopes differ by 2e-6 (above).
    np.testing.assert_allclose((kept[:, 1] - kept[:, 0]) / h, (ahead - back) / (2 * h), atol=5e-6)

    # Points of the first path: its error is rounding or 0, and without a slope its step's is too.
    met = Target("met", tuple(map(tuple, track[0][:, [40, 50, 60]].T.tolist())))
    error = path_error.fit(rows, met, *motion, designs).error
    np.testing.assert_array_equal(error[::2], path_error.fit(track, met, *motion).error)
    # A slope along residuals of rounding is at most the step's own size.
    assert error[0] < 1e-14
    assert abs(error[1]) < 1e-14 + np.abs(step[0]).max() * np.sqrt(2)


def test_a_path_in_space_is_turned_onto_its_target():
    """Against Kabsch's rotation by SciPy, and a copy with the timing free."""
    mechanism = mechanism_file.load("rsur")
    t = np.linspace(0, 2 * np.pi, 128, endpoint=False)
    track = np.stack([np.cos(t), 0.6 * np.sin(t), 0.3 * np.cos(2 * t) + 0.1 * np.sin(3 * t)])
    moving = Motion(t, t[None], np.ones((1, 128)), np.zeros((1, 128)))
    at = t[5::9]
    turn = Rotation.from_rotvec([0.3, -1.2, 2.0])
    own = track[:, 5::9].T
    noise = np.random.default_rng(1).normal(0, 0.02, own.shape)
    points = turn.apply(own) + np.array([1, 2, 3]) + noise
    rows = tuple(map(tuple, points.tolist()))
    given = Target("g", rows, "t", tuple(at.tolist()), ("position", "rotation"))
    found = path_error.fit(track[None], given, mechanism, moving)
    _, left = Rotation.align_vectors(points - points.mean(0), own - own.mean(0))
    # `align_vectors` takes a root of a difference: half of the digits.
    assert found.error[0] == pytest.approx(left / np.sqrt(len(points)), rel=1e-7)
    copy = tuple(map(tuple, (1.5 * turn.apply(own) + np.array([1, 2, 3])).tolist()))
    free = path_error.fit(track[None], Target("f", copy, fit=targets.FITTED), mechanism, moving)
    assert free.error[0] < 1e-9  # the points are samples; Newton ends at rounding


def test_a_path_that_ends_has_ends():
    """A stroke there without the way back: the end is nearest, and no cubic leads home."""
    t = np.linspace(0, 1, 33)
    track = np.stack([t, t**2])[None]
    moving = Motion(t, t[None], np.ones((1, 33)), np.zeros((1, 33)))
    mechanism = mechanism_file.load("four-bar")
    target = Target("w", ((-0.3, 0.0), (0.5, 0.25), (1.2, 1.0), (0.5, 0.75)))
    found = path_error.fit(track, target, mechanism, moving)
    # (½, ¾) is 0.5 above the parabola's nearest points by calculus: x = √½, distance² = 3/16 + …
    x = np.roots([2, 0, 1 - 1.5, -0.5])
    near = min(np.hypot(z.real - 0.5, z.real**2 - 0.75) for z in x if abs(z.imag) < 1e-12)
    # The end lies between (1, 1) and what is beyond it: the cubic is the parabola itself.
    expected = np.sqrt((0.3**2 + 0 + 0.2**2 + near**2) / 4)
    assert found.error[0] == pytest.approx(expected, abs=1e-12)


def test_timing_that_the_cycle_does_not_have(cycle):
    mechanism = cycle.model.mechanism
    there = Motion(*(x[..., :200] for x in vars(cycle.motion).values()))
    late = Target("wanted", POINTS, "t", (0.1, 0.2, 0.3, 0.31, 0.32, 9.0), ())
    with pytest.raises(MechanismError, match=r"asks for t = 9, and the cycle .* to 0\.38"):
        path_error.check(mechanism, there, [late])
    path_error.check(mechanism, cycle.motion, [late])  # whole turns: 9 s are there again
    back = cycle.motion
    forth = Motion(back.t, np.sin(back.q), back.q_dot, back.q_ddot)
    over = Target("wanted", POINTS, "A", CRANK, ())
    with pytest.raises(MechanismError, match="goes back and forth"):
        path_error.check(mechanism, forth, [over])


def test_targets_that_are_none(cycle):
    mechanism = cycle.model.mechanism
    known = Target("wanted", POINTS)
    assert find(mechanism, "path_error(P,wanted)", [known]) is not None
    assert find(mechanism, "path_error(P,wanted)") is None
    assert find(mechanism, "path_error(Q,wanted)", [known]) is None
    assert targets.mistake(known, mechanism) == ""
    assert "x and y" in targets.mistake(Target("w", ((1.0, 2.0, 3.0),) * 3), mechanism)
    assert "at least 5" in targets.mistake(Target("w", POINTS[:4], fit=targets.FITTED), mechanism)
    assert targets.mistake(Target("w", POINTS[:5], fit=targets.FITTED), mechanism) == ""
    assert "'B', which is none of t, A" in targets.mistake(
        Target("w", POINTS, "B", CRANK, ()), mechanism
    )


#: A step of symbols about the nominal design, which meets the target.
STEP = {"lx1": 1e-5, "lx2": -6e-6, "ly2": 8e-6}


@pytest.fixture(scope="module")
def near(cycle):
    """Slopes at the nominal design, and cycles there and a step to both sides of it."""
    model, moving = cycle.model, cycle.motion
    nominal = {name: model.mechanism.nominal[name] for name in STEP}
    values = {n: x + STEP[n] * np.array([0, 1, -1]) for n, x in nominal.items()}
    cycles = ClosedCycle(model, values, moving, trace(model, values, moving.q).q)
    here = {name: np.array([value]) for name, value in nominal.items()}
    return sensitivity.slopes(model, here, moving, list(STEP)), cycles


@pytest.mark.parametrize(
    ("over", "free"),
    [
        (True, ()),
        (True, ("position", "rotation", "scale")),
        (False, ("timing",)),
        (False, ("timing", "scale")),
        (False, ("timing", "position", "rotation")),
        (False, targets.FITTED),
    ],
)
def test_residuals_have_the_slopes_of_what_no_fit_takes_up(near, over, free):
    """Next to a target that is met the error is the length of what the step moves.

    The error of a design a step away, fitted anew, knows nothing of slopes and projections.
    """
    seen, cycles = near
    at = np.array([20, 77, 150, 260, 333, 470])
    feet = cycles.tracks("P")[0][:, at]
    points = tuple(map(tuple, brought_away(feet[0] + 1j * feet[1], free)))
    timing = ("A", tuple(cycles.motion.q[0, at].tolist())) if over else ("", ())
    target = Target("wanted", points, *timing, free)
    metric = find(cycles.model.mechanism, "path_error(P,wanted)", [target])
    residuals, slopes = seen.of_cycle(metric.squares)
    error = metric.value(cycles)
    assert np.abs(residuals).max() < 1e-9  # where the fit ends
    assert error[1:].min() > 1e-7
    moved = np.linalg.norm(slopes[0] @ list(STEP.values()))
    # On both sides: the step's second order is left out, its third is 1e-10 of the first; the
    # fit ends within 1e-11 m, 1e-5 of the error.
    assert moved == pytest.approx(error[1:].mean(), rel=2e-5)


@pytest.mark.parametrize(
    "free", [("position",), ("position", "rotation"), ("position", "rotation", "scale")]
)
def test_a_shift_along_a_straight_path_is_the_feets_alone(free):
    """Bent a little, a straight path leaves what no straight line takes of the bend.

    The line lies at an angle, so that no shift is along an axis.
    """
    x, at = np.cos(2 * np.pi * np.arange(256) / 256), np.array([9, 25, 40, 60, 77, 90, 115])
    line, across = x * np.exp(0.5j), 1j * x**2 * np.exp(0.5j)
    points = np.stack([line[at].real, line[at].imag], axis=1)
    target = Target("wanted", tuple(map(tuple, points.tolist())), "", (), ("timing", *free))
    nothing, all_of_them = np.zeros((1, 7)), np.ones((1, 7), bool)
    turn = np.eye(2)[None]
    unmoved = np.zeros((1, 2))
    held = Fit(np.zeros(1), at[None], nothing, turn, np.zeros((1, 7, 2)), all_of_them, unmoved)
    track = np.stack([line.real, line.imag]) + 1j * np.stack([across.real, across.imag])
    slopes = np.imag(held.squares(track[None], target))
    degree = 1 if "rotation" in free else 0
    left = x[at] ** 2 - np.polyval(np.polyfit(x[at], x[at] ** 2, degree), x[at])
    # The line is straight to rounding, and least squares end there.
    assert np.linalg.norm(slopes) == pytest.approx(np.sqrt((left**2).mean()), rel=1e-12)


def brought_away(points, free):
    """Points (point, axis) of a path turned, larger and elsewhere, as far as that is free."""
    points = points * (1.3 if "scale" in free else 1.0)
    points = points * (np.exp(0.4j) if "rotation" in free else 1.0)
    points = points + (0.2 - 0.1j if "position" in free else 0.0)
    return np.stack([points.real, points.imag], axis=1).tolist()


def test_a_step_of_the_fit_that_knows_no_size_is_short(cycle):
    """Of a path that hardly meets its target Newton's step for the size is e to the hundreds."""
    crank = np.linspace(0, 2 * np.pi, 128, endpoint=False)
    line = 11.684571121561317 - np.exp(1j * crank)
    along = (11.952870329009952**2 - 2.553267750230063**2 + np.abs(line) ** 2) / (2 * np.abs(line))
    coupler = along + 1j * np.sqrt(11.952870329009952**2 - along**2)
    coupler = line / np.abs(line) * coupler / 11.952870329009952
    P = np.exp(1j * crank) + coupler * (-8.993634969122475 - 1.6041372117926294j)
    points = "4.15 2.21 4.5 2.18 4.53 1.83 4.13 1.68 3.67 1.58 2.96 1.33 2.67 1.06 2.63 0.82"
    rows = np.array(f"{points} 2.92 0.81 3.23 1.07 3.49 1.45 3.76 1.87".split(), float)
    target = Target("wanted", tuple(map(tuple, rows.reshape(-1, 2).tolist())), fit=targets.FITTED)
    moving = Motion(crank, crank[None], np.ones((1, 128)), np.zeros((1, 128)))
    track = np.stack([P.real, P.imag])[None].copy()
    with np.errstate(all="raise", under="ignore"):
        found = path_error.fit(track, target, cycle.model.mechanism, moving)
    assert found.error[0] < np.hypot(*rows.reshape(-1, 2).std(axis=0))  # better than one point
