"""What `basepar base` prints where a file's own numbers are special."""

import pytest

from tests.door.test_special_numbers import GEARED


@pytest.mark.slow
def test_expressions_that_hold_here_only_are_numbers(run, tmp_path):
    file = tmp_path / "geared.yaml"
    file.write_text(GEARED)
    found = run("base", str(file))
    assert "6 base parameters of 16" in found.out
    assert "with others the mechanism has 8" in " ".join(found.out.split())
    assert "rod.J + 0.0256*slider.m" in found.out
    assert "l**2" not in found.out
    assert "+ 0*wheel.mx" not in found.out
    assert "valid where" not in found.out


def test_of_others_expressions_stay(run):
    found = run("base", "four-bar")
    assert "crank.mx/lx1" in found.out
    assert "valid where none vanishes: lx1, lx2, lx3" in found.out
