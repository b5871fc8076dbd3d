"""A study's best variants once more, in variable precision: what float64 only screened.

A study evaluates every variant in float64, and none waits for variable precision. Its incumbents
alone are worth the seconds that a certificate costs: the rank at the variant's very geometry, on
its branch, and the values of its base parameters with the grade of their formulas. What was found
stays in the store's attributes, so that it is done once.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from basepar_core.symbolic import symbol_values
from basepar_core.texts import plural
from sweeps.chunks import CERTAIN, PreciseEvaluator, prepare
from sweeps.store import Location, PreciseStatus, Store, store

from .spec import StudySpec

_KEPT = "incumbents"


def certify(
    spec: StudySpec, rows: Sequence[int], path: Location | None = None
) -> list[dict[str, Any]]:
    """Certificates of some variants of a study's store, in the order given.

    Parameters
    ----------
    path
        Another store of the study's evaluation: that of its polished designs.

    Returns
    -------
    Per variant, as plain data: `variant`; `rank` in variable precision and `status` (*certified*,
    *numerically evident* or *still doubtful*), `digits`, `sigma_least` and `sigma_most` (bounds
    of the singular values that the rank lies between); `float64_rank` where the study has it;
    `generic_rank` and `grade` of the base parameters' formulas; `base_parameters`, SI. Empty
    where the mechanism states no excitation, without which there is no rank.
    """
    if spec.mechanism.excitation is None:
        return []
    path = path or spec.path
    known = {one["variant"]: one for one in kept(path)}
    fresh = [row for row in rows if row not in known]
    if fresh:
        known |= {one["variant"]: one for one in _certified(spec, fresh, path)}
        store.set_attribute(path, _KEPT, json.dumps(list(known.values())))
    return [known[row] for row in rows]


def kept(path: Location) -> list[dict[str, Any]]:
    """The certificates that a store holds already."""
    return Store.open(path).plain(_KEPT, "[]")


def line(one: Mapping[str, Any], name: str = "variant") -> str:
    """A certificate in a line, and whether its rank is below the generic one: a special design."""
    generic = one["generic_rank"]
    low = f"; special: generic rank {generic}" if one["rank"] != generic else ""
    return (
        f"{name} {one['variant']} in variable precision: rank {one['rank']}, {one['status']} "
        f"({one['digits']} digits{low}); {plural(len(one['base_parameters']), 'base parameter')}, "
        f"formulas: {one['grade']}"
    )


def _certified(spec: StudySpec, rows: Sequence[int], path: Location) -> list[dict[str, Any]]:
    held = Store.open(path)
    columns = {
        name: np.array([float(np.asarray(held[name][row])) for row in rows]) for name in spec.swept
    }
    evaluator = prepare(spec.sweep)
    base = evaluator.base
    bound = base.certificate
    bounded = bound.at_most == base.rank and bound.at_most_grade in CERTAIN
    precise = PreciseEvaluator(evaluator.model, base.rank, bounded)
    found = precise(columns, np.ones(len(rows), bool))
    numbers = np.full((len(rows), base.rank), np.nan)
    if spec.mechanism.has_inertias:
        symbols = symbol_values(spec.mechanism, columns)
        phi = spec.mechanism.inertial_parameters(symbols)
        phi = np.broadcast_to(phi, (len(rows), phi.shape[-1]))
        entries = np.broadcast_to(base.beta_entries(symbols), (len(base.beta), len(rows)))
        numbers = base.combine(phi, entries)
    floats = None
    if "rank" in held:
        floats = [int(np.asarray(held["rank"][row])) for row in rows]
    return [
        {
            "variant": int(row),
            "rank": int(found["precise_rank"][place]),
            "status": PreciseStatus(int(found["precise_status"][place])).meaning,
            "digits": int(found["precise_digits"][place]),
            "sigma_least": _plain(found["precise_sigma_least"][place]),
            "sigma_most": _plain(found["precise_sigma_most"][place]),
            "float64_rank": floats[place] if floats else None,
            "generic_rank": base.rank,
            "grade": bound.grade,
            "base_parameters": {
                name: _plain(value)
                for name, value in zip(base.base_names, numbers[place], strict=True)
            },
        }
        for place, row in enumerate(rows)
    ]


def _plain(number: Any) -> float | None:
    return float(number) if np.isfinite(number) else None
