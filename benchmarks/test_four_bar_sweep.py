"""A chunk of four-bar variants against the loop one writes first: one variant after the other.

Theirs: a Newton closure per sample on two equations, W row by row from closed formulas, singular
values and torques by NumPy. Same samples, same tolerance, equal results.
"""

import numpy as np
import pytest

from basepar_core.dynamics.motion import cycle, excitation
from sweeps.chunks.evaluator import prepare
from sweeps.spec.reader import parse_sweep

#: A task of a sweep takes half a second's: more than this.
VARIANTS = 4096
#: The loop takes some 20 ms a variant.
LOOPED = 64
SWEEP = f"""
mechanism: four-bar
space:
  plan: random
  variables: {{lx1: [0.25, 0.35], lx2: [0.65, 0.75], lx3: [1.25, 1.35], Dx: [0.9, 1.1]}}
  candidates: {VARIANTS}
  seed: 3
evaluate: {{rank: auto, metrics: [torque_rms]}}
"""


def _loop(columns, motions, start):
    """RMS torque and singular values of every variant, one at a time."""
    found = []
    for k in range(LOOPED):
        lengths = {name: column[k] for name, column in columns.items()}
        W = [_observation(motion, start, **lengths) for motion in motions]
        torque = W[1] @ _inertias(**lengths)
        found.append([np.sqrt((torque**2).mean()), *np.linalg.svd(W[0], compute_uv=False)[:8]])
    return np.array(found)


def _inertias(lx1, lx2, lx3, ly2=1.1, rho=2.7, **_):
    L2 = np.hypot(lx2, ly2)
    rods = ((lx1, lx1 / 2, 0.0), (L2, lx2 / 2, -ly2 / 2), (lx3, lx3 / 2, 0.0))
    return np.concatenate(
        [[rho * L, rho * L * x, rho * L * y, rho * L**3 / 3] for L, x, y in rods]
    )


def _observation(motion, start, lx1, lx2, lx3, Dx, ly2=1.1, Dy=0.1, g=9.81):
    """W of one variant; absolute angles a, b, c of the three bars."""
    angles, rows = np.array(start, float), []
    for q, w, dw in zip(motion.q[0], motion.q_dot[0], motion.q_ddot[0], strict=True):
        angles[0], (b, c) = q, angles[1:]
        for _ in range(20):
            cb, sb, cc, sc = np.cos(b), np.sin(b), np.cos(c), np.sin(c)
            gap = np.array(
                [
                    lx1 * np.cos(q) + lx2 * cb + ly2 * sb + lx3 * cc - Dx,
                    lx1 * np.sin(q) + lx2 * sb - ly2 * cb + lx3 * sc - Dy,
                ]
            )
            C = np.array([[-lx2 * sb + ly2 * cb, -lx3 * sc], [lx2 * cb + ly2 * sb, lx3 * cc]])
            step = np.linalg.solve(C, -gap)
            b, c = b + step[0], c + step[1]
            if np.abs(step).max() < 1e-12:  # C is from before this step
                break
        angles[1:] = b, c
        turn = np.array([1.0, *np.linalg.solve(C, [lx1 * np.sin(q), -lx1 * np.cos(q)])])
        rates = turn * w
        arms = _arms(angles, lx1, lx2, ly2, lx3)
        bend = -sum(arm * r**2 for arm, r in zip(arms, rates, strict=True))
        drive = np.array([-lx1 * np.sin(q), lx1 * np.cos(q)]) * dw
        accelerations = np.array([dw, *np.linalg.solve(C, -drive - bend)])
        rows.append(_row(angles, turn, rates, accelerations, arms, g))
    return np.array(rows)


def _arms(angles, lx1, lx2, ly2, lx3):
    """Vectors A→B, B→C, C→D in the world."""
    ends = ((lx1, 0.0), (lx2, -ly2), (lx3, 0.0))
    return [
        np.array([np.cos(a) * x - np.sin(a) * y, np.sin(a) * x + np.cos(a) * y])
        for a, (x, y) in zip(angles, ends, strict=True)
    ]


def _row(angles, turn, rates, accelerations, arms, g):
    """d'Alembert: virtual work of unit parameters at unit crank rate."""
    v, a, row = np.zeros(2), np.array([0.0, g]), []
    for angle, d, w, dw, arm in zip(angles, turn, rates, accelerations, arms, strict=True):
        c, s = np.cos(angle), np.sin(angle)
        for_m = v @ a
        entries = []
        for e in (np.array([c, s]), np.array([-s, c])):
            normal = np.array([-e[1], e[0]])
            entries.append(d * normal @ a + v @ (dw * normal - w**2 * e))
        row += [for_m, *entries, d * dw]
        normal = np.array([-arm[1], arm[0]])
        v, a = v + d * normal, a + dw * normal - w**2 * arm
    return row


@pytest.mark.benchmark(group="four-bar variants, closure to torque and singular values")
def test_chunk_against_the_loop(against_each):
    spec = parse_sweep(SWEEP)
    evaluator = prepare(spec)
    columns = spec.plan.rows(0, VARIANTS)
    passed = np.ones(VARIANTS, dtype=bool)
    start = evaluator.model.assembled.coordinates
    mechanism = spec.mechanism
    motions = (excitation(mechanism, start), cycle(mechanism, start))
    angles = np.cumsum(evaluator.model.assembled.q)

    def ours():
        arrays = evaluator(columns, passed)
        return np.column_stack([arrays["torque_rms"], arrays["singular_values"][:, :8]])

    def theirs():
        return _loop(columns, motions, angles)

    # Both close their loops to rounding; the condition of W costs the small values four digits.
    np.testing.assert_allclose(ours()[:LOOPED], theirs(), rtol=1e-9)
    against_each((ours, VARIANTS), (theirs, LOOPED), "variant")
