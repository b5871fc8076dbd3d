"""A film as a page that loads nothing, and as a frame of a notebook."""

from collections.abc import Sequence
from importlib.metadata import version

from markupsafe import Markup, escape

from workflows import pages

from .film import Film

#: Dimensions that the page lists.
LISTED = 8
_KEYS = Markup(
    '<p class="keys"><kbd>Space</kbd> plays, <kbd>←</kbd> <kbd>→</kbd> step, <kbd>+</kbd> '
    "<kbd>−</kbd> change the speed, <kbd>F</kbd> drives, <kbd>T</kbd> paths, <kbd>N</kbd> "
    "names.{}</p>"
)
_TURNS = Markup(
    " Drag to turn it (or <kbd>Shift</kbd> and an arrow), pinch or turn the wheel to come nearer."
)


#: Scripts that show a film, and those that make one of any variant.
_PLAYER = ("vectors.js", "scene.js", "parts.js", "labels.js", "controls.js", "player.js")
_SOLVER = ("dimensions.js", "newton.js", "filmed.js")


def player() -> str:
    """The script that shows films: `player(element, film)`."""
    return _joined(_PLAYER)


def solver() -> str:
    """The script that films variants, behind the player's: `filmed(kit)(values)`."""
    return _joined(_SOLVER)


def _joined(names: Sequence[str]) -> str:
    return "\n".join(pages.text_beside(__package__, one) for one in names)


def page(film: Film) -> str:
    """The page."""
    scripts = [player(), pages.text_beside(__package__, "page.js")]
    listed = [f"{name} = {value}" for name, value in film.values.items()]
    subject = ", ".join(listed[:LISTED]) + f" and {len(listed) - LISTED} more" * (
        len(listed) > LISTED
    )
    note = Markup('<p class="note" role="note">It {}; the motion up to there.</p>')
    body = Markup(
        '<main><h1>{}</h1><p class="subject">{}</p>{}<div id="film"></div>{}{}{}{}</main>'
    ).format(
        film.mechanism,
        f"Over its {film.motion}, at {subject}" if subject else f"Over its {film.motion}",
        note.format(film.note) if film.note else "",
        _KEYS.format("" if film.planar else _TURNS),
        pages.data("data", film.document()),
        *(pages.script(text) for text in scripts),
    )
    style = "".join(pages.text_beside(__package__, one) for one in ("page.css", "player.css"))
    return pages.page(version("basepar"), film.mechanism, style, body, scripts)


def frame(film: Film) -> str:
    """The page within another one, as notebooks show it: it reaches nothing of what is around."""
    return (
        '<iframe sandbox="allow-scripts" width="100%" height="640" style="border:0" '
        f'title="{escape(film.mechanism)}, moving" srcdoc="{escape(page(film))}"></iframe>'
    )
