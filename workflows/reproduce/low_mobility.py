"""The low-mobility paper: Tables 1–5 and Figs. 4 and 5 of its suspension.

φ₂ is the paper's, and everything is compared by the parameters' names (erratum: its tables number
them differently). Ground points and axes are not printed; ours are in `sla-suspension`, and of
the numbers below only rounding noise and singular values depend on them.
"""

import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from basepar_core.api import load
from basepar_core.base import numeric, precise_rank
from basepar_core.dynamics import excitation, excite, prepare
from basepar_core.expressions import evaluate
from basepar_core.mechanism import Sines, joint_type
from basepar_core.variable_precision import rung, variant
from workflows import drawing
from workflows.drawing import spectra

from .comparison import (
    Number,
    Reproduction,
    Table,
    agrees,
    data,
    erratum,
    exact,
    not_comparable,
    number,
)
from .low_mobility_numbers import equation_17, table_1, table_2
from .low_mobility_symbols import (
    table_3,
    table_4,
    table_5,
    table_5_without_rules,
)
from .papers import Say
from .suspension import DIGITS, Suspension

#: A ridge between singular values: none is seen within one decade.
NO_RIDGE = 10.0
#: Share by which a singular value of double precision counts as wrong.
WRONG = 0.01
UNPRINTED = "depends on ground points and axes, which the paper does not print"


def reproduce(say: Say, figures: Path | None) -> Reproduction:
    """Recompute the paper (see `workflows.reproduce.reproduce`)."""
    started = time.perf_counter()
    if figures is not None:
        drawing.canvas(1, 1)  # says at once where matplotlib is missing
    one = Suspension(prepare(load("sla-suspension")), data("low-mobility"))
    say("symbolic route, with the paper's φ₂")
    one.symbolic  # noqa: B018
    say(f"variable precision, {DIGITS} digits")
    one.precise  # noqa: B018
    say("double precision and variable precision on all samples")
    sigma = figure_5(one)
    say("symbolic β without joint rules")
    one.black_box  # noqa: B018
    tables = (
        data_table(one),
        excitation_table(one),
        table_1(one),
        equation_17(one),
        table_2(one),
        table_3(one),
        table_4(one),
        table_5(one),
        table_5_without_rules(one),
        statements(one, sigma, say),
    )
    drawn: tuple[Path, ...] = ()
    if figures is not None:
        say("figures")
        drawn = draw(one, sigma, figures)
    seconds = time.perf_counter() - started
    title = "Base inertial parameters of low mobility mechanisms (SLA suspension)"
    return Reproduction("low-mobility", title, tables, drawn, seconds)


def data_table(one: Suspension) -> Table:
    """Lengths under Tables 1 and 2, and those that Table 2 implies: the file's are the same."""
    nominal = one.model.mechanism.nominal
    printed = one.printed["geometry"] | one.printed["hub_to_wheel"]
    numbers = tuple(number(name, value, nominal[name]) for name, value in printed.items())
    note = "DKx, DKy, DKz are printed nowhere; Table 2 implies them (erratum 5)"
    return Table("data", "geometry, m", numbers, note)


def excitation_table(one: Suspension) -> Table:
    """Eq. 16: amplitudes and frequencies of both angles."""
    mechanism, numbers = one.model.mechanism, []
    law = mechanism.excitation
    assert isinstance(law, Sines)
    for joint, terms in zip(mechanism.coordinates, law.terms, strict=True):
        printed = one.printed["equation_16"][joint]
        for k, (said, term) in enumerate(zip(printed, terms, strict=True), start=1):
            size, rate, _ = (float(x) for x in evaluate(term, mechanism.nominal))
            root = said[1].startswith("sqrt")
            frequency = said[1].removeprefix("sqrt(").removesuffix(")")
            numbers.append(number(f"{joint}: amplitude {k}, rad", said[0], size))
            what = f"{joint}: {'square of ' if root else ''}frequency {k}"
            numbers.append(number(what, frequency, rate**2 if root else rate))
    return Table("Eq. 16", "excitation of both angles", tuple(numbers))


def figure_5(one: Suspension) -> spectra.Spectra:
    """Singular values on all samples, in double precision and in the paper's 30 digits."""
    seen = one.observation
    samples = seen.W.shape[1]
    found = rung(variant(one.model, {}, samples).observe(DIGITS))
    return spectra.of_samples(seen, range(samples), found.log10_values, found.rank, DIGITS)


def statements(one: Suspension, sigma: spectra.Spectra, say: Say) -> Table:
    """What the text says in words and single numbers."""
    numbers = (
        number("base parameters, symbolic", "41", str(one.symbolic.rank)),
        number("base parameters, variable precision", "41", str(one.precise.rank)),
        number("inertial parameters", "70", str(len(one.symbolic.parameters))),
        *_ridges(one, sigma),
        *_misprints(one),
    )
    say("variable precision, 500 digits")
    started = time.process_time()
    rank = precise_rank(one.model, digits=500).rank
    spent = f"{time.process_time() - started:.1f} s of CPU, rank {rank}"
    published = "5 min (Maple), > 1 h (MATLAB)"
    timed = exact("time of the rank, 500 digits", published, spent, "another machine")
    size = not_comparable(timed, "another machine and another decade; shown for its size")
    return Table("text", "what the text states", (*numbers, size))


def _ridges(one: Suspension, sigma: spectra.Spectra) -> list[Number]:
    """Fig. 5 in words: where singular values end."""
    last, after = sigma.rank - 1, sigma.rank
    double = 10 ** (sigma.double[last] - sigma.double[after])
    ridge = sigma.precise[last] - sigma.precise[after]
    seen = numeric(one.model)
    low = f"σ₄₁/σ₄₂ = {double:.2g}; float64 sees rank {seen.rank} and doubts it"
    high = f"{ridge:.0f} decades with {sigma.digits} digits"
    off = np.abs(10 ** (np.array(sigma.double) - np.array(sigma.precise)) - 1)[: sigma.rank]
    wrong = np.flatnonzero(off > WRONG) + 1
    apart = f"{wrong[0]} to {wrong[-1]}" if wrong.size else f"none by {WRONG:.0%}"
    beta = max(
        abs(x - float(one.right[base].get(name, "0")))
        for base, row in one.double.items()
        for name, x in row.items()
    )
    return [
        exact(
            "ridge after σ₄₁ in double precision",
            "hardly observable",
            low,
            "0" if double < NO_RIDGE and seen.doubt else "a ridge",
        ),
        exact(
            "ridge after σ₄₁ in variable precision",
            "clearly observable",
            high,
            "0" if sigma.rank == 41 and ridge > math.log10(NO_RIDGE) else "no ridge",
        ),
        not_comparable(
            exact("σ that double precision has wrong", "36 to 41", apart, "others"), UNPRINTED
        ),
        not_comparable(
            number("largest error of β in double precision", "3.4e16", beta), UNPRINTED
        ),
    ]


def _misprints(one: Suspension) -> list[Number]:
    """Statements of the text that the paper's own tables contradict."""
    errata = one.printed["errata"]["table_2"]
    apart = {
        base
        for base, row in one.printed["table_2"].items()
        if any(
            not agrees(row["terms"].get(name, "0"), one.right[base].get(name, "0"))
            for name in {*row["terms"], *one.right[base]}
        )
    }
    same = exact(
        "Table 5 evaluated is Table 2",
        "identical",
        f"identical but {', '.join(sorted(apart))}" if apart else "identical",
        f"{len(apart)} rows" if apart else "0",
    )
    # Condition 6 would be second moments; through S and U joints there are masses only.
    kinds = {
        kind
        for joint in one.model.mechanism.joints
        if joint_type(joint.type).rotations > 1
        for kind in ("mass", "first moment", "second moment")
        if one.transfers(joint.name, kind)
    }
    (dipole,) = one.transfers("R35", "first moment")
    moment = next(name for name in dipole if name.endswith("5"))
    return [
        erratum(same, apart == errata.keys(), "they differ as printed (erratum 1)"),
        erratum(
            exact("§6.2.2: condition for S and U joints", "6", f"1 ({', '.join(kinds)})", "not 6"),
            kinds == {"mass"},
            "Table 4 and Appendix A have condition 1 (erratum 3)",
        ),
        erratum(
            exact("Appendix A, joint 5-3: first moment", "mz5", moment, "another parameter"),
            moment == "mx5",
            "the wheel turns about x5 (erratum 4)",
        ),
    ]


def draw(one: Suspension, sigma: spectra.Spectra, folder: Path) -> tuple[Path, ...]:
    """Figs. 4 and 5."""
    mechanism, start = one.model.mechanism, one.model.assembled.coordinates
    assert isinstance(mechanism.excitation, Sines)
    seen = excitation(mechanism, start)
    smooth = excite(replace(mechanism.excitation, samples=1000), mechanism, start)
    figure = drawing.canvas(7.2, 3.6)
    axes = figure.add_subplot()
    labels = ("θ₁, lower arm against chassis", "θ₂, wheel against hub")
    for k, (label, colour) in enumerate(zip(labels, drawing.COLOURS, strict=False)):
        axes.plot(smooth.t, smooth.q[k], color=colour, lw=1.4, label=label)
        axes.plot(seen.t, seen.q[k], ".", color=colour, ms=3.5)
    axes.set_xlabel("t, s")
    axes.set_ylabel("angle, rad")
    axes.set_xlim(0, 10)
    axes.set_ylim(-1.3, 1.5)
    axes.set_title(
        f"Excitation, {seen.t.size} samples (Fig. 4, Eq. 16)", color=drawing.INK, fontsize=11
    )
    axes.grid(True, color="#e6e6e6", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9, loc="upper right", ncols=2)
    title = f"Singular values of W, {sigma.samples} samples (Fig. 5)"
    return (
        drawing.save(figure, folder / "low-mobility-figure-4.png"),
        drawing.save(spectra.spectra_figure(sigma, title), folder / "low-mobility-figure-5.png"),
    )
