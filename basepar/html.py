"""What notebooks show: a sentence, a drawing and a table."""

import io
from collections.abc import Iterable, Sequence

from markupsafe import escape

from basepar_core.dynamics import Model
from basepar_core.errors import BaseparError

#: Rows of a table that a notebook shows.
ROWS = 60


def page(text: str, model: Model, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """HTML of a value about a mechanism; without a drawing where matplotlib is not installed."""
    return f"<p>{escape(text)}</p>{_drawing(model)}{table(titles, rows)}"


def sentence(text: str) -> str:
    """HTML of a sentence."""
    return f"<p>{escape(text)}</p>"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """HTML of a table, its first `ROWS` rows."""
    listed = list(rows)
    lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in listed[:ROWS]]
    if len(listed) > ROWS:
        lines.append(f'<td colspan="{len(titles)}">… and {len(listed) - ROWS} more</td>')
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _drawing(model: Model) -> str:
    from workflows.drawing import figure_of

    try:
        figure = figure_of(model, paper=(4.8, 3.6))
    except BaseparError:
        return ""
    text = io.StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]
