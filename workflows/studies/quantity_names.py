"""What objectives and constraints of a study may speak of, and where a store keeps it.

A *quantity* is a number per variant: a symbol, or a result of the evaluation. Results that have
one number per drive or per criterion are named with it: `torque_rms(A)`, `selected_size(bic)`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from basepar_core.errors import ExpressionError
from basepar_core.expressions import (
    LENGTH,
    NUMBER,
    UNITS,
    Dimension,
    Expression,
    did_you_mean,
    names,
    parse_unit,
)
from basepar_core.mechanism import Mechanism
from basepar_core.metrics import (
    METRICS,
    Target,
    array_name,
    canonical,
    cycle,
    metric_of,
    words,
)
from basepar_core.reduction import CRITERIA
from basepar_core.symbolic import symbol_values
from sweeps.spec import (
    Evaluation,
    OwnMetric,
    Reduction,
    angles,
    dimensions,
    metric_mistake,
    registered,
)
from sweeps.store import Store

#: Results of the rank's evaluation over the excitation; numbers without unit.
RANK_RESULTS = ("condition", "rank", "rank_gap")
_TORQUE = UNITS["N"].dimension * LENGTH
_OF = re.compile(r"\b([A-Za-z_]+)\(([^()]*)\)")


def quantities(
    mechanism: Mechanism, own: Iterable[OwnMetric] = (), targets: Sequence[Target] = ()
) -> dict[str, Dimension | None]:
    """Dimension of everything an objective or a constraint may name."""
    found = dimensions(mechanism)
    for name in cycle.names(mechanism, targets):
        metric = cycle.find(mechanism, name, targets)
        assert metric is not None
        if not metric.labels:  # several numbers are no quantity
            found[name] = _dimension(metric.unit)
    drives = mechanism.actuated
    for metric_name in words("torque"):
        for drive in drives:
            name = metric_name if len(drives) == 1 else f"{metric_name}({drive})"
            unit = METRICS[metric_name].unit
            found[name] = _dimension(unit) if unit else _drive_dimension(mechanism, drive)
    for criterion in CRITERIA:
        found[f"selected_size({criterion})"] = NUMBER
        found[f"selected_error({criterion})"] = NUMBER
    found |= dict.fromkeys((*RANK_RESULTS, "margin"), NUMBER)
    users = {**registered(), **{one.name: one for one in own}}
    return {name: _dimension(one.unit) for name, one in users.items()} | found


def angular(
    mechanism: Mechanism, own: Iterable[OwnMetric] = (), targets: Sequence[Target] = ()
) -> set[str]:
    """What of `quantities` is in rad."""
    units = metric_units(mechanism, own, targets)
    return angles(mechanism) | {name for name, unit in units.items() if unit == "rad"}


def metric_units(
    mechanism: Mechanism, own: Iterable[OwnMetric] = (), targets: Sequence[Target] = ()
) -> dict[str, str]:
    """SI units of metrics in their own words: of rad and A their dimension knows nothing."""
    found = {one.name: one.unit for one in (*registered().values(), *own)}
    for name in cycle.names(mechanism, targets):
        metric = cycle.find(mechanism, name, targets)
        assert metric is not None
        found[name] = metric.unit
    return found


def _dimension(unit: str) -> Dimension:
    # Amperes are bare numbers, as in mechanism files.
    return NUMBER if unit in ("1", "rad", "A") else parse_unit(unit.replace(" ", "*")).dimension


def _drive_dimension(mechanism: Mechanism, drive: str) -> Dimension:
    return UNITS["N"].dimension if mechanism.value(drive).is_length else _TORQUE


def check_words(text: str, known: Iterable[str]) -> None:
    """Reject a quantity of something that is not there, such as `stroke(X)`, in its own words.

    Raises
    ------
    ExpressionError
        Where the grammar would only say that there is no such function.
    """
    known = list(known)
    for word, inner in _OF.findall(text):
        alike = [name for name in known if name.startswith(f"{word}(")]
        name = canonical(f"{word}({inner})")
        if alike and name not in known:
            middle = [one for one in alike if f",{inner.strip()}," in one]
            hint = did_you_mean(name, alike) or f"; there are {', '.join(alike)}"
            if middle:
                hint = f"; with {inner.strip()} in the middle there are {', '.join(middle)}"
            raise ExpressionError(f"there is no {name}{hint}")
        if not alike and word in known and word in METRICS:
            of = "the only drive" if word in words("torque") else "the whole mechanism"
            raise ExpressionError(f"{word} is one value, of {of}: write {word}")
        if not alike and word in words("regime"):
            raise ExpressionError(
                f"there is no {name}: the mechanism has no steady regime. Add `motors` or "
                "`torques` to its file (docs/mechanism-files.md), or ask for torque_rms"
            )
    for metric in words("torque"):
        alike = [name for name in known if name.startswith(f"{metric}(")]
        if alike and re.search(rf"\b{metric}\b(?!\()", text):
            raise ExpressionError(f"{metric} has one value per drive: {', '.join(alike)}")


def metric_said(
    text: str,
    mechanism: Mechanism,
    targets: tuple[Target, ...],
    known: Mapping[str, Dimension | None],
) -> str:
    """What is wrong with the arguments of a metric in a text, as sweeps say it; "" for nothing."""
    for word, inner in _OF.findall(text):
        name = canonical(f"{word}({inner})")
        # Of transmissions `check_words` says more; the others have no arguments of a mechanism.
        told = word not in METRICS or METRICS[word].arguments in ("", "B,C,D")
        if name in known or told or word in words("regime"):
            continue
        if wrong := metric_mistake("", name, mechanism, targets):
            return wrong.message
    return ""


def results_in(
    mechanism: Mechanism,
    expressions: Iterable[Expression],
    own: Iterable[OwnMetric] = (),
    targets: Sequence[Target] = (),
) -> tuple[str, ...]:
    """Results (not symbols) that occur in expressions, in the order of `quantities`."""
    used = frozenset().union(*(names(expression) for expression in expressions))
    symbols = dimensions(mechanism)
    known = quantities(mechanism, own, targets)
    return tuple(name for name in known if name in used and name not in symbols)


def evaluation_of(
    results: Iterable[str],
    own: Iterable[OwnMetric] = (),
    reduction: Reduction | None = None,
    targets: Sequence[Target] = (),
) -> Evaluation:
    """What must be computed of every variant to have these results.

    The rank is float64's: no variant of a study waits for variable precision.
    """
    results = list(results)
    users = {**registered(), **{one.name: one for one in own}}
    parts = [_parts(name) for name in results]
    criteria = [inner for word, inner in parts if word.startswith("selected_")]
    metrics = [
        name if METRICS[word].arguments else word
        for name, (word, _) in zip(results, parts, strict=True)
        if word in METRICS
    ]
    wanted = tuple(name for name in CRITERIA if name in criteria)
    return Evaluation(
        "numeric" if set(RANK_RESULTS) & set(results) else "none",
        replace(reduction or Reduction(), criteria=wanted) if wanted else None,
        tuple(dict.fromkeys(metrics)),
        tuple(users[name] for name in results if name in users),
        targets=tuple(x for x in targets if any(name.endswith(f",{x.name})") for name in metrics)),
    )


def _parts(name: str) -> tuple[str, str]:
    """`torque_rms`, `A` of `torque_rms(A)`; the second is empty without parentheses."""
    match = _OF.fullmatch(name)
    return (match[1], match[2]) if match else (name, "")


def read_results(
    held: Store, results: Iterable[str], start: int, stop: int
) -> dict[str, np.ndarray | None]:
    """Results of variants start … stop − 1, each (variant,); None where the store has it not."""
    return {name: _read(held, name, start, stop) for name in results}


def _read(held: Store, name: str, start: int, stop: int) -> np.ndarray | None:
    word, inner = _parts(name)
    array = array_name(name) if metric_of(name) else word
    if array not in held:
        return None
    found = held.rows(array, start, stop)
    if found.ndim == 1:
        return np.asarray(found, float)
    named = getattr(held[array].metadata, "dimension_names", None)
    dims = named or ("variant", "")
    labels = held.labels(str(dims[1]))
    return np.asarray(found[:, labels.index(inner)], float) if inner in labels else None


def known_values(
    mechanism: Mechanism, symbols: Mapping[str, np.ndarray], results: Mapping[str, np.ndarray]
) -> dict[str, Any]:
    """Value of every quantity that is known; unswept symbols are nominal or follow."""
    return {**symbol_values(mechanism, symbols), **results}
