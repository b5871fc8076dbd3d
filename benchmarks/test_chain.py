"""Whole chains against the loops one writes first: per variant, from geometry to reduction.

Theirs: Newton closures sample by sample and W from closed formulas (`test_four_bar_sweep`), rank,
singular values and condition by NumPy, and least squares for every candidate of every step of
the reduction. Same samples, equal results. CPU time counts: the machine may be shared.
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


def dropping(columns, torque):
    """Relative torque errors of backward elimination, by least squares for every candidate."""
    left, norm = list(range(columns.shape[1])), np.linalg.norm(torque)
    errors = []
    while left:
        losses = []
        for j in left:
            part = columns[:, [k for k in left if k != j]]
            best = np.linalg.lstsq(part, torque, rcond=None)[0] if len(left) > 1 else np.zeros(0)
            losses.append(np.linalg.norm(torque - part @ best) / norm)
        least = min(losses)
        # Among equals the last.
        left.pop(max(k for k, loss in enumerate(losses) if loss <= least + 1e-12))
        errors.append(least)
    return errors


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
        errors = dropping(unit_columns(W_cycle[:, kept])[0], torque)
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


@pytest.mark.benchmark(group="backward path, 36 base parameters")
def test_path_against_least_squares_per_candidate(against_each, monkeypatch):
    monkeypatch.setitem(MECHANISMS, "ur10", 31)
    case.cache_clear()
    one = case("ur10")
    phi, lanes = one.random_phi(5), np.arange(len(one.W))
    tau = one.torque(phi)
    both = np.concatenate([one.W_b, tau[..., None]], axis=3)
    rows = both.reshape(len(lanes), -1, 37)
    # The path alone, on either side: ours begins with triangles, as theirs does not need to.
    triangles = np.linalg.qr(rows, mode="r")[:, :, None]
    last = np.zeros((len(lanes), 37))
    last[:, 36] = 1.0  # the torque is the last column

    def ours():
        return paths.own_path(triangles, last, tuple(range(36)), None, one.error, lanes)[0]

    def theirs():
        return dropping(unit_columns(rows[0, :, :36])[0], rows[0, :, 36])

    np.testing.assert_allclose(ours().torque_error[0, 1:], theirs(), rtol=1e-8, atol=1e-12)
    against_each((ours, len(lanes)), (theirs, 1), "variant", 2000, 4000)


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
