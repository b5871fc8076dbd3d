"""A film as an SVG drawing that moves by itself (SMIL): no script, light and dark."""

import numpy as np
from markupsafe import Markup

from workflows import pages

from .film import Film
from .paper import Sign, Stroke, picture

#: Outlines of marks, and of what a joint stands on, about their places, in points.
SIGNS = {
    "o": "M5 0A5 5 0 1 1-5 0A5 5 0 1 1 5 0Z",
    "s": "M-11-7H11V7H-11Z",
    "h": "M6 0L3 5.2H-3L-6 0L-3-5.2H3Z",
    "D": "M6 0L0 6L-6 0L0-6Z",
    "p": "M0-6L5.7-1.9L3.5 4.9H-3.5L-5.7-1.9Z",
    "X": "M-5-5L5 5M-5 5L5-5",
}
_FOOT = "M0 0L-9 13H9ZM-13 13H13M-10 13l-4 5M-4 13l-4 5M2 13l-4 5M8 13l-4 5"


def animated(film: Film, seconds: float) -> str:
    """The drawing; its whole motion takes so many seconds."""
    made = picture(film)
    style = pages.text_beside("workflows.pages", "palette.css")
    style += pages.text_beside(__package__, "player.css").partition(".moving [hidden]")[0]
    parts = [_foot(one.feet, made.marks, seconds) for one in made.signs if one.feet is not None]
    parts += [_line(one, len(film.bodies), seconds) for one in made.strokes]
    parts += [_sign(one, made.marks, seconds) for one in made.signs]
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:g} {1:g}" width="{0:g}" '
        'height="{1:g}" class="moving" style="--marks:{5:.2f}"><title>{2}</title>'
        "<metadata>Written by basepar</metadata>"
        '<style>{3}</style><marker id="tip" markerUnits="userSpaceOnUse" markerWidth="12" '
        'markerHeight="12" refX="4" refY="5" orient="auto"><path class="tip" d="M11 5L0 0V10Z"/>'
        "</marker>\n{4}\n</svg>\n"
    ).format(
        made.width,
        round(made.height),
        film.mechanism,
        Markup(style),
        Markup("\n").join(parts),
        made.marks,
    )


def _line(one: Stroke, ground: int, seconds: float) -> Markup:
    ink = "var(--ink)" if one.body in (-1, ground) else f"var(--body-{one.body % 8 + 1})"
    ways = [_path(at, one.closed) for at in one.at]
    if one.kind in ("trace", "effort"):
        tip = Markup(' marker-end="url(#tip)"') if one.kind == "effort" else ""
        style = Markup('class="{}"{}').format(one.kind, tip)
        ink = "var(--worst)" if one.kind == "effort" else ink
        return Markup('<path {} stroke="{}" d="{}">{}</path>').format(
            style, ink, ways[0], _moved("d", ways, seconds)
        )
    inside = Markup('<path fill="{}" stroke="{}" d="{}">{}</path>').format(
        ink if one.closed else "none", ink, ways[0], _moved("d", ways, seconds)
    )
    if one.kind == "slot":
        inside += Markup('<path class="inner" d="{}">{}</path>').format(
            ways[0], _moved("d", ways, seconds)
        )
    return Markup('<g class="{}">{}</g>').format(one.kind, inside)


def _path(at: np.ndarray, closed: bool) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in at) + "Z" * closed


def _moved(attribute: str, values: list[str], seconds: float) -> Markup:
    if len(set(values)) == 1:
        return Markup()
    return Markup(
        '<animate attributeName="{}" dur="{:.4g}s" repeatCount="indefinite" values="{}"/>'
    ).format(attribute, seconds, ";".join(values))


def _sign(one: Sign, size: float, seconds: float) -> Markup:
    mark = Markup('<g transform="scale({:.2f})"><path d="{}">{}</path></g>').format(
        size, SIGNS[one.kind], _turned(one.turn, "rotate", seconds)
    )
    words = "mark" + " driven" * one.driven + " filled" * one.filled
    return Markup('<g class="{}">{}</g>').format(words, _carried(mark, one.at, seconds))


def _foot(feet: np.ndarray, size: float, seconds: float) -> Markup:
    stand = Markup('<path class="ground" transform="scale({:.2f})" d="{}"/>').format(size, _FOOT)
    return Markup('<g class="mark">{}</g>').format(_carried(stand, feet, seconds))


def _carried(what: Markup, at: np.ndarray, seconds: float) -> Markup:
    return Markup('<g transform="translate({:.1f} {:.1f})">{}{}</g>').format(
        *at[0], what, _turned(at, "translate", seconds)
    )


def _turned(numbers: np.ndarray, kind: str, seconds: float) -> Markup:
    rows = [" ".join(f"{x:.1f}" for x in np.atleast_1d(row)) for row in numbers]
    if len(set(rows)) == 1 and kind == "translate":
        return Markup()
    return Markup(
        '<animateTransform attributeName="transform" type="{}" dur="{:.4g}s" '
        'repeatCount="indefinite" values="{}"/>'
    ).format(kind, seconds, ";".join(rows))
