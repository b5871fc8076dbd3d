"""Scrambled Sobol sequences, from any point on, by their direction numbers.

Points are those of SciPy's `qmc.Sobol(dimensions, scramble=True, rng=default_rng(seed))`. What it
begins with, the direction numbers of Joe and Kuo, is read from its file: to import `scipy.stats`
takes 0.9 s of processor time, a quarter of what passes before a study has its first results.
"""

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

#: SciPy's points are whole multiples of 2⁻³⁰.
BITS = 30
#: And as many as that.
LONGEST_SOBOL = 2**BITS


def sobol_points(dimensions: int, seed: int, start: int, stop: int) -> np.ndarray:
    """Points start … stop − 1 of SciPy's scrambled sequence: (stop − start, dimensions)."""
    bits = max(0, stop - 1).bit_length()
    return points(directions(dimensions, seed, bits), start, stop)


def points(numbers: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Points start … stop − 1 by the first one and the direction numbers: (point, dimension).

    Point n differs from the one before by the direction number of n's lowest bit (Antonov &
    Saleev, USSR Comput. Maths. Math. Phys. 19(1), 1979), so that point n has those of the bits of
    n's Gray code.
    """
    if stop == start:
        return np.empty((0, numbers.shape[1]))
    first, gray = numbers[0].copy(), start ^ (start >> 1)
    for bit in range(gray.bit_length()):
        if gray >> bit & 1:
            first ^= numbers[1 + bit]
    after = np.arange(start + 1, stop, dtype=np.int64)
    lowest = np.frexp((after & -after).astype(float))[1]  # 1 for the first bit
    steps = np.concatenate([first[None], numbers[lowest]])
    return np.bitwise_xor.accumulate(steps) * 2.0**-BITS


@lru_cache(maxsize=64)
def directions(dimensions: int, seed: int, bits: int) -> np.ndarray:
    """The first point and direction numbers of SciPy's sequence: (1 + bits, dimension) int64.

    Scrambled as there, by a random lower triangular matrix over bits for each dimension and a
    random shift (Matoušek, J. Complexity 14(4), 1998).
    """
    numbers = _unscrambled(dimensions)
    if numbers is None:
        return _from_points(dimensions, seed, bits)
    (rng,), powers = np.random.default_rng(seed).spawn(1), 1 << np.arange(BITS, dtype=np.int64)
    shift = rng.integers(2, size=(dimensions, BITS), dtype=np.uint32) @ powers
    matrix = np.tril(rng.integers(2, size=(dimensions, BITS, BITS), dtype=np.uint32))
    matrix |= np.eye(BITS, dtype=np.uint32)
    digits = (numbers[:, :, None] & powers[::-1] != 0).astype(np.uint32)  # greatest first
    scrambled = np.einsum("dpk,djk->jdp", matrix, digits) % 2 @ powers[::-1]
    return np.concatenate([shift[None], scrambled[:bits]])


@lru_cache(maxsize=8)
def _unscrambled(dimensions: int) -> np.ndarray | None:
    """Direction numbers (dimension, bit) int64 that are not scrambled, by SciPy's file of
    primitive polynomials and first numbers (Joe & Kuo, SIAM J. Sci. Comput. 30(5), 2008); None
    where SciPy keeps it elsewhere, or it has fewer dimensions.

    Further ones by Bratley & Fox, ACM Trans. Math. Software 14(1), 1988.
    """
    scipy = find_spec("scipy")
    if scipy is None or scipy.origin is None:
        return None
    try:
        with np.load(Path(scipy.origin).parent / "stats/_sobol_direction_numbers.npz") as file:
            polynomials = file["poly"][:dimensions].tolist()
            first = file["vinit"][:dimensions].tolist()
    except (OSError, KeyError, ValueError, BadZipFile):
        return None
    if len(polynomials) < dimensions:
        return None
    numbers = np.ones((dimensions, BITS), np.int64)  # of the first dimension
    for row, polynomial in enumerate(polynomials[1:], 1):
        degree = polynomial.bit_length() - 1
        known = first[row][:degree]
        for bit in range(degree, BITS):
            number = known[bit - degree]
            for k in range(1, degree + 1):
                if polynomial >> (degree - k) & 1:
                    number ^= known[bit - k] << k
            known.append(number)
        numbers[row] = known
    return numbers << np.arange(BITS - 1, -1, -1)


def _from_points(dimensions: int, seed: int, bits: int) -> np.ndarray:
    """`directions` as SciPy's points reveal them."""
    from scipy.stats import qmc

    engine = qmc.Sobol(dimensions, scramble=True, rng=np.random.default_rng(seed))
    found = [engine.random(1)[0]]  # alone: SciPy warns of a first draw that is no power of two
    for bit in range(bits):
        engine.fast_forward(2**bit - engine.num_generated)
        found.append(engine.random(1)[0])
    numbers = np.rint(np.array(found) * 2.0**BITS).astype(np.int64)
    for bit in range(bits):  # point 2ᵏ has the bits k and k − 1 in its Gray code
        numbers[1 + bit] ^= numbers[0] ^ (numbers[bit] if bit else 0)
    return numbers
