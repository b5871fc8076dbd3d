"""The explorer's data: every number of a store, in full, and which variants are in the page."""

import base64
import json
import re

import numpy as np
import pytest

from sweeps.store import Store
from tests.workflows.explore.made import at_random
from tests.workflows.report.test_page import sweep
from workflows.explore import columns, write
from workflows.explore import front as fronts
from workflows.explore import page as pages
from workflows.report import gather

#: Arrays that the page has in words, and the places of the store itself.
IN_WORDS = {"status", "reason", "precise_status", "precise_reason"}


@pytest.fixture(scope="module")
def made(swept, tmp_path_factory):
    """A small sweep's store and its page."""
    page = tmp_path_factory.mktemp("explorer") / "page.html"
    return swept, page, write(swept, page)


def held(text):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1]
    )


def numbers(column):
    """A column's numbers, read by NumPy."""
    array = np.frombuffer(base64.b64decode(column["data"]), f"<{column['type']}")
    if "levels" in column:
        array = np.frombuffer(base64.b64decode(column["levels"]), "<f8")[array]
    return array.astype(float)


def test_every_number_is_in_the_page_in_full(made):
    """Whatever the store has per variant, read past everything of ours."""
    path, file, said = made
    document = held(file.read_text())
    assert said["shown"] == document["rows"] == 96
    shown = [numbers(one) * one["size"] for one in document["columns"]]
    store, missing = Store.open(path), []
    for name in store:
        array = store[name]
        if "variant" not in (array.metadata.dimension_names or ())[:1] or name in IN_WORDS:
            continue
        values = np.asarray(array[:])
        for column in values.reshape(len(values), -1).T:
            wanted = column.astype(float)
            if array.dtype.kind in "iu":  # −1: no result
                wanted = np.where(column == -1, np.nan, wanted)
            if not np.isfinite(wanted).any():
                continue
            # Units such as deg round once; where the status has no result metrics have none.
            if not any(_alike(wanted, one) for one in shown):
                missing.append(name)
    assert missing == []
    words = {one["title"]: one["texts"] for one in document["states"]}
    assert "solved" in words["status"]


def _alike(wanted, shown):
    both = np.isfinite(shown)
    return both.any() and np.allclose(wanted[both], shown[both], rtol=4e-16, atol=0)


@pytest.mark.parametrize(
    ("values", "form"),
    [
        ([1.0, np.nan, 0.5], "f4"),
        (np.random.default_rng(0).normal(size=400), "f8"),
        (np.repeat([0.1, 0.2, np.nan, np.inf], 50), "u1"),
        (np.repeat(np.arange(300) / 7, 9), "u2"),
    ],
)
def test_the_smallest_form_that_loses_nothing(values, form):
    found = columns.packed(np.asarray(values, float))
    assert found["type"] == form
    np.testing.assert_array_equal(numbers(found), values)


def test_the_front_and_the_best_are_in_every_sample(monkeypatch, made):
    found = gather(made[0], whole=True)
    shown = columns.columns(found)
    (front, _), best = fronts.front(found, shown), fronts.best(found)
    goals = [one for one in shown if one.kind == "metric" and one.sign][:2]
    values = np.stack([one.sign * one.values for one in goals], axis=1)
    there = np.flatnonzero(np.isfinite(values).all(axis=1))
    beaten = [
        (
            np.all(values[there] <= values[row], axis=1)
            & np.any(values[there] < values[row], axis=1)
        ).any()
        for row in there
    ]
    assert sorted(front) == sorted(there[~np.array(beaten)])
    monkeypatch.setattr(fronts, "MOST", 12)
    needed = np.concatenate([best, front])
    rows = fronts.sample(96, needed)
    assert rows.size == np.unique(rows).size == 12
    assert np.isin(needed, rows).all()
    said = write(made[0], made[1].with_name("sample.html"))
    assert (said["shown"], said["total"]) == (12, 96)
    assert (
        "12 of them are shown, picked at random (seed 1)"
        in held(made[1].with_name("sample.html").read_text())["said"]
    )


def test_of_a_front_larger_than_a_page_the_first_ones_are_there(monkeypatch):
    monkeypatch.setattr(fronts, "MOST", 4)
    rows = fronts.sample(96, np.array([90, 7, 90, 50, 3, 20]))
    assert rows.tolist() == [3, 7, 50, 90]


def test_points_with_equal_values_are_all_on_the_front(made):
    found = gather(made[0], whole=True)
    shown = columns.columns(found)
    goals = [one for one in shown if one.kind == "metric" and one.sign][:2]
    for one in goals:
        one.values[:] = 1.0
    assert fronts.front(found, shown)[0].size == np.count_nonzero(found.has_results)


def test_what_does_not_fit_is_named(monkeypatch, made):
    """All of the page counts: what is left out would have made it too large."""
    whole = write(made[0], made[1].with_name("whole.html"))
    assert whole["left_out"] == []
    full = held(made[1].with_name("whole.html").read_text())
    for most in (whole["bytes"] - 1000, whole["bytes"] - 15_000):
        monkeypatch.setattr(pages, "MOST", most)
        file = made[1].with_name("less.html")
        said = write(made[0], file)
        assert file.stat().st_size == said["bytes"] <= most
        document = held(file.read_text())
        assert said["left_out"]
        assert len(document["columns"]) + len(said["left_out"]) == len(whole["columns"])
        for name in said["left_out"][:20]:
            assert name in document["said"]
        assert f"may have {most / 1e6:g} MB" in document["said"]
        # What is asked about first stays longest: here only results had to go.
        both = (document["columns"], full["columns"])
        for kind in ("number", "symbol", "metric"):
            count = [sum(one["kind"] == kind for one in some) for some in both]
            assert count[0] == count[1] > 0


def test_words_and_the_mechanism_count_too(monkeypatch, made):
    """With no room at all even they are named, and the page is one."""
    monkeypatch.setattr(pages, "MOST", 0)
    file = made[1].with_name("none.html")
    said = write(made[0], file)
    assert {"moving pictures", "status"} < set(said["left_out"])
    assert not said["moves"]


def test_symbols_of_plans_of_plans_and_those_that_follow(tmp_path):
    """Also a report's: they were drawn at nominal geometry."""
    text = """
mechanism: four-bar
space:
  plan: product
  of:
    - {plan: grid, variables: {lx1: [0.25, 0.3]}}
    - {plan: grid, variables: {lx3: [1.2, 1.3]}}
  derive: {Dx: lx3 - 0.2 m}
evaluate: {rank: none, metrics: [torque_rms]}
store: {chunk: 4}
"""
    found = gather(sweep(tmp_path, text))
    assert [symbol.name for symbol in found.symbols] == ["lx1", "lx3", "Dx"]
    assert found.variant_values(3) == pytest.approx({"lx1": 0.3, "lx3": 1.3, "Dx": 1.1})
    kinds = {one.word: one.kind for one in columns.columns(found)}
    assert kinds["Dx"] == "symbol"


@pytest.mark.slow
def test_a_hundred_thousand_variants_fit(tmp_path):
    """20 columns of numbers at random: at most 25 MB (must), and all of them are there."""
    _, text = at_random(100_000)
    assert len(text.encode()) <= pages.MOST == 25_000_000
    assert len(held(text)["columns"]) == 21
