"""Columns of bodies whose form a file states: slender ones keep three, massless ones none."""

from collections.abc import Iterator

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import Mechanism
from basepar_core.symbolic import Vec, line, moments_of, parameters_of

from .kinematics import Geometry


def slender_lines(mechanism: Mechanism, dims: Geometry) -> Iterator[tuple[int, Vec, Vec]]:
    """Slender bodies by number, with a point and a direction of their lines: (3, …), body axes.

    Parameters
    ----------
    mechanism, dims
        Of any batch.
    """

    def frame(joint: int, side: int) -> tuple[Array, Array]:
        one = dims.joints[joint]
        first = (one.first_origin, one.first_axes)
        return (one.second_origin, one.second_axes) if side else first

    for body, it in mechanism.lines.items():
        start, (end, axes) = frame(*it.start)[0], frame(*it.end)
        towards = axes[:, 2] if it.slides else end
        yield body, *line((start[0], start[1], start[2]), tuple(towards), it.slides)


def tied(mechanism: Mechanism, dims: Geometry, W: Array, terms: Array | None = None) -> None:
    """Put columns of bodies of a stated form in the place of those of bodies of any mass.

    Parameters
    ----------
    mechanism
        As it is.
    dims
        Of batches (variant, sample) that broadcast against W's.
    W
        (variant, sample, row, parameter), changed in place.
    terms
        (variant, parameter), sizes of what columns are sums of, changed likewise; of massless
        bodies they stay, and say against what nothing is nothing.
    """
    if not (mechanism.massless or mechanism.lines):
        return
    width = len(mechanism.parameter_names) // len(mechanism.bodies)
    for body in mechanism.massless:
        W[..., body * width : (body + 1) * width] = 0.0
    for body, a, d in slender_lines(mechanism, dims):
        own = slice(body * width, (body + 1) * width)
        share = slender_projection(a, d)
        W[..., own] = W[..., own] @ np.moveaxis(share, (0, 1), (-2, -1))
        if terms is not None:
            sizes = np.abs(share).max(axis=-1)  # over samples
            terms[:, own] = np.einsum(
                "vk,kpv->vp", terms[:, own], np.broadcast_to(sizes, (width, width, len(terms)))
            )


def slender_projection(a: Vec, d: Vec) -> Array:
    """(10, 10, …): of parameters of any mass, those of mass on the line; columns are W's times it.

    Parameters
    ----------
    a, d
        Point and direction, entries of any batch.
    """
    batch = np.broadcast_shapes(*(np.shape(x) for x in (*a, *d)))
    units, moments = (
        np.stack([np.stack([np.broadcast_to(x, batch) for x in row]) for row in table])
        for table in (parameters_of(a, d), moments_of(a, d))
    )
    found: Array = np.einsum("mk...,mp...->kp...", units, moments)
    return found
