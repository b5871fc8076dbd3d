"""Bodies whose parameters no distribution of mass has: a sign, a unit or a point is wrong."""

from collections.abc import Mapping
from math import sqrt

import numpy as np

from basepar_core.arrays import Array
from basepar_core.expressions import Name, evaluate, parse_unit
from basepar_core.expressions import names as names_of
from basepar_core.mechanism import Mechanism, likely_moment_unit

#: Rods and plates without thickness fulfil the conditions as equations; this share of the largest
#: moment is rounding.
ROUNDING = 1e-9
#: What is most likely where the values would be possible about the centre of mass.
_REMEDY = (
    "; where it is given as `inertia`, which is about the frame's origin, and meant about the "
    "centre of mass, write `central_inertia`"
)
#: A radius of gyration so many times the longest distance of a joint from its body's origin is of
#: a moment in another unit (kg mm² read as kg m²: 1000 times the body's); flywheels of eccentrics
#: reach ten. And one of a light body, of a mass in g (30 times).
FAR, FAR_OF_LIGHT = 20, 8
#: A mass in g that is read as kg is 1000 times the body's: so many times the next
#: heaviest body, and more than so many kg, few machines have.
MANY_TIMES, HEAVY = 1000, 100.0
#: No bar has the line density of one of osmium (kg/m³) that is so thick as a share of the longest
#: distance; one of steel would be more than half as thick.
OSMIUM, THICK = 22_590.0, 1 / 3
#: A body so many times heavier than any other, and as many times denser than osmium where its
#: moments are of a solid, not of a rod or a plate: g read as kg make it 1000 times.
HEAVIER, SOLID = 10, 0.05


def impossible_inertias(mechanism: Mechanism) -> dict[str, str]:
    """Why bodies cannot have the parameters of the file, by name, at the file's values.

    A mass is not negative, nor is a principal moment about the centre of mass, and none of the
    three is more than the sum of the other two (Wensing, Kim & Slotine, IEEE Robotics and
    Automation Letters 3(1), 2018, eq. 2). A body without mass may have moments, as a rotor may.
    """
    found = {}
    for body in mechanism.bodies:
        if body.parameters is not None:
            phi = np.array(evaluate(body.parameters, mechanism.nominal), float)
            if why := _why(phi, mechanism.planar):
                about_centre = phi.copy()
                about_centre[1 : 3 if mechanism.planar else 4] = 0.0
                meant = phi[0] > 0 and not _why(about_centre, mechanism.planar)
                found[body.name] = why + _REMEDY * bool(meant)
    return found


def impossible_text(body: str, why: str) -> str:
    """One of `impossible_inertias` as every command words it."""
    return f"no body has the inertia of {body}: {why}"


def unlikely_inertias(mechanism: Mechanism) -> dict[str, str]:
    """Which bodies have moments of masses much farther away than joints and centres, by name."""
    planar, found = mechanism.planar, {}
    phi, longest = _parameters(mechanism), _longest(mechanism)
    for body, one in phi.items():
        moment = one[3] if planar else max(one[4], one[7], one[9])
        gyration = float(np.sqrt(max(moment, 0.0) / one[0])) if one[0] > 0 else 0.0
        if not longest or gyration <= FAR_OF_LIGHT * longest:
            continue
        mass, size = float(one[0]), _size(mechanism, body) or longest
        unit, other = likely_moment_unit(gyration, size)
        written = unit.replace("*", " ").replace("^2", "²")
        remedy = f"if {written} is meant, write the moment with `{unit}`"
        # 1000 times the mass is of less than 1000 kg/m³ then.
        is_light = other < size / 5 and gyration < sqrt(1e3) * size and mass < size**3
        if is_light:
            remedy = f"a mass of {1e3 * mass:.4g} kg would fit: is {mass * 1e3:.4g} g stated?"
        if is_light or gyration > FAR * longest:
            found[body] = (
                f"radius of gyration {gyration:.3g} m, {gyration / longest:.0f} times the longest "
                f"distance of a joint or centre from the origin of its body, {longest:.3g} m; "
                f"{remedy}"
            )
    return found


def _size(mechanism: Mechanism, body: str) -> float:
    """The greatest distance of two joints of a body, m."""
    places = [
        frame.at
        for joint in mechanism.joints
        for name, frame in zip(joint.bodies, joint.frames, strict=True)
        if name == body
    ]
    at = np.array(evaluate([x for place in places for x in place], mechanism.nominal), float)
    at = at.reshape(-1, 3)
    return float(np.linalg.norm(at[:, None] - at, axis=2).max(initial=0.0))


def _parameters(mechanism: Mechanism) -> dict[str, Array]:
    """Parameters of the bodies that have some, by name, at the file's values."""
    return {
        one.name: np.array(evaluate(one.parameters, mechanism.nominal), float)
        for one in mechanism.bodies
        if one.parameters is not None
    }


def _longest(mechanism: Mechanism) -> float:
    """The longest distance of a joint or a centre of mass from its body's origin, m."""
    places = [x for joint in mechanism.joints for frame in joint.frames for x in frame.at]
    at = np.array(evaluate(places, mechanism.nominal), float).reshape(-1, 3)
    first = slice(1, 3 if mechanism.planar else 4)
    centres = [
        float(np.linalg.norm(phi[first]) / phi[0])
        for phi in _parameters(mechanism).values()
        if phi[0] > 0
    ]
    return max([float(np.linalg.norm(at, axis=1).max(initial=0.0)), *centres])


def unlikely_masses(mechanism: Mechanism) -> dict[str, str]:
    """Which body has a mass that it can hardly have, by name: g read as kg.

    Out of all proportion to the others', or by a line density that no bar of this size has.
    """
    stated = {one.name: one.parameters[0] for one in mechanism.bodies if one.parameters}
    numbers = map(float, evaluate([*stated.values()], mechanism.nominal))
    masses = {body: mass for body, mass in zip(stated, numbers, strict=True) if mass > 0}
    if found := _too_dense(mechanism, masses):
        return found
    if len(masses) < 2:
        return {}
    (heavy, most), (_, second), *_ = ranked = sorted(masses.items(), key=lambda one: -one[1])
    dense = most > HEAVIER * second and _density(mechanism, heavy) > HEAVIER * OSMIUM
    if not dense and most <= max(HEAVY, MANY_TIMES * second):
        return {}
    times = HEAVIER if dense else MANY_TIMES
    others = ", ".join(f"{body} {mass:.3g} kg" for body, mass in ranked[1:4])
    more = ", …" * (len(ranked) > 4)
    mass = stated[heavy]
    which = f"`{mass.name}`" if isinstance(mass, Name) else "it"
    return {
        heavy: f"{most:.4g} kg, more than {times:,} times every other body ({others}{more})"
        f"{', and by its moments denser than any material' * dense}: is {which} in g?"
    }


def _density(mechanism: Mechanism, body: str) -> float:
    """kg/m³ of the ellipsoid that has a body's moments; 0 of thin ones and in the plane."""
    phi = _parameters(mechanism)[body]
    if mechanism.planar:
        return 0.0
    Ixx, Ixy, Ixz, Iyy, Iyz, Izz = phi[4:]
    centre, I = phi[1:4] / phi[0], np.array([[Ixx, Ixy, Ixz], [Ixy, Iyy, Iyz], [Ixz, Iyz, Izz]])
    steiner = phi[0] * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    moments = np.linalg.eigvalsh(I - steiner)
    axes = np.sqrt(np.maximum(2.5 * (moments.sum() - 2 * moments) / phi[0], 0.0))
    is_solid = axes.min() > SOLID * axes.max()
    return float(phi[0] / (4 / 3 * np.pi * axes.prod())) if is_solid else 0.0


def _too_dense(mechanism: Mechanism, masses: Mapping[str, float]) -> dict[str, str]:
    """The heaviest body whose mass names a line density that no bar of this size has."""
    most, kind = OSMIUM * (THICK * _longest(mechanism)) ** 2, parse_unit("kg/m").dimension
    dense = {
        one.name
        for one in (*mechanism.geometry, *mechanism.constants)
        if parse_unit(one.unit or "1").dimension == kind and mechanism.nominal[one.name] > most > 0
    }
    named = {
        one.name: dense & names_of(one.parameters[0]) for one in mechanism.bodies if one.parameters
    }
    bodies = [body for body, names in named.items() if names and body in masses]
    if not bodies:
        return {}
    heavy = max(bodies, key=masses.__getitem__)
    name = min(named[heavy])
    return {
        heavy: f"{masses[heavy]:.4g} kg: `{name}` is {mechanism.nominal[name]:.4g} kg/m, which no "
        f"bar in a mechanism of this size has: is it in g/m?"
    }


def _why(phi: Array, planar: bool) -> str:
    mass, first = phi[0], phi[1:3] if planar else phi[1:4]
    if mass < 0:
        return f"its mass is {mass:.4g} kg"
    if mass == 0 and first.any():
        return "it has a first moment, but no mass"
    moved = first @ first / mass if mass else 0.0  # kg m², by which Steiner's theorem moves it
    if planar:
        central = phi[3] - moved
        negative = central < -ROUNDING * max(abs(phi[3]), moved)
        return f"its inertia about the centre of mass is {central:.4g} kg m²" * bool(negative)
    Ixx, Ixy, Ixz, Iyy, Iyz, Izz = phi[4:]
    about_origin = np.array([[Ixx, Ixy, Ixz], [Ixy, Iyy, Iyz], [Ixz, Iyz, Izz]])
    steiner = (moved * np.eye(3) - np.outer(first, first) / mass) if mass else np.zeros((3, 3))
    principal = np.linalg.eigvalsh(about_origin - steiner)
    allowed = ROUNDING * max(np.abs(about_origin).max(), moved)
    named = ", ".join(f"{one:.4g}" for one in principal)
    if principal[0] < -allowed:
        return f"its principal moments about the centre of mass are {named} kg m²"
    if principal[2] > principal[0] + principal[1] + allowed:
        return (
            f"of its principal moments about the centre of mass, {named} kg m², one is more than "
            f"the sum of the other two"
        )
    return ""
