"""Putting the nominal mechanism together: Newton on all body poses at once.

Here every body has its six (in the plane three) coordinates and every joint its constraints;
nothing is a tree. That is slower than following loops, and finds its way from rougher poses;
it happens once per mechanism. Everywhere else loops are closed in joint coordinates
(`closure.py`).
"""

from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import AssemblyError, MechanismError
from basepar_core.expressions import evaluate
from basepar_core.mechanism import Joint, Mechanism, joint_type

from . import joints, spatial
from .kinematics import Geometry, geometry
from .topology import Topology, spanning_joints, topology

LONGEST_TURN = 0.5  # rad a step
ITERATIONS = 200
# Poses are metres and radians of order one; rounding of a closed loop stays below 1e-13.
CLOSED = 1e-11


@dataclass(frozen=True)
class Assembled:
    """The nominal mechanism put together.

    Attributes
    ----------
    topology
        Tree and cut joints.
    q
        Configuration (position,) of the tree joints.
    coordinates
        q_assembly (coordinate,): where motions start, rad or m.
    residual
        Largest gap left, m or rad.
    """

    mechanism: Mechanism
    topology: Topology
    q: Array
    coordinates: Array
    residual: float


def assemble(mechanism: Mechanism) -> Assembled:
    """Assemble at nominal geometry (docs/mechanism-files.md, "Assembly").

    Raises
    ------
    AssemblyError
        A joint stays open; names it and its gap.
    MechanismError
        The number of coordinates differs from the mobility, or they are dependent.
    """
    spanning_joints(mechanism)  # a loose body has no place to start from
    dims = geometry(mechanism, {})
    stated = _coupled_values(mechanism, dims, _stated_values(mechanism))
    start = _lay_out(mechanism, dims, stated)
    free = _Newton(mechanism, dims, {}, stated).solve(start)
    _check_mobility(mechanism, dims, free)
    graph = topology(mechanism)
    held = {name: stated[name] for name in mechanism.coordinates if name in stated}
    measured = _measure(mechanism, dims, start)
    for name in mechanism.coordinates:
        held.setdefault(name, measured[name])
    newton = _Newton(mechanism, dims, held, {**stated, **held})
    closed = newton.solve(start)
    q, residual = _configuration(mechanism, graph, dims, closed, {**newton.near, **held})
    coordinates = np.array([held[name] for name in mechanism.coordinates])
    return Assembled(mechanism, graph, q, coordinates, residual)


@dataclass
class _Bodies:
    """Orientations (body, 3, 3) and positions (body, 3); the ground last."""

    R: Array
    p: Array

    def copy(self) -> "_Bodies":
        return _Bodies(self.R.copy(), self.p.copy())


def _stated_values(mechanism: Mechanism) -> dict[str, float]:
    entries = mechanism.assembly.values
    numbers = evaluate([value for _, value in entries], mechanism.nominal)
    return {name: float(x) for (name, _), x in zip(entries, numbers, strict=True)}


def _coupled_values(
    mechanism: Mechanism, dims: Geometry, stated: dict[str, float]
) -> dict[str, float]:
    """Stated values, and those that follow from them by couplings, one after the other."""
    known = dict(stated)
    for _ in mechanism.couplings:
        for coupling, table in zip(mechanism.couplings, dims.couplings, strict=True):
            terms = [(name, x) for (name, _), x in zip(coupling.terms, table[:-1, 0], strict=True)]
            missing = [(name, x) for name, x in terms if name not in known]
            if len(missing) == 1 and missing[0][1]:
                (name, own), rest = missing[0], float(table[-1, 0])
                rest -= sum(x * known[other] for other, x in terms if other != name)
                known[name] = rest / own
    return known


def _lay_out(mechanism: Mechanism, dims: Geometry, stated: dict[str, float]) -> _Bodies:
    """Starting poses: stated ones, then over joints with values, then over joints at zero."""
    number = mechanism.body_index
    at = _Bodies(
        np.tile(np.eye(3), (len(mechanism.bodies) + 1, 1, 1)),
        np.zeros((len(mechanism.bodies) + 1, 3)),
    )
    known = {-1}
    for pose in mechanism.assembly.poses:
        numbers = np.array(evaluate([*pose.at, *pose.rotation], mechanism.nominal), float)
        body = number[pose.body]
        at.p[body], at.R[body] = numbers[:3], spatial.matrix(numbers[3:])
        known.add(body)
    while len(known) <= len(mechanism.bodies):
        frontier = [
            k
            for k, joint in enumerate(mechanism.joints)
            if (number[joint.bodies[0]] in known) != (number[joint.bodies[1]] in known)
        ]
        valued = [k for k in frontier if set(mechanism.joints[k].values) & stated.keys()]
        known.add(_place_over(mechanism, dims, (valued or frontier)[0], stated, at, known))
    return at


def _place_over(
    mechanism: Mechanism,
    dims: Geometry,
    k: int,
    stated: dict[str, float],
    at: _Bodies,
    known: set[int],
) -> int:
    joint, side = mechanism.joints[k], dims.joints[k]
    first, second = (mechanism.body_index[name] for name in joint.bodies)
    values = np.array([stated.get(name, 0.0) for name in joint.values])
    turn, shift = joints.relative_motion(joint.type, joints.configuration(joint.type, values))
    shift = np.zeros(3) if shift is None else shift
    F1, F2 = side.first_axes[..., 0], side.second_axes[..., 0]
    a1, a2 = side.first_origin[..., 0], side.second_origin[..., 0]
    relative = F1 @ turn @ F2.T  # second body seen from the first
    offset = a1 + F1 @ shift - relative @ a2
    if first in known:
        at.R[second] = at.R[first] @ relative
        at.p[second] = at.p[first] + at.R[first] @ offset
        return second
    at.R[first] = at.R[second] @ relative.T
    at.p[first] = at.p[second] - at.R[first] @ offset
    return first


def _ends(mechanism: Mechanism, dims: Geometry, k: int, at: _Bodies) -> tuple[Array, ...]:
    """X1, X2, P1, P2 of a joint (no batch) and the numbers of its bodies."""
    joint, side = mechanism.joints[k], dims.joints[k]
    first, second = (mechanism.body_index[name] for name in joint.bodies)
    X1 = at.R[first] @ side.first_axes[..., 0]
    X2 = at.R[second] @ side.second_axes[..., 0]
    P1 = at.p[first] + at.R[first] @ side.first_origin[..., 0]
    P2 = at.p[second] + at.R[second] @ side.second_origin[..., 0]
    return X1, X2, P1, P2


def _measure(mechanism: Mechanism, dims: Geometry, at: _Bodies) -> dict[str, float]:
    """Every joint value as measured on given poses."""
    found: dict[str, float] = {}
    for k, joint in enumerate(mechanism.joints):
        X1, X2, P1, P2 = _ends(mechanism, dims, k, at)
        measured = joints.values(joint.type, X1, X2, P2 - P1)
        found |= dict(zip(joint.values, map(float, measured), strict=True))
    return found


class _Newton:
    """Least-norm Newton on all constraints and held coordinates."""

    def __init__(
        self,
        mechanism: Mechanism,
        dims: Geometry,
        held: dict[str, float],
        near: dict[str, float],
    ):
        self.mechanism, self.dims, self.held = mechanism, dims, held
        #: Coupled angles are counted on beyond a turn from these.
        self.near = dict(near)
        offsets = [
            float(np.sqrt((origin**2).sum(axis=0)).max())
            for side in dims.joints
            for origin in (side.first_origin, side.second_origin)
        ]
        self.longest_shift = max(offsets) / 2 or 0.5
        self.number = mechanism.body_index
        self.unknowns = 6 * len(mechanism.bodies)
        # In the plane bodies turn about z and shift along x and y only.
        inplane = [2, 3, 4] if mechanism.planar else range(6)
        self.free = [6 * b + k for b in range(len(mechanism.bodies)) for k in inplane]

    def solve(self, start: _Bodies) -> _Bodies:
        at = start.copy()
        for _ in range(ITERATIONS):
            gap, jacobian, _ = self.equations(at)
            step = np.zeros(self.unknowns)
            solved = np.linalg.lstsq(jacobian[:, self.free], -gap, rcond=1e-9)[0]
            step[self.free] = solved
            turns, shifts = step.reshape(-1, 2, 3).swapaxes(0, 1)
            longest = max(
                np.abs(turns).max() / LONGEST_TURN, np.abs(shifts).max() / self.longest_shift, 1.0
            )
            for body, (turn, shift) in enumerate(
                zip(turns / longest, shifts / longest, strict=True)
            ):
                at.R[body] = spatial.matrix(turn) @ at.R[body]
                at.p[body] += shift
            if np.abs(solved).max(initial=0.0) < 1e-10 and longest == 1.0:
                break
        self._check_closed(at)
        return at

    def equations(self, at: _Bodies) -> tuple[Array, Array, list[str]]:
        """Residuals, their derivatives by body twists (ω, v of the origin), owner of each row."""
        gaps: list[float] = []
        rows: list[Array] = []
        owners: list[str] = []
        for k, joint in enumerate(self.mechanism.joints):
            X1, X2, P1, P2 = _ends(self.mechanism, self.dims, k, at)
            planar = self.mechanism.planar
            along, about = joints.locked_directions(joint.type, planar, X1, X2)
            gaps += [float(g) for g in joints.gaps(joint.type, planar, X1, X2, P2 - P1)]
            rows += [self._row(joint, at, P2, along=n) for n in along]
            rows += [self._row(joint, at, P2, about=n) for n in about]
            owners += [joint.name] * (len(along) + len(about))
        for name, target in self.held.items():
            gap, row = self._held(name, target, at)
            gaps.append(gap)
            rows.append(row)
            owners.append(name)
        for coupling, table in zip(self.mechanism.couplings, self.dims.couplings, strict=True):
            read = [self._value(name, at) for name, _ in coupling.terms]
            factors = table[:-1, 0]
            gaps.append(float(factors @ [value for value, _ in read] - table[-1, 0]))
            rows.append(factors @ np.array([row for _, row in read]))
            owners.append(coupling.name)
        return np.array(gaps), np.array(rows).reshape(len(gaps), self.unknowns), owners

    def _row(
        self,
        joint: Joint,
        at: _Bodies,
        P: Array,
        along: Array | None = None,
        about: Array | None = None,
    ) -> Array:
        """One relative velocity (of the origins along, or of rotation about) by the twists."""
        row = np.zeros(self.unknowns + 6)  # the ground's six are dropped
        for name, sign in zip(joint.bodies, (-1, 1), strict=True):
            body = self.number[name]
            place = slice(6 * body, 6 * body + 6) if body >= 0 else slice(self.unknowns, None)
            if along is not None:
                row[place] += sign * np.concatenate([np.cross(P - at.p[body], along), along])
            else:
                row[place] += sign * np.concatenate([about, np.zeros(3)])
        return row[: self.unknowns]

    def _value(self, name: str, at: _Bodies) -> tuple[float, Array]:
        """A coupled joint value, and its derivatives by the bodies' twists."""
        value = self.mechanism.value(name)
        joint = value.joint
        X1, X2, P1, P2 = _ends(self.mechanism, self.dims, value.number, at)
        found = float(joints.values(joint.type, X1, X2, P2 - P1)[value.place])
        if value.is_angle:
            turns = round((self.near.get(name, 0.0) - found) / (2 * np.pi))
            found += 2 * np.pi * turns
            self.near[name] = found
        about, along = joints.speeds(joint.type, X1, X2)[value.place]
        return found, self._row(joint, at, P2, along=along, about=about)

    def _held(self, name: str, target: float, at: _Bodies) -> tuple[float, Array]:
        value = self.mechanism.value(name)
        joint, k, place = value.joint, value.number, value.place
        shape = joint_type(joint.type)
        X1, X2, P1, P2 = _ends(self.mechanism, self.dims, k, at)
        measured = joints.values(joint.type, X1, X2, P2 - P1)
        turned = place - len(shape.slides)
        if shape.is_ball and turned >= 0:
            near = np.array([self.held[n] for n in joint.values[-3:]])
            measured[-3:] = spatial.continued(measured[-3:], near)
        gap = float(measured[place]) - target
        if value.is_angle:
            gap = (gap + np.pi) % (2 * np.pi) - np.pi
        moves = joints.speeds(joint.type, X1, X2)
        if shape.is_ball and turned >= 0:
            # ṙ = J(r)⁻¹ ω, with ω in the first frame's axes.
            rates = np.linalg.inv(spatial.rate_map(measured[-3:]))[turned]
            return gap, self._row(joint, at, P2, about=X1 @ rates)
        if shape.turns == "zz":
            # The rate about one axis: the dual of that axis within the plane of both.
            z1, z2 = X1[:, 2], X2[:, 2]
            normal = np.cross(z1, z2)
            dual = np.cross(z2, normal) if place == 0 else np.cross(normal, z1)
            return gap, self._row(joint, at, P2, about=dual / max(normal @ normal, 1e-12))
        about, along = moves[place]
        return gap, self._row(joint, at, P2, along=along, about=about)

    def _check_closed(self, at: _Bodies) -> None:
        gap, _, owners = self.equations(at)
        worst = int(np.argmax(np.abs(gap))) if gap.size else 0
        if gap.size and not np.abs(gap[worst]) <= CLOSED:
            couplings = [one.name for one in self.mechanism.couplings]
            if owners[worst] in couplings:
                raise AssemblyError(
                    f"Coupling {owners[worst]!r} is off by {abs(gap[worst]):.4g} (m or rad; "
                    f"allowed {CLOSED:g}) at the nominal geometry: the loops, or the values of "
                    f"the coordinates, contradict it. Check its coefficients and `offset`.",
                    [f"couplings.{owners[worst]}"],
                )
            raise AssemblyError(
                f"Joint {owners[worst]!r} stays open by {abs(gap[worst]):.4g} (m or rad; allowed "
                f"{CLOSED:g}) at the nominal geometry. Check the lengths, or give the assembly "
                f"nearer poses or joint values.",
                [f"joints.{owners[worst]}"],
            )
        for k, joint in enumerate(self.mechanism.joints):
            X1, X2, _, _ = _ends(self.mechanism, self.dims, k, at)
            if joints.is_opposed(joint.type, X1, X2):
                raise AssemblyError(
                    f"Joint {joint.name!r} closes only the wrong way round: its two axes point "
                    f"in opposite directions. Reverse one axis, or correct the assembly.",
                    [f"joints.{joint.name}"],
                )


def _check_mobility(mechanism: Mechanism, dims: Geometry, at: _Bodies) -> None:
    """As many coordinates as degrees of freedom at the assembled pose."""
    newton = _Newton(mechanism, dims, {}, {})
    jacobian = newton.equations(at)[1][:, newton.free]
    # Entries are lengths and cosines of order one; 1e-9 is far from both rounding and design.
    freedom = len(newton.free) - int(np.linalg.matrix_rank(jacobian, tol=1e-9))
    if freedom != len(mechanism.coordinates):
        named = ", ".join(mechanism.coordinates) or "none"
        if not freedom:
            coupled = [f"`{one.name}`" for one in mechanism.couplings]
            what = f"loops and couplings ({', '.join(coupled)})" if coupled else "loops"
            raise MechanismError(
                f"{mechanism.name!r} cannot move at its assembly: its {what} leave no degree of "
                f"freedom, and {named} is to be driven. Take out what is there twice.",
                [f"couplings.{one.name}" for one in mechanism.couplings] or ["joints"],
            )
        raise MechanismError(
            f"{mechanism.name!r} has {freedom} degree{'s' * (freedom != 1)} of freedom, but "
            f"{len(mechanism.coordinates)} coordinates are named ({named}). Name exactly "
            f"{freedom} joint coordinates.",
            ["coordinates"],
        )


def _configuration(
    mechanism: Mechanism, graph: Topology, dims: Geometry, at: _Bodies, near: dict[str, float]
) -> tuple[Array, float]:
    """Tree configuration of given poses; angles are taken nearest to the stated ones."""
    q = np.zeros(graph.positions)
    measured = _measure(mechanism, dims, at)
    for node in graph.tree:
        joint = mechanism.joints[node.joint]
        values = np.array([measured[name] for name in joint.values])
        for k, name in enumerate(joint.values):
            if mechanism.value(name).is_angle:
                values[k] += 2 * np.pi * round((near.get(name, 0.0) - values[k]) / (2 * np.pi))
        size = joints.configuration_size(joint.type)
        q[node.position : node.position + size] = joints.configuration(joint.type, values)
    for name in mechanism.coordinates:
        value = mechanism.value(name)
        if value.is_length or value.is_angle:  # exactly what was asked, not what Newton left
            node = next(n for n in graph.tree if n.joint == value.number)
            q[node.position + value.place] = near[name]
    gap = _Newton(mechanism, dims, {}, near).equations(at)[0]
    return q, float(np.abs(gap).max(initial=0.0))
