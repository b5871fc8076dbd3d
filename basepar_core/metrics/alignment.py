"""Paths fitted to a target: rotation, position and scale, and the nearest points with them."""

from dataclasses import dataclass, fields, replace
from itertools import product

import numpy as np

from basepar_core.arrays import Array, writable

from .sampled_curves import Feet, weights
from .targets import Target

#: Directions in which a path in the plane is turned first.
_DIRECTIONS = 8
#: Turns of fit and feet, and how many of the best then go on; the last to the end.
_ROUGH = ((2, 4), (4, 2))
#: Errors that differ by no more than this share are of the same fit, or of one as good.
_ALIKE = 1e-6
#: Steps from the best of these.
_FINE = 60
#: Of a motion's size: feet and their tangents are no better than that.
_LEFT = 1e-8


@dataclass(frozen=True)
class Fit:
    """Paths held against a target.

    Attributes
    ----------
    error
        (variant,) m; nan where the path does not reach the stated times.
    index, share
        (variant, point): between which samples the path's points are, and where there.
    turn
        (variant, axis, axis) rotation times scale.
    residual
        (variant, point, axis) fitted path less target, m.
    slides
        (variant, point) bool: feet that are the nearest ones, and not the end of an open path.
    shift
        (variant, axis) m, added after turning.
    """

    error: Array
    index: Array
    share: Array
    turn: Array
    residual: Array
    slides: Array
    shift: Array

    def take(self, variants: Array) -> "Fit":
        """Of some variants, by their numbers."""
        return Fit(*(getattr(self, one.name)[variants] for one in fields(self)))

    def linearised(self, steps: Array) -> "Fit":
        """Of paths small steps (variant, axis, sample) away, m: all is held but the error
        (variant,), which is that to first order of the steps (the envelope theorem); where a path
        is met, and the error has no slope, it stays too."""
        slope = self.slopes(steps[..., None])[:, 0]
        return replace(self, error=self.error + np.where(self.error > 0, slope, 0.0))

    def analytic(self, track: Array) -> Array:
        """The error (variant,); of complex paths with the derivative, by the envelope theorem."""
        if not np.iscomplexobj(track):
            return self.error
        return self.error + 1j * self.slopes(np.imag(track)[..., None])[:, 0]

    def squares(self, track: Array, target: Target) -> Array:
        """Residuals (variant, point·axis) whose squares sum up to the error's square.

        Of complex paths with derivatives, from which the motions that the fit takes up (feet along
        the path, rotation, position, scale) are projected out (variable projection: Golub and
        Pereyra, Inverse Problems 19, 2003; without its second term, as Kaufman, BIT 15, 1975).
        """
        count, points, axes = self.residual.shape
        found = self.residual.reshape(count, -1) / np.sqrt(points)
        if not np.iscomplexobj(track):
            return found
        moved = self._between(np.imag(track)[..., None])[..., 0]
        tangent = self._between(np.real(track)[..., None], 1)[..., 0]
        size = np.sqrt((tangent**2).sum(axis=-1, keepdims=True))
        tangent = np.where(
            self.slides[..., None] & (size > 0), tangent / np.maximum(size, 1e-300), 0
        )
        path = self.residual + target.table
        taken = [path @ maker.T for maker in _generators(target.fit, axes)]
        taken += [np.broadcast_to(shift, path.shape) for shift in _shifts(target.fit, axes)]
        across = [
            one - tangent * (tangent * one).sum(-1, keepdims=True) for one in (moved, *taken)
        ]
        moved = across[0].reshape(count, -1)
        if taken:
            basis = _basis(taken, across[1:])
            moved = moved - np.einsum("vri,vsi,vs->vr", basis, basis, moved)
        return found + 1j * moved / np.sqrt(points)

    def _between(self, track: Array, order: int = 0) -> Array:
        """(variant, point, axis, …) of (variant, axis, sample, …) at the feet, turned."""
        rows = np.arange(len(track))[:, None, None]
        nodes = (self.index[..., None] + np.arange(-1, 3)) % track.shape[2]
        # (variant, point, node, axis, …)
        found = track[rows, :, nodes] * weights(self.share)[order][..., None, None]
        return np.einsum("vij,vkjs->vkis", self.turn, found.sum(axis=2))

    def slopes(self, slope: Array) -> Array:
        """∂error/∂symbol (variant, symbol) from the path's (variant, axis, sample, symbol)."""
        moved = self._between(slope)
        with np.errstate(all="ignore"):
            along = (self.residual[..., None] * moved).sum(axis=2).mean(axis=1)
            return along / self.error[:, None]


def _basis(motions: list[Array], across: list[Array]) -> Array:
    """Orthonormal directions (variant, point·axis, motion) of what feet leave of motions.

    What they take up whole, as of a straight path's shift along itself, leaves rounding, which has
    no direction: it is 0 there.
    """
    whole, left = (np.stack(one, axis=-1) for one in (motions, across))
    size = np.sqrt((whole**2).sum(axis=(1, 2), keepdims=True))
    left = np.nan_to_num(left / np.where(size > 0, size, 1.0))
    U, kept, _ = np.linalg.svd(left.reshape(len(left), -1, left.shape[-1]), full_matrices=False)
    found: Array = U * (kept > _LEFT)[:, None]
    return found


def still(track: Array) -> tuple[Array, Array]:
    """No rotation, no shift."""
    count, axes = track.shape[:2]
    return np.broadcast_to(np.eye(axes), (count, axes, axes)), np.zeros((count, axes))


def fitted(path: Array, target: Target) -> tuple[Array, Array]:
    """Turn (variant, axis, axis) and shift (variant, axis) that bring points onto a target."""
    wanted, free = target.table, target.fit
    count, _, axes = path.shape
    middle, centre = np.zeros((count, axes)), np.zeros(axes)
    if "position" in free:
        middle, centre = path.mean(axis=1), wanted.mean(axis=0)
    own, asked = path - middle[:, None], wanted - centre
    turn, shared = (
        np.broadcast_to(np.eye(axes), (count, axes, axes)),
        np.swapaxes(own, 1, 2) @ asked,
    )
    if "rotation" in free and axes == 2:
        turn = _in_plane(
            np.arctan2(shared[:, 0, 1] - shared[:, 1, 0], shared[:, 0, 0] + shared[:, 1, 1])
        )
    elif "rotation" in free:
        U, _, V = np.linalg.svd(shared)
        V = np.swapaxes(V, 1, 2).copy()
        V[..., -1] *= np.sign(np.linalg.det(V @ np.swapaxes(U, 1, 2)))[:, None]
        turn = V @ np.swapaxes(U, 1, 2)
    if "scale" in free:
        size = (own**2).sum(axis=(1, 2))
        along = np.einsum("vij,vji->v", turn, shared)
        size = np.maximum(along, 0.0) / np.where(size > 0, size, 1.0)
        turn = turn * size[:, None, None]
    return turn, centre - np.einsum("vij,vj->vi", turn, middle)


def _in_plane(angle: Array) -> Array:
    """Rotations (…, axis, axis) in the plane."""
    found = np.empty((*angle.shape, 2, 2))
    found[..., 0, 0] = found[..., 1, 1] = np.cos(angle)
    found[..., 1, 0] = np.sin(angle)
    found[..., 0, 1] = -found[..., 1, 0]
    return found


def residual(path: Feet, target: Target, turn: Array, shift: Array) -> Array:
    return path.at()[0] @ np.swapaxes(turn, 1, 2) + shift[:, None] - target.table


def result(
    path: Feet, target: Target, turn: Array, shift: Array, missing: Array | bool = False
) -> Fit:
    left = residual(path, target, turn, shift)
    slides = ~path.ends & ("timing" in target.fit)
    error = np.where(missing, np.nan, _rms(left))
    return Fit(error, path.index, path.share, turn, left, slides, shift)


def _rms(residual: Array) -> Array:
    found: Array = np.sqrt((residual**2).sum(axis=-1).mean(axis=-1))
    return found


def _back(target: Target, turn: Array, shift: Array) -> Array:
    """The target (variant, point, axis) in the unfitted path's frame."""
    square = np.maximum((turn**2).sum(axis=(1, 2)) / turn.shape[1], 1e-300)
    away = target.table - shift[:, None]
    return away @ (turn / square[:, None, None])


def together(track: Array, closed: Array, target: Target) -> Fit:
    """Fit and feet by turns from several directions, then Newton's method from the best."""
    begun = _starts(track, target)
    owner = np.tile(np.arange(len(track)), len(begun))
    turn, shift = (np.concatenate(x) for x in zip(*begun, strict=True))
    for turns, kept in _ROUGH:
        turn, shift, error = _by_turns(track[owner], closed[owner], target, turn, shift, turns)
        rows = _best(owner, error, kept)
        owner, turn, shift = owner[rows], turn[rows], shift[rows]
    turn, shift, error = _refined(track, closed, owner, target, turn, shift)
    rows = _best(owner, error, 1)
    turn, shift = turn[rows], shift[rows]
    path = Feet.nearest(track, closed, _back(target, turn, shift))
    return result(path, target, turn, shift)


def _best(owner: Array, error: Array, most: int) -> Array:
    """Rows of the least errors of each owner; of those that are alike one, since several starts
    lead to the same fit, and a mirror image is as good."""
    order = np.lexsort((error, owner))
    owner, error = owner[order], error[order]
    first = np.append(True, owner[1:] != owner[:-1])
    other = first.copy()
    other[1:] |= error[1:] - error[:-1] > _ALIKE * error[1:]
    rank = np.cumsum(other)
    rank -= rank[first][np.cumsum(first) - 1]
    return order[other & (rank < most)]


def _refined(
    track: Array, closed: Array, owner: Array, target: Target, turn: Array, shift: Array
) -> tuple[Array, Array, Array]:
    """Newton's steps within a trust region, of paths by their owners; turn, shift and error."""
    from basepar_core.compiled import refine

    error = np.empty(len(owner))
    free = freedoms(target, track.shape[1])
    refine(track, closed, owner, writable(target.table), free, _FINE, turn, shift, error)
    return turn, shift, error


def _by_turns(
    track: Array, closed: Array, target: Target, turn: Array, shift: Array, turns: int
) -> tuple[Array, Array, Array]:
    """Turn and shift after some turns of fit and feet, and the error with them."""
    path = Feet.nearest(track, closed, _back(target, turn, shift))
    for _ in range(turns):
        turn, shift = fitted(path.at()[0], target)
        path = Feet.nearest(track, closed, _back(target, turn, shift))
    return turn, shift, result(path, target, turn, shift).error


def _starts(track: Array, target: Target) -> list[tuple[Array, Array]]:
    """Turns and shifts to begin with: sizes and middles alike, in several directions."""
    wanted, free = target.table, target.fit
    count, axes = track.shape[:2]
    middle, centre = np.zeros((count, axes)), np.zeros(axes)
    if "position" in free:
        middle, centre = track.mean(axis=-1), wanted.mean(axis=0)
    own = track - middle[..., None]
    size = np.ones(count)
    if "scale" in free:
        spread = np.sqrt((own**2).sum(axis=1).mean(axis=-1))
        asked = np.sqrt(((wanted - centre) ** 2).sum(axis=1).mean())
        size = asked / np.where(spread > 0, spread, 1.0)
    found = []
    for turn in _directions(own, wanted - centre) if "rotation" in free else [still(track)[0]]:
        turn = turn * size[:, None, None]
        found.append((turn, centre - np.einsum("vij,vj->vi", turn, middle)))
    return found


def _directions(own: Array, asked: Array) -> list[Array]:
    """Rotations (variant, axis, axis): evenly in the plane; in space along principal axes."""
    count, axes = own.shape[:2]
    if axes == 2:
        turns = _in_plane(2 * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS)
        return [np.broadcast_to(turn, (count, 2, 2)) for turn in turns]
    mine = np.linalg.eigh(own @ np.swapaxes(own, 1, 2))[1]
    theirs = np.linalg.eigh(asked.T @ asked)[1]
    found = [still(own)[0]]
    for x, y in product((1, -1), repeat=2):
        back = np.swapaxes(mine, 1, 2).copy()
        signed = theirs * np.array([x, y, 1])
        back[:, -1] *= np.sign(np.linalg.det(signed @ back))[:, None]
        found.append(signed @ back)
    return found


def freedoms(target: Target, axes: int) -> tuple[Array, Array, bool, int, bool, float]:
    """What is free in a fit, as `compiled.refine` takes it.

    Turns are about the points' middle where the position is free, so that turn and shift hardly
    depend on each other; turns and changes of size count by what they move at the target's size.
    """
    size, scaled = _size(target), "scale" in target.fit
    makers = np.array(_generators(target.fit, axes)).reshape(-1, axes, axes) / size
    seconds = (makers[:, None] @ makers + makers @ makers[:, None]) / 2
    return makers, seconds, "position" in target.fit, len(makers) - scaled, scaled, size


def _size(target: Target) -> float:
    """Root mean square distance of the points from what they are turned about, m."""
    wanted = target.table
    away = wanted - wanted.mean(axis=0) if "position" in target.fit else wanted
    return float(np.sqrt((away**2).sum(axis=1).mean())) or 1.0


def _generators(free: tuple[str, ...], axes: int) -> list[Array]:
    """What infinitesimal rotations and changes of size do to a vector."""
    found: list[Array] = []
    if "rotation" in free:
        for i, j in ((0, 1),) if axes == 2 else ((1, 2), (2, 0), (0, 1)):
            spin = np.zeros((axes, axes))
            spin[j, i], spin[i, j] = 1.0, -1.0
            found.append(spin)
    return [*found, np.eye(axes)] if "scale" in free else found


def _shifts(free: tuple[str, ...], axes: int) -> list[Array]:
    return list(np.eye(axes)) if "position" in free else []
