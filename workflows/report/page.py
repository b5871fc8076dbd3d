"""A page: one HTML file that loads nothing, and runs nothing but what its policy names.

Built with `markupsafe`, so that names from files are text wherever they stand; a content
security policy in the page forbids every request and every script besides.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from basepar_core.errors import BaseparError, UsageError
from basepar_core.texts import plural
from sweeps.store import Location, as_damage, put_text
from workflows.studies import WORDS, kind_of_store, stale, study_beside

from . import designs, html, model, motion, overview, results, study
from .data import Facts, gather
from .html import LeftOut, Section


def write(store: Location, output: Location) -> dict[str, Any]:
    """Write the report of a store.

    Returns
    -------
    What `basepar report --json` prints.

    Raises
    ------
    StoreError
        The store is missing, damaged, or not of a sweep. An unfinished one is reported.
    UsageError
        The file cannot be written.
    """
    with as_damage("account of itself"):
        found = gather(store)
        made, absent = sections(found)
        whole = text(found, made)
    put({output: whole}, output, "file with -o")
    return {
        **account(found, store, output, whole),
        "precise": found.status["precise"],
        **account_of_parts(made, absent),
    }


def put(texts: Mapping[Location, str], place: Location, other: str) -> None:
    """Write pages, in folders that are made; UsageError names the `place`, and what to name."""
    try:
        for path, text in texts.items():
            put_text(path, text)
    except OSError as error:
        raise UsageError(
            f"The report cannot be written to {place}: {error.strerror}. Name another {other}.",
            [str(place)],
        ) from error


def account(found: Facts, store: Location, path: Location, text: str) -> dict[str, Any]:
    """What `basepar report --json` says first of a page and its store."""
    return {
        "report": str(path),
        "bytes": len(text.encode()),
        "store": str(store),
        "title": found.status["title"],
        "total": found.total,
        "read": int(found.variants.size),
        "done": found.status["done"],
        "counts": found.status["counts"],
    }


def account_of_parts(made: Sequence[Section], absent: Sequence[LeftOut]) -> dict[str, Any]:
    """What it says last: the parts of the page."""
    return {
        "sections": [section.anchor for section in made],
        "left_out": {part.anchor: part.reason for part in absent},
    }


def sections(found: Facts) -> tuple[list[Section], list[LeftOut]]:
    """The parts of a store's page, and those that it cannot have."""
    nominal, variants, trouble = _drawings(found)
    studied = study.section(found)
    made = [
        *([studied] if studied else []),
        overview.swept(found, nominal),
        overview.outcome(found),
        model.base_parameters(found),
        model.singular_values(found),
        results.reduction(found),
        _best(found, variants),
        motion.section(found),
        results.scatters(found),
        *([LeftOut("drawings", "Drawings", trouble)] if trouble else []),
    ]
    absent = [part for part in made if isinstance(part, LeftOut)]
    there = [part for part in made if isinstance(part, Section)]
    last = overview.left_out(absent)
    return [*there, *([last] if last else []), overview.provenance(found)], absent


def _best(found: Facts, variants: dict[int, Markup]) -> Section | LeftOut:
    if found.unjudged:
        return LeftOut("extremes", "Best variants", found.unjudged)
    if found.judged is not None:
        return designs.best(found, found.judged, variants)
    return results.extremes(found, variants)


def _drawings(found: Facts) -> tuple[Markup | None, dict[int, Markup], str]:
    """The nominal drawing, those of variants by row, and why there are none."""
    if found.model is None:
        return None, {}, found.trouble
    from .drawings import drawings

    name = found.model.mechanism.name
    rows = results.drawn_rows(found)
    labels = [f"Drawing of {name}, variant {found.variants[row]}" for row in rows]
    values = [found.variant_values(row) for row in rows]
    try:
        nominal = drawings(found.model, [{}], [f"Drawing of {name} at nominal geometry"])[0]
        return (
            nominal,
            dict(zip(rows, drawings(found.model, values, labels), strict=True)),
            "",
        )
    except BaseparError as error:
        return None, {}, error.message


def text(
    found: Facts,
    parts: list[Section],
    *,
    header: Markup | None = None,
    title: str = "",
    scripts: Sequence[str] = (),
) -> str:
    """A whole page of some parts.

    Parameters
    ----------
    header, title
        None and "": the store's.
    scripts
        What runs besides those of the parts; they have their places.
    """
    title = title or str(found.status["title"])
    shown = title[:1].upper() + title[1:]
    head = header or html.header(kind_of(found), shown, _notes(found), _tiles(found), parts)
    version = found.status["versions"].get("basepar", "")
    return html.page(version, shown, head, parts, foot=_footer(found), scripts=scripts)


def kind_of(found: Facts) -> str:
    """What this report is."""
    kind = kind_of_store(found.spec["space"].get("by", {}))
    if kind:
        return f"{WORDS[kind][:1].upper()}{WORDS[kind][1:]} of a study"
    return "Design study" if found.kind == "study" else "Model reduction report"


def _tiles(found: Facts) -> list[tuple[str, Any, str]]:
    known = results.tiles(found)
    return [*designs.tiles(found, found.judged), *known] if found.judged else known


def _notes(found: Facts) -> list[str]:
    """Notes on top where the sweep is not finished, or only a part was read."""
    counts, notes = found.status["counts"], []
    if not found.status["done"]:
        pending = counts.get("pending", 0)
        waiting = found.total - found.status["settled"] - pending
        is_are = "is" if pending == 1 else "are"
        left = [f"{pending:,} of {plural(found.total, 'variant')} {is_are} pending"] * bool(
            pending
        )
        left += [f"{waiting:,} await variable precision"] if waiting else []
        notes.append(
            f"This {found.kind} is not finished: {' and '.join(left)}. The numbers below are of "
            f"what is there; run the same {found.kind} again to go on."
        )
    kind = kind_of_store(found.spec["space"].get("by", {}))
    lies = found.store.path
    if kind and (study_path := study_beside(lies, kind)):
        notes.append(
            "What they are worth, and whether they meet the constraints, is in the report of the "
            f"study: basepar report {study_path}"
        )
    if found.unjudged:
        notes.append(f"Variants cannot be judged, so none is the best: {found.unjudged}")
    if found.judged is not None:
        if not found.judged.verdict.feasible.any():
            notes.append("No variant of this study meets all constraints: none is the best.")
        notes += [text for text in stale(found.judged.spec, found.judged.verdict) if text]
    if found.is_sample:
        notes.append(
            f"Status counts are of all {found.total:,} variants; the other results are of "
            f"{found.variants.size:,}, in whole chunks evenly spread."
        )
    return notes


def _footer(found: Facts) -> Markup:
    version = found.status["versions"].get("basepar", "")
    return Markup("<footer>basepar {}, sha256 {}…</footer>").format(
        version, found.status["spec_hash"][:12]
    )
