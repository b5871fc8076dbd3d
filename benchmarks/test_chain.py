"""Whole chains against the loops one writes first: per variant, from geometry to reduction.

Theirs: Newton closures sample by sample and W from closed formulas (`test_four_bar_sweep`), rank,
singular values and condition by NumPy, and for the reduction one QR and down-dates. Same samples,
equal results. CPU time counts: the machine may be shared.
"""

import os
import time

import numpy as np
import pytest

from basepar_core.base.numeric_route import unit_columns
from basepar_core.compiled import paths
from basepar_core.dynamics.motion import cycle, excitation
from cluster.client import connect
from cluster.places import Laptop
from sweeps.chunks.evaluator import prepare
from sweeps.run.driver import sweep
from sweeps.spec.reader import parse_sweep
from tests.core.cycles import MECHANISMS, case

from .test_four_bar_sweep import _inertias, _observation

#: A task of a sweep takes half a second's: more than this.
VARIANTS = 4096
#: The loop takes some 20 ms a variant.
LOOPED = 32
SWEEP = f"""
mechanism: four-bar
space:
  plan: random
  variables: {{lx1: [0.25, 0.35], lx2: [0.65, 0.75], lx3: [1.25, 1.35], Dx: [0.9, 1.1]}}
  candidates: {VARIANTS}
  seed: 3
evaluate:
  rank: auto
  reduction: {{criteria: [tolerance, aic, bic, mdl, fpe], tolerance: 0.01}}
  metrics: [torque_rms, torque_peak]
"""


def down_dating(columns, torque):
    """Relative torque errors of backward elimination: one QR, then down-dates of R⁻¹.

    Without parameter j the squared error grows by θ_j² / (RᵀR)⁻¹_jj, and R⁻¹ loses its rows'
    parts along row j.
    """
    live = columns.any(axis=0)
    width = int(live.sum())
    R = np.linalg.qr(np.column_stack([columns[:, live], torque]), mode="r")
    rows = np.linalg.inv(R[:width, :width])
    theta, squares, total = rows @ R[:width, -1], R[-1, -1] ** 2, R[:, -1] @ R[:, -1]
    errors = [np.sqrt(squares / total)] * (len(live) - width)
    while len(theta):
        lengths = np.einsum("ij,ij->i", rows, rows)
        losses = np.sqrt((squares + theta**2 / lengths) / total)
        # Among equals the last.
        j = int(np.flatnonzero(losses <= losses.min() + 1e-12)[-1])
        errors.append(losses[j])
        squares += theta[j] ** 2 / lengths[j]
        shares = rows @ rows[j] / lengths[j]
        theta = np.delete(theta - shares * theta[j], j)
        rows = np.delete(rows - np.outer(shares, rows[j]), j, axis=0)
    return errors


def down_dating_together(columns, torque):
    """The same of all variants at once: columns (variant, row, base), torque (variant, row)."""
    every, columns = np.arange(len(columns)), columns[:, :, columns.any(axis=(0, 1))]
    width = columns.shape[2]
    R = np.linalg.qr(np.concatenate([columns, torque[..., None]], axis=2), mode="r")
    rows, squares = np.linalg.inv(R[:, :width, :width]), R[:, -1, -1] ** 2
    theta = np.einsum("vij,vj->vi", rows, R[:, :width, -1])
    total = np.einsum("vi,vi->v", R[..., -1], R[..., -1])
    gone, errors = np.zeros((len(columns), width), dtype=bool), []
    for _ in range(width):
        lengths = np.where(gone, 1.0, np.einsum("vij,vij->vi", rows, rows))
        losses = np.where(gone, np.inf, theta**2 / lengths)
        j = losses.argmin(axis=1)
        squares = squares + losses[every, j]
        errors.append(np.sqrt(squares / total))
        shares = (rows @ rows[every, j][..., None]) / lengths[every, j][:, None, None]
        theta = theta - shares[..., 0] * theta[every, j][:, None]
        rows = rows - shares * rows[every, j][:, None, :]
        gone[every, j] = True
    return np.stack(errors, axis=1)


def looped(columns, motions, start, kept):
    """Torque errors, rms, singular values and condition of variants, one at a time."""
    found = []
    for k in range(LOOPED):
        lengths = {name: column[k] for name, column in columns.items()}
        W, W_cycle = (_observation(motion, start, **lengths) for motion in motions)
        values = np.linalg.svd(W, compute_uv=False)
        np.linalg.matrix_rank(unit_columns(W)[0])
        condition = np.linalg.cond(unit_columns(W[:, kept])[0])
        torque = W_cycle @ _inertias(**lengths)
        errors = down_dating(unit_columns(W_cycle[:, kept])[0], torque)
        rms = np.sqrt((torque**2).mean())
        found.append([rms, condition, *values[:8], *errors])
    return np.array(found)


@pytest.mark.benchmark(group="four-bar variants, closure to reduction")
def test_four_bar_chain_against_the_loop(against_each):
    spec = parse_sweep(SWEEP)
    evaluator = prepare(spec)
    columns, passed = spec.plan.rows(0, VARIANTS), np.ones(VARIANTS, dtype=bool)
    start, mechanism = evaluator.model.assembled.coordinates, spec.mechanism
    motions = (excitation(mechanism, start), cycle(mechanism, start))
    angles = np.cumsum(evaluator.model.assembled.q)

    def ours():
        arrays = evaluator(columns, passed)
        spectrum, errors = arrays["singular_values"][:, :8], arrays["torque_error"][:, 1:]
        head = np.column_stack([arrays["torque_rms"], arrays["condition"]])
        return np.column_stack([head, spectrum, errors])

    def theirs():
        return looped(columns, motions, angles, list(evaluator.base.kept))

    # Both close their loops to rounding; the condition of W costs the small values four digits,
    # and errors below 1e-12 are rounding of either side.
    np.testing.assert_allclose(ours()[:LOOPED], theirs(), rtol=1e-8, atol=1e-11)
    against_each((ours, VARIANTS), (theirs, LOOPED), "variant", 300, 500)


@pytest.mark.benchmark(group="backward path, from W")
@pytest.mark.parametrize("together", [False, True], ids=["one by one", "all at once"])
@pytest.mark.parametrize(("name", "count"), [("four-bar", 511), ("ur10", 63)])
def test_path_against_down_dates(name, count, together, against_each, monkeypatch):
    """Torque, its metrics, the first QR and the path, against NumPy's QR and down-dates.

    The torque and unit columns are given to theirs. NumPy by OpenBLAS, one thread.
    """
    monkeypatch.setitem(MECHANISMS, name, count)
    case.cache_clear()
    one = case(name)
    phi, variants = one.random_phi(5), len(one.W)
    torque = one.torque(phi).reshape(variants, -1)
    W = np.ascontiguousarray(one.W.transpose(0, 3, 2, 1)).transpose(0, 3, 2, 1)  # as kernels do
    columns = unit_columns(one.W_b.reshape(variants, torque.shape[1], -1))[0]
    columns = np.ascontiguousarray(columns)

    def ours():
        found = paths.own_path(W, phi, one.base.kept, None, one.error, np.arange(variants))
        return found[0].torque_error[:, 1:]

    def theirs():
        if together:
            return down_dating_together(columns, torque)
        return np.array([down_dating(columns[k], torque[k]) for k in range(32)])

    found = theirs()
    # Rounding times the condition of unit columns, some hundred.
    np.testing.assert_allclose(
        ours()[: len(found), -found.shape[1] :], found, rtol=1e-8, atol=1e-12
    )
    against_each((ours, variants), (theirs, len(found)), "variant", 50, 80)


@pytest.mark.benchmark(group="four-bar sweep, whole chain, 2 processes into the store")
def test_sweep_into_the_store(benchmark, capsys, tmp_path):
    """Through Dask; BASEPAR_VARIANTS=1000000 for the million. Wanted of that: 15 s, must 25 s.

    The workers' CPU time is what two free cores would take twice of; it counts on a shared
    machine.
    """
    count = int(os.environ.get("BASEPAR_VARIANTS", "65536"))
    text = SWEEP.replace(f"candidates: {VARIANTS}", f"candidates: {count}")
    spec = parse_sweep(text + "store: {chunk: 8192}\n").at(str(tmp_path / "sweep.zarr"))
    with connect(Laptop(workers=2)) as client:

        def used():
            return sum(client.run(time.process_time).values())

        prepare(spec).warm(spec.plan.names)
        before, mine = used(), time.process_time()
        summary = benchmark.pedantic(sweep, args=(spec, client), rounds=1)
        workers, driver = used() - before, time.process_time() - mine
    assert summary.done
    info = benchmark.extra_info
    info |= {"variants": count, "workers cpu s": workers, "driver cpu s": driver}
    info["workers cpu us/variant"] = workers / count * 1e6
    with capsys.disabled():
        print(
            f"\n  {count:,} variants in {summary.seconds:.1f} s wall; workers {workers:.1f} s of "
            f"cpu ({workers / count * 1e6:.1f} us per variant), driver {driver:.1f} s"
        )
