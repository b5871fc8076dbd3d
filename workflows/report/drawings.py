"""Drawings of a mechanism as inline SVG that follows light and dark.

Matplotlib draws (`workflows.drawing`); here its colours become the page's variables, its ids get
a prefix of their own, and its text becomes text in the page's font.
"""

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from basepar_core.closure import Model

from ..drawing import COLOURS, INK, figure_of

#: Height of letters, and of those in a crowd; drawings are shown at about their own size.
LETTERS, SMALL_LETTERS = 12, 9
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_PAPER = {
    INK.lower(): "var(--ink)",
    "#ffffff": "var(--card)",
    "#dddddd": "var(--line)",
    "#bbbbbb": "var(--line)",
    "#999999": "var(--muted)",
}
_THEMED = _PAPER | {c.lower(): f"var(--body-{k})" for k, c in enumerate(COLOURS, start=1)}


def drawings(
    model: Model, variants: Sequence[Mapping[str, float]], labels: Sequence[str], prefix: str
) -> list[Markup]:
    """Drawings of variants at one common scale.

    Parameters
    ----------
    variants
        Swept symbols of each, SI; empty for the nominal mechanism.
    labels
        What a screen reader says of each.
    prefix
        Begins every id; differs from call to call.
    """
    if not variants:
        return []
    figures = [figure_of(model, dict(values)) for values in variants]
    axes = [figure.axes[0] for figure in figures]
    left, right = zip(*(ax.get_xlim() for ax in axes), strict=True)
    low, high = zip(*(ax.get_ylim() for ax in axes), strict=True)
    for ax in axes:
        ax.set_title("")  # the caption says it
        for text in ax.texts:
            text.set_bbox(None)  # the stylesheet gives text a halo
            text.set_fontsize(LETTERS if len(model.mechanism.bodies) < 5 else SMALL_LETTERS)
        ax.set_xlim(_trimmed(min(left), max(right)))
        ax.set_ylim(_trimmed(min(low), max(high)))
    return [
        _themed(_svg_text(figure), f"{prefix}{k}-", label)
        for k, (figure, label) in enumerate(zip(figures, labels, strict=True))
    ]


def inline(figure: Any, prefix: str, label: str) -> Markup:
    """Any figure of matplotlib as inline SVG that follows light and dark."""
    return _themed(_svg_text(figure), prefix, label)


def _trimmed(low: float, high: float) -> tuple[float, float]:
    """Limits with less air around than a drawing alone has."""
    air = 0.06 * (high - low)
    return low + air, high - air


def _svg_text(figure: Any) -> str:
    import matplotlib

    file = io.StringIO()
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "report"}
    with matplotlib.rc_context(settings):
        figure.savefig(
            file,
            format="svg",
            transparent=True,
            bbox_inches="tight",
            pad_inches=0.05,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    return file.getvalue()


def _themed(text: str, prefix: str, label: str) -> Markup:
    root = ElementTree.fromstring(text)
    for parent in list(root.iter()):
        for child in list(parent):
            # Its stylesheet would style the whole page.
            if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                parent.remove(child)
    for element in root.iter():
        _rewrite(element, prefix)
    width, height = (float(part) for part in root.attrib["viewBox"].split()[2:])
    root.attrib.clear()
    root.attrib |= {
        "class": "drawing",
        "role": "img",
        "aria-label": label,
        "viewBox": f"0 0 {width:g} {height:g}",
    }
    # HTML has the elements of SVG without namespaces.
    return Markup(ElementTree.tostring(root, encoding="unicode", short_empty_elements=False))


def _rewrite(element: ElementTree.Element, prefix: str) -> None:
    element.tag = element.tag.removeprefix(_SVG).removeprefix("svg:")
    found = element.attrib
    if "id" in found:
        found["id"] = prefix + found["id"]
    if _LINK in found:
        found["href"] = found.pop(_LINK).replace("#", f"#{prefix}")
    for name in ("clip-path", "style"):
        if name in found:
            found[name] = found[name].replace("url(#", f"url(#{prefix}")
    if "style" in found:
        found["style"] = _themed_style(found["style"])
    if "d" in found:
        found["d"] = " ".join(re.sub(r"\d+\.\d+", _rounded, found["d"]).split())


def _themed_style(style: str) -> str:
    style = re.sub(r"font-family:[^;]*;?", "", style)
    style = re.sub(r"font:\s*([\d.]+px)[^;]*", r"font-size: \1", style)
    return re.sub(r"#[0-9a-f]{6}", lambda hit: _THEMED.get(hit.group(), "var(--ink)"), style)


def _rounded(hit: re.Match[str]) -> str:
    return f"{float(hit.group()):.2f}".rstrip("0").rstrip(".")
