"""A mechanism of one degree of freedom, reduced: tables of many variants, curves of each.

    table = tabulate(model, way, {}, samples=256)
    found = survey(model)                     # nominal, samples doubled until the curves hold
    found.curves(q)[0], found.curves(q, 1)[0]   # m and m′ anywhere

The accuracy of curves is measured: every doubling of the samples brings new ones that the curves
so far know nothing of.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Model
from basepar_core.errors import AssemblyError

from .curves import Curves, through
from .joint_rates import line_tables, load_tables
from .loads import Loads, loads_of
from .path import Path, Values
from .range import Way, find_way
from .reduced import Reduced, inertias, reduce_inertia, samples_of

#: Curves are made of ever more samples until new ones differ by less than this share of a
#: function's range; rounding of the closed loops is near 1e-13.
CURVE_ACCURACY = 1e-10
FIRST, MOST = 64, 4096
#: Joints that a virtual coordinate moves by less than this share of what others do stand still.
STILL = 1e-12


@dataclass(frozen=True)
class Table:
    """Everything that forward dynamics needs, on samples of q, for many variants.

    Attributes
    ----------
    reduced
        m, ½ m′, V′ of bodies, of both routes.
    m
        (variant, sample): with the rotors of motors and joints.
    slope
        V′ (variant, sample) with springs; `virtual_slope` (variant, virtual, sample) likewise.
    potential
        V with springs, J, 0 at the first sample.
    theta, rates
        Joints, and lengths of dampers, that loads act on: (joint, variant, sample), (joint,
        coordinate, variant, sample).
    """

    reduced: Reduced
    loads: Loads
    m: Array
    slope: Array
    virtual_slope: Array
    potential: Array
    theta: Array
    rates: Array

    @property
    def q(self) -> Array:
        return self.reduced.q


def tabulate(
    model: Model,
    values: Values,
    q: Array,
    phi: Array,
    extra: Sequence[str] = (),
    path: Path | None = None,
) -> Table:
    """Reduced parameters and loads of many variants on samples.

    Parameters
    ----------
    model
        One coordinate, and virtual ones after it.
    values
        Swept symbols (variant,), SI.
    q
        (sample,).
    phi
        Their inertias (variant, parameter).
    extra
        More joint values to follow; they come after those of the loads.
    path
        The configurations where these are known.
    """
    found = reduce_inertia(model, values, q, phi, path)
    loads = loads_of(model.mechanism, values)
    theta, rates = load_tables(model, values, found.path.q, loads, extra)
    return loaded(model, values, found, loads, theta, rates)


def loaded(
    model: Model, values: Values, found: Reduced, loads: Loads, theta: Array, rates: Array
) -> Table:
    """Reduced parameters with the springs, and the rotors, that act at joints θ with rates ∂θ."""
    slope = found.potential_slope.copy()
    potential = found.potential - found.potential[:, :1]
    for spring in loads.elastics:
        stretch = theta[spring.joint] - spring.rest[:, None]
        slope += spring.stiffness[:, None, None] * (stretch * rates[spring.joint]).swapaxes(0, 1)
        potential = potential + spring.stiffness[:, None] / 2 * stretch**2
    for line, stiffness, rest in loads.lines:
        lengths, pulls = line_tables(model, values, found.path.q, [line])
        stretch = lengths[0] - rest[:, None]
        slope += stiffness[:, None, None] * (stretch * pulls[0]).swapaxes(0, 1)
        potential = potential + stiffness[:, None] / 2 * stretch**2
    m = found.m
    for joint, inertia in loads.rotors:
        m = m + inertia[:, None] * rates[joint, 0] ** 2
    return Table(
        found, loads, m, slope[:, 0], slope[:, 1:], potential - potential[:, :1], theta, rates
    )


@dataclass(frozen=True)
class Survey:
    """One variant over its whole motion.

    Attributes
    ----------
    way, table
        Where q runs, and the finest table.
    curves
        Rows: m, V′, V, then θ of every joint, then θ′; with virtual coordinates m_e1, m_e2, V_h
        of each and ∂θ/∂h of every joint for each.
    errors
        (row,) largest difference of the curves from samples they were not made of, as a share of
        the function's range (of its size where it is constant).
    energy_errors
        Of m: kinetostatic against energy route; of m′: kinetostatic against the energy curve's
        slope; of V′: kinetostatic against the potential curve's slope. Shares of the range; of
        the size (for m′ of m's) where it does not change with q.
    """

    model: Model
    way: Way
    table: Table
    curves: Curves
    errors: Array
    energy_errors: dict[str, float]

    @property
    def accurate(self) -> bool:
        """Whether the curves are as accurate as they were meant to be."""
        return bool(self.errors.max() < CURVE_ACCURACY)

    @property
    def joints(self) -> int:
        return len(self.table.theta)

    @property
    def theta_rows(self) -> slice:
        return slice(3, 3 + self.joints)

    @property
    def rate_rows(self) -> slice:
        return slice(3 + self.joints, 3 + 2 * self.joints)

    def virtual_rows(self, k: int) -> slice:
        """m_e1, m_e2, V_h and every joint's ∂θ/∂h of a virtual coordinate (from 0)."""
        size = 3 + self.joints
        start = 3 + 2 * self.joints + k * size
        return slice(start, start + size)


def survey(
    model: Model,
    extra: Sequence[str] = (),
    values: Values | None = None,
    way: Way | None = None,
) -> Survey:
    """Reduce one variant over its whole motion.

    Parameters
    ----------
    model
        Of mobility one, or with virtual coordinates after the first.
    extra
        More joint values to follow.
    values
        Swept symbols, arrays (1,), SI.
    way
        Where it is known already (of the nominal geometry).

    Raises
    ------
    MechanismError, UsageError
        As `find_way`; as `joint_tables`.
    AssemblyError
        The variant does not follow the motion.
    """
    values = values or {}
    way = way or find_way(model)
    phi = inertias(model, values)
    count = FIRST
    curves, errors = None, np.array([np.inf])
    while True:
        q = samples_of(way, count if way.closed else count + 1)
        table = tabulate(model, values, q, phi, extra)
        if not table.reduced.path.closed.all():
            raise AssemblyError(
                f"{model.mechanism.name!r} does not follow its coordinate from {way.low:.6g} to "
                f"{way.high:.6g} at these dimensions. Give a narrower range."
            )
        rows = stacked(table)
        if curves is not None:
            errors = _errors(curves, q[1::2], rows[:, 1::2], rows)
        curves = through(q, rows, way.length if way.closed else 0.0, _slopes(table, way))
        if errors.max() < CURVE_ACCURACY or count >= MOST:
            break
        count *= 2
    if way.closed:
        table = with_growth(table, _slopes(table, way)[3 : 3 + len(table.theta)] * way.length)
    return Survey(model, way, table, curves, errors, _routes(table, way))


def with_growth(table: Table, gained: Array) -> Table:
    """A table whose loads know what joints (joint,) gain in a closed motion."""
    return replace(table, loads=grown(table.loads, gained))


def grown(loads: Loads, gained: Array) -> Loads:
    """The same, knowing what joints (joint,) gain in a closed motion."""
    # Whole turns, or nothing but rounding.
    growth = {k: float(x) for k, x in enumerate(gained) if abs(x) > 1e-6}
    return replace(loads, growth=growth)


def stacked(table: Table, variant: int = 0) -> Array:
    """Rows of `Survey.curves` on the samples."""
    r = table.reduced
    rows = [table.m[variant], table.slope[variant], table.potential[variant]]
    rows += [*table.theta[:, variant], *table.rates[:, 0, variant]]
    for k in range(1, r.inertia.shape[1]):
        rows += [r.inertia[variant, k], r.half_slope[variant, k]]
        given = table.rates[:, k, variant]
        still = np.abs(given).max(axis=1, initial=0.0) < STILL * max(
            1.0, np.abs(given).max(initial=0.0)
        )
        # A joint that stays where it is moves by rounding only, which no curve follows.
        rows += [table.virtual_slope[variant, k - 1], *np.where(still[:, None], 0.0, given)]
    return np.array(rows)


def _slopes(table: Table, way: Way) -> Array:
    """What grows with the turns: joints that turn with the coordinate, and V if it does."""
    rows = stacked(table)
    slopes = np.zeros(len(rows))
    if way.closed:
        joints = len(table.theta)
        slopes[2] = table.slope[0].mean()
        slopes[3 : 3 + joints] = table.rates[:, 0, 0].mean(axis=1)
    return slopes


def _errors(curves: Curves, q: Array, samples: Array, rows: Array) -> Array:
    off = np.abs(curves(q) - samples).max(axis=1)
    found: Array = off / _scale(rows)
    return found


def _scale(rows: Array) -> Array:
    """Range of every function, or its size where it is constant to rounding."""
    size, span = np.abs(rows).max(axis=1), np.ptp(rows, axis=1)
    return np.where(span > 1e-9 * size, span, np.where(size > 0, size, 1.0))


def _routes(table: Table, way: Way) -> dict[str, float]:
    """How far the two routes are apart, as shares of each function's range."""
    r = table.reduced
    samples = np.stack([r.energy[0], r.potential[0]])
    slopes = np.array([0.0, r.potential_slope[0, 0].mean() if way.closed else 0.0])
    curves = through(r.q, samples, way.length if way.closed else 0.0, slopes)
    inner = slice(None) if way.closed else slice(4, -4)
    slope = curves(r.q[inner], 1)
    m = np.abs(r.m[0]).max()
    force = r.potential_slope[0, 0, inner]
    pairs = {
        "m": (r.m[0], r.energy[0], m),
        "m_prime": (r.m_prime[0, inner], slope[0], m),
        "potential_slope": (force, slope[1], np.abs(force).max()),
    }
    found = {}
    for name, (a, b, size) in pairs.items():
        span = np.ptp(a)
        if span < 1e-9 * size:  # it does not change with q: only rounding is left
            span = size
        found[name] = float(np.abs(a - b).max() / max(span, 1e-9 * m))
    return found
