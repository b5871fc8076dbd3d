"""Corrections that are tried: few, and without an error text for each that fails."""

import cmath
import math
from dataclasses import replace

import pytest

from basepar_core.dynamics import explanation, prepare
from basepar_core.dynamics.assembly import laid_out, stated_values
from basepar_core.dynamics.body_newton import BodyNewton
from basepar_core.dynamics.trials import TRIED, Budget, Trial, closing
from basepar_core.errors import AssemblyError
from basepar_core.files import loads

CRANK, COUPLER, ROCKER, GROUND = 0.08, 0.26, 0.22, 0.28


def in_series(count):
    """So many four-bars, each driven by the rocker of the last, with all values stated."""
    bodies, joints = ["b0: {}"], ["A: {type: revolute, connects: [ground, b0]}"]
    symbols, turn, at = [], math.radians(60), 0.0
    values = {"A": turn}
    for k in range(count):
        crank, coupler, rocker = f"b{2 * k}", f"b{2 * k + 1}", f"b{2 * k + 2}"
        symbols += [f"c{k}: {{value: {COUPLER * 1e3:g}, unit: mm}}"]
        symbols += [f"g{k}: {{value: {at + GROUND:g}, unit: m}}"]
        bodies += [f"{coupler}: {{}}", f"{rocker}: {{}}"]
        joints += [
            f"B{k}: {{type: revolute, connects: [{crank}, {coupler}], "
            f"at: [[{CRANK}, 0], [0, 0]]}}",
            f"C{k}: {{type: revolute, connects: [{coupler}, {rocker}], "
            f"at: [[c{k}, 0], [{ROCKER}, 0]]}}",
            f"D{k}: {{type: revolute, connects: [ground, {rocker}], at: [[g{k}, 0], [0, 0]]}}",
        ]
        pin = cmath.rect(CRANK, turn)
        across = GROUND - pin
        reach = abs(across)
        cosine = (COUPLER**2 + reach**2 - ROCKER**2) / (2 * COUPLER * reach)
        along = cmath.phase(across) + math.acos(cosine)
        far = cmath.phase(pin + cmath.rect(COUPLER, along) - GROUND)
        values |= {f"B{k}": along - turn, f"C{k}": far - along, f"D{k}": far}
        turn, at = far, at + GROUND
    stated = {name: f"{math.degrees(x):.1f} deg" for name, x in values.items()}
    lines = [
        "name: series",
        "space: planar",
        "gravity: [0, -9.81]",
        f"geometry: {{{', '.join(symbols)}}}",
        f"bodies: {{{', '.join(bodies)}}}",
        "joints:",
        *(f"  {joint}" for joint in joints),
        "coordinates: [A]",
        f"assembly: {{{', '.join(f'{name}: {x}' for name, x in stated.items())}}}",
    ]
    return "\n".join(lines), stated


@pytest.fixture
def solved(monkeypatch):
    """How often Newton's method is started."""
    found, approach = [], BodyNewton.approach
    monkeypatch.setattr(
        BodyNewton, "approach", lambda self, at: found.append(1) or approach(self, at)
    )
    return found


def test_a_right_file_is_solved_once_more(solved):
    model = prepare(loads(in_series(6)[0]))
    before = len(solved)
    assert explanation(model) is None
    assert len(solved) - before == 1


@pytest.mark.parametrize("name", ["C1", "D3", "B5"])
def test_a_sign_in_a_long_file(solved, name):
    text, stated = in_series(6)
    value = stated[name]
    other = value[1:] if value[0] == "-" else f"-{value}"
    found = explanation(prepare(loads(text.replace(f" {name}: {value}", f" {name}: {other}"))))
    assert isinstance(found, tuple)
    assert f"{name}: {float(value.split()[0]):g} deg" in [one.write for one in found]
    assert len(solved) <= 3 + 2 * TRIED


def test_loops_that_nothing_explains(solved):
    """Five kinds of mistakes are looked for, with a dozen solutions of each at most."""
    text, _ = in_series(6)
    with pytest.raises(AssemblyError, match="stays open"):
        prepare(loads(text.replace("g3: {value: 1.12", "g3: {value: 1.72")))
    assert len(solved) <= 3 + 6 * TRIED


def test_a_kind_that_costs_too_much_names_nothing():
    """Of a hundred corrections as good as the file some are left out: another may fit as well."""
    mechanism, laid = loads(in_series(2)[0]), []
    own = Trial(
        mechanism,
        stated_values(mechanism),
        lambda one: laid.append(1) or laid_out(one),
        budget=Budget(60),
    )
    joint = mechanism.joints[1]

    def corrections(count):
        return [(k, own.with_joint(joint, replace(joint))) for k in range(count)]

    assert [k for k, _ in closing(corrections(3), 1.0, 1.0)] == [0, 1, 2]
    assert closing(corrections(100), 1.0, 1.0) == []
    # The file itself and three corrections are laid out once more where they are solved.
    assert len(laid) <= 60
