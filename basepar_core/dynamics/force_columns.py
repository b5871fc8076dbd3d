"""Columns of W besides the inertial ones: friction, offsets, rotors, springs and dampers.

Each is a force law that is linear in one parameter and acts on a joint value x (or on the
distance of two points): its column is the law times ∂x/∂q, by d'Alembert's principle. Signs are
those of what a drive has to supply: τ = W φ.

==========  =======================================  ==============================
name        force or torque on x per unit parameter  parameter (x an angle; a length)
==========  =======================================  ==============================
viscous     ẋ                                        N m s/rad; N s/m
coulomb     sign ẋ (0 at rest)                       N m; N
offset      1                                        N m; N
rotor       ẍ                                        kg m²; kg
stiffness   x − rest                                 N m/rad; N/m
damping     ẋ of a distance of two points            N s/m
==========  =======================================  ==============================

Laws of drives that turn several coordinates at once: `drive_laws`.

The plain path only: the compiled kernels make inertial columns. Sweeps put these beside them,
a chunk at a time, where they are asked for.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import MissingDataError, UsageError
from basepar_core.expressions import Expression, did_you_mean, evaluate
from basepar_core.mechanism import Damper, Friction, Mechanism, Spring
from basepar_core.symbolic import symbol_values

from . import joint_rates, joint_tracks, kinematics, spatial
from .closure import Model
from .drive_laws import DriveLaw
from .kinematics import Geometry, Poses, Twists
from .motion import Motion
from .regressor import LANES, Observation, Rates
from .spatial import cross, dot

#: Units of the kinds of columns: of a parameter on an angle, and on a length.
_UNITS = {
    "viscous": ("N m s/rad", "N s/m"),
    "coulomb": ("N m", "N"),
    "offset": ("N m", "N"),
    "rotor": ("kg m^2", "kg"),
    "stiffness": ("N m/rad", "N/m"),
    "damping": ("N m s/rad", "N s/m"),
}
KINDS = tuple(_UNITS)
#: What `with=` takes besides kinds and full names: sections of the file.
SECTIONS = {"friction": Friction, "springs": Spring, "dampers": Damper}


@dataclass(frozen=True, slots=True)
class Column:
    """One column besides the inertial ones; `value` (SI) where the file gives it."""

    name: str
    kind: str
    source: Friction | Spring | Damper | DriveLaw

    @property
    def value(self) -> Expression | None:
        """The parameter's value, as the file states it."""
        match self.source:
            case Spring(stiffness=value) | Damper(damping=value) | Friction(value=value):
                return value
            case DriveLaw():
                return None


def law_columns(mechanism: Mechanism, laws: Sequence[DriveLaw]) -> tuple[Column, ...]:
    """Columns of laws of drives, named by drive and law.

    Raises
    ------
    UsageError
        Laws whose weights are not one finite number per coordinate, are all zero, are of values of
        spherical or free joints (whose speeds are no derivatives), or of angles and lengths at
        once; names that are there twice, or are columns of the file. All at once.
    """
    taken = Counter([one.name for one in columns(mechanism)] + [law.name for law in laws])
    problems = {law.name: law.problem(mechanism) for law in laws}
    problems |= {name: "is there twice" for name in problems if taken[name] > 1}
    wrong = {name: text for name, text in problems.items() if text}
    if wrong:
        raise UsageError(
            "\n".join(f"{mechanism.name!r}: {name} {text}." for name, text in wrong.items()),
            list(wrong),
        )
    return tuple(Column(law.name, law.kind, law) for law in laws)


def columns(mechanism: Mechanism) -> tuple[Column, ...]:
    """All columns that a mechanism's file names, friction first, in file order."""
    return (
        *(Column(f"{one.coordinate}.{one.kind}", one.kind, one) for one in mechanism.friction),
        *(Column(f"{one.name}.stiffness", "stiffness", one) for one in mechanism.springs),
        *(Column(f"{one.name}.damping", "damping", one) for one in mechanism.dampers),
    )


def select(mechanism: Mechanism, wanted: Sequence[str]) -> tuple[Column, ...]:
    """Columns by section (friction, springs, dampers), kind (viscous, …) or name (A.viscous).

    Raises
    ------
    UsageError
        Words that name no column of this mechanism, all at once.
    """
    known = columns(mechanism)
    chosen, unknown = set(), []
    for word in wanted:
        section: tuple[type, ...] = (SECTIONS[word],) if word in SECTIONS else ()
        found = {
            one.name
            for one in known
            if word in (one.name, one.kind) or isinstance(one.source, section)
        }
        chosen |= found
        unknown += [] if found else [word]
    if unknown:
        names = [one.name for one in known]
        words = [*names, *KINDS, *SECTIONS]
        hint = "" if unknown[0] in words else did_you_mean(unknown[0], words)
        raise UsageError(
            f"{mechanism.name!r} has no column{'s' * (len(unknown) > 1)} {', '.join(unknown)}"
            f"{hint or '.'} Its file names "
            f"{', '.join(names) or 'none'}; others are written into it, under `friction:`, "
            f"`springs:` or `dampers:`.",
            unknown,
        )
    return tuple(one for one in known if one.name in chosen)


def unit(mechanism: Mechanism, column: Column) -> str:
    """SI unit of a column's parameter."""
    if isinstance(column.source, DriveLaw):
        return column.source.unit(mechanism)
    name = joint_value(column)
    if name is None:
        return _UNITS[column.kind][1]
    return _UNITS[column.kind][mechanism.value(name).is_length]


def column_values(
    mechanism: Mechanism, chosen: Sequence[Column], values: Mapping[str, Array | float]
) -> Array:
    """The columns' parameters (variant, column) or (column,), SI.

    Raises
    ------
    MissingDataError
        The file gives some no value.
    """
    bare = [one.name for one in chosen if one.value is None]
    if bare:
        raise MissingDataError(
            f"Torques need the values of {', '.join(bare)}, and {mechanism.name!r} names these "
            f"columns without one. Write `friction: {{A: {{viscous: 0.1}}}}`, or leave them out "
            f"of `with=`.",
            bare,
        )
    if not chosen:
        return np.zeros(0)
    numbers = evaluate([one.value for one in chosen if one.value is not None], values)
    return np.stack(np.broadcast_arrays(*numbers, np.zeros(()))[:-1], axis=-1).astype(float)


def with_columns(
    model: Model,
    values: Mapping[str, Array],
    motion: Motion,
    seen: Observation,
    chosen: Sequence[Column],
) -> Observation:
    """An observation with force-law columns behind the inertial ones.

    Parameters
    ----------
    model, values, motion
        What `seen` was observed with.
    chosen
        From `select`.
    """
    if not chosen:
        return seen
    extra = observe_columns(model, values, motion, seen.trace.q, chosen)
    sizes = np.sqrt((extra**2).sum(axis=(1, 2)))  # sums of one term: nothing cancels
    return replace(
        seen,
        W=np.concatenate([seen.W, extra], axis=-1),
        terms=np.concatenate([seen.terms, sizes], axis=-1),
    )


def observe_columns(
    model: Model,
    values: Mapping[str, Array],
    motion: Motion,
    q: Array,
    chosen: Sequence[Column],
) -> Array:
    """The columns along a motion: (variant, sample, coordinate, column), N or N m per unit.

    Parameters
    ----------
    model, values, motion
        As in `regressor.observe`.
    q
        (position, variant, sample): configurations, from `closure.trace`.
    chosen
        Columns.
    """
    found = np.empty((*q.shape[1:], len(motion.q), len(chosen)))
    for lanes, place, _, law, modes in laws(model, values, motion, q, chosen):
        with np.errstate(all="ignore"):
            for k, mode in enumerate(modes):
                found[lanes, ..., k, place] = law * mode
    return found


def laws(
    model: Model,
    values: Mapping[str, Array],
    motion: Motion,
    q: Array,
    chosen: Sequence[Column],
) -> Iterator[tuple[Array, int, Column, Array, list[Array]]]:
    """Each column's force law and ∂x/∂q per coordinate, (variant, sample), some variants at once.

    Yields
    ------
    Variants by number, the column's place and itself, the law, ∂x/∂q. Parameters as in
    `observe_columns`.
    """
    tracks = _tracks(model, values, q, chosen)
    dims = kinematics.geometry(model.mechanism, values)
    known = symbol_values(model.mechanism, values)
    block = max(1, LANES // motion.t.size)
    for start in range(0, q.shape[1], block):
        lanes = np.arange(start, min(start + block, q.shape[1]))
        with np.errstate(all="ignore"):  # failed variants go on as passengers
            here = dims if dims.gravity.shape[-1] == 1 else dims.take(lanes)
            state = _State(model, here.over_samples(), q[:, lanes], motion)
            found = [_law(state, column, tracks, known, lanes) for column in chosen]
        for place, (column, (law, modes)) in enumerate(zip(chosen, found, strict=True)):
            yield lanes, place, column, law, modes


def joint_value(column: Column) -> str | None:
    """The joint value a column acts on; None between points, and of a drive's law."""
    return None if isinstance(column.source, Damper | DriveLaw) else column.source.coordinate


class _State:
    """Poses, velocities and accelerations of a few variants along the motion."""

    def __init__(self, model: Model, dims: Geometry, q: Array, motion: Motion):
        graph = model.topology
        self.mechanism = model.mechanism
        self.motion = (motion.q, motion.q_dot, motion.q_ddot)
        self.batch = q.shape[1:]
        self.at: Poses = kinematics.poses(graph, dims, q)
        rates = Rates(model, self.at, dims, motion, self.batch)
        self.moving = kinematics.twists(graph, self.at, rates.u)
        self.alpha, self.a = rates.accelerations(self.moving)
        self.virtual: list[Twists] = [
            kinematics.twists(graph, self.at, rates.modes[:, k]) for k in range(len(motion.q))
        ]
        self.number = self.mechanism.body_index

    def relative(self, joint: int, twists: Twists) -> tuple[Array, Array]:
        """Relative angular velocity, and velocity of F2's origin, of a joint's two bodies."""
        first, second = (self.number[name] for name in self.mechanism.joints[joint].bodies)
        P, p = self.at.P2[joint], self.at.p
        spin = twists.omega[second] - twists.omega[first]
        there = twists.v[second] + cross(twists.omega[second], P - p[second])
        return spin, there - twists.v[first] - cross(twists.omega[first], P - p[first])

    def relative_acceleration(self, joint: int) -> tuple[Array, Array]:
        """Rates of `relative` as seen from the first body."""
        first, second = (self.number[name] for name in self.mechanism.joints[joint].bodies)
        w1 = self.moving.omega[first]
        spin, slide = self.relative(joint, self.moving)
        P = self.at.P2[joint]
        point = [
            self.a[b]
            + cross(self.alpha[b], P - self.at.p[b])
            + cross(self.moving.omega[b], cross(self.moving.omega[b], P - self.at.p[b]))
            for b in (first, second)
        ]
        spin_dot = self.alpha[second] - self.alpha[first] - cross(w1, spin)
        slide_dot = point[1] - point[0]
        return spin_dot, slide_dot - 2 * cross(w1, slide)

    def point(self, body: str, place: Array) -> tuple[int, Array, Array]:
        """A body's number, a point of it in the world, and the arm from its origin to there."""
        b = self.number[body]
        arm = spatial.rotate(self.at.R[b], place)
        return b, self.at.p[b] + arm, arm


def _law(
    state: _State,
    column: Column,
    tracks: Mapping[str, Array],
    known: Mapping[str, Array | float],
    lanes: Array,
) -> tuple[Array, list[Array]]:
    """A law (variant, sample), and ∂x/∂q per coordinate."""
    if isinstance(column.source, DriveLaw):
        law = np.broadcast_to(column.source.law(*state.motion), state.batch)
        return law, [np.full(state.batch, weight) for weight in column.source.weights]
    if joint_value(column):
        return _on_value(state, column, tracks, known, lanes)
    return _between_points(state, column.source, known, lanes)


def _on_value(
    state: _State,
    column: Column,
    tracks: Mapping[str, Array],
    known: Mapping[str, Array | float],
    lanes: Array,
) -> tuple[Array, list[Array]]:
    """A law on a joint value (variant, sample), and ∂x/∂q per coordinate."""
    source, name = column.source, joint_value(column)
    assert name is not None
    value = state.mechanism.value(name)
    joint, j, place = value.joint, value.number, value.place
    values = np.stack([tracks[name][lanes] for name in joint.values])
    ways = joint_rates.directions(joint.type, state.at.X1[j], state.at.X2[j], values)
    modes = [joint_rates.rate(ways[place], *state.relative(j, v)) for v in state.virtual]
    rates = np.stack(
        [joint_rates.rate(way, *state.relative(j, state.moving)) + 0 * values[0] for way in ways]
    )
    if isinstance(source, Spring):
        return values[place] - _lanes_of(source.rest, known, lanes), modes
    match column.kind:
        case "viscous":
            return rates[place], modes
        case "coulomb":
            return np.sign(rates[place]), modes
        case "offset":
            return np.ones_like(rates[place]), modes
    curved = joint_rates.bias(joint.type, values, rates)[place]
    return joint_rates.rate(ways[place], *state.relative_acceleration(j)) + curved, modes


def _between_points(
    state: _State,
    source: Friction | Spring | Damper,
    known: Mapping[str, Array | float],
    lanes: Array,
) -> tuple[Array, list[Array]]:
    """Elongation of a spring or its rate at a damper, and ∂length/∂q per coordinate."""
    assert not isinstance(source, Friction)
    assert source.bodies is not None
    assert source.points is not None
    places = [
        np.stack(np.broadcast_arrays(*(_lanes_of(entry, known, lanes) for entry in point)))
        for point in source.points
    ]
    ends = [state.point(name, p) for name, p in zip(source.bodies, places, strict=True)]
    (one, here, arm), (two, there, reach) = ends
    length = np.sqrt(dot(there - here, there - here))
    along = (there - here) / length

    def rate(v: Twists) -> Array:
        apart = v.v[two] + cross(v.omega[two], reach) - v.v[one] - cross(v.omega[one], arm)
        return dot(along, apart)

    modes = [rate(v) for v in state.virtual]
    if isinstance(source, Damper):
        return rate(state.moving), modes
    return length - _lanes_of(source.rest, known, lanes), modes


def _lanes_of(expression: Expression, known: Mapping[str, Array | float], lanes: Array) -> Array:
    """An expression's value over (variant, sample) of some variants."""
    (value,) = evaluate([expression], known)
    one = np.asarray(value, float)
    return (one[lanes] if one.size > 1 else one.reshape(1))[:, None]


def _tracks(
    model: Model, values: Mapping[str, Array], q: Array, chosen: Sequence[Column]
) -> dict[str, Array]:
    """Values (variant, sample) of the joints that carry columns."""
    carried = [name for name in map(joint_value, chosen) if name is not None]
    joints = {model.mechanism.value(name).joint for name in carried}
    names = [n for joint in model.mechanism.joints if joint in joints for n in joint.values]
    return dict(joint_tracks.tracks(model, values, q, names))
