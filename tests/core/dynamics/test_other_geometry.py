"""A mechanism at other values: the same as a file in which these values stand."""

from importlib import resources

import numpy as np
import pytest

from basepar_core.base import numeric
from basepar_core.dynamics import at_geometry, excitation, observe_alone, prepare
from basepar_core.errors import AssemblyError, BaseparWarning, UsageError
from basepar_core.files import read_values, with_values
from basepar_core.files.mechanism_file import loads
from tests.sweeps.fourbar import FOUR_BAR


def shipped(name):
    return resources.files("basepar_core.library").joinpath(f"{name}.yaml").read_text()


def moved(mechanism, **texts):
    other = with_values(mechanism, read_values(mechanism, texts))
    return at_geometry(prepare(mechanism), other)


#: Values, and the texts of the file that they replace.
CHANGES = {
    "four-bar": ({"lx1": "32 cm", "Dx": "0.95"}, {"lx1: {value: 0.3,": "lx1: {value: 0.32,",
                 "Dx: {value: 1.0,": "Dx: {value: 0.95,"}),
    "slider-crank": ({"lx1": "0.12", "rho": "3 kg/m"}, {"lx1: {value: 0.1,": "lx1: {value: 0.12,",
                     "rho: {value: 2.7,": "rho: {value: 3,"}),
    "delta": ({"R": "0.21"}, {"R: {value: 0.2,": "R: {value: 0.21,"}),
    "sla-suspension": ({"L10": "0.32"}, {"L10: {value: 0.319,": "L10: {value: 0.32,"}),
    "scara": ({}, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_as_a_file_with_these_values(name):
    """W to 1e-9 of its size: loops of both close to rounding, times the margin's inverse."""
    texts, replaced = CHANGES[name]
    text = shipped(name)
    ours = moved(loads(text), **texts)
    for before, after in replaced.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    theirs = prepare(loads(text))
    assert ours.mechanism.nominal == theirs.mechanism.nominal
    W = []
    for model in (ours, theirs):
        motion = excitation(model.mechanism, theirs.assembled.coordinates)
        W.append(np.asarray(observe_alone(model, motion).W))
    np.testing.assert_allclose(W[0], W[1], atol=1e-9 * np.abs(W[1]).max())
    assert numeric(ours).rank == numeric(theirs).rank


def test_the_branch_is_the_file_s_however_far_it_turns():
    """The rocker stands at 100 degrees, its mirror image at -40: the same side at both ends."""
    mechanism = loads(FOUR_BAR)
    model = moved(mechanism, lx3="0.9")
    far = loads(FOUR_BAR.replace("lx3: {value: 1.3", "lx3: {value: 0.9"))
    start = prepare(far).assembled
    assert np.sign(np.sin(model.assembled.q[1])) == np.sign(np.sin(start.q[1]))


def replaced(text, changes):
    for before, after in changes.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    return text


def test_constants_stand_in_motions_and_assembly_too():
    mass = "  m3: {value: 0.8, unit: kg}\n"
    text = replaced(
        shipped("slider-crank"),
        {
            mass: mass + "  w: {value: 360, unit: deg/s}\n  amp: {value: 1.2, unit: rad}\n",
            "speed: 360 deg/s": "speed: w",
            "amplitude: {A: 1.2 rad}": "amplitude: {A: amp}",
        },
    )
    other = {"w: {value: 360,": "w: {value: 1080,", "amp: {value: 1.2,": "amp: {value: 0.4,"}
    ours = moved(loads(text), w="1080 deg/s", amp="0.4").mechanism
    theirs = loads(replaced(text, other))
    assert ours.cycle == theirs.cycle != loads(text).cycle
    assert ours.excitation == theirs.excitation != loads(text).excitation


def test_constants_of_the_assembly_move_with_symbols():
    """Where the file's crank stands by a constant, it stands there at other lengths too."""
    text = replaced(
        shipped("four-bar"),
        {
            "constants: {": "constants: {a0: {value: 34, unit: deg}, ",
            "A: 34 deg": "A: a0",
        },
    )
    for texts in ({"a0": "60 deg"}, {"a0": "60 deg", "lx1": "0.31"}):
        assert moved(loads(text), **texts).assembled.coordinates == pytest.approx(np.pi / 3)


def test_constants_in_frames_are_followed_as_symbols_are():
    text = shipped("four-bar")
    fixed = replaced(
        text,
        {
            "constants: {": "constants: {c: {value: 1, unit: m}, ",
            "at: [[Dx, Dy]": "at: [[c, Dy]",
        },
    )
    ours, theirs = moved(loads(fixed), c="1.3 m"), moved(loads(text), Dx="1.3 m")
    np.testing.assert_allclose(ours.assembled.q, theirs.assembled.q, atol=1e-10)  # as assembled


def test_roots_follow():
    mechanism = loads(
        FOUR_BAR.replace("r3: r3^2 = 3}", "r3: r3^2 = 3, span: span^2 = lx1^2 + lx2^2}").replace(
            "  k: {value: 2}", "  k: {value: 2}\n  span: {value: 0.76, unit: m}"
        )
    )
    found = moved(mechanism, lx1="0.4").mechanism.nominal
    assert found["span"] == pytest.approx(np.hypot(0.4, 0.7), rel=1e-15)
    assert found["r3"] == np.sqrt(3)
    with pytest.raises(UsageError, match="follows from its relation"):
        read_values(mechanism, {"span": "1"})


def test_what_makes_no_sense_is_named():
    mechanism = loads(shipped("four-bar"))
    with pytest.raises(UsageError, match="no symbol 'lx4'; did you mean"):
        read_values(mechanism, {"lx4": "1"})
    with pytest.raises(UsageError, match="lx1=3 kg"):
        read_values(mechanism, {"lx1": "3 kg"})
    with pytest.warns(BaseparWarning, match="lx1 = 0.1 m is beyond its bounds, 0.2 to 1.5"):
        read_values(mechanism, {"lx1": "10 cm"})
    with pytest.warns(BaseparWarning, match="in mm it lies within.* write lx1=300mm if that is"):
        read_values(mechanism, {"lx1": "300"})
    with pytest.raises(AssemblyError, match=r"no assembly at Dx = 5 m"), pytest.warns():
        moved(mechanism, Dx="5")
