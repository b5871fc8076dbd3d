"""No text of a file becomes more than text: every writer with texts that try."""

import builtins
import shutil

import pytest

from tests import hostile, hostile_writers
from workflows.export.trial_run import ExportError, seconds_of


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("writer", hostile_writers.WRITERS)
@pytest.mark.filterwarnings("ignore:Glyph")
def test_texts_stay_texts(writer, every, tmp_path):
    write, texts = hostile_writers.WRITERS[writer], hostile.TEXTS[::every]
    assert {text: found for text in texts if (found := write(text, tmp_path))} == {}


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("code", [hostile_writers.base_code, hostile_writers.torque_code])
def test_exported_c_compiles_whatever_the_name(code):
    texts = [text for text in hostile.TEXTS if set(text) & set("*/?\\\n\u202e")]
    assert {text: found for text in texts if (found := hostile.compiles(code(text, "c")))} == {}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Glyph")
def test_drawings_have_no_formulas_in_names(tmp_path):
    for text in ("$x$ $\\frac{$", "$", "a$b$", "\\$x$", "\x1b[31m"):
        assert hostile_writers.drawings(text, tmp_path) == []


START = "START = []\n"


def test_exported_code_runs_in_a_process_of_its_own():
    text = "import builtins\nbuiltins.OWNED = True\n" + START + "def torque(*a, state): pass\n"
    assert seconds_of(text, [([0.0], [0.0], [0.0])], 2) >= 0
    assert not hasattr(builtins, "OWNED")


def test_exported_code_sees_no_environment_of_the_user(monkeypatch):
    monkeypatch.setenv("BASEPAR_TEST_SECRET", "secret")
    text = START + "import os\nassert 'BASEPAR_TEST_SECRET' not in os.environ\n"
    text += "def torque(*a, state): pass\n"
    assert seconds_of(text, [([0.0], [0.0], [0.0])], 1) >= 0


@pytest.mark.parametrize(
    ("body", "patience", "said"),
    [("while True: pass", 1.0, "within 1 s"), ("raise ValueError('why')", 300.0, "why")],
)
def test_exported_code_that_does_not_end_or_fails_is_reported(body, patience, said):
    text = START + f"def torque(*a, state):\n    {body}\n"
    with pytest.raises(ExportError, match=said):
        seconds_of(text, [([0.0], [0.0], [0.0])], 1, patience=patience)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Glyph")
def test_a_sample_of_the_campaign():
    from tests.campaigns.hostile_texts import run

    found, lines = run(12, seed=5)
    assert lines == []
    assert found["cases"] > 1000
