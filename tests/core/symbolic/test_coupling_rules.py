"""Null vectors of couplings: by hand, by W in float64, and by the checker with its own rules."""

from functools import cache

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.base import nominal_observation
from basepar_core.certificate.checker.coupled_rules import CoupledRules
from basepar_core.certificate.checker.exact import Field
from basepar_core.certificate.checker.natural import Mechanism
from basepar_core.certificate.checker.rules import JointRules
from basepar_core.certificate.description import described
from basepar_core.errors import BaseparError
from basepar_core.expressions import evaluate
from basepar_core.files import loads
from basepar_core.symbolic import GeometryField, Transfers, coupled_vectors
from tests.campaigns.count_families import COUPLED, DAILY
from tests.campaigns.counts import drawn
from tests.core.dynamics.test_couplings import GEARS

#: W n against the longest column: rounding is 1e-15; a wrong ratio gives 1e-3.
VANISHES = 1e-11
#: A wheel on the ground, a slide on the ground, and one that climbs.
RACK = """
name: rack
space: {0}
gravity: {1}
geometry: {{r: {{value: 0.2, unit: m}}, t: {{value: 0.4, unit: rad}}}}
bodies: {{wheel: {{}}, rack: {{}}}}
joints:
  A: {{type: revolute, connects: [wheel, ground]{2}}}
  K: {{type: prismatic, connects: [ground, rack], axis: [{3}, {3}]}}
couplings: {{teeth: {{values: {{K: 2, A: r}}}}}}
coordinates: [A]
excitation: {{kind: states, samples: 20, seed: 1, amplitude: {{A: 1 rad}}, frequency: 1 Hz}}
"""


def found_in(mechanism):
    """Null vectors by parameter names, entries as text."""
    field = GeometryField.of(mechanism)
    names = mechanism.parameter_names
    return [
        ({names[k]: field.to_text(x) for k, x in sorted(vector.entries.items())}, vector)
        for vector in coupled_vectors(Transfers(mechanism, field))
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # ω_pinion = n ω_wheel: (n² J_pinion + J_wheel) ω²/2 is what is felt.
        (GEARS, [{"pinion.J": "-1", "wheel.J": "n**2"}]),
        # ẋ = -r θ̇/2: (J + m r²/4) θ̇²/2.
        (
            RACK.format("planar", "[0, -9.81]", "", "[1, 0]"),
            [{"wheel.J": "-r**2", "rack.m": "4"}],
        ),
        (RACK.format("planar", "[0, -9.81]", "", "[3, 4]"), []),  # gravity does work on m
        (
            RACK.format("planar", "[0, 0]", "", '["cos(t)", "sin(t)"]'),
            [{"wheel.J": "-r**2", "rack.m": "4"}],
        ),
        # About z' = (0, 3, 4): Iyy is felt by (3/5)², as the first that is felt.
        (
            RACK.format("spatial", "[0, 0, -9.81]", ", axis: [[0, 3, 4], [0, 5, 0]]", "[1, 0, 0]"),
            [{"wheel.Iyy": "-25*r**2", "rack.m": "36"}],
        ),
        (RACK.format("spatial", "[0, 0, -9.81]", "", "[1, 0, 2]"), []),
    ],
)
def test_by_hand(text, expected):
    assert [entries for entries, _ in found_in(loads(text))] == expected


def test_planetary_gear_by_hand():
    """Seen from the carrier zs(ωs - ωc) = -zp(ωp - ωc), and (zs + 2 zp) ωc = -zp (ωp - ωc)."""
    zs, zp = 24.0, 18.0
    carrier = 1.0
    planet = carrier - (zs + 2 * zp) / zp * carrier
    sun = carrier - zp / zs * (planet - carrier)
    speeds = {"sun": sun, "planet_1": planet, "planet_2": planet, "carrier": carrier}
    vectors = found_in(load("planetary-gear"))
    assert len(vectors) == 3
    for entries, _ in vectors:
        values = {"zs": zs, "zp": zp}
        energy = sum(
            eval(x, {}, values) * speeds[name.removesuffix(".J")] ** 2
            for name, x in entries.items()
        )
        assert energy == pytest.approx(0, abs=1e-9)  # of numbers up to 1e4


@cache
def models(family):
    """Four of a family that assemble and can be followed."""
    found = []
    for attempt in range(40):
        try:
            model, _ = drawn(0, attempt, {family: COUPLED[family]})
            nominal_observation(model)
        except BaseparError:
            continue
        found.append(model)
        if len(found) == 4:
            return found
    raise AssertionError(family)


@pytest.mark.parametrize(
    "family", [f if f in DAILY else pytest.param(f, marks=pytest.mark.slow) for f in COUPLED]
)
def test_w_vanishes_and_the_checker_confirms(family):
    """Four random mechanisms of each family of the campaign of counts; every entry matters."""
    for model in models(family):
        mechanism = model.mechanism
        found = found_in(mechanism)
        W = nominal_observation(model).stacked[0]
        size = np.linalg.norm(W, axis=0).max()
        rules = checker_of(mechanism, found)
        for texts, vector in found:
            n = np.zeros(W.shape[1])
            for k, x in vector.entries.items():
                tree = GeometryField.of(mechanism).to_expression(x)
                n[k] = evaluate([tree], mechanism.nominal)[0]
            assert np.linalg.norm(W @ n) <= VANISHES * size * np.abs(n).max()
            assert rules.fault(texts, vector.reason) == ""
            for name in texts:
                changed = texts | {name: f"({texts[name]})*998/997"}
                assert "depends on it" in rules.fault(changed, vector.reason)


def checker_of(mechanism, found):
    given = described(mechanism, [text for texts, _ in found for text in texts.values()])
    field = Field(given["symbols"])
    checked = Mechanism.of(given)
    return CoupledRules(checked, field, JointRules(checked, field))


@pytest.mark.slow
def test_families_have_such_vectors():
    """Else the test above compares nothing."""
    count = {}
    for family in COUPLED:
        for model in models(family):
            count[family] = count.get(family, 0) + len(found_in(model.mechanism))
    assert {name for name, n in count.items() if n} >= {
        "gear_pair",
        "compound_train",
        "planetary",
        "geared_five_bar",
        "belt_arm",
    }


def test_mechanisms_without_couplings_have_none():
    assert found_in(load("four-bar")) == []
