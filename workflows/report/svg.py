"""Matplotlib's figures as inline SVG that follows light, dark and print.

Matplotlib draws; here its colours become the page's variables, its text becomes text in the
page's font, ids that nothing refers to go, and the rest get a prefix of their own. What plots
say beyond lines travels in Matplotlib's `gid`: see `styled` and `saying`.
"""

import hashlib
import io
import re
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from basepar_core.texts import plot, visible
from workflows.drawing import COLOURS, INK

from .mathml import letter_and_index

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
#: Colours as they are drawn, and the page's variables that they become.
PEN = {
    "ink": INK.lower(),
    "card": "#ffffff",
    "line": "#dddddd",
    "muted": "#55616e",
    "accent": "#0b5fad",
    "best": "#00734f",
    "worst": "#b3420a",
}
_THEMED = {
    **{colour: f"var(--{name})" for name, colour in PEN.items()},
    **{
        "#bbbbbb": "var(--line)",
        "#e6e6e6": "var(--line)",
        "#f3d9d9": "var(--note)",
        "#999999": "var(--muted)",
        "#666666": "var(--muted)",
    },  # of drawings
    **{colour.lower(): f"var(--body-{k})" for k, colour in enumerate(COLOURS, start=1)},
}
_STYLED, _SAYING = "class:", "says:"
# Begin and end of a symbol in a text: no name has them.
_OPEN, _CLOSE = "⟦", "⟧"


def styled(*words: str) -> str:
    """The `gid` of something that has classes of the stylesheet."""
    return _STYLED + " ".join(words)


def saying(text: str) -> str:
    """The `gid` of something that says a text on hovering."""
    return _SAYING + _unmarked(text)


def indexed(name: str) -> str:
    """A symbol within a plot's text: `lx1` with its index lowered, as the formulas have it."""
    return Marked(f"{_OPEN}{plain(name)}{_CLOSE}")


class Marked(str):
    """A text of a plot that has our marks; in any other they would be somebody else's."""


def plain(text: str) -> str:
    """A text of a plot, as it is."""
    return text if isinstance(text, Marked) else plot(_bracketed(text))


def _bracketed(text: str) -> str:
    return text.replace(_OPEN, "[").replace(_CLOSE, "]")


def _unmarked(text: str) -> str:
    """A text for an attribute: XML has no control characters, and our marks are for texts."""
    return visible(_bracketed(text))


def embedded(figure: Any, label: str, style: str, width: float | None = None) -> Markup:
    """A figure as an element of the page.

    Parameters
    ----------
    figure
        Matplotlib's.
    label
        What a screen reader says.
    style
        Classes.
    width
        CSS pixels that it takes at most; None: as wide as there is room. Then it is cut to
        what is drawn; else it keeps its own size.
    """
    text, label = _text(figure, tight=width is None), _unmarked(label)
    root = ElementTree.fromstring(text)
    for parent in list(root.iter()):
        for child in list(parent):
            # Its stylesheet would style the whole page.
            if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                parent.remove(child)
    used = set(re.findall(r"(?:url\(|href=\")#([^)\"]+)", text))
    prefix = hashlib.sha256((label + text).encode()).hexdigest()[:8] + "-"
    for element in list(root.iter()):
        _rewrite(element, prefix, used)
    across, down = (float(part) for part in root.attrib["viewBox"].split()[2:])
    root.attrib.clear()
    root.attrib |= {
        "class": style,
        "role": "img",
        "aria-label": label,
        "viewBox": f"0 0 {across:g} {down:g}",
        **({} if width is None else {"style": f"max-width:{width:g}px"}),
    }
    # HTML has the elements of SVG without namespaces.
    found = ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)
    return Markup(re.sub(f"{_OPEN}([^<{_OPEN}{_CLOSE}]*){_CLOSE}", _lowered, found))


def _text(figure: Any, tight: bool) -> str:
    import matplotlib

    file = io.StringIO()
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "report"}
    with matplotlib.rc_context(settings):
        figure.savefig(
            file,
            format="svg",
            transparent=True,
            **({"bbox_inches": "tight", "pad_inches": 0.05} if tight else {}),
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    return file.getvalue()


def _rewrite(element: ElementTree.Element, prefix: str, used: set[str]) -> None:
    element.tag = element.tag.removeprefix(_SVG).removeprefix("svg:")
    found = element.attrib
    name = found.pop("id", "")
    if name.startswith(_STYLED):
        found["class"] = name.removeprefix(_STYLED)
    elif name.startswith(_SAYING):
        title = ElementTree.Element("title")
        title.text = name.removeprefix(_SAYING)
        element.insert(0, title)
    elif name in used:
        found["id"] = prefix + name
    if _LINK in found:
        found["href"] = found.pop(_LINK).replace("#", f"#{prefix}")
    for name in ("clip-path", "style"):
        if name in found:
            found[name] = found[name].replace("url(#", f"url(#{prefix}")
    if "style" in found:
        found["style"] = _themed(found["style"])
    for name in ("d", "x", "y", "transform"):
        if name in found:
            found[name] = " ".join(re.sub(r"\d+\.\d+", _rounded, found[name]).split())


def _themed(style: str) -> str:
    style = re.sub(r"font-family:[^;]*;?", "", style)
    style = re.sub(r"font:\s*(?:(\d+) )?([\d.]+px)[^;]*", _font, style)
    return re.sub(r"#[0-9a-f]{6}", lambda hit: _THEMED.get(hit.group(), "var(--ink)"), style)


def _font(hit: re.Match[str]) -> str:
    weight = f"font-weight: {hit[1]}; " if hit[1] else ""
    return f"{weight}font-size: {hit[2]}"


def _rounded(hit: re.Match[str]) -> str:
    return f"{float(hit.group()):.2f}".rstrip("0").rstrip(".")


def _lowered(hit: re.Match[str]) -> str:
    # The text is escaped already; a name keeps its escapes in one piece.
    letter, index = letter_and_index(hit[1]) if hit[1].isidentifier() else (hit[1], "")
    shown = f'<tspan class="sym">{letter}</tspan>'
    # The last, empty span lifts what follows back onto the line.
    low = f'<tspan dy="3" class="index">{index}</tspan><tspan dy="-3">\u200b</tspan>'
    return shown + low if index else shown
