"""Plans are sequences: any slice of them is the same, and cheap."""

import json
import math
import pickle
import subprocess
import sys
import tracemalloc
from contextlib import nullcontext
from zipfile import BadZipFile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import qmc
from scipy.stats._sobol import _initialize_v

from sweeps.spec import sobol
from sweeps.spec.plan_products import Product, described, document, restored
from sweeps.spec.plans import (
    Grid,
    LatinHypercube,
    Random,
    Sobol,
    Zip,
    from_description,
    permuted,
    uniform,
)
from sweeps.spec.tables import Table

LISTS = (("d", (1.0, 2.0)),)
BOUNDS = (("a", -1.0, 2.0), ("b", 10.0, 11.0), ("c", 0.0, 1e-3))
PLANS = [
    Grid((("a", (1.0, 2.0, 3.0)), ("b", (0.5, 0.7)), ("c", tuple(np.linspace(0, 1, 11))))),
    Zip((("a", tuple(range(70))), ("b", tuple(np.linspace(0, 1, 70))))),
    Random(BOUNDS, 75, seed=3),
    LatinHypercube(BOUNDS, 75, seed=3),
    Sobol(BOUNDS, 75, seed=3),
    Table(("a", "b"), np.arange(140.0).reshape(70, 2)),
]
IDS = [type(plan).__name__ for plan in PLANS]


def stacked(rows):
    return np.stack(list(rows.values()), axis=-1)


@pytest.mark.parametrize("plan", PLANS, ids=IDS)
class TestEveryPlan:
    @settings(deadline=None)  # a busy machine
    @given(cuts=st.lists(st.integers(0, 66), min_size=3, max_size=3).map(sorted))
    def test_slices_join(self, plan, cuts):
        a, b, c = cuts
        joined = np.concatenate([stacked(plan.rows(a, b)), stacked(plan.rows(b, c))])
        np.testing.assert_array_equal(joined, stacked(plan.rows(a, c)))

    def test_order_of_asking_does_not_matter(self, plan):
        late, early = stacked(plan.rows(40, 60)), stacked(plan.rows(0, 20))
        np.testing.assert_array_equal(stacked(plan.rows(0, 60))[40:], late)
        np.testing.assert_array_equal(stacked(plan.rows(0, 60))[:20], early)

    def test_rows_that_do_not_exist(self, plan):
        with pytest.raises(IndexError):
            plan.rows(0, len(plan) + 1)

    def test_described_and_made_again(self, plan):
        if isinstance(plan, Table):
            assert Table.from_document(plan.document()) == plan
        else:
            assert from_description(plan.describe()) == plan

    def test_a_document_has_the_rows(self, plan):
        plain = json.loads(json.dumps(document(plan)))
        again = restored(plan, plain)
        assert again == plan
        assert again.describe() == plan.describe()
        assert described(plain) == json.loads(json.dumps(plan.describe()))
        assert restored(Product((plan,)), {"of": []}).parts == (plan,)
        np.testing.assert_array_equal(stacked(again.rows(0, 66)), stacked(plan.rows(0, 66)))


@given(count=st.integers(1, 5000), seed=st.integers(0, 2**64), stream=st.integers(0, 20))
@settings(max_examples=60, deadline=None)
def test_permutation_is_one(count, seed, stream):
    sent = permuted(np.arange(count, dtype=np.uint64), count, seed, stream)
    np.testing.assert_array_equal(np.sort(sent), np.arange(count))


@pytest.mark.parametrize("count", [1, 2, 7, 100, 1000])
def test_latin_hypercube_hits_every_slice_once(count):
    rows = LatinHypercube(BOUNDS, count, seed=5).rows(0, count)
    for name, low, high in BOUNDS:
        slices = np.floor((rows[name] - low) / (high - low) * count)
        np.testing.assert_array_equal(np.sort(slices), np.arange(count))


def test_latin_hypercube_columns_are_unrelated():
    rows = stacked(LatinHypercube(BOUNDS, 4096, seed=1).rows(0, 4096))
    neighbours = np.corrcoef(rows[:-1, 0], rows[1:, 0])[0, 1]
    # Independent columns correlate by 1/√n = 0.016 standard deviation; five of them.
    assert np.abs(np.corrcoef(rows.T) - np.eye(3)).max() < 0.08
    assert abs(neighbours) < 0.08


@pytest.mark.parametrize(("dimensions", "seed"), [(1, 0), (3, 3), (12, 5)])
def test_sobol_is_scipys(dimensions, seed):
    bounds = tuple((f"x{k}", -1.0, 3.0) for k in range(dimensions))
    points = qmc.Sobol(dimensions, scramble=True, rng=np.random.default_rng(seed)).random(1024)
    plan = Sobol(bounds, 1024, seed)
    for start, stop in ((0, 1024), (0, 1), (1, 2), (511, 514), (640, 1000), (1023, 1024)):
        found = stacked(plan.rows(start, stop))
        np.testing.assert_array_equal(found, -1.0 + 4.0 * points[start:stop])


@pytest.mark.parametrize("broken", ["elsewhere", "another", "damaged"])
def test_direction_numbers_are_what_scipys_points_reveal(broken, monkeypatch):
    """Where SciPy keeps its numbers elsewhere, or otherwise, they are found from its points."""
    found = sobol.directions.__wrapped__(40, 3, 12)
    assert sobol._unscrambled(40) is not None
    monkeypatch.setattr(sobol, "_unscrambled", sobol._unscrambled.__wrapped__)
    if broken == "elsewhere":
        monkeypatch.setattr(sobol, "find_spec", lambda name: None)
    else:
        given = (lambda path: {}) if broken == "another" else _damaged
        monkeypatch.setattr(np, "load", lambda path: nullcontext(given(path)))
    assert sobol._unscrambled(40) is None
    np.testing.assert_array_equal(found, sobol.directions.__wrapped__(40, 3, 12))


def _damaged(path):
    raise BadZipFile


@pytest.mark.slow
def test_unscrambled_numbers_are_scipys_in_all_dimensions():
    expected = np.zeros((21201, sobol.BITS), np.uint32)
    _initialize_v(expected, dim=21201, bits=sobol.BITS)
    np.testing.assert_array_equal(sobol._unscrambled(21201), expected)
    assert sobol._unscrambled(21202) is None


def test_sobol_points_come_without_scipys_statistics():
    """To import these takes a quarter of a study's start."""
    code = (
        "import sys; from sweeps.spec import sobol_points; sobol_points(3, 1, 0, 64); "
        "print('scipy' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def carried(plan):
    """A plan that was looked at: it takes along what its points follow from."""
    plan.rows(0, 1)
    return plan


def read(plan):
    """A plan as a store's document has it."""
    return from_description(json.loads(json.dumps(document(plan))))


def told(plan):
    """A plan of a file, whose store is there."""
    space = json.loads(json.dumps(document(Product((Grid(LISTS), plan)))))
    return restored(Product((Grid(LISTS), plan)), space).parts[1]


@pytest.mark.parametrize("known", [carried, read, told])
def test_workers_and_parts_need_no_scipy_for_sobol_points(known):
    expected = Sobol(BOUNDS, 1000, 3).rows(990, 1000)
    plan = known(Sobol(BOUNDS, 1000, 3))
    script = (
        "import pickle, sys; plan = pickle.loads(sys.stdin.buffer.read()); "
        "rows = plan.rows(990, 1000); assert 'scipy' not in sys.modules; "
        "sys.stdout.buffer.write(pickle.dumps(rows))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], input=pickle.dumps(plan), capture_output=True, check=True
    )
    for name, values in pickle.loads(ran.stdout).items():
        np.testing.assert_array_equal(values, expected[name])


def test_directions_of_another_plan_are_not_taken():
    plan, other = Sobol(BOUNDS, 1000, 3), Sobol(BOUNDS, 1000, 4)
    assert restored(plan, document(other)) is plan
    assert restored(Product((Grid(LISTS), plan)), document(plan)).parts[1] is plan
    numbers = document(plan)["directions"]
    for wrong in (2**30, -1, 2**70, 1.5, "12", None, math.nan):
        forged = [[wrong, *numbers[0][1:]], *numbers[1:]]
        with pytest.raises(ValueError, match=r"numbers that are not \(11, 3\)"):
            restored(plan, document(plan) | {"directions": forged})
    with pytest.raises(ValueError, match=r"numbers that are not \(11, 3\)"):
        restored(plan, document(plan) | {"directions": numbers[1:]})


def test_sobol_has_an_end():
    with pytest.raises(ValueError, match="at most 1073741824"):
        Sobol(BOUNDS, 2**30 + 1)


@settings(deadline=None)
@given(start=st.integers(0, 10**12), count=st.integers(0, 20))
def test_uniform_numbers_jump(start, count):
    step = np.random.Generator(
        np.random.Philox(np.random.SeedSequence(7, spawn_key=(2,))).advance(start // 4)
    )
    skipped = step.random(start % 4 + count)[start % 4 :]
    np.testing.assert_array_equal(uniform(7, 2, start, start + count), skipped)


def test_seeds_differ():
    first, second = (Random(BOUNDS, 50, seed).rows(0, 50)["a"] for seed in (1, 2))
    assert not np.isin(first, second).any()


@pytest.mark.parametrize("make", [Random, LatinHypercube, Sobol])
def test_a_hundred_million_rows_cost_nothing(make):
    """No list of all: what is kept is of the size of the rows that are asked for."""
    tracemalloc.start()
    plan = make(BOUNDS, 10**8, seed=1)
    rows = plan.rows(90_001_000, 90_011_000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(rows["a"]) == 10_000
    assert most < 10_000_000  # bytes; one number a row would be 8e8


def test_a_grid_of_a_hundred_million_rows():
    axis = tuple(np.linspace(0, 1, 100))
    plan = Grid((("a", axis), ("b", axis), ("c", axis), ("d", axis)))
    assert len(plan) == 10**8
    last = plan.rows(10**8 - 1, 10**8)
    assert stacked(last).tolist() == [[1.0, 1.0, 1.0, 1.0]]


def test_grid_is_the_product():
    plan = Grid((("a", (1.0, 2.0)), ("b", (3.0, 4.0, 5.0))))
    expected = [[1, 3], [1, 4], [1, 5], [2, 3], [2, 4], [2, 5]]
    assert stacked(plan.rows(0, 6)).tolist() == expected


def test_zip_needs_equal_lengths():
    with pytest.raises(ValueError, match="a has 2, b has 1"):
        Zip((("a", (1.0, 2.0)), ("b", (3.0,))))


def test_long_table_is_named_not_repeated():
    table = Table(("a",), np.zeros((60_000, 1)), "points.csv")
    assert table.document()["file"] == "points.csv"
    assert Table.from_document(table.document()) is None
