"""Torque functions of reduced models as Python and as C: text that needs nothing of ours."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from basepar_core.dynamics import configuration_size
from basepar_core.expressions import Node, operands
from basepar_core.mechanism import joint_type
from basepar_core.torque_code import TorqueProgram

from .templates import filled

#: Longest expression that stands within another one.
_INLINE = 110
_GIVEN = {"q": "q", "v": "qd", "a": "qdd", "p": "p"}


@dataclass(frozen=True)
class Operations:
    """Floating-point operations of one torque, the loops closed already."""

    multiplications: int
    additions: int
    divisions: int
    functions: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.multiplications + self.additions + self.divisions + self.functions

    def document(self) -> dict[str, int]:
        """For programs."""
        return {
            "multiplications": self.multiplications,
            "additions": self.additions,
            "divisions": self.divisions,
            "functions": self.functions,
            "total": self.total,
        }


def operations(program: TorqueProgram) -> Operations:
    """What one torque costs: the nodes that it needs, and the linear systems."""
    outputs = [*program.torques]
    for solve in program.solves:
        outputs += solve.right
    outputs += [node for matrix in program.matrices for row in matrix for node in row]
    kinds = Counter(program.graph.nodes[place][0] for place in _needed(program, outputs))
    found = [
        kinds["*"],
        kinds["+"] + kinds["less"],
        kinds["/"],
        kinds["sin"] + kinds["cos"] + kinds["sqrt"] + kinds["sign"],
    ]
    for matrix in program.matrices:
        n, systems = len(matrix), 3
        found[0] += (2 * n**3 - 3 * n**2 + n) // 6 + systems * n * (n - 1)
        found[1] += (2 * n**3 - 3 * n**2 + n) // 6 + systems * n * (n - 1)
        found[2] += n * (n - 1) // 2 + systems * n
    return Operations(*found)


def _needed(program: TorqueProgram, outputs: Iterable[int]) -> set[int]:
    found: set[int] = set()
    waiting = list(outputs)
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting += operands(program.graph.nodes[place])
    return found


class _Printer:
    """Prints stretches of a graph as assignments, each node once."""

    def __init__(self, program: TorqueProgram, outputs: Sequence[int], c: bool):
        self.nodes, self.c = program.graph.nodes, c
        self.state = {position: k for k, position in enumerate(state_positions(program))}
        needed = _needed(program, outputs)
        self.uses = Counter(o for place in needed for o in operands(self.nodes[place]))
        self.uses.update(outputs)
        self.inputs = {self.nodes[place][1] for place in needed if self.nodes[place][0] == "name"}
        self.words: dict[int, str] = {}

    def lines(self, outputs: Sequence[int]) -> list[str]:
        """Assignments of what the outputs need and is not there yet."""
        made: list[str] = []
        order, seen = [], set()
        waiting = list(outputs)
        while waiting:
            place = waiting.pop()
            if place not in seen and place not in self.words:
                seen.add(place)
                order.append(place)
                waiting += operands(self.nodes[place])
        for place in sorted(order):
            node = self.nodes[place]
            if node[0] == "name":
                self.words[place] = self._input(node[1])
            elif node[0] == "number":
                value = float(node[1])
                self.words[place] = repr(value) if value >= 0 else f"({value!r})"
            else:
                text = self._code(node)
                if self.uses[place] == 1 and place not in outputs and len(text) < _INLINE:
                    self.words[place] = f"({text})"
                else:
                    self.words[place] = f"t{place}"
                    made.append(self.assign(f"t{place}", text))
        return made

    def assign(self, name: str, text: str) -> str:
        """One assignment."""
        return f"const double {name} = {text};" if self.c else f"{name} = {text}"

    def word(self, place: int) -> str:
        """What a node is called."""
        return self.words[place]

    def _input(self, name: str) -> str:
        kind, number = name[0], int(name[1:])
        if kind == "x":
            return f"x[{self.state[number]}]"
        return f"{_GIVEN[kind]}[{number}]" if kind in _GIVEN else name

    def _code(self, node: Node) -> str:
        parts = [self.words[place] for place in node[1:]]
        match node[0]:
            case "+" | "*":
                return f" {node[0]} ".join(parts)
            case "less":
                return " - ".join(parts)
            case "-":
                return f"-{parts[0]}"
            case "/":
                return " / ".join(parts)
        return f"{node[0]}({parts[0]})"


def state_positions(program: TorqueProgram) -> list[int]:
    """Configuration entries that the loops determine, by position."""
    topology = program.model.topology
    return [
        node.position + k
        for node in topology.tree
        for k in range(configuration_size(node.kind))
        if joint_type(node.kind).is_ball or node.speed + k not in topology.independent
    ]


def _updates(program: TorqueProgram, c: bool) -> list[str]:
    """Newton's step of every dependent joint: `d` by speed, `x` by place in the state."""
    place = {position: k for k, position in enumerate(state_positions(program))}
    solved = [speed for _, speeds in program.model.loops.blocks for speed in speeds]
    end = ";" if c else ""
    lines = []
    for node in program.model.topology.tree:
        mine = [node.speed + k for k in range(joint_type(node.kind).values)]
        if joint_type(node.kind).is_ball:
            steps = ", ".join(f"d{speed}" for speed in mine)
            at = f"x + {place[node.position]}" if c else f"x, {place[node.position]}"
            lines.append(f"_turn({at}, {steps}){end}")
            continue
        lines += [
            f"x[{place[node.position + k]}] += d{speed}{end}"
            for k, speed in enumerate(mine)
            if speed in solved
        ]
    return lines


def _solved(
    printer: _Printer, block: int, names: Sequence[str], right: Sequence[str], transposed: bool
) -> list[str]:
    """One linear system: its right side, its solution into names."""
    function = "_solve_transposed" if transposed else "_solve"
    n = len(names)
    if printer.c:
        lines = [f"double r_{names[0]}[{n}] = {{{', '.join(right)}}};"]
        lines.append(f"{function}({n}, f{block}, i{block}, r_{names[0]});")
        wanted = [(k, x) for k, x in enumerate(names) if x in printer.inputs or x[0] == "d"]
        return lines + [printer.assign(x, f"r_{names[0]}[{k}]") for k, x in wanted]
    left = ", ".join(names) + ("," if n == 1 else "")
    return [f"{left} = {function}(f{block}, [{', '.join(right)}])"]


def _factored(printer: _Printer, block: int, matrix: Sequence[Sequence[int]]) -> list[str]:
    rows = [[printer.word(node) for node in row] for row in matrix]
    n = len(rows)
    if printer.c:
        flat = ", ".join(word for row in rows for word in row)
        return [
            f"double f{block}[{n * n}] = {{{flat}}};",
            f"int i{block}[{n}];",
            f"if (_factor({n}, f{block}, i{block})) return 1;",
        ]
    inside = ", ".join(f"[{', '.join(row)}]" for row in rows)
    return [f"f{block} = _factor([{inside}])"]


def _body(program: TorqueProgram, c: bool) -> list[str]:
    """The torque at a closed configuration."""
    flat = [[node for row in matrix for node in row] for matrix in program.matrices]
    outputs = [
        *program.torques,
        *(n for s in program.solves for n in s.right),
        *(n for nodes in flat for n in nodes),
    ]
    printer = _Printer(program, outputs, c)
    lines = []
    for block, nodes in enumerate(flat):
        lines += printer.lines(nodes)
        lines += _factored(printer, block, program.matrices[block])
    for solve in program.solves:
        lines += printer.lines(solve.right)
        right = [printer.word(node) for node in solve.right]
        lines += _solved(printer, solve.block, solve.unknowns, right, solve.transposed)
    lines += printer.lines(program.torques)
    words = [printer.word(node) for node in program.torques]
    if c:
        return [*lines, *(f"tau[{k}] = {word};" for k, word in enumerate(words)), "return 0;"]
    return [*lines, f"return [{', '.join(words)}]"]


def _points(program: TorqueProgram, c: bool) -> list[str]:
    """Positions of the mechanism's points at a closed configuration."""
    printer = _Printer(program, program.points, c)
    lines = printer.lines(program.points)
    words = [printer.word(node) for node in program.points]
    if c:
        return [*lines, *(f"at[{k}] = {word};" for k, word in enumerate(words))]
    each = len(words) // len(program.model.mechanism.points)
    rows = [", ".join(words[k : k + each]) for k in range(0, len(words), each)]
    return [*lines, f"return [{', '.join(f'[{row}]' for row in rows)}]"]


def _newton(program: TorqueProgram, c: bool) -> list[str]:
    """One Newton step on the loops: moves the state, gives the largest update."""
    flat = [[n for row in m for n in row] for m in program.matrices]
    outputs = [*(n for nodes in flat for n in nodes), *(n for gaps in program.gaps for n in gaps)]
    printer = _Printer(program, outputs, c)
    lines, names = [], []
    for block, (_, speeds) in enumerate(program.model.loops.blocks):
        lines += printer.lines([*flat[block], *program.gaps[block]])
        lines += _factored(printer, block, program.matrices[block])
        right = [f"-{printer.word(node)}" for node in program.gaps[block]]
        names += (mine := [f"d{speed}" for speed in speeds])
        lines += _solved(printer, block, mine, right, False)
    lines += _updates(program, c)
    if c:
        largest = "0.0"
        for name in names:
            largest = f"fmax({largest}, fabs({name}))"
        return [*lines, f"*size = {largest};", "return 0;"]
    return [*lines, f"return max({', '.join(f'abs({name})' for name in names)}, 0.0)"]


def _indented(lines: Sequence[str], by: int = 4) -> str:
    return "\n".join(" " * by + line for line in lines)


def write(
    program: TorqueProgram,
    values: Sequence[float] | np.ndarray,
    form: str,
    about: Sequence[str] = (),
) -> str:
    """Source text of a model's torque function.

    Parameters
    ----------
    program
        From `torque_program`.
    values
        φ of its columns, SI: the default of the argument `p`.
    form
        python or c.
    about
        Lines on what model this is.

    Returns
    -------
    A module with `torque(q, qd, qdd, p, state)`, `acceleration(q, qd, tau, p, state)` and, where
    the mechanism has points, `points(q, state)`: positions in the ground's frame, m. The state is
    what the loops determine and the coordinates it belongs to; it follows from call to call, in
    small steps whatever the distance.
    """
    c = form == "c"
    mechanism, model = program.model.mechanism, program.model
    positions = state_positions(program)
    start = [*program.start[positions].tolist(), *model.assembled.coordinates.tolist()]
    numbers: Mapping[str, object] = {
        "mechanism": mechanism.name,
        "about": list(about),
        "coordinates": list(mechanism.coordinates),
        "parameters": list(program.names),
        "values": [float(x) for x in values],
        "start": [float(x) for x in start],
        "steps": np.asarray(model.loops.step, float).tolist(),
        "operations": operations(program).document(),
        "torque": _indented(_body(program, c)),
        "points": [point.name for point in mechanism.points],
        "places": _indented(_points(program, c)) if program.points else "",
        "numbers": len(program.points),
        "newton": _indented(_newton(program, c)) if program.matrices else "",
        "largest": max((len(matrix) for matrix in program.matrices), default=0),
        "turns_freely": any(joint_type(node.kind).is_ball for node in model.topology.tree),
    }
    return filled("torque.c" if c else "torque.py", numbers) + "\n"
