"""What manufacturing tolerances make of a design: Monte Carlo over them, and the linear share.

Dimensions are drawn independently about the design (a formula of `derive` states what is to be
made, and nothing follows from an error of making), all variants are one chunk of one sweep,
judged as the study judges its own; the design itself is variant 0. Beside the spread that was
found stands the one that exact slopes predict, σ² = Σ (∂f/∂λ σ_λ)²: where they agree, the terms
of that sum say which tolerance matters; where they do not, the design sits on a bend or an edge,
and only the Monte Carlo numbers count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from distributed import Client

from basepar_core.errors import ExpressionError, UsageError
from basepar_core.expressions import DIMENSIONLESS, did_you_mean, evaluate, parse, parse_unit
from basepar_core.mechanism import Mechanism
from basepar_core.metrics import differentiated
from sweeps.run import complete, sweep
from sweeps.spec import Asked
from sweeps.store import Location, Store, locate

from .chosen_design import chosen
from .companion_stores import room, tolerances_path
from .feasibility import Verdict, judge
from .gradients import Landscape
from .spec import StudySpec

Shape = Literal["uniform", "normal"]
#: Of the normal distribution a tolerance is three standard deviations, and nothing is beyond it:
#: parts outside are sorted out.
SIGMAS = 3.0
SAMPLES = 1000
#: Samples for each coefficient of the quadratics by which variance is shared.
ENOUGH = 5


@dataclass(frozen=True)
class Tolerances:
    """What is made how exactly: half widths by symbol, SI."""

    half: Mapping[str, float]
    shape: Shape = "uniform"
    samples: int = SAMPLES
    seed: int = 0

    @property
    def deviation(self) -> np.ndarray:
        """(symbol,): standard deviations, SI."""
        half = np.array(list(self.half.values()))
        if self.shape == "uniform":
            return half / np.sqrt(3.0)
        # Of a normal distribution cut off at three deviations 0.9866 is left.
        phi = np.exp(-(SIGMAS**2) / 2) / np.sqrt(2 * np.pi)
        return half / SIGMAS * np.sqrt(1 - 2 * SIGMAS * phi / 0.9973002039367398)

    def draw(self, design: Mapping[str, float]) -> dict[str, np.ndarray]:
        """Dimensions (variant,) about a design, the design itself first."""
        rng = np.random.default_rng(self.seed)
        found = {}
        for name, half in self.half.items():
            if self.shape == "uniform":
                off = rng.uniform(-half, half, self.samples)
            else:
                off = rng.standard_normal(self.samples)
                while (wide := np.abs(off) > SIGMAS).any():
                    off[wide] = rng.standard_normal(int(wide.sum()))
                off *= half / SIGMAS
            found[name] = design[name] + np.concatenate([[0.0], off])
        return found


@dataclass(frozen=True)
class Spread:
    """What tolerances make of a design.

    Attributes
    ----------
    path
        Store of the samples, `verdict` the study's judgement of them: the design is row 0.
    design
        By name, SI; `origin` is the variant of the study, "polished 2" or such.
    predicted
        (objective,) standard deviation that the slopes predict; nan without slopes, and where
        they need own metrics that the store only describes.
    shares
        (objective, symbol) parts of the samples' variance that a dimension has by itself, by the
        quadratics that fit them best; nan where there are too few, or nothing varies.
    aside
        Where samples of an earlier question were moved to.
    """

    path: Location
    origin: str
    design: Mapping[str, float]
    tolerances: Tolerances
    verdict: Verdict
    predicted: np.ndarray
    shares: np.ndarray
    aside: Location | None = None

    @property
    def samples(self) -> np.ndarray:
        """(sample, objective) of those samples that have values."""
        values = self.verdict.values[1:]
        return values[np.isfinite(values).all(axis=1)]


def read_tolerances(mechanism: Mechanism, texts: Sequence[str]) -> dict[str, float]:
    """`lx1=0.2 mm` and the like: half widths by symbol, SI.

    Raises
    ------
    UsageError
        A symbol that is none, or a value that does not fit it.
    """
    units = {s.name: parse_unit(s.unit) if s.unit else DIMENSIONLESS for s in mechanism.geometry}
    found: dict[str, float] = {}
    for part in (part.strip() for text in texts for part in text.split(",")):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in units or name in mechanism.roots:
            hint = did_you_mean(name, list(units)) or f"; there are {', '.join(units)}"
            raise UsageError(
                f"{mechanism.name!r} has no dimension {name!r}{hint}", ["--tolerance"]
            )
        try:
            (half,) = evaluate([parse(value, units[name], {})], {})
        except ExpressionError as error:
            raise UsageError(f"--tolerance {part}: {error.message}", ["--tolerance"]) from error
        if not 0 < float(half) < np.inf:
            raise UsageError(
                f"--tolerance {part}: a tolerance is above 0: {name} lies within ± this value.",
                ["--tolerance"],
            )
        found[name] = float(half)
    if not found:
        raise UsageError(
            "No tolerance is stated: --tolerance lx1=0.2mm,lx3=0.5mm", ["--tolerance"]
        )
    return found


def spread(
    spec: StudySpec,
    client: Client,
    tolerances: Tolerances,
    variant: str = "best",
    path: Location | None = None,
) -> Spread:
    """Evaluate samples about a design; where they are stored already, read them.

    Samples of other tolerances, or about another design of this study, are set aside.

    Raises
    ------
    UsageError
        The study is not finished, or has no such design.
    StoreError
        What is stored there is of another study.
    """
    origin, design = chosen(spec, variant)
    whole = dict(spec.mechanism.nominal) | design
    drawn = tolerances.draw(whole)
    count = tolerances.samples + 1
    columns = {name: np.full(count, value) for name, value in design.items()} | drawn
    by = {
        "tolerances": dict(tolerances.half),
        "shape": tolerances.shape,
        "seed": tolerances.seed,
        "about": design,
        "origin": origin,
        "of": spec.hash,
    }
    lines = {name: [float(x.min()), float(x.max())] for name, x in columns.items()}
    plan = Asked(lines, count, by).knowing(0, np.column_stack(list(columns.values())))
    place = str(path or tolerances_path(spec.path))
    job = replace(spec.sweep, plan=plan, chunk=count, store=place)
    aside = room(spec, job, "--to")
    if complete(job) is None:
        sweep(job, client)
    return replace(read_spread(spec, locate(place)), aside=aside)


def read_spread(spec: StudySpec, path: Location) -> Spread:
    """Samples about a design, from their store.

    Raises
    ------
    StoreError
        There is none.
    """
    from sweeps.spec import from_document

    held = Store.open(path)
    plan = from_document(str(held.attrs["spec"])).plan
    assert isinstance(plan, Asked)
    by = plan.by
    tolerances = Tolerances(by["tolerances"], by["shape"], len(plan) - 1, by["seed"])
    verdict = judge(spec, held, 0, len(plan), list(plan.names))
    predicted = _predicted(spec, tolerances, by["about"])
    made = np.stack([held.rows(name, 0, len(plan)) for name in tolerances.half], axis=1)
    off = (made - made[0]) / tolerances.deviation
    shares = _shares(off[1:], verdict.values[1:])
    return Spread(path, by["origin"], by["about"], tolerances, verdict, predicted, shares)


def _shares(off: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Parts (objective, symbol) of variances.

    About a least slopes say nothing: a quadratic in every dimension, all at once, by least
    squares (first-order indices of such a model: Sobol, Math. Comput. Simul. 55, 2001).
    """
    good = np.isfinite(values).all(axis=1)
    off, values = off[good], values[good]
    count = off.shape[1]
    whole = values.var(axis=0) if len(values) else np.zeros(values.shape[1])
    if len(values) < ENOUGH * (2 * count + 1):
        return np.full((values.shape[1], count), np.nan)
    basis = np.column_stack([np.ones(len(off)), off, off**2])
    made, *_ = np.linalg.lstsq(basis, values, rcond=None)
    lines = off[..., None] * made[1 : count + 1] + off[..., None] ** 2 * made[count + 1 :]
    with np.errstate(all="ignore"):
        found: np.ndarray = (lines.var(axis=0) / whole).T
    return np.where(whole[:, None] > 0, found, np.nan)


def _predicted(spec: StudySpec, tolerances: Tolerances, design: Mapping[str, float]) -> np.ndarray:
    """Standard deviations (objective,) by exact slopes."""
    names = tuple(tolerances.half)
    empty = np.full(len(spec.objectives), np.nan)
    if any(one.function is None for one in spec.own):  # who only reads runs no metric
        return empty
    landscape = Landscape.by(spec, {name: 100 * tolerances.half[name] for name in names})
    point = landscape.at(dict(design))
    if point is None:
        return empty
    lines = [line.expression for line in spec.objectives]
    _, slopes = differentiated(lines, point.values, point.slopes, len(names))
    found: np.ndarray = np.sqrt(((slopes * tolerances.deviation) ** 2).sum(axis=1))
    return found
