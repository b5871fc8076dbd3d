"""`basepar show` of the documentation's MacPherson strut, of which all joint values are zero."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[3] / "docs" / "mechanism-files.md").read_text(encoding="utf-8")
(STRUT,) = re.findall(r"```yaml\n(name: macpherson-strut\n.*?)```", PAGE, flags=re.DOTALL)
STATED = "coordinates: [A]\nassembly: {A: 0, S.1: 0, S.2: 0, T.1: 0, T.2: 0, U.1: 0, U.2: 0}"


def test_values_that_are_found_at_zero_need_no_statement(run, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(STRUT, encoding="utf-8")
    assert run("show", str(file), "--json").json["branch_found"] == []


def test_lengths_that_are_zero_up_to_rounding_agree(run, tmp_path):
    file, text = tmp_path / "mine.yaml", STRUT.replace("coordinates: [A]", STATED)
    assert STATED in text
    text = text.replace("la + sy", "la - sy").replace("[-sx, -sy, -sz]", "[-sx, sy, -sz]")
    file.write_text(text, encoding="utf-8")
    shown = run("show", str(file)).out
    assert "S.1: 0 m found" not in shown
    assert "-0 m" not in shown
