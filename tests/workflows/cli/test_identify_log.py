"""`basepar identify` from a raw log, and the same in Python."""

import numpy as np
import pytest

import basepar
from tests.core.identification.logs import arm
from workflows.report.identified import residual_spectrum

WITH = ["--with", "viscous,coulomb,offset,rotor"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    (folder / "arm.yaml").write_text(arm.ARM)
    for seed in (1, 2):
        np.savetxt(folder / f"log{seed}.csv", arm.raw_log(seed)[0], delimiter=",", fmt="%.9g")
    return folder


def test_one_command_from_log_to_parameters(run, files):
    mechanism, one, two = (str(files / name) for name in ("arm.yaml", "log1.csv", "log2.csv"))
    kept = files / "mapping.yaml"
    gains = ",".join(map(str, arm.GAINS))
    first = run("identify", mechanism, one, "--gain", gains, *WITH, "--validate", two,
                "-o", str(kept), "--json").json  # fmt: skip
    assert first["torque_error"] < 0.01
    assert first["validation"]["torque_error"] < 0.01
    assert first["lowpass"] == 10
    assert first["log"]["mapping"]["tau.B"] == {"from": 7, "gain": -8.0}
    again = run("identify", mechanism, one, "--mapping", str(kept), *WITH, "--json").json
    assert again["parameters"] == first["parameters"]
    shown = run("identify", mechanism, one, "--gain", gains, *WITH, "--rows", "1:3000")
    assert shown.status == 0
    assert "columns of the log: t from 1 (unit ms)" in " ".join(shown.out.split())
    model = basepar.load(mechanism)
    found = basepar.identify(
        model, one, columns=WITH[1].split(","), gains=arm.GAINS, rows=(1, 3000)
    )
    assert found.mapping == kept.read_text()
    assert f"{found.torque_error:.2%} of its norm (A {found.torque_errors['A']:.2%}" in shown.out


def test_a_page_of_the_identification(run, files):
    mechanism, one, two = (str(files / name) for name in ("arm.yaml", "log1.csv", "log2.csv"))
    page = files / "found.html"
    said = run("identify", mechanism, one, "--gain", ",".join(map(str, arm.GAINS)), *WITH,
               "--validate", two, "-o", str(page), "--json").json  # fmt: skip
    assert said["output"] == str(page)
    text = page.read_text()
    assert f"{said['torque_error']:.2%}" in text
    assert f"{said['validation']['torque_error']:.2%}" in text
    assert text.count("<svg") == 2  # its own record, and the second one
    for section in ("training", "validation", "parameters", "diagnostics"):
        assert f'id="{section}"' in text
    for name in ("one.mx", "A.viscous", "B.rotor"):
        assert name in text
    assert "https://" not in text.replace("https://www.w3.org", "")


@pytest.mark.slow
def test_python_writes_the_same_page(run, files, tmp_path):
    mechanism, one = (str(files / name) for name in ("arm.yaml", "log1.csv"))
    page, again = tmp_path / "command.html", tmp_path / "python.html"
    assert run("identify", mechanism, one, "--gain", ",".join(map(str, arm.GAINS)), *WITH,
               "--essential", "6", "-o", str(page)).status == 0  # fmt: skip
    found = basepar.identify(
        mechanism, one, columns=WITH[1].split(","), gains=arm.GAINS, essential=6
    )
    assert len(found.values) == 6
    assert found.write(again) == again
    assert again.read_bytes() == page.read_bytes()
    assert found.write(tmp_path / "log.yaml").read_text() == found.mapping
    again.write_text("mine")
    for name, says in (("python.html", "may be yours"), ("found.pdf", "write FILE.html")):
        with pytest.raises(basepar.UsageError, match=says):
            found.write(tmp_path / name)
    assert found.write(again, overwrite=True).read_bytes() == page.read_bytes()


def test_how_many_essential_parameters(run, files):
    mechanism, log = str(files / "arm.yaml"), str(files / "log1.csv")
    words = ("identify", mechanism, log, "--gain", ",".join(map(str, arm.GAINS)), *WITH, "--json")
    by_bic = run(*words, "--essential").json
    assert 1 < len(by_bic["parameters"]) < len(by_bic["base"])
    assert len(run(*words, "--essential", "5").json["parameters"]) == 5
    assert run(*words, "--essential", "bic").json["parameters"] == by_bic["parameters"]
    held_out = run(*words, "--essential", "cv").json
    found = basepar.identify(
        mechanism, log, gains=arm.GAINS, columns=WITH[1].split(","), essential="cv"
    )
    assert list(found.values) == [one["parameter"] for one in held_out["parameters"]]
    for word in ("0", "-3", "many"):
        ran = run(*words, f"--essential={word}")
        assert ran.status == 2
        assert "no number from 1" in ran.out + ran.err
    with pytest.raises(basepar.UsageError, match="keeps no parameters"):
        basepar.identify(mechanism, log, gains=arm.GAINS, essential=0)


def test_the_spectrum_of_a_residual():
    """A sine of 7 Hz on uneven steps: its peak is there, and its power is that of the samples."""
    rng = np.random.default_rng(1)
    t = np.sort(rng.uniform(0, 40, 8000))
    f, density = residual_spectrum(t, 0.3 * np.sin(2 * np.pi * 7 * t))
    assert abs(f[np.argmax(density)] - 7) < 0.5
    # Interpolated linearly between uneven steps of 5 ms it loses a hundredth or two.
    assert (density**2).sum() * (f[1] - f[0]) == pytest.approx(0.3**2 / 2, rel=0.05)


def test_mistakes_in_what_is_said_of_a_log(run, files):
    mechanism, log = str(files / "arm.yaml"), str(files / "log1.csv")
    for more, says in (
        (["--rows", "4-7"], "write 355:5090"),
        (["--gain", "a,b"], "are no numbers"),
        (["--gain", "1"], "1 gain for 2 coordinates"),
        (["--mapping", str(files / "none.yaml")], "cannot be read"),
    ):
        ran = run("identify", mechanism, log, *more, "--json")
        assert ran.status in (1, 2)
        assert says in ran.json["error"]["message"]
