"""Newton's method on the poses of all bodies at once, for putting a mechanism together.

Every body has its six (in the plane three) coordinates and every joint its constraints; nothing
is a tree.
"""

from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import AssemblyError
from basepar_core.expressions import evaluate, parse_unit
from basepar_core.mechanism import Joint, Mechanism, joint_type, meant_unit

from . import joints, spatial
from .coupled_bodies import coupled_bodies
from .kinematics import Geometry
from .open_loops import open_loop, readable
from .unplaced_joints import without_place

LONGEST_TURN = 0.5  # rad a step
ITERATIONS = 200
#: So many steps without a smaller gap, by a hundredth at least, lead nowhere.
PATIENCE, PROGRESS = 40, 1e-2
# Weight of rad against m where points may move and directions not; what steps are damped by there.
TURNING, DAMPING = 1e5, 1e-2
# Poses are metres and radians of order one; rounding of a closed loop stays below 1e-13.
CLOSED = 1e-11


@dataclass
class Bodies:
    """Orientations (body, 3, 3) and positions (body, 3); the ground last."""

    R: Array
    p: Array

    def copy(self) -> "Bodies":
        return Bodies(self.R.copy(), self.p.copy())


def ends(mechanism: Mechanism, dims: Geometry, k: int, at: Bodies) -> tuple[Array, ...]:
    """X1, X2, P1, P2 of a joint (no batch) and the numbers of its bodies."""
    joint, side = mechanism.joints[k], dims.joints[k]
    first, second = (mechanism.body_index[name] for name in joint.bodies)
    X1 = at.R[first] @ side.first_axes[..., 0]
    X2 = at.R[second] @ side.second_axes[..., 0]
    P1 = at.p[first] + at.R[first] @ side.first_origin[..., 0]
    P2 = at.p[second] + at.R[second] @ side.second_origin[..., 0]
    return X1, X2, P1, P2


def measure(mechanism: Mechanism, dims: Geometry, at: Bodies) -> dict[str, float]:
    """Every joint value as measured on given poses."""
    found: dict[str, float] = {}
    for k, joint in enumerate(mechanism.joints):
        X1, X2, P1, P2 = ends(mechanism, dims, k, at)
        measured = joints.values(joint.type, X1, X2, P2 - P1)
        found |= dict(zip(joint.values, map(float, measured), strict=True))
    return found


def _cross(a: Array, b: Array) -> Array:
    """Of two vectors; NumPy's takes ten times longer to find out what it is given."""
    x, y, z = a
    u, v, w = b
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


class OpposedAxesError(AssemblyError):
    """A joint closes with its axes in opposite directions only."""


class BodyNewton:
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
        self.longest_shift = dims.longest_offset / 2 or 0.5
        #: Equations besides those of joints and held coordinates; they come last.
        self.further = list(coupled_bodies(mechanism, dims))
        self.number = mechanism.body_index
        self.unknowns = 6 * len(mechanism.bodies)
        # In the plane bodies turn about z and shift along x and y only.
        inplane = [2, 3, 4] if mechanism.planar else range(6)
        self.free = [6 * b + k for b in range(len(mechanism.bodies)) for k in inplane]

    def solve(self, start: Bodies) -> Bodies:
        """Poses at which everything closes.

        Raises
        ------
        AssemblyError
            A joint stays open; names it and its gap.
        """
        at = self.approach(start)
        self._check_closed(start, at)
        return at

    def approach(self, start: Bodies) -> Bodies:
        """Poses where Newton's method ends, closed or not."""
        at, least, since = start.copy(), np.inf, 0
        for _ in range(ITERATIONS):
            gap, jacobian, _ = self.equations(at)
            size = float(np.abs(gap).max(initial=0.0))
            least, since = (size, 0) if size < (1 - PROGRESS) * least else (least, since + 1)
            solved = np.linalg.lstsq(jacobian[:, self.free], -gap, rcond=1e-9)[0]
            if self._moved(at, solved) or since > PATIENCE:
                break
        return at

    def closes(self, at: Bodies) -> bool:
        """Whether everything closes, and no axis the wrong way round."""
        gap, _, _ = self.equations(at)
        return bool(np.abs(gap).max(initial=0.0) <= CLOSED) and not self._opposed(at)

    def _opposed(self, at: Bodies) -> str:
        """The first joint whose axes are opposed; empty where none are."""
        for k, joint in enumerate(self.mechanism.joints):
            X1, X2, _, _ = ends(self.mechanism, self.dims, k, at)
            if joints.is_opposed(joint.type, X1, X2):
                return joint.name
        return ""

    def nearest(self, start: Bodies) -> Bodies:
        """Poses with the least sum of squared gaps, if directions are met first; damped, because
        constraints to spare that contradict each other are nearly dependent."""
        at = start.copy()
        damping = DAMPING * np.eye(len(self.free))
        for _ in range(ITERATIONS):
            gap, jacobian, _ = self.equations(at)
            weights = np.where(self._turning(at), TURNING, 1.0)
            rows = np.vstack([jacobian[:, self.free] * weights[:, None], damping])
            aim = np.concatenate([-gap * weights, np.zeros(len(self.free))])
            if self._moved(at, np.linalg.lstsq(rows, aim, rcond=None)[0]):
                break
        return at

    def _moved(self, at: Bodies, solved: Array) -> bool:
        """Take a step, cut short where it is long; whether it was the last one."""
        step = np.zeros(self.unknowns)
        step[self.free] = solved
        turns, shifts = step.reshape(-1, 2, 3).swapaxes(0, 1)
        longest = max(
            np.abs(turns).max() / LONGEST_TURN, np.abs(shifts).max() / self.longest_shift, 1.0
        )
        for body, (turn, shift) in enumerate(zip(turns / longest, shifts / longest, strict=True)):
            at.R[body] = spatial.matrix(turn) @ at.R[body]
            at.p[body] += shift
        return bool(np.abs(solved).max(initial=0.0) < 1e-10 and longest == 1.0)

    def shifts(self, at: Bodies) -> dict[str, tuple[Array, Array]]:
        """How far to move the points of joints, in the axes of first and second body, for their
        gaps to close at these poses: half of each gap on either side."""
        gap, _, owners = self.equations(at)
        found: dict[str, tuple[Array, Array]] = {}
        for k, joint in enumerate(self.mechanism.joints):
            X1, X2, _, _ = ends(self.mechanism, self.dims, k, at)
            along, _ = joints.locked_directions(joint.type, self.mechanism.planar, X1, X2)
            first = owners.index(joint.name) if along else 0
            whole = sum((gap[first + i] * n for i, n in enumerate(along)), np.zeros(3))
            one, two = (at.R[self.number[name]] for name in joint.bodies)
            found[joint.name] = (one.T @ whole / 2, -two.T @ whole / 2)
        return found

    def _turning(self, at: Bodies) -> Array:
        """Which rows are of rotations."""
        found: list[bool] = []
        for k, joint in enumerate(self.mechanism.joints):
            X1, X2, _, _ = ends(self.mechanism, self.dims, k, at)
            along, about = joints.locked_directions(joint.type, self.mechanism.planar, X1, X2)
            found += [False] * len(along) + [True] * len(about)
        rest = len(self.held) + len(self.further)
        return np.array(found + [True] * rest)

    def equations(self, at: Bodies) -> tuple[Array, Array, list[str]]:
        """Residuals, their derivatives by body twists (ω, v of the origin), owner of each row."""
        gaps: list[float] = []
        rows: list[Array] = []
        owners: list[str] = []
        for k, joint in enumerate(self.mechanism.joints):
            X1, X2, P1, P2 = ends(self.mechanism, self.dims, k, at)
            planar = self.mechanism.planar
            along, about = joints.locked_directions(joint.type, planar, X1, X2)
            gaps += [float(g) for g in joints.gaps(joint.type, planar, X1, X2, P2 - P1)]
            rows += [self.row(joint, at, P2, along=n) for n in along]
            rows += [self.row(joint, at, P2, about=n) for n in about]
            owners += [joint.name] * (len(along) + len(about))
        for name, target in self.held.items():
            gap, row = self._held(name, target, at)
            gaps.append(gap)
            rows.append(row)
            owners.append(name)
        for one in self.further:
            gap, row = one.equation(lambda name: self.value(name, at))
            gaps.append(gap)
            rows.append(row)
            owners.append(one.name)
        return np.array(gaps), np.array(rows).reshape(len(gaps), self.unknowns), owners

    def row(
        self,
        joint: Joint,
        at: Bodies,
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
                row[place] += sign * np.concatenate([_cross(P - at.p[body], along), along])
            else:
                row[place] += sign * np.concatenate([about, np.zeros(3)])
        return row[: self.unknowns]

    def value(self, name: str, at: Bodies) -> tuple[float, Array]:
        """A joint value, and its derivatives by the bodies' twists (of a ball: its spin's)."""
        value = self.mechanism.value(name)
        joint = value.joint
        X1, X2, P1, P2 = ends(self.mechanism, self.dims, value.number, at)
        found = float(joints.values(joint.type, X1, X2, P2 - P1)[value.place])
        if value.is_angle:
            turns = round((self.near.get(name, 0.0) - found) / (2 * np.pi))
            found += 2 * np.pi * turns
            self.near[name] = found
        about, along = joints.speeds(joint.type, X1, X2)[value.place]
        return found, self.row(joint, at, P2, along=along, about=about)

    def _held(self, name: str, target: float, at: Bodies) -> tuple[float, Array]:
        value = self.mechanism.value(name)
        joint, k, place = value.joint, value.number, value.place
        shape = joint_type(joint.type)
        X1, X2, P1, P2 = ends(self.mechanism, self.dims, k, at)
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
            rates = spatial.inverse_rate_map(measured[-3:])[turned]
            return gap, self.row(joint, at, P2, about=X1 @ rates)
        if shape.turns == "zz":
            # The rate about one axis: the dual of that axis within the plane of both.
            z1, z2 = X1[:, 2], X2[:, 2]
            normal = np.cross(z1, z2)
            dual = np.cross(z2, normal) if place == 0 else np.cross(normal, z1)
            return gap, self.row(joint, at, P2, about=dual / max(normal @ normal, 1e-12))
        about, along = moves[place]
        return gap, self.row(joint, at, P2, along=along, about=about)

    def _unit(self, row: int, owners: list[str]) -> str:
        """Of a joint's constraint: those along directions come before those about them."""
        if row >= len(owners) - len(self.held) - len(self.further):
            return self.mechanism.value(owners[row]).unit
        joint = next(one for one in self.mechanism.joints if one.name == owners[row])
        axes = np.eye(3)
        along, _ = joints.locked_directions(joint.type, self.mechanism.planar, axes, axes)
        return "m" if row - owners.index(joint.name) < len(along) else "rad"

    def _lengths(self) -> str:
        """The geometry's values, in words."""
        values, symbols, beyond = self.mechanism.nominal, [], []
        for one in self.mechanism.geometry:
            size = parse_unit(one.unit).size if one.unit else 1.0
            text = f"{one.name} = {values[one.name] / size:.6g} {one.unit}".rstrip()
            symbols.append(text)
            if one.bounds:
                low, high = (float(x) for x in evaluate(one.bounds, {}))
                if not low <= values[one.name] <= high:
                    ends = f"{low / size:.6g} to {high / size:.6g} {one.unit}".rstrip()
                    said = f"{text} is beyond its own bounds, {ends}"
                    if (unit := meant_unit(one, values[one.name], values[one.name])) is not None:
                        number = f"{values[one.name] / size:.6g}"
                        said += (
                            f"; if {number} {unit.text} is meant, write `value: "
                            f"{float(number) * unit.size / size:.6g}`"
                        )
                    beyond.append(said)
        more = ", …" * (len(symbols) > 12)
        listed = f" ({', '.join(symbols[:12])}{more})" if symbols else ""
        listed += f". {'; '.join(beyond)}" if beyond else ""
        return listed + without_place(self.mechanism)

    def _check_closed(self, start: Bodies, at: Bodies) -> None:
        gap, _, owners = self.equations(at)
        worst = int(np.argmax(np.abs(gap))) if gap.size else 0
        if gap.size and not np.abs(gap[worst]) <= CLOSED:
            for one in self.further:
                if one.name == owners[worst]:
                    raise one.left_open(gap[worst], CLOSED)
            about = [measure(self.mechanism, self.dims, poses) for poses in (start, at)]
            found = open_loop(self.mechanism, self.dims, self.held, about)
            name = found.joint if found else owners[worst]
            size = str(found or readable(abs(gap[worst]), self._unit(worst, owners)))
            raise AssemblyError(
                f"Joint {name!r} stays open by {size} (allowed {CLOSED:g} m or rad) at the "
                f"nominal geometry{self._lengths()}. Check the lengths, or give the assembly "
                f"nearer poses or joint values.",
                [f"joints.{name}"],
            )
        if name := self._opposed(at):
            raise OpposedAxesError(
                f"Joint {name!r} closes only the wrong way round: its two axes point in opposite "
                f"directions. Reverse one axis, or correct the assembly.",
                [f"joints.{name}"],
            )
