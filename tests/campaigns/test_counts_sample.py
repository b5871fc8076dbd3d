"""A sample of the campaign of counts: a case of every family, small motions among them."""

import pytest

from tests.campaigns.count_families import COUPLED, DAILY, FAMILIES
from tests.campaigns.counts import examine


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(FAMILIES)), ids=list(FAMILIES))
def test_a_count_is_right_and_sure(case):
    record = examine(case)
    assert record["verdict"] == "right", record


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name, marks=() if name in DAILY else pytest.mark.slow)
        for case, name in enumerate(COUPLED)
    ],
)
def test_a_count_with_couplings_is_right(case):
    record = examine(case, COUPLED)
    assert record["verdict"] == "right", record
