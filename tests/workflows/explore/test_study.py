"""The explorer of a study: limits, objectives and constraints, against the study's own verdict."""

import json
import re

import numpy as np
import pytest

from basepar_core.expressions import evaluate, parse_comparison
from cluster.client import connect
from cluster.places import Laptop
from sweeps.store import WITH_RESULTS, Store
from tests.workflows import browser
from tests.workflows.explore.test_explorer import COUNT, TEXT, TYPED, WAIT, WIDE
from tests.workflows.explore.test_page import held, numbers
from tests.workflows.fourbar_study import small, swing
from workflows.explore import columns, write
from workflows.report import gather
from workflows.studies.feasibility import judge
from workflows.studies.quantity_names import quantities
from workflows.studies.reader import parse_study
from workflows.studies.study import study

pytestmark = pytest.mark.slow

#: Two goals; bounds from both sides, turned round, of symbols, of what is not swept, of formulas.
TEXT_OF_STUDY = """
mechanism: four-bar
variables: {lx1: [0.2, 0.6], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}
objectives: {torque_rms: minimize, stroke(D): maximize}
constraints:
  - stroke(D) >= 30 deg
  - stroke(D) <= 75 deg
  - 60 N*m >= torque_peak
  - lx1 < 0.55 m
  - lx1 + lx2 <= 1.2 m
  - lx1/lx3 <= 0.45
  - lx3 >= 2*lx1
sampler: {kind: nsga2, seed: 3}
trials: 60
batch: 20
store: {chunk: 5}
study: {name: both}
"""
FIVE_BAR = """
mechanism: five-bar
variables: {lx1: [0.28, 0.31]}
objectives: {"torque_rms(A)": minimize, "torque_rms(E)": minimize}
sampler: {kind: nsga2, seed: 3}
trials: 8
batch: 8
store: {chunk: 4}
study: {name: two}
"""
PRESS = "[...document.querySelectorAll('button')].find(b => b.innerText === '{}').click()"
#: Per axis: its place and how many pixels are hatched, above and below each height in `at`.
HATCHED = """(() => {{
  const c = document.querySelector("#parallel canvas"), g = c.getContext("2d");
  const words = {words}, at = {at}, SIDE = 40, TOP = 46, BOTTOM = 36;
  const ink = getComputedStyle(document.documentElement).getPropertyValue("--worst").trim();
  const rgb = [1, 3, 5].map(k => parseInt(ink.slice(k, k + 2), 16));
  const tall = c.height - TOP - BOTTOM;
  const near = (x, y) => {{ const p = g.getImageData(x, y, 1, 1).data;
    return p[3] > 90 && rgb.every((v, i) => Math.abs(v - p[i]) < 60); }};
  return words.map((_, k) => {{
    const x = Math.round(SIDE + (c.width - 2 * SIDE) * k / (words.length - 1)), shares = [];
    for (const [low, high] of at[k]) {{
      let count = 0, all = 0;
      const from = Math.round(c.height - BOTTOM - high * tall) + 5;
      const to = Math.round(c.height - BOTTOM - low * tall) - 5;
      for (let y = from; y < to; y++) {{ all++; let hit = false;
        for (let i = 2; i <= 7; i++) hit = hit || near(x + i, y);
        if (hit) count++; }}
      shares.push(all > 0 ? count / all : null);
    }}
    return shares;
  }});
}})()"""


@pytest.fixture(scope="module")
def client():
    with connect(Laptop(workers=1)) as found:
        yield found


@pytest.fixture(scope="module")
def made(tmp_path_factory, client):
    """A real study's store, the page, and the verdict of the study itself."""
    folder = tmp_path_factory.mktemp("explored-study")
    spec = small(folder, "both", TEXT_OF_STUDY)
    assert study(spec, client).summary.done
    page = folder / "page.html"
    write(spec.path, page)
    store = Store.open(spec.path)
    return spec, page, judge(spec, store, 0, 60), store


def known_of(spec, store):
    """Every quantity of the study, from its arrays and the mechanism's nominal values."""
    found = dict(spec.mechanism.nominal)
    for name in ("lx1", "lx3", "Dx", "torque_rms", "torque_peak"):
        found[name] = store[name][:]
    # An own formula of the rocker's swing, not the store's array.
    found["stroke(D)"] = swing(found["lx1"], found["lx3"], found["Dx"])
    return found


def test_kinds_signs_and_limits(made):
    spec, page, _, store = made
    shown = {one["word"]: one for one in held(page.read_text())["columns"]}
    assert (shown["torque_rms"]["kind"], shown["torque_rms"]["sign"]) == ("objective", 1)
    assert (shown["stroke(D)"]["kind"], shown["stroke(D)"]["sign"]) == ("objective", -1)
    # In degrees, as the file has them: 30 deg and 75 deg; sizes of units round once.
    (low, high) = shown["stroke(D)"]["limits"]
    assert (low[0], high[0]) == (">=", "<=")
    assert [low[1], high[1]] == pytest.approx([30, 75], rel=1e-15)
    assert shown["torque_peak"]["kind"] == "constraint"
    assert shown["torque_peak"]["limits"] == [["<=", 60.0]]
    assert (shown["lx1"]["kind"], shown["lx1"]["limits"]) == ("symbol", [["<=", 0.55]])
    assert shown["lx1/lx3"]["limits"] == [["<=", 0.45]]
    assert shown["lx3 - (2*lx1)"]["limits"] == [[">=", 0.0]]
    assert shown["lx1 + lx2"]["kind"] == "constraint"
    known = known_of(spec, store)
    solved = np.isin(store["status"][:], WITH_RESULTS)
    for word, values in {
        "lx1/lx3": known["lx1"] / known["lx3"],
        "lx1 + lx2": known["lx1"] + known["lx2"],
        "stroke(D)": np.degrees(known["stroke(D)"]),
    }.items():
        found = numbers(shown[word])
        # What is made of symbols has a value whatever becomes of the variant.
        assert np.isnan(found[~solved]).all() == (word == "stroke(D)")
        # The stroke is of 128 samples of the cycle: a parabola's top between two of them.
        far = 0.05 if word == "stroke(D)" else 1e-12
        np.testing.assert_allclose(found[solved], values[solved], atol=far)


def test_the_front_is_of_feasible_variants(made):
    """By comparing all pairs of what the study calls feasible."""
    _, page, verdict, _ = made
    goals = verdict.values * [1, -1]
    may = np.flatnonzero(verdict.feasible)
    assert 0 < may.size < 60
    beaten = [
        ((goals[may] <= goals[row]).all(axis=1) & (goals[may] < goals[row]).any(axis=1)).any()
        for row in may
    ]
    assert held(page.read_text())["front"] == may[~np.array(beaten)].tolist()


def test_an_objective_of_one_drive_stays_an_objective(tmp_path, client):
    spec = parse_study(FIVE_BAR).at(f"{tmp_path}/two.zarr")
    assert study(spec, client).summary.done
    made = columns.columns(gather(spec.path, whole=True))
    kinds = [(one.word, one.kind) for one in made if "torque" in one.word]
    assert kinds == [("torque_rms(A)", "objective"), ("torque_rms(E)", "objective")]


@pytest.fixture(scope="module")
def chromium():
    if browser.executable() is None:
        pytest.skip("no Chromium on the PATH (Debian: apt-get install chromium)")
    with browser.browser() as running:
        yield running


def test_constraints_met_are_those_of_the_study(chromium, made):
    """The button's lines are the file's, the page selects what the study calls feasible."""
    spec, page, verdict, store = made
    deeds = [WAIT, PRESS.format("Constraints met"), TYPED, COUNT, TEXT]
    deeds += ["document.querySelector('#selection pre').textContent", "location.hash"]
    deeds += ["document.querySelector('.wrong').textContent"]
    seen = chromium.show(page, width=1100, scheme="light", whole=False, deeds=deeds)
    count, text, lines, address, wrong = seen.told[3:]
    assert seen.complaints == []
    assert wrong == ""
    assert text.splitlines() == [line.text for line in spec.constraints]
    assert count == verdict.feasible.sum()
    where, constraints = lines.splitlines()
    assert json.loads(where.removeprefix("where: ")) == text.splitlines()[3:]
    assert json.loads(constraints.removeprefix("constraints: ")) == text.splitlines()[:3]
    # One by one, against the file's own reader and the arrays.
    known = known_of(spec, store)
    names = quantities(spec.mechanism)
    type_line = """(() => {{ const a = document.querySelector("textarea");
      a.value = {}; a.dispatchEvent(new Event("change")); }})()"""
    each = [
        deed
        for line in text.splitlines()
        for deed in (type_line.format(json.dumps(line)), TYPED, COUNT)
    ]
    told = chromium.show(page, width=900, scheme="light", whole=False, deeds=[WAIT, *each]).told
    for k, line in enumerate(text.splitlines()):
        with np.errstate(invalid="ignore"):
            keep = evaluate([parse_comparison(line, names)], known)[0]
        if "stroke" in line or "torque" in line:
            keep = keep & np.isin(store["status"][:], WITH_RESULTS)
        assert told[3 * k + 3] == keep.sum(), line
    assert "where=" in address


def test_what_limits_forbid_is_hatched_and_nothing_else(chromium, made):
    """Per axis, pixel by pixel: above an upper bound, below a lower one, and not between."""
    _, page, _, _ = made
    shown = {one["word"]: one for one in held(page.read_text())["columns"]}
    words = ["lx1", "stroke(D)", "lx3 - (2*lx1)", "Dx"]
    ends = [(np.nanmin(v), np.nanmax(v)) for v in (numbers(shown[word]) for word in words)]
    # Shares of the axis: what is allowed and what is not, by the file's own numbers.
    lx1, stroke, gap, _ = [
        [(bound - low) / (high - low) for bound in bounds]
        for (low, high), bounds in zip(ends, [[0.55], [30, 75], [0.0], []], strict=True)
    ]
    at = [
        [[0, lx1[0]], [lx1[0], 1]],
        [[0, max(0, stroke[0])], [max(0, stroke[0]), stroke[1]], [stroke[1], 1]],
        [[0, gap[0]], [gap[0], 1]],
        [[0, 1]],
    ]
    address = f"{page.as_uri()}#axes={json.dumps(words)}"
    script = HATCHED.format(words=json.dumps(words), at=json.dumps(at))
    found = chromium.show(address, width=1000, scheme="light", deeds=[WAIT, script]).told[-1]
    # Hatching goes on every six pixels and is slanted: nearly every row has some of it.
    assert found[0][0] < 0.05
    assert found[0][1] > 0.6
    assert found[1][1] < 0.05
    assert found[1][2] > 0.6
    assert found[2][1] < 0.05
    assert found[3][0] < 0.05
    assert [
        share for share in (found[1][0], found[2][0]) if share is not None and share <= 0.6
    ] == []


def test_the_front_of_all_objectives_is_circled(chromium, made):
    """`all` is of the feasible; `of these two` is of whoever is selected."""
    _, page, verdict, _ = made
    note = "document.querySelector('#scatter .hint').textContent"
    choose = """(() => {{ const s = [...document.querySelectorAll("#scatter label")]
      .find(l => l.innerText.startsWith("front")).querySelector("select");
      s.value = "{}"; s.dispatchEvent(new Event("change")); }})()"""
    values = "[...document.querySelectorAll('#scatter select')].map(s => s.value)"
    deeds = [WAIT, values, note, choose.format("two"), WAIT, note]
    deeds += [PRESS.format("Constraints met"), TYPED, note]
    told = chromium.show(page, width=1000, scheme="light", whole=False, deeds=deeds).told
    assert told[1] == ["torque_rms", "1", "stroke(D)", "-1", "all"]
    said = [int(re.search(r"Circles: (\d+)", text)[1]) for text in (told[2], told[5], told[8])]
    assert said[0] == len(held(page.read_text())["front"])
    assert "all objectives" in told[2]
    goals = verdict.values * [1, -1]
    there = goals[np.isfinite(goals).all(axis=1)]
    kept = [not ((there <= row).all(axis=1) & (there < row).any(axis=1)).any() for row in there]
    assert said[1] == sum(kept)  # of all, feasible or not
    assert said[2] == said[0]  # of those that meet the constraints


def test_long_words_do_not_widen_a_phones_page(chromium, made):
    """The constraints that are missed are long texts, in a choice and in the list."""
    told = chromium.show(made[1], width=390, scheme="light", deeds=[WAIT, WIDE]).told
    assert told[-1] <= 0
