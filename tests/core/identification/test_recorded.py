"""Reduction to what a record is worth: motion and torque with noise, read from a file."""

import re

import numpy as np
import pytest

from basepar_core.dynamics.motion import cycle
from basepar_core.errors import MissingDataError, UsageError
from basepar_core.identification.measurement import Measurement
from basepar_core.identification.recorded_reduction import reduce_record
from tests.core.cycles import Case, case
from tests.oracles import elimination

SIGMA = np.array([0.05, 0.4])


def record(one: Case, seed: int) -> Measurement:
    """The five-bar's cycle with its rates, torques with noise, a few of them missing."""
    motion = cycle(one.model.mechanism, one.model.assembled.coordinates)
    noise = np.random.default_rng(seed).standard_normal(one.W.shape[1:3]) * SIGMA
    tau = (one.torque(one.phi)[0] + noise).T.copy()
    tau[1, 5:9] = np.nan
    rates = (motion.q_dot, motion.q_ddot)
    return Measurement("run.csv", motion.t, motion.q, rates, tau)


def test_a_record_is_reduced_as_by_brute_force():
    one = case("five-bar")
    here, there = record(one, 1), record(one, 2)
    found = reduce_record(
        one.model, one.base, here, second=there, samples="estimated", estimated=True
    )
    sigma = np.array([x for _, x in found.noise])
    # σ of some 115 degrees of freedom scatters by 7 %: four of it.
    np.testing.assert_allclose(sigma, SIGMA, rtol=0.28)
    assert 100 < found.samples <= 2 * 124
    assert (found.record, found.estimated) == ("run.csv", True)
    fine = np.isfinite(here.tau).all(axis=0)
    rows = (one.W_b[0][fine] / sigma[:, None]).reshape(2 * fine.sum(), -1)
    torque = (here.tau.T[fine] / sigma).ravel()
    removed, errors = elimination.backward(rows, torque)
    assert found.path.removed[0].tolist() == [-1, *removed]
    # W is observed along the record on its own: rounding times the condition of 2e3.
    np.testing.assert_allclose(found.path.torque_error[0], errors, rtol=1e-7)
    again = (one.W_b[0][fine] / sigma[:, None]).reshape(2 * fine.sum(), -1)
    other = (there.tau.T[fine] / sigma).ravel()
    for step in (0, 4, 8):
        left = [k for k in range(one.base.rank) if k not in removed[:step]]
        values = elimination.solve(rows[:, left], torque)
        error = np.linalg.norm(other - again[:, left] @ values) / np.linalg.norm(other)
        assert found.validation[step] == pytest.approx(error, rel=1e-7)
    document = found.document()
    assert (document["record"], document["noise_estimated"]) == ("run.csv", True)


def test_records_are_doubted_as_identification_doubts_them():
    """Notes of the record stay; residuals above the stated noise are said; the rest is refused."""
    from dataclasses import replace

    from basepar_core.identification.notes import Note

    one = case("five-bar")
    plain = replace(record(one, 1), notes=(Note("gaps", "said when it was read"),))
    found = reduce_record(one.model, one.base, plain).document()["notes"]
    # The file states 0.01 N m for both, a fifth and a fortieth of what is there.
    assert [note["kind"] for note in found] == ["gaps", "above noise", "above noise"]
    (times,) = re.findall(r"are (\S+) times", found[2]["text"])
    assert float(times) == pytest.approx(SIGMA[1] / 0.01, rel=0.28)  # four of its 7 %
    turned = replace(plain, tau=plain.tau * [[-1], [1]])
    with pytest.raises(UsageError, match=r"Turned round: tau\.A\?"):
        reduce_record(one.model, one.base, turned)
    few = replace(plain, tau=np.where(np.arange(plain.t.size) < 4, plain.tau, np.nan))
    with pytest.raises(UsageError, match="8 usable torques cannot judge 11 parameters"):
        reduce_record(one.model, one.base, few)


def test_stated_noise_weighs_and_none_is_refused():
    from dataclasses import replace

    one = case("five-bar")
    found = reduce_record(one.model, one.base, record(one, 3))
    assert [sigma for _, sigma in found.noise] == one.noise.tolist()
    assert not found.estimated
    silent = replace(one.model, mechanism=replace(one.model.mechanism, noise=()))
    with pytest.raises(MissingDataError, match="`estimate_noise=`"):
        reduce_record(silent, one.base, record(one, 3))
