"""Putting the nominal mechanism together: Newton on all body poses at once.

Here every body has its coordinates and every joint its constraints (`body_newton.py`). That is
slower than following loops, and finds its way from rougher poses;
it happens once per mechanism. Everywhere else loops are closed in joint coordinates
(`closure.py`).
"""

from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import AssemblyError
from basepar_core.expressions import evaluate
from basepar_core.mechanism import Mechanism

from . import (
    joints,
    mistaken_decimals,
    mistaken_entries,
    mistaken_lengths,
    mistaken_signs,
    mistaken_units,
    mistaken_values,
    opposed_axes,
    spatial,
    swapped_points,
    wrong_body,
)
from .body_newton import Bodies, BodyNewton, measure
from .coupling_findings import contradicting, coupled_values
from .held_spins import settled
from .kinematics import Geometry, geometry
from .mobility import LockedError, check_mobility
from .topology import Topology, spanning_joints, topology
from .trials import Trial


@dataclass(frozen=True)
class Assembled:
    """The nominal mechanism put together.

    Attributes
    ----------
    mechanism
        With the axes of joints that hold an idle spin.
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
        A joint stays open, or couplings contradict the joints; names it or them, with the gaps.
    MechanismError
        The number of coordinates differs from the mobility, or they are dependent.
    """
    unheld, start = laid_out(mechanism)
    mechanism = unheld.mechanism
    dims, near = unheld.dims, dict(unheld.near)
    held = {name: near[name] for name in mechanism.coordinates}
    newton = BodyNewton(mechanism, dims, held, near)
    try:
        check_mobility(mechanism, unheld, unheld.solve(start))
        graph = topology(mechanism)
        closed = newton.solve(start)
    except (AssemblyError, LockedError) as error:
        found = contradicting(mechanism, dims, near, start)
        if found is None and isinstance(error, AssemblyError):
            error = _advised(error, mechanism)
        raise found or error from None
    q, residual = _configuration(mechanism, graph, dims, closed, {**newton.near, **held})
    coordinates = np.array([held[name] for name in mechanism.coordinates])
    return Assembled(mechanism, graph, q, coordinates, residual)


def _advised(error: AssemblyError, mechanism: Mechanism) -> AssemblyError:
    """The error of open loops, with the one mistake in a joint that explains it, if there is."""
    own = Trial(mechanism, stated_values(mechanism), laid_out)
    if own.tells and (unit := mistaken_units.explaining(own)):
        symbol = unit.symbol
        return AssemblyError(
            f"{error.message} With the number of geometry.{symbol.name} in {unit.unit}, not in "
            f"{symbol.unit}, all loops close as stated: write unit: {unit.unit}.",
            [f"geometry.{symbol.name}"],
        )
    for kind in (
        opposed_axes,
        wrong_body,  # what hangs loose is evidence of its own
        mistaken_signs,
        mistaken_values,
        swapped_points,
        mistaken_entries,
        mistaken_lengths,
        mistaken_decimals,
    ):
        advised = kind.advised(error, own)
        if advised is not error:
            return advised
    return wrong_body.asked(error, own)


def laid_out(mechanism: Mechanism) -> tuple[BodyNewton, Bodies]:
    """Newton's method with no coordinate held, and the poses from which it starts.

    Of its mechanism joints that hold an idle spin have their axes chosen.
    """
    spanning_joints(mechanism)  # a loose body has no place to start from
    start = None
    if any(joint.holds for joint in mechanism.joints):
        mechanism, start = settled(mechanism, laid_out)
    dims = geometry(mechanism, {})
    stated = coupled_values(mechanism, dims, stated_values(mechanism))
    start = start or lay_out(mechanism, dims, stated)
    measured = measure(mechanism, dims, start)
    drawn = {name: measured[name] for name in mechanism.coordinates}
    return BodyNewton(mechanism, dims, {}, coupled_values(mechanism, dims, drawn | stated)), start


def shifts_that_close(mechanism: Mechanism) -> dict[str, tuple[Array, Array]]:
    """The least changes of joints' points with which all loops close near the stated assembly.

    At the poses with the least sum of squared gaps, orientations met; a loop whose orientations
    contradict each other stays open whatever its points are.

    Returns
    -------
    By joint, how far to move its point in the first body and in the second, m, in their axes.
    """
    newton, start = laid_out(mechanism)
    return newton.shifts(newton.nearest(start))


def stated_values(mechanism: Mechanism) -> dict[str, float]:
    """Joint values that the file's assembly states, rad or m."""
    entries = mechanism.assembly.values
    numbers = evaluate([value for _, value in entries], mechanism.nominal)
    return {name: float(x) for (name, _), x in zip(entries, numbers, strict=True)}


def lay_out(mechanism: Mechanism, dims: Geometry, stated: dict[str, float]) -> Bodies:
    """Starting poses: stated ones, then over joints with values, then over joints at zero."""
    number = mechanism.body_index
    at = Bodies(
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
    at: Bodies,
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


def _configuration(
    mechanism: Mechanism, graph: Topology, dims: Geometry, at: Bodies, near: dict[str, float]
) -> tuple[Array, float]:
    """Tree configuration of given poses; angles are taken nearest to the stated ones."""
    q = np.zeros(graph.positions)
    measured = measure(mechanism, dims, at)
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
    gap = BodyNewton(mechanism, dims, {}, near).equations(at)[0]
    return q, float(np.abs(gap).max(initial=0.0))
