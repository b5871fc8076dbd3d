"""Compiled kernels: W of arms and of closed loops, and triangles, against Pinocchio with NumPy.

Each prints its times, wall and CPU, and their ratio beside what must be and what is wanted.
Medians: on a shared machine they are up to twice the best. W is made in chunks that stay in a
core's cache.
"""

import numpy as np
import pytest
from scipy.linalg import lapack, qr

from basepar_core.api import load
from basepar_core.compiled.api import Kernels
from basepar_core.compiled.linear_triangles import triangles_of
from basepar_core.compiled.workspace import zeros
from basepar_core.dynamics.closure import Outcome, prepare
from basepar_core.dynamics.motion import Motion, excitation
from basepar_core.dynamics.regressor import observe
from tests.mechanisms import nearby

VARIANTS, SAMPLES, CHUNKS = 8, 64, 40


#: W of a chunk in bytes at the most: half of a core's cache, on small machines.
IN_CACHE = 1 << 20


@pytest.mark.parametrize(("name", "must", "wanted"), [("ur5", 8, 13), ("panda", 7, 11)])
@pytest.mark.benchmark(group="W of an arm, 8 variants of 64 samples")
def test_arm_against_pinocchio(against_each, name, must, wanted):
    pin = pytest.importorskip("pinocchio")
    from tests.oracles.pinocchio_model import Chain

    model = prepare(load(name))
    count = len(model.mechanism.coordinates)
    q, v, a = np.random.default_rng(3).uniform(-2, 2, (3, count, SAMPLES))
    motion = Motion(np.arange(SAMPLES, dtype=float), q, v, a)
    values = nearby(model.mechanism, VARIANTS, 0.05, 1)
    kernels = Kernels(model)
    start = kernels.start(values)
    G, path = start.G, kernels.trace(start, q)
    chain = Chain(model.mechanism, {n: x[0] for n, x in values.items()})
    tree, data = chain.model, chain.data
    states = [np.ascontiguousarray(x.T) for x in (q, v, a)]

    W = zeros((VARIANTS, 10 * count, count, SAMPLES))

    def ours():
        for _ in range(CHUNKS):  # a chunk alone is over before the processor is awake
            kernels.regress(G, path.q, motion, SAMPLES, W)
        return W

    def theirs():
        W = np.empty((SAMPLES, count, 10 * count))
        for _ in range(VARIANTS):  # one model's placements are as good as another's for time
            for k in range(SAMPLES):
                W[k] = pin.computeJointTorqueRegressor(
                    tree, data, states[0][k], states[1][k], states[2][k]
                )
        return W

    expected = np.stack([chain.columns(q[:, k], v[:, k], a[:, k]) for k in range(20)])
    found = ours()[0].transpose(2, 1, 0)[:20]
    # Float64 on both sides, some hundred operations deep.
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
    done = VARIANTS * SAMPLES
    against_each((ours, CHUNKS * done), (theirs, done), f"sample of {name}", must, wanted)


def _in_chunks(kernels, values, motion, W, then=lambda: None):
    """Loops closed for all variants; W of a few at a time, so that it stays in the cache."""
    variants, chunk = next(iter(values.values())).size, len(W)
    start = kernels.start(values)
    G, path, found = start.G, kernels.trace(start, motion.q), []
    assert (path.outcome == Outcome.CLOSED).all()
    for first in range(0, variants, chunk):
        here = slice(first, first + chunk)
        some = (np.ascontiguousarray(x) for x in (G[..., here], path.q[:, here]))
        kernels.regress(*some, motion, motion.t.size, W)
        found.append(then())
    return found


@pytest.mark.parametrize(("columns", "must", "wanted"), [("all", 2.5, 4), ("base", 5, 8)])
@pytest.mark.benchmark(group="UR5 variants, 50 states, geometry to triangle")
def test_variants_to_triangles(against_each, columns, must, wanted):
    """Ours: base columns known once per mechanism. Theirs: pivoted QR of every W by LAPACK."""
    pin = pytest.importorskip("pinocchio")
    from tests.oracles.pinocchio_model import Chain

    samples, variants, chunk = 50, 256, 8
    model = prepare(load("ur5"))
    q, v, a = np.random.default_rng(3).uniform(-2, 2, (3, 6, samples))
    motion = Motion(np.arange(samples, dtype=float), q, v, a)
    values = nearby(model.mechanism, variants, 0.05, 1)
    kernels = Kernels(model)
    chain = Chain(model.mechanism, {n: x[0] for n, x in values.items()})
    tree, data = chain.model, chain.data
    states = [np.ascontiguousarray(x.T) for x in (q, v, a)]
    seen = kernels.observe(values, motion).W
    pivots = qr(seen[0].reshape(-1, 60), mode="r", pivoting=True)[1]
    order = np.sort(pivots[:36]) if columns == "base" else np.arange(60)
    chosen = np.arange(chunk)

    W = zeros((chunk, 60, 6, samples))

    def ours():
        def triangle():
            return triangles_of(W.reshape(chunk, 60, -1), chosen, order)

        return np.concatenate(_in_chunks(kernels, values, motion, W, triangle))

    def theirs():
        for _ in range(16):
            W = np.empty((60, 6 * samples)).T  # LAPACK's order
            for k in range(samples):
                W[6 * k : 6 * k + 6] = pin.computeJointTorqueRegressor(
                    tree, data, states[0][k], states[1][k], states[2][k]
                )
            found = lapack.dgeqp3(W, lwork=61 * 32, overwrite_a=1)
        return found

    R = ours()
    for variant in (0, variants - 1):
        wanted_values = np.linalg.svd(seen[variant].reshape(-1, 60)[:, order], compute_uv=False)
        found = np.linalg.svd(R[variant], compute_uv=False)
        # Backward stable: some hundred roundings of the largest value.
        np.testing.assert_allclose(found, wanted_values, atol=1e-13 * wanted_values[0])
    unit = f"variant, {columns} columns"
    against_each((ours, variants), (theirs, 16), unit, must, wanted)


def _smooth(model, samples):
    """A period of sines about the assembly: angles by 0.15 rad, lengths by 0.04 m."""
    start, free = model.assembled.coordinates, len(model.mechanism.coordinates)
    speed, t = 2.0, np.arange(samples) * np.pi / samples
    size = np.where(model.loops.limit[list(model.topology.independent)] == 0.5, 0.15, 0.04)
    phase = speed * t + np.arange(free)[:, None]
    size = size[:, None]
    q = start[:, None] + size * (np.sin(phase) - np.sin(phase[:, :1]))
    return Motion(t, q, size * speed * np.cos(phase), -size * speed**2 * np.sin(phase))


@pytest.mark.parametrize(
    ("name", "must"), [("3-rps", 25), ("stewart-gough", 25), ("sla-suspension", 20)]
)
@pytest.mark.benchmark(group="spatial loops and W, 64 samples")
def test_loops_against_partitioned_pinocchio(against_each, name, must):
    pytest.importorskip("pinocchio")
    from .partitioned import Partitioned

    variants = 256
    model = prepare(load(name))
    motion = _smooth(model, SAMPLES)
    values = nearby(model.mechanism, variants, 0.02, 1)
    kernels, dt = Kernels(model), motion.t[1]
    found = kernels.observe({n: x[:16] for n, x in values.items()}, motion)
    assert found.closed.all()
    for variant in (0, 15):
        other = Partitioned(model, {n: x[variant] for n, x in values.items()})
        W = other.ours(other.run(motion, dt))
        scale = np.abs(W).max()
        # Both close their loops to rounding; some hundred roundings on either side.
        assert np.abs(found.W[variant] - W).max() < 1e-12 * scale

    one = found.W[0].nbytes
    chunk = next(n for n in (8, 4, 2, 1) if n == 1 or n * one <= IN_CACHE)
    buffer = zeros((chunk, *found.W.shape[:0:-1]))

    def ours():
        return _in_chunks(kernels, values, motion, buffer)

    def theirs():
        other.q, other.v, other.a = begun[0], 0 * other.v, 0 * other.a
        return other.run(motion, dt)

    other = Partitioned(model, {n: x[0] for n, x in values.items()})
    other.sample(motion.q[:, 0], motion.q_dot[:, 0], motion.q_ddot[:, 0], 0.0)
    begun = [other.q.copy()]
    unit = f"sample of {name}"
    against_each((ours, variants * SAMPLES), (theirs, SAMPLES), unit, must, 40)


#: µs per sample of loops and W together, which must be and is wanted: on a free core.
ORIENTATION = {"four-bar": " (0.25 us must, 0.12 wanted)"}


@pytest.mark.parametrize(
    ("name", "variants"), [("four-bar", 512), ("sla-suspension", 64), ("stewart-gough", 64)]
)
@pytest.mark.benchmark(group="closed loops and W, 64 samples")
def test_loops_against_the_plain_path(against, name, variants):
    model = prepare(load(name))
    full = excitation(model.mechanism, model.assembled.coordinates)
    motion = Motion(*(getattr(full, n)[..., :SAMPLES] for n in ("t", "q", "q_dot", "q_ddot")))
    values = nearby(model.mechanism, variants, 0.03, 1)
    kernels = Kernels(model)
    few = {n: x[:16] for n, x in values.items()}

    def ours():
        return kernels.observe(values, motion)

    def theirs():
        return [observe(model, few, motion) for _ in range(variants // 16)]

    fast, plain = ours(), theirs()[0]
    assert fast.closed.all()
    scale = np.abs(plain.W).max(axis=(1, 2), keepdims=True)
    scale = np.maximum(scale, 0.1 * scale.max())
    # Some hundred roundings on either side, times the loops' condition.
    assert (np.abs(fast.W[:16] - plain.W) / scale).max() < 1e-12
    unit = f"sample of {name}{ORIENTATION.get(name, '')}"
    against(ours, theirs, variants * motion.t.size, unit)
