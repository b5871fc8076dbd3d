"""What the bodies and joints of an imported mechanism are called in the file they come from."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import GROUND, Mechanism

from .draft import WORLD, Draft, merge


@dataclass(frozen=True, eq=False)
class Part:
    """A link of the file as a part of a body.

    Attributes
    ----------
    link
        Its name in the file.
    R, p
        Its frame in the body's: rotation matrix (3, 3), origin (3,) in m.
    mass, centre, central
        Its inertia as the file has it, in the body's frame: kg, (3,) in m, (3, 3) about the
        centre in kg m².
    """

    link: str
    R: Array
    p: Array
    mass: float
    centre: Array
    central: Array


@dataclass(frozen=True)
class Tie:
    """A joint: what the file calls it, and the two links that it joins there."""

    name: str
    links: tuple[str, str]


@dataclass(frozen=True)
class Origin:
    """Parts of every body and of the ground, the one that has its frame first; joints."""

    bodies: Mapping[str, tuple[Part, ...]]
    joints: Mapping[str, Tie]


def origin(draft: Draft, mechanism: Mechanism) -> Origin:
    """Of a mechanism that was made of a draft, and has its order."""
    merged = merge(Draft(**{**vars(draft), "notes": []}))
    names = {own: body.name for own, body in zip(merged.bodies, mechanism.bodies, strict=True)}
    names[WORLD] = GROUND
    parts: dict[str, list[Part]] = {name: [] for name in names.values()}
    for link in draft.links:
        body, pose = merged.carried[link.name]
        inertia = link.inertia.seen_from(pose)
        xx, xy, xz, yy, yz, zz = map(float, inertia.central)
        part = Part(
            link.name,
            np.array([[float(x) for x in row] for row in pose.matrix]),
            np.array([float(x) for x in pose.at]),
            float(inertia.mass),
            np.array([float(x) for x in inertia.centre]),
            np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
        )
        parts[names[body]].insert(0 if link.name == body else len(parts[names[body]]), part)
    pairs = zip(draft.connections, mechanism.joints, strict=True)
    joints = {joint.name: Tie(one.name, one.links) for one, joint in pairs}
    return Origin({name: tuple(found) for name, found in parts.items()}, joints)
