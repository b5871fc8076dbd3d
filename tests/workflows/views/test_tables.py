"""Tables of designs: nothing is shortened, however narrow the terminal is."""

import io

import pytest

from workflows.views import terminal

TITLES = ["variant", "path_error(toe) [m]", "torque_rms [N*m]", "clearance(rod,foot) [mm]"]
LINES = [["1024", "4.457e-06", "0.009406", "8.933"], ["258", "4.74e-06", "0.0094", "8.924"]]
LINES = [*LINES, ["64", "1.152e-05", "0.009087", "10.92"]]


def printed(monkeypatch, width, lines=LINES):
    said = io.StringIO()
    console = terminal._Plain(width=width, file=said)
    monkeypatch.setattr(terminal, "out", console)
    console.print(terminal.fitted(TITLES, lines))
    return [line.split() for line in said.getvalue().splitlines()]


def test_a_line_a_design_where_there_is_room(monkeypatch):
    assert printed(monkeypatch, 80)[1:] == LINES


@pytest.mark.parametrize(("width", "designs"), [(60, 3), (50, 2), (40, 1), (10, 1)])
def test_else_a_column_a_design_as_many_as_fit(monkeypatch, width, designs):
    lines = printed(monkeypatch, width)
    if width == 10:  # not even one: shown all the same, shortened
        assert len(lines) >= len(TITLES)
        return
    assert lines[0] == ["variant", *(line[0] for line in LINES[:designs])]
    if designs < len(LINES):
        assert lines.pop() == ["and", str(len(LINES) - designs), "more"]
    assert lines[-1][-designs:] == [line[3] for line in LINES[:designs]]


def test_a_study_that_has_no_design_yet(monkeypatch):
    assert len(printed(monkeypatch, 30, [])) >= 1
