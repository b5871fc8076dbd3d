"""The best variant moving: a film that the page plays."""

from markupsafe import Markup

from basepar_core.errors import BaseparError
from workflows import moving, pages

from .data import Facts
from .html import LeftOut, Section, paragraph
from .results import lower, metric_title

_TITLE = "In motion"
#: Begins the players of a page, which wait for Play.
_START = """"use strict";
for (const e of document.querySelectorAll("[data-film]"))
  player(e, JSON.parse(document.getElementById(e.dataset.film).textContent), {paused: true});
"""


def section(found: Facts) -> Section | LeftOut:
    """The best by the first metric that ranks variants; without one, the nominal mechanism."""
    if found.model is None:
        return LeftOut("motion", _TITLE, found.trouble)
    ranked = [one for one in found.metrics if one.is_asked is not False and one.order.size]
    row = int(ranked[0].order[0]) if ranked else None
    values = {} if row is None else found.variant_values(row)
    try:
        film = moving.film(found.model, values)
    except BaseparError as error:
        return LeftOut("motion", _TITLE, error.message)
    said = "At nominal geometry"
    if row is not None:
        end = ranked[0].ends[0].lower()
        by = lower(metric_title(ranked[0]))
        said = f"Variant {found.variants[row]}, the {end} by {by}"
    ends = f" It {film.note}; the motion up to there." if film.note else ""
    note = paragraph(
        f"{said}, over its {film.motion}; arrows are what its drives give.{ends} Play, or step by "
        "the arrow keys."
    )
    return Section("motion", _TITLE, note + figure(film, "film"), scripts())


def figure(film: moving.Film, name: str) -> Markup:
    """A film's place and its data; the page plays it where it has the `scripts`."""
    place = Markup('<div class="film" data-film="{}"></div>').format(name)
    return place + pages.data(name, film.document())


def scripts() -> tuple[str, ...]:
    """What plays films, at the end of a page."""
    return moving.player(), _START
