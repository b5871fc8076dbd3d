"""What to write instead of vectors and moments of inertia that are given otherwise."""

import re

from .remedies import written
from .yaml_nodes import Fields, Items, Node, Text


def gravity(node: Node, planar: bool) -> str:
    """The remedy for gravity as one number, or as a vector of the other space."""
    items = node.items if isinstance(node, Items) else (node,)
    texts = [one.value.strip() for one in items if isinstance(one, Text)]
    acting = [text for text in texts if not re.fullmatch(r"[-+]?0*\.?0*", text)]
    size = acting[-1].lstrip("+-") if acting and "(" not in acting[-1] else "9.81"
    vector = ["0"] * (1 if planar else 2) + [f"-{size}"]
    many = isinstance(node, Items) and node.items
    what = f"a vector of {len(vector)} entries in this space" if many else "a vector"
    return f"gravity is {what}: write [{', '.join(vector)}]"


def pair(node: Node, planar: bool, twice: bool) -> str:
    """The remedy for one vector where two are expected; nothing for other mistakes.

    `twice`: the second body's is most likely the same (a direction), else zero (a point).
    """
    size = 2 if planar else 3
    one = ""
    if isinstance(node, Text) and twice and node.value.strip() in tuple("xyz"[:size]):
        one = str([int(axis == node.value.strip()) for axis in "xyz"[:size]])
    elif isinstance(node, Items) and [type(item) for item in node.items] == [Text] * size:
        one = written(node)
    if not one:
        return ""
    other = one if twice else str([0] * size)
    return (
        f"one vector, and two are expected, in the first body's frame and in the second's: write "
        f"[{one}, {other}]"
    )


def inertia(node: Node | None, planar: bool) -> str:
    """The remedy for an inertia with a wrong number or order of entries; nothing for others."""
    if planar and isinstance(node, Items) and node.items:
        return (
            f"in the plane a body has one moment of inertia, about z: write "
            f"{written(node.items[-1])}"
        )
    items = node.items if isinstance(node, Items) else ()
    rows = [one.items for one in items if isinstance(one, Items)]
    if not planar and [len(row) for row in rows] == [3, 3, 3]:
        six = [written(rows[i][k]) for i in range(3) for k in range(i, 3)]
        below = [
            f"I{'xyz'[k]}{'xyz'[i]} is {written(rows[k][i])}"
            for i, k in ((0, 1), (0, 2), (1, 2))
            if written(rows[i][k]) != written(rows[k][i])
        ]
        also = f", if its upper half is right ({', '.join(below)} below)" if below else ""
        return (
            f"Ixx, Ixy, Ixz, Iyy, Iyz, Izz are expected, and a matrix is there: write "
            f"[{', '.join(six)}]{also}"
        )
    if not planar and isinstance(node, Fields):
        entries = {key.lower(): written(one) for key, one in node.entries.items()}
        six = [entries.pop(key, "0") for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")]
        if not entries and "0" not in (six[0], six[3], six[5]):
            return f"a list is expected, in the order of the six: write [{', '.join(six)}]"
    if not planar and isinstance(node, Items) and len(node.items) == 3:
        x, y, z = map(written, node.items)
        return (
            f"Ixx, Ixy, Ixz, Iyy, Iyz, Izz are expected, and 3 entries are there: if they are "
            f"Ixx, Iyy, Izz, write [{x}, 0, 0, {y}, 0, {z}]"
        )
    if not planar and isinstance(node, Items) and len(node.items) == 6:
        x, y, z, *_ = texts = [written(one) for one in node.items]
        zero = [re.fullmatch(r"[-+]?0*\.?0*", text) is not None for text in texts]
        if not any(zero[:3]) and all(zero[3:]):  # products of inertia without moments
            return (
                f"the order is Ixx, Ixy, Ixz, Iyy, Iyz, Izz, and no body has moments of 0: if "
                f"Ixx, Iyy, Izz come first here, write [{x}, 0, 0, {y}, 0, {z}]"
            )
    return ""
