"""Mapping files: what they say, and all their mistakes."""

import numpy as np
import pytest

from basepar_core.errors import FileError
from basepar_core.identification.logs import Channel, LogMapping, read_mapping, written

from . import arm

TEXT = """\
log:
  time: {from: 1, unit: ms}
  q1: {from: 2, unit: deg, offset: -90 deg}
  B: {from: theta 2}
  tau1: {from: 14, gain: 14.87}
  tau.B: {from: 15, gain: -1/2}
  joint to motor: [[32, 0], [16, 16]]
"""


def test_names_units_gains_and_couplings():
    found = read_mapping(TEXT, arm.mechanism())
    assert found.channels == {
        "t": Channel(1, unit="ms"),
        "A": Channel(2, unit="deg", offset=-np.pi / 2),
        "B": Channel("theta 2"),
        "tau.A": Channel(14, gain=14.87),
        "tau.B": Channel(15, gain=-0.5),
    }
    np.testing.assert_allclose(found.matrix, [[1 / 32, 0], [-1 / 32, 1 / 16]], rtol=1e-15)
    assert read_mapping(written(found), arm.mechanism()) == found


def test_a_matrix_of_some_coordinates():
    text = "log:\n  q1: {from: 1}\n  motor to joint: {of: [B], matrix: [[0.1]]}\n  rate: 200 Hz\n"
    found = read_mapping(text, arm.mechanism())
    assert found.rate == 200
    np.testing.assert_array_equal(found.matrix, np.diag([1, 0.1]))
    assert isinstance(found, LogMapping)


def test_all_mistakes_of_a_file_at_once():
    text = """\
log:
  time: {from: 0}
  rate: 200 Hz
  q1: {from: 2, unit: m}
  q3: {from: 3}
  tau1: {gain: 0, of: 3}
  motor to joint: [[1, 1], [1, 1]]
"""
    with pytest.raises(FileError) as caught:
        read_mapping(text, arm.mechanism())
    told = str(caught.value)
    for words in (
        "counted from 1",
        "a column has the time already",
        "[m] is no multiple of rad",
        "is called 'q3'",
        "unknown key",
        "gain of 0",
        "the matrix is singular",
    ):
        assert words in told
