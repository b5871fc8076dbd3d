"""Two pins of the same two bodies in the plane: the body that is meant, where one fits."""

import warnings

import pytest

from basepar_core.errors import BaseparWarning, FileError
from basepar_core.files import library_names, library_path, loads

FOUR_BAR = library_path("four-bar").read_text(encoding="utf-8")
DRAWN = "assembly: {points: {B: [0.25 m, 0.17 m], C: [1.2 m, 1.3 m]}}"
ASSEMBLY = "assembly: {A: 34 deg, B: 91.3 deg, C: -203.8 deg}"


def renamed(joint, bodies, text=FOUR_BAR):
    """The file with other bodies at one of its joints, and the number of that line."""
    lines = text.splitlines()
    (line,) = (k for k, one in enumerate(lines) if one.startswith(f"  {joint}: {{type"))
    start, end = lines[line].index("connects: [") + 11, lines[line].index("]")
    lines[line] = lines[line][:start] + bodies + lines[line][end:]
    return "\n".join(lines), line + 1


@pytest.mark.parametrize("assembly", [ASSEMBLY, DRAWN], ids=["values", "drawn"])
@pytest.mark.parametrize(
    ("joint", "wrong", "named", "first", "pair", "meant"),
    [
        ("D", "coupler, rocker", "D", "C", "coupler and rocker", "ground, rocker"),
        ("C", "ground, rocker", "D", "C", "ground and rocker", "coupler, rocker"),
        ("B", "ground, crank", "B", "A", "ground and crank", "coupler, crank"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*stand at one point")
def test_the_body_that_is_meant(assembly, joint, wrong, named, first, pair, meant):
    text, _ = renamed(joint, wrong, FOUR_BAR.replace(ASSEMBLY, assembly))
    _, line = renamed(named, wrong, text)
    with pytest.raises(FileError) as found:
        loads(text)
    (mistake,) = found.value.mistakes
    assert (mistake.path, mistake.line) == (f"joints.{named}.connects", line)
    assert mistake.message == (
        f"{first} already joins {pair}, and two pins make them one body: is [{meant}] meant "
        "in one of the joints?"
    )


def test_where_no_body_fits():
    """A warning: with a bar that hangs loosely besides, no one name makes all well."""
    text, line = renamed("D", "coupler, rocker")
    text = text.replace("bodies:\n", "bodies:\n  hand: {}\n").replace(
        "joints:\n", "joints:\n  H: {type: revolute, connects: [rocker, hand]}\n"
    )
    told = rf"^joints.D.connects \(line {line + 2}\): C already joins coupler and rocker, and two "
    with pytest.warns(BaseparWarning, match=told + r"pins make them one body\.$"):
        loads(text)


@pytest.mark.parametrize("name", library_names())
def test_no_false_alarm(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error", BaseparWarning)
        loads(library_path(name).read_text(encoding="utf-8"))
