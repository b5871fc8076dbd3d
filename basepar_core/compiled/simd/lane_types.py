"""What all kernels share: how they are compiled, and the lanes they work in.

A lane array has `LANES` numbers last: the same quantity of that many variants (closing loops)
or samples (W). Kernels see it as a view of vectors (`vectors.py`): `for l in range(0, LANES,
WIDTH)` takes WIDTH lanes at a time, and `state[body, k * LANES + l]` is a vector of the body's
k-th number. No branch depends on a lane: its bits cannot depend on what stands in the others.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

from .vectors import WIDTH, floor, where

#: Lanes: part of the compiled code but not of the key it is cached under. Changed, it wants
#: `__pycache__` emptied.
LANES = 32

#: Numbers in a line of the cache.
LINE = 8

#: Steps whose ends predict the next one's; compiled likewise.
ORDER = 4

#: Fused multiply-add, no signed zeros, x/y as x·(1/y). Not `nnan`, `ninf`: failed lanes compute
#: nan, and masks must see it; not `reassoc`, which would undo the reduction of angles.
FLAGS = {"contract", "nsz", "arcp"}

#: Of all kernels.
OPTIONS: Any = {"error_model": "numpy", "fastmath": FLAGS}
INNER: Any = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile into the kernels that call it; division by zero gives inf or nan.

    Without an entry for Python, which would be half of the code to compile.
    """
    return njit(**INNER)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """As `kernel`, for what is called in one place: it becomes part of its caller, and so quicker
    to compile (docs/decisions/0189).

    The caller's options hold. Not for what writes by a mask (`where`): numba 0.68 lost such a
    write of a function that it had put into another (docs/decisions/0020).
    """
    return njit(inline="always", **INNER)(function)


def door(function: Callable[..., Any]) -> Any:
    """Compile on first use, with all that it calls, and keep it on disk."""
    made = njit(cache=True, **OPTIONS)(function)
    _forget_older(made.stats.cache_path or "", f"*.{function.__name__}-*.nbi")
    return made


def _forget_older(directory: str, pattern: str) -> None:
    """Remove what was compiled before any kernel's source was written.

    A cached function notices that its own file changed, but not the files of those it calls.
    """
    if not directory:  # caching is off, or there is nowhere to write
        return
    kernels = Path(__file__).parents[1].rglob("*.py")
    newest = max(source.stat().st_mtime for source in kernels)
    for index in Path(directory).glob(pattern):
        with contextlib.suppress(OSError):  # another process was faster
            if index.stat().st_mtime < newest:
                index.unlink()


@kernel
def set_to(target, source):
    """target[:] = source, both (n,): nothing checks that.

    numba's own assignment of arrays checks for overlap, and has a message with shapes in it: that
    takes seconds to compile.
    """
    for i in range(target.size):
        target[i] = source[i]


# π/2 in three parts, 33 bits each in the first two: for angles below 1e5 rad their multiples
# are exact. Beyond that angles lose digits; `backend.py` leaves such motions to the plain path.
_HALF_PI_1 = 1.5707963267341256
_HALF_PI_2 = 6.077100506303966e-11
_HALF_PI_3 = 2.0222662487959506e-21
_PER_HALF_PI = 0.6366197723675814


@kernel
def sine_cosine(angles, row, sine, cosine):
    """Sines and cosines of angles[row], rad, |angle| < 1e5, to 1.5 units in the last place.

    Reduced by multiples of π/2 in three parts (Cody and Waite), then Taylor polynomials, whose
    remainders at π/4 are below 1e-18. Without branches: libm would be called lane by lane.
    """
    for l in range(0, LANES, WIDTH):
        x = angles[row, l]
        k = floor(x * _PER_HALF_PI + 0.5)
        r = ((x - k * _HALF_PI_1) - k * _HALF_PI_2) - k * _HALF_PI_3
        z = r * r
        p = z * (1 / 355687428096000) - 1 / 1307674368000
        p = z * p + 1 / 6227020800
        p = z * p - 1 / 39916800
        p = z * p + 1 / 362880
        p = z * p - 1 / 5040
        p = z * p + 1 / 120
        p = z * p - 1 / 6
        s = r + r * z * p
        p = z * (1 / 20922789888000) - 1 / 87178291200
        p = z * p + 1 / 479001600
        p = z * p - 1 / 3628800
        p = z * p + 1 / 40320
        p = z * p - 1 / 720
        p = z * p + 1 / 24
        c = 1 - 0.5 * z + z * z * p
        quarter = k - 4 * floor(0.25 * k)
        odd = (quarter == 1) | (quarter == 3)
        first, second = where(odd, c, s), where(odd, s, c)
        sine[l] = where(quarter >= 2, -first, first)
        cosine[l] = where((quarter == 1) | (quarter == 2), -second, second)
