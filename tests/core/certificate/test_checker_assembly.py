"""The checker's joint values as they stand, and those that a file states in part."""

import json

import numpy as np
import pytest

from basepar_core.base.symbolic_route import symbolic
from basepar_core.certificate import checker
from basepar_core.certificate.checker import RejectedError
from basepar_core.certificate.checker.assembly import _measured, _rotation, _turned
from basepar_core.certificate.checker.checking import digest
from basepar_core.certificate.make import certify
from basepar_core.dynamics.closure import prepare
from basepar_core.files.mechanism_file import loads

ROD = """
name: rod
space: spatial
gravity: [1, 2, -9.81]
bodies: {one: {}}
joints: {C: {type: cylindrical, connects: [ground, one], axis: [[0, 3, 4], [0, 0, 5]]}}
coordinates: [C.1, C.2]
assembly: {C.1: 0.1, C.2: 0.3}
excitation: {kind: states, samples: 20, seed: 1, amplitude: {C.1: 1, C.2: 1}, frequency: 1 Hz}
"""


@pytest.mark.parametrize("angles", [1, 2, 3])
def test_angles_are_those_that_put_the_axes_there(angles):
    rng = np.random.default_rng(3)
    for _ in range(20):
        one = _rotation(rng.uniform(-2, 2, 3))
        # A rotation vector below pi is the shortest of its rotation.
        q = rng.uniform(-1.7, 1.7, angles)
        found = _measured(angles, one, _turned(angles, one, q))
        # Some ten operations in floats.
        np.testing.assert_allclose(found, q, rtol=0, atol=1e-14)


@pytest.mark.parametrize("q", [[np.pi, 0, 0], [0, 0, 0], [0.6 * np.pi, 0, -0.8 * np.pi]])
def test_no_turn_and_half_a_turn(q):
    one = _rotation([0.3, -0.2, 0.5])
    there = _turned(3, one, q)
    again = _turned(3, one, _measured(3, one, there))
    # The angle near pi comes from a sine: half of the digits.
    np.testing.assert_allclose(again, there, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("stated", "fault"),
    [
        ({"C.1": "1/10"}, ""),
        ({"C.2": "3/10"}, ""),
        ({"C.1": "11/10"}, "joint C is 0 rad and 1 m"),
        ({"C.2": "2"}, "joint C is 1.7 rad and "),
    ],
)
def test_one_value_of_two_is_compared(stated, fault):
    model = prepare(loads(ROD))
    document = json.loads(json.dumps(certify(model, symbolic(model))))
    document["mechanism"]["assembly"]["values"] = stated
    document["digest"] = digest(document)
    if not fault:
        checker.check(document)
        return
    with pytest.raises(RejectedError, match=r"at_least\.pose: joint C") as caught:
        checker.check(document)
    assert fault in str(caught.value)
