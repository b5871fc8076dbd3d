"""What was swept, what became of the variants, and with which program."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from basepar_core.expressions import parse_unit
from basepar_core.texts import plural
from sweeps.spec import PLANS
from sweeps.store import PreciseStatus, Status, reason_texts
from workflows.views import after_doubt, met_with

from . import mathml
from .data import Facts, Swept
from .html import (
    LeftOut,
    Section,
    bar,
    facts,
    figure,
    folded,
    joined,
    paragraph,
    table,
    unit_text,
)
from .numbers import brief, data, digits, share

_TONES = {
    Status.SOLVED: "good",
    Status.AWAITING_PRECISE: "fair",
    Status.SPECIAL: "fair",
    Status.CRASHED: "bad",
    Status.TIMED_OUT: "bad",
}
#: Variants of the precise stage that are listed one by one.
LISTED = 12


def swept(found: Facts, drawing: Markup | None) -> Section:
    """Mechanism, plan, variables, conditions."""
    it = found.mechanism
    lines: list[tuple[str, Markup | str]] = [("Mechanism", _name(found))]
    if it is not None:
        freedom = len(it.coordinates)
        lines += [
            (
                "Bodies and joints",
                f"{len(it.bodies)} and {len(it.joints)}, {'planar' if it.planar else 'spatial'}",
            ),
            ("Degrees of freedom", f"{freedom}: {', '.join(it.coordinates)}"),
        ]
    lines += [*_plan(found), *_questions(found)]
    parts = [facts(lines), _variables(found)]
    if drawing is not None:
        caption = "At nominal geometry: the assembled pose, and faintly a few poses of its cycle."
        parts.insert(0, figure(drawing, caption, "nominal-drawing"))
    title = "Sweep" if found.kind == "sweep" else "What was searched"
    return Section("swept", title, Markup('<div class="swept">{}</div>').format(joined(parts)))


def _name(found: Facts) -> Markup:
    name = found.spec["mechanism"].get("name", "mechanism")
    about = found.mechanism.description if found.mechanism else ""
    return Markup("<strong>{}</strong>{}{}").format(name, ". " if about else "", about)


def _plan(found: Facts) -> list[tuple[str, Markup | str]]:
    space = found.spec["space"]
    plan = PLANS[space["plan"]].words if space["plan"] in PLANS else space["plan"]
    if space["plan"] == "asked":
        plan = _asked(space["by"])
    lines: list[tuple[str, Markup | str]] = [("Plan", f"{plan}, {plural(found.total, 'variant')}")]
    if "seed" in space:
        lines.append(("Seed", str(space["seed"])))
    if space.get("where"):
        conditions = joined(
            Markup("<li>{}</li>").format(mathml.expression(text)) for text in space["where"]
        )
        lines.append(("Conditions", Markup('<ol class="conditions">{}</ol>').format(conditions)))
    return lines


def _asked(by: Mapping[str, Any]) -> str:
    """Who chose the rows, in words."""
    if "polished" in by:
        rows = ", ".join(map(str, by["polished"]["rows"]))
        return f"polished from variants {rows} of a study"
    if "tolerances" in by:
        return f"random errors of making about {by['origin']} of a study"
    asks = by.get("sampler", {})
    sampler = asks.get("kind", "own")
    if sampler == "screen":
        return "screened: quasi-random, in boxes about the best, and where descents ended"
    return f"chosen by the sampler {sampler} in batches of {by.get('batch', '?')}"


def _questions(found: Facts) -> list[tuple[str, Markup | str]]:
    asked = found.spec["evaluate"]
    lines: list[tuple[str, Markup | str]] = [("Rank", str(asked["rank"]))]
    if reduction := asked.get("reduction"):
        words = f"{', '.join(reduction['criteria'])}; tolerance {brief(reduction['tolerance'])}"
        way = {"backward": "elimination", "forward": "addition"}[
            reduction.get("method", "backward")
        ]
        noise = {"joint": "noise of each drive", "pooled": "noise pooled over the drives"}
        words = f"{way}; {words}; {noise[reduction.get('noise', 'joint')]}"
        lines.append(("Reduction", words))
    if asked.get("with"):
        lines.append(("With", f"{', '.join(asked['with'])}, in torques and reduction"))
    if asked.get("metrics"):
        lines.append(("Metrics", ", ".join(asked["metrics"])))
    return lines


def _variables(found: Facts) -> Markup:
    columns = ["Symbol", "#Min", "#Max", "#Nominal", "Unit", "Values"]
    rows = [_variable(found, symbol) for symbol in found.symbols]
    rows += [_fixed(*entry) for entry in _unswept(found)]
    return table("Variables", columns, rows)


def _variable(found: Facts, symbol: Swept) -> list[Markup | str]:
    stated = (found.spec["space"].get("variables") or {}).get(symbol.name)
    ends = (float(np.nanmin(symbol.values)), float(np.nanmax(symbol.values)))
    count = len(np.unique(symbol.values))
    kind = f"{count:,} values"
    plan = found.spec["space"]["plan"]
    ranged = plan not in PLANS or PLANS[plan].variables == "ranges"  # asked ones have ranges too
    if ranged and isinstance(stated, list):
        ends = (stated[0] * symbol.per_si, stated[1] * symbol.per_si)
        kind = "range"
    nominal = "–" if symbol.nominal is None else data(symbol.nominal, brief(symbol.nominal))
    low, high = (data(end, brief(end)) for end in ends)
    unit = unit_text(symbol.unit)
    return [mathml.inline(mathml.symbol(symbol.name)), low, high, nominal, unit, kind]


def _unswept(found: Facts) -> list[tuple[str, float, str]]:
    """Geometry that keeps its nominal value."""
    if found.mechanism is None:
        return []
    names = {symbol.name for symbol in found.symbols}
    fixed = [symbol for symbol in found.mechanism.geometry if symbol.name not in names]
    sizes = [parse_unit(symbol.unit).size if symbol.unit else 1.0 for symbol in fixed]
    values = found.mechanism.nominal
    return [(s.name, values[s.name] / size, s.unit) for s, size in zip(fixed, sizes, strict=True)]


def _fixed(name: str, value: float, unit: str) -> list[Markup | str]:
    shown = data(value, brief(value))
    return [mathml.inline(mathml.symbol(name)), "", "", shown, unit_text(unit), "fixed"]


def outcome(found: Facts) -> Section:
    """Statuses, their reasons, the precise stage."""
    status = found.status
    parts = [_status_table(found), *_reasons(status["reasons"])]
    if status["errors"]:
        rows = [(variant, text) for variant, text in list(status["errors"].items())[:5]]
        parts.append(table("First errors", ["#Variant", "Message"], rows))
    parts += _precise(found)
    return Section("outcome", "Outcome", joined(parts))


def _status_table(found: Facts) -> Markup:
    total = found.total
    tones = {member.meaning: tone for member, tone in _TONES.items()}
    tones |= {
        after_doubt(member.meaning): tone
        for member, tone in zip(
            PreciseStatus, ("", "good", "good", "fair", "bad", "bad"), strict=True
        )
    }
    columns = ["Status", "#Variants", "#Share", ""]
    rows = [
        (word, data(n), share(n, total), bar(n / total, tones.get(word, "")))
        for word, n in found.standing.items()
    ]
    return table("Variants by status", columns, rows, style="bars")


def _reasons(reasons: Sequence[Mapping[str, Any]], caption: str = "Reasons") -> list[Markup]:
    if not reasons:
        return []
    columns = ["Status", "Reason", "#Variants", "#Example"]
    rows = [
        (
            met_with(row),
            row["reason"],
            data(row["count"]),
            data(row["example"], str(row["example"])),
        )
        for row in reasons
    ]
    return [table(caption, columns, rows, style="prose")]


def _precise(found: Facts) -> list[Markup]:
    """The variable-precision stage: counts, reasons, the first variants one by one."""
    counts = found.status["precise"]
    if not counts:
        return []
    waiting = found.status["counts"].get(Status.AWAITING_PRECISE.meaning, 0)
    columns = ["Precise status", "#Variants", "#Share"]
    rows = [(word, data(n), share(n, waiting)) for word, n in counts.items()]
    parts = [
        Markup("<h3>In variable precision</h3>"),
        paragraph("Where float64 does not decide the rank, more digits do."),
        table("Doubtful variants by precise status", columns, rows),
    ]
    codes = found.read("precise_status")
    assert codes is not None
    done = np.flatnonzero(codes)
    parts += _reasons(_precise_reasons(found, codes, done), "Reasons of the precise stage")
    return [*parts, _precise_rows(found, codes, done[:LISTED])]


def _precise_reasons(found: Facts, codes: np.ndarray, done: np.ndarray) -> list[dict[str, Any]]:
    reasons, values = found.read("precise_reason"), found.read("precise_reason_value")
    if reasons is None or values is None:
        return []
    templates = found.store.texts("precise_reason")
    kinds = Counter((int(codes[row]), int(reasons[row])) for row in done if reasons[row])
    rows = []
    for (status, reason), count in kinds.most_common():
        first = done[(codes[done] == status) & (reasons[done] == reason)][:1]
        rows.append(
            {
                "status": PreciseStatus(status).meaning,
                "reason": str(reason_texts(reasons[first], values[first], templates)[0]),
                "count": count,
                "example": int(found.variants[first[0]]),
            }
        )
    return rows


def _precise_rows(found: Facts, codes: np.ndarray, rows: np.ndarray) -> Markup:
    heads = {"precise_rank": "Rank", "precise_digits": "Digits", "precise_ridge": "Ridge, decades"}
    arrays = {name: found.read(name) for name in heads}
    there = {name: values for name, values in arrays.items() if values is not None}
    columns = ["#Variant", "Precise status"]
    columns += [f"#{heads[name]}" for name in there]
    lines = []
    for row in map(int, rows):
        cells: list[Markup | str] = [str(found.variants[row])]
        cells.append(PreciseStatus(int(codes[row])).meaning)
        for name, values in there.items():
            number = values[row].item()
            cells.append(data(number, digits(number, 3) if name == "precise_ridge" else None))
        lines.append(cells)
    title = "For example" if len(lines) == 1 else f"The first {len(lines)} of them"
    return table(title, columns, lines)


def provenance(found: Facts) -> Section:
    """Versions, date, hash, and the specification itself."""
    status = found.status
    lines: list[tuple[str, Markup | str]] = [
        ("Store", Markup("<code>{}</code>").format(status["store"])),
        ("Made", _date(status["created"])),
        ("Specification", Markup("<code>sha256 {}</code>").format(status["spec_hash"])),
        (
            "Versions",
            ", ".join(f"{name} {version}" for name, version in status["versions"].items()),
        ),
    ]
    parts = [facts(lines)]
    if source := found.spec.get("source"):
        parts.append(folded("The mechanism's file", Markup("<pre>{}</pre>").format(source)))
    plain = {key: entry for key, entry in found.spec.items() if key not in ("source", "mechanism")}
    text = json.dumps(_shortened(plain), indent=1, ensure_ascii=False)
    parts.append(folded("The rest of the specification", Markup("<pre>{}</pre>").format(text)))
    return Section("provenance", "Provenance", joined(parts))


def _shortened(plain: Any, longest: int = 40) -> Any:
    """Plain data with long lists cut: a table of a thousand rows is in the store."""
    if isinstance(plain, dict):
        return {key: _shortened(entry) for key, entry in plain.items()}
    if isinstance(plain, list):
        more = [f"… {len(plain) - longest:,} more"] if len(plain) > longest else []
        return [_shortened(entry) for entry in plain[:longest]] + more
    return plain


def _date(stamp: str) -> Markup:
    return Markup('<time datetime="{}">{} UTC</time>').format(stamp, stamp[:16].replace("T", ", "))


def left_out(parts: Sequence[LeftOut]) -> Section | None:
    """What this report has not, and why."""
    if not parts:
        return None
    lines = facts([(part.title, part.reason) for part in parts])
    return Section("left-out", "Not in this report", lines)
