"""Positions from another zero than the joints': recognised where that explains a record."""

from dataclasses import replace

import numpy as np
import pytest

from basepar_core.dynamics.closure import prepare
from basepar_core.errors import UsageError
from basepar_core.files import loads
from basepar_core.files.mechanism_file import load

from .test_exchanges import ARM, FILES, NO_VALUES, ROUGH, notes, record_of


def shifted(record, degrees):
    """A record whose encoders read so many degrees less."""
    return replace(record, q=record.q - np.radians(degrees)[:, None])


@pytest.fixture(scope="module")
def run():
    return record_of(ARM)


@pytest.mark.parametrize("file", [ARM, NO_VALUES, ROUGH])
@pytest.mark.parametrize(
    ("degrees", "told"),
    [
        ((90, 0), "with 90 deg to shoulder added"),
        ((0, 90), "with 90 deg to elbow added"),
        ((180, 0), "with 180 deg to shoulder added"),
        ((-90, 90), "with -90 deg to shoulder, 90 deg to elbow added"),
    ],
)
def test_an_encoder_of_an_arm(run, file, degrees, told):
    (note,) = notes(file, shifted(run, degrees))
    assert note.kind == "offset"
    assert told in note.text


@pytest.mark.parametrize("name", ["four-bar", "whitworth"])
def test_of_a_closed_mechanism(name):
    (note,) = notes(name, shifted(record_of(name), [90]))
    assert "with 90 deg to A added, the file's inertias give the measured torque" in note.text
    assert notes(name, record_of(name)) == ()


def test_any_constant(run):
    (note,) = notes(ARM, shifted(run, [52, 0]))
    assert float(note.text.split("with ")[1].split(" deg")[0]) == pytest.approx(52, abs=0.5)


def test_the_assembly_as_zero():
    arm = prepare(load("ur5"))
    (note,) = notes("ur5", shifted(record_of("ur5"), np.degrees(arm.assembled.coordinates)))
    assert "count from the assembly: with 20 deg to q1, -70 deg to q2" in note.text


def test_legs_that_cannot_be_followed():
    model, record = prepare(load("stewart-gough")), record_of("stewart-gough")
    with pytest.raises(UsageError, match=r"with 659.8 mm to P1, .* cannot be followed"):
        notes("stewart-gough", replace(record, q=record.q - model.assembled.coordinates[:, None]))


def test_a_torque_that_counts_the_other_way_is_none(run):
    with pytest.raises(UsageError, match=r"Turned round: tau.shoulder"):
        notes(ARM, replace(run, tau=run.tau * [[-1], [1]]))


def test_without_inertias_nothing_tells(run):
    model = prepare(loads(FILES["no inertias"]))
    assert not model.mechanism.has_inertias
    assert notes(FILES["no inertias"], shifted(run, (90, 0))) == ()
