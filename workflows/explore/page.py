"""The explorer: a page that loads nothing, with every number of a store."""

from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from basepar_core.errors import BaseparError
from basepar_core.texts import naming, plural, shell
from sweeps.spec import as_damage
from workflows import moving, pages
from workflows.report import Facts, gather

from . import columns

_BODY = Markup(
    '<header><h1>{}</h1><p class="subject" id="subject">{}</p></header>'
    '<main id="explorer"></main><noscript><p>This page needs scripts.</p></noscript>{}{}'
)


def write(store: Path, output: Path) -> dict[str, Any]:
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
        document = _document(found, store)
    text = page(str(found.status["title"]), found.status["versions"].get("basepar", ""), document)
    with naming(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    return {
        "explorer": str(output),
        "store": str(store),
        "total": found.total,
        "shown": document["rows"],
        "columns": [one["title"] for one in document["columns"]],
        "front": len(document["front"]),
        "films": sorted(int(number) for number in document["films"]),
        "bytes": len(text.encode()),
    }


def page(title: str, version: str, document: dict[str, Any]) -> str:
    """The page of a document, as `document` makes it."""
    scripts = [pages.text_beside("workflows.moving", "player.js")]
    scripts += [pages.text_beside(__package__, one) for one in ("conditions.js", "explore.js")]
    style = pages.text_beside("workflows.moving", "player.css")
    style += pages.text_beside(__package__, "explore.css")
    title = title[:1].upper() + title[1:]
    data, run = pages.data("data", document), Markup("").join(map(pages.script, scripts))
    body = _BODY.format(title, document["said"], data, run)
    return pages.page(version, title, style, body, scripts)


def _document(found: Facts, store: Path) -> dict[str, Any]:
    made = columns.columns(found)
    front, best = columns.front(found, made), columns.best(found)
    rows = columns.sample(found, np.unique(np.concatenate([front, best])).astype(int))
    said = f"{plural(found.total, 'variant')} of {store.name}"
    if rows.size < found.total:
        said += (
            f"; {rows.size:,} of them are shown, picked at random (seed {columns.SEED}), the best "
            "by each metric and the front always among them"
        )
    number = columns.Column("variant", "", found.variants, "number", 0, "variant")
    filmed = list(dict.fromkeys([*best.tolist(), *front.tolist()]))[: columns.FILMED]
    name = found.mechanism.name if found.mechanism else "MECH"
    return {
        "said": f"{said}.",
        "rows": int(rows.size),
        "columns": [one.document(rows) for one in (number, *made)],
        "states": columns.states(found, rows),
        "front": np.searchsorted(rows, np.sort(front)).tolist(),
        "units": columns.units(),
        "command": [f"basepar animate {shell(name)} --variant", shell(str(store))],
        "films": _films(found, filmed),
    }


def _films(found: Facts, rows: list[int]) -> dict[str, Any]:
    """Moving pictures of some variants, by number; none where they cannot be assembled here."""
    made: dict[str, Any] = {}
    for row in rows if found.model is not None else []:
        assert found.model is not None
        try:
            film = moving.film(found.model, found.variant_values(row))
        except BaseparError:
            continue
        made[str(found.variants[row])] = film.document()
    return made
