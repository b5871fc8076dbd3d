"""The plan of the product holds, and a planted violation of each kind is seen."""

import shutil
from pathlib import Path

import pytest

import basepar_core
from tests.house import (
    ALLOWED,
    PACKAGES,
    House,
    circle,
    counts,
    joint_types_named,
    lines_of_code,
    past_doors,
    upward,
)

ROOT = Path(basepar_core.__file__).parents[1]


@pytest.fixture
def copy(tmp_path):
    """A copy of the product's sources, to plant in."""
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    return tmp_path


def test_the_house_stands():
    house = House.at(ROOT)
    assert len(house.files) > 300
    assert circle(house.between_files) == []
    assert past_doors(house) == []
    assert upward(house) == []
    found = counts(house)
    assert all(found[name] <= ALLOWED[name] for name in ALLOWED), found


def test_tests_stand_in_rooms_of_the_same_names():
    here = Path(__file__).parent
    for tests, package in (("core", "basepar_core"), ("sweeps", "sweeps"), ("workflows",) * 2):
        rooms = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}
        found = {path.parent.name for path in (here / tests).glob("*/test_*.py")}
        assert found
        assert found <= rooms
        assert list((here / tests).glob("test_*.py")) == []


def test_a_circle_between_files_is_seen(copy):
    planted = copy / "basepar_core" / "dynamics" / "planted.py"
    planted.write_text("from .closure import Model\n\nMADE = Model\n")
    closure = copy / "basepar_core" / "dynamics" / "closure.py"
    closure.write_text(closure.read_text() + "\n\ndef late():\n    from .planted import MADE\n")
    found = circle(House.at(copy).between_files)
    assert {"basepar_core.dynamics.planted", "basepar_core.dynamics.closure"} <= set(found)


def test_a_circle_by_way_of_doors_is_seen(copy):
    """`Model` is taken at the door, by a file that its own file imports."""
    arrays = copy / "basepar_core" / "arrays.py"
    arrays.write_text(arrays.read_text() + "\nfrom basepar_core.dynamics import Model\n")
    found = circle(House.at(copy).between_files)
    assert {"basepar_core.arrays", "basepar_core.dynamics.closure"} <= set(found)


#: Files, and what is seen in each.
UPWARD = {
    ("basepar_core/expressions/planted.py", "from basepar_core.dynamics import Model"): (
        "basepar_core.expressions imports basepar_core.dynamics"
    ),
    ("basepar_core/planted/__init__.py", "from basepar_core.dynamics import Model"): (
        "basepar_core.planted has no floor"
    ),
    ("sweeps/store/planted.py", "def late():\n    from sweeps.run import sweep"): (
        "sweeps.store imports sweeps.run"
    ),
}
PAST = (
    "from basepar_core.dynamics.closure import Model",
    "from basepar_core.dynamics import closure",
    "import basepar_core.dynamics.closure",
    "from basepar_core.certificate.checker.natural import LABELS",
)


def test_arrows_upwards_are_seen(copy):
    for file, line in UPWARD:
        planted = copy / file
        planted.parent.mkdir(exist_ok=True)
        planted.write_text(line + "\n")
    found = upward(House.at(copy))
    assert len(found) == len(UPWARD)
    assert [said for said in UPWARD.values() if not any(said in one for one in found)] == []


def test_entries_past_a_door_are_seen(copy):
    for k, line in enumerate(PAST):
        (copy / "workflows" / "views" / f"planted{k}.py").write_text(line + "\n")
    found = past_doors(House.at(copy))
    assert len(found) == len(PAST)
    for k, one in enumerate(sorted(found)):
        assert f"workflows.views.planted{k}:1" in one
        assert "past the door of basepar_core." in one


def test_what_is_too_many_is_seen(copy):
    """A tower of rooms, each of which imports all below it and names joint types and couplings."""
    for k in range(ALLOWED["rooms"]):
        room = copy / "basepar_core" / f"planted{k}"
        room.mkdir()
        taken = "".join(f"from basepar_core import planted{j}\n" for j in range(k))
        (room / "__init__.py").write_text(taken + 'NAMES = "revolute", "couplings"\n')
    found = counts(House.at(copy))
    assert [name for name in ALLOWED if found[name] <= ALLOWED[name]] == []


def test_a_file_that_names_a_joint_type_is_seen(copy):
    planted = copy / "workflows" / "views" / "planted.py"
    planted.write_text('KINDS = {"revolute": 1}\n')
    (copy / "workflows" / "views" / "other.py").write_text('SPACES = ("planar", "spatial")\n')
    before, after = joint_types_named(House.at(ROOT)), joint_types_named(House.at(copy))
    assert set(after) - set(before) == {"workflows.views.planted"}


def test_lines_of_code_are_those_that_hold_some(tmp_path):
    file = tmp_path / "counted.py"
    file.write_text(
        '"""What it holds,\n\nin three lines."""\n\n'
        "import os  # one\n\n# none\n\n"
        'def made():\n    """None."""\n    return """four\n\n    lines of\n    text"""\n'
    )
    assert lines_of_code(file) == 6
