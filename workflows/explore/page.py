"""The explorer: a page that loads nothing, with every number of a store."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from basepar_core.errors import BaseparError
from basepar_core.texts import naming, plural, shell
from sweeps.store import Location, as_damage
from workflows import moving, pages
from workflows.report import Facts, gather

from . import columns
from . import front as fronts

#: Bytes of a page at most: what mail and browsers take without complaint.
MOST = 25_000_000
#: Bytes of them for what the page says about itself, with the names of what is left out; and
#: how many of these it names, each with so many letters at most.
SAID, LISTED, LETTERS = 20_000, 20, 80
#: The page's scripts, in order.
_SCRIPTS = (
    "data.js",
    "conditions.js",
    "selection.js",
    "front.js",
    "canvas.js",
    "parallel.js",
    "scatter.js",
    "histograms.js",
    "list.js",
    "variants.js",
    "address.js",
    "explorer.js",
    "follow.js",
    "start.js",
)
_BODY = Markup(
    '<header><h1>{}</h1><p class="subject" id="subject">{}</p></header>'
    '<main id="explorer"></main><noscript><p>This page needs scripts.</p></noscript>{}{}'
)


def write(store: Location, output: Path) -> dict[str, Any]:
    """Write the explorer of a store.

    Parameters
    ----------
    store
        Of a sweep or a study, finished or not.
    output
        The page.

    Returns
    -------
    What `basepar explore --json` prints.

    Raises
    ------
    StoreError
        The store is missing, damaged, or not of a sweep.
    """
    with as_damage("account of itself"):
        found = gather(store, whole=True)
        made = document(found, store)
    text = page(*heading(found), made)
    with naming(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    return {
        "explorer": str(output),
        "store": str(store),
        "total": found.total,
        "shown": made["rows"],
        "columns": [one["title"] for one in made["columns"]],
        "front": len(made["front"]),
        "left_out": made["left_out"],
        "moves": made["kit"] is not None,
        "bytes": len(text.encode()),
    }


def heading(found: Facts) -> tuple[str, str]:
    """The title of a store's page, and the version of the program that computed it."""
    return str(found.status["title"]), found.status["versions"].get("basepar", "")


def page(title: str, version: str, document: dict[str, Any]) -> str:
    """The page of a document, as `document` makes it; with `follow` in it one that is served."""
    return assembled(title, version, document["said"], document, "follow" in document)


def assembled(title: str, version: str, said: str, document: Any, follows: bool = False) -> str:
    """The page, of a document or of its JSON as `pages.data` takes it."""
    scripts = [moving.player(), moving.solver(), script()]
    style = pages.text_beside("workflows.moving", "player.css")
    style += pages.text_beside(__package__, "explore.css")
    title = title[:1].upper() + title[1:]
    data, run = pages.data("data", document), Markup("").join(map(pages.script, scripts))
    body = _BODY.format(title, said, data, run)
    return pages.page(version, title, style, body, scripts, asks=follows)


def script() -> str:
    """The explorer's own script."""
    return "\n".join(pages.text_beside(__package__, name) for name in _SCRIPTS)


def document(found: Facts, store: Location) -> dict[str, Any]:
    """What the page shows of a store."""
    made = columns.columns(found)
    front, goals = fronts.front(found, made)
    needed = np.concatenate([fronts.best(found), front]).astype(int)
    rows = fronts.sample(found.variants.size, needed)
    number = columns.Column("variant", "", found.variants, "number", 0, "variant", in_files=False)
    shown = (replace(one, values=one.values[rows]) for one in (number, *made))
    head, *numbers = columns.named((*shown, *columns.others(found, rows)))
    first = head.document()  # by which variants are called; it stays in any case
    rest = {
        "rows": int(rows.size),
        "front": np.flatnonzero(np.isin(rows, front)).tolist(),
        "front_of": [one.word for one in goals],
        "constraints": columns.constraints(found),
        "constants": columns.constants(found),
        "units": columns.units(),
        "command": f"basepar animate --variant {shell(str(store))}",
    }
    frame = page(*heading(found), {**rest, "said": "", "columns": [first]})
    room = MOST - SAID - len(frame.encode())
    # In the order of need: what moves and what words say are small beside the numbers.
    kits = [{"title": "moving pictures", "kit": kit}] if (kit := _kit(found)) else []
    words = columns.states(found, rows)
    parts, left = columns.fitting((*kits, *words, *(one.document() for one in numbers)), room)
    return {
        **rest,
        "said": _said(found, store, rows.size, left),
        "left_out": left,
        "columns": [first, *(one for one in parts if "word" in one)],
        "states": [one for one in parts if "texts" in one],
        "kit": next((one["kit"] for one in parts if "kit" in one), None),
    }


def _said(found: Facts, store: Location, shown: int, left: list[str]) -> str:
    said = f"{plural(found.total, 'variant')} of {store.name}"
    if shown < found.total:
        said += (
            f"; {shown:,} of them are shown, picked at random (seed {fronts.SEED}), the best by "
            "each metric and the front first of all"
        )
    if left:
        names = ", ".join(name[:LETTERS] for name in left[:LISTED])
        more = f" and {len(left) - LISTED} more" * (len(left) > LISTED)
        said += (
            f". Left out, since the whole page may have {MOST / 1e6:g} MB: {names}{more}; "
            "the store has them"
        )
    return f"{said}."


def _kit(found: Facts) -> dict[str, Any] | None:
    """What films variants in the page; None where the mechanism states no motion."""
    if found.model is None:
        return None
    try:
        return moving.kit(found.model)
    except BaseparError:
        return None
