"""Curves given by samples: points between these, and the ones nearest to given points."""

from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array, writable


def is_closed(track: Array) -> Array:
    """(variant,) bool: the gap between the last sample and the first is like the steps there."""
    ends = track[..., [-2, -1, 0, 1]]
    before, gap, after = np.moveaxis(np.sqrt((np.diff(ends) ** 2).sum(axis=1)), -1, 0)
    return gap <= 2 * np.maximum(before, after) + 1e-12


def weights(u: Array) -> tuple[Array, Array, Array]:
    """Of four samples (…, 4) in the cubic at share u, and in its first and second derivative."""
    value = np.stack(
        [
            u * (u * (3 - u) - 2) / 6,
            1 + u * (u * (u - 2) - 1) / 2,
            u * (u * (1 - u) + 2) / 2,
            u * (u * u - 1) / 6,
        ],
        axis=-1,
    )
    first = np.stack(
        [
            u * (1 - u / 2) - 1 / 3,
            u * (1.5 * u - 2) - 0.5,
            u * (1 - 1.5 * u) + 1,
            u * u / 2 - 1 / 6,
        ],
        axis=-1,
    )
    return value, first, np.stack([1 - u, 3 * u - 2, 1 - 3 * u, u], axis=-1)


@dataclass(frozen=True)
class Feet:
    """Points on sampled curves: (variant, point) of each variant's own curve."""

    track: Array
    closed: Array
    index: Array
    share: Array

    @classmethod
    def nearest(cls, track: Array, closed: Array, targets: Array) -> "Feet":
        """The nearest ones to targets (variant or 1, point, axis)."""
        from basepar_core.compiled import nearest

        shape = len(track), targets.shape[1]
        index, share = np.empty(shape, dtype=np.int64), np.empty(shape)
        nearest(track, writable(targets), closed, index, share)
        return cls(track, closed, index, share)

    def at(self, orders: int = 1) -> Array:
        """(order, variant, point, axis): positions, and derivatives by the sample's number."""
        from basepar_core.compiled import between

        found = np.empty((orders, *self.index.shape, self.track.shape[1]))
        between(self.track, writable(self.index), writable(self.share), found)
        return found

    @property
    def ends(self) -> Array:
        """(variant, point) bool: held at the end of an open curve."""
        place, last = self.index + self.share, self.track.shape[2] - 1
        return ~self.closed[:, None] & ((place <= 0) | (place >= last))
