"""Turns of many variants at once: few configurations by the kernels, Fourier sums between them.

Functions of a closed motion are periodic and smooth: 64 to 256 samples tell them to a share of
1e-7, where the integrator needs 360 nodes and more. So the loops are closed, and W is made,
on few samples only, by the compiled kernels; the slopes of joints, the potential and all nodes
follow from the samples' harmonics. Whether the samples are enough is measured, variant by variant
(`periodic.tail`), and who needs more gets twice as many.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from basepar_core.arrays import Array
from basepar_core.compiled import Engine
from basepar_core.dynamics import Model, Motion, Outcome, pin_turn, tracks

from . import periodic
from .cycle_tables import Turn, turn_of
from .gear_periods import turns_of_variants
from .joint_rates import line_tables, load_tables
from .loads import Loads, loads_of
from .path import Path, Values
from .range import SAME, Way, moved
from .reduced import Reduced, inertias, samples_of
from .survey import Table, loaded, with_growth

if TYPE_CHECKING:
    from basepar_core.compiled import Start

#: Samples a turn, and how often they are doubled.
FIRST, MOST = 64, 512
#: Share of a function's range that Fourier sums through the samples may err (`periodic.tail`).
TAIL = 1e-6
#: Variants whose W is held at once: 128 samples of 20 parameters and three runs are 60 kB each.
BLOCK = 256


@dataclass(frozen=True)
class Turns:
    """Turns of the variants that follow a whole one.

    Attributes
    ----------
    rows
        (turn,) which of the variants these are.
    tables, turns
        In parts, in the order of `rows`.
    lost, coarse
        Variants that do not follow a turn; whose functions `MOST` samples do not tell.
    """

    rows: Array
    tables: tuple[Table, ...]
    turns: tuple[Turn, ...]
    lost: Array
    coarse: Array

    def parts(self) -> Iterator[tuple[Array, Table, Turn]]:
        """Rows, tables and turns that belong together."""
        start = 0
        for table, turn in zip(self.tables, self.turns, strict=True):
            yield self.rows[start : start + turn.count], table, turn
            start += turn.count


@dataclass(frozen=True)
class Turner:
    """Tabulates turns of many variants; picklable.

    Attributes
    ----------
    engine
        Of a model with one coordinate, or one and virtual ones, which stay at 0.
    way
        The closed motion of the nominal variant.
    extra
        More joint values to follow.
    """

    engine: Engine
    way: Way
    extra: tuple[str, ...] = ()

    def __call__(self, values: Values, intervals: int) -> Turns:
        """Turns on an even number of intervals; swept symbols (variant,), SI."""
        return self._from(self.samples, values, intervals)

    def by_period(self, values: Values) -> Iterator[tuple["Turner", Array]]:
        """Variants (their numbers) by the turns after which each is back, with its turner.

        Where no ratio of couplings is swept all have the nominal variant's turns. Who is never
        back, or after too many turns, is left out.
        """
        model = self.engine.model
        lists, which, swept = turns_of_variants(model.mechanism, values)
        if not swept:
            yield self, np.arange(which.size)
            return
        for number, tried in enumerate(lists):
            waiting = np.flatnonzero(which == number)
            for turns in tried:
                turner = replace(
                    self, way=replace(self.way, high=self.way.low + 2 * np.pi * turns)
                )
                here = _take(values, waiting)
                path = turner._closed(self.engine.kernels.start(here), 1)
                back = path.closed.copy()
                apart = moved(model, _take(here, np.flatnonzero(back)), path.q[:, back])
                back[back] = apart < SAME
                if back.any():
                    yield turner, waiting[back]
                waiting = waiting[~back]
                if not waiting.size:
                    break

    @cached_property
    def samples(self) -> int:
        """Samples that tell the nominal variant's functions: where others begin."""
        found = self._from(FIRST, {}, FIRST)
        return found.tables[0].reduced.path.q.shape[-1] if found.tables else FIRST

    def _from(self, samples: int, values: Values, intervals: int) -> Turns:
        count = max((np.size(x) for x in values.values()), default=1)
        values = {name: np.broadcast_to(x, (count,)) for name, x in values.items()}
        waiting = np.arange(count)
        rows, tables, turns, lost = [], [], [], []
        while waiting.size and samples <= MOST:
            here = _take(values, waiting)
            begin = self.engine.kernels.start(here)
            G, path = begin.G, self._closed(begin, samples)
            closed = np.flatnonzero(path.closed)
            lost.append(waiting[~path.closed])
            again = []
            for start in range(0, closed.size, BLOCK):
                part = closed[start : start + BLOCK]
                q = path.q[:, part]
                table, growth = self._sampled(_take(here, part), G[..., part], q)
                enough = _tails(table) < TAIL
                again.append(waiting[part[~enough]])
                if enough.any() and not enough.all():
                    part, q = part[enough], q[:, enough]
                    table, growth = self._sampled(_take(here, part), G[..., part], q)
                if enough.any():
                    rows.append(waiting[part])
                    tables.append(_nodes(table, growth, self.way, intervals))
                    turns.append(turn_of(tables[-1]))
            waiting = _joined(again)
            samples *= 2
        return Turns(_joined(rows), tuple(tables), tuple(turns), _joined(lost), waiting)

    def _closed(self, begin: "Start", samples: int) -> Path:
        """Configurations on the samples and on the turn's end."""
        q = np.append(samples_of(self.way, samples), self.way.high)
        held = self.engine.model.assembled.coordinates[1:, None]
        targets = np.concatenate([q[None], np.broadcast_to(held, (len(held), q.size))])
        found = self.engine.kernels.trace(begin, targets)
        return Path(found.q, found.outcome)

    def _sampled(self, values: Values, G: Array, q: Array) -> tuple[Table, Array]:
        """The table on the samples, and what joints gain in a turn (joint, variant).

        q is (position, variant, sample), the turn's end among the samples.
        """
        model = self.engine.model
        loads = loads_of(model.mechanism, values)
        theta = _tracks(model, values, q, loads, self.extra)
        growth = theta[..., -1] - theta[..., 0]
        q, theta = np.ascontiguousarray(q[..., :-1]), theta[..., :-1]
        if len(model.mechanism.coordinates) > 1:
            rates = load_tables(model, values, q, loads, self.extra)[1]
        else:
            rates = periodic.slopes(theta, growth, self.way.length)[:, None]
        found = self._reduced(G, q, inertias(model, values))
        return loaded(model, values, found, loads, theta, rates), growth

    def _reduced(self, G: Array, q: Array, phi: Array) -> Reduced:
        """The kinetostatic route, by the kernels; of the energy route nothing.

        Of one coordinate ½ m′ is half the slope of m; what would be zeros is not computed.
        """
        count, samples = q.shape[1:]
        coordinates = len(self.engine.model.mechanism.coordinates)
        places, length = samples_of(self.way, samples), self.way.length
        falls = G[-1].any()  # the last item is gravity
        kinds = [(0.0, 1.0)] + [(0.0, 0.0)] * bool(falls) + [(1.0, 0.0)] * (coordinates > 1)
        efforts = self._efforts(np.ascontiguousarray(G), q, phi, places, kinds)
        still = efforts[1] if falls else np.zeros_like(efforts[0])
        inertia = efforts[0] - still
        if coordinates > 1:
            half = efforts[-1] - still
        else:
            half = periodic.slopes(inertia, np.zeros((count, 1)), length) / 2
        potential = periodic.integrals(still[:, 0], length)
        path = Path(q, np.full(count, Outcome.CLOSED))
        return Reduced(places, inertia, half, still, np.empty((count, 0)), potential, path)

    def _efforts(
        self,
        G: Array,
        q: Array,
        phi: Array,
        places: Array,
        kinds: Sequence[tuple[float, float]],
    ) -> Array:
        """Generalised forces (kind, variant, coordinate, sample) at (q̇, q̈) of each kind."""
        many, count, samples = len(kinds), *q.shape[1:]
        coordinates = len(self.engine.model.mechanism.coordinates)
        motion = np.zeros((3, coordinates, many * samples))
        motion[0, 0] = np.tile(places, many)
        motion[1:, 0] = np.repeat(np.array(kinds).T, samples, axis=1)
        times = np.arange(float(many * samples))
        W = self.engine.kernels.regress(
            G, np.tile(q, many), Motion(times, *motion), many * samples
        )[0]
        phi = np.broadcast_to(phi, (count, phi.shape[1]))
        found = (phi[:, None] @ W.reshape(count, phi.shape[1], -1)).reshape(
            count, coordinates, many, samples
        )
        return np.moveaxis(found, 2, 0)


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=int)


def _take(values: Values, rows: Array) -> Values:
    return {name: x[rows] for name, x in values.items()}


def _tracks(model: Model, values: Values, q: Array, loads: Loads, extra: Sequence[str]) -> Array:
    """What loads act on, then `extra` joints: (joint, variant, sample)."""
    joints = _joint_tracks(model, values, q, (*loads.joints, *extra))
    if not loads.dampers:
        return joints
    lengths = line_tables(model, values, q, loads.dampers)[0]
    own = len(loads.joints)
    return np.concatenate([joints[:own], lengths, joints[own:]])


def _joint_tracks(model: Model, values: Values, q: Array, names: Sequence[str]) -> Array:
    """Joint values (joint, variant, sample); pins that close loops by the turns around these."""
    found = np.zeros((len(names), *q.shape[1:]))
    for k, name in enumerate(names):
        turn = pin_turn(model, q, name)
        if turn is None:
            found[k] = tracks(model, values, q, [name])[0][1]
        else:  # exact but for a constant, which is measured where the turn begins
            start = tracks(model, values, q[..., :1], [name])[0][1]
            found[k] = turn - turn[..., :1] + start
    return found


def _tails(table: Table) -> Array:
    """The worst of the functions, (variant,)."""
    found = [periodic.tail(table.m), periodic.tail(table.slope)]
    found += [*periodic.tail(table.rates).reshape(-1, len(table.m))]
    if table.virtual_slope.size:
        r = table.reduced
        for rows in (r.inertia[:, 1:], r.half_slope[:, 1:], table.virtual_slope):
            found += [*periodic.tail(rows).T]
    worst: Array = np.max(found, axis=0)
    return worst


def _nodes(table: Table, growth: Array, way: Way, intervals: int) -> Table:
    """The same on all nodes of the turn, both ends among them."""
    r = table.reduced

    def finer(x: Array, gained: Array | float = 0.0) -> Array:
        if not x.any():  # a load that is not there
            return np.zeros((*x.shape[:-1], intervals + 1))
        return periodic.finer(x, gained, intervals)

    gained = table.slope.mean(axis=-1) * way.length
    m = finer(table.m)
    alike = r.inertia.shape[1] == 1 and np.shares_memory(table.m, r.inertia)  # no rotors
    inertia = m[:, None] if alike else finer(r.inertia)
    reduced = replace(
        r,
        q=np.linspace(way.low, way.high, intervals + 1),
        inertia=inertia,
        half_slope=finer(r.half_slope),
        potential_slope=finer(r.potential_slope),
        potential=finer(r.potential, r.potential_slope[:, 0].mean(axis=-1) * way.length),
    )
    theta = np.empty((*table.theta.shape[:-1], intervals + 1))
    rates = np.empty((*table.rates.shape[:-1], intervals + 1))
    for k, rate in enumerate(table.rates):
        if np.ptp(rate, axis=-1).max() < 1e-12:  # the coordinate itself, or a wheel on it
            rates[k] = rate[..., :1]
            share = np.linspace(0, 1, intervals + 1)
            theta[k] = table.theta[k, :, :1] + growth[k, :, None] * share
        else:
            rates[k] = finer(rate)
            theta[k] = finer(table.theta[k], growth[k])
    full = replace(
        table,
        reduced=reduced,
        m=m,
        slope=finer(table.slope),
        virtual_slope=finer(table.virtual_slope),
        potential=finer(table.potential, gained),
        theta=theta,
        rates=rates,
    )
    return with_growth(full, growth[:, 0])
