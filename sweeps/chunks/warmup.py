"""Compile every kernel once and keep it on disk: minutes of a busy machine, before workers start.

Kernels are cached where numba puts them: NUMBA_CACHE_DIR if set; else `__pycache__` beside the
source; where that cannot be written, the user's cache directory.
"""

import contextlib
import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba.core.registry import CPUDispatcher

from basepar_core.arrays import Array


@dataclass(frozen=True, slots=True)
class Warmed:
    """A group of kernels: its name, the seconds it took, and how many had to be compiled."""

    name: str
    seconds: float
    compiled: int


def cache_directory() -> str:
    """Where the kernels are kept."""
    from basepar_core.compiled import hold

    return str(hold.stats.cache_path)


def warm() -> Iterator[Warmed]:
    """Call every kernel on a few variants; yields after each group."""
    for name, job in _JOBS.items():
        before, begun = _compiled(), time.perf_counter()
        job()
        yield Warmed(name, time.perf_counter() - begun, _compiled() - before)


def beside() -> threading.Thread | None:
    """Compile torques and reduction paths in a process of their own, if none are kept.

    Who compiles the rest meanwhile finds them on disk: on two cores that saves a third. However
    many sweeps begin at once, one such process compiles.

    Returns
    -------
    What waits for the process; None where there is nothing to compile.
    """
    if _are_kept():
        return None
    command = [sys.executable, "-P", "-c", f"from {__name__} import _paths_once; _paths_once()"]
    waiting = threading.Thread(
        target=subprocess.run, args=(command,), kwargs={"capture_output": True}, daemon=True
    )
    waiting.start()
    return waiting


def _are_kept() -> bool:
    return any(Path(cache_directory()).glob("paths*.nbi"))


def _paths_once() -> None:
    """Compile them, unless another process does or has done so."""
    held = os.open(cache_directory(), os.O_RDONLY)  # until this process ends
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _are_kept():
            _paths()


def _compiled() -> int:
    """Kernels compiled so far in this process, not found on disk."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("basepar_core"):
            for thing in vars(module).values():
                if isinstance(thing, CPUDispatcher):
                    found[thing.py_func] = sum(thing.stats.cache_misses.values())
    return sum(found.values())


def _observed(name: str) -> Callable[[], None]:
    def job() -> None:
        from basepar_core.api import load
        from basepar_core.compiled import Engine
        from basepar_core.dynamics import excitation, prepare

        model = prepare(load(name))
        mechanism = model.mechanism
        # Swept symbols, though nominal: variants come to their geometry by a kernel of its own.
        values = {one.name: np.full(2, mechanism.nominal[one.name]) for one in mechanism.geometry}
        variants = Engine(model).variants(values)
        motion = excitation(mechanism, model.assembled.coordinates)
        variants.observe(motion)
        variants.close(motion)

    return job


def _matrices(width: int) -> tuple[Array, Array, Array]:
    """W, error and terms of two variants; any numbers do."""
    rng = np.random.default_rng(0)
    W = rng.standard_normal((2, 2 * width, 1, width))
    return W, np.full(2, 1e-15), np.zeros((2, width))


def _spectra() -> None:
    from basepar_core.compiled import linear

    W, error, terms = _matrices(4)
    linear.finite(W)
    places, entries = np.array([[0], [0]]), np.zeros((1, 2))
    linear.check(W, error, (0, 1, 2), (3,), places, entries, terms)


def _paths() -> None:
    from basepar_core.compiled import paths

    W, error, phi = _matrices(4)
    paths.own_path(W, phi, (0, 1, 2), None, error, np.arange(2))
    paths.torques(W, phi, np.arange(2))


def _turning() -> None:
    from basepar_core.single_dof import Turn, regimes, run

    row, none = np.ones((1, 5)), np.zeros((1, 0, 5))
    turn = Turn(np.arange(5.0), row, 0 * row, -row, -row, none, none[..., :3], ())
    run(turn, np.full(1, 2.0))
    regimes(turn, np.full(1, 2.0))


def _curves() -> None:
    from basepar_core.api import load
    from basepar_core.compiled import least_apart
    from basepar_core.dynamics import cycle, prepare
    from basepar_core.metrics import Target, path_error

    model = prepare(load("four-bar"))
    moving = cycle(model.mechanism, model.assembled.coordinates)
    turn = 2 * np.pi * np.arange(moving.t.size) / moving.t.size
    track = np.stack([np.cos(turn), 0.5 * np.sin(turn)])[None]
    target = Target("target", ((0.0, 0.0), (1.0, 0.0), (0.0, 0.5)), fit=("timing", "rotation"))
    path_error.fit(track, target, model.mechanism, moving)
    least, place = np.empty(1), np.empty(1, np.int64)
    least_apart(track[:, None], 3.0 + track[:, None], least, place)


_JOBS: dict[str, Callable[[], None]] = {
    "closing loops, W: planar": _observed("four-bar"),
    "closing loops, W: spatial": _observed("sla-suspension"),
    "rank and spectra": _spectra,
    "torques and reduction paths": _paths,
    "steady turns": _turning,
    "paths against targets, clearances": _curves,
}
