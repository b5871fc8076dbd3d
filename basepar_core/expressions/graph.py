"""Expressions as one graph: equal parts are one node, and derivatives share what values compute.

Forward differentiation adds nodes to the graph that it differentiates, so that a derivative is
exact and its common parts are computed once with the value's. `programs.py` makes them run.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from .tree import Call, Expression, Name, Number, Pi

#: Functions of one argument that nodes may be.
FUNCTIONS = ("sqrt", "sin", "cos", "tan", "abs", "sign", "log")

#: A node: an operation and its operands (numbers of nodes; a name; a Fraction).
Node = tuple[Any, ...]
NODE_ZERO, NODE_ONE = 0, 1


class Graph:
    """Expressions with shared parts; nodes only refer to earlier ones."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._places: dict[Node, int] = {}
        self._trees: dict[Expression, int] = {}
        self.number(Fraction(0))
        self.number(Fraction(1))

    def _node(self, *node: Any) -> int:
        if node not in self._places:
            self._places[node] = len(self.nodes)
            self.nodes.append(node)
        return self._places[node]

    def number(self, value: Fraction) -> int:
        return self._node("number", value)

    def name(self, name: str) -> int:
        return self._node("name", name)

    def value(self, place: int) -> Fraction | None:
        """The exact number that a node is, if it is one."""
        node = self.nodes[place]
        return node[1] if node[0] == "number" else None

    def tree(self, tree: Expression) -> int:
        """The node of an expression of a file."""
        if tree not in self._trees:
            self._trees[tree] = self._of(tree)
        return self._trees[tree]

    def _of(self, tree: Expression) -> int:
        match tree:
            case Number(value):
                return self.number(value)
            case Pi():
                return self._node("pi")
            case Name(name):
                return self.name(name)
            case Call("^", (base, Number(power))) if power.denominator == 1:
                return self.power(self.tree(base), int(power))
            case Call(operator, arguments):
                return self._operated(operator, [self.tree(argument) for argument in arguments])
        raise TypeError(f"no expression: {tree!r}")

    def _operated(self, operator: str, places: list[int]) -> int:
        match operator:
            case "+":
                return self.add(*places)
            case "*":
                return self.multiply(*places)
            case "-":
                return self.negate(places[0])
            case "/":
                return self.divide(*places)
            case "^":
                return self._node("^", *places)
            case "min" | "max":
                chosen = places[0]
                for other in places[1:]:
                    pair = (chosen, other) if operator == "min" else (other, chosen)
                    chosen = self.select(*pair, chosen, other)
                return chosen
        if operator not in FUNCTIONS:
            raise TypeError(f"{operator!r} has no derivative and stands in no parameter")
        return self._node(operator, *places)

    def add(self, *places: int) -> int:
        """Sum: numbers first, then the others in order of appearance in the graph."""
        total, rest = Fraction(0), []
        for place in places:
            known = self.value(place)
            total += known or 0
            if known is None:
                rest.append(place)
        minus = [self.nodes[p][1] for p in sorted(rest) if self.nodes[p][0] == "-"]
        plus = [p for p in sorted(rest) if self.nodes[p][0] != "-"]
        if total:
            plus.insert(0, self.number(total))
        if not plus:
            return self.negate(self._chain("+", minus)) if minus else NODE_ZERO
        found = self._chain("+", plus)
        for place in minus:
            found = self._node("less", found, place)
        return found

    def _chain(self, operator: str, places: Sequence[int]) -> int:
        found = places[0]
        for place in places[1:]:
            found = self._node(operator, found, place)
        return found

    def negate(self, place: int) -> int:
        """−x."""
        node = self.nodes[place]
        if node[0] == "number":
            return self.number(-node[1])
        return node[1] if node[0] == "-" else self._node("-", place)

    def multiply(self, *places: int) -> int:
        """Product, signs and numbers in front."""
        factor, rest = Fraction(1), []
        for place in places:
            node = self.nodes[place]
            if node[0] == "-":
                factor, place = -factor, node[1]
            known = self.value(place)
            if known is None:
                rest.append(place)
            else:
                factor *= known
        if not factor or not rest:
            return self.number(factor)
        found = self._chain("*", sorted(rest))
        if abs(factor) != 1:
            found = self._node("*", self.number(abs(factor)), found)
        return found if factor > 0 else self.negate(found)

    def power(self, base: int, exponent: int) -> int:
        """A whole power, by repeated squares."""
        if exponent < 0:
            return self.divide(NODE_ONE, self.power(base, -exponent))
        if exponent < 2:
            return base if exponent else NODE_ONE
        half = self.power(base, exponent // 2)
        return self.multiply(half, half, *([base] if exponent % 2 else []))

    def divide(self, top: int, bottom: int) -> int:
        """Quotient; by zero it stays one, with the value that NumPy gives it."""
        known = self.value(bottom)
        if known:
            return self.multiply(top, self.number(1 / known))
        if self.nodes[top][0] == "-":
            return self.negate(self.divide(self.nodes[top][1], bottom))
        return NODE_ZERO if top == NODE_ZERO else self._node("/", top, bottom)

    def select(self, one: int, other: int, where: int, elsewhere: int) -> int:
        """`where` where one ≤ other, else `elsewhere`."""
        if where == elsewhere:
            return where
        return self._node("select", one, other, where, elsewhere)

    def derivative(self, place: int, by: str) -> int:
        """∂node/∂name."""
        return self.derivatives([place], by, {})[0]

    def derivatives(self, places: Sequence[int], by: str, inner: Mapping[str, int]) -> list[int]:
        """∂node/∂name of several nodes.

        Parameters
        ----------
        places
            The nodes.
        by
            A name.
        inner
            Derivatives of other names that depend on it, as nodes.
        """
        known: dict[int, int] = {}
        inner = {**inner, by: NODE_ONE}

        def slope(at: int) -> int:
            if at not in known:
                known[at] = self._slope(at, slope, inner)
            return known[at]

        return [slope(place) for place in places]

    def _slope(self, at: int, slope: Callable[[int], int], inner: Mapping[str, int]) -> int:
        operator, *operands = self.nodes[at]
        if operator in ("number", "pi", "name", "sign"):
            return inner.get(operands[0], NODE_ZERO) if operator == "name" else NODE_ZERO
        parts = [slope(place) for place in operands]
        if not any(parts):
            return NODE_ZERO
        match operator:
            case "+":
                return self.add(*parts)
            case "less":
                return self.add(parts[0], self.negate(parts[1]))
            case "-":
                return self.negate(parts[0])
            case "*":
                (a, b), (da, db) = operands, parts
                return self.add(self.multiply(da, b), self.multiply(a, db))
            case "/":
                inside = self.add(parts[0], self.negate(self.multiply(at, parts[1])))
                return self.divide(inside, operands[1])
            case "select":
                return self.select(*operands[:2], *parts[2:])
            case "^":
                return self._slope_of_power(at, *operands, *parts)
        return self.multiply(self._outer(at, operator, operands[0]), parts[0])

    def _slope_of_power(self, at: int, base: int, exponent: int, da: int, db: int) -> int:
        lower = self._node("^", base, self.add(exponent, self.number(Fraction(-1))))
        first = self.multiply(exponent, lower, da)
        return self.add(first, self.multiply(at, self._node("log", base), db)) if db else first

    def _outer(self, at: int, function: str, argument: int) -> int:
        """Derivative of a function of one argument, whose value is node `at`."""
        match function:
            case "sqrt":
                return self.divide(self.number(Fraction(1, 2)), at)
            case "sin":
                return self._node("cos", argument)
            case "cos":
                return self.negate(self._node("sin", argument))
            case "tan":
                return self.add(NODE_ONE, self.multiply(at, at))
            case "abs":
                return self._node("sign", argument)
        raise TypeError(f"{function!r} has no derivative")


def operands(node: Node) -> tuple[int, ...]:
    """Nodes that a node is computed from."""
    return () if node[0] in ("number", "pi", "name") else node[1:]
