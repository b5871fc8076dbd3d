"""Commands that use inertias tell of those that no body has, and go on."""

import warnings

import pytest

from basepar_core.errors import BaseparWarning
from basepar_core.files import library_path

TOLD = "no body has the inertia of rocker: .* -0.98[0-9]* kg m²; .* write `central_inertia`"


@pytest.fixture
def rocker(tmp_path, monkeypatch):
    """A four-bar whose rocker has its central moment by the key of the origin's."""
    monkeypatch.chdir(tmp_path)
    text = library_path("four-bar").read_text(encoding="utf-8")
    assert "inertia: rho*lx3^3/3" in text
    (tmp_path / "odd.yaml").write_text(
        text.replace("inertia: rho*lx3^3/3", "inertia: rho*lx3^3/12"), encoding="utf-8"
    )
    return "odd.yaml"


@pytest.mark.parametrize(
    "command",
    [
        ("simulate", "-o", "record.csv"),
        ("reduce",),
        ("onedof",),
        ("animate",),
    ],
)
def test_before_results_that_inertias_enter(run, rocker, command):
    word, *more = command
    with pytest.warns(BaseparWarning, match=TOLD) as caught:
        assert run(word, rocker, *more).status == 0
    assert len(caught) == 1


def test_before_an_identification(run, rocker):
    assert run("simulate", "four-bar", "-o", "record.csv").status == 0
    with pytest.warns(BaseparWarning, match=TOLD):
        assert run("identify", rocker, "record.csv").status == 0


def test_once_by_show_and_never_by_base(run, rocker):
    with warnings.catch_warnings():
        warnings.simplefilter("error", BaseparWarning)
        assert run("show", rocker).out.count("no body has the inertia") == 1
        assert "no body" not in run("base", rocker).out


def test_a_study_names_it_before_and_in_the_end(run, rocker, tmp_path):
    (tmp_path / "best.yaml").write_text(
        f"mechanism: {rocker}\nvariables: {{lx1: [0.30, 0.31]}}\n"
        "objectives: {torque_rms: minimize}\ntrials: 2\nsampler: {kind: random}\n"
    )
    ran = run("study", "best.yaml", "--workers", "1", "--quiet")
    assert ran.err.count("no body has the inertia of rocker") == 1
    assert "If the warning above is right" in ran.out
    assert "basepar study best.yaml --store best-study-2.zarr" in ran.out
