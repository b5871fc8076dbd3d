"""What a file may hold, as data: the keys of its mappings and the shape of their values.

A section's keys are declared once. Its reader takes them from there (`Reading.fields`), and so do
the JSON Schemas that ship with the program and the tables of keys in docs/. Shapes say what can be
told without knowing any name of the file: which keys, what kind of value, how many entries.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text or number on one line; `words` are all that it may be, where it may not be any."""

    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or an expression."""


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer."""

    least: int = 0
    most: int = 10**18


@dataclass(frozen=True, slots=True)
class Anything:
    """Whatever YAML holds; somebody else reads it."""


@dataclass(frozen=True, slots=True)
class Each:
    """A list of one shape; of `size` entries where it is not None, else of `least` or more."""

    of: "Shape"
    size: int | None = None
    least: int = 0


@dataclass(frozen=True, slots=True)
class Named:
    """A mapping from names of the user's to one shape.

    Attributes
    ----------
    of
        What stands under a name.
    names
        Regular expression of a whole name; "" where a name is another section's.
    least
        How many there must be.
    own
        Names with a meaning of their own, and what stands under them.
    """

    of: "Shape"
    names: str = ""
    least: int = 0
    own: Mapping[str, "Shape"] | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """One key: what it holds, in a shape and in words; its default, or `REQUIRED`."""

    name: str
    holds: "Shape"
    what: str
    default: str = REQUIRED


@dataclass(frozen=True, slots=True)
class Keys:
    """A mapping with these keys and no others.

    Attributes
    ----------
    keys
        In the order in which messages and tables have them.
    one_of
        Groups of which exactly one key is given.
    together
        Groups of which each has exactly one key, or none has any.
    what
        In words, where a table compares it with others.
    """

    keys: tuple[Key, ...]
    one_of: tuple[tuple[str, ...], ...] = ()
    together: tuple[tuple[str, ...], ...] = ()
    what: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """All keys."""
        return tuple(key.name for key in self.keys)

    @property
    def required(self) -> tuple[str, ...]:
        """Keys that must be there."""
        return tuple(key.name for key in self.keys if key.default == REQUIRED)

    @property
    def optional(self) -> tuple[str, ...]:
        """Keys that may be left out."""
        return tuple(key.name for key in self.keys if key.default != REQUIRED)

    def below(self, name: str) -> str:
        """Of a key that is not here the one whose mapping has it; empty where none or two do."""
        found = [key.name for key in self.keys if name in _names(key.holds)]
        return found[0] if len(found) == 1 else ""

    def plus(self, *further: Key) -> "Keys":
        """With further keys."""
        return replace(self, keys=(*self.keys, *further))


@dataclass(frozen=True, slots=True)
class ByWord:
    """Keys that depend on the word under one of them, such as `kind`."""

    key: str
    cases: Mapping[str, Keys]


@dataclass(frozen=True, slots=True)
class ByKey:
    """One shape where a key is given, another where it is not."""

    key: str
    given: "Shape"
    absent: "Shape"


@dataclass(frozen=True, slots=True)
class BySpace:
    """One shape in planar files, another in spatial ones."""

    planar: "Shape"
    spatial: "Shape"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Several shapes."""

    shapes: tuple["Shape", ...]


@dataclass(frozen=True, slots=True)
class Again:
    """The shape of this name, within itself."""

    name: str


Shape = (
    Scalar
    | Quantity
    | Whole
    | Anything
    | Each
    | Named
    | Keys
    | ByWord
    | ByKey
    | BySpace
    | AnyOf
    | Again
)


def _names(shape: Shape) -> set[str]:
    """Keys of a mapping, in any of its cases."""
    match shape:
        case Keys():
            return set(shape.names)
        case ByWord():
            return set().union(*(case.names for case in shape.cases.values()))
        case AnyOf():
            return set().union(*map(_names, shape.shapes))
    return set()


def by_word(key: str, what: str, cases: Mapping[str, Keys]) -> ByWord:
    """Cases by the word under a key, which each has as its first."""
    return ByWord(
        key,
        {
            word: replace(keys, keys=(Key(key, Scalar((word,)), what), *keys.keys))
            for word, keys in cases.items()
        },
    )
