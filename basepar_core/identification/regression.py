"""Rows of records for given values of what W is not linear in, and passes until nothing changes.

τ = W φ is linear but for: friction by load, |load(φ)| sign ẋ; shapes of laws (Stribeck's speed,
an exponent); a delay between position and torque; gains of currents. Each pass is least squares of
the model linearised about the last one (Gauss–Newton): rows are the slopes by φ, and a column
each stands for what else is searched for. Deviations so count it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import LAWS, DriveLaw

from .estimate import Estimate, Halves, estimate
from .result import ROUNDING, Prepared
from .sampling import Sampler

#: Passes over loads and delay, and the share of a deviation below which a change is none.
PASSES, SETTLED = 15, 1e-2
#: A delay's first step is at most this share of a period of the low-pass.
LONGEST = 0.25


@dataclass(frozen=True)
class Part:
    """One record of a regression.

    Attributes
    ----------
    ready
        The record.
    W
        (sample, coordinate, parameter): columns of the base parameters and of what joins them.
    halves
        The same twice, of every other sample; none where not needed.
    """

    ready: Prepared
    W: Array
    halves: tuple[Array, ...] = ()


@dataclass(frozen=True)
class Searches:
    """What is searched for besides parameters that W is linear in.

    Attributes
    ----------
    delay
        s.
    gains
        (drive,): factors of the torques as they were stated.
    free_delay, free_gains
        Whether they are looked for.
    """

    delay: float = 0.0
    gains: Array | None = None
    free_delay: bool = False
    free_gains: bool = False


class Regression:
    """Rows of some records with common parameters.

    Parameters
    ----------
    parts
        Records.
    laws
        (parameter,): the law of a drive that a column is; None of others.
    lowpass
        Hz, or None.
    searches
        Delay and gains to begin with.
    samplers
        Of the records, where they are made already.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        laws: Sequence[DriveLaw | None],
        lowpass: float | None,
        searches: Searches,
        samplers: Sequence[Sampler] | None = None,
    ):
        self.parts, self.laws, self.lowpass = tuple(parts), tuple(laws), lowpass
        self.searches = searches
        self.by_load = [k for k, law in enumerate(laws) if law and LAWS[law.kind].by_load]
        self.lossless = np.array([not (law and LAWS[law.kind].is_friction) for law in laws])
        if samplers is None:
            samplers = [_sampler(part, lowpass, searches.delay) for part in self.parts]
        self.samplers = tuple(samplers)
        self.groups = np.concatenate([one.groups for one in self.samplers])
        self.drives = len(self.parts[0].ready.tau)

    def like(
        self,
        parts: Sequence[Part],
        laws: Sequence[DriveLaw | None],
        searches: Searches | None = None,
    ) -> "Regression":
        """Other columns of the same records."""
        searches = searches or self.searches
        same = searches.delay == self.searches.delay
        return Regression(parts, laws, self.lowpass, searches, self.samplers if same else None)

    @property
    def times(self) -> Array:
        """(row,), s: records one after another."""
        found, end = [], 0.0
        for one in self.samplers:
            found.append(one.times - one.times.min() + end)
            end = float(found[-1].max()) + 1.0
        return np.concatenate(found)

    def columns(self, W: Array, phi: Array | None, tau: Array) -> Array:
        """W with the columns by load as large as the load of φ; None: as the measured torque."""
        if not self.by_load:
            return W
        found = W.copy()
        for k in self.by_load:
            found[..., k] *= np.abs(self._load(k, W, phi, tau))[:, None]
        return found

    def sizes(self, k: int, phi: Array) -> list[Array]:
        """What a law's column is multiplied by (sample, 1), of each record: |load(φ)|, or 1."""
        if k not in self.by_load:
            return [np.ones((1, 1))] * len(self.parts)
        return [np.abs(self._load(k, one.W, phi, np.empty(0)))[:, None] for one in self.parts]

    def _load(self, k: int, W: Array, phi: Array | None, tau: Array) -> Array:
        law = self.laws[k]
        assert law is not None
        return law.load(np.nan_to_num(tau) if phi is None else self._lossless(W, phi))

    def _lossless(self, W: Array, phi: Array) -> Array:
        """(coordinate, sample): torque without what is lost."""
        return np.asarray((W[..., self.lossless] @ phi[self.lossless]).T)

    def slopes(self, W: Array, phi: Array) -> Array:
        """∂(model)/∂φ (sample, coordinate, parameter), of W with columns as they were."""
        found = self.columns(W, phi, np.empty(0))
        for k in self.by_load:
            law = self.laws[k]
            assert law is not None
            across = np.asarray(law.weights if law.across is None else law.across)
            by = np.einsum("c,scp->sp", across, W[..., self.lossless])
            sign = np.sign(self._load(k, W, phi, np.empty(0)))
            found[..., self.lossless] += (phi[k] * sign[:, None] * W[..., k])[..., None] * by[
                :, None
            ]
        return found

    def right(self) -> Array:
        """(row,): torques, on the drives' side."""
        return np.concatenate(
            [
                sampler.torques(on_drives(part.ready, part.ready.tau))
                for part, sampler in zip(self.parts, self.samplers, strict=True)
            ]
        )

    def rows(self, of: Sequence[Array]) -> Array:
        """(row, column) of columns (sample, coordinate, column), one of each record."""
        return np.concatenate(
            [
                sampler.rows(columns_on_drives(part.ready, W))
                for part, sampler, W in zip(self.parts, self.samplers, of, strict=True)
            ]
        )

    def whole(self, phi: Array | None) -> Array:
        """Rows of the model as it is, for counts and searches."""
        return self.rows([self.columns(one.W, phi, one.ready.tau) for one in self.parts])


def on_drives(ready: Prepared, tau: Array) -> Array:
    """Torques (drive, sample) of joints' torques: u = Mᵀ τ, by virtual work."""
    M = ready.motor_to_joint
    return tau if M is None else M.T @ np.nan_to_num(tau)


def columns_on_drives(ready: Prepared, W: Array) -> Array:
    """Columns (sample, drive, column) of joints' columns."""
    M = ready.motor_to_joint
    return W if M is None else np.einsum("cm,scp->smp", M, W)


def usable_on_drives(ready: Prepared) -> Array:
    """(drive, sample) bool: all joints that a motor turns are usable."""
    M = ready.motor_to_joint
    if M is None:
        return ready.usable
    turned = np.abs(M) > ROUNDING * np.abs(M).max(axis=0)
    return np.stack([ready.usable[joints].all(axis=0) for joints in turned.T])


def _sampler(part: Part, lowpass: float | None, delay: float) -> Sampler:
    ready = part.ready
    return Sampler(ready.motion.t, usable_on_drives(ready), ready.starts, lowpass, delay)


@dataclass(frozen=True)
class Fitted:
    """Where passes settled.

    Attributes
    ----------
    values
        (parameter,): all, fixed ones as given.
    estimate
        Of the free ones, then of the delay and ln gains.
    regression
        With the delay and gains that were found.
    extra
        How much is behind the free parameters in the estimate: delay, ln gains, shapes.
    rows, right
        Of the free parameters, in the last pass.
    """

    values: Array
    estimate: Estimate
    regression: Regression
    extra: int
    rows: Array
    right: Array


def fit(
    regression: Regression,
    values: Array,
    free: Sequence[int],
    method: str,
    start: Array | None = None,
    *,
    final: bool = False,
    blocks: bool = False,
    shapes: Sequence[Sequence[Array]] = (),
) -> Fitted:
    """Passes until the parameters settle.

    Parameters
    ----------
    regression
        Rows of the records.
    values
        (parameter,): those that are not free as they are known.
    free
        Parameters that are estimated.
    method
        Of `estimate`.
    start
        (parameter,): to begin with; None: loads are those of the measured torque.
    final
        Whether deviations are to count everything.
    blocks
        Whether they are of the block bootstrap.
    shapes
        Of each shape ∂(model)/∂shape (sample, coordinate) per record.
    """
    free, phi = list(free), start
    for _ in range(PASSES):
        last = _pass(regression, values, phi, free, method)
        before, phi = phi, last.values
        moved = _moved(last, before, free)
        if moved < SETTLED:
            break
        regression = _searched(last)
    return _with_deviations(last, free, method, blocks, shapes) if final else last


def _moved(last: Fitted, before: Array | None, free: Sequence[int]) -> float:
    """Largest change in a pass, in deviations."""
    regression, count = last.regression, len(free)
    searches = regression.searches
    if not (regression.by_load or searches.free_delay or searches.free_gains):
        return 0.0
    if before is None:
        return np.inf
    deviations = np.maximum(last.estimate.deviations, np.finfo(float).tiny)
    change = (last.values - before)[list(free)]
    beyond = last.estimate.values[count:]
    return float((np.abs(np.concatenate([change, beyond])) / deviations).max())


def _searched(last: Fitted) -> Regression:
    """The regression with the delay and gains that a pass leads to."""
    found = last.regression
    if not last.extra:
        return found
    of, beyond = found.searches, list(last.estimate.values[-last.extra :])
    if of.free_delay:
        longest = LONGEST / (found.lowpass or np.inf)
        of = replace(of, delay=of.delay + float(np.clip(beyond.pop(0), -longest, longest)))
    if of.free_gains:
        assert of.gains is not None
        of = replace(of, gains=of.gains * np.exp(np.clip(beyond, -1.0, 1.0)))
    return found.like(found.parts, found.laws, of)


def _pass(
    regression: Regression,
    values: Array,
    phi: Array | None,
    free: Sequence[int],
    method: str,
) -> Fitted:
    """Least squares of the model linearised about φ; None: of the columns by measured loads."""
    rows, y, halves = _linearised(regression, values, phi, free, method)
    extra = _extra(regression, phi, [])
    both = None if halves is None else _with(halves, extra)
    wide = np.hstack([rows, extra])
    found = estimate(wide, y, regression.groups, method, halves=both)
    whole = values.copy()
    whole[list(free)] = found.values[: len(free)]
    return Fitted(whole, found, regression, extra.shape[1], rows, y)


def _with_deviations(
    last: Fitted, free: Sequence[int], method: str, blocks: bool, shapes: Sequence[Sequence[Array]]
) -> Fitted:
    """The last pass with deviations that count shapes, and what residuals remember."""
    regression, phi = last.regression, last.values
    rows, y, halves = _linearised(regression, last.values, phi, free, method)
    extra = _extra(regression, phi, shapes)
    both = None if halves is None else _with(halves, extra)
    counted = estimate(
        np.hstack([rows, extra]),
        y,
        regression.groups,
        method,
        halves=both,
        times=regression.times if blocks else None,
    )
    values = np.concatenate([phi[list(free)], np.zeros(extra.shape[1])])
    found = replace(counted, values=values, residual=y - rows @ values[: len(free)])
    return replace(last, estimate=found, extra=extra.shape[1], rows=rows, right=y)


def _linearised(
    regression: Regression,
    values: Array,
    phi: Array | None,
    free: Sequence[int],
    method: str,
) -> tuple[Array, Array, Halves | None]:
    """Rows, right-hand sides, and both twice for instruments, in units of the stated gains."""
    right, gains = regression.right(), regression.searches.gains
    scale = np.ones(right.size) if gains is None else gains[regression.groups]

    def linear(W: Sequence[Array]) -> tuple[Array, Array]:
        rows, more = _linear(regression, W, values, phi, free)
        return rows / scale[:, None], right + more / scale

    rows, y = linear([part.W for part in regression.parts])
    if method != "iv":
        return rows, y, None
    first, second = (linear([part.halves[k] for part in regression.parts]) for k in (0, 1))
    return rows, y, (first, second)


def _with(halves: Halves, extra: Array) -> Halves:
    (X, x), (Y, y) = halves
    return (np.hstack([X, extra]), x), (np.hstack([Y, extra]), y)


def _linear(
    regression: Regression,
    W: Sequence[Array],
    values: Array,
    phi: Array | None,
    free: Sequence[int],
) -> tuple[Array, Array]:
    """Rows of the free parameters, and what joins the torques on the right-hand side."""
    fixed = np.setdiff1d(np.arange(values.size), free)
    taus = [part.ready.tau for part in regression.parts]
    if phi is None or not regression.by_load:
        rows = regression.rows(
            [regression.columns(one, phi, tau) for one, tau in zip(W, taus, strict=True)]
        )
        return rows[:, list(free)], -rows[:, fixed] @ values[fixed]
    slopes = regression.rows([regression.slopes(one, phi) for one in W])
    plain = regression.rows(
        [
            (regression.columns(one, phi, tau) @ phi)[..., None]
            for one, tau in zip(W, taus, strict=True)
        ]
    )[:, 0]
    return slopes[:, list(free)], slopes[:, list(free)] @ phi[list(free)] - plain


def _extra(regression: Regression, phi: Array | None, shapes: Sequence[Sequence[Array]]) -> Array:
    """Columns of what is searched for (row, column): the delay, ln gains, shapes."""
    searches, columns, groups = regression.searches, [], regression.groups
    scale = 1.0 if searches.gains is None else searches.gains[groups]
    models = []
    if phi is not None and (searches.free_delay or searches.free_gains):
        models = [
            regression.columns(part.W, phi, part.ready.tau) @ phi for part in regression.parts
        ]
    if models and searches.free_delay:
        slopes = [
            -np.gradient(model, part.ready.motion.t, axis=0)[..., None]
            for model, part in zip(models, regression.parts, strict=True)
        ]
        columns.append(regression.rows(slopes)[:, 0] / scale)
    if models and searches.free_gains:
        plain = regression.rows([model[..., None] for model in models])[:, 0] / scale
        columns += [np.where(groups == g, -plain, 0.0) for g in range(regression.drives)]
    for one in shapes:
        columns.append(regression.rows([slope[..., None] for slope in one])[:, 0] / scale)
    return np.stack(columns, axis=1) if columns else np.zeros((groups.size, 0))
