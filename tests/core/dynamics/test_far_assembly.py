"""Loops closed from joint values that leave them wide open."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics import reach
from basepar_core.dynamics.assembly import laid_out
from basepar_core.expressions.tree import number
from basepar_core.files import library_path, loads
from basepar_core.mechanism.mechanism import Assembly


def starts(mechanism, count, most):
    rng = np.random.default_rng(3)
    names = [name for joint in mechanism.joints for name in joint.values]
    return [
        {},
        *(
            dict(zip(names, row, strict=True))
            for row in rng.uniform(-most, most, (count, len(names)))
        ),
    ]


def test_a_four_bar_closes_as_its_vectors_do():
    it = load("four-bar")
    found = reach(it, starts(it, 30, np.pi))
    assert len(found.closed) > 20
    branches = set()
    for at in found.closed:
        turns = np.cumsum([at["A"], at["B"], at["C"]])
        one, two, three = np.exp(1j * turns)
        tip = 0.3 * one + (0.7 - 1.1j) * two + 1.3 * three
        assert abs(tip - (1.0 + 0.1j)) < 1e-7  # closed to 1e-8 of the longest side
        branches.add(bool(np.sin(at["C"] + np.arctan2(1.1, 0.7)) > 0))
    assert branches == {True, False}


@pytest.mark.parametrize("name", ["rssr", "stewart-gough", "slider-crank", "planetary-gear"])
def test_gaps_between_all_bodies(name):
    """By the equations of all bodies' poses, which know no tree."""
    it = load(name)
    found = reach(it, starts(it, 12, 0.6))
    assert found.closed
    for at in found.closed[:3]:
        values = tuple((value, number(Fraction(x))) for value, x in at.items())
        newton, bodies = laid_out(replace(it, assembly=Assembly(values)))
        assert np.abs(newton.equations(bodies)[0]).max() < 1e-6


def test_what_cannot_close_says_how_near_it_comes():
    text = (
        library_path("four-bar")
        .read_text()
        .replace("value: 1.0, unit: m, bounds: [0.6, 1.4]", "value: 3.0, unit: m")
    )
    far = loads(text, "far")
    found = reach(far, starts(far, 8, 1.0))
    assert not found.closed
    short = np.hypot(3.0, 0.1) - (0.3 + np.hypot(0.7, 1.1) + 1.3)  # all in one line
    # The largest component of a gap that is 2 degrees off the x axis.
    assert found.gap * 3.0 == pytest.approx(short, rel=2e-3)
