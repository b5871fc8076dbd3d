"""basepar onedof and basepar reproduce eksergian."""

import json

import numpy as np
import pytest

from workflows.cli import main


@pytest.mark.slow
def test_dwell_as_json(capsys):
    assert main(["onedof", "dwell", "--force", "S:rocker:y", "--dwell", "Q:0.01", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["coordinate"] == "A"
    assert said["way"]["closed"]
    assert said["regime"]["state"] == "turning"
    measures = said["regime"]["measures"]
    # The reference regime, printed to 12 digits; ours is asked for 1e-7 of the speed's range.
    assert measures["period"] == pytest.approx(0.26956803624, rel=1e-6)
    assert measures["peak(force S:rocker:y)"] == pytest.approx(150.4988872, rel=1e-4)
    assert measures["dwell(Q)"] > 3
    assert len(said["curves"]["q"]) == len(said["reactions"][0]["m_e1"])


@pytest.mark.slow
def test_bicycle_needs_its_speed(capsys, tmp_path):
    assert main(["onedof", "bicycle"]) == 0
    assert "--period" in capsys.readouterr().out
    table = tmp_path / "bicycle.csv"
    assert main(["onedof", "bicycle", "--period", "1", "-o", str(table)]) == 0
    header, first = table.read_text().splitlines()[:2]
    assert header == "q,t,speed,acceleration"
    assert float(first.split(",")[2]) == pytest.approx(6.2142566551, rel=1e-6)


@pytest.mark.slow
def test_from_standstill_into_the_regime(capsys, tmp_path):
    table = tmp_path / "start.csv"
    words = ["onedof", "dwell", "--moment", "A:crank", "--time", "0.3", "-o", str(table), "--json"]
    assert main(words) == 0
    said = json.loads(capsys.readouterr().out)
    ran, steady = said["run"], said["regime"]["motion"]
    assert ran["end"] == "time"
    assert ran["t"][-1] == pytest.approx(0.3)
    assert ran["speed"][0] == ran["currents"]["drive"][0] == 0
    # A turn multiplies deviations by 1e-9: what the second one does is the regime.
    later = [(q - 2 * np.pi, w) for q, w in zip(ran["q"], ran["speed"], strict=True) if q > 6.3]
    q, speed = np.array(later).T
    np.testing.assert_allclose(np.interp(q, steady["q"], steady["speed"]), speed, rtol=1e-5)
    # The crank's own bearing transmits the motor's moment too.
    moment = np.array(steady["reactions"]["moment A:crank:z"])
    flow = np.array(steady["currents"]["drive"])
    np.testing.assert_allclose(moment, 0.064 * 8 * flow, atol=1e-9)
    header, first = table.read_text().splitlines()[:2]
    assert header == "t,q,speed,current drive"
    assert [float(x) for x in first.split(",")] == [0, 0, 0, 0]


@pytest.mark.slow
def test_a_range_and_its_drawing(capsys, tmp_path):
    picture = tmp_path / "p.png"
    assert main(["onedof", "parallelogram", "-o", str(picture)]) == 0
    assert "dead points at" in capsys.readouterr().out
    assert picture.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["five-bar"], 1, "degrees of freedom"),
        (["dwell", "--dwell", "Q"], 2, "JOINT:BAND"),
        (["dwell", "--force", "S:rocker:z"], 2, "direction"),
        (["dwell", "-o", "x.pdf"], 2, "png"),
    ],
)
def test_mistakes(words, status, message, capsys):
    assert main(["onedof", *words]) == status
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_the_paper_again(capsys, tmp_path):
    assert main(["reproduce", "eksergian", "-o", str(tmp_path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["reproduced"]
    assert len(said["figures"]) == 4
    assert said["counts"]["agrees"] == 15
