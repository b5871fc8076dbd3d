"""A small real study of the four-bar, and its rocker's swing from triangles alone."""

import numpy as np
import zarr

from workflows.studies.reader import parse_study
from workflows.studies.spec import StudySpec

SMALL = """
mechanism: four-bar
variables: {lx1: [0.2, 0.6], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}
objectives: {torque_rms: minimize}
constraints: ["stroke(D) >= 40 deg"]
sampler: {kind: tpe, seed: 3}
trials: 35
batch: 10
store: {chunk: 5}
study: {name: torque}
"""


def small(folder: object, name: str = "study", text: str = SMALL) -> StudySpec:
    """The study of `SMALL` in a folder: four batches, the last one of half the size."""
    return parse_study(text).at(f"{folder}/{name}.zarr")


def swing(lx1, lx3, Dx, lx2=0.7, ly2=1.1, Dy=0.1):
    """Rocker's swing of a crank-rocker in rad: between crank and coupler stretched and folded."""
    coupler, ground = np.hypot(lx2, ly2), np.hypot(Dx, Dy)

    def angle(reach):
        with np.errstate(invalid="ignore"):  # nan: no such triangle
            return np.arccos((ground**2 + lx3**2 - reach**2) / (2 * ground * lx3))

    return angle(coupler + lx1) - angle(coupler - lx1)


def arrays(path: object) -> dict[str, np.ndarray]:
    """Everything a store holds."""
    group = zarr.open_group(path, mode="r", use_consolidated=False)
    return {name: array[:] for name, array in group.arrays()}


def assert_equal_stores(one: object, other: object) -> None:
    """Bit for bit."""
    left, right = arrays(one), arrays(other)
    assert left.keys() == right.keys()
    for name, values in left.items():
        np.testing.assert_array_equal(values, right[name], err_msg=name)
