"""Mechanisms that move at certain lengths only, swept away from these."""

import numpy as np
import pytest

from basepar_core.compiled import backend
from basepar_core.files import mechanism_file
from sweeps.chunks.evaluator import prepare
from sweeps.spec.plans import Random
from sweeps.spec.sweep_spec import Evaluation, SweepSpec
from sweeps.store.statuses import Reason, Status
from tests.core.finite_field.test_exact_family import BENNETT

LENGTHS = "geometry: {a: {value: 3, unit: m}, b: {value: 4, unit: m}}"
#: Six equations, three unknown angles: two come for nothing, but only while a : b = 3 : 4.
LINKAGE = BENNETT.replace("GEOMETRY", LENGTHS).replace("LONG", "a").replace("WIDE", "b")


def evaluated(a, b):
    mechanism = mechanism_file.loads(LINKAGE)
    spec = SweepSpec(
        mechanism, Random((("a", 0.1, 9.0),), 1, 0), evaluation=Evaluation("numeric", None, ())
    )
    columns = {"a": np.array(a, float), "b": np.array(b, float)}
    return prepare(spec)(columns, np.ones(len(a), bool))


@pytest.mark.parametrize("by", [pytest.param("kernels", marks=pytest.mark.slow), "plain path"])
def test_a_linkage_that_cannot_move_is_not_solved(by, monkeypatch):
    """Bennett's condition is a : b = 3 : 4 (Bennett 1903); anything else is a structure."""
    if by == "plain path":
        monkeypatch.setattr(backend, "LARGEST", -1.0)
    found = evaluated([3, 3, 3.001, 6, 1.5, 4], [4, 4.2, 4, 8, 2, 3])
    assert found["status"].tolist() == [
        Status.SOLVED,
        Status.UNASSEMBLABLE,
        Status.UNASSEMBLABLE,
        Status.SOLVED,
        Status.SOLVED,
        Status.UNASSEMBLABLE,
    ]
    shut = [0, 3, 4]
    open_ = [1, 2, 5]
    assert found["rank"][shut].tolist() == [9, 9, 9]
    assert (found["residual"][shut] < 1e-11).all()  # Newton's 1e-13 of lengths up to 8 m
    assert (found["reason"][open_] == Reason.OPEN_LOOP).all()
    # A millimetre in three metres opens the loop by about that.
    assert 1e-5 < found["reason_value"][2] < 1e-2
    assert np.isnan(found["singular_values"][open_]).all()
    assert (found["rank"][open_] == -1).all()
