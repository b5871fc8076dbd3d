"""Base parameters by one route, or by all of them side by side."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from basepar_core.base.precise import PreciseParameters, precise
from basepar_core.base.product import product
from basepar_core.base.result import BaseParameters
from basepar_core.base.symbolic import nominal_observation, numeric, symbolic
from basepar_core.closure import Model
from basepar_core.errors import EliminationError
from basepar_core.regressor import Observation

from .spectra import Spectra, of_route

#: Entries of β by two routes are the same within this share of the largest: float64's null
#: space loses the digits that W's condition costs, and a doubtful one is not compared at all.
SAME = 1e-6
#: Decimal digits of a float.
FLOAT_DIGITS = 16


def find(
    model: Model,
    route: str,
    wanted: Sequence[int] | None = None,
    digits: int | None = None,
    seen: Observation | None = None,
) -> BaseParameters:
    """Base parameters by one route; `seen` is W in float64, where it is at hand.

    Raises
    ------
    EliminationError
        `wanted` is not admissible.
    UsageError, FamilyError
        The product route has no class for this mechanism.
    """
    if route == "precise":
        return precise(model, list(wanted) if wanted is not None else None, digits)
    if route == "product":
        return product(model, wanted)
    return (symbolic if route == "symbolic" else numeric)(model, wanted, seen=seen)


@dataclass(frozen=True)
class Comparison:
    """All routes side by side.

    Attributes
    ----------
    found, seconds, cpu_seconds
        By route, in the order they ran.
    spectra
        Singular values of the W that the precise route used, in double and variable precision.
    agreed
        *agreed*; *doubtful*, where a route doubts its own rank and no two others differ; or
        *contradictory*. Float64 in doubt is said in `why` and decides nothing.
    why
        What that rests on, in sentences.
    """

    found: Mapping[str, BaseParameters]
    seconds: Mapping[str, float]
    cpu_seconds: Mapping[str, float]
    spectra: Spectra
    agreed: str
    why: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The symbolic route's document with every route's beside it (FORMAT.md)."""
        return self.found["symbolic"].document() | {
            "route": "all",
            "routes": {
                route: base.document() | {"seconds": self.seconds[route]}
                for route, base in self.found.items()
            },
            "side_by_side": [self._row(route) for route in self.found],
            "spectra": self.spectra.document(),
            "agreed": self.agreed,
            "why": list(self.why),
        }

    def _row(self, route: str) -> dict[str, Any]:
        base = self.found[route]
        exact = {"symbolic": None, "numeric": FLOAT_DIGITS}
        digits = base.observed_digits if isinstance(base, PreciseParameters) else exact[route]
        return {
            "route": route,
            "rank": base.rank,
            "at_least": base.certificate.at_least_grade,
            "at_most": base.certificate.at_most_grade,
            "gap_decades": math.log10(base.gap) if base.gap > 0 else 0.0,
            "doubtful": bool(base.doubt),
            "digits": digits,  # null: exact
            "seconds": self.seconds[route],
            "cpu_seconds": self.cpu_seconds[route],
        }


def compare(
    model: Model,
    wanted: Sequence[int] | None = None,
    digits: int | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """Every route on one mechanism; the others eliminate what the symbolic one does.

    Parameters
    ----------
    model
        The mechanism, prepared.
    wanted
        φ₂ by index; None: chosen by the symbolic route.
    digits
        Of β, by the precise route.
    say
        Is told what comes next.

    Raises
    ------
    EliminationError
        `wanted` is not admissible.
    """
    found: dict[str, BaseParameters] = {}
    say("observation matrix")
    seen = nominal_observation(model)
    seconds: dict[str, float] = {}
    cpu: dict[str, float] = {}
    for route in ("symbolic", "numeric", "precise"):
        say(f"{route} route")
        started, spent = time.perf_counter(), time.process_time()
        try:
            found[route] = find(model, route, wanted, digits, seen)
        except EliminationError:
            if route == "symbolic":
                raise
            found[route] = find(model, route, None, digits, seen)  # its rank differs: its own φ₂
        seconds[route] = time.perf_counter() - started
        cpu[route] = time.process_time() - spent
        wanted = found["symbolic"].eliminated
    precise_ = found["precise"]
    assert isinstance(precise_, PreciseParameters)
    spectra = of_route(seen, precise_)
    return Comparison(found, seconds, cpu, spectra, *_judged(found, spectra))


def _judged(found: Mapping[str, BaseParameters], spectra: Spectra) -> tuple[str, tuple[str, ...]]:
    """agreed, doubtful or contradictory; and why.

    Each is judged by its own doubts: float64 that cannot decide has no vote, and takes none from
    the routes that do not need it.
    """
    first, why, verdicts = found["symbolic"], [], []
    for route in ("precise", "numeric"):
        other = found[route]
        same, said = _difference(first, other)
        why.append(f"symbolic and {route}: {said}")
        doubted = first.doubt or other.doubt
        if not other.doubt or route != "numeric":
            verdicts.append("doubtful" if doubted else "agreed" if same else "contradictory")
        if other.doubt and route == "precise":
            why.append(f"variable precision doubts its own rank {other.rank}: {other.doubt}")
        elif other.doubt:
            why.append(_float_doubt(other, spectra))
    if first.doubt:
        why.append(f"the symbolic route doubts its own rank {first.rank}: {first.doubt}")
        sure = [base.rank for base in (found["precise"], found["numeric"]) if not base.doubt]
        if len(set(sure)) > 1:
            why.append(f"precise and numeric: ranks {sure[0]} and {sure[1]}")
            verdicts.append("contradictory")
    if found["precise"].rank < first.rank:
        why.append(
            "a lower rank by variable precision is of this geometry and branch; the symbolic "
            "route's holds for generic geometry"
        )
    order = ("contradictory", "doubtful", "agreed")
    return min(verdicts, key=order.index), tuple(why)


def _difference(one: BaseParameters, two: BaseParameters) -> tuple[bool, str]:
    """Whether two routes found the same, and how they compare in words."""
    if one.rank != two.rank:
        return False, f"ranks {one.rank} and {two.rank}"
    if one.eliminated != two.eliminated:
        return False, f"the same rank {one.rank}, but φ₂ of one is not admissible to the other"
    largest = np.abs(one.nominal_beta).max(initial=1.0)
    apart = float(np.abs(one.nominal_beta - two.nominal_beta).max(initial=0.0) / largest)
    same = apart <= SAME
    said = "the same" if apart == 0 else f"{'equal' if same else 'different'} to {apart:.0e}"
    return same, f"the same rank {one.rank} and φ₂, β {said} of its largest entry"


def _float_doubt(base: BaseParameters, spectra: Spectra) -> str:
    """Why double precision cannot decide, in terms of what variable precision sees."""
    hidden = spectra.hidden()
    if not hidden:
        return f"float64 doubts its rank {base.rank}: {base.doubt}"
    first, last = hidden[0], hidden[-1]
    which = f"σ_{first}" if first == last else f"σ_{first} to σ_{last}"
    sizes = " to ".join(f"{10 ** spectra.precise[k - 1]:.1e}" for k in sorted({first, last}))
    return (
        f"float64 doubts its rank {base.rank}: {which} of W ({sizes} in variable precision) are "
        f"below the error that W may have in double precision ({10**spectra.error:.1e}), where "
        f"they cannot be told from zero"
    )
