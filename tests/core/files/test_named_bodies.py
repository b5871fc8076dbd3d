"""Names of bodies that are not there: a close one, or all there are and which lacks a joint."""

import pytest

from basepar_core.errors import FileError
from basepar_core.files import library_path, loads

FOUR_BAR = library_path("four-bar").read_text(encoding="utf-8")
ALL = "; there are ground, crank, coupler, rocker"


@pytest.mark.parametrize(
    ("old", "new", "word", "hint"),
    [
        ("[crank, coupler]", "[crank, rod]", "rod", f"{ALL}; coupler has one joint only"),
        ("[ground, crank]", "[ground, bar]", "bar", f"{ALL}; crank has one joint only"),
        ("[ground, rocker]", "[ground, mound]", "mound", f"{ALL}; rocker has one joint only"),
        ("[ground, rocker]", "[grund, rocker]", "grund", "; did you mean 'ground'?"),
        ("[ground, rocker]", "[world, rocker]", "world", "; did you mean 'ground'?"),
        ("[ground, rocker]", "[ground, rock]", "rock", "; did you mean 'rocker'?"),
        ("[crank, coupler]", "[crank, coup]", "coup", "; did you mean 'coupler'?"),
    ],
)
def test_what_may_be_meant(old, new, word, hint):
    with pytest.raises(FileError) as found:
        loads(FOUR_BAR.replace(old, new))
    (mistake,) = found.value.mistakes
    assert mistake.message == f"no body is named {word!r}{hint}"


def test_poses_and_points():
    """Elsewhere too, without a word on joints."""
    text = FOUR_BAR + "points: {P: {body: rod, at: [0, 0]}}\n"
    text = text.replace("assembly: {", "assembly: {bodies: {rod: {at: [0, 0], rotation: 0}}, ")
    with pytest.raises(FileError) as found:
        loads(text)
    assert {one.message for one in found.value.mistakes} == {
        f"no body is named 'rod'{ALL}",
        f"no body is named 'rod'{ALL.replace('ground, ', '')}",
    }
