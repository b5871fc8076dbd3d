"""Variants at which β does not exist: special, or left to variable precision as any other."""

import numpy as np
import pytest

from basepar_core.files.mechanism_file import library_path, loads
from sweeps.chunks.evaluator import prepare
from sweeps.spec.plans import Random
from sweeps.spec.sweep_spec import Evaluation, SweepSpec
from sweeps.store.statuses import PreciseStatus, Reason, Status, reason_texts

FOUR_BAR = library_path("four-bar").read_text()
#: Of so small a motion float64 sees no rank.
DOUBTFUL = FOUR_BAR.replace("amplitude: {A: 0.6 rad}", "amplitude: {A: 0.001 rad}")
#: β of the four-bar divides by lx2.
COLUMNS = {"lx2": np.array([0.0, 0.7])}


def evaluated(text, rank, metrics=()):
    mechanism = loads(text, "four-bar")
    plan = Random((("lx2", 0.0, 0.9),), 2)
    evaluator = prepare(SweepSpec(mechanism, plan, evaluation=Evaluation(rank, None, metrics)))
    return evaluator, evaluator(COLUMNS, np.ones(2, bool))


@pytest.mark.parametrize("rank", ["none", "numeric", "auto"])
def test_special_where_a_pivot_vanishes_whatever_rank_is_asked(rank):
    _, found = evaluated(FOUR_BAR, rank, ("stroke(D)",))
    assert found["status"].tolist() == [Status.SPECIAL, Status.SOLVED]
    assert found["reason"].tolist() == [Reason.VANISHING_PIVOT, Reason.NONE]
    assert found["reason_value"][0] == 0
    assert np.isnan(found["base_parameters"][0]).all()
    assert np.isfinite(found["base_parameters"][1]).all()
    assert np.isfinite(found["stroke_D"]).all()  # the machine runs all the same


@pytest.mark.parametrize(("text", "rank"), [(DOUBTFUL, "auto"), (FOUR_BAR, "precise")])
def test_a_rank_to_be_settled_is_settled_at_a_pole_too(text, rank):
    evaluator, found = evaluated(text, rank)
    assert (found["status"] == Status.AWAITING_PRECISE).all()
    usual = Reason.DOUBTFUL_RANK if rank == "auto" else Reason.PRECISE_ASKED
    assert found["reason"].tolist() == [Reason.PIVOT_AND_RANK, usual]
    (said,) = reason_texts(found["reason"][:1], found["reason_value"][:1])
    assert said.startswith("a pivot of the grouping vanishes (relative size 0)")
    assert np.isnan(found["base_parameters"][0]).all()
    precise = evaluator.precise(COLUMNS, np.ones(2, bool))
    assert (precise["precise_status"] != PreciseStatus.STILL_DOUBTFUL).all()
    # What float64 sees of the wide motion, where nothing is in doubt.
    sure = evaluated(FOUR_BAR, "numeric")[1]["rank"]
    np.testing.assert_array_equal(precise["precise_rank"], sure)


#: A coupler whose one leg is 4e-17 m long at 90 degrees. The other is no pivot: longer to write.
BY_ANGLE = FOUR_BAR.replace(
    "constants: {rho", "  turn: {value: 80, unit: deg}\nconstants: {rho"
).replace("at: [[lx2, -ly2], [0, 0]]", "at: [[lx2*cos(turn), -ly2*(1+sin(turn)^2)/2], [0, 0]]")


def test_a_pivot_that_rounding_keeps_from_zero_vanishes():
    """cos(90 deg) is 6e-17 in float64: β is 1e16, finite, and wrong in every digit."""
    mechanism = loads(BY_ANGLE, "four-bar")
    spec = SweepSpec(
        mechanism, Random((("turn", 0.0, 1.6),), 3), evaluation=Evaluation("auto", None, ())
    )
    near = np.pi / 2 + np.array([0.0, 1e-16, 1e-6])
    found = prepare(spec)({"turn": near}, np.ones(3, bool))
    assert found["reason"].tolist()[:2] == [Reason.VANISHING_PIVOT] * 2
    assert found["status"].tolist()[:2] == [Status.SPECIAL] * 2
    assert np.isnan(found["base_parameters"][:2]).all()
    assert np.isfinite(found["base_parameters"][2]).all()  # large, but to be divided by
