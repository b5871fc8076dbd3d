"""The explorer: every number of a store, and what hands and keys do with it."""

import base64
import json
import re

import numpy as np
import pytest

from tests.workflows import browser
from tests.workflows.report.test_page import SWEEP, sweep
from workflows.explore import columns, write
from workflows.explore.page import page
from workflows.report import gather

NEEDS = pytest.mark.skipif(
    browser.executable() is None,
    reason="no Chromium on the PATH (Debian: apt-get install chromium)",
)
COUNT = "document.getElementById('count').textContent"
WAIT = "new Promise(done => setTimeout(done, 600))"
PLACE = """(s => {{ const b = document.querySelector(s).getBoundingClientRect();
  return [b.x, b.y, b.width, b.height]; }})("{}")"""
HOSTILE = """</script><script>document.title='ran'</script><img src=x onerror=alert(1)>"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small sweep's store and its page."""
    folder = tmp_path_factory.mktemp("explorer")
    store = sweep(folder, SWEEP.format(mechanism="four-bar"))
    return store, folder / "page.html", write(store, folder / "page.html")


def held(text):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1]
    )


def numbers(column):
    return np.frombuffer(base64.b64decode(column["data"]), f"<f{column['bits'] // 8}")


def test_every_number_is_in_the_page_in_full(made):
    store, file, said = made
    document = held(file.read_text())
    found = gather(store)
    shown = {one["title"]: numbers(one).astype(float) for one in document["columns"]}
    assert said["shown"] == found.total == 96
    for symbol in found.symbols:
        np.testing.assert_array_equal(shown[symbol.name], symbol.values)
    for metric in found.metrics:
        assert any(np.array_equal(metric.values, x, equal_nan=True) for x in shown.values())


def of_random(count, seed=0):
    """Columns of numbers at random, and a page's document of them."""
    drawn = np.random.default_rng(seed).normal(size=(20, count))
    made = [columns.Column("variant", "", np.arange(count), "number", 0, "variant")]
    for k, values in enumerate(drawn):
        kind, unit = ("symbol", "m") if k < 6 else ("metric", "N*m")
        made.append(columns.Column(f"c{k}", unit, values, kind, int(k >= 6), f"c{k}"))
    rows = np.arange(count)
    document = {
        "said": "at random",
        "rows": count,
        "columns": [one.document(rows) for one in made],
        "states": [],
        "front": [0, 1],
        "units": columns.units(),
        "command": ["basepar animate x --variant", "s.zarr"],
        "films": {},
    }
    return drawn, document


def test_float32_only_where_nothing_is_lost():
    rows = np.arange(3)
    assert (
        columns.Column("a", "", np.array([1.0, np.nan, 0.5]), "metric").document(rows)["bits"]
        == 32
    )
    assert columns.Column("a", "", np.array([0.3, 1, 2]), "metric").document(rows)["bits"] == 64


def test_the_front_and_the_best_are_in_every_sample(monkeypatch, made):
    found = gather(made[0], whole=True)
    shown = columns.columns(found)
    front, best = columns.front(found, shown), columns.best(found)
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
    monkeypatch.setattr(columns, "MOST", 12)
    rows = columns.sample(found, np.unique(np.concatenate([front, best])))
    assert rows.size == 12
    assert np.isin(front, rows).all()
    assert np.isin(best, rows).all()


@pytest.mark.slow
@NEEDS
def test_conditions_are_those_of_where(made):
    """What the page selects by text, against NumPy; units are checked."""
    store, file, _ = made
    found = gather(store)
    v = {symbol.name: symbol.values for symbol in found.symbols}
    wanted = {
        "lx1 <= 0.8 m": v["lx1"] <= 0.8,
        "lx1 + lx3 <= 2 m\nDx >= 90 cm": (v["lx1"] + v["lx3"] <= 2) & (v["Dx"] >= 0.9),
        "sqrt(lx1^2 + lx2^2)/lx3 > 2/3*cos(30 deg)": np.hypot(v["lx1"], v["lx2"]) / v["lx3"]
        > 2 / 3 * np.cos(np.pi / 6),
    }
    typed = (
        "const a = document.querySelector('textarea'); a.value = {}; "
        "a.dispatchEvent(new Event('input'));"
    )
    deeds = []
    for text in [*wanted, "lx1 <= 2", "lx1 <= 2 kg", "alert(1) <= 2", "lx1 lx2 <= 1 m"]:
        deeds += [f"(() => {{ {typed.format(json.dumps(text))} }})()", WAIT]
        deeds += [COUNT, "document.querySelector('.wrong').textContent"]
    with browser.browser() as chromium:
        told = chromium.show(file, width=1000, scheme="light", deeds=deeds).told
    for k, keep in enumerate(wanted.values()):
        assert told[4 * k + 2] == f"{keep.sum()} of 96 variants selected"
        assert told[4 * k + 3] == ""
    assert min(keep.sum() for keep in wanted.values()) > 0
    assert all("line 1: " in told[4 * k + 3] for k in range(3, 7))


@pytest.mark.slow
@NEEDS
def test_hands_and_keys_select_and_the_address_keeps_it(made):
    _, file, _ = made
    histogram = "#histograms canvas"
    keys = [f"document.querySelector('{histogram}').focus()", *browser.press("ArrowRight", 39) * 3]
    first = "document.querySelector('#list tbody button')"
    with browser.browser() as chromium:
        deeds = [WAIT, PLACE.format("#parallel canvas"), *keys, WAIT, COUNT, first + ".focus()"]
        deeds += [*browser.press("Enter", 13, "\r"), WAIT, "location.hash", first + ".textContent"]
        deeds += [
            "document.querySelector('article').innerText",
            "document.querySelectorAll('svg.moving').length",
        ]
        seen = chromium.show(file, width=1000, scheme="light", deeds=deeds)
        assert seen.complaints == []
        assert seen.requests == [file.as_uri()]
        x, y, _, _ = seen.told[1]
        counted, address, number, pane, moving = (seen.told[k] for k in (4, 7, 8, 9, 10))
        assert int(counted.split()[0]) < 96
        assert f"a={number}" in address
        assert f"variant {number}" in pane
        assert f"--variant {made[0]}:{number}" in pane or moving == 1
        again = chromium.show(
            file.as_uri() + address, width=390, scheme="dark", deeds=[WAIT, COUNT]
        )
        assert again.told[1] == counted
        wide = chromium.show(
            file,
            width=390,
            scheme="dark",
            script="document.documentElement.scrollWidth - innerWidth",
        )
        assert wide.facts <= 0
        # A drag over an axis by the mouse, and a click that gives all back.
        drag = [WAIT, *browser.click(x + 36, y + 80, to=(x + 36, y + 180)), WAIT, COUNT]
        drag += [*browser.click(x + 36, y + 100), WAIT, COUNT]
        told = chromium.show(file, width=1000, scheme="light", deeds=drag).told
        assert 0 < int(told[2].split()[0]) < 96
        assert told[4] == "96 of 96 variants selected"


@pytest.mark.slow
@NEEDS
def test_a_hundred_thousand_variants(tmp_path):
    """What the file's size may be, and what a drag selects."""
    drawn, document = of_random(100_000)
    file = tmp_path / "big.html"
    file.write_text(page("big", "0", document))
    assert file.stat().st_size <= 25e6
    long = "new Promise(done => setTimeout(done, 2500))"
    with browser.browser() as chromium:
        told = chromium.show(
            file, width=1400, scheme="light", deeds=[long, PLACE.format("#parallel canvas")]
        ).told
        x, y, _, _ = told[1]
        drag = browser.click(x + 36, y + 100, to=(x + 36, y + 200))
        told = chromium.show(
            file,
            width=1400,
            scheme="light",
            deeds=[long, *drag, long, COUNT, "document.querySelector('textarea').value"],
        ).told
    low, high = (float(line.split()[2]) for line in told[3].splitlines())
    kept = ((drawn[0] >= low) & (drawn[0] <= high)).sum()
    assert told[2] == f"{kept:,} of 100,000 variants selected"


@pytest.mark.slow
@NEEDS
def test_hostile_texts_do_not_run(tmp_path):
    _, document = of_random(20)
    for one in document["columns"]:
        one["title"] = HOSTILE
    document["states"] = [
        {"title": HOSTILE, "texts": [HOSTILE], "data": base64.b64encode(bytes(80)).decode()}
    ]
    document |= {"said": HOSTILE, "command": [HOSTILE, HOSTILE]}
    file = tmp_path / "page.html"
    file.write_text(page(HOSTILE, HOSTILE, document))
    click = "document.querySelector('#list tbody button').click()"
    with browser.browser() as chromium:
        seen = chromium.show(
            file, width=900, scheme="light", script="document.title", deeds=[WAIT, click, WAIT]
        )
    assert seen.facts != "ran"
    assert seen.complaints == []
    assert seen.requests == [file.as_uri()]
