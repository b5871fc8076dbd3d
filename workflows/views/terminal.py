"""What people see in the terminal: tables, a progress bar, one message on failure."""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from basepar_core.texts import plural, shell

from .hints import near, spoken, typed

if TYPE_CHECKING:  # a command loads what it uses
    from basepar_core.reduction import ReducedMechanism
    from workflows.drawing import Spectra


class _Plain(Console):
    """A console that takes texts as they are: no markup, no emoji, no control characters."""

    def __init__(self, **options: Any):
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(spoken(text), **options)


#: In a pipe lines are as long as they need to be.
out = _Plain(width=None if sys.stdout and sys.stdout.isatty() else 160)
err = _Plain(stderr=True)


def beside(table: bool) -> Console:
    """Where written files are named: with a table, or on stderr beside a text for programs."""
    return out if table else err


def said(*parts: str | tuple[str, str]) -> Text:
    """A line of texts, some with a style: `said(("four-bar", "bold"), ": 8")`."""
    return Text.assemble(
        *(spoken(part) if isinstance(part, str) else (spoken(part[0]), part[1]) for part in parts)
    )


def table(*columns: str, rows: Iterable[Sequence[str | Text]] = ()) -> Table:
    """An unobtrusive table; a column with # in front of its title is one of numbers."""
    made = Table(box=None, pad_edge=False)
    for column in columns:
        is_number = column.startswith("#")
        justify: Literal["left", "right"] = "right" if is_number else "left"
        title = column.removeprefix("#")
        made.add_column(title, justify=justify, header_style="dim", no_wrap=is_number)
    for row in rows:
        made.add_row(*row)
    return made


def number(value: float | None) -> str:
    """A number for reading: four digits."""
    return "" if value is None else f"{value:.4g}"


def show_library(document: Mapping[str, Any]) -> None:
    rows = table("name", "space", "#bodies", "#dof", "#parameters", "")
    for one in document["mechanisms"]:
        counts = (str(one[key]) for key in ("bodies", "degrees_of_freedom", "parameters"))
        rows.add_row(said((one["name"], "bold")), one["space"], *counts, one["description"])
    out.print(rows)
    out.print(f"\nShipped sweeps: {', '.join(document['sweeps'])}")
    out.print(f"Shipped studies: {', '.join(document['studies'])}")
    basepar = typed("basepar")
    shown = [(f"{basepar} {what} four-bar", "bold") for what in ("show", "base")]
    out.print(said("Try ", shown[0], " or ", shown[1], "."))


def show_mechanism(document: Mapping[str, Any]) -> None:
    out.print(said((document["mechanism"], "bold"), f"  {document['description']}"))
    named = ", ".join(
        f"{c['name']} = {c['assembled']:.4g} {c['unit']}" for c in document["coordinates"]
    )
    out.print(
        f"{document['space']}, {plural(len(document['bodies']), 'body', 'bodies')}, "
        f"{plural(len(document['joints']), 'joint')}, {plural(len(document['loops']), 'loop')}, "
        f"{plural(document['degrees_of_freedom'], 'degree')} of freedom "
        f"({named}), {plural(len(document['parameters']), 'inertial parameter')}"
    )
    _show_connections(document)
    _show_symbols(document["symbols"])
    out.print(
        f"\nassembled, gap {document['residual']:.1e} m or rad; evaluated by {document['path']}"
        f" ({document['path_why']})"
    )
    _show_branch(document["branch_found"])
    for one in document["points"]:
        here, there = (", ".join(map(number, one[key])) for key in ("at", "assembled"))
        out.print(f"point {one['name']} of {one['body']}, ({here}) m there: at ({there}) m")
    for name, why in document["impossible_inertias"].items():
        out.print(f"no body has the inertia of {name}: {why}", style="yellow")
    for end in document["motion_ends"]:
        what = "is singular" if end["ends"] == "singular" else "locks"
        at = ", ".join(f"{one['name']} = {_as_written(one)}" for one in end["at"])
        out.print(
            f"{what} at {at}: sample {end['sample']} of {end['samples']} of its {end['motion']}",
            style="yellow",
        )
    if document.get("drawing"):
        out.print(f"drawing: {document['drawing']}")


def _show_connections(document: Mapping[str, Any]) -> None:
    joints = table("joint", "type", "between", "")
    for one in document["joints"]:
        notes = ", ".join(word for word in ("actuated", "cut") if one[word])
        joints.add_row(one["name"], one["type"], " – ".join(one["connects"]), notes)
    out.print()
    out.print(joints)
    for one in document["couplings"]:
        terms = " + ".join(f"{number(x)} {name}" for name, x in one["values"].items())
        out.print(
            f"coupling {one['name']}: {terms} = {number(one['offset'])}".replace("+ -", "- ")
        )
    for loop in document["loops"]:
        out.print(f"loop: {' – '.join(loop)}")
    for one in document["overconstrained"]:
        excess = plural(one["excess"], "constraint")
        out.print(f"overconstrained: {', '.join(one['names'])}; {excess} redundant, left out")
    for one in document["idle"]:
        out.print(f"idle between {' and '.join(one['joints'])}: {', '.join(one['bodies'])}")
    if document["locked"]:
        out.print(f"locked: {', '.join(document['locked'])}")


def _show_symbols(found: Sequence[Mapping[str, Any]]) -> None:
    symbols = table("symbol", "#value", "unit", "bounds")
    for symbol in found:
        bounds = symbol["bounds"]
        shown = "constant" if symbol["constant"] else ""
        shown = f"{number(bounds[0])} … {number(bounds[1])}" if bounds else shown
        symbols.add_row(symbol["name"], number(symbol["value"]), symbol["unit"], shown)
    if found:
        out.print()
        out.print(symbols)


def _term(text: str | None, value: float | str, name: str) -> str:
    """A signed term of a combination; values that are text have the digits asked for."""
    number = value if isinstance(value, str) else f"{value:.4g}"
    coefficient = number if text is None else text
    sign = "+"
    if coefficient.startswith("-") and not _is_sum(coefficient[1:]):
        sign, coefficient = "−", coefficient[1:]
    if coefficient in ("1", "1.0"):
        return f"{sign} {name}"
    if _is_sum(coefficient):
        coefficient = f"({coefficient})"
    if coefficient.startswith("1/"):
        return f"{sign} {name}{coefficient[1:]}"
    return f"{sign} {coefficient}*{name}"


def _is_sum(text: str) -> bool:
    """Whether there is a + or − outside parentheses and exponents."""
    depth = 0
    for k, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if k and depth == 0 and sign in "+-" and text[k - 1] not in "*e/(":
            return True
    return False


#: Coefficients (SI) that vanish at these numbers leave what float64 rounds to: lengths of a metre.
_ROUNDING = 1e-15


def combination(row: Mapping[str, Any], symbolic: bool = True) -> str:
    """A base parameter as a sum: `crank.mx − crank.J/lx1`."""
    terms = row.get("terms") if symbolic else None
    parts = [
        _term(terms[name] if terms else None, value, name)
        for name, value in row["values"].items()
        if terms or isinstance(value, str) or abs(value) > _ROUNDING
    ]
    return " ".join([row["parameter"], *parts])


def _show_branch(found: Sequence[Mapping[str, Any]]) -> None:
    """Joint values as an assembly takes them."""
    new = [f"{one['name']}: {_as_written(one)}" for one in found if one["stated"] is None]
    if new:
        out.print(f"branch found, not stated: {', '.join(new)}; to keep it, add to `assembly`")
    for one in found:
        stated = _as_written({**one, "value": one["stated"]}) if one["stated"] is not None else ""
        if "coupling" in one:
            offset = f"{one['offset']:.4g}"
            out.print(
                f"against coupling {one['coupling']}: {one['name']}: {_as_written(one)} found, "
                f"{stated} stated; take {one['name']} out of `assembly`, or give "
                f"{one['coupling']} `offset: {offset}` (rad or m)",
                style="yellow",
            )
        elif stated:
            out.print(
                f"another branch than stated: {one['name']}: {_as_written(one)} found, {stated} "
                "stated; change the `assembly` or the lengths",
                style="yellow",
            )


def _as_written(value: Mapping[str, Any]) -> str:
    """A joint value in units of files: deg, or m; no rounding of zero."""
    if value["unit"] == "rad":
        return f"{round(math.degrees(value['value']), 1) + 0.0:.1f} deg"
    return f"{round(value['value'], 9):.4g} {value['unit']}"


def show_base(document: Mapping[str, Any], numbered: bool = False) -> None:
    """Base parameters as a table; `numbered` with the column of W that each multiplies."""
    from basepar_core.base import number_of

    rank, total = len(document["base"]), len(document["parameters"])
    out.print(
        said(
            (document["mechanism"], "bold"),
            f": {number_of(document)} base parameter{'s' * (document['rank'] != 1)} of {total}, "
            f"{document['route']} route",
        )
    )
    special = document["generic_rank"] not in (None, document["rank"])
    if special:  # expressions would look as if they held with other numbers
        out.print(
            f"of these numbers only: with others the mechanism has {document['generic_rank']} "
            "(`generic` of --json; Base.family in Python; what --format exports)"
        )
    symbolic = not special and any("terms" in row for row in document["base"])
    columns = ["", "base parameter", "at nominal geometry"] if symbolic else ["", "base parameter"]
    rows = table(*columns, *(["column of W, from 0"] if numbered else []))
    for k, row in enumerate(document["base"]):
        shown = [combination(row, not special)]
        shown += [combination(row, symbolic=False)] if symbolic else []
        shown += [str(document["columns"][k])] if numbered else []
        rows.add_row(str(k + 1), *shown)
    out.print(rows)
    out.print(f"\neliminated: {', '.join(document['eliminated']) or 'none'}")
    if document["no_effect"]:
        out.print(f"of these without effect: {', '.join(document['no_effect'])}")
    if document["validity"] and not special:
        out.print(f"valid where none vanishes: {', '.join(document['validity'])}")
    certificate = document["certificate"]
    low, high = certificate["at_least"], certificate["at_most"]
    out.print(
        f"certificate: rank ≥ {low['rank']} {low['grade']} ({low['scope']}), rank ≤ "
        f"{high['rank']} {high['grade']} ({high['scope']})"
    )
    arithmetic = "variable precision" if document["route"] == "precise" else "float64"
    out.print(f"{arithmetic}: gap {document['gap']:.2g} across the rank")
    if "bounds" in document:
        low, high = document["bounds"]["at_least"], document["bounds"]["next_at_most"]
        out.print(f"bounds of W's singular values: σ_{rank} ≥ {low}, σ_{rank + 1} ≤ {high}")
    if "search" in document:
        _show_search(document["search"])
    if document["near"]:
        out.print(f"nearly met, so not counted on: {'; '.join(document['near'])}")
    if document["doubt"]:
        out.print(said(("doubtful", "yellow"), f": {document['doubt']}"))
    if document.get("float64_doubt"):
        out.print(f"float64 alone does not decide: {document['float64_doubt']}")


def _show_search(search: Mapping[str, Any]) -> None:
    origins = ", ".join(f"{n} in {origin}" for origin, n in search["matched"].items())
    found = sum(search["matched"].values())
    out.print(f"search: {found} of {search['entries']} entries of β matched ({origins})")
    for base, gone in search["missing"]:
        out.print(f"  no product for {gone} in {base}: its value only")
    for row in search["ambiguous"]:
        base, gone = row["entry"]
        texts = ", ".join(row["candidates"])
        out.print(f"  several for {gone} in {base}: {texts}")
    for row in search["conditions"]:
        state = "holds" if row["holds"] else ("does not hold", "yellow")
        out.print(said(f"  {row['condition']}: ", state, f" ({row['detail']})"))


def show_routes(document: Mapping[str, Any], spectra: "Spectra", numbered: bool = False) -> None:
    """The symbolic result, the routes side by side, the singular values and the verdict."""
    from workflows.drawing import BOTH, DOUBLE, PRECISE, chart

    show_base({**document, "route": "symbolic", "doubt": "", "float64_doubt": ""}, numbered)
    heads = ("route", "#rank", "rank ≥", "rank ≤", "#gap, decades", "doubt", "#digits")
    rows = table(*heads, "#s", "#CPU s")
    for row in document["side_by_side"]:
        rows.add_row(
            row["route"],
            "?" if row["rank"] is None else str(row["rank"]),
            row["at_least"],
            row["at_most"],
            f"{row['gap_decades']:.1f}",
            said(("doubtful", "yellow")) if row["doubtful"] else "none",
            str(row["digits"] or "exact"),
            f"{row['seconds']:.2f}",
            f"{row['cpu_seconds']:.2f}",
        )
    out.print()
    out.print(rows)
    for route, reason in document["not_run"].items():
        out.print(f"{route}: not run ({reason})")
    out.print(
        f"\nsingular values of W, {spectra.samples} samples: {PRECISE} variable precision "
        f"({spectra.digits} digits), {DOUBLE} double precision, {BOTH} both"
    )
    for line in chart(spectra, min(out.width, 120)):
        out.print(line, no_wrap=True, crop=True)
    colour = {"agreed": "green", "doubtful": "yellow"}.get(document["agreed"], "red")
    out.print(said("\nthe routes are ", (document["agreed"], colour)))
    for reason in document["why"]:
        out.print(f"  {reason}")
    if document.get("drawing"):
        out.print(f"drawing: {document['drawing']}")


@contextmanager
def steps(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Says on stderr what is being done, where somebody watches."""
    if quiet or not err.is_terminal:
        yield lambda _: None
        return
    with err.status(Text("…")) as status:
        yield lambda what: status.update(said(what))


def show_reduction(found: "ReducedMechanism") -> None:
    document, (header, lines) = found.document(), found.table()
    out.print(
        said(
            (document["mechanism"], "bold"),
            f": {plural(len(document['base']), 'base parameter')}, {document['method']} path over "
            f"{found.record or 'the cycle'}, n = {document['effective_samples']:g}",
        )
    )
    if found.estimated:
        levels = ", ".join(f"{name} {sigma:.3g}" for name, sigma in found.noise)
        out.print(f"noise of the torques, estimated: {levels} (N m or N)", highlight=False)
    heads = (f"#{title}" if place != 1 else title for place, title in enumerate(header))
    out.print(table(*heads, rows=lines))
    out.print("* where a criterion stops")
    if document["explanation"]:
        out.print(document["explanation"])
    for name, chosen in document["selected"].items():
        kept = ", ".join(entry["parameter"] for entry in chosen["parameters"])
        out.print(
            f"{name}: {plural(chosen['size'], 'parameter')}, torque error "
            f"{chosen['torque_error']:.2g}: {kept or 'none'}"
        )
    for note in document["notes"]:
        out.print(said((note["kind"], "yellow"), f": {note['text']}"))


def show_before(name: str, notes: Iterable[str]) -> None:
    """What somebody should know before a sweep begins; on stderr, which programs leave alone."""
    for note in notes:
        err.print(f"{name}: " * bool(name) + note, style="yellow", soft_wrap=True)


def show_next_steps(store: str, mechanism: str) -> None:
    """Commands to try after a sweep; `mechanism` is the name its file states."""
    from basepar_core.files import library_names
    from workflows.jobs import study_names

    place = near(store)
    steps = [f"report {shell(place)}", f"status {shell(place)}"]
    if mechanism in library_names():
        steps += [f"reduce {mechanism}", f"base {mechanism}", f"show {mechanism} -o drawing.png"]
    if mechanism in study_names():
        steps.append(f"study {mechanism}")
    out.print("\nNext:")
    for step in steps:
        out.print(f"  {typed('basepar')} {step}", soft_wrap=True)
    reading = f"import xarray; print(xarray.open_zarr({place!r}))"
    out.print(f"  {typed('python')} -c {shell(reading)}", soft_wrap=True)
