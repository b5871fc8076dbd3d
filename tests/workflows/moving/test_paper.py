"""Pages on paper, without colour, and as videos: measured from the files themselves."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics import prepare
from tests.workflows import browser
from tests.workflows.explore.made import at_random
from tests.workflows.explore.test_explorer import WAIT
from workflows import moving
from workflows.cli.main import main

pytestmark = pytest.mark.slow
on_paper = pytest.mark.skipif(
    browser.executable() is None or shutil.which("pdftotext") is None,
    reason="no Chromium or no pdftotext on the PATH (Debian: chromium, poppler-utils)",
)
#: Words that the page shows in print, one by one.
SHOWN = """[...document.querySelectorAll("h1,h2,h3,p,th,td,text,figcaption,strong,small")]
  .filter(e => e.checkVisibility() && !e.closest(".unseen")
    && ![...e.children].some(c => c.checkVisibility()))
  .flatMap(e => e.textContent.split(/\\s+/)).filter(w => /^[\\w.]{2,}$/.test(w))"""


@pytest.fixture(scope="module")
def chromium():
    with browser.browser() as running:
        yield running


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    made = {name: folder / f"{name}.html" for name in ("film", "onedof", "explorer")}
    assert main(["animate", "stephenson-iii", "-o", str(made["film"])]) == 0
    assert main(["onedof", "dwell", "--speed", "10", "-o", str(made["onedof"])]) == 0
    made["explorer"].write_text(at_random(300)[1])
    return made


def words_of(pdf: bytes, file: Path) -> list[tuple[str, list[float], list[float]]]:
    """Words on paper: text, box and page, points."""
    file.write_bytes(pdf)
    text = subprocess.run(
        ["pdftotext", "-bbox", file, "-"], check=True, capture_output=True, text=True
    ).stdout
    found, page = [], [0.0, 0.0]
    for line in text.splitlines():
        numbers = [
            float(x) for x in re.findall(r'(?:width|height|[xy]M(?:in|ax))="([^"]+)"', line)
        ]
        if "<page " in line:
            page = numbers
        elif match := re.search(r">(.*)</word>", line):
            found.append((match[1], numbers, page))
    return found


@on_paper
@pytest.mark.parametrize("name", ["film", "onedof", "explorer"])
def test_everything_is_on_paper_and_nothing_is_cut(chromium, pages, tmp_path, name):
    deeds = [WAIT] if name == "explorer" else []
    deeds += [
        ("Emulation.setEmulatedMedia", {"media": "print", "features": []}),
        "new Promise(done => setTimeout(done, 300))",
        SHOWN,
    ]
    seen = chromium.show(pages[name], width=1000, scheme="dark", deeds=deeds, paper=True)
    found = words_of(seen.paper, tmp_path / "page.pdf")
    printed = " ".join(text for text, _, _ in found)
    assert len(seen.told[-1]) > 8
    missing = [word for word in seen.told[-1] if word not in printed]
    assert missing == []
    for text, (left, top, right, bottom), (width, height) in found:
        # A4, and what no printer reaches: 4 mm at every side.
        assert (width, height) == pytest.approx((595, 842), abs=1)
        assert left >= 11, text
        assert right <= width - 11, text
        assert top >= 11, text
        assert bottom <= height - 11, text
    # On white, whatever the screen's colours: the margins have no ink at all.
    prefix = tmp_path / "sheet"
    subprocess.run(["pdftoppm", "-r", "40", "-gray", tmp_path / "page.pdf", prefix], check=True)
    for sheet in tmp_path.glob("sheet*"):
        pixels = _grey(sheet.read_bytes())
        edge = round(4 / 25.4 * 40)
        for part in (pixels[:edge], pixels[-edge:], pixels[:, :edge], pixels[:, -edge:]):
            assert part.min() > 250


def _grey(pgm: bytes) -> np.ndarray:
    head = re.match(rb"P5\s+(\d+)\s+(\d+)\s+255\s", pgm)
    width, height = int(head[1]), int(head[2])
    return np.frombuffer(pgm[head.end() :], np.uint8).reshape(height, width)


#: Of each column between the axes the darkest change against the paper where line A or B is.
INKED = """(() => { const c = document.querySelector("#parallel canvas"), g = c.getContext("2d");
  const ink = getComputedStyle(document.documentElement).getPropertyValue("--worst").trim();
  const rgb = [1, 3, 5].map(k => parseInt(ink.slice(k, k + 2), 16)), w = c.width;
  const data = g.getImageData(0, 0, w, c.height).data, hits = [];
  for (let x = 60; x < w - 60; x++) { let hit = 0;
    for (let y = 0; y < c.height; y++) { const o = 4 * (y * w + x);
      if (data[o + 3] > 200 && rgb.every((v, i) => Math.abs(v - data[o + i]) < 40)) hit = 1; }
    hits.push(hit); }
  return hits; })()"""
CONTRAST = """(() => { const light = text => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number)
    .map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  return [...document.querySelectorAll("canvas, svg.moving")].map(e => {
    const probe = document.createElement("i"); document.body.append(probe);
    probe.style.forcedColorAdjust = "none"; probe.style.color = "var(--ink)";
    const ink = light(getComputedStyle(probe).color); probe.remove();
    return ratio(ink, light(getComputedStyle(e).backgroundColor)); }); })()"""


@on_paper
def test_variants_differ_without_colour(chromium, pages):
    """A is a line, B is dashed: by their pixels between two axes; both by letters below."""
    hits = {}
    for letter in "ab":
        address = f"{pages['explorer'].as_uri()}#axes={json.dumps(['c0', 'c1'])}&{letter}=7"
        told = chromium.show(address, width=900, scheme="light", deeds=[WAIT, INKED]).told
        hits[letter] = np.array(told[-1])
    assert hits["a"].mean() == 1
    # Strokes of 7 and gaps of 5, whose round corners each cost a little.
    assert 0.4 < hits["b"].mean() < 0.85
    assert np.count_nonzero(np.diff(hits["b"])) > 20


@on_paper
@pytest.mark.parametrize("name", ["film", "explorer"])
def test_pictures_keep_their_paper_where_colours_are_forced(chromium, pages, name):
    """Dark ink on somebody's black would not be seen; 4.5 is WCAG's least ratio of text."""
    for scheme in ("light", "dark"):
        seen = chromium.show(
            pages[name],
            width=900,
            scheme=scheme,
            deeds=[WAIT] if name == "explorer" else [],
            features={"forced-colors": "active"},
            script=f"[matchMedia('(forced-colors: active)').matches, {CONTRAST}]",
        )
        forced, ratios = seen.facts
        assert forced
        assert ratios
        assert min(ratios) > 4.5


@on_paper
def test_marks_differ_by_shape(chromium, pages):
    """Paths are dashed, drives are arcs with a tip, joints are outlines."""
    looks = """(() => { const look = s => { const e = document.querySelector(s);
        return e && [getComputedStyle(e).strokeDasharray, e.getAttribute("d").length > 0]; };
      return [".bar path", ".trace", ".effort", ".tip"].map(look); })()"""
    deeds = ["document.querySelector('svg').focus()", *browser.press("t", 84, "t")]
    bar, trace, effort, tip = chromium.show(
        pages["film"], width=900, scheme="light", script=looks, deeds=deeds
    ).facts
    assert bar[0] == effort[0] == "none" != trace[0]
    assert tip[1]


@pytest.mark.skipif(
    shutil.which("ffmpeg") is None or shutil.which("ffprobe") is None,
    reason="no ffmpeg on the PATH (Debian: apt-get install ffmpeg)",
)
def test_a_video_has_the_frames_and_the_time_that_were_asked_for(tmp_path):
    pytest.importorskip("matplotlib")
    file = moving.write(moving.film(prepare(load("four-bar"))), tmp_path / "bar.mp4", 2.0)
    words = ["-v", "error", "-count_frames", "-select_streams", "v:0", "-of", "json"]
    entries = "stream=nb_read_frames,width,height,codec_type:format=duration:format_tags=comment"
    probe = ["ffprobe", *words, "-show_entries", entries, file]
    probed = subprocess.run(probe, check=True, capture_output=True, text=True)
    found = json.loads(probed.stdout)
    (stream,) = found["streams"]
    assert stream["codec_type"] == "video"
    assert int(stream["nb_read_frames"]) == 50  # 25 a second
    assert float(found["format"]["duration"]) == pytest.approx(2.0, abs=0.04)  # one frame
    assert stream["width"] == 720
    assert found["format"]["tags"]["comment"] == "Written by basepar"
    # It moves: the first picture is not the middle one.
    raw = ["ffmpeg", "-v", "error", "-i", file, "-f", "rawvideo", "-pix_fmt", "gray", "-"]
    pixels = np.frombuffer(subprocess.run(raw, check=True, capture_output=True).stdout, np.uint8)
    shots = pixels.reshape(50, int(stream["height"]), 720).astype(int)
    assert (np.abs(shots[0] - shots[25]) > 60).sum() > 500
