"""Studies of which no variant meets all constraints: what is told, and that doing it works."""

import re
import shlex

import pytest

STUDY = (
    "mechanism: four-bar\nvariables: {lx1: [0.2, 0.4], lx3: [1.0, 1.6]}\n"
    "objectives: {torque_rms: minimize}\nconstraints: [CONSTRAINTS]\ntrials: 8\n"
    "sampler: {kind: random}\n"
)


@pytest.fixture
def study(run, tmp_path, monkeypatch):
    """`study(constraints, …)`: write study.yaml and run it."""
    monkeypatch.chdir(tmp_path)

    def call(constraints, *more):
        text = STUDY.replace("CONSTRAINTS", constraints)
        (tmp_path / "study.yaml").write_text(text)
        return run("study", "study.yaml", "--workers", "1", *more)

    return call


def test_the_command_that_is_proposed_works(run, study, tmp_path):
    ran = study("'stroke(D) >= 170 deg', 100 mm <= lx1, lx1 >= lx3, condition <= 1")
    assert ran.status == 0
    told = ran.out[ran.out.index("No variant of 8 with results meets") :]
    assert re.search(r"stroke\(D\) >= 170 deg: the greatest is 4\d\.\d+ deg\n", told)
    assert re.search(r"lx1 >= lx3: the greatest lx1 - \(lx3\) is -0\.\d+ m\n", told)
    assert re.search(r"condition <= 1: the least is \d+\n", told)
    assert "100 mm" not in told
    assert "Correct study.yaml; study-study.zarr keeps the study as it was" in told
    assert "basepar report study-study.zarr" in told
    (proposed,) = re.findall(r"basepar (study study\.yaml .*)", told)
    assert proposed == "study study.yaml --store study-study-2.zarr"

    # The corrected file into the old store: the user's key, and the same command.
    wrong = study("'stroke(D) >= 17 deg', 100 mm <= lx1, lx1 <= lx3, condition <= 10000")
    assert wrong.status
    assert "\n  constraints[0]: stroke(D) >= 17 deg here, stroke(D) >= 170 deg there" in wrong.err
    assert "\nRun with --store study-study-2.zarr, or remove this one" in wrong.err
    again = run(*shlex.split(proposed), "--workers", "1")
    assert again.status == 0
    assert "basepar polish study-study-2.zarr" in again.out
    assert (tmp_path / "study-study-2.journal").exists()


def test_the_one_met_by_the_fewest(study):
    """Each by some, never both."""
    ran = study("lx1 < 0.27 m, lx1 > 0.27 m")
    (found,) = re.findall(r"by the fewest \((\d) of 8\):\n  (.*)", ran.out)
    assert 0 < int(found[0]) <= 4
    assert re.match(r"lx1 [<>] 0\.27 m: the (least|greatest) is 0\.\d+ m", found[1])


def test_a_database_keeps_the_study(study):
    ran = study("'stroke(D) >= 170 deg']\nstudy: {storage: 'sqlite:///all.db'}  # ")
    assert "another store, and another `study.name`: sqlite:///all.db keeps" in ran.out


def test_facts_for_programs(study):
    (found,) = study("'stroke(D) >= 170 deg'", "--json").json["unmet"]
    assert found["value"] < 1.0
    assert (found["end"], found["met"], found["of"], found["unit"]) == ("greatest", 0, 8, "deg")
    assert study("'stroke(D) >= 1 deg'", "--store", "b.zarr", "--json").json["unmet"] == []


def test_a_limit_in_another_unit(study):
    (found,) = study("'torque_peak <= 50 N*mm'", "--json").json["unmet"]
    assert (found["meant"], found["met"]) == ("torque_peak <= 50 N*m", 0)
    assert found["meant_met"] > 0
    ran = study("'lx3 - lx1 >= 700 m'", "--store", "b.zarr")
    assert re.search(r"; \d variants? would meet lx3 - lx1 >= 700 mm\n", ran.out)
    ran = study("'torque_peak <= 0.05 N*mm'", "--store", "c.zarr")
    assert "would meet" not in ran.out


def test_an_upper_limit_of_what_is_a_least(study):
    (found,) = study("'margin <= 1e-6'", "--json").json["unmet"]
    assert (found["meant"], found["meant_met"]) == ("margin >= 1e-6", found["of"])
    ran = study("'transmission_angle(B, C, D) < 1 deg'", "--store", "b.zarr")
    assert re.search(r"; \d variants? would meet transmission_angle\(B, C, D\) > 1 deg\n", ran.out)


def test_an_objective_that_no_variable_changes(run, study, tmp_path):
    ran = study("'stroke(D) >= 1 deg'", "--json")
    assert ran.json["unchanged"] == []
    text = (tmp_path / "study.yaml").read_text().replace("torque_rms: minimize", "Dx: minimize")
    (tmp_path / "still.yaml").write_text(text)
    ran = run("study", "still.yaml", "--workers", "1")
    assert "\nDx is the same in all variants: no variable changes it" in ran.out
