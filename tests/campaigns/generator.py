"""Random mechanisms, most of them special: what the campaign of all routes runs on.

A seed gives one mechanism file. Trees and loops, planar and spatial, of all joint types; axes
skew, along a grid, parallel, or through one point; coarse points, so that many coincide; lengths
as numbers, as symbols of their own, or one symbol for equal values, which makes parallelograms
and over-constrained loops members of a family by structure; gravity anywhere, along an axis, or
none. Bodies are posed first and every joint is put where it closes at zero, as `linkage` does.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from basepar_core.mechanism import Mechanism
from tests.campaigns.drafts import CUBE, IDENTITY, Draft, Placed, Point, closed_loop, tree
from tests.mechanisms import C, E, F, P, R, Rows, S, U, _rotation, _transposed_times, build


def random_mechanism(seed: int, amplitude: float = 0.3) -> Mechanism:
    """The mechanism of a seed; its excitation has this amplitude (trees: three times)."""
    rng = np.random.default_rng([seed, 20261120])
    style = {
        "axes": str(rng.choice(["skew", "grid", "parallel"])),
        "points": str(rng.choice(["coarse", "fine"])),
        "bodies": str(rng.choice(["aligned", "cube", "skew"])),
        "symbols": str(rng.choice(["none", "some", "equal", "all"], p=[0.15, 0.3, 0.3, 0.25])),
        "gravity": str(rng.choice(["any", "axis", "none"], p=[0.5, 0.35, 0.15])),
        "shape": str(
            rng.choice(
                ["tree", "loop", "loop and tail", "arm and loop", "two loops"],
                p=[0.2, 0.3, 0.2, 0.15, 0.15],
            )
        ),
    }
    draft = Draft(rng, bool(rng.uniform() < 0.3), style)
    base = "ground"
    if style["shape"] == "tree":
        tree(draft, int(rng.integers(1, 6)), ["ground"])
    else:
        if style["shape"] == "arm and loop":
            base = tree(draft, 1, ["ground"])[-1]
        moving = closed_loop(draft, base)
        if style["shape"] == "two loops":
            closed_loop(draft, moving[-1] if rng.uniform() < 0.5 else "ground")
        if style["shape"] == "loop and tail":
            tree(draft, 1, moving)
    return _written(draft, seed, amplitude)


def _written(draft: Draft, seed: int, amplitude: float) -> Mechanism:
    rng, planar = draft.rng, draft.planar
    poses: dict[str, tuple[Rows, Point]] = {"ground": (IDENTITY, [Fraction(0)] * 3)}
    for name in draft.bodies:
        match draft.style["bodies"]:
            case "aligned":
                turned = IDENTITY
            case "cube":
                turned = IDENTITY if planar else draft.pick(*CUBE)
            case _:
                turned = draft.turn() if planar else _rotation(rng)
        first = next(j for j in draft.joints if name in (j.first, j.second))
        poses[name] = (turned, first.at if rng.uniform() < 0.6 else draft.point())
    book = _Book(draft.style["symbols"])
    joints = {}
    for k, joint in enumerate(draft.joints):
        F2 = joint.F
        if joint.kind == U:
            F2 = [[row[2], -row[1], row[0]] for row in joint.F]
        ends = [
            _end(poses[body], body, frame, joint.at, planar, book)
            for body, frame in ((joint.first, joint.F), (joint.second, F2))
        ]
        entry: dict[str, Any] = {
            "type": joint.kind,
            "connects": [joint.first, joint.second],
            "at": [end[0] for end in ends],
        }
        if not planar or joint.kind == P:
            entry["axis"] = [end[1] for end in ends]
        if not planar:
            entry["reference"] = [end[2] for end in ends]
        joints[f"J{k}"] = entry
    coordinates = _coordinates(draft)
    size = amplitude * (3 if draft.style["shape"] == "tree" else 1)
    parameters = (4 if planar else 10) * len(draft.bodies)
    return build(
        {
            "name": f"random {seed}",
            "space": "planar" if planar else "spatial",
            "gravity": _gravity(draft),
            "geometry": book.geometry,
            "bodies": {name: {} for name in draft.bodies},
            "joints": joints,
            "coordinates": coordinates,
            "excitation": {
                "kind": "states",
                "samples": 20 + 2 * parameters // max(len(coordinates), 1),
                "seed": seed,
                "amplitude": dict.fromkeys(coordinates, size),
                "frequency": "0.3 Hz",
            },
        }
    )


@dataclass
class _Book:
    """Which lengths of bodies are symbols."""

    style: str
    geometry: dict[str, Any] = field(default_factory=dict)
    known: dict[Fraction, str] = field(default_factory=dict)

    def written(self, at: Point, moving: bool) -> list[Any]:
        found: list[Any] = list(at)
        if not moving or self.style == "none":
            return found
        for k, value in enumerate(at):
            if value == 0 and self.style != "all":
                continue
            if self.style == "equal":
                name = self.known.setdefault(abs(value), f"l{len(self.known)}")
                self.geometry[name] = {"value": abs(value), "unit": "m"}
                found[k] = name if value > 0 else f"-{name}"
            elif value != 0:
                name = f"l{len(self.geometry)}"
                self.geometry[name] = {"value": value, "unit": "m"}
                found[k] = name
                if self.style == "some":
                    break
        return found


def _end(
    pose: tuple[Rows, Point], body: str, F: Rows, at: Point, planar: bool, book: _Book
) -> tuple[list[Any], list[Any], list[Any]]:
    """Point, axis and reference of a joint in a body."""
    R_, p = pose
    local = _transposed_times(R_, F)
    own = [sum((R_[i][k] * (at[i] - p[i]) for i in range(3)), Fraction(0)) for k in range(3)]
    size = 2 if planar else 3
    axis, reference = [row[2] for row in local][:size], [row[0] for row in local][:size]
    return book.written(own[:size], body != "ground"), axis, reference


def _gravity(draft: Draft) -> list[Any]:
    size = 2 if draft.planar else 3
    if draft.style["gravity"] == "none":
        return [0] * size
    if draft.style["gravity"] == "axis":
        if draft.planar:
            return [0, "-981/100"]
        joint = draft.pick(*draft.joints)
        return [-9 * row[2] for row in joint.F]
    return ["1/2", "-97/10", "-1"][:size]


def _coordinates(draft: Draft) -> list[str]:
    """Joint values that drive it at zero, by the rank of the loops' closure.

    Twists at zero in the world; each body's velocity through a spanning tree, each joint off the
    tree a loop.
    """
    names, columns = [], []
    for k, joint in enumerate(draft.joints):
        twists = _twists(joint)
        names += [f"J{k}"] if len(twists) == 1 else [f"J{k}.{i + 1}" for i in range(len(twists))]
        columns += [(k, twist) for twist in twists]
    reached: dict[str, dict[int, int]] = {"ground": {}}
    loops = []
    rest = list(enumerate(draft.joints))
    while rest:
        place = next(
            i for i, (_, j) in enumerate(rest) if j.first in reached or j.second in reached
        )
        k, joint = rest.pop(place)
        one, two, sign = joint.first, joint.second, 1
        if one not in reached:
            one, two, sign = two, one, -1
        path = {**reached[one], k: sign}
        if two in reached:
            other = reached[two]
            loops.append({j: path.get(j, 0) - other.get(j, 0) for j in path.keys() | other.keys()})
        else:
            reached[two] = path
    if not loops:
        return names
    A = np.array([[loop.get(k, 0) * twist for k, twist in columns] for loop in loops])
    A = np.moveaxis(A, 1, 2).reshape(-1, len(columns))
    order = list(draft.rng.permutation(len(columns)))
    # Values of joints with three are dependent where they can be: all three or none are driven.
    wide = {k for k, j in enumerate(draft.joints) if j.kind == S}
    order.sort(key=lambda c: columns[c][0] not in wide)
    basis: list[int] = []
    for c in order:
        if np.linalg.matrix_rank(A[:, [*basis, c]], tol=1e-9) > len(basis):
            basis.append(c)
    return [name for c, name in enumerate(names) if c not in basis]


def _twists(joint: Placed) -> list[np.ndarray]:
    """Angular velocity and velocity at the world's origin of each speed."""
    x, y, z = np.array(joint.F, dtype=float).T
    at = np.array(joint.at, dtype=float)

    def spin(w: np.ndarray) -> np.ndarray:
        return np.concatenate([w, np.cross(at, w)])

    def slide(v: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros(3), v])

    return {
        R: [spin(z)],
        P: [slide(z)],
        C: [slide(z), spin(z)],
        U: [spin(z), spin(x)],
        S: [spin(x), spin(y), spin(z)],
        E: [slide(x), slide(y), spin(z)],
        F: [],
    }[joint.kind]
