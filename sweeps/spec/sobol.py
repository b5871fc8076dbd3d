"""Scrambled Sobol points, any of them at once: those of SciPy's `qmc.Sobol`, without its engine.

That one draws point after point, and to import it takes longer than all else that a worker or a
driver imports. Direction numbers are Joe and Kuo's (SIAM J. Sci. Comput. 30(5), 2008), from the
table that SciPy ships; digits are scrambled by Matoušek's random lower triangular matrices and a
random shift (J. Complexity 14(4), 1998), drawn in SciPy's order.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

#: Binary digits of a coordinate, and so of the index of a point.
BITS = 30


def sobol_points(dimensions: int, seed: int, start: int, stop: int) -> np.ndarray:
    """Points start … stop − 1 of the scrambled sequence in [0, 1): (stop − start, dimensions).

    A point is the sum modulo 2 of the directions that the Gray code of its index names.
    """
    shift, directions = _scrambled(dimensions, seed)
    index = np.arange(start, stop, dtype=np.uint32)
    gray = index ^ (index >> np.uint32(1))
    found = np.tile(shift, (stop - start, 1))
    for digit in range(max(stop - 1, 0).bit_length()):
        chosen = (gray >> np.uint32(digit)) & np.uint32(1)
        found ^= chosen[:, None] * directions[:, digit]
    return found * 2.0**-BITS


@cache
def _scrambled(dimensions: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Shift (dimension,) and directions (dimension, digit) as whole numbers of BITS digits."""
    (rng,) = np.random.default_rng(seed).spawn(1)
    shift = rng.integers(2, size=(dimensions, BITS), dtype=np.uint32)
    lower = np.tril(rng.integers(2, size=(dimensions, BITS, BITS), dtype=np.uint32), -1)
    lower += np.eye(BITS, dtype=np.uint32)
    places = np.arange(BITS, dtype=np.uint32)
    highest_first = np.uint32(1) << places[::-1]
    plain = _directions(dimensions)
    digits = (plain[:, None, :] & highest_first[:, None]) != 0
    mixed = (lower @ digits.astype(np.uint32)) & np.uint32(1)
    return shift @ (np.uint32(1) << places), highest_first @ mixed


def _directions(dimensions: int) -> np.ndarray:
    """Directions (dimension, digit) that are not scrambled, as whole numbers of BITS digits.

    Each dimension has a primitive polynomial over two elements, whose recurrence makes all
    directions from the first few; the first dimension is van der Corput's sequence.
    """
    polynomials, starts = _table(dimensions)
    rows = [[1] * BITS]
    for polynomial, first in zip(polynomials[1:], starts[1:], strict=True):
        degree = polynomial.bit_length() - 1
        terms = [k for k in range(1, degree + 1) if polynomial >> (degree - k) & 1]
        row = first[:degree]
        for j in range(degree, BITS):
            made = row[j - degree]
            for k in terms:
                made ^= row[j - k] << k
            row.append(made)
        rows.append(row)
    places = np.arange(BITS, dtype=np.uint32)[::-1]
    return np.array(rows[:dimensions], dtype=np.uint32) << places


def _table(dimensions: int) -> tuple[list[int], list[list[int]]]:
    """Of each dimension the polynomial's coefficients as digits, and the first directions."""
    scipy = find_spec("scipy")  # found, not imported
    assert scipy is not None
    assert scipy.origin is not None
    with np.load(Path(scipy.origin).with_name("stats") / "_sobol_direction_numbers.npz") as held:
        return held["poly"][:dimensions].tolist(), held["vinit"][:dimensions].tolist()
