"""basepar onedof and basepar reproduce eksergian."""

import json

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
    assert said["counts"]["agrees"] == 14
