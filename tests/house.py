"""The plan of the product: rooms, floors, arrows; what breaks its rules.

    python -m tests.house

Definitions. A *room* is a sub-package of `basepar_core`, `sweeps` or `workflows`, a sub-package
within one (`certificate/checker`), a module that stands alone in `basepar_core`, `cluster` or
`basepar`. An
*arrow* A → B: some file of A imports from B, wherever in the file. A *floor* is one more than the
highest floor of what a room imports. A *door* is a room's `__init__.pyi` (`__init__.py` where
there is none): the names that others may import, from the room itself. On the *plan* `sweeps` and
`workflows` are one room each, and a sub-package within a room belongs to it.

A product file *names a joint type as text* where a string in its code is the name of one, as
mechanism files write it. Not counted: `planar` in a file that also has `spatial`, where it is
the kind of a mechanism, and words of other meaning, `OTHER_MEANINGS`. The checker counts.

A *line of code* of the product is one of a `.py` file that has more than blanks, a comment or
(part of) a docstring on it.

A coupling *touches* a product file where its code reads an attribute `couplings` or
`coupling_rows`, or has `coupling` or `couplings` as text. Not counted: modules about couplings,
`OF_COUPLINGS`, which may stand in any room, and the importers, whose couplings are those of other
formats. The checker counts.
"""

import ast
import sys
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from io import StringIO
from pathlib import Path

from basepar_core.mechanism import JOINT_TYPES

PACKAGES = ("basepar_core", "sweeps", "workflows", "cluster", "basepar")
#: Rooms by floor, from the ground up: a room imports from floors below its own.
FLOORS = (
    "basepar_core.arrays basepar_core.certificate.checker basepar_core.compiled.simd "
    "basepar_core.errors basepar_core.texts cluster",
    "basepar_core.expressions sweeps.store workflows.pages",
    "basepar_core.mechanism",
    "basepar_core.symbolic",
    "basepar_core.dynamics basepar_core.files",
    "basepar_core.finite_field basepar_core.torque_code basepar_core.variable_precision",
    "basepar_core.base",
    "basepar_core.certificate basepar_core.imported basepar_core.reduction",
    "basepar_core.api basepar_core.compiled basepar_core.identification workflows.export "
    "workflows.robots",
    "basepar_core.identification.logs basepar_core.single_dof",
    "basepar_core.metrics workflows.drawing",
    "sweeps.spec workflows.moving",
    "sweeps.chunks",
    "sweeps.run",
    "workflows.jobs",
    "workflows.studies",
    "workflows.views",
    "workflows.report workflows.reproduce",
    "workflows.explore",
    "workflows.cli",
    "basepar",
)
#: What the plan may have at most (rooms, floors, arrows), and the product.
ALLOWED = {
    "rooms": 26,
    "floors": 14,
    "arrows": 160,
    "product files that name a joint type as text": 12,
    "product files that a coupling touches": 12,
}
#: What modules about couplings have in their names.
OF_COUPLINGS = ("coupl", "mimic", "gear_", "pitch_circles")
#: Strings that only look like joint types: the role of a symbol in a report, a limit there is not,
#: a kind of MuJoCo's tendons.
OTHER_MEANINGS = {
    "workflows.report.overview": {"fixed"},
    "workflows.views.excitation": {"free"},
    "workflows.robots.mjcf": {"fixed"},
}


@dataclass(frozen=True)
class Import:
    """One name that a file takes: from a module of the product, or a module itself (`name` "")."""

    file: str
    line: int
    module: str
    name: str


@cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def _nodes(text: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(_parsed(text)))


@dataclass(frozen=True)
class House:
    """The product's files below a folder, by module name."""

    files: Mapping[str, Path]

    @staticmethod
    def at(root: Path) -> "House":
        """The house whose packages stand in a folder."""
        found = {}
        for package in PACKAGES:
            for path in (root / package).rglob("*.py"):
                parts = path.relative_to(root).with_suffix("").parts
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        return House(found)

    @cached_property
    def packages(self) -> frozenset[str]:
        """Modules that are packages."""
        return frozenset(m for m, path in self.files.items() if path.name == "__init__.py")

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """Every import of one file of the house by another."""
        return tuple(found for module in self.files for found in self._imports_of(module))

    def _imports_of(self, module: str) -> Iterator[Import]:
        path = self.files[module]
        base = module.split(".") if module in self.packages else module.split(".")[:-1]
        for node in _nodes(path.read_text(encoding="utf-8")):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in self.files:
                        yield Import(module, node.lineno, alias.name, "")
            elif isinstance(node, ast.ImportFrom):
                within = base[: len(base) - node.level + 1] if node.level else []
                source = ".".join([*within, *([node.module] if node.module else [])])
                for alias in node.names:
                    whole = f"{source}.{alias.name}"
                    if whole in self.files:
                        yield Import(module, node.lineno, whole, "")
                    elif source in self.files:
                        yield Import(module, node.lineno, source, alias.name)

    def room(self, module: str) -> str:
        """The room a module is in."""
        parts = module.split(".")
        if parts[0] in ("cluster", "basepar") or len(parts) == 1:
            return parts[0]
        if module in self.packages:
            return module
        parent = ".".join(parts[:-1])
        return module if parent in PACKAGES else parent

    def doors(self, room: str) -> Mapping[str, str]:
        """Names that others may take from a room, and the module of the room that has each."""
        if room not in self.packages:
            return {}
        path = self.files[room]
        stub = path.with_suffix(".pyi")
        found = {}
        for node in _parsed((stub if stub.exists() else path).read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                for alias in node.names:
                    found[alias.name] = f"{room}.{node.module or alias.name}"
        return found

    @cached_property
    def between_files(self) -> Mapping[str, frozenset[str]]:
        """Files each file imports; a name taken at a door is followed to its file."""
        doors = {package: self.doors(package) for package in self.packages}
        found: dict[str, set[str]] = {module: set() for module in self.files}
        for one in self.imports:
            found[one.file].add(doors.get(one.module, {}).get(one.name, one.module))
        return {module: frozenset(targets - {module}) for module, targets in found.items()}

    @cached_property
    def arrows(self) -> Mapping[str, frozenset[str]]:
        """Rooms each room imports from."""
        found: dict[str, set[str]] = {self.room(module): set() for module in self.files}
        for one in self.imports:
            here, there = self.room(one.file), self.room(one.module)
            if there not in (here, *PACKAGES[:3]):
                found[here].add(there)
        return {room: frozenset(rooms) for room, rooms in found.items()}

    def on_the_plan(self, room: str) -> str:
        """The room as the plan draws it."""
        parts = room.split(".")
        return ".".join(parts[:2]) if parts[0] == "basepar_core" else parts[0]

    @cached_property
    def plan(self) -> Mapping[str, frozenset[str]]:
        """Arrows of the plan."""
        found: dict[str, set[str]] = {}
        for room, others in self.arrows.items():
            if room not in PACKAGES[:1]:
                here = self.on_the_plan(room)
                targets = {self.on_the_plan(other) for other in others}
                found.setdefault(here, set()).update(targets - {here, "basepar_core"})
        return {room: frozenset(rooms) for room, rooms in found.items()}


def floors(arrows: Mapping[str, frozenset[str]]) -> dict[str, int]:
    """Floor of each room, the ground being 1.

    Raises
    ------
    graphlib.CycleError
        Rooms import each other in a circle.
    """
    found: dict[str, int] = {}
    for room in TopologicalSorter(arrows).static_order():
        found[room] = 1 + max((found[other] for other in arrows.get(room, ())), default=0)
    return found


def circle(arrows: Mapping[str, frozenset[str]]) -> list[str]:
    """One circle of imports, first name again last; empty where there is none."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def past_doors(house: House) -> list[str]:
    """Imports that reach into another room and not by its door."""
    found, doors = [], cache(house.doors)
    for one in house.imports:
        here, there = house.room(one.file), house.room(one.module)
        if here == there or there not in house.packages or there in PACKAGES[:3]:
            continue
        door = doors(there)
        if one.module == there:
            by_door = not one.name or one.name in door
        else:
            by_door = not one.name and door.get(one.module.rpartition(".")[2]) == one.module
        if not by_door:
            taken = one.name or one.module
            found.append(f"{one.file}:{one.line} takes {taken} past the door of {there}")
    return found


def upward(house: House) -> list[str]:
    """Arrows that do not go down by `FLOORS`, and rooms that have no floor there."""
    floor = {room: k for k, rooms in enumerate(FLOORS) for room in rooms.split()}
    rooms = {room for room in house.arrows if room not in PACKAGES[:3]}
    found = [
        f"{room} has no floor in {Path(__file__).name}" for room in sorted(rooms - set(floor))
    ]
    for room in sorted(rooms & set(floor)):
        for other in sorted(house.arrows[room] & set(floor)):
            if floor[other] >= floor[room]:
                found.append(f"{room} imports {other}, which is no floor below it")
    return found


def joint_types_named(house: House) -> dict[str, list[str]]:
    """Files that name joint types as text, and which."""
    found = {}
    for module, path in house.files.items():
        nodes = _nodes(path.read_text(encoding="utf-8"))
        texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
        here = (texts & set(JOINT_TYPES)) - OTHER_MEANINGS.get(module, set())
        if here - ({"planar"} if "spatial" in texts else set()):
            found[module] = sorted(here)
    return found


def lines_of_code(path: Path) -> int:
    """How many lines of a file hold code."""
    text = path.read_text(encoding="utf-8")
    found: set[int] = set()
    for token in tokenize.generate_tokens(StringIO(text).readline):
        if token.string.strip() and token.type != tokenize.COMMENT:
            found.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            docstring = node.body[0]
            found.difference_update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return len(found)


def touched_by_couplings(house: House) -> list[str]:
    """Files that a coupling touches beside its own modules."""
    found = []
    for module, path in house.files.items():
        room, _, name = module.rpartition(".")
        if room.endswith(".imported") or any(part in name for part in OF_COUPLINGS):
            continue
        nodes = _nodes(path.read_text(encoding="utf-8"))
        read = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
        if read & {"couplings", "coupling_rows"} or texts & {"coupling", "couplings"}:
            found.append(module)
    return sorted(found)


def counts(house: House) -> dict[str, int]:
    """What `ALLOWED` bounds."""
    return {
        "rooms": len(house.plan),
        "floors": max(floors(house.plan).values()),
        "arrows": sum(map(len, house.plan.values())),
        "product files that name a joint type as text": len(joint_types_named(house)),
        "product files that a coupling touches": len(touched_by_couplings(house)),
    }


def main() -> int:
    """Print the plan and its counts; 1 where a rule is broken or a count above what is allowed."""
    house = House.at(Path(__file__).parents[1])
    height = floors(house.plan)
    for room, floor in sorted(height.items(), key=lambda pair: (-pair[1], pair[0])):
        print(f"{floor:3d}  {room:35s} {', '.join(sorted(house.plan[room]))}")
    found = counts(house)
    for name, count in found.items():
        print(f"{name}: {count} (at most {ALLOWED[name]})")
    for module, named in sorted(joint_types_named(house).items()):
        print(f"     {module}: {', '.join(named)}")
    print(f"lines of code: {sum(map(lines_of_code, house.files.values()))}")
    print("touched by couplings:", *touched_by_couplings(house), sep="\n     ")
    round_trip = circle(house.between_files)
    broken = [
        *past_doors(house),
        *upward(house),
        *([" → ".join(round_trip)] if round_trip else []),
    ]
    print(*broken, sep="\n", end="\n" if broken else "")
    return int(bool(broken) or any(found[name] > ALLOWED[name] for name in ALLOWED))


if __name__ == "__main__":
    sys.exit(main())
