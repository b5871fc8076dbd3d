"""The simulated load, where its answer is known by hand."""

import pytest

from tests.campaigns import scaling_parts

NOTHING = {"GET": 0.0, "LIST": 0.0, "PUT": 0.0, "POST": 0.0}
CONSTANTS = {
    "start_s": 0.0,
    "chunk_s": 0.0,
    "requests_of_a_part": NOTHING,
    "requests_of_a_chunk": NOTHING,
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(scaling_parts, "VARIANTS", 100_000)
    monkeypatch.setattr(scaling_parts, "WORKERS", 10)


@pytest.mark.parametrize("parts", [0, 100])
def test_work_alone(parts):
    """1,000 chunks of a second by ten: 100 s, 9 s of requests that overlap with nothing."""
    found = scaling_parts.simulate(CONSTANTS, 0.01, 100, parts)
    assert 109 < found["seconds"] < 109 + 10  # and who draws the last part ends last
    assert found["requests_per_s"] == 0


@pytest.mark.parametrize(("partitions", "least"), [(1, 20.0), (4, 5.0)])
def test_a_bucket_that_is_asked_too_much(partitions, least):
    """70 writing requests for each of 1,000 chunks at 3,500 a second."""
    writing = CONSTANTS | {"requests_of_a_chunk": NOTHING | {"PUT": 70.0}}
    found = scaling_parts.simulate(writing, 1e-6, 100, 10, partitions)
    # A start of eight rounds of 30 ms, then 100 chunks that wait for three at least: 9.24 s.
    assert found["seconds"] == pytest.approx(max(least, 9.24), rel=0.02)
    assert found["objects"] == 70_000


def test_starts_of_parts():
    """Each of ten workers starts ten parts, 3 s and eight rounds of 30 ms each."""
    starting = CONSTANTS | {"start_s": 3.0}
    found = scaling_parts.simulate(starting, 1e-6, 100, 100)
    assert found["seconds"] == pytest.approx(10 * (3 + 0.24) + 9, rel=0.02)
