"""The planar paper: its four-bar in numbers (Eq. 24) and in symbols (Eq. 25), by three routes.

Numbers by Gautier's procedure in floats, as the paper has them; symbols by null vectors, and once
more by the paper's own search in its product class.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from basepar_core.api import load
from basepar_core.base import (
    ADDED,
    EQUATION_21,
    BaseParameters,
    ProductParameters,
    numeric,
    parameter_indices,
    product,
    symbolic,
)
from basepar_core.dynamics import Model, excitation, prepare
from workflows import drawing
from workflows.drawing import mechanism

from .comparison import Number, Reproduction, Table, data, erratum, exact, number
from .expressions import PrintedField
from .papers import Say

#: Powers of length in a planar body's parameters (Eq. 20).
LENGTHS = {"m": 0, "mx": 1, "my": 1, "J": 2}
ROWS = "rows are duplicated in the plain text (erratum 9)"


@dataclass(frozen=True)
class FourBar:
    """The paper's mechanism, its printed numbers, and our routes with the paper's φ₂."""

    model: Model
    printed: Any

    @cached_property
    def wanted(self) -> list[int]:
        return parameter_indices(self.model.mechanism, self.printed["eliminated"])

    @cached_property
    def short(self) -> dict[str, str]:
        """Short names by full ones."""
        return {full: name for name, full in self.model.mechanism.parameter_aliases.items()}

    @cached_property
    def symbolic(self) -> BaseParameters:
        return symbolic(self.model, self.wanted)

    @cached_property
    def numeric(self) -> BaseParameters:
        return numeric(self.model, self.wanted)

    @cached_property
    def product(self) -> ProductParameters:
        return product(self.model, self.wanted)

    @cached_property
    def field(self) -> PrintedField:
        return PrintedField(self.model.mechanism, [])

    def values(self) -> dict[tuple[str, str], float]:
        """β's nonzero entries by the numeric route."""
        return {self.place(self.numeric, k): e.value for k, e in enumerate(self.numeric.beta)}

    def expressions(self, found: BaseParameters) -> dict[tuple[str, str], Any]:
        """β's nonzero entries as exact functions; entries without one are left out."""
        return {
            self.place(found, k): self.field.element(entry.expression)
            for k, entry in enumerate(found.beta)
            if entry.expression is not None
        }

    def place(self, found: BaseParameters, k: int) -> tuple[str, str]:
        """Short names of the base parameter and the eliminated one of an entry of β."""
        entry = found.beta[k]
        base = found.base_names[entry.base]
        return self.short[base], self.short[found.eliminated_names[entry.eliminated]]


def four_bar() -> FourBar:
    """The shipped four-bar beside the paper's numbers."""
    return FourBar(prepare(load("four-bar")), data("planar-symbolic"))


def reproduce(say: Say, figures: Path | None) -> Reproduction:
    """Recompute the paper (see `workflows.reproduce.reproduce`)."""
    started = time.perf_counter()
    if figures is not None:
        mechanism.canvas(1, 1)  # says at once where matplotlib is missing
    one = four_bar()
    say("numeric and symbolic route, with the paper's φ₂")
    first = (equation_22(one), equation_23(one), equation_24(one), table_1(one))
    symbols = equation_25(one, one.symbolic, "Eq. 25", "symbolic, by null vectors")
    say("search in the paper's product class")
    searched = equation_25(one, one.product, "Eq. 25, search", "symbolic, by the paper's search")
    said = statements(one)
    drawn: tuple[Path, ...] = ()
    if figures is not None:
        say("figures")
        drawn = draw(one, figures)
    title = "Symbolic base inertial parameters of planar mechanisms (four-bar)"
    tables = (*first, symbols, searched, said)
    return Reproduction("planar-symbolic", title, tables, drawn, time.perf_counter() - started)


def equation_22(one: FourBar) -> Table:
    """Lengths: exactly those of the file."""
    stated = {symbol.name: symbol.value for symbol in one.model.mechanism.geometry}
    numbers = []
    for name, printed in one.printed["equation_22"].items():
        value = one.field.element(stated[name])
        off = one.field.difference(value, one.field.geometric(printed))
        numbers.append(exact(name, printed, one.field.text(value), off))
    return Table("Eq. 22", "lengths, m", tuple(numbers))


def equation_23(one: FourBar) -> Table:
    """λ and Λ: what the search takes its products of."""
    numbers = []
    for kind, ours in (("lengths", one.product.lengths), ("squares", one.product.squares)):
        known = [one.field.geometric(x.replace("**", "^")) for x in ours]
        for k, printed in enumerate(one.printed["equation_23"][kind]):
            same = [
                x for x in known if one.field.difference(x, one.field.geometric(printed)) == "0"
            ]
            shown, off = (one.field.text(same[0]), "0") if same else ("none", printed)
            numbers.append(exact(f"{'λΛ'[kind == 'squares']} {k + 1}", printed, shown, off))
        printed = str(len(one.printed["equation_23"][kind]))
        numbers.append(number(f"number of {kind}", printed, str(len(ours))))
    return Table("Eq. 23", "λ and Λ", tuple(numbers))


def equation_24(one: FourBar) -> Table:
    """β in numbers, by Gautier's procedure in floats."""
    values, numbers = one.values(), []
    for base, row in one.printed["equation_24"].items():
        for name, printed in row.items():
            found = number(f"{base}: {name}", printed, values.pop((base, name), 0.0))
            numbers.append(found)
    numbers += [number(f"{a}: {b}", "0", x) for (a, b), x in values.items()]
    return Table("Eq. 24", "base parameters in numbers", tuple(numbers), ROWS)


def table_1(one: FourBar) -> Table:
    """Dimensions of β: inverses of distinct sizes, by their power of length."""
    sizes: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for (base, name), value in one.values().items():
        power = abs(LENGTHS[base[:-1]] - LENGTHS[name[:-1]])
        if not any(abs(abs(value) - x) < 1e-9 * x for x in sizes[power]):
            sizes[power].append(abs(value))
    numbers = []
    for power, found in sizes.items():
        printed = one.printed["table_1"][f"L^{power}"]
        for said in printed:
            numbers.append(number(f"[L^{power}] 1/β", said, _nearest(found, float(said))))
        count = f"distinct entries of dimension L^{power}"
        numbers.append(number(count, str(len(printed)), str(len(found))))
    return Table("Table 1", "dimensions of the entries of β", tuple(numbers))


def _nearest(sizes: list[float], said: float) -> float:
    return min(sizes, key=lambda x: abs(x - said), default=0.0)


def equation_25(one: FourBar, found: BaseParameters, name: str, title: str) -> Table:
    """β in symbols: printed less ours is zero identically."""
    ours, zero = one.expressions(found), one.field.geometric("0")
    misprints = one.printed["errata"]["equation_25"]
    numbers = []
    for base, row in one.printed["equation_25"].items():
        for other, printed in row.items():
            mine = ours.pop((base, other), zero)
            numbers.append(_symbol(one, (base, other), printed, mine, misprints))
    numbers += [
        exact(f"{a}: {b}", "0", one.field.text(x), one.field.text(x)) for (a, b), x in ours.items()
    ]
    return Table(name, title, tuple(numbers), "differences vanish identically; " + ROWS)


def _symbol(
    one: FourBar,
    place: tuple[str, str],
    printed: str,
    ours: Any,
    misprints: Mapping[str, Mapping[str, str]],
) -> Number:
    base, other = place
    off = one.field.difference(ours, one.field.geometric(printed))
    found = exact(f"{base}: {other}", printed, one.field.text(ours), off)
    if other not in misprints.get(base, {}):
        return found
    right = one.field.geometric(misprints[base][other])
    why = "the plain text has the row of my2 in place of m2's (erratum 9)"
    return erratum(found, one.field.difference(ours, right) == "0", why)


def statements(one: FourBar) -> Table:
    """What the text says in words and single numbers."""
    entries = len(one.product.beta)
    inside = one.product.origins.count(EQUATION_21)
    five = prepare(load("five-bar"))
    wanted = parameter_indices(five.mechanism, one.printed["five_bar"])
    searched = product(five, wanted)
    added, all_five = searched.origins.count(ADDED), len(searched.beta)
    complete = exact(
        "Eq. 21 has every entry of β",
        "complete",
        f"five-bar: {added} of {all_five} entries need Λk/Λh" if added else "complete",
        "Λk/Λh" if added else "0",
    )
    numbers = (
        number("base parameters, symbolic", one.printed["rank"], str(one.symbolic.rank)),
        number("base parameters, numeric", one.printed["rank"], str(one.numeric.rank)),
        number("inertial parameters", one.printed["parameters"], str(len(one.short))),
        exact(
            "four-bar: entries of β in Eq. 21",
            "all",
            f"{inside} of {entries}",
            "0" if inside == entries and not one.product.ambiguous else "others",
        ),
        erratum(
            complete,
            added > 0 and added + searched.origins.count(EQUATION_21) == all_five,
            "Eq. 21b lacks Λk/Λh (erratum 9)",
        ),
    )
    return Table("text", "what the text states", numbers)


def draw(one: FourBar, folder: Path) -> tuple[Path, ...]:
    """Fig. 4, the mechanism; Fig. 5, the motion of its crank: ours, the paper prints none."""
    motion = excitation(one.model.mechanism, one.model.assembled.coordinates)
    figure = mechanism.canvas(7.2, 3.4)
    axes = figure.add_subplot()
    axes.plot(motion.t, motion.q[0], ".-", color=drawing.COLOURS[0], lw=1.2, ms=4)
    axes.set_xlabel("t, s")
    axes.set_ylabel("θ₁, rad")
    axes.set_title(
        f"Motion of the crank, {motion.t.size} samples (Fig. 5; the paper prints no numbers)",
        color=drawing.INK,
        fontsize=11,
    )
    axes.grid(True, color="#e6e6e6", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return (
        mechanism.draw(one.model, folder / "planar-symbolic-figure-4.png"),
        mechanism.save(figure, folder / "planar-symbolic-figure-5.png"),
    )
