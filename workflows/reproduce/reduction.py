"""The reduction paper's procedure: its claims on our mechanisms, checked by brute force.

"Multibody model reduction by parameter elimination" (Iriarte, Ros, Mata & Plaza) prints no table.
What it states is the procedure and what it does, and that is what is compared: every elimination
against least squares for each candidate (the paper's formula, with a pseudo-inverse), the error
of the reduced models, generalised base parameters that are those of Gautier where the reduction
is exact, and addition "equivalent" to elimination, which it is not.
"""

import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np

from basepar_core.api import load
from basepar_core.arrays import Array
from basepar_core.base import symbolic
from basepar_core.dynamics import prepare
from basepar_core.reduction import TIE, ReducedMechanism, reduce_mechanism

from .comparison import Number, Reproduction, Table, erratum, exact

MECHANISMS = ("four-bar", "slider-crank", "five-bar")
TITLE = "Multibody model reduction by parameter elimination"
#: Relative torque errors below this are rounding.
EXACT = 1e-12
#: Two least squares of one residual: rounding times the condition of at most 1e5.
SAME = 1e-9


def reproduce(say: Callable[[str], None], figures: Path | None) -> Reproduction:
    """Every statement on every mechanism."""
    started = time.perf_counter()
    tables, drawn = [], []
    for name in MECHANISMS:
        say(f"paths of the {name}, by brute force")
        model = prepare(load(name))
        base = symbolic(model)
        back = reduce_mechanism(model, base)
        on = reduce_mechanism(model, base, "forward")
        phi = model.mechanism.inertial_parameters(model.mechanism.nominal)
        rows, torque = _system(back, phi)
        numbers = [
            *_elimination(back, rows, torque),
            _tolerance(back, rows, torque),
            _generalised(back, phi),
            _equivalence(back, on),
            _minimal(back, rows, torque),
        ]
        tables.append(Table(name, "elimination against the paper's formula", tuple(numbers)))
        if figures is not None:
            drawn.append(_draw(name, back, on, figures))
    seconds = time.perf_counter() - started
    return Reproduction("reduction", TITLE, tuple(tables), tuple(drawn), seconds)


def _system(found: ReducedMechanism, phi: Array) -> tuple[Array, Array]:
    """W_b, columns of length one, and τ over its norm: rows weighted by the stated noise."""
    sigma = np.array([x for _, x in found.noise])
    rows = (found.W[..., list(found.base.kept)] / sigma[:, None]).reshape(-1, found.base.rank)
    torque = ((found.W @ phi) / sigma).ravel()
    lengths = np.linalg.norm(rows, axis=0)
    return rows / np.where(lengths > 0, lengths, 1), torque / np.linalg.norm(torque)


def _error(rows: Array, torque: Array, kept: list[int]) -> float:
    """The paper's ‖τ − W (W⁺ τ)‖/‖τ‖."""
    some = rows[:, kept]
    return float(np.linalg.norm(torque - some @ (np.linalg.pinv(some, 1e-12) @ torque)))


def _statement(where: str, printed: str, holds: bool, ours: str) -> Number:
    return exact(where, printed, ours, "0" if holds else "not so")


def _elimination(found: ReducedMechanism, rows: Array, torque: Array) -> list[Number]:
    """Step by step: nobody else could leave at a smaller error, and the error is the path's."""
    kept, numbers = list(range(found.base.rank)), []
    for step, gone in enumerate(found.path.gone(found.base.rank), start=1):
        errors = {k: _error(rows, torque, [j for j in kept if j != k]) for k in kept}
        least, mine = min(errors.values()), float(found.path.torque_error[0, step])
        holds = errors[gone] <= least + TIE + SAME * least
        holds &= abs(errors[gone] - mine) <= SAME * mine + TIE
        ours = f"{found.names[gone]} at {mine:.6g}; least {least:.6g}"
        numbers.append(_statement(f"step {step}", "the least increase leaves", holds, ours))
        kept.remove(gone)
    return numbers


def _tolerance(found: ReducedMechanism, rows: Array, torque: Array) -> Number:
    size = int(found.selection.size[0, 0])
    gone = found.path.gone(found.base.rank - size)
    error = _error(rows, torque, [k for k in range(found.base.rank) if k not in gone])
    after = float(found.path.torque_error[0, found.base.rank - size + 1]) if size else 1.0
    holds = error < found.tolerance <= after
    ours = f"{size} parameters, {error:.3g}; one less, {after:.3g}"
    return _statement("stop", f"error < {found.tolerance:g}, and no further", holds, ours)


def _generalised(found: ReducedMechanism, phi: Array) -> Number:
    """φ_g of the stopped model moves it as its least-squares parameters do."""
    size = int(found.selection.size[0, 0])
    kept = found.generalised(size)
    model = found.W[..., list(kept.columns)] @ kept.nominal(phi)
    sigma = np.array([x for _, x in found.noise])
    torque = found.W @ phi
    error = np.linalg.norm((torque - model) / sigma) / np.linalg.norm(torque / sigma)
    mine = float(found.selection.error[0, 0])
    return _statement(
        "generalised base parameters",
        "hold what the eliminated ones carried",
        bool(abs(error - mine) <= 1e-6 * mine + 1e-10),
        f"torque error {error:.6g} with them, {mine:.6g} by least squares",
    )


def _equivalence(back: ReducedMechanism, on: ReducedMechanism) -> Number:
    """Where the two paths differ, that is the erratum; where they agree, it holds here."""
    difference = np.abs(back.path.torque_error - on.path.torque_error).max()
    equal = bool(difference <= 1e-9)
    ours = "same errors" if equal else f"errors differ by up to {difference:.3g}"
    number = _statement("addition one by one", "an equivalent algorithm", equal, ours)
    if equal:
        return number
    return erratum(number, True, "the two greedy paths differ in general; both are offered")


def _minimal(found: ReducedMechanism, rows: Array, torque: Array) -> Number:
    """ "The minimum number of parameters": against all models of one parameter less."""
    size = int(found.selection.size[0, 0])
    best = min(
        (
            _error(rows, torque, list(some))
            for some in combinations(range(found.base.rank), max(size - 1, 0))
        ),
        default=1.0,
    )
    holds = best >= found.tolerance
    ours = f"{size}; the best of all with {size - 1} has {best:.3g}"
    number = _statement("number of parameters", "the minimum", holds, ours)
    if holds:
        return number
    return erratum(number, True, "elimination one by one does not guarantee the smallest model")


def _draw(name: str, back: ReducedMechanism, on: ReducedMechanism, folder: Path) -> Path:
    """Both paths: torque error against the number of parameters."""
    from matplotlib.ticker import MaxNLocator

    from workflows.drawing import canvas, save

    figure = canvas(6, 4)
    axes = figure.add_subplot()
    axes.set_title(f"{name}: torque error by elimination and by addition", fontsize=10)
    both = np.concatenate([back.path.torque_error[0], on.path.torque_error[0]])
    # Decades of rounding would press what matters together: it lies on the lower edge.
    floor = both[both > EXACT].min() / 30
    for found, style, word in ((back, "o-", "elimination"), (on, "x--", "addition")):
        shown = np.maximum(found.path.torque_error[0], floor)
        axes.semilogy(found.path.sizes, shown, style, label=word, clip_on=False)
    axes.set_ylim(floor, 2)
    if (both <= EXACT).any():
        axes.set_yticks([floor], ["rounding"], minor=True, fontsize=8)
        axes.tick_params(axis="y", which="minor", length=0)
    axes.invert_xaxis()
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("parameters")
    axes.set_ylabel("relative torque error")
    axes.legend()
    return save(figure, folder / f"reduction-{name}.png")
