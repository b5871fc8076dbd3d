"""A sample of the campaign of mutated files."""

import pytest

from .mutation_kinds import KINDS, seeds
from .mutations import WRONG, run

COUNT = 12


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return seeds(tmp_path_factory.mktemp("seeds"))


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_an_answer_or_a_message(good, name, tmp_path):
    first = 10**6  # numbers of no campaign
    count = run(KINDS[name], range(first, first + COUNT), good, tmp_path)
    assert count[WRONG] == 0, [path.read_text() for path in tmp_path.rglob("FAULT")]
