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
        (objective, symbol) parts of that variance.
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
    predicted, shares = _linear(spec, tolerances, by["about"])
    return Spread(path, by["origin"], by["about"], tolerances, verdict, predicted, shares)


def _linear(
    spec: StudySpec, tolerances: Tolerances, design: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Standard deviations by exact slopes (objective,), and shares (objective, symbol)."""
    names = tuple(tolerances.half)
    if any(one.function is None for one in spec.own):  # who only reads runs no metric
        empty = np.full((len(spec.objectives), len(names)), np.nan)
        return empty[:, 0], empty
    landscape = Landscape.by(spec, {name: 100 * tolerances.half[name] for name in names})
    point = landscape.at(dict(design))
    if point is None:
        empty = np.full((len(spec.objectives), len(names)), np.nan)
        return empty[:, 0], empty
    lines = [line.expression for line in spec.objectives]
    _, slopes = differentiated(lines, point.values, point.slopes, len(names))
    parts = (slopes * tolerances.deviation) ** 2
    total = parts.sum(axis=1)
    whole = np.where(total > 0, total, 1.0)  # a step has no slope, and no share of anything
    return np.sqrt(total), parts / whole[:, None]
