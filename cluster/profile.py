"""Profiles: places written down, `kind: slurm` and its values, in YAML.

Texts are taken as written: in YAML 1.1 an unquoted 12:00:00 is the number 43200.
"""

import difflib
import os
import types
import typing
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import yaml

from .errors import Mistake, PlaceError, ProfileError
from .places import KINDS, Keys, Place, problems

#: Beyond these a file is no profile.
MOST_CHARACTERS, MOST_NESTING = 100_000, 8


def find_profile(name: str) -> Path:
    """The file of a profile: a path, or a name in the user's configuration directory.

    Raises
    ------
    PlaceError
        Neither is there; names what is.
    """
    if os.path.isfile(path := Path(name)):
        return path
    folder = folder_of_profiles()
    if os.path.isfile(path := folder / f"{name}.yaml"):
        return path
    there = ", ".join(sorted(file.stem for file in folder.glob("*.yaml"))) or "none"
    raise PlaceError(
        f"{name!r} is neither `laptop`, nor an address such as tls://host:8786, nor a profile: "
        f"there is no file of this name, and the profiles in {folder} are: {there}. Write one, "
        f"which begins with `kind: {name if name in KINDS else 'slurm'}` (docs/profiles.md)."
    )


def folder_of_profiles() -> Path:
    """Where profiles are found by name."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "basepar"


def load_profile(path: Path) -> Place:
    """The place a file describes.

    Raises
    ------
    ProfileError
        All mistakes of the file, each with its path and line.
    PlaceError
        The file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        raise PlaceError(f"{path}: cannot be read: {cause}.") from cause
    if len(text) > MOST_CHARACTERS:
        what = f"more than {MOST_CHARACTERS} characters; this is no profile"
        raise ProfileError(str(path), [Mistake("", what)])
    try:
        _check_nesting(path, text)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as cause:
        mark = getattr(cause, "problem_mark", None)
        line = mark.line + 1 if mark else None
        what = getattr(cause, "problem", None) or str(cause)
        raise ProfileError(str(path), [Mistake("", f"no YAML: {what}", line)]) from cause
    reader = _Reader()
    place = reader.place(root)
    if reader.mistakes or place is None:
        raise ProfileError(str(path), reader.mistakes)
    return place


def _check_nesting(path: Path, text: str) -> None:
    """Reject what goes deeper than any profile; the tree's reader would call itself as often."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_NESTING:
            line = event.start_mark.line + 1 if event.start_mark else None
            what = f"nested deeper than {MOST_NESTING}"
            raise ProfileError(str(path), [Mistake("", what, line)])


#: In the place of required values that are wrong or missing.
HARMLESS: dict[Any, Any] = {int: 1, str: "tcp://localhost:1", tuple: ("localhost",)}


class _Reader:
    """Reads nodes into values, and keeps every mistake."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []

    def place(self, root: yaml.Node | None) -> Place | None:
        values = self._entries(root, "")
        if values is None:
            return None
        kind = values.pop("kind", None)
        if not isinstance(kind, yaml.ScalarNode) or kind.value not in KINDS:
            said = "is missing" if kind is None else f"is {_shown(kind)}"
            self._wrong("kind", f"{said}; one of {', '.join(KINDS)}", kind)
            return None
        place, good = self._value_of(KINDS[kind.value], values, "")
        for path, message in problems(place):
            name = path.partition("[")[0]
            if name in good or name not in values:  # else the mistake is reported already
                self._wrong(path, message, values.get(name))
        return place

    def _value_of(
        self, made: type, values: dict[str, yaml.Node], path: str
    ) -> tuple[Any, set[str]]:
        """An instance of the dataclass `made`, and which of its values are as given.

        Something harmless stands for wrong ones, so that the others can be looked at too.
        """
        known = {field.name: field for field in fields(made)}
        hints = typing.get_type_hints(made)
        given = {}
        for name, node in values.items():
            if name not in known:
                close = difflib.get_close_matches(name, known, 1)
                hint = f"did you mean {close[0]!r}?" if close else f"one of {', '.join(known)}"
                self._wrong(path + name, f"unknown; {hint}", node)
            else:
                before = len(self.mistakes)
                value = self._read(hints[name], node, path + name)
                if len(self.mistakes) == before:
                    given[name] = value
        good = set(given)
        for name, field in known.items():
            if name not in given and _required(field):
                given[name] = HARMLESS[typing.get_origin(hints[name]) or hints[name]]
                if name not in values:
                    self._wrong(path + name, "is missing")
        return made(**given), good

    def _read(self, hint: Any, node: yaml.Node, path: str) -> Any:
        options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        if type(None) in options and node.tag == "tag:yaml.org,2002:null":
            return None
        wanted = next(option for option in options if option is not type(None))
        if typing.get_origin(wanted) is tuple:
            return self._texts(node, path)
        if wanted is Keys:
            values = self._entries(node, path)
            return None if values is None else self._value_of(Keys, values, f"{path}.")[0]
        return self._scalar(wanted, node, path)

    def _scalar(self, wanted: type, node: yaml.Node, path: str) -> Any:
        tag = node.tag.rpartition(":")[2]
        if isinstance(node, yaml.ScalarNode):
            if wanted is str and (tag != "null" or node.value == "~"):  # of a folder, the home
                return node.value
            if wanted is bool and tag == "bool":
                return node.value.lower() in ("true", "yes", "on")
            try:
                if wanted is int and tag == "int":
                    return int(node.value)
                if wanted is float and tag in ("int", "float"):
                    return float(node.value)
            except ValueError:  # 1:30, 0x10
                pass
        names = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}
        return self._wrong(path, f"is {_shown(node)}; expected: {names[wanted]}", node)

    def _texts(self, node: yaml.Node, path: str) -> tuple[str, ...] | None:
        if not isinstance(node, yaml.SequenceNode):
            return self._wrong(path, f"is {_shown(node)}; expected: a list of texts", node)
        found = [self._scalar(str, item, f"{path}[{i}]") for i, item in enumerate(node.value)]
        return tuple(found)

    def _entries(self, node: yaml.Node | None, path: str) -> dict[str, yaml.Node] | None:
        if not isinstance(node, yaml.MappingNode):
            said = "is empty" if node is None else f"is {_shown(node)}"
            return self._wrong(path, f"{said}; expected: names with values", node)
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = str(key.value)
            if name in found:
                self._wrong(f"{path}.{name}".lstrip("."), "is there twice", key)
            found[name] = value
        return found

    def _wrong(self, path: str, message: str, node: yaml.Node | None = None) -> Any:
        line = node.start_mark.line + 1 if node is not None else None
        self.mistakes.append(Mistake(path, message, line))
        return None  # what the value is then, everywhere


def _required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _shown(node: yaml.Node) -> str:
    match node:
        case yaml.ScalarNode():
            return repr(node.value) if node.value else "empty"
        case yaml.SequenceNode():
            return "a list"
    return "a mapping"
