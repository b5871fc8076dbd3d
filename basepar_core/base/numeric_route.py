"""The numeric route: rank of W in float64, batched, and an honest word on when it is doubtful.

Scale-free: columns are divided by their norms first, so neither units nor heavy bodies decide.
A column whose terms cancel is as wrong as its terms are, and is not scaled up to more than they
allow: gravity along the first axis but for a hair would otherwise make rank out of rounding.
What counts as zero is not a constant but the error W was made with (rounding and the closure
residual carried through the loop equations, `regressor.Observation.error`). Singular values in
the grey zone above that error leave the rank undecided, and variable precision decides.

Gautier, J. Robotic Systems 8(4), 1991: β = −V₂₁ V₂₂⁻¹ from the null space of W.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import EliminationError, wrong_count

#: A column below this share of the largest column's norm is no effect at all: rounding of a
#: parameter that does nothing, not a small effect (which scaling then brings up).
NO_EFFECT = 1e-12
#: W's entries come out of some tens of operations; each column's error is a few of the bound.
OPERATIONS = 8.0
#: Columns smaller than this share of their terms are divided by that share instead: where less
#: than a tenth is left, the `OPERATIONS` no longer cover what cancelling costs.
CANCELLED = 0.1
#: A singular value as much smaller than the last one seen as any before, and ten times more, must
#: still show above the noise: where they fall by decades a step, the next one may lie below it.
STEEPER = 10.0
#: A singular value must stand this far above the error to count as nonzero beyond doubt, and
#: none may lie between.
CLEAR = 1e3
#: An entry of β this near to ±1 may be taken for it: less than dimensions differ by.
WHOLE = 1e-9


@dataclass(frozen=True)
class Spectrum:
    """Singular values of W and what float64 can say of its rank.

    Attributes
    ----------
    singular_values
        (variant, parameter) of W as it stands, descending.
    scaled
        (variant, parameter) of W with unit columns (no-effect columns zero), descending.
    noise
        (variant,) what is indistinguishable from zero among `scaled`.
    rank
        (variant,) number of `scaled` above the noise.
    gap
        (variant,) σ_r/σ_{r+1} of `scaled`, with σ_{r+1} no less than rounding.
    clearance
        (variant,) σ_r of `scaled` over `noise`; decided ones have more than `CLEAR`.
    at_least
        (variant,) number of `scaled` that are nonzero beyond doubt.
    shown
        (variant,) `rank` where that is clear, else number of `scaled` above rounding, since the
        noise is a bound and values below it may be seen all the same.
    at_most
        (variant,) `shown`, or all columns with effect where they fall so steeply that the next
        may hide below rounding, or more rows may show more.
    clear
        (variant,) whether no singular value lies in the grey zone (rank = at_least), nor may
        hide below the noise, nor show with more rows.
    short
        (variant,) whether all rows are independent and fewer than the columns: more samples may
        show a higher rank.
    no_effect
        (variant, parameter) bool.
    """

    singular_values: Array
    scaled: Array
    noise: Array
    rank: Array
    gap: Array
    clearance: Array
    at_least: Array
    shown: Array
    at_most: Array
    clear: Array
    short: Array
    no_effect: Array


def spectrum(W: Array, error: Array, terms: Array | None = None) -> Spectrum:
    """Singular values and rank of observation matrices.

    Parameters
    ----------
    W
        (variant, row, parameter); finite.
    error
        (variant,) relative error of W.
    terms
        (variant, parameter) what it is relative to (`regressor.Observation.terms`); the
        columns themselves where it is not known.
    """
    unit, _, dead = unit_columns(W, terms)
    return judged(_singular_values(W), _singular_values(unit), error, W.shape[-2], dead)


def judged(values: Array, scaled: Array, error: Array, rows: int, dead: Array) -> Spectrum:
    """What singular values say of the rank.

    Parameters
    ----------
    values, scaled
        (variant, parameter) of W and of W with unit columns, descending.
    error
        (variant,) relative error of W.
    rows
        Of W.
    dead
        (variant, parameter) columns without effect.
    """
    width = values.shape[1]
    noise = OPERATIONS * np.sqrt(width) * np.maximum(error, np.finfo(float).eps)
    rank = (scaled > noise[:, None]).sum(axis=1)
    at_least = (scaled > CLEAR * noise[:, None]).sum(axis=1)
    short = (rank == rows) & (rank < width)
    ends = _ends(scaled, noise, rank)
    clear = (rank == at_least) & ends & ~short
    rounding = OPERATIONS * np.sqrt(width) * np.full(len(scaled), np.finfo(float).eps)
    shown = np.maximum(rank, (scaled > rounding[:, None]).sum(axis=1))
    shown = np.where(clear, rank, shown)
    all_seen = clear | (_ends(scaled, rounding, shown) & ~short)
    return Spectrum(
        values,
        scaled,
        noise,
        rank,
        gap_across(scaled, noise, rank),
        edge(scaled, noise, rank)[0] / noise,
        at_least,
        shown,
        np.where(all_seen, shown, (~dead).sum(axis=1)),
        clear,
        short,
        dead,
    )


def _ends(scaled: Array, noise: Array, rank: Array) -> Array:
    """(variant,) whether no further singular value may hide below the noise."""
    last, _, steepest = edge(scaled, noise, rank)
    found: Array = (last > STEEPER * steepest * noise) | (rank == scaled.shape[1])
    return found


def gap_across(scaled: Array, noise: Array, rank: Array) -> Array:
    """(variant,) σ_r/σ_{r+1}, with σ_{r+1} no less than rounding."""
    last, following, _ = edge(scaled, noise, rank)
    found: Array = last / np.maximum(following, np.finfo(float).eps * np.sqrt(scaled.shape[1]))
    return found


def edge(scaled: Array, noise: Array, rank: Array) -> tuple[Array, Array, Array]:
    """The last of `rank` singular values, the one after it, the steepest fall among them."""
    width = scaled.shape[1]
    padded = np.concatenate([scaled, np.zeros((len(scaled), 1))], axis=1)
    last = np.take_along_axis(padded, np.maximum(rank - 1, 0)[:, None], axis=1)[:, 0]
    following = np.take_along_axis(padded, rank[:, None], axis=1)[:, 0]
    seen = np.maximum(scaled, noise[:, None])
    steepest = (seen[:, :-1] / seen[:, 1:]).max(
        axis=1, initial=1.0, where=np.arange(1, width) < rank[:, None]
    )
    return last, following, steepest


def unit_columns(W: Array, terms: Array | None = None) -> tuple[Array, Array, Array]:
    """W with columns of length one; their norms; which have no effect (left zero).

    Columns that are cancelled `terms` come out shorter than one.
    """
    norms = np.sqrt((W**2).sum(axis=-2))
    dead = norms <= NO_EFFECT * norms.max(axis=-1, keepdims=True)
    if terms is not None:
        norms = np.maximum(norms, CANCELLED * terms)
    safe = np.where(dead, 1.0, norms)
    return np.where(dead[..., None, :], 0.0, W / safe[..., None, :]), safe, dead


def _singular_values(W: Array) -> Array:
    """(variant, parameter), descending; zeros where there are fewer rows than columns."""
    # A triangular factor has the same singular values and is no taller than wide.
    found = np.linalg.svd(_triangle(W), compute_uv=False)
    return np.pad(found, ((0, 0), (0, W.shape[-1] - found.shape[-1])))


def _triangle(W: Array) -> Array:
    return np.asarray(np.linalg.qr(W, mode="r")) if W.shape[-2] > 2 * W.shape[-1] else W


@dataclass(frozen=True)
class Check:
    """A known grouping held against W: what float64 says of it, per variant.

    Attributes
    ----------
    spectrum
        Of W.
    null_error
        (variant,) largest ‖W₂ − W₁β‖ of an eliminated column, as a share of the columns in it.
    condition
        (variant,) condition of the reduced observation matrix W₁ with unit columns.
    """

    spectrum: Spectrum
    null_error: Array
    condition: Array


def check(
    W: Array,
    error: Array,
    kept: Sequence[int],
    eliminated: Sequence[int],
    beta: Array,
    terms: Array | None = None,
) -> Check:
    """Hold β against W.

    Parameters
    ----------
    W, error, terms
        As in `spectrum`.
    kept, eliminated
        φ₁ and φ₂ by index.
    beta
        (variant, base, eliminated).
    """
    found = spectrum(W, error, terms)
    W1, W2 = W[:, :, list(kept)], W[:, :, list(eliminated)]
    with np.errstate(invalid="ignore"):  # β has a pole at this very geometry
        missing = W2 - W1 @ beta
    norms = np.sqrt((W**2).sum(axis=1))
    if terms is not None:
        norms = np.maximum(norms, CANCELLED * terms)
    involved = norms[:, list(eliminated)] + np.einsum(
        "vb,vbe->ve", norms[:, list(kept)], np.abs(beta)
    )
    # A column without effect is rounding all over; it is measured against the largest column.
    largest = norms.max(axis=1, keepdims=True)
    involved = np.where(involved > NO_EFFECT * largest, involved, largest)
    with np.errstate(invalid="ignore"):
        share = np.sqrt((missing**2).sum(axis=1)) / np.where(involved > 0, involved, 1.0)
    share = np.where(np.isnan(share), np.inf, share)
    condition = spread(_singular_values(unit_columns(W1)[0]))
    return Check(found, share.max(axis=1, initial=0.0), condition)


def spread(values: Array) -> Array:
    """(variant,) largest by smallest of singular values (variant, column), descending."""
    if not values.shape[1]:
        return np.ones(len(values))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(values[:, 0] / values[:, -1])


def allowed_share(noise: Array) -> Array:
    """(variant,) what a right β may miss by, `Check.null_error`."""
    return np.maximum(1e3 * noise, 1e-9)


@dataclass(frozen=True)
class Grouping:
    """Numeric φ₁, φ₂ and β (base, eliminated) of one observation matrix."""

    kept: tuple[int, ...]
    eliminated: tuple[int, ...]
    no_effect: tuple[int, ...]
    beta: Array


def group(
    W: Array, rank: int, names: Sequence[str], wanted: Sequence[int] | None = None
) -> Grouping:
    """Gautier's grouping of one W (row, parameter) whose rank is known.

    φ₂ is chosen so that V₂₂ is well conditioned (`pivot_rows`), or given; columns without effect
    need not be named.

    Raises
    ------
    EliminationError
        The wanted parameters are not `parameters − rank` many, or V₂₂ is singular for them.
    """
    unit, norms, dead = unit_columns(W)
    width = W.shape[1]
    # All right vectors, also where rows are fewer; left ones of many rows would fill the memory.
    triangle = _triangle(unit)
    _, sigma, right = np.linalg.svd(triangle, full_matrices=len(triangle) < width)
    null = right[rank:].T  # (parameter, width − rank)
    silent = {k for k in range(width) if dead[k]}
    chosen = pivot_rows(null, names) if wanted is None else tuple(sorted({*wanted, *silent}))
    if len(chosen) != width - rank:
        raise wrong_count(names, chosen, silent, rank)
    V22 = null[list(chosen)]
    if chosen and np.linalg.cond(V22) > 1e12:
        raise EliminationError(
            "These parameters are not an admissible choice of φ₂: their columns of W do not "
            "depend on the others (V₂₂ is singular).",
            [names[k] for k in chosen],
        )
    kept = tuple(k for k in range(width) if k not in chosen)
    scaled = -np.linalg.solve(V22.T, null[list(kept)].T).T if chosen else np.zeros((rank, 0))
    # In unit columns entries are shares of a column; zeros of β come out at rounding.
    error = _null_error(sigma, rank) * np.abs(scaled).max(initial=1.0)
    scaled = np.where(np.abs(scaled) < error, 0.0, scaled)
    ratio = norms[list(chosen)] / norms[list(kept)][:, None]
    beta = scaled * ratio
    # Parameters are often moved over whole: 1, not 0.9999999999999994.
    whole = np.rint(beta)
    near = np.abs(beta - whole) < np.minimum(error * ratio, WHOLE)
    beta = np.where(near & (np.abs(whole) == 1), whole, beta)
    return Grouping(kept, chosen, tuple(sorted(silent)), beta)


def _null_error(sigma: Array, rank: int) -> float:
    """What rounding makes of null vectors in unit columns, between 1e-11 and 1e-8.

    Rounding of W turns the null space by its share of the last singular value that counts; a
    hundred times that, for what follows. Beyond 1e-8 entries are shown with what they have.
    """
    last = sigma[rank - 1] / sigma[0] if rank else 1.0
    return float(np.clip(1e2 * np.finfo(float).eps / max(last, 1e-8), 1e-11, 1e-8))


def pivot_rows(null: Array, names: Sequence[str]) -> tuple[int, ...]:
    """Rows of a square well-conditioned part of an orthonormal null space (parameter, vector).

    The longest row first, its direction taken out of the others, ties by name. Row lengths do
    not depend on which basis spans the null space, so neither does the choice.
    """
    work = null.copy()
    chosen: list[int] = []
    for _ in range(null.shape[1]):
        sizes = (work**2).sum(axis=1)
        sizes[chosen] = -1.0
        # Rows within a millionth of the largest tie: which is larger is rounding's choice.
        tied = [int(k) for k in np.flatnonzero(sizes >= sizes.max() * (1 - 1e-6))]
        row = min(tied, key=lambda k: names[k])
        chosen.append(row)
        direction = work[row] / np.sqrt(sizes[row])
        work = work - np.outer(work @ direction, direction)
    return tuple(sorted(chosen))
