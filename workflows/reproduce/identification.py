"""The slider-crank paper: Tables 1 and 2, Figs. 3 and 4.

Lengths, trajectories and sampling rate are not printed. Motion and torque are another program's
(Exudyn, 8 s at 125 Hz; lengths that give the paper's Table 2), with the paper's noise on them.
What the paper identified from one draw of noise is held against the spread of ours.
"""

import time
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.api import load
from basepar_core.arrays import Array
from basepar_core.base import BaseParameters, parameter_indices, symbolic
from basepar_core.dynamics import Model, prepare
from basepar_core.identification import (
    Choices,
    Identification,
    Measurement,
    identify,
    read_measurement,
    smooth,
)
from workflows import drawing

from .comparison import Number, Reproduction, Table, data, exact, not_comparable, number
from .papers import Say

TITLE = "Identification of a slider-crank's inertial parameters by linear regression"
COLUMNS = {"A": "q", "A'": "qd", "A''": "qdd", "tau.A": "tau"}
#: Draws of noise: a spread from 30 is known to 13 %.
DRAWS = 30
#: Deviations within which a printed estimate is like ours: 99 % of normal ones.
ALIKE = 2.6
UNPRINTED = "trajectory and sampling rate, which decide the spread, are not printed"


@dataclass(frozen=True)
class Records:
    """The mechanism, the simulated records, and identifications from them."""

    model: Model
    printed: Any
    train: Measurement
    validation: Measurement

    @cached_property
    def wanted(self) -> list[int]:
        names = self.printed["eliminated"] + self.printed["no_effect"]
        return parameter_indices(self.model.mechanism, names)

    def noisy(self, record: Measurement, rng: np.random.Generator) -> Measurement:
        """A record with the paper's noise on crank angle and torque; nothing else is measured."""
        sigma = {name: float(value) for name, value in self.printed["noise"].items()}
        q = record.q + sigma["sigma_z"] * rng.standard_normal(record.q.shape)
        tau = record.tau + sigma["sigma_T"] * rng.standard_normal(record.tau.shape)
        return replace(record, q=q, tau=tau, rates=None)

    @cached_property
    def base(self) -> BaseParameters:
        return symbolic(self.model, self.wanted)

    @cached_property
    def exact(self) -> Identification:
        return identify(self.model, self.train, base=self.base)

    @cached_property
    def draws(self) -> list[Identification]:
        """From noisy records, smoothed at the paper's cut-off; the first with validation."""
        rng, cutoff = np.random.default_rng(2), float(self.printed["cutoff"])
        found = []
        for k in range(DRAWS):
            train, second = self.noisy(self.train, rng), self.noisy(self.validation, rng)
            other = second if k == 0 else None
            found.append(
                identify(
                    self.model,
                    train,
                    base=self.base,
                    second=other,
                    choices=Choices(method="ols", cutoff=cutoff),
                )
            )
        return found

    @cached_property
    def spread(self) -> Array:
        """(base,) standard deviation over the draws."""
        return np.std([one.estimate.values for one in self.draws], axis=0, ddof=1)


def records() -> Records:
    """Mechanism and records as shipped."""
    folder = Path(str(resources.files(__package__)))
    model = prepare(load(str(folder / "identification-mechanism.yaml")))
    train, second = (
        read_measurement(folder / f"identification-{part}.csv", model.mechanism, COLUMNS)
        for part in ("train", "validation")
    )
    return Records(model, data("identification"), train, second)


def reproduce(say: Say, figures: Path | None) -> Reproduction:
    """Recompute the paper (see `workflows.reproduce.reproduce`)."""
    started = time.perf_counter()
    if figures is not None:
        drawing.canvas(1, 1)  # says at once where matplotlib is missing
    one = records()
    say("identification from exact signals")
    one.exact  # noqa: B018
    say(f"identification from {DRAWS} noisy records")
    one.draws  # noqa: B018
    tables = (table_1(one), table_2(one), table_2_identified(one), statements(one))
    drawn: tuple[Path, ...] = ()
    if figures is not None:
        say("figures")
        drawn = (figure_3(one, figures), figure_4(one, figures))
    seconds = time.perf_counter() - started
    return Reproduction("identification", TITLE, tables, drawn, seconds)


def table_1(one: Records) -> Table:
    """Standard parameters that the simulated mechanism has."""
    mechanism = one.model.mechanism
    phi = mechanism.inertial_parameters(mechanism.nominal)
    ours = dict(zip(mechanism.parameter_names, phi, strict=True))
    numbers = tuple(
        number(name, said, ours[name]) for name, said in one.printed["table_1"].items()
    )
    note = "the file's, unrounded; Iyy and what is out of the plane have no effect"
    return Table("Table 1", "standard parameters, SI", numbers, note)


def table_2(one: Records) -> Table:
    """Base parameters from exact signals against the column "accurate"."""
    ours = dict(zip(one.exact.names, one.exact.estimate.values, strict=True))
    numbers = tuple(
        # Zeros are printed without digits: ours are 0 to the seven that the signals have.
        number(name, row["accurate"], round(ours[name], 9))
        for name, row in one.printed["table_2"].items()
    )
    return Table("Table 2", "base parameters from exact signals, SI", numbers)


def table_2_identified(one: Records) -> Table:
    """The paper's estimates, each in deviations of ours from the accurate value."""
    truth = dict(zip(one.exact.names, one.exact.estimate.values, strict=True))
    deviation = dict(zip(one.exact.names, one.spread, strict=True))
    numbers = []
    for name, row in one.printed["table_2"].items():
        off = (float(row["identified"]) - truth[name]) / deviation[name]
        ours = f"{truth[name]:.4g} ± {deviation[name]:.2g}"
        inside = "0" if abs(off) <= ALIKE else f"{off:.1f} σ"
        found = exact(name, row["identified"], ours, inside)
        numbers.append(not_comparable(found, f"{abs(off):.1f} of our deviations; {UNPRINTED}"))
    note = f"agrees: within {ALIKE} standard deviations of {DRAWS} draws of the paper's noise"
    return Table("Table 2, identified", "one draw of noise, SI", tuple(numbers), note)


def statements(one: Records) -> Table:
    """What the text says in single numbers."""
    first = one.draws[0]
    assert first.validation is not None
    torque = one.validation.tau[0]
    off = first.validation.predicted[0] - torque
    share = float(np.linalg.norm(off) / np.linalg.norm(torque))
    found: list[Number] = [
        number("base parameters", "6", str(first.base.rank)),
        exact(
            "validation: torque predicted",
            "high accuracy",
            f"{share:.1%} from the noiseless torque",
            "0" if share < 0.05 else "more than 5 %",
        ),
    ]
    return Table("text", "what the text states", tuple(found))


def figure_3(one: Records, folder: Path) -> Path:
    """Crank angle: precise, measured, smoothed; training on the left, validation on the right.

    Noise of a thousandth of a radian is narrower than a line: below, what is off.
    """
    figure = drawing.canvas(9.0, 5.0)
    rows = figure.add_gridspec(2, 2, height_ratios=(2, 1))
    rng = np.random.default_rng(2)
    for place, record in enumerate((one.train, one.validation)):
        noisy = one.noisy(record, rng)
        cutoff = float(one.printed["cutoff"])
        smoothed = smooth(record.t, noisy.q[0], cutoff).value
        axes = figure.add_subplot(rows[0, place])
        axes.plot(noisy.t, noisy.q[0], ".", color="#BBBBBB", ms=3, label="measured")
        axes.plot(record.t, record.q[0], color=drawing.COLOURS[0], lw=1.6, label="precise")
        axes.plot(record.t, smoothed, "--", color=drawing.COLOURS[1], lw=1.2, label="smoothed")
        _finish(axes, ("training", "validation")[place], "crank angle, rad")
        axes = figure.add_subplot(rows[1, place])
        for values, style in (
            (noisy.q[0], {"marker": ".", "ls": "", "color": "#BBBBBB", "ms": 3}),
            (smoothed, {"color": drawing.COLOURS[1], "lw": 1.2}),
        ):
            axes.plot(record.t, 1e3 * (values - record.q[0]), **style)
        _finish(axes, "", "off precise, mrad", legend=False)
    return drawing.save(figure, folder / "identification-figure-3.png")


def figure_4(one: Records, folder: Path) -> Path:
    """Crank torque: measured, predicted by the identified model, and without noise."""
    first = one.draws[0]
    assert first.validation is not None
    figure = drawing.canvas(9.0, 3.4)
    pairs = ((one.train, first.training), (one.validation, first.validation))
    for place, (record, fitted) in enumerate(pairs):
        axes = figure.add_subplot(1, 2, place + 1)
        axes.plot(fitted.t, fitted.measured[0], ".", color="#BBBBBB", ms=3, label="measured")
        axes.plot(record.t, record.tau[0], color=drawing.COLOURS[0], lw=1.6, label="noiseless")
        axes.plot(
            fitted.t,
            fitted.predicted[0],
            "--",
            color=drawing.COLOURS[1],
            lw=1.2,
            label="predicted",
        )
        _finish(axes, ("training", "validation")[place], "crank torque, N m")
    return drawing.save(figure, folder / "identification-figure-4.png")


def _finish(axes: Any, title: str, label: str, legend: bool = True) -> None:
    axes.set_title(title, color=drawing.INK, fontsize=11)
    axes.set_xlabel("t, s")
    axes.set_ylabel(label)
    axes.grid(True, color="#e6e6e6", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    if legend:
        axes.legend(frameon=False, fontsize=8)
