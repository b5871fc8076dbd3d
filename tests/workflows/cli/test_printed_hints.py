"""What commands print to be typed, and words of numbers."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from basepar_core.api import load
from basepar_core.compiled.backend import way
from basepar_core.dynamics.closure import prepare
from basepar_core.files.mechanism_file import loads
from basepar_core.texts.counting import plural
from cluster.dry_run import preview
from cluster.places import Slurm, Ssh, problems
from cluster.ssh import command
from workflows.cli.main import parser
from workflows.report.study import polished_by
from workflows.views import flagged, hints, terminal


@pytest.mark.parametrize("folder", ["bin", "elsewhere"])
def test_the_printed_command_runs_where_the_user_is(folder, tmp_path, monkeypatch):
    """Also without a `basepar` beside the interpreter, and with none on PATH."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    if folder == "elsewhere":
        real = hints.os.access
        monkeypatch.setattr(
            hints.os, "access", lambda p, m: not str(p).endswith("basepar") and real(p, m)
        )
    line = f"{hints.typed('basepar')} list --json"
    ran = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert '"mechanisms"' in ran.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("report", "nowhere.zarr"),
        ("study", "watt-ii"),
        ("sweep", "mechanism.yaml"),
        ("show",),
        ("sweep", "four-bar", "--cluster", "tcp://10.0.0.1:8786"),
    ],
    ids=" ".join,
)
def test_messages_name_commands_that_can_be_typed(words, run, monkeypatch, tmp_path):
    """The packages say `basepar …`; there is none on this PATH."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mechanism.yaml").write_text(load("four-bar").source)
    said = run(*words).err
    programs = {one.split()[0] for one in re.findall(r"`([^`]+)`", said) if "basepar" in one}
    assert programs, said
    assert all(Path(one).exists() for one in programs), said


def test_texts_name_commands_between_backticks_only():
    """So that one function finds them. Pages and files are read elsewhere, by others."""
    commands = next(one for one in parser()._actions if isinstance(one.choices, dict)).choices
    bare = re.compile(rf"(?<!`)basepar ({'|'.join(commands)})\b")
    product, found = Path(__file__).parents[3], set()
    for room in ("basepar_core", "sweeps", "workflows", "cluster"):
        for path in (product / room).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            if not bare.search(source):
                continue
            tree = ast.parse(source)
            plain = {
                node.value.value
                for node in ast.walk(tree)
                if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            }
            texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
            texts = [text for text in texts if isinstance(text, str) and text not in plain]
            if any(bare.search(text) and not text.startswith("basepar ") for text in texts):
                found.add(path.name)  # those that start so are examples of --help
    assert found == {"page.py", "text.py"}


def test_around_prints_a_command_that_is_there(monkeypatch, tmp_path, capsys):
    import workflows.studies
    from workflows.cli import studies

    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    made = {
        "file": str(tmp_path / "a b.yaml"),
        "design": "variant 3",
        "candidates": 1,
        "mechanism": None,
    }
    monkeypatch.setattr(workflows.studies, "write_neighbourhood", lambda *_: made)
    given = {"store": "s", "output": None, "share": 0.1, "candidates": 1, "variant": None}
    options = SimpleNamespace(**given, json=False, trust_metrics=False, overwrite=False)
    file = terminal._Plain(file=sys.stdout, width=1000)
    monkeypatch.setattr(terminal, "out", file)
    assert studies._around(options) == 0
    said = capsys.readouterr().out
    assert "1 design around variant 3" in said
    line = next(one for one in said.splitlines() if " sweep " in one).strip()
    program = line.split(" sweep ")[0]
    assert Path(program).exists() or program.endswith("-m workflows.cli.main")
    words = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert Path(words[-1]).resolve() == tmp_path / "a b.yaml"


def test_previews_have_the_home_directory_spelled_out(monkeypatch):
    monkeypatch.setenv("HOME", "/home/who")
    script = preview(Slurm(workers=2, python="~/env/bin/python"))
    assert "~" not in script
    assert "/home/who/.basepar-RUN/key.pem" in script
    assert "exec /home/who/env/bin/python -P -m" in script


def test_a_hosts_home_directory_is_left_to_its_own_shell():
    place = Ssh(hosts=("h",), python="~/my env/bin/python")
    assert command(place, "h")[-1].startswith("~/'my env/bin/python' -P -m")


def test_profiles_have_no_unseen_characters():
    place = Slurm(workers=1, python="py\x1b[31m", setup=("a\nb", "c\x07"))
    assert [name for name, _ in problems(place)] == ["setup[1]", "python"]


def test_one_is_one():
    said = [plural(n, "worker") for n in (0, 1, 2000)]
    assert said == ["0 workers", "1 worker", "2,000 workers"]
    assert plural(1, "body", "bodies") == "1 body"


def test_why_sweeps_take_compiled_kernels_is_of_the_mechanism():
    text = load("four-bar").source
    alone = "\n".join(
        line for line in text.splitlines() if not line.startswith(("excitation", "cycle"))
    )
    assert way(prepare(load("four-bar"))).why.startswith("its motions stay within")
    assert way(prepare(loads(alone))).why.startswith("it states no motion")


@pytest.mark.parametrize(
    ("results", "said"),
    [
        (("torque_rms", "stroke(D)"), "Polished by exact gradients"),
        (
            ("torque_rms", "wear", "rank"),
            "Polished by gradients; those of wear, rank are differences",
        ),
        (("wear",), "Polished by gradients; all are differences"),
    ],
)
def test_reports_call_only_exact_gradients_exact(results, said):
    assert polished_by(SimpleNamespace(results=results)) == said


def test_arguments_are_flags_on_the_command_line_only(run):
    """The packages speak of arguments, so that Python users understand them too."""
    words = "Use `route=symbolic`, give `known=` or `estimate_noise=`; the key `rest` stays."
    said = "Use --route symbolic, give --known or --estimate-noise; the key `rest` stays."
    assert flagged(words) == said
    error = run("base", "sla-suspension", "--route", "product", "--json").json["error"]
    assert "--route symbolic" in error["message"]
    assert error["where"] == ["--route"]
    product = Path(__file__).parents[3]
    told = [
        path.name
        for room in ("basepar_core", "sweeps", "cluster")
        for path in (product / room).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"[ (`\"]--(with|known|route|columns|repair|store|noise|size|method)\b", line)
        and '"""' not in line
    ]
    # A comment on what --repair does; the command that jobs of a batch system give.
    assert told == ["statuses.py", "scripts.py", "scripts.py"]


#: Things that messages count.
THINGS = (
    "bodies|columns|combinations|coordinates|designs|drives|harmonics|joints|mistakes|models|numbers"
    "|parameters|places|rows|samples|symbols|torques|trials|variants|workers"
)


#: Rooms without an arrow to `texts` (tests/house.py bounds them), and numbers of known papers.
WITHOUT_TEXTS = {"checker", "reproduce", "base", "finite_field", "symbolic", "dynamics"}
WITHOUT_TEXTS |= {"variable_precision", "reduction"}
#: What is said only of none or of many, or is no number; `errors` have a floor below all texts.
NEVER_ONE = {
    "base.py": {"spectra.samples samples"},
    "chosen_design.py": {"count designs"},
    "contacts.py": {"size finite numbers", "size numbers"},
    "designs.py": {"it.rows.size variants"},
    "errors.py": {"len(mistakes) mistakes"},
    "evaluator.py": {"' and '.join(metrics) are torques"},
    "mechanisms.py": {"found.spectra.samples samples"},
    "results.py": {"found.variants.size variants"},
    "single_dof.py": {"facts['samples'] samples"},
    "space_reader.py": {"candidates rows"},
    "store.py": {"now['rate'] variants", "total variants"},
    "sweep_spec.py": {"reduction.effective_samples samples", "chunk variants"},
    "warnings.py": {"other.text these numbers"},
}


def _counts(tree):
    """Numbers of things in a file's messages that no `plural` says; after `of` they are many."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr):
            continue
        for before, value, after in zip(
            ["", *node.values], node.values, node.values[1:], strict=False
        ):
            if isinstance(value, ast.FormattedValue) and isinstance(after, ast.Constant):
                text = ast.unparse(value.value)
                found = re.match(rf" (\w+ )?({THINGS})\b", after.value)
                many = isinstance(before, ast.Constant) and before.value.endswith(("of ", "all "))
                if found and not (many or text.isupper() or "plural(" in text):
                    yield f"{text}{found[0]}"


def test_messages_count_by_one_function():
    """So that none says "1 workers"."""
    product, found = Path(__file__).parents[3], {}
    for room in ("basepar", "basepar_core", "sweeps", "workflows", "cluster"):
        for path in (product / room).rglob("*.py"):
            if not WITHOUT_TEXTS & {*path.parts}:
                for one in _counts(ast.parse(path.read_text(encoding="utf-8"))):
                    found.setdefault(path.name, set()).add(one)
    assert found == NEVER_ONE
