"""Records: columns and units, and everything that can be wrong with them."""

import dataclasses

import numpy as np
import pytest

from basepar_core.errors import FileError, UsageError
from basepar_core.identification.identify import identify
from basepar_core.identification.measurement import read_measurement
from tests.core import identification_data as data


@pytest.fixture(scope="module")
def model():
    return data.slider_crank()


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
    ],
    ids=["time", "no time", "too few", "hardly measured"],
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


def test_missing_samples_and_gaps_are_left_out_and_said(record, columns, model):
    columns["tau.A"][200:210] = np.nan
    keep = np.r_[0:500, 520:1001]
    found = record({name: x[keep] for name, x in columns.items()})
    assert {note.kind for note in found.notes} == {"missing", "gaps"}
    result = identify(model, found, wanted=data.ELIMINATED)
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "factor", "says"),
    [
        ("A", 180 / np.pi, "degrees where radians"),
        ("t", 1e3, "milliseconds where seconds"),
        ("tau.A", 1e3, r"1e\+03 times"),
    ],
)
def test_wrong_units_are_recognised_by_the_inertias(record, columns, model, column, factor, says):
    columns[column] = factor * columns[column]
    with pytest.raises(UsageError, match=says):
        identify(model, record(columns), wanted=data.ELIMINATED)


def test_a_motion_that_says_little(record, columns, model):
    t = columns["t"]
    still = {**columns, "A": 0 * t + 0.3}
    with pytest.raises(UsageError, match="does not move"):
        identify(model, record(still), wanted=data.ELIMINATED)
    creeping = {**columns, "A": 0.3 + 1e-9 * t, "A'": 0 * t + 1e-9, "A''": 0 * t}
    with pytest.raises(UsageError, match="does not tell"):
        identify(model, record(creeping), wanted=data.ELIMINATED)


def test_fewer_rows_than_parameters(record, columns, model):
    few = {name: x[:40] for name, x in columns.items()}
    few["tau.A"] = np.where(np.arange(40) % 10 == 0, few["tau.A"], np.nan)
    with pytest.raises(UsageError, match="usable rows cannot determine"):
        identify(model, record(few), wanted=data.ELIMINATED)
