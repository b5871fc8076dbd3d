"""Drawings measured from their own files: lengths, order, sizes of letters, SVG and PDF."""

import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import basepar_core
from basepar_core.api import load
from basepar_core.dynamics import prepare
from basepar_core.files.mechanism_file import loads
from workflows.drawing.mechanism import draw
from workflows.drawing.painting import COLOURS

pytest.importorskip("matplotlib")

SVG = "{http://www.w3.org/2000/svg}"
FOUR_BAR = Path(basepar_core.__file__).parent / "library" / "four-bar.yaml"


def strokes(path: Path) -> list[tuple[str, dict[str, str], np.ndarray]]:
    """Every path of a drawing in its order: fill or stroke, style, corners in points."""
    found = []
    for one in ElementTree.parse(path).getroot().iter(f"{SVG}path"):
        style = dict(re.findall(r"([\w-]+):\s*([^;]+)", one.get("style", "")))
        numbers = [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", one.get("d", ""))]
        if len(numbers) % 2 == 0:
            found.append((style.get("fill", ""), style, np.array(numbers).reshape(-1, 2)))
    return found


def bars(path: Path) -> tuple[list[float], list[float]]:
    """Lengths and widths of the assembled pose's bars, body by body, and where they begin."""
    made = {}
    for _, style, at in strokes(path):
        colour = style.get("stroke", "").upper()
        if colour in COLOURS and len(at) == 2 and "stroke-opacity" not in style:
            made[colour] = (float(np.linalg.norm(at[1] - at[0])), float(style["stroke-width"]))
    found = [made[colour.upper()] for colour in COLOURS[:3]]
    return [length for length, _ in found], [width for _, width in found]


def scaled(size: float) -> str:
    """The four-bar, so many times as large."""
    text = FOUR_BAR.read_text().replace("rho*", f"{size**-2:.17g}*rho*")

    def larger(match: re.Match[str]) -> str:
        return re.sub(r"-?\d+\.\d+", lambda x: repr(float(x[0]) * size), match[0])

    return re.sub(r"(?m)^  (?:lx|ly|D)\w+: .*$", larger, text)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_bars_are_as_long_as_they_are_at_any_scale(tmp_path, size):
    """Against the lengths of the file; SVG's numbers have six decimals."""
    model = prepare(loads(scaled(size), "bar"))
    lengths, _ = bars(draw(model, tmp_path / "bar.svg"))
    true = np.array([0.3, np.hypot(0.7, 1.1), 1.3])
    np.testing.assert_allclose(np.array(lengths) / lengths[2], true / true[2], rtol=1e-5)
    # And as large on paper as the whole one's.
    whole, _ = bars(draw(prepare(load("four-bar")), tmp_path / "whole.svg"))
    np.testing.assert_allclose(lengths, whole, rtol=1e-4)


@pytest.mark.parametrize("crank", [0.3, 0.06, 0.03])
def test_a_short_bar_is_seen_between_its_marks(tmp_path, crank):
    """What joints stand on is behind; pins at both ends leave some of it."""
    path = draw(prepare(load("four-bar")), tmp_path / "bar.svg", {"lx1": crank})
    lengths, _ = bars(path)
    np.testing.assert_allclose(lengths[0] / lengths[2], crank / 1.3, rtol=1e-4)
    found = strokes(path)
    blue = COLOURS[0].lower()
    order = [style.get("stroke", "").lower() for _, style, _ in found]
    feet = [k for k, (fill, _, _) in enumerate(found) if fill == "#dddddd"]
    assert len(feet) == 2
    assert max(feet) < max(k for k, colour in enumerate(order) if colour == blue)
    # Pins are curves of a radius; the widest extent of the largest is what hides a bar.
    root = ElementTree.parse(path).getroot()
    pins = [one.get("d") for one in root.iter(f"{SVG}path") if " C " in (one.get("d") or "")]
    pins = [re.findall(r"-?\d+\.?\d*", text) for text in pins if text.rstrip().endswith("z")]
    radius = max(max(abs(float(x)) for x in pin) for pin in pins if len(pin) > 20)
    assert radius < 8
    if crank > 0.03:
        assert lengths[0] > 2 * radius


@pytest.mark.parametrize(("name", "tubes"), [("stewart-gough", 6), ("3-rps", 3)])
def test_struts_in_space_are_drawn(tmp_path, name, tubes):
    """Each as a wide pale line under a thin one, and its guide dashed; none is a point."""
    found = strokes(draw(prepare(load(name)), tmp_path / f"{name}.svg"))
    wide = [at for _, style, at in found if style.get("stroke-opacity") == "0.35" and len(at) == 2]
    dashed = [at for _, style, at in found if "stroke-dasharray" in style and len(at) == 2]
    assert len(wide) == tubes
    assert len(dashed) >= tubes
    assert min(np.linalg.norm(at[1] - at[0]) for at in wide) > 20


@pytest.mark.skipif(
    shutil.which("pdftotext") is None, reason="no pdftotext (Debian: poppler-utils)"
)
@pytest.mark.parametrize(
    ("name", "values"),
    [("four-bar", {}), ("four-bar", {"lx1": 0.1}), ("stephenson-iii", {}), ("stewart-gough", {})],
)
def test_names_in_a_pdf_can_be_read(tmp_path, name, values):
    """All in the page, of seven points at least, and none over another."""
    model = prepare(load(name))
    path = draw(model, tmp_path / "drawing.pdf", values)
    text = subprocess.run(
        ["pdftotext", "-bbox", path, "-"], check=True, capture_output=True, text=True
    ).stdout
    (width, height) = map(float, re.search(r'width="([\d.]+)" height="([\d.]+)"', text).groups())
    words = re.findall(
        r'xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">(.*)</word>', text
    )
    said = {word.rstrip(",") for *_, word in words}
    assert {body.name for body in model.mechanism.bodies} <= said
    assert {joint.name for joint in model.mechanism.joints} <= said
    boxes = np.array([[float(x) for x in word[:4]] for word in words])
    assert boxes.min() >= 0
    assert (boxes[:, 2] <= width).all()
    assert (boxes[:, 3] <= height).all()
    assert (boxes[:, 3] - boxes[:, 1]).min() > 7
    if name != "stewart-gough":  # thirteen bodies and eighteen joints do not all find room
        for k, (left, top, right, bottom) in enumerate(boxes):
            for a, b, c, d in boxes[:k]:
                over = min(right, c) - max(left, a), min(bottom, d) - max(top, b)
                # Boxes of letters have air above and below: half of that may be shared.
                assert min(over) < 2, words[k]
