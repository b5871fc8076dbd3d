"""One space, several mechanisms: topologies, or assemblies of one, each in a group of its own.

What a variant has (parameters, joints, base parameters) depends on the mechanism, so each has a
store of its own, `STORE/NAME`, a group of one Zarr hierarchy. An assembly is another start of
the same file: the mechanism's text with its `assembly` replaced, which is what the store keeps.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from basepar_core.errors import FileError, Mistake
from basepar_core.files import Fields, Items, Node, Text, read
from sweeps.store import is_member_name

from .reader import parse_node, text_of
from .sweep_spec import SweepSpec

#: Sections that make a family of a sweep file.
SECTIONS = ("mechanisms", "assemblies")

Family = dict[str, SweepSpec]
Spec = TypeVar("Spec")


def load_family(path: str | Path) -> Family:
    """Sweeps of a file by name; the one of a file without `mechanisms` or `assemblies` is "".

    Raises
    ------
    FileError
        With all mistakes.
    """
    return parse_family(text_of(path), str(path))


def parse_family(text: str, source_name: str = "sweep.yaml") -> Family:
    """Sweeps of a file's text (`load_family`)."""

    def member(common: Fields, section: str, name: str, entry: Node) -> SweepSpec:
        assembly: Node | None = entry
        if section == "mechanisms":
            common.entries["mechanism"], assembly = entry, None
        spec = parse_node(common, source_name, assembly)
        return spec.at(f"{spec.store}/{name}") if spec.store else spec

    def alone(node: Node | None, mistakes: Iterable[Mistake]) -> SweepSpec:
        return parse_node(node, source_name, None, mistakes)

    return parse_members(text, source_name, alone, member)


def parse_members(
    text: str,
    source_name: str,
    alone: Callable[[Node | None, Iterable[Mistake]], Spec],
    member: Callable[[Fields, str, str, Node], Spec],
) -> dict[str, Spec]:
    """What a file's text describes of each of its mechanisms or assemblies, by name.

    Parameters
    ----------
    alone
        Reads a file that has none of `SECTIONS`, which is called "".
    member
        Reads one: from a tree of its own of what all have, the section, its name and its entry.

    Raises
    ------
    FileError
        With all mistakes of all members.
    """
    node, mistakes = read(text)
    given = [key for key in SECTIONS if isinstance(node, Fields) and key in node.entries]
    if not isinstance(node, Fields) or not given:
        return {"": alone(node, mistakes)}
    section = node.entries[given[0]]
    wrong = [*mistakes, *_section_mistakes(node, given, section)]
    found: dict[str, Spec] = {}
    for name, entry in _members(section).items():
        entries = {key: value for key, value in node.entries.items() if key not in SECTIONS}
        common = Fields(entries, node.path, node.line, node.lines)
        try:
            if is_member_name(name):
                found[name] = member(common, given[0], name, entry)
        except FileError as error:
            wrong += [one for one in error.mistakes if one not in wrong]
    if wrong:
        raise FileError(source_name, sorted(wrong, key=lambda one: one.line or 0))
    return found


def _section_mistakes(node: Fields, given: list[str], section: Node) -> list[Mistake]:
    """What is wrong with the first given of a file's `SECTIONS`, its members apart."""
    if len(given) > 1:
        return [Mistake(given[1], f"a file has {' or '.join(SECTIONS)}, not both", node.line)]
    found = []
    if given == ["mechanisms"] and "mechanism" in node.entries:
        message = "a file has mechanism or mechanisms, not both"
        found.append(Mistake("mechanism", message, node.line))
    entries = _members(section)
    if not entries:
        what = "names and mechanisms" if given == ["mechanisms"] else "names and joint values"
        message = f"nothing here; a mapping of {what} is needed"
        found.append(Mistake(given[0], message, section.line))
    return found + [
        Mistake(f"{given[0]}.{name}", "a name has letters, digits, - and _", entry.line)
        for name, entry in entries.items()
        if not is_member_name(name)
    ]


def _members(section: Node) -> dict[str, Node]:
    """Entries by name; a list of mechanisms is named by them."""
    match section:
        case Fields():
            return section.entries
        case Items():
            return {Path(one.value).stem: one for one in section.items if isinstance(one, Text)}
    return {}
