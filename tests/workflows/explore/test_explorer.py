"""The explorer by hand: mouse, finger and keys, in Chromium."""

import json
import re
import threading

import numpy as np
import pytest

from basepar_core.expressions import evaluate, parse_comparison
from sweeps.store import Store
from tests.workflows import browser
from tests.workflows.explore.made import HOSTILE, at_random, hostile, hostile_store
from workflows.cli.main import main
from workflows.explore import Server, write
from workflows.report import gather

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        browser.executable() is None,
        reason="no Chromium on the PATH (Debian: apt-get install chromium)",
    ),
]
COUNT = "+document.getElementById('count').textContent.split(' ')[0].replaceAll(',', '')"
TEXT = "document.querySelector('textarea').value"
#: Until everything is drawn, the exact picture after the preview; a page that threw never is.
WAIT = """new Promise((done, fail) => {
  setTimeout(() => fail(new Error("nothing is drawn")), 60000);
  const last = name => (performance.getEntriesByName(name).pop() || {startTime: -1}).startTime;
  const look = () => last("preview") >= 0 && last("exact") >= last("preview") ? done()
    : setTimeout(look, 20);
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(look, 20)));
})"""
#: What is typed is taken in the next moment.
TYPED = f"new Promise(done => setTimeout(done, 20)).then(() => {WAIT})"
PLACE = """(s => {{ const e = document.querySelector(s); e.scrollIntoView({{block: "center"}});
  const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; }})("{}")"""
WIDE = "document.documentElement.scrollWidth - innerWidth"
#: What the button saves, in place of a file.
CAUGHT = """URL.createObjectURL = blob => { blob.text().then(text => { window.kept = text; });
  return "data:,"; }"""


def chosen(title):
    """Selects by a label's first word."""
    return f"[...document.querySelectorAll('label')].find(l => l.innerText.startsWith('{title}'))"


@pytest.fixture(scope="module")
def made(swept, tmp_path_factory):
    page = tmp_path_factory.mktemp("explorer") / "page.html"
    write(swept, page)
    return swept, page


@pytest.fixture(scope="module")
def chromium():
    with browser.browser() as running:
        yield running


def places(chromium, page, *selectors, width=1000):
    deeds = [WAIT, *(PLACE.format(one) for one in selectors)]
    return chromium.show(page, width=width, scheme="light", whole=False, deeds=deeds).told[1:]


def test_brushes_by_mouse_write_what_where_takes(chromium, made):
    """An axis, a histogram, the scatter plot: each line is read by `where:` and selects alike."""
    store, page = made
    found = gather(store, whole=True)
    known = {symbol.name: symbol.values / symbol.per_si for symbol in found.symbols}
    known |= {name: Store.open(store)[name][:] for name in ("torque_rms", "torque_peak")}
    boxes = places(chromium, page, "#parallel canvas", "#histograms canvas", "#scatter canvas")
    (px, py, _, _), (hx, hy, hw, _), (sx, sy, sw, sh) = boxes
    drags = {
        "#parallel canvas": browser.click(px + 40, py + 90, to=(px + 40, py + 200)),
        "#histograms canvas": browser.click(hx + 0.2 * hw, hy + 30, to=(hx + 0.7 * hw, hy + 30)),
        "#scatter canvas": browser.click(sx + 90, sy + sh - 60, to=(sx + sw / 2, sy + sh / 3)),
    }
    names = _names(found)
    for place, drag in drags.items():
        deeds = [WAIT, PLACE.format(place), *drag, WAIT, COUNT, TEXT]
        told = chromium.show(page, width=1000, scheme="light", whole=False, deeds=deeds).told
        lines = told[-1].splitlines()
        assert lines
        keep = np.ones(96, bool)
        for line in lines:
            keep &= evaluate([parse_comparison(line, names)], known)[0].astype(bool)
        assert told[-2] == keep.sum()
        assert 0 < keep.sum() < 96
        # A click on the axis, or into the histogram, gives all back.
        if place != "#scatter canvas":
            x, y = (px + 40, py + 130) if place == "#parallel canvas" else (hx + 9, hy + 20)
            deeds += [*browser.click(x, y), WAIT, COUNT, TEXT]
            told = chromium.show(page, width=1000, scheme="light", whole=False, deeds=deeds).told
            assert told[-2:] == [96, ""]


def _names(found):
    from workflows.studies.quantity_names import quantities

    return quantities(found.mechanism)


def test_brushes_by_finger_and_by_key(chromium, made):
    _, page = made
    (px, py, _, _), (hx, hy, hw, _) = places(
        chromium, page, "#parallel canvas", "#histograms canvas", width=390
    )
    swipes = {
        "#parallel canvas": browser.swipe(px + 40, py + 90, (px + 40, py + 200)),
        "#histograms canvas": browser.swipe(hx + 0.2 * hw, hy + 30, (hx + 0.7 * hw, hy + 30)),
    }
    for place, swipe in swipes.items():
        deeds = [WAIT, PLACE.format(place), *swipe, WAIT, COUNT, WIDE]
        told = chromium.show(page, width=390, scheme="dark", whole=False, deeds=deeds).told
        assert 0 < told[-2] < 96, place
        assert told[-1] <= 0
    # The scatter plot: a drag selects, a tap shows the point that is near.
    ((sx, sy, sw, sh),) = places(chromium, page, "#scatter canvas", width=390)
    titles = "[...document.querySelectorAll('article h3')].map(h => h.innerText)"
    tap = [
        ("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        for kind, points in [
            ("touchStart", [{"x": sx + 78, "y": sy + sh - 42}]),
            ("touchEnd", []),
        ]
    ]
    swipe = browser.swipe(sx + 84, sy + sh - 50, (sx + 0.7 * sw, sy + sh / 3))
    for touch in (swipe, tap):
        deeds = [WAIT, PLACE.format("#scatter canvas"), *touch, WAIT, COUNT, titles]
        told = chromium.show(page, width=390, scheme="light", whole=False, deeds=deeds).told
        assert told[1] == [sx, sy, sw, sh]
        if touch is swipe:
            assert 0 < told[-2] < 96
            assert told[-1] == []
        else:
            # A finger is wider than a point: it is one of those in the corner, of little torque.
            least = np.argsort(Store.open(made[0])["torque_rms"][:])[:5]
            assert told[-2] == 96
            assert told[-1] in [[f"A: variant {number}"] for number in least]
    keys = {
        "#parallel canvas": [
            *browser.press("ArrowRight", 39),
            *browser.press("ArrowDown", 40) * 9,
            *browser.press("ArrowUp", 38, shift=True) * 4,
        ],
        "#histograms canvas": browser.press("ArrowRight", 39) * 5,
    }
    for place, press in keys.items():
        focus = f"document.querySelector('{place}').focus()"
        deeds = [WAIT, focus, *press, WAIT, COUNT, TEXT, *browser.press("Escape", 27), WAIT, COUNT]
        told = chromium.show(page, width=1000, scheme="light", whole=False, deeds=deeds).told
        count, text, _, freed = told[-4:]
        assert 0 < count < 96
        assert text.startswith("lx2 " if place == "#parallel canvas" else "lx1 ")
        assert freed == 96


def test_axes_move_and_columns_are_chosen(chromium, made):
    """By a drag of a title, by < and >, by a tick; the address keeps their order."""
    _, page = made
    ((x, y, w, _),) = places(chromium, page, "#parallel canvas")
    second = x + 40 + (w - 80) / 6  # of seven axes
    drag = browser.click(x + 40, y + 10, to=(second + 10, y + 10))
    axes = "JSON.parse(new URLSearchParams(location.hash.slice(1)).get('axes'))"
    focus = "document.querySelector('#parallel canvas').focus()"
    deeds = [WAIT, PLACE.format("#parallel canvas"), *drag, WAIT, axes]
    deeds += [focus, *browser.press("<", 188, "<"), *browser.press(">", 190, ">"), WAIT, axes]
    tick = "[...document.querySelectorAll('.choices input')].find(i => !i.checked).click()"
    deeds += [tick, WAIT, axes, "document.querySelectorAll('#histograms canvas').length"]
    told = chromium.show(page, width=1000, scheme="light", whole=False, deeds=deeds).told
    assert told[3][:2] == ["lx2", "lx1"]
    assert told[6] is None  # < at the end does nothing, > puts it back: as usual
    assert len(told[9]) == 8
    assert told[10] == 8


def test_a_click_shows_the_variant_moving_with_its_command(chromium, made, tmp_path, monkeypatch):
    """Two variants side by side; the command that is shown makes the same film."""
    store, page = made
    first = "document.querySelector('#list tbody button')"
    deeds = [WAIT, f"{first}.focus()", *browser.press("Enter", 13, "\r"), WAIT]
    deeds += ["document.querySelector('#list tbody tr:nth-child(2) button').click()", WAIT]
    deeds += [
        "[...document.querySelectorAll('article')].map(a => a.innerText)",
        "document.querySelectorAll('svg.moving').length",
        "[...document.querySelectorAll('pre code')].map(c => c.textContent)",
        "document.querySelector('#variants table').innerText",
        "location.hash",
    ]
    seen = chromium.show(page, width=1000, scheme="light", deeds=deeds)
    assert seen.complaints == []
    assert seen.requests == [page.as_uri()]
    articles, films, commands, table, address = seen.told[-5:]
    commands = [text for text in commands if "--variant" in text]
    numbers = [int(re.search(r"variant (\d+)", text)[1]) for text in articles]
    assert films == len(commands) == 2
    assert f"a={numbers[0]}" in address
    assert f"b={numbers[1]}" in address
    found = gather(store, whole=True)
    cells = next(line for line in table.splitlines() if line.startswith("lx1")).split("\t")
    for cell, number in zip(cells[1:3], numbers, strict=True):
        assert float(cell) == pytest.approx(found.symbols[0].values[number], rel=1e-8)
    # The command, as somebody types it where the store is.
    monkeypatch.chdir(tmp_path)
    words = commands[0].removeprefix("basepar ").split()
    assert main(words) == 0
    text = (tmp_path / f"variant-{numbers[0]}.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
    assert data["values"]["lx1"].split()[0] == f"{found.symbols[0].values[numbers[0]]:.6g}"
    # The same address, on a phone in the dark, shows the same.
    again = [WAIT, "[...document.querySelectorAll('article h3')].map(h => h.innerText)", WIDE]
    told = chromium.show(page.as_uri() + address, width=390, scheme="dark", deeds=again).told
    assert [int(text.split()[-1]) for text in told[1]] == numbers
    assert told[2] <= 0


def test_a_point_by_mouse_and_by_key(chromium, made):
    """A click on the best's circle; arrows and Enter go to a point without a mouse."""
    store, page = made
    (box,) = places(chromium, page, "#scatter canvas")
    x, y, _, h = box
    titles = "[...document.querySelectorAll('article h3')].map(h => h.innerText)"
    click = browser.click(x + 78, y + h - 42)  # the least of both, in the corner
    deeds = [WAIT, PLACE.format("#scatter canvas"), *click, WAIT, titles]
    told = chromium.show(page, width=1000, scheme="light", whole=False, deeds=deeds).told
    torque = Store.open(store)["torque_rms"][:]
    assert told[-1] == [f"A: variant {int(np.nanargmin(torque))}"]
    focus = "document.querySelector('#scatter canvas').focus()"
    keys = [*browser.press("ArrowRight", 39) * 2, *browser.press("Enter", 13, "\r")]
    said = "document.querySelector('[aria-live]').textContent"
    deeds = [WAIT, focus, *keys, WAIT, titles, said]
    told = chromium.show(page, width=1000, scheme="light", whole=False, deeds=deeds).told
    assert len(told[-2]) == 1
    assert told[-1].startswith("variant ")


def test_the_selection_as_csv_and_as_lines_for_files(chromium, made):
    store, page = made
    text = "lx1 <= 0.8 m\ntorque_rms <= 40 N*m"
    typed = (
        f"(() => {{ const a = document.querySelector('textarea'); a.value = {json.dumps(text)}; "
        "a.dispatchEvent(new Event('change')); })()"
    )
    save = "[...document.querySelectorAll('button')].find(b => b.innerText === 'Save as CSV')"
    deeds = [WAIT, CAUGHT, typed, TYPED, WAIT, COUNT, f"{save}.click()", WAIT, "window.kept"]
    deeds += ["document.querySelector('#selection pre').textContent"]
    told = chromium.show(page, width=1000, scheme="light", whole=False, deeds=deeds).told
    count, csv, lines = told[5], told[8], told[9]
    header, *rows = csv.splitlines()
    titles = [title.strip('"') for title in header.split(",")]
    assert len(rows) == count > 0
    found = Store.open(store)
    k, t = titles.index("lx1 [m]"), titles.index("RMS drive torque [N*m]")
    for row in rows:
        cells = row.split(",")
        number = int(cells[0])
        assert float(cells[k]) == found["lx1"][number] <= 0.8
        assert float(cells[t]) == found["torque_rms"][number] <= 40
    assert lines.splitlines() == [
        'where: ["lx1 <= 0.8 m"]',
        'constraints: ["torque_rms <= 40 N*m"]',
    ]


def test_words_select_too(chromium, made):
    _, page = made
    pick = f"""(() => {{ const s = {chosen("status")}.querySelector("select");
      s.selectedIndex = [...s.options].findIndex(o => o.text === "solved");
      s.dispatchEvent(new Event("change")); }})()"""
    deeds = [WAIT, pick, WAIT, COUNT, "location.hash"]
    told = chromium.show(page, width=1000, scheme="light", whole=False, deeds=deeds).told
    solved = int((Store.open(made[0])["status"][:] == 1).sum())
    assert told[3] == solved
    told = chromium.show(
        page.as_uri() + told[4], width=1000, scheme="light", whole=False, deeds=[WAIT, COUNT]
    ).told
    assert told[1] == solved


def test_a_hundred_thousand_variants(chromium, tmp_path):
    """What a drag selects, exactly; times are in tests/campaigns/pages.py."""
    drawn, text = at_random(100_000)
    file = tmp_path / "big.html"
    file.write_text(text)
    (box,) = chromium.show(
        file,
        width=1400,
        scheme="light",
        whole=False,
        deeds=[WAIT, PLACE.format("#parallel canvas")],
    ).told[1:]
    x, y, _, _ = box
    drag = browser.click(x + 40, y + 100, to=(x + 40, y + 200))
    deeds = [WAIT, PLACE.format("#parallel canvas"), *drag, WAIT, COUNT, TEXT]
    told = chromium.show(file, width=1400, scheme="light", whole=False, deeds=deeds).told
    low, high = (float(line.split()[2]) for line in told[-1].splitlines())
    assert told[-2] == ((drawn[0] >= low) & (drawn[0] <= high)).sum() > 0


#: Two variants move and the table is saved, or half a minute has passed.
SHOWN = """new Promise(done => { const end = performance.now() + 30000;
  const look = () => document.querySelectorAll("article svg.moving").length >= 2 && window.kept
    || performance.now() > end ? done() : setTimeout(look, 20);
  look(); })"""
#: Everything that somebody can do with every text: all axes, a brush of each, all words, two
#: variants, the button, the CSV.
USED = [
    WAIT,
    CAUGHT,
    "document.querySelectorAll('details').forEach(d => { d.open = true; })",
    "(async () => { const sleep = () => "
    + TYPED
    + """;
      const all = s => [...document.querySelectorAll(s)];
      for (const box of all(".choices input")) if (!box.checked) box.click();
      await sleep();
      for (const c of all("#histograms canvas")) { for (const shiftKey of [false, true])
          c.dispatchEvent(new KeyboardEvent("keydown",
            {key: shiftKey ? "ArrowLeft" : "ArrowRight", shiftKey, bubbles: true}));
        await sleep(); }
      for (const name of ["Constraints met", "Show all"])
        { all("button").find(b => b.innerText === name).click(); await sleep(); }
      for (const s of all("select")) for (const o of s.options)
        { s.value = o.value; s.dispatchEvent(new Event("change")); await sleep(); }
      all("button").find(b => b.innerText === "Show all").click();
      await sleep();
      all("#list tbody button").slice(0, 2).forEach(b => b.click());
      for (const c of all("canvas")) { c.focus();
        for (const key of ["ArrowRight", "ArrowUp", "Enter", ">"])
          c.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true})); }
      all("button").find(b => b.innerText === "Save as CSV").click();
      await sleep();
    })()""",
    WAIT,
    SHOWN,
    "[document.querySelectorAll('article svg.moving text').length, window.kept]",
    "document.querySelectorAll('img, iframe, object, embed').length",
    "document.scripts.length",
]


def unharmed(seen, title):
    """Nothing ran and nothing threw, and what is there is text."""
    assert seen.complaints == []
    assert seen.facts == title
    (names, csv), loaded, scripts = seen.told[-3:]
    assert names > 6
    assert loaded == 0
    assert scripts == 4  # the page's data, and three of ours
    assert csv.count("\n") > 10
    # What a spreadsheet would compute is text there.
    assert not re.search(r"(?m)(^|,)\"?[=+@]", csv)
    return csv


def test_hostile_texts_do_not_run(chromium, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(hostile())
    seen = chromium.show(file, width=900, scheme="light", script="document.title", deeds=USED)
    csv = unharmed(seen, HOSTILE)
    assert seen.requests == [file.as_uri()]
    assert "'=1+1" in csv
    # An address that somebody was sent.
    address = file.as_uri() + "#where=" + HOSTILE + "&axes=[1]&x=constructor&by=__proto__&a=x"
    seen = chromium.show(address, width=900, scheme="light", script="document.title", deeds=[WAIT])
    assert seen.facts == HOSTILE
    assert seen.complaints == []


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    return hostile_store(tmp_path_factory.mktemp("attacked"))


@pytest.mark.parametrize("served", [False, True])
def test_a_hostile_store_does_nothing(chromium, attacked, tmp_path, served):
    """A store that somebody was sent, as a file and served."""
    server = None
    if served:
        server = Server(attacked)
        threading.Thread(target=server.run, daemon=True).start()
        address = server.address
    else:
        write(attacked, tmp_path / "page.html")
        address = (tmp_path / "page.html").as_uri()
    try:
        seen = chromium.show(
            address, width=900, scheme="dark", script="document.title", deeds=USED
        )
    finally:
        if server is not None:
            server.close()
    unharmed(seen, HOSTILE)
    assert {one.split("data?")[0] for one in seen.requests} == {address}
