"""An atlas: a sweep's store with the shapes of its paths, and which are nearest to a target."""

import numpy as np

from basepar_core.errors import UsageError
from basepar_core.expressions import names
from basepar_core.metrics import array_name, curve_shapes
from sweeps.store import Store

from .quantity_names import read_results
from .spec import StudySpec


def distances(spec: StudySpec, held: Store) -> np.ndarray | None:
    """(variant,) how far paths are from the study's target in shape; nan without a closed path.

    None where the store knows the objective itself, or has no shapes of the point.

    Raises
    ------
    UsageError
        The target is not closed.
    """
    wanted = names(spec.objectives[0].expression) & set(spec.results)
    paths = [name for name in wanted if name.startswith("path_error(")]
    known = read_results(held, spec.results, 0, 1)
    if len(paths) != 1 or any(known[name] is not None for name in wanted):
        return None
    point, _, title = paths[0].removeprefix("path_error(").removesuffix(")").partition(",")
    if _array(point) not in held:
        return None
    (target,) = (one for one in spec.targets if one.name == title)
    return _distances(held, point, np.array(target.points, float), f"target {title}")


def nearest_curves(
    held: Store, point: str, points: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Variants (variant,) whose paths are nearest to points (point, 2) in shape, and how far.

    Raises
    ------
    UsageError
        The store has no shapes of this point, the points do not go round, or none is asked for.
    """
    if count < 1:
        raise UsageError(f"count={count}: at least 1 is needed.", ["count="])
    if _array(point) not in held:
        raise UsageError(
            f"The store has no shapes of point {point}: sweep the metric "
            f"fourier_descriptors({point}).",
            ["point"],
        )
    far = _distances(held, point, points, "the curve")
    order = np.argsort(far, kind="stable")[: min(count, int(np.isfinite(far).sum()))]
    return order, far[order]


def _array(point: str) -> str:
    return array_name(f"fourier_descriptors({point})")


def _distances(held: Store, point: str, points: np.ndarray, what: str) -> np.ndarray:
    if points.ndim != 2 or points.shape[1] != 2 or not curve_shapes.is_ring(points):
        raise UsageError(
            f"Shapes are of closed curves, and {what} is not: it takes at least "
            f"{curve_shapes.LEAST} different points (x, y) in order, once round, the last as near "
            "to the first as neighbours are. Without them sweep path_error itself.",
            ["warm_start"],
        )
    wanted = curve_shapes.descriptors(curve_shapes.outline(points))
    return curve_shapes.distances(np.asarray(held[_array(point)][:]), wanted)
