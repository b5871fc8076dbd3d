"""Base parameters as formulas, with their certificate; singular values with the gap."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from basepar_core.base import OPERATIONS, number_of
from basepar_core.dynamics import column_values, select
from basepar_core.texts import plural

from . import figures, mathml
from .data import Facts
from .html import (
    Cell,
    LeftOut,
    Section,
    figure,
    folded,
    joined,
    key,
    paragraph,
    table,
    unit_text,
)
from .numbers import data, digits

_GRADES = {
    "proved": "proved by a nonzero minor in ball arithmetic",
    "proved generically": "proved for generic geometry by a nonzero minor in exact arithmetic",
    "theorem": "by theorems on joints and couplings",
    "identity": "checked to vanish identically in exact arithmetic",
    "probability": "zero at random points of finite fields, wrong with negligible probability",
    "numerical": "seen in floating-point numbers, not proved",
}
#: Variants whose precise singular values are drawn.
_LINES = 24


def base_parameters(found: Facts) -> Section | LeftOut:
    """The combinations, what was eliminated, where they hold, how sure that is."""
    base = found.base
    if base is None:
        reason = "The store keeps no base parameters (attribute base)."
        return LeftOut("base", "Base parameters", reason)
    idle = found.mechanism.uncounted if found.mechanism else 0
    count, total = number_of(base), len(base["parameters"]) - idle
    lead = (
        f"Of {plural(total, 'inertial parameter')}, {count} "
        f"{'combination is' if count == '1' else 'combinations are'} all that the motion's "
        f"torques "
        f"can tell ({base['route']} route)."
    )
    if found.further:
        lead = Markup(
            "{} In the torques and their reduction there are also {}, each as it is; rank, "
            "singular values, condition and certificate are of the inertial parameters."
        ).format(lead, _names(found.further))
    parts = [
        paragraph(lead),
        _combinations(found, base),
        *_conditions(base),
        *_certificate(base["certificate"]),
    ]
    return Section("base", "Base parameters", joined(parts))


def _combinations(found: Facts, base: Mapping[str, Any]) -> Markup:
    nominal = _nominal_values(found, base)
    spread = _spread(found, len(found.lines))
    columns = ["", "Base parameter"]
    columns += ["#Nominal"] * (nominal is not None)
    columns += ["#Min", "#Median", "#Max"] * (spread is not None)
    columns += ["Unit"] * (len(columns) > 2)
    known = [values for values in (nominal, spread) if values is not None]
    largest = max((float(np.abs(values).max()) for values in known), default=0.0)
    rows = []
    for k, row in enumerate(found.lines):
        cells: list[Cell] = [str(k + 1), _formula(row)]
        if nominal is not None:
            cells.append(settled(float(nominal[k]), largest))
        if spread is not None:
            cells += [settled(float(value), largest) for value in spread[:, k]]
        if len(columns) > 2:
            cells.append(unit_text(row["unit"]))
        rows.append(cells)
    words = "nominal geometry, and minimum, median and maximum over the variants"
    caption = f"Base parameters: {words}" if len(columns) > 2 else "Base parameters"
    return table(caption, columns, rows, style="formulas")


def settled(value: float, largest: float) -> Markup:
    """A number; what is left of cancelled terms is as good as zero."""
    return data(value, "≈ 0" if 0 < abs(value) < 1e-14 * largest else None)


def _formula(row: Mapping[str, Any]) -> Markup:
    """The combination with symbols and, where these are, below it with numbers."""
    numbers = [mathml.number_term(float(v), name) for name, v in row["values"].items()]
    first = mathml.inline(mathml.parameter(row["parameter"]))
    plain = joined([first, *numbers], " ")
    if "terms" not in row:
        return plain
    shown = mathml.combination(row["parameter"], row["terms"])
    if not any(map(_has_symbols, row["terms"].values())):
        return shown
    return Markup('<div>{}</div><div class="numeric">{}</div>').format(shown, plain)


def _has_symbols(text: str) -> bool:
    return any(letter.isalpha() for letter in text)


def _nominal_values(found: Facts, base: Mapping[str, Any]) -> np.ndarray | None:
    """φ_b at nominal geometry: (base_parameter,)."""
    if found.mechanism is None or not found.mechanism.has_inertias:
        return None
    phi = found.mechanism.inertial_parameters(found.mechanism.nominal)
    columns = select(found.mechanism, found.further)
    further = column_values(found.mechanism, columns, found.mechanism.nominal)
    phi = np.concatenate([phi, further])
    place = {name: k for k, name in enumerate([*base["parameters"], *found.further])}
    return np.array(
        [
            phi[place[row["parameter"]]]
            + sum(float(v) * phi[place[name]] for name, v in row["values"].items())
            for row in found.lines
        ]
    )


def _spread(found: Facts, count: int) -> np.ndarray | None:
    """Least, median and most of φ_b over the variants with results: (3, base_parameter)."""
    values = found.read("base_parameters")
    if values is None or values.shape[1] != count:
        return None
    good = values[found.has_results & np.isfinite(values).all(axis=1)]
    return np.quantile(good, [0, 0.5, 1], axis=0) if len(good) else None


def _names(names: list[str]) -> Markup:
    """Parameters with commas that stay with them at the end of a line."""
    ends = [","] * (len(names) - 1) + [""]
    whole = Markup('<span class="whole">{}{}</span>')
    shown = (mathml.inline(mathml.parameter(name)) for name in names)
    return joined(map(whole.format, shown, ends), " ")


def _conditions(base: Mapping[str, Any]) -> list[Markup]:
    """Eliminated parameters and the validity domain."""
    none = [name for name in base["eliminated"] if name in base["no_effect"]]
    others = [name for name in base["eliminated"] if name not in none]
    lines = []
    if others:
        lines.append(
            Markup("Eliminated, their effect being in the others: {}.").format(_names(others))
        )
    if none:
        lines.append(Markup("Without any effect: {}.").format(_names(none)))
    if base["validity"]:
        nonzero = joined((mathml.nonzero(text) for text in base["validity"]), ", ")
        lines.append(Markup("Valid where {}.").format(nonzero))
    else:
        lines.append(Markup("Valid at every geometry: nothing is divided by."))
    if base.get("doubt"):
        lines.append(Markup("In doubt: {}").format(base["doubt"]))
    if base.get("float64_doubt"):
        said = Markup("At nominal geometry float64 alone does not decide: {}")
        lines.append(said.format(base["float64_doubt"]))
    return [paragraph(line) for line in lines]


def _certificate(certificate: Mapping[str, Any]) -> list[Markup]:
    low, high = certificate["at_least"], certificate["at_most"]
    lines = joined(
        Markup("<li>The rank is <strong>{} {}</strong>: <em>{}</em>, {}; for {}.</li>").format(
            words, part["rank"], part["grade"], _GRADES.get(part["grade"], ""), part["scope"]
        )
        for words, part in (("at least", low), ("at most", high))
    )
    parts = [
        Markup("<h3>Certificate</h3><ul>{}</ul>").format(lines),
        paragraph(
            Markup("Both together are worth the weaker grade: <em>{}</em>.").format(
                certificate["grade"]
            )
        ),
    ]
    vectors = high.get("vectors", [])
    if vectors:
        columns = ["Grade", "Reason", "Combination without effect"]
        rows = [
            (
                vector["grade"],
                vector["reason"],
                joined((mathml.term(text, name) for name, text in vector["entries"].items()), " "),
            )
            for vector in vectors
        ]
        title = f"The {len(rows)} null vectors that bound the rank from above"
        parts.append(folded(title, table("Null vectors", columns, rows, style="formulas prose")))
    return parts


def singular_values(found: Facts) -> Section | LeftOut:
    """The spectrum of W over the variants, and the gap at the rank."""
    title = "Singular values"
    many = found.read("singular_values")
    if many is None or found.base is None:
        asked = found.spec["evaluate"]["rank"]
        return LeftOut("spectrum", title, f"The sweep did not compute them (rank: {asked}).")
    many = many[found.has_results & np.isfinite(many).all(axis=1)]
    single = {"nominal": np.array(found.base["singular_values"], float)}
    values = found.read("singular_values")
    assert values is not None
    order = found.metrics[0].order if found.metrics else np.empty(0, int)
    if order.size and np.isfinite(values[best := int(order[0])]).all():
        word = found.metrics[0].ends[0].lower()
        name = f"variant {found.variants[best]}, {word} by {found.metrics[0].name}"
        single[name] = values[best]
    spectra = figures.Spectra(
        many, single, len(found.base["base"]), _noise(many, single["nominal"])
    )
    label = f"Singular values of W by index; rank {number_of(found.base)} of {many.shape[1]}."
    keys = _keys(list(single), len(many))
    body = [figure(figures.spectrum(spectra, label), keys), _gap_table(found), *_precise(found)]
    return Section("spectrum", title, joined(body))


def _noise(many: np.ndarray, nominal: np.ndarray) -> float:
    """Rounding of float64 beside the largest singular value, as the numeric route bounds it."""
    largest = float(np.median(many[:, 0])) if len(many) else float(nominal[0])
    return OPERATIONS * np.sqrt(len(nominal)) * np.finfo(float).eps * largest


def _keys(names: list[str], count: int) -> Markup:
    keys = [
        key("middle", "median"),
        key("band", "minimum to maximum (darker: 5 to 95 %)"),
        *(key(style, name) for name, style in zip(names, ("nominal", "chosen"), strict=False)),
    ]
    return Markup(
        "Observation matrix of the excitation, {:,} variants with results: {}. "
        "Exact zeros lie on the lower edge."
    ).format(count, joined(keys, ", "))


def _gap_table(found: Facts) -> Markup:
    """Gap, condition and rank over the variants."""
    rows = []
    for name, title in (
        ("rank_gap", "Gap across the rank, unit columns"),
        ("condition", "Condition of the reduced W, unit columns"),
        ("margin", "Margin of the loop equations (0 is a dead point)"),
    ):
        values = found.read(name)
        if values is None:
            continue
        good = values[found.has_results & np.isfinite(values)]
        if good.size:
            rows.append([title, *(data(float(x)) for x in np.quantile(good, [0, 0.5, 1]))])
    columns = ["Quantity", "#Min", "#Median", "#Max"]
    return (
        table("Quality of the rank over the variants", columns, rows, style="wordy")
        if rows
        else Markup()
    )


def _precise(found: Facts) -> list[Markup]:
    if not found.status["precise"]:
        return []
    values = found.read("precise_singular_values")
    if values is None:
        return []
    rows = np.flatnonzero((np.nan_to_num(values) > 0).any(axis=1))[:_LINES]
    if not rows.size:
        return []
    shown = ", ".join(str(found.variants[row]) for row in rows)
    least = digits(float(values[rows][values[rows] > 0].min()), 2)
    label = "Singular values in variable precision."
    picture = figures.spectrum_lines(
        values[rows], len(found.base["base"]) if found.base else 0, label
    )
    caption = f"In variable precision: variants {shown}. The least is {least}."
    return [figure(picture, caption)]
