"""Records: columns and units, and everything that can be wrong with them."""

import dataclasses
import re

import numpy as np
import pytest

from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics.motion import Motion
from basepar_core.errors import FileError, UsageError
from basepar_core.identification import foretold, units_check
from basepar_core.identification.compare import likeness
from basepar_core.identification.diagnostics import of_the_torque
from basepar_core.identification.measurement import read_measurement
from basepar_core.identification.motion_regressor import observe_motion
from basepar_core.identification.omitted import without_guesses
from basepar_core.identification.outliers import without_spikes
from basepar_core.identification.procedure import Choices, identify
from basepar_core.identification.simulated import simulate
from tests.core import identification_data as data
from tests.core.cycles import case


@pytest.fixture(scope="module")
def model():
    return data.slider_crank()


@pytest.fixture(scope="module")
def base(model):
    """Derived once."""
    return symbolic(model, data.ELIMINATED)


@pytest.fixture
def columns():
    one = data.columns()
    return {"t": one["t"], "A": one["q"], "tau.A": one["tau"]}


@pytest.fixture
def record(tmp_path, model):
    def write(columns, titles=None, **renamed):
        path = tmp_path / "run.csv"
        header = ",".join(titles or columns)
        rows = zip(*columns.values(), strict=True)
        text = "\n".join(",".join("" if x is None else str(x) for x in row) for row in rows)
        path.write_text(f"{header}\n{text}\n", encoding="utf-8")
        return read_measurement(path, model.mechanism, renamed or None)

    return write


def mistakes(caught):
    return {m.path: m.message for m in caught.value.mistakes}


def test_units_in_brackets(record, columns):
    plain = record(columns)
    other = {
        "t [s]": columns["t"],
        "A [deg]": np.rad2deg(columns["A"]),
        "tau.A [N*mm]": 1000 * columns["tau.A"],
    }
    found = record(other)
    np.testing.assert_allclose(found.q, plain.q, rtol=1e-14)
    np.testing.assert_allclose(found.tau, plain.tau, rtol=1e-12)


def test_all_mistakes_of_the_header_at_once(record, columns):
    with pytest.raises(FileError) as caught:
        record({"time": columns["t"], "A [kg]": columns["A"]}, **{"tau.B": "x"})
    found = mistakes(caught)
    assert "kg" in found["A"]
    assert "t, tau.A" in found["header"]
    assert "did you mean 'tau.A'" in found["tau.B"]


@pytest.mark.parametrize(
    ("change", "where", "says"),
    [
        (lambda c: c["t"].__setitem__(50, c["t"][49]), "row 52", "does not increase"),
        (lambda c: c["t"].__setitem__(50, np.nan), "row 52", "has no time"),
        (lambda c: c.update({k: v[:9] for k, v in c.items()}), "", "9 samples"),
        (lambda c: c["A"].__setitem__(slice(5, None), np.nan), "A", "5 samples only"),
        (lambda c: c["t"].__imul__(1e300), "t", "beyond 1e+15"),
        (lambda c: c["tau.A"].__imul__(1e-301), "tau.A", "nothing so small is measured"),
        (lambda c: c["t"].__imul__(1e-300), "t", "steps of"),
        (lambda c: c["A"].__setitem__(50, -1e300), "A", "row 52: -1e+300"),
        (lambda c: c["tau.A"].__setitem__(50, 1e200), "tau.A", "row 52: 1e+200"),
    ],
    ids=["time", "no time", "few", "hardly measured", "late", "weak", "fast", "far", "strong"],
)
def test_unusable_records(record, columns, change, where, says):
    change(columns)
    with pytest.raises(FileError) as caught:
        record(columns)
    assert says in mistakes(caught)[where]


def test_a_drive_that_is_no_coordinate_has_a_torque_about_one(tmp_path, columns, model):
    """Driven at the slider, the crank's column must not be taken for zero because it is absent."""
    path = tmp_path / "run.csv"
    rows = zip(columns["t"], columns["A"], strict=True)
    path.write_text("t,A\n" + "\n".join(f"{t},{q}" for t, q in rows), encoding="utf-8")
    driven = dataclasses.replace(model.mechanism, actuated=("D",))
    with pytest.raises(FileError, match=r"has no column tau\.A"):
        read_measurement(path, driven)


def test_words_among_the_numbers(record, columns):
    columns["A"] = [*columns["A"][:-1], "n/a"]
    with pytest.raises(FileError, match=r"row 1002: 'n/a' is no number"):
        record(columns)


def test_rates_in_another_unit_than_positions(record, columns):
    with pytest.raises(FileError, match="57"):
        record({**columns, "A'": np.rad2deg(data.columns()["qd"])})


def test_missing_samples_and_gaps_are_left_out_and_said(record, columns, model, base):
    columns["tau.A"][200:210] = np.nan
    keep = np.r_[0:500, 520:1001]
    found = record({name: x[keep] for name, x in columns.items()})
    assert {note.kind for note in found.notes} == {"missing", "gaps"}
    result = identify(model, found, base=base)
    assert {"missing", "gaps"} <= {note.kind for note in result.notes}
    for name, value in zip(result.names, result.estimate.values, strict=True):
        assert value == pytest.approx(data.BASE[name], abs=1e-4)  # torque noise alone gives 5e-4


def test_clipped_torque_is_left_out(record, columns, model):
    limit = 0.6 * np.abs(columns["tau.A"]).max()
    columns["tau.A"] = np.clip(columns["tau.A"], -limit, limit)
    found = record(columns)
    assert "saturation" in {note.kind for note in found.notes}
    inside = np.abs(columns["tau.A"]) < limit
    np.testing.assert_array_equal(np.isfinite(found.tau[0]), inside)


def test_constant_torque_with_a_hole_is_not_clipped(record, columns):
    columns["tau.A"][:] = 2.5
    columns["tau.A"][300] = np.nan
    found = record(columns)
    assert {note.kind for note in found.notes} == {"missing"}
    assert np.isfinite(found.tau[0]).sum() == columns["t"].size - 1


@pytest.mark.parametrize(
    ("column", "factor", "says"),
    [
        ("A", 180 / np.pi, "degrees where radians"),
        pytest.param("t", 1e3, "milliseconds where seconds", marks=pytest.mark.slow),
        ("tau.A", 1e3, r"1e\+03 times"),
        ("tau.A", -1, r"Turned round: tau\.A\?"),
        ("A", -1, r"Turned round: A\?"),
    ],
)
def test_wrong_units_are_recognised_by_the_inertias(
    record, columns, model, column, factor, says, base
):
    columns = {name: x[:300] for name, x in columns.items()}  # 2.4 of 8 s
    columns[column] = factor * columns[column]
    with pytest.raises(UsageError, match=says):
        identify(model, record(columns), base=base)


def test_degrees_are_told_before_they_are_followed(model, columns, monkeypatch):
    """A long travel: refused by its start in degrees, and left alone where it is in radians."""
    tried = []

    def told(model, motion, *more):
        tried.append(np.ptp(motion.q))
        return observe_motion(model, motion, *more)

    monkeypatch.setattr(foretold, "observe_motion", told)
    t = np.linspace(0, 8, 2000)
    swing = np.sin(np.outer([3, 5], t))
    q = 10 * t + swing[0] + 0.3 * swing[1]
    v, a = np.gradient(q, t), np.gradient(np.gradient(q, t), t)
    motion = Motion(t, q[None], v[None], a[None])
    start = Motion(t[:300], *(x[None, :300] for x in (q, v, a)))
    phi = model.mechanism.inertial_parameters(model.mechanism.nominal)
    tau = np.full((1, 2000), np.nan)
    tau[:, :300] = (observe_motion(model, start).W[0] @ phi).T
    units_check.check_reach(model, motion, tau)
    wrong = Motion(t[:300], *(np.rad2deg(x[None, :300]) for x in (q, v, a)))
    with pytest.raises(UsageError, match="degrees where radians"):
        units_check.check_reach(model, wrong, tau[:, :300])
    assert max(tried) < 60  # rad, of 660: the start, and the motion in degrees


def test_a_motion_that_says_little(record, columns, model, base):
    t = columns["t"]
    still = {**columns, "A": 0 * t + 0.3}
    with pytest.raises(UsageError, match="does not move"):
        identify(model, record(still), base=base)
    creeping = {**columns, "A": 0.3 + 1e-9 * t, "A'": 0 * t + 1e-9, "A''": 0 * t}
    with pytest.raises(UsageError, match="does not tell"):
        identify(model, record(creeping), base=base)


def test_fewer_rows_than_parameters(record, columns, model, base):
    few = {name: x[:40] for name, x in columns.items()}
    few["tau.A"] = np.where(np.arange(40) % 10 == 0, few["tau.A"], np.nan)
    with pytest.raises(UsageError, match="usable rows cannot determine"):
        identify(model, record(few), base=base)


def test_an_angle_that_wraps_is_joined(record, columns):
    q = columns["A"] + np.linspace(0, 20, columns["A"].size)
    q[300] = np.nan
    wrapped = {**columns, "A": np.mod(q, 2 * np.pi)}
    found = record(wrapped)
    joined = found.q[0] - q
    np.testing.assert_allclose(joined[np.isfinite(q)], joined[0], atol=1e-12)
    assert "wrapped" in {note.kind for note in found.notes}
    # Joint travel in metres has no turns; and what is coarse is not taken for a wrap.
    np.testing.assert_array_equal(record(columns).q[0], columns["A"])


def test_joined_wraps_and_spikes_do_not_contradict_given_rates(record, columns):
    """Rates of the motion that was, beside an angle that wraps and one sample 0.5 rad off."""
    one, pace = data.columns(), 20 / columns["t"][-1]
    q = columns["A"] + pace * columns["t"]
    given = {**columns, "A'": one["qd"] + pace, "A''": one["qdd"]}
    wrapped = record({**given, "A": np.mod(q, 2 * np.pi)})
    assert [note.kind for note in wrapped.notes] == ["wrapped"]
    spiked = record({**given, "A": q + 0.5 * (np.arange(q.size) == 500)})
    assert {note.kind for note in spiked.notes} == {"spikes", "missing"}
    for found in (wrapped, spiked):
        np.testing.assert_array_equal(found.rates[0][0], given["A'"])
    for factor in (180 / np.pi, -1):
        with pytest.raises(FileError, match="wrong unit, sign or column"):
            record({**given, "A": np.mod(q, 2 * np.pi), "A'": factor * given["A'"]})


def test_an_encoder_that_flickers_by_a_count(record):
    """2048 counts a turn at 1 kHz, slow, 0.1 count of noise; differences are 30 times the rate."""
    count, rng, t = 2 * np.pi / 2048, np.random.default_rng(1), np.arange(10_000) / 1000
    w = 2 * np.pi * 0.02
    q = count * np.round(np.sin(w * t) / count + 0.1 * rng.standard_normal(t.size))
    rates = {"A'": w * np.cos(w * t), "A''": -(w**2) * np.sin(w * t)}
    columns = {"t": t, "A": q, "tau.A": rng.standard_normal(t.size), **rates}
    found = record(columns)
    np.testing.assert_array_equal(found.q[0], q)
    assert not found.notes
    for factor in (180 / np.pi, -1):
        with pytest.raises(FileError, match="wrong unit, sign or column"):
            record({**columns, "A'": factor * rates["A'"]})
    # Ten counts are far off still; so too where the same count differs in its last digit.
    bad = q + 10 * count * (np.arange(t.size) == 5000)
    for last in (0.0, 2.0**-52):
        gone = np.isnan(without_spikes("A", bad + last * rng.integers(-1, 2, t.size), []))
        np.testing.assert_array_equal(np.flatnonzero(gone), [5000])


def test_spikes_are_left_out_and_nothing_else():
    """Ten samples off by a thousand deviations; none among 10⁵, with noise or without."""
    rng, t = np.random.default_rng(3), np.linspace(0, 50, 100_000)
    for noise in (0.0, 1e-3):
        q = np.sin(7 * t) + noise * rng.standard_normal(t.size)
        notes = []
        np.testing.assert_array_equal(without_spikes("A", q, notes), q)
        assert not notes
        places = rng.choice(np.arange(10, t.size - 10, 50), 10, replace=False)
        bad = q.copy()
        bad[places] += 1
        np.testing.assert_array_equal(
            np.flatnonzero(np.isnan(without_spikes("A", bad, notes))), np.sort(places)
        )
        assert [note.kind for note in notes] == ["spikes"]


def test_torque_that_is_not_there(record, columns, model, base):
    with pytest.raises(FileError, match=r"tau\.A: was not measured"):
        record({**columns, "tau.A": np.full_like(columns["t"], np.nan)})
    with pytest.raises(UsageError, match="zero or missing in every sample"):
        identify(model, record({**columns, "tau.A": 0 * columns["t"]}), base=base)


def test_other_separators_and_half_of_the_rates(tmp_path, record, columns, model):
    path = tmp_path / "semicolons.csv"
    path.write_text("t;A;tau.A\n0;1;2\n", encoding="utf-8")
    with pytest.raises(FileError, match="separated by commas, not by ';'"):
        read_measurement(path, model.mechanism)
    found = record({**columns, "A'": data.columns()["qd"]})
    assert found.rates is None
    assert [note.kind for note in found.notes] == ["rates"]


@pytest.mark.slow
def test_what_a_record_is_told_apart_by(record, columns, model, base):
    """Notes: a row far out, the zero of the angle, a constant speed; none without these."""
    kinds = {"outliers", "unlike the file", "unexciting", "offset"}
    columns = {name: x[:300] for name, x in columns.items()}
    assert not kinds & {n.kind for n in identify(model, record(columns), base=base).notes}
    far = {**columns, "tau.A": columns["tau.A"].copy()}
    far["tau.A"][150] += 0.3
    assert "outliers" in {n.kind for n in identify(model, record(far), base=base).notes}
    robust = identify(model, record(far), base=base, choices=Choices(method="irls"))
    assert {n.kind for n in robust.notes} & kinds == {"outliers"}
    assert robust.training.relative_error < 0.01  # the row counts 1.3 σ, and no more
    turned = {**columns, "A": columns["A"] + 0.5}
    (zero,) = (n for n in identify(model, record(turned), base=base).notes if n.kind == "offset")
    assert float(re.search(r"with (\S+) deg to A", zero.text)[1]) == pytest.approx(-28.65, abs=0.5)
    # One coordinate's sign among several: the small torque of a five-bar's second drive.
    five = case("five-bar")
    torque = five.torque(five.phi)[0].T * [[1.0], [-0.01]]
    found = likeness(five.model.mechanism, five.base, five.W[0], np.zeros(five.base.rank), torque)
    np.testing.assert_allclose(found.each, [1, -1], rtol=1e-12)
    np.testing.assert_allclose(found.factors, [1, -0.01], rtol=1e-12)
    (note,) = of_the_torque(five.model.mechanism, 0.0, found._replace(overall=1.0), np.zeros(2))
    assert (note.kind, note.text[:5]) == ("sign", "tau.E")
    # The second drive measured at its motor, before a gear of 50.
    scaled = found._replace(overall=1.0, each=np.ones(2), factors=np.array([1.0, 1 / 50]))
    (note,) = of_the_torque(five.model.mechanism, 0.0, scaled, np.zeros(2))
    assert (note.kind, note.text[:5]) == ("scale", "tau.E")
    mixed = of_the_torque(five.model.mechanism, 0.5, scaled._replace(overall=0.6), np.zeros(2))
    assert [note.kind for note in without_guesses([], mixed)] == ["scale"]
    assert "a gear of 50 (multiply the column by it)?" in note.text
    for factor, told in {
        1 / 698: "a mass of the file in g that is written as kg (0.001 times)? or",
        1 / 250: "is it measured on the other side of a gear of 250",
        1 / 400: "a mass, a length or the column in another unit (g, mm, N mm), or",
        np.pi / 180 * 1.01: "is the motion in deg (0.0175 times)? or",
        1020.0: "is the column in N mm, or a mass",
    }.items():
        scaled = found._replace(overall=1.0, each=np.ones(2), factors=np.array([1.0, factor]))
        (note,) = of_the_torque(five.model.mechanism, 0.0, scaled, np.zeros(2))
        assert told in note.text
    # At constant speed the crank's inertia does nothing; a millionth of noise on the torque.
    t = np.linspace(0, 1, 400)
    motion = Motion(t, 2 * np.pi * t[None], np.full((1, 400), 2 * np.pi), np.zeros((1, 400)))
    made = simulate(model, motion, np.array([1e-6]), np.array([1e-6]))
    found = identify(model, made, base=base)
    assert any("next to nothing about crank.J:" in n.text for n in found.notes)
