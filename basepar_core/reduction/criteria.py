"""Model selection: how many parameters a torque is worth, by the field's criteria.

k parameters, n effective samples, RSS = ‖τ − W_k φ_k‖² with rows divided by the stated noise, so
that σ = 1.

==========  =====================================================================================
tolerance   least k with relative torque error below the tolerance
aic, bic    RSS/σ² + 2k, RSS/σ² + k ln n; σ estimated: n ln(RSS/n) in place of RSS/σ² (Akaike,
            IEEE Trans. Automatic Control 19, 1974; Schwarz, Annals of Statistics 6, 1978)
mdl         bic/2: the same minimum (Rissanen, Automatica 14, 1978)
aicc        n ln(RSS/n) + 2k + 2k(k+1)/(n−k−1) (Hurvich & Tsai, Biometrika 76, 1989)
fpe         (RSS/n)(n+k)/(n−k) (Akaike, Annals of the Inst. of Statistical Mathematics 22, 1970)
==========  =====================================================================================

aicc and fpe estimate σ by definition, also where it is known.

A model's own torque has no noise in it: its RSS is approximation error alone, every criterion
that estimates σ would keep every parameter, and without σ there is no scale to hold the error
against. With a stated σ, every criterion takes the RSS that a measurement would give on average,
RSS₀ + σ²(n − k): noise of n samples, less what k fitted parameters absorb of it. Without one,
only the tolerance is left.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import MissingDataError, UsageError

from .path import Path


@dataclass(frozen=True, slots=True)
class Fit:
    """Models along paths, as criteria see them.

    `misfit` (variant, step) is RSS/σ² where σ is known, else `log`, n ln(RSS/n); `rss`
    (variant, step); `k` (step,) parameters; `n` effective samples; `room` (step,) n − k, for
    aicc one less.
    """

    misfit: Array
    log: Array
    rss: Array
    k: Array
    n: float
    room: Array


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion as people write it, and its value (variant, step) of a `Fit`; smaller is better.

    `tolerance` has no value of its own: it is the torque error, and the least k below a bound.
    """

    label: str
    value: Callable[[Fit], Array] | None
    spare: int = 0  # samples beyond n − k that it needs


#: Every criterion by name; nothing else lists them.
TABLE: Mapping[str, Criterion] = {
    "tolerance": Criterion("tolerance", None),
    "aic": Criterion("AIC", lambda of: of.misfit + 2 * of.k),
    "aicc": Criterion(
        "AICc", lambda of: of.log + 2 * of.k + 2 * of.k * (of.k + 1) / of.room, spare=1
    ),
    "bic": Criterion("BIC", lambda of: of.misfit + of.k * np.log(of.n)),
    "mdl": Criterion("MDL", lambda of: (of.misfit + of.k * np.log(of.n)) / 2),
    "fpe": Criterion("FPE", lambda of: of.rss / of.n * (of.n + of.k) / of.room),
}
CRITERIA = tuple(TABLE)
#: Why only the tolerance is offered where a model's own torque comes without stated noise.
NO_NOISE = (
    "A model's own torque has no noise in it, and a criterion then keeps every parameter: it "
    "needs the noise of the torque measurement to say what is too small to be seen."
)


def criterion_label(name: str) -> str:
    """`AIC` of `aic`; other words stay."""
    return TABLE[name].label if name in TABLE else name


@dataclass(frozen=True)
class Selection:
    """Where each criterion stops.

    Attributes
    ----------
    criteria
        Names.
    size, error
        (variant, criterion): parameters kept (int), relative torque error there.
    values
        (variant, criterion, step): the criterion along the path (for `tolerance` the torque
        error); inf where n is too small to judge a model of that size.
    """

    criteria: tuple[str, ...]
    size: Array
    error: Array
    values: Array


def check_samples(n: float) -> None:
    """Reject an n that no criterion can use.

    Raises
    ------
    UsageError
    """
    if not 0 < n < np.inf:
        raise UsageError(f"n is {n:g}, but effective samples are a positive number.", ["samples"])


def select(
    path: Path,
    criteria: Sequence[str],
    n: float,
    *,
    noise_known: bool,
    measured: bool = False,
    tolerance: float = 0.01,
) -> Selection:
    """Where criteria stop on a path.

    Parameters
    ----------
    path
        From `path.backward` or `forward`; with `noise_known`, its rows are weighted by 1/σ.
    criteria
        Of `CRITERIA`.
    n
        Effective samples: samples × coordinates, unless stated otherwise.
    noise_known
        Whether σ is stated.
    measured
        Whether τ was measured (its RSS has the noise in it), or is the model's own.
    tolerance
        Relative torque error, of `tolerance`.

    Returns
    -------
    Selection
        Among equals the smallest size. Where the tolerance is not met even by the full model,
        that is selected, and its error says so.

    Raises
    ------
    UsageError
        Unknown criteria, or a tolerance that is no share of the torque.
    MissingDataError
        A model's own torque without stated noise, and a criterion other than the tolerance.
    """
    _check(criteria, tolerance)
    if not measured:
        check_noise(criteria, noise_known)
    rss = _measured_rss(path) if measured else expected_rss(path.rss, path.sizes, n)
    values = np.stack(
        [
            path.torque_error
            if name == "tolerance"
            else criterion(name, rss, path.sizes, n, noise_known)
            for name in criteria
        ],
        axis=1,
    )
    last = values.shape[2] - 1
    # argmin of the reversed path: the smallest of equal models.
    step = last - np.argmin(values[:, :, ::-1], axis=2)
    for place, name in enumerate(criteria):
        if name == "tolerance":
            below = path.torque_error < tolerance
            furthest = last - np.argmax(below[:, ::-1], axis=1)
            step[:, place] = np.where(below.any(axis=1), furthest, 0)
    error = np.take_along_axis(path.torque_error, step, axis=1)
    return Selection(tuple(criteria), path.sizes[step], error, values)


def expected_rss(rss: Array, sizes: Array, n: float) -> Array:
    """RSS₀ + σ²(n − k), σ = 1: what noise-free RSS (variant, step) would be if measured.

    Least squares with k independent columns leaves the part of τ outside them, and of the noise
    its projection on n − k dimensions; the two are uncorrelated.
    """
    return rss + np.maximum(n - sizes, 0.0)


def criterion(name: str, rss: Array, sizes: Array, n: float, sigma_known: bool) -> Array:
    """A criterion but `tolerance` along paths: (variant, step).

    Parameters
    ----------
    name
        Of `CRITERIA`.
    rss
        (variant, step), σ = 1 where known.
    sizes
        (step,): k.
    n
        Effective samples.
    sigma_known
        Which form of aic, bic and mdl.

    Returns
    -------
    inf for models with as many parameters as samples (aicc: one less), which fit whatever they
    are given.
    """
    k = sizes.astype(float)
    of = TABLE[name]
    assert of.value is not None
    room = n - k - of.spare
    judged = (room > 0) | (k == 0)
    safe = np.where(judged, np.maximum(room, np.finfo(float).tiny), 1.0)
    # An RSS of zero (zero torque) is a perfect fit; its logarithm still has to be a number.
    log = n * np.log(np.maximum(rss, np.finfo(float).tiny) / n)
    found = of.value(Fit(rss if sigma_known else log, log, rss, k, n, safe))
    return np.where(judged, found, np.inf)


def _measured_rss(path: Path) -> Array:
    """RSS no smaller than rounding of τ, which a logarithm would take for information."""
    floor = (np.finfo(float).eps * path.torque_norm[:, None]) ** 2
    return np.maximum(path.rss, floor)


def check_noise(criteria: Sequence[str], noise_known: bool) -> None:
    """Reject criteria that need σ where a model's own torque comes without it.

    Raises
    ------
    MissingDataError
    """
    asked = [name for name in criteria if name != "tolerance"]
    if asked and not noise_known:
        raise MissingDataError(
            f"{NO_NOISE} So {', '.join(asked)} cannot be computed. State `noise: {{coordinate: "
            f"σ}}` in the mechanism's file, or ask for the criterion `tolerance` alone.",
            ["noise"],
        )


def _check(criteria: Sequence[str], tolerance: float) -> None:
    unknown = [name for name in criteria if name not in CRITERIA]
    if unknown or not criteria:
        raise UsageError(
            f"{'No such criterion: ' + ', '.join(unknown) if unknown else 'No criterion'}. "
            f"Criteria are {', '.join(CRITERIA)}.",
            unknown,
        )
    if not 0 < tolerance < 1:
        raise UsageError(
            f"The tolerance is {tolerance:g}, but it is a part of the torque's norm: between 0 "
            f"and 1.",
            ["tolerance"],
        )
