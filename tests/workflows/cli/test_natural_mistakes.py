"""Mistakes in records and studies: what the message says, done literally, works the next time."""

import re

import pytest

NAMES = ["time,crank angle,motor torque", "Time [s],A_pos [deg],A_torque", "t,phi,tau"]


@pytest.mark.parametrize("header", NAMES)
def test_titles_of_a_record(run, tmp_path, header):
    lines = run("simulate", "four-bar", "-o", str(tmp_path / "good.csv"), "--json")
    assert lines.status == 0
    rows = (tmp_path / "good.csv").read_text().splitlines()
    first = rows[0].split(",")
    wanted = [first.index(name) for name in ("t", "A", "tau.A")]
    file = tmp_path / "run.csv"
    cells = (row.split(",") for row in rows[1:])
    file.write_text("\n".join([header, *(",".join(c[k] for k in wanted) for c in cells)]) + "\n")
    wrong = run("identify", "four-bar", str(file), "--json")
    assert wrong.status
    (said,) = re.findall(r"Say which they are: --columns (.*)$", wrong.json["error"]["message"])
    again = run("identify", "four-bar", str(file), "--columns", said.rstrip("."), "--json")
    told = again.json.get("error", {}).get("message", "")
    # The columns are found; an angle in rad under a title in deg is another mistake, and is told.
    assert again.status == 0 or "has no column" not in told


def test_a_regime_metric_without_motors(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the study puts its store and journal
    file = tmp_path / "study.yaml"
    file.write_text(
        "mechanism: four-bar\nvariables: {lx1: [0.2, 0.3]}\n"
        "objectives: {motor_torque_rms(M): minimize}\ntrials: 4\n"
    )
    message = run("study", str(file), "--json").json["error"]["message"]
    assert "there is no motor_torque_rms(M): the mechanism has no steady regime" in message
    assert "ask for torque_rms" in message
    file.write_text(file.read_text().replace("motor_torque_rms(M)", "torque_rms"))
    assert run("study", str(file), "--json", "--workers", "1").status == 0


def test_a_mechanism_where_a_study_is_needed(run):
    message = run("study", "slider-crank", "--json").json["error"]["message"]
    assert "begins with `mechanism: slider-crank` (docs/study-files.md)" in message
