"""Reports of batches: an index of all variants, and pages of chosen ones, in one folder."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from basepar_core.errors import UsageError
from sweeps.store import Location, as_damage
from workflows.jobs import check_outputs

from . import fronts, page, results, variant_page, variant_table
from .data import Facts, gather
from .html import LeftOut, joined

#: Pages made when none are asked for: the ends of every metric and the front, at most these.
MOST_PAGES = 24


def write(
    store: Location,
    folder: Location,
    wanted: Sequence[int] | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write `index.html` and a page per chosen variant.

    Parameters
    ----------
    store
        Of a sweep, finished or not.
    folder
        Made if need be.
    wanted
        Variants by number; None: best and worst by each metric, and those on the Pareto front.
    overwrite
        Whether pages that basepar did not make may be written over.

    Raises
    ------
    StoreError
        The store is missing, damaged, or not of a sweep.
    UsageError
        A variant that the store has not, or a folder that cannot be written; a file there that
        basepar did not make.
    """
    with as_damage("account of itself"):
        found = gather(store)
        rows = _chosen(found) if wanted is None else _rows(found, wanted)
        pages = {row: f"variant-{found.variants[row]}.html" for row in rows}
        sections, absent = page.sections(found)
        front = fronts.section(found)
        more = [front] if not isinstance(front, LeftOut) else []
        sections = [sections[0], variant_table.section(found, pages), *more, *sections[1:]]
        absent = [*absent, *([front] if isinstance(front, LeftOut) else [])]
        texts = {
            "index.html": page.text(found, sections, scripts=[variant_table.script()]),
            **{name: _variant(found, row) for row, name in pages.items()},
        }
    check_outputs((folder / name for name in texts), overwrite)
    paths = {folder / name: text for name, text in texts.items()}
    page.put(paths, folder, "folder with --batch")
    return {
        **page.account(found, store, folder / "index.html", texts["index.html"]),
        "pages": {str(found.variants[row]): str(folder / name) for row, name in pages.items()},
        **page.account_of_parts(sections, absent),
    }


def _rows(found: Facts, wanted: Sequence[int]) -> list[int]:
    place = {int(variant): row for row, variant in enumerate(found.variants)}
    missing = [str(k) for k in wanted if k not in place]
    if missing:
        raise UsageError(
            f"There is no variant {', '.join(missing)} among the {found.variants.size:,} that "
            f"were read of {found.store.path}.",
            ["--variants"],
        )
    return [place[k] for k in dict.fromkeys(wanted)]


def _chosen(found: Facts) -> list[int]:
    rows = results.drawn_rows(found)
    good, errors = fronts.ranked(found), found.read("torque_error")
    if good.size and errors is not None:
        rows += [int(good[k]) for k in np.unique(fronts.front(errors[good]).rows)]
    return list(dict.fromkeys(rows))[:MOST_PAGES]


def _variant(found: Facts, row: int) -> str:
    parts = variant_page.sections(found, row)
    links = joined(
        Markup('<li><a href="#{}">{}</a></li>').format(part.anchor, part.title) for part in parts
    )
    header = Markup(
        '<header>\n<p class="kind">{}</p>\n<h1>{}</h1>\n'
        '<nav aria-label="Contents"><ol><li><a href="index.html">All variants</a></li>{}</ol>'
        "</nav>\n</header>"
    ).format(page.kind_of(found), variant_page.title_of(found, row), links)
    return page.text(found, parts, header=header, title=variant_page.title_of(found, row))
