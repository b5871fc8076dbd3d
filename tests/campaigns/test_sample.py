"""A sample of the campaign: mechanisms that once were missed, contradicted or misjudged."""

import pytest

from tests.campaigns.random_mechanisms import examine

#: Recovered vectors (1, 8, 27), a length tied by closure (29), special by value only (7), bodies'
#: numbers that vary (15), assembled at a singular pose (318), a family that is refused (32).
SEEDS = {1: 20, 7: 8, 8: 21, 15: 16, 27: 8, 29: 29, 32: 36, 318: None}


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_no_route_is_silently_wrong(seed):
    record = examine(seed)
    if SEEDS[seed] is None:
        assert "of which 2 lead to another pose" in record["skipped"]
        return
    assert record["silent"] == ""
    assert record["claims"]["symbolic"] == SEEDS[seed]
    at_least, _, at_most, *_ = record["certificate"]
    # What is not known is said: a gap between the statements is a doubt.
    assert at_least == at_most or record["doubts"]["symbolic"]
