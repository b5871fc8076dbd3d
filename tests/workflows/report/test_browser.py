"""The report as Chromium shows it: light and dark, at a desk, on a phone, on paper."""

import io
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.workflows import browser
from tests.workflows.report.test_page import SWEEP, sweep

plt = pytest.importorskip("matplotlib")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        browser.executable() is None,
        reason="no Chromium on the PATH (Debian: apt-get install chromium)",
    ),
]

#: What a designer would look for, measured: things beyond the page's edge, text cut off by its
#: plot, labels of one plot on top of each other, contrast of text.
MEASURE = """(() => {
  const width = document.documentElement.clientWidth, beyond = [], cut = [], covered = [];
  const inside = ".frame, .conditions, pre, .narrow, .wide";
  for (const e of document.querySelectorAll("body *")) {
    const box = e.getBoundingClientRect();
    if (box.width && box.right > width + 1 && !e.closest(inside))
      beyond.push(e.tagName + "." + e.className);
  }
  for (const plot of document.querySelectorAll("svg.plot")) {
    const frame = plot.getBoundingClientRect();
    if (!frame.width) continue;
    const texts = [...plot.querySelectorAll("text")].map(t => [t, t.getBoundingClientRect()]);
    for (const [text, box] of texts)
      if (box.left < frame.left - 1.5 || box.right > frame.right + 1.5
          || box.bottom > frame.bottom + 1.5 || box.top < frame.top - 1.5)
        cut.push(plot.getAttribute("aria-label") + ": " + text.textContent);
    texts.forEach(([one, a], k) => texts.slice(k + 1).forEach(([other, b]) => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 4) covered.push(one.textContent + " / " + other.textContent);
    }));
  }
  const colour = (e, name) => getComputedStyle(e)[name].match(/[\\d.]+/g).slice(0, 3).map(Number);
  const text = s => { const e = document.querySelector(s); return e && colour(e, "color"); };
  const shown = e => e.getBoundingClientRect().height > 0;
  return {
    twice: [...document.querySelectorAll("[id]")].map(e => e.id).filter(
      (id, k, all) => all.indexOf(id) < k),
    width, scroll: document.documentElement.scrollWidth, beyond, cut, covered,
    paper: colour(document.body, "backgroundColor"),
    card: colour(document.querySelector("section"), "backgroundColor"),
    texts: {body: text("td"), head: text("thead th"), caption: text("figcaption"),
            link: text("a")},
    inks: [...new Set([...document.querySelectorAll(".plot text")].map(
      e => getComputedStyle(e).fill))].map(
      ink => ink.match(/[\\d.]+/g).slice(0, 3).map(Number)),
    fractions: [...document.querySelectorAll("mfrac")].filter(shown).map(fraction => {
      const [above, below] = [...fraction.children].map(part => part.getBoundingClientRect());
      return below.top - above.bottom;
    }),
    wide: [...document.querySelectorAll(".wide")].some(shown),
    narrow: [...document.querySelectorAll(".narrow")].some(shown),
    numbers: [...document.querySelectorAll("td.number")].map(e => getComputedStyle(e).textAlign),
    letters: Math.min(...[...document.querySelectorAll("svg.plot text")].filter(shown).map(
      t => parseFloat(getComputedStyle(t).fontSize) * t.getCTM().a)),
  };
})()"""


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    from workflows.report.page import write

    folder = tmp_path_factory.mktemp("browser")
    store = sweep(folder, SWEEP.format(mechanism="four-bar"))
    write(store, folder / "page.html")
    return folder / "page.html"


@pytest.fixture(scope="module")
def chromium():
    with browser.browser() as running:
        yield running


def contrast(one: list[float], other: list[float]) -> float:
    """Contrast ratio of two colours (WCAG 2.2)."""

    def luminance(colour: list[float]) -> float:
        parts = np.array(colour) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 768, 360])
def test_readable_in_every_size_and_scheme(chromium, page, width, scheme):
    seen = chromium.show(page, width=width, scheme=scheme, script=MEASURE)
    found = seen.facts
    assert seen.complaints == []
    assert seen.requests == [page.as_uri()]
    assert found["scroll"] <= found["width"]
    assert found["beyond"] == []
    assert found["cut"] == []
    assert found["twice"] == []
    assert found["covered"] == []
    assert (found["wide"], found["narrow"]) == ((True, False) if width > 704 else (False, True))
    assert set(found["numbers"]) == {"right"}
    assert (np.mean(found["paper"]) > 128) == (scheme == "light")
    for what, colour in found["texts"].items():
        assert contrast(colour, found["card"]) >= 4.5, what  # AA
    assert len(found["inks"]) >= 2
    for ink in found["inks"]:
        assert contrast(ink, found["card"]) >= 4.5, ink
    # MathML is typeset: numerators stand above their denominators.
    assert len(found["fractions"]) > 4
    assert min(found["fractions"]) > 0
    assert found["letters"] > 8.5  # CSS pixels
    picture = plt.image.imread(io.BytesIO(seen.picture))
    # The corner is paper.
    np.testing.assert_allclose(picture[2, 2, :3] * 255, found["paper"], atol=1)


def test_paper_is_light_whatever_the_screen(chromium, page):
    script = """({paper: getComputedStyle(document.body).backgroundColor,
                  links: getComputedStyle(document.querySelector("nav")).display,
                  beyond: [...document.querySelectorAll("table")].filter(
                      t => t.getBoundingClientRect().right > innerWidth + 1).length,
                  narrow: document.querySelector(".narrow").getBoundingClientRect().height})"""
    # 182 mm of A4 between its margins, in CSS pixels.
    seen = chromium.show(page, width=688, scheme="dark", script=script, media="print")
    assert seen.facts == {"paper": "rgb(255, 255, 255)", "links": "none", "beyond": 0, "narrow": 0}


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no pdftotext (poppler-utils)")
def test_prints_to_pdf(page, tmp_path):
    """What Chromium prints: A4, every section in order, plots with their text as text."""
    made = tmp_path / "page.pdf"
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    profile, output = f"--user-data-dir={tmp_path}/profile", f"--print-to-pdf={made}"
    flags = [*browser.FLAGS[:-1], *as_root, profile, "--no-pdf-header-footer", output]
    subprocess.run(
        [str(browser.executable()), *flags, page.as_uri()],
        check=True,
        capture_output=True,
        timeout=300,
    )
    known = subprocess.run(["pdfinfo", made], capture_output=True, text=True, check=True).stdout
    facts = dict(line.split(":", 1) for line in known.splitlines() if ":" in line)
    across, down = map(float, re.findall(r"[\d.]+", facts["Page size"])[:2])
    assert sorted((round(across), round(down))) in ([595, 842], [612, 792])  # A4, Letter
    text = subprocess.run(
        ["pdftotext", "-layout", made, "-"], capture_output=True, text=True, check=True
    ).stdout
    pages = text.rstrip("\f").split("\f")
    assert len(pages) == int(facts["Pages"])
    # Its ten sections fill a few sheets, and none of them is empty.
    assert 4 <= len(pages) <= 9
    assert all(words.strip() for words in pages)
    titles = [
        "Sweep of four-bar",
        "Outcome",
        "Base parameters",
        "Singular values",
        "Reduction",
        "Best and worst",
        "Metrics and symbols",
        "Provenance",
    ]
    places = [re.search(rf"^\s*{title}\s*$", text, re.MULTILINE) for title in titles]
    assert all(places)
    starts = [place.start() for place in places if place]
    assert starts == sorted(starts)
    for words in ("rank 8", "relative torque error", "parameters left", "variants, %"):
        assert words in text  # of plots
    # Only what is on the sheet: nothing to click.
    assert "Contents" not in text
    assert "The rest of the specification" not in text


def test_the_policy_forbids_scripts_and_requests(chromium, page, tmp_path):
    """Were anything to slip through the escaping, the page itself would stop it."""
    slipped = tmp_path / "slipped.html"
    words = '<script>document.title = "run"</script><img src="http://127.0.0.1:9/x.png" />'
    slipped.write_text(page.read_text().replace("<main>", f"<main>{words}"))
    seen = chromium.show(slipped, width=800, scheme="light", script="document.title")
    assert seen.facts == "Sweep of four-bar"
    assert len([text for text in seen.complaints if "Content Security Policy" in text]) >= 2
