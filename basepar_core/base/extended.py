"""Base parameters of a model with friction, offsets, rotors and springs beside the inertias.

The inertial ones stay as their route found them. Each force-law column joins the base parameters,
or is expressed by those before it where W along the excitation cannot tell it from them: a
rotor's inertia from that of a link on the ground, a Coulomb friction from an offset where the
speed keeps its sign. What rank means here: these columns are no rational functions of a state (a
sign is none), so nothing is proved over finite fields; the count is W's in float64 along *this*
excitation, and every grade is *numerical*. A certificate file counts over all motions near the
assembly, and proves its lower bound in balls (`certificate_columns`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Column, Model, Observation, excitation, with_columns

from .nominal import nominal_observation
from .numeric_route import CLEAR, NO_EFFECT, OPERATIONS, spectrum, unit_columns
from .result import BaseParameters, BetaEntry, Certificate, VectorGrade

SCOPE = "this geometry, branch and excitation"


def extended_observation(model: Model, chosen: Sequence[Column]) -> Observation:
    """W at nominal geometry along the excitation, force-law columns last."""
    motion = excitation(model.mechanism, model.assembled.coordinates)
    return with_columns(model, {}, motion, nominal_observation(model), chosen)


def extend(
    model: Model,
    base: BaseParameters,
    chosen: Sequence[Column],
    seen: Observation | None = None,
) -> BaseParameters:
    """Base parameters with force-law columns.

    Parameters
    ----------
    model
        The mechanism, prepared.
    base
        Its inertial base parameters, of any route.
    chosen
        From `force_columns.select`; none: `base` as it is.
    seen
        W with these columns along another motion than the excitation.
    """
    if not chosen:
        return base
    seen = seen or extended_observation(model, chosen)
    first = len(base.parameters)
    found = _sort_out(seen, list(base.kept), range(first, first + len(chosen)))
    spectra = spectrum(seen.stacked, seen.error, seen.terms)
    parameters = (*base.parameters, *(one.name for one in chosen))
    kept = (*base.kept, *found.independent)
    entries = tuple(
        BetaEntry(k, len(base.eliminated) + e, float(share))
        for e, shares in enumerate(found.shares)
        for k, share in enumerate(shares)
        if share != 0
    )
    rank, sight = len(kept), int(spectra.at_least[0])
    doubts = [base.doubt, found.doubt]
    if not (base.doubt or base.float64_doubt) and spectra.rank[0] != rank:
        doubts.append(
            f"float64 sees rank {int(spectra.rank[0])} of W with all columns, not {rank}"
        )
    least = min(sight, rank)
    if least < rank and not any(doubts):
        doubts.append(f"float64 shows {least} of {rank} columns to be independent, no more")
    return replace(
        base,
        parameters=parameters,
        route=f"{base.route}, further columns numeric",
        kept=kept,
        eliminated=(*base.eliminated, *found.dependent),
        no_effect=(*base.no_effect, *found.silent),
        beta=(*base.beta, *entries),
        gap=float(spectra.gap[0]),
        singular_values=tuple(map(float, spectra.singular_values[0])),
        generic=None,
        of_family=None,
        certificate=_certificate(base, parameters, kept, found, least),
        doubt="; ".join(filter(None, doubts)),
    )


@dataclass(frozen=True)
class _Sorted:
    """Force-law columns by index: which stay, which depend on others and how, which do nothing.

    `shares` per dependent column: multiples of the columns kept.
    """

    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    silent: tuple[int, ...]
    shares: tuple[Array, ...]
    doubt: str


def _sort_out(seen: Observation, kept: list[int], further: Sequence[int]) -> _Sorted:
    """From left to right: a column depends if what earlier ones leave of it is rounding."""
    unit, norms, dead = (part[0] for part in unit_columns(seen.stacked, seen.terms))
    noise = OPERATIONS * np.sqrt(unit.shape[1]) * max(float(seen.error[0]), np.finfo(float).eps)
    if len(unit) > unit.shape[1]:  # least squares of the triangle are those of the rows
        unit = np.linalg.qr(unit, mode="r")
    dependent, silent, grey = [], [], []
    columns = list(kept)
    for j in further:
        if dead[j]:
            silent.append(j)
            dependent.append(j)
            continue
        shares = np.linalg.lstsq(unit[:, columns], unit[:, j], rcond=None)[0]
        left = float(np.linalg.norm(unit[:, j] - unit[:, columns] @ shares))
        rounding = noise * (1 + np.abs(shares).sum())
        if rounding < left < CLEAR * rounding:
            grey.append(j)
        (columns if left > rounding else dependent).append(j)
    shares = []
    for j in dependent:
        one = np.linalg.lstsq(unit[:, columns], unit[:, j], rcond=None)[0]
        # In unit columns entries are shares of a column; zeros come out at rounding.
        one = np.where(np.abs(one) < 1e3 * max(noise, NO_EFFECT), 0.0, one)
        shares.append(one * norms[j] / norms[columns])
    doubt = (
        f"{len(grey)} of the force-law columns are nearly, but not certainly, sums of the others"
        if grey
        else ""
    )
    independent = tuple(columns[len(kept) :])
    return _Sorted(independent, tuple(dependent), tuple(silent), tuple(shares), doubt)


def _certificate(
    base: BaseParameters,
    parameters: tuple[str, ...],
    kept: tuple[int, ...],
    found: _Sorted,
    least: int,
) -> Certificate:
    """Both statements numerical, the inertial null vectors with the grades they have."""
    vectors = tuple(
        VectorGrade(
            "numerical",
            f"{parameters[j]} acts as these do along the excitation"
            if j not in found.silent
            else f"{parameters[j]} does nothing along the excitation",
            {parameters[j]: "1"}
            | {parameters[kept[k]]: repr(float(-x)) for k, x in enumerate(shares) if x != 0},
        )
        for j, shares in zip(found.dependent, found.shares, strict=True)
    )
    return Certificate(
        least,
        "numerical",
        SCOPE,
        len(kept),
        "numerical",
        f"inertial parameters {base.certificate.at_most_grade}; force-law columns: {SCOPE}",
        (*base.certificate.vectors, *vectors),
    )


def beside(base: BaseParameters, chosen: Sequence[Column]) -> BaseParameters:
    """Base parameters with every force-law column as one more, whichever depend on others.

    For reductions, which find dependent columns themselves and drop them first, at no cost.
    Counts, gap and certificate stay those of the inertial ones; `extend` judges.
    """
    first = len(base.parameters)
    return replace(
        base,
        parameters=(*base.parameters, *(one.name for one in chosen)),
        kept=(*base.kept, *range(first, first + len(chosen))),
    )
