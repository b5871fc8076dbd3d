"""Records made of raw logs, and identified: the parameters that were simulated."""

from dataclasses import replace

import numpy as np
import pytest

from basepar_core.dynamics import prepare
from basepar_core.errors import FileError, UsageError
from basepar_core.identification import Choices, declared, identify
from basepar_core.identification.logs import Channel, LogMapping, propose, read_log, read_tables

from . import arm

LAWS = ("viscous", "coulomb", "offset", "rotor")


def log_of(numbers):
    return read_tables({f"column {k}": column for k, column in enumerate(numbers.T)})


@pytest.fixture(scope="module")
def model():
    return prepare(arm.mechanism())


def test_a_look_at_the_log_finds_its_columns(model):
    tables = log_of(arm.raw_log()[0])
    found = propose(tables, model.mechanism, gains=arm.GAINS).mapping
    assert found.channels == {
        "t": Channel(1, unit="ms"),
        "A": Channel(2, unit="deg"),
        "B": Channel(3, unit="deg"),
        "tau.A": Channel(6, gain=12.0),
        "tau.B": Channel(7, gain=-8.0),
    }
    with pytest.raises(FileError, match="no column is a clock") as caught:
        propose(log_of(tables[0].numbers[:, 1:3]), model.mechanism, gains=[1.0])
    assert len(caught.value.mistakes) == 3  # the blocks, and the gains, too


def test_titles_say_more_than_places(model):
    t = np.arange(40) * 0.01
    columns = {"u2": t, "stamp": t, "tau_1": t, "tau_2": t, "q[0]": t, "q[1]": t, "x": 0 * t}
    found = propose(read_tables(columns), model.mechanism).mapping
    places = {name: one.column for name, one in found.channels.items()}
    assert places == {"t": 1, "A": 5, "B": 6, "tau.A": 3, "tau.B": 4}


def test_repeats_and_standstill_are_left_out(model):
    numbers, moving = arm.raw_log()
    tables = log_of(numbers)
    record = read_log(tables, propose(tables, model.mechanism).mapping, model.mechanism)
    assert record.t.size == moving.size
    used = np.isfinite(record.tau)
    assert not used[:, record.t - record.t[0] < 1.4].any()  # the arm starts after 1.5 s
    # Turning points stay; at either end the envelope is below a hundredth for half a second, 6 %.
    assert used[:, moving].mean() > 0.92
    kinds = {note.kind for note in record.notes}
    assert {"repeated", "standstill"} <= kinds


def test_parameters_of_a_raw_log_are_those_simulated(model):
    mapping = None
    records = []
    for seed in (1, 2):
        tables = log_of(arm.raw_log(seed)[0])
        mapping = mapping or propose(tables, model.mechanism, gains=arm.GAINS).mapping
        records.append(read_log(tables, mapping, model.mechanism))
    columns = declared(model.mechanism, LAWS)
    found = identify(
        model, records[0], columns=columns, second=records[1], choices=Choices(lowpass=10.0)
    )
    assert found.training.error < 0.01
    assert found.validation.error < 0.01
    # The first rotor and one.J act alike, of the second two.J: sums are identified.
    expected = {
        "one.J": arm.BASE["one.J"] + arm.ROTOR[0],
        "two.J": arm.J2,
        "B.rotor": arm.ROTOR[1],
        "one.mx": arm.BASE["one.mx"],
        "two.mx": arm.C,
    }
    for k, name in enumerate("AB"):
        expected |= {f"{name}.viscous": arm.VISCOUS[k], f"{name}.coulomb": arm.COULOMB[k]}
        expected[f"{name}.offset"] = arm.OFFSET[k]
    values = dict(zip(found.names, found.estimate.values, strict=True))
    # Noise of 0.02 N m over a thousand rows leaves 10⁻³ of the torque's 3 N m.
    for name, value in expected.items():
        assert values[name] == pytest.approx(value, abs=0.01), name


def test_errors_are_unweighted_and_of_each_joint(model):
    tables = log_of(arm.raw_log()[0])
    mapping = propose(tables, model.mechanism, gains=arm.GAINS).mapping
    record = read_log(tables, mapping, model.mechanism)
    found = identify(
        model, record, columns=declared(model.mechanism, LAWS), choices=Choices(lowpass=5.0)
    )
    tau, rest = found.training.measured, found.training.measured - found.training.predicted
    there = np.isfinite(tau)
    whole = np.linalg.norm(rest[there]) / np.linalg.norm(tau[there])
    assert found.training.error == pytest.approx(whole, rel=1e-12)
    second = np.linalg.norm(rest[1][there[1]]) / np.linalg.norm(tau[1][there[1]])
    assert found.training.errors[1] == pytest.approx(second, rel=1e-12)
    assert found.training.unfiltered_error > found.training.error  # the noise is above 5 Hz


def test_motors_that_turn_several_joints(model):
    """Friction of the second motor, which the first joint turns too, from motor-side values."""
    R = np.array([[32.0, 0.0], [16.0, 16.0]])
    t = np.arange(3000) * 0.005
    q, v, a = arm.motion(t, t[-1], 5)
    extra = 0.4 * np.sign(v[0] + v[1])
    tau = arm.torque(q, v, a, rotors=np.zeros(2)) + extra
    motors = np.linalg.inv(R).T @ tau
    np.testing.assert_allclose((motors * (R @ v)).sum(axis=0), (tau * v).sum(axis=0), atol=1e-12)
    channels = {"A": Channel(1, offset=0.3), "B": Channel(2)}
    channels |= {"tau.A": Channel(3), "tau.B": Channel(4)}
    inverse = tuple(map(tuple, np.linalg.inv(R).tolist()))
    mapping = LogMapping(channels, 200.0, inverse)
    tables = log_of(np.vstack([R @ (q - [[0.3], [0.0]]), motors]).T)
    record = read_log(tables, mapping, model.mechanism)
    np.testing.assert_allclose(record.q, q, atol=1e-12)
    words = ["viscous", "coulomb", "offset", "motor.coulomb"]
    columns = declared(model.mechanism, words, mapping.matrix)
    assert "B_motor.coulomb" in [one.name for one in columns]
    assert len(columns) == 7  # the first motor is its joint's own
    found = identify(model, record, columns=columns, choices=Choices(lowpass=10.0))
    values = dict(zip(found.names, found.estimate.values, strict=True))
    # Signs that change between samples: 1 in 100 of the friction.
    assert values["B_motor.coulomb"] == pytest.approx(0.4, abs=0.01)
    assert values["A.coulomb"] == pytest.approx(arm.COULOMB[0], abs=0.02)


def test_runs_are_joined_without_a_filter_across(model):
    mapping, parts = None, []
    for seed in (1, 2):
        (table,) = log_of(arm.raw_log(seed, duration=8.0)[0])
        mapping = mapping or propose([table], model.mechanism, gains=arm.GAINS).mapping
        parts.append(table)
    record = read_log(parts, mapping, model.mechanism)
    assert record.starts == (len(read_log(parts[:1], mapping, model.mechanism).t),)
    found = identify(
        model, record, columns=declared(model.mechanism, LAWS), choices=Choices(lowpass=10.0)
    )
    assert found.training.error < 0.01


def test_fast_logs_are_averaged_and_rows_are_cut(model):
    (table,) = log_of(arm.raw_log(duration=4.0)[0])
    mapping = propose([table], model.mechanism).mapping
    fast = replace(mapping, channels={k: x for k, x in mapping.channels.items() if k != "t"})
    record = read_log([table], replace(fast, rate=5000.0), model.mechanism, (1, 1001))
    assert 95 <= record.t.size <= 100  # blocks of ten, and repeats less
    assert np.median(np.diff(record.t)) == pytest.approx(2e-3, rel=0.1)
    with pytest.raises(UsageError, match="are no rows of"):
        read_log([table], mapping, model.mechanism, (1, 10**6))


def test_what_a_mapping_lacks_is_said_at_once(model):
    (table,) = log_of(arm.raw_log(duration=4.0)[0])
    with pytest.raises(FileError) as caught:
        read_log([table], LogMapping({"A": Channel(99), "B": Channel("b")}), model.mechanism)
    told = str(caught.value)
    for words in ("for tau.A, tau.B", "neither a column", "no column 99", "no column 'b'"):
        assert words in told
    backward = LogMapping(propose([table], model.mechanism).mapping.channels)
    with pytest.raises(FileError, match="time does not increase"):
        read_log([replace(table, numbers=table.numbers[::-1])], backward, model.mechanism)


@pytest.mark.parametrize("word", ["vicsous", "A.spin", "stribeck@fast", "C.viscous"])
def test_words_that_mean_no_column(model, word):
    with pytest.raises(UsageError, match=r"has no column|no speed"):
        declared(model.mechanism, [word])
