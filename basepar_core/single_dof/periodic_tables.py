"""Turns of many variants at once: few configurations by the kernels, Fourier sums between them.

Functions of a closed motion are periodic and smooth: 64 to 256 samples tell them to a share of
1e-7, where the integrator needs 360 nodes and more. So the loops are closed, and W is made,
on few samples only, by the compiled kernels; the slopes of joints, the potential and all nodes
follow from the samples' harmonics. Whether the samples are enough is measured, variant by variant
(`periodic.tail`), and who needs more gets twice as many.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from basepar_core.arrays import Array
from basepar_core.compiled import Engine
from basepar_core.dynamics import Model, Motion, Outcome, pin_turn, tracks

from . import periodic
from .cycle_tables import Turn, turn_of
from .gear_periods import turns_of_variants
from .joint_rates import line_tables, load_tables
from .loads import Loads, load_names, loads_of
from .path import Path, Values
from .range import SAME, Way, moved
from .reduced import Reduced, inertias, samples_of
from .survey import Table, grown, loaded

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
        found = self._deformed(values, intervals) if _is_one(values) else None
        return found or self._from(self.samples, values, intervals)

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
        nominal = self._nominal
        return nominal.reduced.path.q.shape[-1] if nominal else FIRST

    @cached_property
    def _nominal(self) -> Table | None:
        """The nominal variant's table on a turn; None where it has none."""
        found = self._from(FIRST, {}, FIRST)
        return found.tables[0] if found.tables else None

    def _deformed(self, values: Values, intervals: int) -> Turns | None:
        """One variant's turn from the nominal one, all samples at once; None if that fails.

        Where its loops close on the nominal branch everywhere, and its functions are smooth, this
        is the motion that begins at its assembly, which is a sample.
        """
        nominal, loops = self._nominal, self.engine.model.loops
        values = {name: np.reshape(x, 1) for name, x in values.items()}
        if nominal is None or not loops.jumping.isdisjoint(values):
            return None
        G, q, closed = self.engine.kernels.deformed(values, nominal.reduced.path.q[:, 0])
        if not closed:
            return None
        growth = nominal.theta[..., -1] - nominal.theta[..., 0]  # whole turns, of all alike
        q = q[:, None]
        theta = _tracks(self.engine.model, values, q, self._loads(values), self.extra)
        table = self._sampled(values, G, q, theta, growth)
        if _tails(table)[0] >= TAIL:
            return None
        table = _nodes(table, growth, self.way, intervals)
        none = np.zeros(0, dtype=int)
        return Turns(np.zeros(1, dtype=int), (table,), (turn_of(table),), none, none)

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
                table, growth = self._measured(_take(here, part), G[..., part], q)
                enough = _tails(table) < TAIL
                again.append(waiting[part[~enough]])
                if enough.any() and not enough.all():
                    part, q = part[enough], q[:, enough]
                    table, growth = self._measured(_take(here, part), G[..., part], q)
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

    def _measured(self, values: Values, G: Array, q: Array) -> tuple[Table, Array]:
        """The table on the samples, and what joints gain in a turn (joint, variant).

        q is (position, variant, sample), the turn's end among the samples.
        """
        theta = _tracks(self.engine.model, values, q, self._loads(values), self.extra)
        growth = theta[..., -1] - theta[..., 0]
        q, theta = np.ascontiguousarray(q[..., :-1]), theta[..., :-1]
        return self._sampled(values, G, q, theta, growth), growth

    def _sampled(self, values: Values, G: Array, q: Array, theta: Array, growth: Array) -> Table:
        """The table on samples of q (position, variant, sample) and θ (joint, variant, sample)."""
        model, loads = self.engine.model, self._loads(values)
        if len(model.mechanism.coordinates) > 1:
            rates = load_tables(model, values, q, loads, self.extra)[1]
        else:
            rates = periodic.slopes(theta, growth, self.way.length)[:, None]
        found = self._reduced(G, q, inertias(model, values))
        return loaded(model, values, found, loads, theta, rates)

    def _loads(self, values: Values) -> Loads:
        """Loads at symbol values; most often what is swept is none of theirs."""
        nominal, named = self._nominal_loads
        return (
            nominal if named.isdisjoint(values) else loads_of(self.engine.model.mechanism, values)
        )

    @cached_property
    def _nominal_loads(self) -> tuple[Loads, frozenset[str]]:
        """Nominal loads, and symbols that change them."""
        mechanism = self.engine.model.mechanism
        named = load_names(mechanism)
        if not named.isdisjoint(r.symbol for r in mechanism.relations):
            named |= mechanism.nominal.keys()  # roots depend on others
        return loads_of(mechanism, {}), named

    def _reduced(self, G: Array, q: Array, phi: Array) -> Reduced:
        """The kinetostatic route, by the kernels; of the energy route nothing.

        Of one coordinate ½ m′ is half the slope of m; what would be zeros is not computed.
        """
        count, samples = q.shape[1:]
        coordinates = len(self.engine.model.mechanism.coordinates)
        places, length = samples_of(self.way, samples), self.way.length
        falls = G[-1].any()  # the last item is gravity
        kinds = [(0.0, 1.0)] + [(0.0, 0.0)] * bool(falls) + [(1.0, 0.0)] * (coordinates > 1)
        efforts = self._efforts(np.ascontiguousarray(G), q, phi, tuple(kinds))
        still = efforts[1] if falls else np.zeros_like(efforts[0])
        inertia = efforts[0] - still
        if coordinates > 1:
            half = efforts[-1] - still
        else:
            half = periodic.slopes(inertia, np.zeros((count, 1)), length) / 2
        rest = still[:, 0]
        potential = periodic.integrals(rest, length) if falls else np.zeros_like(rest)
        path = Path(q, np.full(count, Outcome.CLOSED))
        return Reduced(places, inertia, half, still, np.empty((count, 0)), potential, path)

    def _efforts(
        self,
        G: Array,
        q: Array,
        phi: Array,
        kinds: tuple[tuple[float, float], ...],
    ) -> Array:
        """Generalised forces (kind, variant, coordinate, sample) at (q̇, q̈) of each kind."""
        many, count, samples = len(kinds), *q.shape[1:]
        coordinates = len(self.engine.model.mechanism.coordinates)
        motion = _runs(self.way, samples, coordinates, kinds)
        q = np.tile(q, many) if many > 1 else q
        W = self.engine.kernels.regress(G, q, motion, many * samples)[0]
        found = (phi[:, None] @ W.reshape(count, phi.shape[1], -1)).reshape(
            count, coordinates, many, samples
        )
        return found.transpose(2, 0, 1, 3)


@lru_cache(maxsize=16)
def _runs(
    way: Way, samples: int, coordinates: int, kinds: tuple[tuple[float, float], ...]
) -> Motion:
    """The samples once for each kind, with its (q̇, q̈); virtual coordinates stay at 0."""
    many = len(kinds)
    motion = np.zeros((3, coordinates, many * samples))
    motion[0, 0] = np.tile(samples_of(way, samples), many)
    motion[1:, 0] = np.repeat(np.array(kinds).T, samples, axis=1)
    return Motion(np.arange(float(many * samples)), *motion)


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=int)


def _is_one(values: Values) -> bool:
    return all(np.size(x) == 1 for x in values.values())


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
    found, places = np.empty((len(names), *q.shape[1:])), model.topology.places
    for k, name in enumerate(names):
        value = model.mechanism.value(name)
        if value.number in places:
            found[k] = q[places[value.number] + value.place]
            continue
        turn = pin_turn(model, q, name)
        if turn is None:
            found[k] = tracks(model, values, q, [name])[0][1]
        else:  # exact but for a constant, which is measured where the turn begins
            start = tracks(model, values, q[..., :1], [name])[0][1]
            found[k] = turn - turn[..., :1] + start
    return found


def _tails(table: Table) -> Array:
    """The worst of the functions, (variant,)."""
    rows = [table.m[None], table.slope[None], table.rates.reshape(-1, *table.m.shape)]
    if table.virtual_slope.size:
        r = table.reduced
        more = (r.inertia[:, 1:], r.half_slope[:, 1:], table.virtual_slope)
        rows += [x.swapaxes(0, 1) for x in more]
    worst: Array = periodic.tail(np.concatenate(rows)).max(axis=0)
    return worst


def _nodes(table: Table, growth: Array, way: Way, intervals: int) -> Table:
    """The same on all nodes of the turn, both ends among them."""
    r = table.reduced

    def finer(x: Array, gained: Array | float = 0.0) -> Array:
        if not x.any():  # a load that is not there
            return np.zeros((*x.shape[:-1], intervals + 1))
        return periodic.finer(x, gained, intervals)

    def fallen(x: Array, slope: Array) -> Array:
        return finer(x, slope.mean(axis=-1) * way.length if x.any() else 0.0)

    m = finer(table.m)
    alike = r.inertia.shape[1] == 1 and np.shares_memory(table.m, r.inertia)  # no rotors
    reduced = Reduced(
        _grid(way.low, way.high, intervals).copy(),
        m[:, None] if alike else finer(r.inertia),
        finer(r.half_slope),
        finer(r.potential_slope),
        r.energy,
        fallen(r.potential, r.potential_slope[:, 0]),
        r.path,
    )
    theta = np.empty((*table.theta.shape[:-1], intervals + 1))
    rates = np.empty((*table.rates.shape[:-1], intervals + 1))
    spans = np.ptp(table.rates, axis=-1).max(axis=(1, 2), initial=0.0)
    for k, span in enumerate(spans):
        if span < 1e-12:  # the coordinate itself, or a wheel on it
            rates[k] = table.rates[k, ..., :1]
            share = _grid(0.0, 1.0, intervals)
            theta[k] = table.theta[k, :, :1] + growth[k, :, None] * share
        else:
            rates[k] = finer(table.rates[k])
            theta[k] = finer(table.theta[k], growth[k])
    return Table(
        reduced,
        grown(table.loads, growth[:, 0]),
        m,
        finer(table.slope),
        finer(table.virtual_slope),
        fallen(table.potential, table.slope),
        theta,
        rates,
    )


@lru_cache(maxsize=16)
def _grid(low: float, high: float, intervals: int) -> Array:
    """Nodes of even intervals, which nobody may change."""
    return np.linspace(low, high, intervals + 1)
