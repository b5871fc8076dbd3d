"""A sample of the campaign of forged certificates."""

from collections import Counter

import pytest

from .forgeries import forgeries, judge, made


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four-bar", "slider-crank"])
def test_forgeries_are_rejected_or_true(name):
    true, other = made(name), made("scara")
    count = Counter(judge(forged, true) for forged in forgeries(name, true, other))
    assert set(count) == {"rejected", "true"}, count
    # What is true after all: weaker grades, wider bounds, texts that do not matter.
    assert count["rejected"] > 3 * count["true"] > 0
