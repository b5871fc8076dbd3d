"""docs/mechanism-files.md: its files assemble, its tables have the readers' own keys."""

import re
from pathlib import Path

import pytest
import yaml

from basepar_core.base import symbolic
from basepar_core.dynamics import prepare
from basepar_core.expressions import UNITS
from basepar_core.expressions.checked import FUNCTIONS
from basepar_core.files import loads, mechanism_keys
from basepar_core.mechanism import JOINT_TYPES

PAGE = (Path(__file__).parents[1] / "docs" / "mechanism-files.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
FILES = {block.split()[1]: block for block in BLOCKS if block.startswith("name:")}


def table(title):
    """First cells of the rows of the table under a heading or a header line."""
    rest = PAGE[PAGE.index(title) :]
    rows = re.search(r"(?:^\|.*\n)+", rest, re.MULTILINE)
    assert rows
    return [line.split("|")[1].strip() for line in rows[0].splitlines()[2:]]


def words(cells):
    """What stands in code in cells."""
    return [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]


# Ranks by hand. Pendulum: mx, my, J. Engine: four a body less one a pin, less J and my of the
# body that only slides and one that is without effect. Arm: as two perpendicular axes have.
# Floating: ten a body less three for the revolute joint. Crank and rocker: one of the crank, three
# of the rocker, three of the rod, less the masses at its ends, which crank and rocker have too.
RANKS = {"pendulum": 3, "engine": 6, "two-axis-arm": 8, "floating-pendulum": 17, "crank": 5}


@pytest.mark.parametrize(("name", "rank"), RANKS.items())
def test_ranks_known_by_hand(name, rank):
    assert symbolic(prepare(loads(FILES[name]))).rank == rank


@pytest.mark.parametrize("name", FILES)
def test_every_file_assembles(name):
    assert len(FILES) == 11
    model = prepare(loads(FILES[name]))
    assert model.assembled.residual < 1e-12  # m and rad, of lengths near 1: rounding


def test_the_press_has_the_loads_that_its_page_says():
    press = loads(FILES["press"])
    assert [motor.name for motor in press.motors] == ["drive"]
    assert [torque.name for torque in press.torques] == ["bearing", "work"]


def test_keys_of_torques():
    listed = words(table("| key of a torque"))
    assert set(listed) == {"joint", "value", "when", "pieces", "along"}
    # As the reader has them: each kind of torque with every key that it may have.
    for given in ("value: 1 N*m, when: rising", "pieces: [[0, 1, 2 N*m]], along: B"):
        text = re.sub(r"  work: .*", f"  work: {{joint: A, {given}}}", FILES["press"])
        assert len(loads(text).torques) == 2


def test_other_blocks_belong_into_files():
    others = [yaml.safe_load(block) for block in BLOCKS if block not in FILES.values()]
    assert [set(one) for one in others] == [{"geometry", "relations"}]
    whole = yaml.safe_load(FILES["pendulum"]) | {"relations": others[0]["relations"]}
    whole["geometry"] |= others[0]["geometry"]
    found = loads(yaml.safe_dump(whole)).nominal["r3"]
    assert found == pytest.approx(3**0.5, rel=1e-15)  # a square root, rounded


@pytest.mark.parametrize(
    ("title", "known"),
    [
        ("| type | values", (*JOINT_TYPES, mechanism_keys.SCREW)),
    ],
)
def test_tables(title, known):
    assert words(table(title)) == list(known)


def test_force_laws_units_and_functions():
    cells = " ".join(table("| entry | column"))
    assert all(kind in cells for kind in (*mechanism_keys.FRICTION_KINDS, "springs", "dampers"))
    assert " ".join(UNITS) in PAGE
    assert " ".join(FUNCTIONS) in PAGE
