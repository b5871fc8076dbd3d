"""Linkages from what they are to do, where that has exact solutions."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import UsageError


def exact_bars(
    places: "Array | Sequence[Sequence[float]]", angles: "Array | Sequence[float]"
) -> tuple[Array, Array]:
    """Bars that guide a body exactly through five poses in the plane (Burmester's points).

    Any two of them make a four-bar whose coupler can be assembled in each pose; whether it goes
    from one to the next on one branch, and in this order, a sweep or study of it tells.

    Parameters
    ----------
    places
        (5, 2): where the body's origin is in each pose, m.
    angles
        (5,): angle of its x axis from the ground's, rad.

    Returns
    -------
    ground
        (bar, 2): each bar's pin on the ground, m.
    body
        (bar, 2): its pin in the body's frame, m. There are 0, 2 or 4 bars, the shortest first.

    Raises
    ------
    UsageError
        Not five poses, not numbers, or two that are the same.

    Examples
    --------
    >>> import basepar
    >>> places = [[0.0, 0.0], [0.1, 0.02], [0.2, 0.05], [0.28, 0.12], [0.3, 0.2]]
    >>> ground, body = basepar.exact_bars(places, [0.0, 0.1, 0.3, 0.6, 1.0])
    >>> ground.shape == body.shape
    True
    """
    from basepar_core.dynamics import POSES
    from basepar_core.dynamics import exact_bars as found

    try:
        at, turned = np.asarray(places, float), np.asarray(angles, float)
    except (TypeError, ValueError):
        raise UsageError("places and angles are numbers, in m and rad.", ["places"]) from None
    if at.shape != (POSES, 2) or turned.shape != (POSES,):
        raise UsageError(
            f"places {at.shape} and angles {turned.shape}: {POSES} poses are needed, places "
            f"({POSES}, 2) and angles ({POSES},). With fewer there are infinitely many bars: take "
            "a study with `pose_error`.",
            ["places", "angles"],
        )
    poses = np.hstack([at, np.cos(turned)[:, None], np.sin(turned)[:, None]])
    if not np.isfinite(poses).all() or len(np.unique(poses, axis=0)) < POSES:
        raise UsageError("poses are finite, and no two are the same.", ["places", "angles"])
    return found(at, turned)


def nearest_curves(
    store: str | Path,
    point: str,
    points: "Array | Sequence[Sequence[float]]",
    count: int = 10,
) -> tuple[Array, Array]:
    """Variants of an atlas whose paths are nearest to a closed curve in shape.

    An atlas is the store of a sweep with the metric `fourier_descriptors(P)`; a study begins from
    it by `warm_start`.

    Parameters
    ----------
    store
        Folder or address of the store.
    point
        Name of the point.
    points
        (point, 2): points of the curve in order, once round, m.
    count
        How many at most.

    Returns
    -------
    variants
        (variant,) their numbers, the nearest first.
    distances
        (variant,) root mean square distance of the path from the curve, where it is moved, turned,
        enlarged and begun as fits best, over the curve's root mean square radius.

    Raises
    ------
    StoreError
        No store is there.
    UsageError
        It has no shapes of this point, or the points are too few or do not go round.

    Examples
    --------
    >>> import basepar
    >>> basepar.nearest_curves("atlas.zarr", "P", [[0, 0]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    basepar_core.errors.StoreError: There is no store at ...
    """
    from sweeps.store import Store
    from workflows.studies import nearest_curves as found

    return found(Store.open(store), point, np.asarray(points, float), count)
