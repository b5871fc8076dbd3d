"""Couplings of several joint values as URDF+ has them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from .coupled_values import ROUNDING, several
from .parts import Coupling
from .tree import Tree
from .xml import Element, child, number


@dataclass(frozen=True)
class Rolling:
    """URDF+'s coupling: of the values on the ways to two links from the one at which the ways
    part, ratio · (sum to the first) = (sum to the second)."""

    links: tuple[str, str]
    ratio: float


def rollings_of(
    dialect: str, tree: Tree, couplings: Sequence[Coupling], problems: list[str]
) -> dict[str, Rolling]:
    """Couplings of several values as rolling ones; what is none joins `problems`."""
    found = {}
    for one in couplings:
        rolling = _rolling(tree, one) if dialect == "urdf+" else None
        if rolling is None:
            problems.append(several(tree.robot, one))
        else:
            found[one.name] = rolling
    return found


def _rolling(tree: Tree, one: Coupling) -> Rolling | None:
    """Two links on whose ways the values of a coupling are, and no others."""
    ways: dict[str, tuple[str, ...]] = {tree.robot.ground: ()}
    for branch in tree.branches:
        ways[branch.child] = ways[branch.parent] + branch.joint.values
    for first, second in product(ways, ways):
        sides = [set(ways[first]) - set(ways[second]), set(ways[second]) - set(ways[first])]
        if sides[0] | sides[1] != one.terms.keys() or abs(one.offset) > ROUNDING:
            continue
        factors = [[one.terms[name] for name in side] for side in sides]
        if not factors[0] or any(np.ptp(x) > ROUNDING * abs(x[0]) for x in factors if x):
            continue
        return Rolling((first, second), -factors[0][0] / factors[1][0] if factors[1] else 1.0)
    return None


def write_rolling(root: Element, name: str, rolling: Rolling) -> None:
    """Its element."""
    made = child(root, "coupling", name=name, type="rolling")
    for tag, end in zip(("predecessor", "successor"), rolling.links, strict=True):
        child(made, tag, link=end)
    child(made, "ratio", value=number(rolling.ratio))
