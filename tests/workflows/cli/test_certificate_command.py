"""`basepar base --certificate` and `basepar verify`."""

import json

import pytest

from basepar_core.certificate.checker.checking import digest


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    from workflows.cli.main import main

    file = tmp_path_factory.mktemp("made") / "slider.json"
    assert main(["base", "slider-crank", "--certificate", str(file), "--json"]) == 0
    return json.loads(file.read_text())


@pytest.fixture
def file(document, tmp_path):
    """The certificate in a file of its own."""
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(document))
    return path


def test_confirmed(run, file):
    ran = run("verify", str(file))
    assert ran.status == 0
    assert "rank ≥ 6: proved (this geometry and branch)" in ran.out
    assert (
        "rank ≤ 6: theorem (every geometry of the file where the null vectors stay independent)"
        in ran.out
    )


def test_confirmed_for_programs(run, file):
    ran = run("verify", str(file), "--json")
    assert ran.status == 0
    assert (ran.json["confirmed"], ran.json["rank"]) == (True, 6)
    assert ran.json["grade"] == "theorem"
    assert ran.json["mechanism"] == "slider-crank"
    assert [line["grade"] for line in ran.json["statements"]] == ["proved", "theorem"]


def test_bounds_are_confirmed_where_the_number_is_not(run, document, tmp_path):
    """A null vector withheld: 6 ≤ r ≤ 7 is true, and says no number."""
    loose = {**document, "grade": "numerical"}
    upper = {**document["at_most"]}
    upper |= {"vectors": upper["vectors"][:-1], "rank": upper["rank"] + 1}
    loose["at_most"] = upper
    loose["digest"] = digest(loose)
    path = tmp_path / "bounds.json"
    path.write_text(json.dumps(loose))
    ran = run("verify", str(path))
    assert ran.status == 0
    assert "two bounds of the number of base parameters" in ran.out
    assert "the number itself is not" in " ".join(ran.out.split())
    found = run("verify", str(path), "--json").json
    assert (found["confirmed"], found["rank"]) == (True, None)


def test_of_a_mechanism(run, file):
    assert run("verify", str(file), "--mechanism", "slider-crank").status == 0
    ran = run("verify", str(file), "--mechanism", "four-bar")
    assert ran.status == 1
    assert "not the text of 'four-bar'" in ran.err


SLIDE = """
name: slide
space: planar
gravity: [0, 0]
bodies: {block: {}}
joints: {A: {type: prismatic, connects: [ground, block], axis: [[1, 0], [1, 0]]}}
coordinates: [A]
assembly: {A: 0.1 m}
excitation: {kind: fourier, harmonics: 5, base_frequency: 0.2 Hz, amplitude: {A: 0.2 m},
             samples: 16, seed: 1}
"""


def test_exact_zeros_have_the_digits_of_the_precision(run, tmp_path):
    """W n is zero without any rounding here: 256 bits show that to 77 digits, not to 256."""
    mechanism, made = tmp_path / "slide.yaml", str(tmp_path / "slide.json")
    mechanism.write_text(SLIDE)
    assert run("base", str(mechanism), "--certificate", made).status == 0
    found = run("verify", made, "--json").json
    assert (found["bits"], found["null_vectors_vanish_to_digits"]) == (256, 77)


def test_rejected(run, file, document):
    document = json.loads(json.dumps(document))
    document["at_most"]["vectors"][1]["entries"] |= {"crank.m": "2"}
    document["digest"] = digest(document)
    file.write_text(json.dumps(document))
    ran = run("verify", str(file))
    assert ran.status == 1
    assert "rejected at at_most.vectors[1]" in ran.err
    ran = run("verify", str(file), "--json")
    assert ran.status == 1
    assert ran.json["error"]["kind"] == "certificate"
    assert ran.json["error"]["where"] == ["at_most.vectors[1]"]


def test_usage(run, tmp_path):
    assert run("verify", str(tmp_path / "none.json")).status == 2
    (tmp_path / "text.json").write_text("rank: 6")
    assert run("verify", str(tmp_path / "text.json")).status == 2
    made = str(tmp_path / "made.json")
    assert run("base", "four-bar", "--route", "numeric", "--certificate", made).status == 2
    ran = run("base", "four-bar", "--certificate", str(tmp_path / "none" / "made.json"), "--json")
    assert ran.status == 2
    assert "There is no directory" in ran.json["error"]["message"]


@pytest.mark.parametrize(
    ("text", "why"),
    [("[]", "not built like one"), ("null", "not built"), ("{}", "no 'mechanism'")],
)
def test_json_that_is_no_certificate(run, tmp_path, text, why):
    path = tmp_path / "other.json"
    path.write_text(text)
    ran = run("verify", str(path))
    assert ran.status == 1
    assert "it is no certificate" in ran.err
    assert why in ran.err


def test_further_columns_have_a_certificate_that_names_them(run, tmp_path):
    made = tmp_path / "made.json"
    ran = run("base", "slider-crank", "--with", "friction", "--certificate", str(made), "--json")
    assert ran.status == 0
    said = run("verify", str(made), "--mechanism", "slider-crank").out
    assert "with A.viscous, A.coulomb, D.viscous, D.coulomb beside the inertial" in said
    # Six inertial ones, and these four.
    assert "rank ≥ 10: proved" in said
