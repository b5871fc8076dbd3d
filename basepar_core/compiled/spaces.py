"""What differs between the plane and space, chosen by the plan's type when a door is compiled.

So that a planar mechanism never waits for the spatial kernels to be compiled. Kernels call these
functions; Python cannot. `plan` and `work` are bundles.
"""

from numba.extending import overload

from basepar_core.compiled.simd import INNER, below

from . import couplings, planar, spatial, spatial_loops
from .error_scales import ALPHA, OMEGA, PULL, clear, longer
from .mechanism_tables import PlanarPlan
from .spatial_columns import at_origin, columns, offset


def set_ground(plan, work):
    """Set the last link to the world."""


@overload(set_ground, jit_options=INNER)
def _set_ground(plan, work):
    def plane(plan, work):
        planar.set_ground(work.pose, len(plan.elements))

    def space(plan, work):
        spatial.set_ground(work.pose, len(plan.elements))

    return plane if plan.cls is PlanarPlan else space


def set_poses(plan, work):
    """Poses of all links at work.q."""


@overload(set_poses, jit_options=INNER)
def _set_poses(plan, work):
    def plane(plan, work):
        planar.poses(
            plan.elements, work.table, work.q, work.pose, work.angle, work.sine, work.cosine
        )

    def space(plan, work):
        spatial.poses(plan.elements, work.table, work.q, work.pose, work.sine, work.cosine)

    return plane if plan.cls is PlanarPlan else space


def set_gaps(plan, work):
    """Points, normals and gaps of all cuts at the poses."""


@overload(set_gaps, jit_options=INNER)
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
        couplings.gaps(plan.linear, work.table, work.q, work.gap)

    def space(plan, work):
        item = len(plan.elements) + len(plan.carries)
        spatial_loops.gaps(
            plan.cuts, plan.rows, work.table, item, work.pose, work.cut, work.normal, work.gap
        )
        couplings.gaps(plan.linear, work.table, work.q, work.gap)

    return plane if plan.cls is PlanarPlan else space


def set_jacobian(plan, work, J):
    """Derivatives of the solved gaps, into J (row · speeds + speed, LANES)."""


@overload(set_jacobian, jit_options=INNER)
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
        couplings.jacobian(plan.linear, work.table, plan.rows, J, len(plan.limit))

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
        couplings.jacobian(plan.linear, work.table, plan.rows, J, len(plan.limit))

    return plane if plan.cls is PlanarPlan else space


def set_motion(plan, work):
    """Twists and accelerations of all links at the rates."""


@overload(set_motion, jit_options=INNER)
def _set_motion(plan, work):
    def plane(plan, work):
        planar.twists(
            plan.elements, work.pose, work.rates, work.everything, work.everything, 0, work.twist
        )
        planar.accelerations(
            plan.elements, work.pose, work.twist, work.rates, work.rate_dots, work.motion
        )

    def space(plan, work):
        spatial.twists(
            plan.elements, work.pose, work.rates, work.everything, work.everything, 0, work.twist
        )
        spatial.accelerations(
            plan.elements, work.pose, work.twist, work.rates, work.rate_dots, work.motion, work.own
        )

    return plane if plan.cls is PlanarPlan else space


def set_mismatch(plan, work):
    """Second derivatives of the solved gaps, into work.right."""


@overload(set_mismatch, jit_options=INNER)
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
        couplings.mismatch(plan.linear, work.table, plan.rows, work.rate_dots, work.right)

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
        couplings.mismatch(plan.linear, work.table, plan.rows, work.rate_dots, work.right)

    return plane if plan.cls is PlanarPlan else space


def set_bodies(plan, work):
    """What coordinates have in common: bodies' frames and accelerations, longest vectors."""


@overload(set_bodies, jit_options=INNER)
def _set_bodies(plan, work):
    def plane(plan, work):
        clear(work.sizes, OMEGA, PULL)
        longer(work.motion, len(plan.elements), 1, 2, work.sizes, PULL)  # the ground's: gravity
        for b in range(len(plan.carries)):
            e = plan.carries[b]
            longer(work.twist, e, 0, 1, work.sizes, OMEGA)
            longer(work.motion, e, 0, 1, work.sizes, ALPHA)
            longer(work.motion, e, 1, 2, work.sizes, PULL)

    def space(plan, work):
        base = len(plan.elements)
        clear(work.sizes, OMEGA, PULL)
        longer(work.motion, base, 3, 3, work.sizes, PULL)  # the ground's: gravity
        for b in range(len(plan.carries)):
            e = plan.carries[b]
            if plan.plain[b] == 0:  # others have their link's; `columns` keeps the longest
                spatial.body_frame(work.table, base + b, work.pose, e, work.axes, b)
                offset(work.axes, b, work.table, base + b, work.offsets, b)
                at_origin(work.twist, work.motion, e, work.offsets, b, work.origins)

    return plane if plan.cls is PlanarPlan else space


def set_columns(plan, work, W, v, at, line, step, streamed):
    """All bodies' columns for all coordinates, and how far these move bodies: work.spans.

    In space also bodies' longest vectors.

    W[v]: numbers from `at` on, `line` to the next coordinate, `step` to the next parameter; past
    the cache if streamed, with zeros where a coordinate does not move a body.
    """


@overload(set_columns, jit_options=INNER)
def _set_columns(plan, work, W, v, at, line, step, streamed):
    def plane(plan, work, W, v, at, line, step, streamed):
        pose, twist, motion, virtual = work.pose, work.twist, work.motion, work.virtual
        clear(work.spans, 0, 2 * len(plan.free) - 1)
        for k in range(len(plan.free)):
            modes = below(work.modes, k * len(plan.limit))
            planar.twists(plan.elements, pose, modes, plan.moved, plan.rated, k, virtual)
            for b in range(len(plan.carries)):
                e, here = plan.carries[b], at + k * line + 4 * b * step
                if plan.moved[k, e] == 0:
                    if streamed:
                        planar.stream_zeros(W, v, here, step)
                    continue
                longer(virtual, e, 0, 1, work.spans, 2 * k + 1)
                longer(virtual, e, 1, 2, work.spans, 2 * k)
                planar.columns(pose, twist, virtual, motion, e, W, v, here, step, streamed)

    def space(plan, work, W, v, at, line, step, streamed):
        clear(work.spans, 0, 2 * len(plan.free) - 1)
        for k in range(len(plan.free)):
            modes = below(work.modes, k * len(plan.limit))
            virtual = below(work.virtual, k * (len(plan.elements) + 1))
            spatial.twists(plan.elements, work.pose, modes, plan.moved, plan.rated, k, virtual)
        for b in range(len(plan.carries)):
            e = plan.carries[b]
            plain = plan.plain[b] == 1
            axes, row = (work.pose, e) if plain else (work.axes, b)
            motion, m = (work.motion, e) if plain else (work.origins, b)
            columns(
                axes,
                row,
                work.twist,
                motion,
                m,
                work.sizes,
                work.virtual,
                e,
                plan.moved,
                work.offsets,
                b,
                W,
                v,
                at + 10 * b * step,
                line,
                step,
                streamed,
                work.spans,
            )

    return plane if plan.cls is PlanarPlan else space
