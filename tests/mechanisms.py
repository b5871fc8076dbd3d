"""Small mechanisms for tests: random linkages with exact geometry, and a few written by hand.

`linkage` poses the bodies at random and puts every joint where it closes at value zero, so that
any graph of joints, with loops or without, assembles at zero. All rotations come from small
integer quaternions: every number is rational, as the file format wants it.
"""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from basepar_core.files.mechanism_file import loads
from basepar_core.mechanism import Mechanism, joint_type

#: A joint: name, type, first body, second body.
Link = tuple[str, str, str, str]
Rows = list[list[Fraction]]

#: Opposite sides of equal value but with symbols of their own: a four-bar that happens to be one.
PARALLELOGRAM_BY_VALUE = """
name: parallelogram by value
space: planar
gravity: [0, -9.81]
geometry: {l1: {value: 0.4, unit: m}, l2: {value: 0.7, unit: m}, l3: {value: 0.4, unit: m},
           l4: {value: 0.7, unit: m}}
bodies: {crank: {}, coupler: {}, rocker: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, coupler], at: [[l1, 0], [0, 0]]}
  C: {type: revolute, connects: [coupler, rocker], at: [[l2, 0], [0, 0]]}
  D: {type: revolute, connects: [ground, rocker], at: [[l4, 0], [l3, 0]]}
coordinates: [A]
assembly: {A: 60 deg, B: -60 deg, C: -120 deg}
excitation: {kind: fourier, harmonics: 5, base_frequency: 0.5 Hz, amplitude: {A: 0.6 rad},
             samples: 64, seed: 1}
"""


def build(document: Mapping[str, Any], name: str = "test") -> Mechanism:
    """A mechanism from a document: JSON is YAML, and numbers are read as their text."""
    return loads(json.dumps(document, default=str), name)


def value_names(link: Link) -> list[str]:
    """Names of a joint's values, as docs/mechanism-files.md has them."""
    count = joint_type(link[1]).values
    return [link[0]] if count == 1 else [f"{link[0]}.{k + 1}" for k in range(count)]


def linkage(
    seed: int,
    links: Sequence[Link],
    coordinates: Sequence[str] = (),
    *,
    swapped: Sequence[str] = (),
    gravity: Sequence[Any] = ("1/2", "-1", "-97/10"),
    amplitude: float = 0.3,
    samples: int = 6,
    turned: int | None = None,
) -> Mechanism:
    """A random spatial linkage that assembles at zero.

    Parameters
    ----------
    seed
        Of poses and joint frames.
    links
        The joints; bodies are numbered in order of appearance.
    coordinates
        Independent joint values; none given: all of them (a tree).
    swapped
        Joints whose two bodies are listed the other way round: the mechanism stays the same,
        but the joint's value runs backwards.
    gravity, amplitude, samples
        Of the file and its excitation by random states.
    turned
        Seed of a rotation of the world's axes, gravity included: what is written about the
        bodies stays the same.
    """
    rng = np.random.default_rng(seed)
    bodies = list(dict.fromkeys(b for link in links for b in link[2:]))
    poses = {name: (_rotation(rng), _point(rng)) for name in bodies}
    world = _rows(np.eye(3, dtype=int))
    if turned is not None:
        world = _rotation(np.random.default_rng(turned))
    poses["ground"] = (world, [Fraction(0)] * 3)
    pull = _transposed_times(world, [[Fraction(g)] * 3 for g in gravity])
    geometry: dict[str, Any] = {}
    joints = {}
    for name, kind, first, second in links:
        F1, P = _rotation(rng), _point(rng)
        F2 = [[row[2], -row[1], row[0]] for row in F1] if kind == "universal" else F1
        ends = [(first, *_side(poses[first], F1, P)), (second, *_side(poses[second], F2, P))]
        # One length of every joint is a symbol, so that the linkage has variants.
        moving = 1 if second != "ground" else 0
        symbol = f"x_{name}"
        geometry[symbol] = {"value": ends[moving][1][0], "unit": "m"}
        ends[moving][1][0] = symbol  # type: ignore[call-overload]
        if name in swapped:
            ends.reverse()
        joints[name] = {
            "type": kind,
            "connects": [end[0] for end in ends],
            "at": [end[1] for end in ends],
            "axis": [end[2] for end in ends],
            "reference": [end[3] for end in ends],
        }
    names = list(coordinates) or [value for link in links for value in value_names(link)]
    return build(
        {
            "name": f"linkage {seed}",
            "space": "spatial",
            "gravity": [row[0] for row in pull],
            "geometry": geometry,
            "bodies": {name: {} for name in bodies if name != "ground"},
            "joints": joints,
            "coordinates": names,
            "excitation": {
                "kind": "states",
                "samples": samples,
                "seed": seed,
                "amplitude": dict.fromkeys(names, amplitude),
                "frequency": "0.3 Hz",
            },
        }
    )


def _side(pose: tuple[Rows, list[Fraction]], F: Rows, P: list[Fraction]) -> tuple:
    """A world frame written in a body: its point, its axis and a slanting reference."""
    R, p = pose
    local = _transposed_times(R, F)
    at = [sum((R[i][k] * (P[i] - p[i]) for i in range(3)), Fraction(0)) for k in range(3)]
    axis = [2 * row[2] for row in local]  # not of unit length
    return at, axis, [3 * row[0] + row[2] for row in local]  # not perpendicular to the axis


def _transposed_times(A: Rows, B: Rows) -> Rows:
    return [
        [sum((A[i][r] * B[i][c] for i in range(3)), Fraction(0)) for c in range(3)]
        for r in range(3)
    ]


def _point(rng: np.random.Generator) -> list[Fraction]:
    return [Fraction(int(x), 20) for x in rng.integers(-15, 16, 3)]


def _rotation(rng: np.random.Generator) -> Rows:
    w, x, y, z = (Fraction(int(k)) for k in rng.integers(1, 6, 4) * rng.choice([-1, 1], 4))
    square = w * w + x * x + y * y + z * z
    matrix = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return [[entry / square for entry in row] for row in matrix]


def _rows(matrix: np.ndarray) -> Rows:
    return [[Fraction(int(x)) for x in row] for row in matrix]


def nearby(mechanism: Mechanism, count: int, spread: float, seed: int) -> dict[str, np.ndarray]:
    """Random geometries: every symbol within a share of its nominal value."""
    rng = np.random.default_rng(seed)
    return {
        symbol.name: mechanism.nominal[symbol.name] * (1 + spread * rng.uniform(-1, 1, count))
        for symbol in mechanism.geometry
    }


FREE = "free"


def random_tree(seed: int, kinds: Sequence[str], swap: bool = True) -> Mechanism:
    """A branching tree of the given joint types; about half of them listed child first."""
    rng = np.random.default_rng([seed, 7])
    links: list[Link] = []
    for k, kind in enumerate(kinds):
        parent = "ground" if k == 0 else f"b{rng.integers(0, k)}"
        links.append((f"J{k}", kind, parent, f"b{k}"))
    swapped = [k for k, kind, *_ in links if swap and kind != FREE and rng.uniform() < 0.5]
    return linkage(seed, links, swapped=swapped, amplitude=1.0, samples=12)


R, P, C, U, S, E, F = (
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "fixed",
)


def loop(*kinds: str) -> list[Link]:
    """A single loop of joints a, b, c, … through the ground; bodies 1, 2, …."""
    last = len(kinds) - 1
    names = ["ground", *(f"body{k + 1}" for k in range(last)), "ground"]
    return [("abcdefgh"[k], kind, names[k], names[k + 1]) for k, kind in enumerate(kinds)]


#: Three legs under a platform: two of three spherical joints are cut, one stays in the tree.
RRS3: list[Link] = [
    link
    for k in (1, 2, 3)
    for link in (
        (f"A{k}", R, "ground", f"lower{k}"),
        (f"B{k}", R, f"lower{k}", f"upper{k}"),
        (f"C{k}", S, f"upper{k}", "platform"),
    )
]

PLANAR = """
name: {name}
space: planar
gravity: [1, -9.81]
geometry:
  a: {{value: 0.3, unit: m}}
  b: {{value: 0.7, unit: m}}
  c: {{value: 0.8, unit: m}}
  d: {{value: 0.6, unit: m}}
  e: {{value: 0.1, unit: m}}
bodies: {{one: {{}}, two: {{}}, three: {{}}}}
joints:
  A: {{type: revolute, connects: [ground, one]}}
  B: {{type: {B}, connects: {one_two}}}
  C: {{type: {C}, connects: {two_three}}}
  D: {{type: {D}, connects: {ground_three}}}
coordinates: [{coordinates}]
assembly: {{{assembly}}}
excitation: {{kind: states, samples: 6, seed: 3, amplitude: {{{amplitude}}}, frequency: 0.3 Hz}}
"""
