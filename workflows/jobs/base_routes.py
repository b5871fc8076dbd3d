"""Base parameters by one route, or by all of them side by side.

Besides the symbolic, numeric and precise routes two that share no joint rule with the first: the
black box, and for planar mechanisms that meet the paper's conditions the search in its product
class. They are checks; where they cannot speak, the verdict rests on the others.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from basepar_core import base as routes  # each loads when it is asked for: sympy takes a while
from basepar_core.arrays import Array
from basepar_core.base import BaseParameters
from basepar_core.dynamics import Model, Observation
from basepar_core.errors import EliminationError, FamilyError, UsageError

if TYPE_CHECKING:
    from workflows.drawing import Spectra

#: Entries of β by two routes are the same within this share of the largest: float64's null
#: space loses the digits that W's condition costs, and a doubtful one is not compared at all.
SAME = 1e-6
#: Condition of a change of φ₂ beyond which no digit that `SAME` asks for is left.
SINGULAR = 1e10
#: Decimal digits of a float.
FLOAT_DIGITS = 16


def find(
    model: Model,
    route: str,
    wanted: Sequence[int] | None = None,
    digits: int | None = None,
    seen: Observation | None = None,
    say: Callable[[str], None] = lambda _: None,
    shared: bool = False,
) -> BaseParameters:
    """Base parameters by one route; `seen` is W in float64, where it is available.

    `say` is called with a text on each step of the symbolic and the precise route before it
    begins. `shared` is as of `precise`.

    Raises
    ------
    EliminationError
        `wanted` is not admissible.
    UsageError, FamilyError
        The product route has no class, or the black box no points, for this mechanism.
    """
    if route == "precise":
        chosen = list(wanted) if wanted is not None else None
        return routes.precise(model, chosen, digits, shared, say)
    if route == "product":
        return routes.product(model, wanted)
    if route == "black-box":
        return routes.black_box(model, wanted, seen)
    if route == "symbolic":
        return routes.symbolic(model, wanted, seen=seen, say=say)
    return routes.numeric(model, wanted, seen=seen)


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
        *contradictory*. Float64 in doubt is reported in `why` and decides nothing.
    why
        What that rests on, in sentences.
    not_run
        Why, per route that has nothing to say of this mechanism.
    """

    found: Mapping[str, BaseParameters]
    seconds: Mapping[str, float]
    cpu_seconds: Mapping[str, float]
    spectra: "Spectra"
    agreed: str
    why: tuple[str, ...]
    not_run: Mapping[str, str]

    def document(self) -> dict[str, Any]:
        """The symbolic route's document with every route's beside it (docs/json.md)."""
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
            "not_run": dict(self.not_run),
        }

    def _row(self, route: str) -> dict[str, Any]:
        base = self.found[route]
        digits = FLOAT_DIGITS if route == "numeric" else None
        if isinstance(base, routes.PreciseParameters):
            digits = base.observed_digits
        return {
            "route": route,
            "rank": base.count,
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
        Called with a text on each step before it begins.

    Raises
    ------
    EliminationError
        `wanted` is not admissible.
    """
    found: dict[str, BaseParameters] = {}
    seconds: dict[str, float] = {}
    cpu: dict[str, float] = {}
    not_run: dict[str, str] = {}

    def run(route: str, job: Callable[[], BaseParameters]) -> None:
        say(f"{route} route")
        started, spent = time.perf_counter(), time.process_time()
        found[route] = job()
        seconds[route] = time.perf_counter() - started
        cpu[route] = time.process_time() - spent

    from workflows.drawing import of_route

    say("observation matrix")
    seen = routes.nominal_observation(model)
    run("symbolic", partial(find, model, "symbolic", wanted, seen=seen))
    gone = found["symbolic"].eliminated
    for route in ("numeric", "precise"):
        try:
            run(route, partial(find, model, route, gone, digits, seen))
        except EliminationError:  # its rank differs: its own φ₂
            run(route, partial(find, model, route, None, digits, seen))
    family = _family(found["symbolic"]).eliminated
    checks = {
        "product": partial(_product_of, model, gone),
        "black-box": partial(find, model, "black-box", family, seen=seen),
    }
    for route, job in checks.items():
        try:
            run(route, job)
        except (EliminationError, FamilyError, UsageError) as error:
            not_run[route] = error.message
    precise_ = found["precise"]
    assert isinstance(precise_, routes.PreciseParameters)
    spectra = of_route(seen, precise_)
    return Comparison(found, seconds, cpu, spectra, *_judged(found, spectra), not_run)


def _product_of(model: Model, gone: Sequence[int]) -> BaseParameters:
    """The product route's result, of φ₂ or of its own, if the paper's conditions hold for one."""
    mechanism = model.mechanism
    if not mechanism.planar:
        raise UsageError("the product class is of planar mechanisms", ["--route"])
    from basepar_core.symbolic import GeometryField

    names, field = mechanism.parameter_names, GeometryField.of(mechanism)
    if _holds(routes.conditions(mechanism, field, [names[k] for k in gone])):
        return routes.product(model, gone)
    found = routes.product(model)
    failed = [condition.name for condition in found.conditions if not condition.holds]
    if failed:
        raise UsageError(
            f"the planar paper's conditions do not all hold: {', '.join(failed)}", ["--route"]
        )
    return found


def _holds(checked: Sequence["routes.Condition"]) -> bool:
    return all(condition.holds for condition in checked)


def _family(base: BaseParameters) -> BaseParameters:
    """What a route says of generic members of the family; the black box speaks of no others."""
    return base.of_family or base


def _judged(
    found: Mapping[str, BaseParameters], spectra: "Spectra"
) -> tuple[str, tuple[str, ...]]:
    """agreed, doubtful or contradictory; and why.

    Each is judged by its own doubts: float64 that cannot decide has no vote, and takes none from
    the routes that do not need it.
    """
    first, why, verdicts = found["symbolic"], [], []
    for route in ("precise", "numeric", "product", "black-box"):
        if route not in found:
            continue
        other = found[route]
        same, said = _difference(_family(first) if route == "black-box" else first, other)
        why.append(f"symbolic and {route}: {said}")
        # The checks' own doubts are of expressions that are not in a class, not of ranks.
        doubted = first.doubt or (other.doubt and route == "precise")
        if not other.doubt or route != "numeric":
            verdicts.append("doubtful" if doubted else "agreed" if same else "contradictory")
        if other.doubt and route == "precise":
            why.append(f"variable precision doubts its own rank {other.rank}: {other.doubt}")
        elif other.doubt and route == "numeric":
            why.append(_float_doubt(other, spectra))
        elif other.doubt and other.doubt != first.doubt:
            why.append(f"{route}: {other.doubt}")
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
    beta, which = one.nominal_beta, "and φ₂"
    if one.eliminated != two.eliminated:
        other = _regrouped(one, two.eliminated) if two.route == "product" else None
        if other is None:
            return False, f"the same rank {one.rank}, but φ₂ of one is not admissible to the other"
        beta, which = other, "and, for a φ₂ that the class allows,"
    largest = np.abs(beta).max(initial=1.0)
    apart = float(np.abs(beta - two.nominal_beta).max(initial=0.0) / largest)
    same = apart <= SAME
    if apart == 0:
        return same, f"the same rank {one.rank} {which}, the same β"
    said = f"{'equal' if same else 'different'} to {apart:.0e} of its largest entry"
    return same, f"the same rank {one.rank} {which}, β {said}"


def _regrouped(base: BaseParameters, eliminated: Sequence[int]) -> Array | None:
    """β at nominal geometry for another φ₂ of the same null space; None: not admissible."""
    count = len(base.parameters)
    null = np.zeros((count, len(base.eliminated)))
    null[list(base.kept)] = -base.nominal_beta
    null[list(base.eliminated)] = np.eye(len(base.eliminated))
    kept = [k for k in range(count) if k not in eliminated]
    square = null[list(eliminated)]
    if not np.linalg.cond(square) < SINGULAR:
        return None
    return np.asarray(-np.linalg.solve(square.T, null[kept].T).T)


def _float_doubt(base: BaseParameters, spectra: "Spectra") -> str:
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
