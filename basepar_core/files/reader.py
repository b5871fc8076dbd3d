"""What every reader of a section needs: expressions in slots, and a list of all mistakes.

A reader that meets a mistake reports it and goes on with a placeholder (zero), so that one
mistake never hides another. No mechanism is made from a file with mistakes, and checks that
build on a value run only if reading it added none (`count`), so that none makes noise either.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

from basepar_core.errors import ExpressionError, Mistake
from basepar_core.expressions import (
    DIMENSIONLESS,
    LENGTH,
    RESERVED,
    UNITS,
    ZERO,
    Dimension,
    Expression,
    Name,
    Unit,
    did_you_mean,
    evaluate,
    is_literal,
    parse,
    parse_any,
    parse_unit,
    shown,
    tokens,
)
from basepar_core.mechanism import Data, Vector
from basepar_core.symbolic import Identities

from . import key_remedies, remedies
from .bare_numbers import warn_of_degrees, warn_of_millimetres, warn_of_trigonometry
from .keys import Keys
from .named_bodies import body_meant
from .rational import check_rational, substitute, without_pi
from .yaml_nodes import Fields, Items, Node, Refused, Text, key_path

ORIGIN: Vector = (ZERO, ZERO, ZERO)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
#: Characters of a scalar; expressions have their own, lower limit.
_MAX_TEXT = 10_000


class Reading:
    """The state of reading one file: its mistakes, and the names declared so far."""

    def __init__(
        self,
        mistakes: Iterable[Mistake] = (),
        folder: Path | None = None,
        recorded: Mapping[str, Data] | None = None,
        values: Mapping[str, Expression] | None = None,
    ):
        self.mistakes = list(mistakes)
        self.folder = folder or Path()
        self.top: remedies.Top | None = None
        #: Degrees of freedom by the count of bodies and joints; 0 where it is not known.
        self.freedom = 0
        #: How many couplings the file states, besides screws.
        self.coupled = 0
        #: The section that names the coordinates.
        self.coordinates: Node | None = None
        #: Motions of files that need not be read, by the path of the entry that names the file.
        self.recorded = recorded or {}
        #: Values of symbols and constants in the place of the file's, SI.
        self.replaced = values or {}
        self.planar = False
        #: Dimension of every symbol and constant; None where its unit could not be read.
        self.dimensions: dict[str, Dimension | None] = {}
        self.constants: dict[str, Expression] = {}
        self.values: dict[str, Expression] = {}
        #: Symbols whose value could not be read.
        self.dubious: set[str] = set()
        #: Names already complained of; expressions with them are not complained of again.
        self.spoilt: set[str] = set()
        #: Units as symbols state them.
        self.symbol_units: list[str] = []
        #: Symbols that state no unit.
        self.unitless: dict[str, Fields] = {}
        #: Those that have their place without one somewhere, and, of those that a mistake says
        #: lack one, which mistake that is and what else to say of its place.
        self._plain: set[str] = set()
        self._blamed: dict[str, tuple[int, Mistake]] = {}
        self.field: Identities | None = None
        #: Further words for joint values, `S.slide` and `S.angle`, and the values' names.
        self.called: dict[str, str] = {}
        #: Names of all joint values, in the joints' order.
        self.joint_values: tuple[str, ...] = ()
        #: Pitches of screws by joint: their couplings.
        self.pitches: dict[str, Expression] = {}
        #: Which of symbols, bodies, joints and coordinates are not all known, because their
        #: section is missing or could not be read: what refers to them is not blamed for it.
        self.unknown: set[str] = set()

    # Mistakes

    @property
    def count(self) -> int:
        return len(self.mistakes)

    def mistake(self, node: Node, message: str) -> None:
        self.mistakes.append(Mistake(node.path, message, node.line))

    # Structure

    def fields(
        self,
        node: Node,
        keys: Keys,
        lines: Mapping[str, str] | None = None,
        vector: str = "",
    ) -> dict[str, Node]:
        """Entries of a mapping with exactly these keys; mistakes reported, what is there kept.

        `lines` has what missing keys may be given; `vector`: see `remedies.mapping`.
        """
        known = (*keys.required, *keys.optional)
        empty = "" if keys.required else ", or {} for nothing,"
        what = f"a mapping with {', '.join(known)}{empty}"
        entries = self.entries(node, what, f"{known[0]}: «»" if node.path else "", vector)
        if entries is None:
            return {}
        assert isinstance(node, Fields)
        if not node.path:
            self.top = remedies.Top(keys, entries)
        meant, lacking = "", [key for key in keys.required if key not in entries]
        for key, entry in entries.items():
            if key not in known:
                hint = (
                    remedies.decimal_comma(key, entries)
                    or key_remedies.directions(key, entries, known)
                    or key_remedies.damping_of_spring(key, entries, node.path)
                    or did_you_mean(key, known)
                    or remedies.other_word(key, entries, known)
                    or remedies.how_many(key, entry, lacking)
                    or remedies.moved(key, entry, node.path, keys, self.top)
                )
                message = "unknown key" + (hint or f"; known here: {', '.join(known)}")
                self.mistakes.append(Mistake(key_path(node.path, key), message, node.lines[key]))
                meant += hint
        for key in lacking:
            if f"{key!r}" not in meant and f"`{key}: " not in meant:
                path = key_path(node.path, key)
                message = remedies.missing(key, lines or {})
                self.mistakes.append(Mistake(path, message, node.line))
        return {key: entry for key, entry in entries.items() if key in known}

    def entries(
        self, node: Node | None, what: str, one: str = "", vector: str = ""
    ) -> dict[str, Node] | None:
        """A mapping's entries, None where it is none (reported); others: `remedies.mapping`."""
        if isinstance(node, Fields):
            return node.entries
        if node is not None and not isinstance(node, Refused):
            remedy = remedies.mapping(node, one, vector)
            self.mistake(node, f"{_kind(node)} where {what} is expected{remedy}")
        return None

    def items(self, node: Node | None, size: int | None, what: str) -> tuple[Node, ...] | None:
        """A list's items, None where there is none, or another number of them (reported)."""
        if not isinstance(node, Items):
            if node is not None and not isinstance(node, Refused):
                remedy = remedies.list_of(node, size, what)
                self.mistake(node, f"{_kind(node)} where {what} is expected{remedy}")
            return None
        if parted := remedies.parted(node):
            self.mistake(node, f"{parted[0]}: write {parted[1]}")
            return None
        if size is None or len(node.items) == size:
            return node.items
        self.mistake(node, f"{what} is expected, not {len(node.items)} entries")
        return None

    def text(self, node: Node | None, what: str, most: int = _MAX_TEXT) -> str | None:
        """A scalar's text, None where there is none, or one of too many characters (reported)."""
        if isinstance(node, Text) and len(text := node.value.strip()) > most:
            self.mistake(node, f"{len(text)} characters where {what} is expected; at most {most}")
            return None
        if isinstance(node, Text) and node.value.strip():
            return node.value.strip()
        if node is not None and not isinstance(node, Refused):
            self.mistake(node, f"{_kind(node)} where {what} is expected")
        return None

    def choice(
        self,
        node: Node | None,
        options: Sequence[str],
        what: str,
        called: Mapping[str, str] = MappingProxyType({}),
    ) -> str | None:
        """One word of several; `called` has what else they are called."""
        word = self.text(node, f"{what} ({', '.join(options)})")
        if word is None or word in options:
            return word
        assert node is not None
        hint = did_you_mean(called.get(word.lower(), word), options)
        self.mistake(node, f"no {what} {word!r} ({', '.join(options)}){hint}")
        return None

    def name(self, node: Node, name: str, what: str) -> bool:
        """Whether a key may be a name (of a body, a joint, a spring); reported if not."""
        if name == "ground":
            self.mistake(
                node,
                f"'ground' is the world, and is there: take this line out, or rename the {what}",
            )
            return False
        if not _NAME.match(name):
            self.mistake(
                node,
                f"{name!r} cannot name a {what}: a name is letters, digits and '_' and starts "
                f"with a letter",
            )
            return False
        return True

    def known(
        self,
        node: Node | None,
        options: Iterable[str],
        what: str,
        called: Mapping[str, str] = MappingProxyType({}),
        more: str = "",
    ) -> str | None:
        """A name that was declared elsewhere; `called` has what else some are called.

        `more` is told where no other name is close.
        """
        word = self.text(node, f"the name of a {what}")
        options = list(options)
        if word is None or word in options or word in self.spoilt:
            return word
        assert node is not None
        close = body_meant if what == "body" else did_you_mean
        hint = close(called.get(word, word), options)
        hint = hint or f"; there are {', '.join(options) or 'none'}{more}"
        self.mistake(node, f"no {what} is named {word!r}{hint}")
        return None

    def whole(self, node: Node | None, least: int, most: int = 10**18) -> int:
        """An integer."""
        what = f"a whole number of at least {least}"
        word = self.text(node, what)
        if word is None:
            return least
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", word) or not least <= int(word) <= most:
            assert node is not None
            what += f" and at most {most}" * (
                word.isdecimal() and (len(word) > 18 or int(word) > most)
            )
            whole = re.fullmatch(r"([1-9])[eE]([0-9])|([0-9]{1,9})\.0*", word)
            meant = whole and (whole[3] or whole[1] + "0" * int(whole[2]))
            remedy = f"; write {meant}" if meant else ""
            if word in ("auto", "default"):
                remedy = "; take the key out for the default"
            self.mistake(node, f"{shown(word)} where {what} is expected{remedy}")
            return least
        return int(word)

    # Expressions

    def expression(
        self, node: Node | None, slot: Unit, state: Mapping[str, Dimension | None] | None = None
    ) -> Expression:
        """Any smooth function of symbols, constants and names of a state, in its dimension."""
        before = self.count
        result = self._parsed(node, slot, {**self.dimensions, **(state or {})})
        if node is not None and not state and self.count == before and not self.dubious:
            self._check_finite(node, self.at_nominal([result])[0], " at the values of the symbols")
        return result

    def fixed(self, node: Node | None, slot: Unit, names: Iterable[str] = ()) -> Expression:
        """A number: constants may stand in it, and are put in by value."""
        allowed = {name: self.dimensions[name] for name in names}
        before = self.count
        result = substitute(self._parsed(node, slot, allowed), self.constants)
        if node is not None and self.count == before:
            self._check_finite(node, float(evaluate([result], {})[0]))
        return result

    def _check_finite(self, node: Node, value: float, where: str = "") -> None:
        if not np.isfinite(value):
            self.mistake(node, f"its value is {value}{where}")

    def motion(self, node: Node | None, slot: Unit) -> Expression:
        """A number of a motion, the assembly or the noise; constants may stand in it."""
        return self.fixed(node, slot, self.constants)

    def positive(self, node: Node | None, slot: Unit, zero: bool = False) -> Expression:
        """A number of a motion that must be positive (or zero)."""
        before = self.count
        result = self.motion(node, slot)
        if node is not None and self.count == before:
            size = float(evaluate([result], {})[0])
            if not (size > 0 or (zero and size == 0)):
                self.mistake(node, f"{size:g} where something positive is expected")
        return result

    def geometric(
        self, node: Node | None, slot: Unit | None, pi: bool = False, lacks: str = ""
    ) -> tuple[Expression, Dimension | None]:
        """A rational function of symbols and constants, and of π where that is allowed; any
        dimension where the slot is None. `lacks`: what is wrong with one that has no unit."""
        before = self.count
        if slot is None:
            result, dimension = self._parsed_any(node)
        else:
            result, dimension = self._parsed(node, slot, self.dimensions, lacks), slot.dimension
        if node is not None and self.count == before and self.field is not None:
            self._check_geometry(node, without_pi(result) if pi else result)
        return result, dimension

    def _check_geometry(self, node: Node, result: Expression) -> None:
        assert self.field is not None
        try:
            check_rational(result)
            self.field.check(result)
        except ExpressionError as error:
            if not self._blames_angle(node, error.where):
                self.mistake(node, error.message)
            return
        if not np.isfinite(self.at_nominal([result])).all():
            self.mistake(node, "divides by zero at the values of the symbols")

    def at_nominal(self, expressions: Sequence[Expression]) -> np.ndarray:
        """Numbers at the values of the symbols."""
        values = dict(zip(self.values, evaluate(self.values.values(), {}), strict=True))
        return np.array(evaluate(expressions, values), float)

    def point(self, node: Node | None, slot: Unit = UNITS["m"]) -> Vector:
        """A vector of geometry slots, spatial; the origin where there is no node."""
        entries = self._padded([self.geometric(item, slot)[0] for item in self._components(node)])
        warn_of_millimetres(node, slot)
        return entries

    def smooth_point(self, node: Node | None, slot: Unit = UNITS["m"]) -> Vector:
        """A vector of inertia slots, spatial."""
        entries = self._padded([self.expression(item, slot) for item in self._components(node)])
        warn_of_millimetres(node, slot)
        return entries

    def fixed_point(self, node: Node | None, slot: Unit) -> Vector:
        """A vector of the motion: numbers and constants."""
        return self._padded([self.motion(item, slot) for item in self._components(node)])

    def direction(self, node: Node | None) -> Vector:
        """A vector of one dimension, whatever it is."""
        read = [self.geometric(item, None) for item in self._components(node)]
        found = {str(dimension) for _, dimension in read if dimension is not None}
        if node is not None and len(found) > 1:
            self.mistake(node, f"a direction of {' and '.join(sorted(found))}; use one unit")
        return self._padded([entry for entry, _ in read])

    def _components(self, node: Node | None) -> tuple[Node, ...]:
        size = 2 if self.planar else 3
        what = f"a vector of {size} entries, [{', '.join('xyz'[:size])}],"
        return self.items(node, size, what) or ()

    @staticmethod
    def _padded(entries: Sequence[Expression]) -> Vector:
        x, y, z = (*entries, ZERO, ZERO, ZERO)[:3]
        return (x, y, z)

    def _parsed(
        self,
        node: Node | None,
        slot: Unit,
        names: Mapping[str, Dimension | None],
        lacks: str = "",
    ) -> Expression:
        text = self.text(node, "a number or an expression")
        if text is None:
            return ZERO
        assert node is not None
        try:
            result = parse(text, slot, names)
        except ExpressionError as misfit:
            error = misfit
            if lacks and remedies.parses_as(text, DIMENSIONLESS, names):
                error = ExpressionError(f"{shown(text)} {lacks}")
            if self._blames_unit(node, text, slot, names, error):
                return ZERO
            allowed = "numbers and constants" if names else "numbers"
            self.complain(node, text, names, error, f"only {allowed}")
            return ZERO
        self._note_plain(text, slot, names)
        warn_of_trigonometry(node, text)
        if slot.text == "rad" and is_literal(text):
            warn_of_degrees(node, text)
        return result

    def _note_plain(self, text: str, slot: Unit, names: Mapping[str, Dimension | None]) -> None:
        """Take back that a symbol lacks a unit where it has its place without one."""
        used = {one.text for one in tokens(text) if one.kind == "name"} & self.unitless.keys()
        if used and not remedies.parses_as(text, slot, {**names, **dict.fromkeys(used, LENGTH)}):
            self._plain |= used
            for name in used & self._blamed.keys():
                place, other = self._blamed.pop(name)
                self.mistakes[place] = other

    def _blames_unit(
        self,
        node: Node,
        text: str,
        slot: Unit,
        names: Mapping[str, Dimension | None],
        error: ExpressionError,
    ) -> bool:
        """Whether an expression fits once its symbols without a unit have one; if so, say it."""
        try:
            used = {token.text for token in tokens(text) if token.kind == "name"}
        except ExpressionError:
            return False
        bare = sorted(used & self.unitless.keys() & names.keys() - self.spoilt - self._plain)
        units = remedies.lacking_units(text, slot, names, bare)
        for name, unit in units.items():
            other = Mistake(node.path, error.message, node.line)
            self._blamed[name] = len(self.mistakes), other
            self.mistake(
                self.unitless[name],
                f"has no unit, and {shown(text)} in {node.path} (line {node.line}) needs one: "
                f"write {remedies.with_unit(name, self.unitless[name], self._usual(unit))}, or "
                f"put another symbol there",
            )
            self.spoilt.add(name)
        return bool(units)

    def _blames_angle(self, node: Node, used: Sequence[str]) -> bool:
        """Whether a symbol without a unit is used as an angle; if so, say it once, at its line."""
        for name in self.unitless.keys() & {*used} - self.spoilt:
            symbol = self.unitless[name]
            size = abs(float(self.at_nominal([Name(name)])[0]))
            units = ("deg", "rad") if size > np.pi else ("rad", "deg")
            large = f"; {size:.6g} rad are {np.degrees(size):.4g} deg" if size > np.pi else ""
            self.mistake(
                symbol,
                f"has no unit, and {node.path} (line {node.line}) has it inside sin or cos: write "
                f"{remedies.with_unit(name, symbol, units[0])}, or unit: {units[1]}{large}",
            )
            self.spoilt.add(name)
        return bool({*used} & self.unitless.keys())

    def _usual(self, unit: str) -> str:
        """The unit that the file's symbols of this dimension have most often."""
        given = [one for one in self.symbol_units if one in UNITS]
        alike = [one for one in given if UNITS[one].dimension == parse_unit(unit).dimension]
        return max(alike, key=alike.count, default=unit)

    def _parsed_any(self, node: Node | None) -> tuple[Expression, Dimension | None]:
        text = self.text(node, "a number or an expression")
        if text is None:
            return ZERO, None
        try:
            return parse_any(text, self.dimensions)
        except ExpressionError as error:
            assert node is not None
            self.complain(node, text, self.dimensions, error)
            return ZERO, None

    def complain(
        self,
        node: Node,
        text: str,
        names: Mapping[str, object],
        error: ExpressionError,
        allowed: str = "",
    ) -> None:
        """Report an expression's error, unless it comes from a name already complained of.

        A name that is declared but has no place in this slot is reported; `allowed` says
        what has.
        """
        try:
            used = {token.text for token in tokens(text) if token.kind == "name"}
        except ExpressionError:
            used = set()
        undeclared = used - set(self.dimensions) - RESERVED
        if used & self.spoilt or (undeclared and "symbols" in self.unknown):
            return
        strangers = sorted((used & set(self.dimensions)) - set(names))
        if strangers:
            self.mistake(node, f"{strangers[0]!r} cannot stand here, {allowed} can")
        else:
            self.mistake(node, error.message)


def _kind(node: Node) -> str:
    if isinstance(node, Text):
        return shown(node.value) if node.value.strip() else "nothing"
    return "a list" if isinstance(node, Items) else "a mapping"
