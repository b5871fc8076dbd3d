"""Straight-line programs of the nodes of an expression graph.

A program lists the nodes that its outputs need, in order. It runs on NumPy, chunk by chunk, or
compiled by numba: for each variant one row is written, front to back, which is as fast as memory
takes it (decision 13). No name from a file enters the code that is generated.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from .graph import FUNCTIONS, NODE_ZERO, Graph, Node, operands

#: Rows that NumPy takes at once: its intermediate arrays stay in the second-level cache.
CHUNK = 4096


@dataclass(frozen=True)
class Program:
    """Outputs of a graph as steps; plain data, picklable.

    Attributes
    ----------
    inputs
        Names, in the order of the columns they are given in.
    steps
        Assignments in Python: names `x0…` are inputs, `t…` results of steps.
    outputs
        Number of outputs.
    written
        Outputs that are not zero, each with the name or the number that it is.
    """

    inputs: tuple[str, ...]
    steps: tuple[str, ...] = field(repr=False)
    outputs: int
    written: tuple[tuple[int, str], ...] = field(repr=False)

    @classmethod
    def of(cls, graph: Graph, outputs: Sequence[int]) -> "Program":
        """The program of some nodes."""
        needed: set[int] = set()
        waiting = list(outputs)
        while waiting:
            place = waiting.pop()
            if place not in needed:
                needed.add(place)
                waiting += operands(graph.nodes[place])
        order = sorted(needed)
        inputs = sorted(graph.nodes[p][1] for p in order if graph.nodes[p][0] == "name")
        words: dict[int, str] = {}
        steps = []
        for place in order:
            node = graph.nodes[place]
            if node[0] == "name":
                words[place] = f"x{inputs.index(node[1])}"
            elif node[0] in ("number", "pi"):
                words[place] = repr(np.pi if node[0] == "pi" else float(node[1]))
            else:
                words[place] = f"t{place}"
                steps.append(f"t{place} = {_code(node, words)}")
        written = tuple((k, words[place]) for k, place in enumerate(outputs) if place != NODE_ZERO)
        return cls(tuple(inputs), tuple(steps), len(outputs), written)

    def run(self, columns: Sequence[np.ndarray], out: np.ndarray, jit: bool) -> None:
        """Fill `out` (variant, output) from `columns`, each (variant,) or (1,)."""
        if jit:
            _numba_function(self)(out, *columns)
            return
        function = _numpy_function(self)
        with np.errstate(all="ignore"):
            for start in range(0, len(out), CHUNK):
                part = slice(start, start + CHUNK)
                function(out[part], *(x if x.size == 1 else x[part] for x in columns))


def _code(node: Node, words: Mapping[int, str]) -> str:
    operator, *places = node
    parts = [words[place] for place in places]
    match operator:
        case "+" | "*":
            return f" {operator} ".join(parts)
        case "less":
            return f"{parts[0]} - {parts[1]}"
        case "-":
            return f"-{parts[0]}"
        case "/":
            return f"divide({', '.join(parts)})"
        case "^":
            return f"power({', '.join(parts)})"
        case "select":
            return f"select({', '.join(parts)})"
    return f"{operator}({parts[0]})"


_NUMPY: Mapping[str, Any] = {
    **{name: getattr(np, name) for name in (*FUNCTIONS, "divide", "power")},
    "select": lambda one, other, where, elsewhere: np.where(one <= other, where, elsewhere),
}


def _arguments(program: Program) -> str:
    return ", ".join(["out", *(f"x{k}" for k in range(len(program.inputs)))])


@lru_cache(maxsize=64)
def _numpy_function(program: Program) -> Callable[..., None]:
    zeros = ["out[:] = 0.0"] if len(program.written) < program.outputs else []
    body = [*program.steps, *zeros, *(f"out[:, {k}] = {word}" for k, word in program.written)]
    return _defined(f"def function({_arguments(program)}):", body, dict(_NUMPY))


def _defined(head: str, body: Sequence[str], names: dict[str, Any]) -> Callable[..., None]:
    exec("\n    ".join([head, *(body or ["pass"])]), names)
    return names["function"]


@lru_cache(maxsize=64)
def _numba_function(program: Program) -> Callable[..., None]:
    """The program compiled for the machine it runs on; the first call takes a second or more.

    Exact operations and their order are those of NumPy: no fast-math.
    """
    import numba

    names: dict[str, Any] = {name: getattr(np, name) for name in (*FUNCTIONS, "power")}
    names["divide"] = numba.njit(lambda a, b: a / b, error_model="numpy", inline="always")
    names["select"] = numba.njit(lambda a, b, c, d: c if a <= b else d, inline="always")
    count = range(len(program.inputs))
    body = [f"step{k} = 1 if len(c{k}) > 1 else 0" for k in count]
    body.append("for i in range(len(out)):")
    body += [f"    x{k} = c{k}[i * step{k}]" for k in count]
    body += [f"    {step}" for step in program.steps]
    # Most derivatives are zero; a row is cleared while it is in the cache.
    body += ["    out[i, :] = 0.0"] if len(program.written) < program.outputs else []
    body += [f"    out[i, {k}] = {word}" for k, word in program.written]
    head = f"def function({', '.join(['out', *(f'c{k}' for k in count)])}):"
    column = numba.types.Array(numba.float64, 1, "C", readonly=True)
    signature = numba.void(numba.float64[:, ::1], *[column for _ in count])
    return numba.njit(signature, error_model="numpy")(_defined(head, body, names))
