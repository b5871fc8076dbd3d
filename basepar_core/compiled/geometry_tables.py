"""Every variant's constant frames, as the kernels want them: (item, 12, variant).

Spatial items: per element the rotation (9, row by row) and offset (3) from its parent's link
frame to the joint; per body the frame of its own joint in it; per cut its frames in the link
frames of its two bodies. Planar items: per element angle, joint in the parent, direction of the
slide, joint in the child; per cut its points and axes. Then coefficients and offsets of
couplings, twelve to an item. Last is gravity (3). What no swept symbol enters is computed once:
geometry is needed nine times per variant on its way from the nominal one.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Model, TreeJoint, spatial
from basepar_core.expressions import Rows
from basepar_core.mechanism import Frame, joint_type
from basepar_core.symbolic import roots, symbol_values

from .coupled_tables import ITEM, coupled_items
from .mechanism_tables import chain, link_elements

#: A joint's frame in a body: origin (3, …), axes (3, 3, …).
Side = tuple[Array, Array]
_EYE = np.eye(3)[..., None]
_NONE = np.zeros((3, 1))


@dataclass(frozen=True)
class Dimensions:
    """Constant frames of a mechanism at any values of its symbols."""

    model: Model

    @cached_property
    def items(self) -> int:
        """Number of items: elements; in space bodies; cuts, in space twice; couplings; gravity."""
        graph = self.model.topology
        elements = sum(map(len, link_elements(graph)))
        more = len(graph.cuts) if graph.planar else graph.bodies + 2 * len(graph.cuts)
        return elements + more + coupled_items(graph) + 1

    def table(self, values: Mapping[str, Array], count: int) -> Array:
        """(item, 12, variant) at symbol values, (variant,) arrays in SI; missing are nominal."""
        table = np.repeat(self.nominal, count, axis=1)
        with np.errstate(all="ignore"):  # a direction that vanishes is a variant's own failure
            for row, number in self._numbers(values).items():
                table[row] = number
        return table.reshape(self.items, ITEM, count)

    def way(
        self, values: Mapping[str, Array], steps: int, last: bool = False
    ) -> tuple[Array, Array]:
        """Constants on a straight line of the symbols from nominal ones, all steps but the last.

        Or with the last.

        Returns
        -------
        (row,) item · 12 + number of those that change, and their values (row, step, variant).
        """
        nominal, jumping = self.model.mechanism.nominal, self.model.loops.jumping
        shares, between = np.arange(1, steps + last)[:, None] / steps, {}
        for name, x in values.items():
            if name in self.model.mechanism.roots:  # it does not go straight
                continue
            line = nominal[name] + (shares**0 if name in jumping else shares) * (x - nominal[name])
            if last:
                line[-1] = x
            between[name] = line.ravel()
        between |= roots(self.model.mechanism, between, way=not last)
        with np.errstate(all="ignore"):  # as above
            found = self._numbers(between)
        changing = {row: number for row, number in found.items() if np.size(number) > 1}
        count = next(iter(values.values())).size
        table = np.empty((len(changing), len(shares), count))
        for row, number in zip(table, changing.values(), strict=True):
            row[:] = number.reshape(row.shape)
        return np.array([*changing], dtype=np.int64), table

    def trivial(self) -> tuple[Array, Array]:
        """(element,) whether its rotation, (body,) whether its frame is one in every variant."""
        graph = self.model.topology
        count = sum(map(len, link_elements(graph)))
        if graph.planar:
            return np.zeros(count, dtype=bool), np.ones(graph.bodies, dtype=bool)
        # Two values tell a constant from a symbol: constants have one number for both.
        nominal = self.model.mechanism.nominal
        swept = {name: np.full(2, value) for name, value in nominal.items()}
        found = self._found(swept, swept.keys())
        one = [*np.eye(3).ravel()]
        same = [_is(numbers[:9], one) for numbers in found[:count]]
        plain = [_is(numbers, [*one, 0, 0, 0]) for numbers in found[count : count + graph.bodies]]
        return np.array(same), np.array(plain, dtype=bool)

    @cached_property
    def nominal(self) -> Array:
        """(item · 12 + number, 1) of the nominal geometry."""
        table = np.zeros((self.items, ITEM))
        for row, numbers in zip(table, self._found({}, set()), strict=True):
            row[: len(numbers)] = np.concatenate([np.atleast_1d(x) for x in numbers])
        return table.reshape(-1, 1)

    def _numbers(self, values: Mapping[str, Array]) -> dict[int, Array]:
        """What differs from nominal numbers, and maybe others, by item · 12 + number."""
        mechanism = self.model.mechanism
        known = symbol_values(mechanism, values)
        moving = {*values, *(r.symbol for r in mechanism.relations if r.symbol not in values)}
        if not self.model.topology.planar or not self._directions.isdisjoint(moving):
            return {
                ITEM * k + i: number
                for k, numbers in enumerate(self._found(known, moving))
                for i, number in enumerate(numbers)
            }
        return {
            row + i: number
            for row, length, vector in self._places
            if not vector.names.isdisjoint(moving)
            for i, number in enumerate(vector.at_values(known, moving)[:length])
        }

    @cached_property
    def _directions(self) -> frozenset[str]:
        """Symbols that turn joints' frames."""
        return frozenset().union(*(frame.names for pair in self._sides for frame in pair))

    @cached_property
    def _places(self) -> list[tuple[int, int, Rows]]:
        """Where numbers of expressions stand as they are, of a planar mechanism: row, length."""
        graph, found, item = self.model.topology, [], 0
        for node in graph.tree:
            near, far = self._sides[node.joint][:: 1 if node.forward else -1]
            last = item + len(chain(node.kind, node.forward)[0]) - 1
            found += [(ITEM * item + 1, 2, near.at), (ITEM * last + 5, 2, far.at)]
            item = last + 1
        for cut in graph.cuts:
            first, second = self._sides[cut.joint]
            found += [(ITEM * item, 2, first.at), (ITEM * item + 2, 2, second.at)]
            item += 1
        found += [(ITEM * item + k, 1, factor) for k, factor in enumerate(self._factors)]
        return [*found, (ITEM * (self.items - 1), 3, self._gravity)]

    def _found(
        self, known: Mapping[str, Array | float], moving: AbstractSet[str]
    ) -> list[list[Array]]:
        """All numbers of all items."""
        sides = [tuple(frame.at_values(known, moving) for frame in pair) for pair in self._sides]
        items = self._planar(sides) if self.model.topology.planar else self._spatial(sides)
        return [*items, *self._further(known, moving), [*self._gravity.at_values(known, moving)]]

    def _further(
        self, known: Mapping[str, Array | float], moving: AbstractSet[str]
    ) -> list[list[Array]]:
        numbers = [vector.at_values(known, moving)[0] for vector in self._factors]
        return [numbers[k : k + ITEM] for k in range(0, len(numbers), ITEM)]

    @cached_property
    def _factors(self) -> list[Rows]:
        """Constants of further constraints, one after the other."""
        mechanism = self.model.mechanism
        flat = [x for row in mechanism.constraint_constants for x in row]
        return [Rows((entry,), mechanism.nominal) for entry in flat]

    @cached_property
    def _sides(self) -> list[tuple["_Frame", ...]]:
        nominal = self.model.mechanism.nominal
        return [
            tuple(_Frame(frame, nominal) for frame in joint.frames)
            for joint in self.model.mechanism.joints
        ]

    @cached_property
    def _gravity(self) -> Rows:
        return Rows(self.model.mechanism.gravity, self.model.mechanism.nominal)

    def _spatial(self, sides: list) -> list[list[Array]]:
        graph = self.model.topology
        carried: dict[int, tuple[Array, Array]] = {-1: (_NONE, _EYE)}
        items = []
        for node in graph.tree:
            near, far = sides[node.joint] if node.forward else sides[node.joint][::-1]
            elements, last = chain(node.kind, node.forward)
            for k, element in enumerate(elements):
                turn = element.turn[..., None]
                at, axes = _relative(carried[node.parent], near) if k == 0 else (_NONE, _EYE)
                items.append(_flat(at, spatial.compose(axes, turn)))
            carried[node.child] = far[0], spatial.compose(far[1], last[..., None])
        bodies = [_flat(*carried[b]) for b in range(graph.bodies)]
        cuts = [
            _flat(*_relative(carried[body], side))
            for cut in graph.cuts
            for body, side in zip((cut.first, cut.second), sides[cut.joint], strict=True)
        ]
        return [*items, *bodies, *cuts]

    def _planar(self, sides: list) -> list[list[Array]]:
        graph, items = self.model.topology, []
        for node in graph.tree:
            near, far = sides[node.joint] if node.forward else sides[node.joint][::-1]
            elements, _ = chain(node.kind, node.forward)
            for k, element in enumerate(elements):
                items.append(_planar_element(node, k, len(elements), element.place, near, far))
        for cut in graph.cuts:
            (o1, A1), (o2, A2) = sides[cut.joint]
            angle = _angle(spatial.compose(A2, spatial.transpose(A1)))
            n = A1[2, 0 if "z" in joint_type(cut.kind).slides else 2]
            turn = [np.cos(angle), np.sin(angle)]
            items.append([*o1[:2], *o2[:2], angle, n, *A1[:2, 0], *A1[:2, 1], *turn])
        return items


def _planar_element(
    node: TreeJoint, k: int, count: int, place: int, near: Side, far: Side
) -> list[Array]:
    """Angle, joint in the parent (2), slide's direction in it (2), joint in the child (2)."""
    zero = np.zeros(1)
    first, last = k == 0, k == count - 1
    turn = spatial.compose(near[1], spatial.transpose(far[1]))
    if count > 1:  # the links between have the first joint frame's axes
        turn = near[1] if first else _EYE
        if last:
            turn = spatial.compose(turn, spatial.transpose(far[1]))
        axes = near[1] if first else _EYE
        shape = joint_type(node.kind)
        direction = axes[:2, shape.directions[place] if place in shape.lengths else 0]
    else:
        direction = near[1][:2, 2]
    start = near[0][:2] if first else (zero, zero)
    end = far[0][:2] if last else (zero, zero)
    return [_angle(turn), *start, *direction, *end]


def _angle(R: Array) -> Array:
    return np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1])


class _Frame:
    """A joint's frame, alike."""

    def __init__(self, frame: Frame, nominal: Mapping[str, float]) -> None:
        self.at, self.axis, self.reference = (
            Rows(entries, nominal) for entries in (frame.at, frame.axis, frame.reference)
        )
        self.names = self.axis.names | self.reference.names
        self.constant = spatial.frame(self.axis.constant, self.reference.constant)

    def at_values(self, known: Mapping[str, Array | float], swept: AbstractSet[str]) -> Side:
        """Its origin and axes."""
        at = self.at.at_values(known, swept)
        if self.names.isdisjoint(swept):
            return at, self.constant
        given = (x.at_values(known, swept) for x in (self.axis, self.reference))
        return at, spatial.frame(*given)


def _relative(link: tuple[Array, Array], side: tuple[Array, Array]) -> tuple[Array, Array]:
    """A body's frame seen from its link's: the link's frame in the body is `link`."""
    (o, A), (at, axes) = link, side
    return spatial.rotate_back(A, at - o), spatial.compose(spatial.transpose(A), axes)


def _flat(at: Array, axes: Array) -> list[Array]:
    return [*axes.reshape(9, -1), *at]


def _is(numbers: list[Array], expected: list[float]) -> bool:
    return all(x.size == 1 and x[0] == y for x, y in zip(numbers, expected, strict=True))
