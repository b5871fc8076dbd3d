"""Generic ranks over finite fields against published and variable-precision counts."""

from functools import cache

import numpy as np
import pytest

from basepar_core.base.precise_route import precise_rank
from basepar_core.dynamics import closure
from basepar_core.dynamics.closure import Model
from basepar_core.files import mechanism_file
from basepar_core.finite_field.arithmetic import Draw, random_prime
from basepar_core.finite_field.family_component import Component, find_component, start
from basepar_core.finite_field.motion import Motion
from basepar_core.finite_field.random_points import Point
from basepar_core.finite_field.rank import generic_rank, member_rank
from tests.mechanisms import C, E, P, R, S, U, linkage, loop

#: Variable precision of another implementation, the planar and the low-mobility paper.
RANKS = {
    "four-bar": 8,
    "slider-crank": 6,
    "five-bar": 11,
    "parallelogram": 3,
    "ur10": 36,
    "rsur": 12,
    "watt-ii": 13,
    "sla-suspension": 41,
    "stewart-gough": 82,
}


@cache
def model(name: str) -> Model:
    return closure.prepare(mechanism_file.load(name))


@cache
def component(name: str) -> Component:
    return find_component(model(name))


def suspension(*changes: tuple[str, str]) -> Model:
    """The suspension with lines of its file replaced."""
    text = mechanism_file.load("sla-suspension").source
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return closure.prepare(mechanism_file.loads(text))


#: The tie rod's joint on the rack with its ground axis upright instead of along the car's y.
UPRIGHT = (
    "at: [[Jx, Jy, Jz], [L10, 0, 0]], axis: [[0, 1, 0], [0, 0, 1]]",
    "at: [[Jx, Jy, Jz], [L10, 0, 0]], axis: [[0, 0, 1], [0, 1, 0]]",
)
#: Damper in the plane of the lower arm's motion: both at y = 0, as zeros.
FLAT = (("at: [[Cx, Cy, Cz]", "at: [[Cx, 0, Cz]"), ("  Cy: {value: -0.05, unit: m}\n", ""))
ALONG_HINGES = ("gravity: [0, 0, -9.81]", "gravity: [0, -9.81, 0]")
WEIGHTLESS = ("gravity: [0, 0, -9.81]", "gravity: [0, 0, 0]")


@pytest.mark.parametrize("name", RANKS)
def test_ranks_of_the_library(name):
    """As published, from 20 random members each at 62 bits and 5 at 31."""
    found = {member_rank(component(name), (seed, 9))[1][-1] for seed in range(20)}
    assert found == {RANKS[name]}
    small = {member_rank(component(name), (seed, 9), bits=31)[1][-1] for seed in range(5)}
    assert small == {RANKS[name]}


@pytest.mark.parametrize("name", RANKS)
def test_the_first_stall_is_final(name):
    """A theorem: nothing is added up to twice the order."""
    _, ranks = member_rank(component(name), (1, 2), beyond=2.0)
    stall = next(k for k in range(1, len(ranks)) if ranks[k] == ranks[k - 1])
    assert len(ranks) >= 2 * stall
    assert set(ranks[stall:]) == {RANKS[name]}


def test_ranks_by_order():
    """As measured by another implementation."""
    assert generic_rank(model("four-bar")).ranks_by_order == (2, 4, 6, 8, 8)
    assert generic_rank(model("ur10")).ranks_by_order == (21, 30, 32, 33, 34, 35, 36, 36)
    assert generic_rank(model("stewart-gough")).ranks_by_order == (26, 52, 78, 82, 82)
    suspension_ranks = generic_rank(model("sla-suspension")).ranks_by_order
    assert suspension_ranks[:4] == (5, 9, 11, 13)
    assert suspension_ranks[-3:] == (40, 41, 41)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "rank"),
    [
        ((), 41),
        ((UPRIGHT,), 40),
        ((ALONG_HINGES, UPRIGHT), 36),
        ((WEIGHTLESS,), 31),
        (FLAT, 34),
        ((*FLAT, UPRIGHT), 33),
    ],
    ids=["as shipped", "upright", "along hinges", "weightless", "flat", "flat, upright"],
)
def test_structure_of_the_suspension_counts(changes, rank):
    """Variable precision's counts of its variants, by another implementation."""
    changed = suspension(*changes)
    for seed in range(3):
        found = generic_rank(changed, seed)
        assert found.rank == rank
        assert (found.freedoms, found.freed) == (2, ())
    # Only the damper in the arm's plane needs to be told its component.
    assert bool(found.relations) == (FLAT[0] in changes)


def test_a_zero_alone_is_no_structure():
    """The damper is flat because two points have the same y; if one is a symbol, it is not."""
    changed = suspension(
        *FLAT,
        ("  x2: {value: 0.15", "  y1: {value: 0, unit: m}\n  x2: {value: 0.15"),
        ("at: [[0, 0, 0], [-(D12 + D13), 0, 0]]", "at: [[0, y1, 0], [-(D12 + D13), 0, 0]]"),
    )
    assert generic_rank(changed).rank == 41


def test_equal_values_of_different_symbols_are_generic():
    """A parallelogram by value only has the rank of a four-bar, and a note of being special."""
    text = mechanism_file.load("parallelogram").source
    text = text.replace("lx1: {value: 0.4", "lx3: {value: 0.4, unit: m}\n  lx1: {value: 0.4")
    text = text.replace("[lx1, 0]]}\ncoordinates", "[lx3, 0]]}\ncoordinates")
    found = generic_rank(closure.prepare(mechanism_file.loads(text)))
    assert (found.rank, found.relations) == (8, ())
    assert any("special" in note for note in found.notes)


def test_what_is_recorded():
    found = generic_rank(model("sla-suspension"), seed=7, pairs=2)
    assert found.rank == 41
    assert len(set(found.primes)) == len(set(found.seeds)) == 2
    assert all(prime.bit_length() == 62 for prime in found.primes)
    for seed, prime in zip(found.seeds, found.primes, strict=True):
        assert random_prime(np.random.default_rng(seed)) == prime
    assert found.dimension - found.symbols == found.freedoms == 2
    assert found == generic_rank(model("sla-suspension"), seed=7, pairs=2)
    assert found.scope == "generic geometry"


def test_every_mechanism_draws_its_own():
    """Primes are of the mechanism's text and the seed: none is known before there is a file."""
    text = mechanism_file.load("four-bar").source
    assert "0.7" in text
    other = closure.prepare(mechanism_file.loads(text.replace("0.7", "0.71", 1)))
    seen = [generic_rank(m, seed).primes[0] for m in (model("four-bar"), other) for seed in (0, 1)]
    assert len(set(seen)) == 4


def test_a_parallelogram_says_what_it_rests_on():
    found = generic_rank(model("parallelogram"))
    assert set(found.relations) == {
        "ground and coupler turn alike",
        "crank and rocker turn alike",
    }
    assert "relations seen" in found.scope


@pytest.mark.parametrize("kinds", [(R, S, U, R), (R, C, C, C), (P, U, S, R), (R, U, E, R)])
def test_random_loops_agree_with_variable_precision(kinds):
    """Every type of joint, skew axes; points of loops are numbers but for one a joint."""
    moving = closure.prepare(linkage(2, loop(*kinds), ["a"], amplitude=0.05, samples=40))
    assert generic_rank(moving).rank == precise_rank(moving).rank


@pytest.mark.slow
def test_orientations_that_close_by_a_square_root():
    """Seven skew hinges: the last two close the orientations, the lengths the rest."""
    moving = closure.prepare(linkage(1, loop(*(R,) * 7), ["a"], amplitude=0.05, samples=60))
    found = [generic_rank(moving, seed) for seed in range(4)]
    assert {each.rank for each in found} == {precise_rank(moving).rank} == {31}
    closing = find_component(moving).family.closing
    assert closing.without, "half of the draws have no root"


def drawn(name: str, seed: int) -> tuple[Point, Motion]:
    """A random member with the start of its motion."""
    rng = np.random.default_rng(seed)
    draw = Draw(rng, random_prime(rng))
    return start(component(name).family, draw)


@pytest.mark.parametrize("name", RANKS)
def test_points_are_members(name):
    """Rotations are rotations, symbols keep their equalities, and joints close exactly."""
    for seed in range(3):
        point, motion = drawn(name, seed)
        assert motion.freedoms == len(model(name).mechanism.coordinates)
        for R_ in point.R:
            for i in range(3):
                for j in range(3):
                    product = sum(R_[i][k] * R_[j][k] for k in range(3))
                    assert product == (1 if i == j else 0)
        for joint in point.joints:
            if joint.kind in ("prismatic", "cylindrical", "planar"):
                continue
            ends = [
                [point.p[b][i] + sum(point.R[b][i][k] * a[k] for k in range(3)) for i in range(3)]
                for b, a in zip(joint.bodies, joint.at, strict=True)
            ]
            assert ends[0] == ends[1]
    if name == "sla-suspension":
        arm, ball = point.joints[0].at[1], point.joints[7].at[1]
        assert arm[0] == -(point.values["D12"] + point.values["D13"])
        assert ball[0] == -point.values["D13"]
        assert arm[1] == arm[2] == 0


def test_the_motion_closes_to_every_order():
    """All equations, kept or not, vanish along the series."""
    for name in ("sla-suspension", "stewart-gough", "parallelogram"):
        _, motion = drawn(name, 3)
        motion.energy_rows(12)
        assert motion.redundant_gaps_vanish(12)
        # A wrong coefficient is noticed, so that the above means something.
        motion.path[4][0] += 1
        assert not motion.redundant_gaps_vanish(12)


def test_modes_are_velocities_that_the_joints_allow():
    """Jacobian times modes vanishes order by order, but for the drive's rows."""
    _, motion = drawn("sla-suspension", 5)
    motion.energy_rows(6)
    for k in range(1, 6):
        total = motion.slopes[0] * motion.modes[k]
        for i in range(1, k + 1):
            total += motion.slopes[i] * motion.modes[k - i]
        assert all(int(x) == 0 for x in total.entries())


@pytest.mark.parametrize("name", ["ur10", "gripper", "quadruped"])
def test_modes_of_a_tree_move_what_hangs_on_one_joint(name):
    """Which bodies hang on which is the mechanism's; rows of modes without a common body are 0."""
    family = component(name).family
    mechanism = family.mechanism
    names = [body.name for body in mechanism.bodies]
    below = {one: {one} for one in names}
    for joint in reversed(mechanism.joints):  # parents first in these files
        first, second = joint.bodies
        if first in below:
            below[first] |= below[second]
    wanted = {frozenset(below[joint.bodies[1]]) for joint in mechanism.joints}
    rng = np.random.default_rng(4)
    _, motion = start(family, Draw(rng, random_prime(rng)))
    count = sum(it.count for it in motion.energy_rows(3))
    size = motion.layout.size
    moved = [{k // size for k, x in enumerate(one) if any(x)} for one in motion._terms(3)]
    if not mechanism.couplings:  # a mimic joint's body goes with its leader's
        assert {frozenset(names[b] for b in one) for one in moved} == wanted
    common = [sum(bool(one & two) for one in moved[: k + 1]) for k, two in enumerate(moved)]
    kinetic = count - motion.freedoms  # gravity's
    if not mechanism.couplings:  # six partners span those of a mode
        assert kinetic == sum(min(6, count) for count in common)
    assert (sum(common) < len(moved) * (len(moved) + 1) // 2) == (name == "quadruped")
