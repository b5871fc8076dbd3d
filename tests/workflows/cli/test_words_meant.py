"""Words that were meant: hints for commands, flags and choices, and completion by a real bash."""

import shutil
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["swep", "four-bar"], "there is no 'swep'; did you mean 'sweep'? See `basepar --help`."),
        (
            ["reduce", "four-bar", "--critria", "bic"],
            "--critria; did you mean '--criteria'? See `basepar reduce --help`.",
        ),
        (["base", "four-bar", "--route", "symbolc"], "did you mean 'symbolic'?"),
        (["base", "four-bar", "--route", "xyz"], "there are symbolic, numeric, precise, product"),
        (
            ["show", "four-bar", "five-bar"],
            "five-bar. See `basepar show --help`.",
        ),
        (
            ["reduce", "four-bar", "--tolerance", "0.1", "--tolerance", "0.2"],
            "--tolerance: it is given twice, as 0.1 and as 0.2; leave one.",
        ),
    ],
)
def test_the_word_that_was_meant(run, words, said):
    found = run(*words, "--json")
    assert found.status == 2
    assert said in found.json["error"]["message"]


def test_a_list_may_be_given_in_pieces(run):
    """Each word of `P,…` counts, not only the last one's."""
    chosen = ["crank.m", "crank.J", "coupler.J", "rocker.m"]
    pieces = [word for name in chosen for word in ("--eliminate", name)]
    found = run("base", "four-bar", *pieces, "--json").json
    assert found == run("base", "four-bar", "--eliminate", ",".join(chosen), "--json").json
    assert set(found["eliminated"]) == set(chosen)


@pytest.mark.parametrize("words", [["--route", "numeric", "--route", "numeric"]])
def test_the_same_word_twice_is_no_mistake(run, words):
    assert run("base", "four-bar", *words).status == 0


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash is here")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["swe"], {"sweep"}),
        (["reduce", "four-bar", "--crit"], {"--criteria"}),
        (["base", "four-bar", "--route", "sym"], {"symbolic"}),
        (["show", "slider"], {"slider-crank", "slider.yaml"}),
        (["sweep", "four"], {"four-bar"}),
        (["report", "sto"], {"store.zarr"}),
        (["sweep", "four-bar", "--store", "sto"], {"store.zarr"}),
    ],
)
def test_bash_completes(tmp_path, typed, expected):
    (tmp_path / "slider.yaml").touch()
    (tmp_path / "store.zarr").mkdir()
    script = subprocess.run(
        [sys.executable, "-m", "workflows.cli.main", "completion", "bash"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    words = " ".join(f'"{word}"' for word in ["basepar", *typed])
    asked = f"""{script}
COMP_WORDS=({words}); COMP_CWORD={len(typed)}
_shtab_basepar basepar "{typed[-1]}" ""
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    ran = subprocess.run(
        ["bash", "--norc", "-c", asked], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert set(ran.stdout.split()) == expected, ran.stderr
