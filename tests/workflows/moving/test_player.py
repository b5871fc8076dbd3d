"""Pages that move, as Chromium shows them: by mouse, finger and key."""

import pytest

from basepar_core.api import load
from basepar_core.dynamics import prepare
from tests.workflows import browser
from workflows import moving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        browser.executable() is None,
        reason="no Chromium on the PATH (Debian: apt-get install chromium)",
    ),
]

#: Where an element is (its middle), and what the page says.
PLACE = """(s => {{ const b = document.querySelector(s).getBoundingClientRect();
  return [b.x + b.width / 2, b.y + b.height / 2]; }})("{}")"""
SAID = """document.querySelector(".said").innerText"""
DRAWN = """[...document.querySelectorAll(".bar path")].map(p => p.getAttribute("d")).join()"""
FIGURES = """(() => ({
  beyond: document.documentElement.scrollWidth - innerWidth,
  outside: [...document.querySelectorAll("svg text")].filter(t => {
    const a = t.getBoundingClientRect(), b = t.ownerSVGElement.getBoundingClientRect();
    return a.left < b.left - 1 || a.right > b.right + 1; }).map(t => t.textContent),
  letters: Math.min(...[...document.querySelectorAll("svg text")].map(
    t => parseFloat(getComputedStyle(t).fontSize) * t.getCTM().a)),
  buttons: Math.min(...[...document.querySelectorAll(".controls button:not([hidden])")].map(
    b => b.getBoundingClientRect().height)),
}))()"""
WAIT = "new Promise(done => setTimeout(done, 300))"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("films")
    made = {}
    for name in ("stephenson-iii", "rsur"):
        film = moving.film(prepare(load(name)))
        made[name] = moving.write(film, folder / f"{name}.html")
    return made


@pytest.fixture(scope="module")
def chromium():
    with browser.browser() as running:
        yield running


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["stephenson-iii", "rsur"])
def test_fits_in_every_size(chromium, pages, name, width, scheme):
    seen = chromium.show(pages[name], width=width, scheme=scheme, script=FIGURES)
    assert seen.complaints == []
    assert seen.requests == [pages[name].as_uri()]
    assert seen.facts["beyond"] <= 0
    assert seen.facts["outside"] == []
    assert seen.facts["letters"] > 8.5  # CSS pixels
    assert seen.facts["buttons"] >= 36


def test_plays_stops_and_steps(chromium, pages):
    """Space stops and plays; arrows step by one sample; the slider's own keys are its own."""
    keys = [
        "document.querySelector('svg').focus()",
        *browser.press(" ", 32, " "),
        SAID,
        WAIT,
        SAID,
        *browser.press("ArrowRight", 39),
        SAID,
        *browser.press("ArrowLeft", 37),
        SAID,
        *browser.press(" ", 32, " "),
        WAIT,
        SAID,
        *browser.press("Home", 36),
        SAID,
    ]
    told = chromium.show(pages["stephenson-iii"], width=800, scheme="light", deeds=keys).told
    _, stopped, _, still, ahead, back, _, playing, start = told
    assert stopped == still
    # Back at the whole frame that was left, where ahead was one more.
    times = [float(text.split()[2]) for text in (ahead, back, playing, start)]
    assert times[0] - times[1] == pytest.approx(1 / 128, abs=2e-3)  # three decimals are shown
    assert playing != back
    assert times[3] == 0


def test_the_button_and_the_slider_work_by_mouse(chromium, pages):
    page = pages["stephenson-iii"]
    places = [PLACE.format(".controls button"), PLACE.format(".controls input[type=range]")]
    button, slider = chromium.show(page, width=800, scheme="light", deeds=places).told
    deeds = [*browser.click(*button), *browser.click(*slider), SAID, DRAWN]
    deeds += [*browser.click(*slider, to=(slider[0] + 60, slider[1])), SAID, DRAWN]
    told = chromium.show(page, width=800, scheme="light", deeds=deeds).told
    assert float(told[0].split()[2]) == pytest.approx(0.5, abs=0.02)  # its middle, of one second
    assert float(told[2].split()[2]) > 0.53
    assert told[1] != told[3]


@pytest.mark.parametrize("how", ["mouse", "finger", "keys"])
def test_spatial_mechanisms_turn(chromium, pages, how):
    page = pages["rsur"]
    stop = ["document.querySelector('svg').focus()", *browser.press("Home", 36)]
    x, y = chromium.show(page, width=800, scheme="light", deeds=[PLACE.format("svg")]).told[0]
    deeds = {
        "mouse": browser.click(x, y, to=(x + 120, y + 40)),
        "finger": browser.swipe(x, y, (x + 120, y + 40)),
        "keys": browser.press("ArrowRight", 39, shift=True) * 3,
    }[how]
    told = chromium.show(
        page, width=800, scheme="light", deeds=[*stop, DRAWN, SAID, *deeds, DRAWN, SAID]
    ).told
    assert told[1] != told[3]
    assert told[2] == told[4]  # turned, and no other time


def test_marks_hide_no_short_bar(chromium, tmp_path):
    """A crank of 3 % of the frame, pinned to the ground: marks shrink, and stand behind it."""
    film = moving.film(prepare(load("stephenson-iii")), {"l1": 0.012})
    page = moving.write(film, tmp_path / "short.html")
    found = """(() => {
      const all = q => [...document.querySelectorAll(q)], order = all("svg *");
      const bar = all(".bar path")[0];
      const [a, b, c, d] = bar.getAttribute("d").slice(1).split(/[L ]/).map(Number);
      const wide = e => e.getBoundingClientRect().width;
      return {
        long: Math.hypot(c - a, d - b) * bar.getCTM().a,
        mark: Math.min(...all(".mark:not(.filled) path:not(.ground)").map(wide)),
        behind: all(".ground").every(e => order.indexOf(e) < order.indexOf(bar)),
      };
    })()"""
    seen = chromium.show(page, width=1280, scheme="light", script=found)
    assert seen.facts["behind"]
    assert seen.facts["mark"] < seen.facts["long"]


def test_paths_of_joints_and_what_nobody_sees(chromium, pages):
    """T shows paths; scrolled out of sight nothing is drawn, back in sight it goes on."""
    drawn = "[...document.querySelectorAll('.trace:not([hidden])')].length"
    deeds = ["document.querySelector('svg').focus()", drawn, *browser.press("t", 84, "t"), drawn]
    far = "document.body.style.paddingTop = '9000px'; scrollTo(0, {})"
    deeds += [far.format(0), WAIT, WAIT, SAID, WAIT, SAID, far.format(9000), WAIT, WAIT, SAID]
    told = chromium.show(pages["stephenson-iii"], width=900, scheme="light", deeds=deeds).told
    assert told[1:3] == [0, 4]  # B, C, E and F move
    assert told[6] == told[8]
    assert told[8] != told[12]


def test_hostile_names_do_not_run(chromium, tmp_path):
    film = moving.film(prepare(load("four-bar")))
    run = "document.title='ran'"
    words = f'</script><script>{run}</script><img src=x onerror="{run}">'
    hostile = {"mechanism": words, "bodies": (words,) * 3, "note": words, "values": {words: words}}
    page = moving.write(moving.Film(**{**vars(film), **hostile}), tmp_path / "film.html")
    frame = tmp_path / "notebook.html"
    frame.write_text(moving.frame(moving.Film(**{**vars(film), **hostile})))
    seen = chromium.show(page, width=800, scheme="light", script="document.title")
    assert seen.facts == words
    assert seen.complaints == []
    assert seen.requests == [page.as_uri()]
    seen = chromium.show(frame, width=800, scheme="light", script="document.title", deeds=[WAIT])
    assert "ran" not in seen.facts
    assert seen.requests[0] == frame.as_uri()
    assert all(one.startswith(("file:", "about:srcdoc")) for one in seen.requests)
