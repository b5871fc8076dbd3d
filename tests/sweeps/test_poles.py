"""Variants at which β does not exist: special, or left to variable precision as any other."""

import numpy as np
import pytest

from basepar_core.files import library_path, loads
from sweeps.evaluate import prepare
from sweeps.plans import Random
from sweeps.spec import Evaluation, SweepSpec
from sweeps.statuses import PreciseStatus, Reason, Status, reason_texts

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
