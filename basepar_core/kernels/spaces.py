"""What differs between the plane and space, chosen by the plan's type when a door is compiled.

So that a planar mechanism never waits for the spatial kernels to be compiled. Each function here
is put in where a door calls it; Python cannot.
"""

from numba.extending import overload

from . import planar, spatial, spatial_loops
from .lanes import LANES
from .plan import PlanarPlan
from .sizes import ALPHA, OMEGA, PULL, SPEED, SPIN, longer, store
from .spatial_columns import body_state, centred, columns, offset, shifted


def set_ground(plan, work):
    """Set the last link to the world."""


@overload(set_ground, inline="always")
def _set_ground(plan, work):
    def plane(plan, work):
        planar.set_ground(work.pose, len(plan.elements))

    def space(plan, work):
        spatial.set_ground(work.pose, len(plan.elements))

    return plane if plan.instance_class is PlanarPlan else space


def set_poses(plan, work):
    """Poses of all links at work.q."""


@overload(set_poses, inline="always")
def _set_poses(plan, work):
    def plane(plan, work):
        planar.poses(
            plan.elements, work.table, work.q, work.pose, work.angle, work.sine, work.cosine
        )

    def space(plan, work):
        spatial.poses(plan.elements, work.table, work.q, work.pose, work.sine, work.cosine)

    return plane if plan.instance_class is PlanarPlan else space


def set_gaps(plan, work):
    """Points, normals and gaps of all cuts at the poses."""


@overload(set_gaps, inline="always")
def _set_gaps(plan, work):
    def plane(plan, work):
        planar.gaps(
            plan.cuts,
            plan.rows,
            work.table,
            len(plan.elements),
            work.pose,
            work.cut,
            work.normal,
            work.gap,
        )

    def space(plan, work):
        item = len(plan.elements) + len(plan.carries)
        spatial_loops.gaps(
            plan.cuts, plan.rows, work.table, item, work.pose, work.cut, work.normal, work.gap
        )

    return plane if plan.instance_class is PlanarPlan else space


def set_jacobian(plan, work, J):
    """Derivatives of the solved gaps, into J (row · speeds + speed, LANES)."""


@overload(set_jacobian, inline="always")
def _set_jacobian(plan, work, J):
    def plane(plan, work, J):
        planar.jacobian(
            plan.elements,
            plan.cuts,
            plan.rows,
            plan.paths,
            work.pose,
            work.cut,
            work.normal,
            J,
            len(plan.limit),
        )

    def space(plan, work, J):
        spatial_loops.jacobian(
            plan.elements,
            plan.cuts,
            plan.rows,
            plan.paths,
            work.pose,
            work.cut,
            work.normal,
            J,
            len(plan.limit),
            work.out,
        )

    return plane if plan.instance_class is PlanarPlan else space


def set_motion(plan, work, everything):
    """Twists and accelerations of all links at the rates; `everything` is (1, link) ones."""


@overload(set_motion, inline="always")
def _set_motion(plan, work, everything):
    def plane(plan, work, everything):
        planar.twists(plan.elements, work.pose, work.rates, everything, everything, 0, work.twist)
        planar.accelerations(
            plan.elements, work.pose, work.twist, work.rates, work.rate_dots, work.motion
        )

    def space(plan, work, everything):
        spatial.twists(plan.elements, work.pose, work.rates, everything, everything, 0, work.twist)
        spatial.accelerations(
            plan.elements, work.pose, work.twist, work.rates, work.rate_dots, work.motion, work.own
        )

    return plane if plan.instance_class is PlanarPlan else space


def set_mismatch(plan, work):
    """Second derivatives of the solved gaps, into work.right."""


@overload(set_mismatch, inline="always")
def _set_mismatch(plan, work):
    def plane(plan, work):
        planar.mismatch(
            plan.cuts,
            plan.rows,
            work.pose,
            work.twist,
            work.motion,
            work.cut,
            work.normal,
            work.right,
        )

    def space(plan, work):
        spatial_loops.mismatch(
            plan.cuts,
            plan.rows,
            work.pose,
            work.twist,
            work.motion,
            work.cut,
            work.normal,
            work.right,
            work.out,
        )

    return plane if plan.instance_class is PlanarPlan else space


def set_bodies(plan, work):
    """What coordinates have in common: bodies' states, and their longest vectors."""


@overload(set_bodies, inline="always")
def _set_bodies(plan, work):
    def plane(plan, work):
        for row in range(3):
            for l in range(LANES):
                work.sizes[row, l] = 0.0
        longer(work.motion, len(plan.elements), 1, 2, work.sizes, PULL)  # the ground's: gravity
        for e in plan.carries:
            longer(work.twist, e, 0, 1, work.sizes, OMEGA)
            longer(work.motion, e, 0, 1, work.sizes, ALPHA)
            longer(work.motion, e, 1, 2, work.sizes, PULL)

    def space(plan, work):
        base = len(plan.elements)
        for row in range(3):
            for l in range(LANES):
                work.sizes[row, l] = 0.0
        longer(work.motion, base, 3, 3, work.sizes, PULL)  # the ground's: gravity
        for b in range(len(plan.carries)):
            e = plan.carries[b]
            longer(work.twist, e, 0, 3, work.sizes, OMEGA)
            longer(work.motion, e, 0, 3, work.sizes, ALPHA)
            if plan.plain[b] == 1:
                body_state(work.pose, e, work.twist, e, work.motion, e, work.states, b)
                longer(work.motion, e, 3, 3, work.sizes, PULL)
            else:
                spatial.body_frame(work.table, base + b, work.pose, e, work.axes, b)
                offset(work.axes, b, work.table, base + b, work.offsets, b)
                shifted(work.motion, e, work.offsets, b, work.scratch)
                centred(work.twist, e, work.offsets, b, work.scratch)
                body_state(work.axes, b, work.twist, e, work.scratch, 0, work.states, b)
                longer(work.scratch, 0, 3, 3, work.sizes, PULL)

    return plane if plan.instance_class is PlanarPlan else space


def set_columns(plan, work, k, W, v, s0):
    """All bodies' columns for coordinate k, into W."""


@overload(set_columns, inline="always")
def _set_columns(plan, work, k, W, v, s0):
    def plane(plan, work, k, W, v, s0):
        planar.twists(
            plan.elements, work.pose, work.modes[k], plan.moved, plan.rated, k, work.virtual
        )
        for b in range(len(plan.carries)):
            e = plan.carries[b]
            if plan.moved[k, e] == 0:
                continue
            longer(work.virtual, e, 0, 1, work.sizes, SPIN)
            longer(work.virtual, e, 1, 2, work.sizes, SPEED)
            planar.columns(work.pose, work.twist, work.virtual, work.motion, e, work.tile)
            store(work.tile, 4, W, v, 4 * b, k, s0)

    def space(plan, work, k, W, v, s0):
        spatial.twists(
            plan.elements, work.pose, work.modes[k], plan.moved, plan.rated, k, work.virtual
        )
        for b in range(len(plan.carries)):
            e = plan.carries[b]
            if plan.moved[k, e] == 0:
                continue
            longer(work.virtual, e, 0, 3, work.sizes, SPIN)
            if plan.plain[b] == 1:
                columns(work.pose, e, work.virtual, e, work.states, b, work.tile)
                longer(work.virtual, e, 3, 3, work.sizes, SPEED)
            else:
                shifted(work.virtual, e, work.offsets, b, work.scratch)
                columns(work.axes, b, work.scratch, 0, work.states, b, work.tile)
                longer(work.scratch, 0, 3, 3, work.sizes, SPEED)
            store(work.tile, 10, W, v, 10 * b, k, s0)

    return plane if plan.instance_class is PlanarPlan else space
