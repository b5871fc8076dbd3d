"""Whether a robot's base stands on the ground or floats: as its file has it, or as wished."""

from collections.abc import Iterator
from dataclasses import replace

from basepar_core.mechanism import joint_type

from .draft import WORLD, Draft, Fixture, merge, value_names
from .kinds import FIXED, FREE
from .rationals import Pose

#: Degrees of freedom of what floats in a plane.
PLANE = 3


def settle(draft: Draft, base: str) -> None:
    """Fix what floats, or let go of what stands; and note which it is.

    Parameters
    ----------
    draft
        Of a file without mistakes; those that are found are added.
    base
        auto for what the format's own simulator makes of the file.
    """
    if base == FIXED:
        _fix(draft)
    elif base == FREE and not draft.bases:
        _release(draft)
    wished = "" if base == "auto" else ", as was asked for"
    if draft.bases:
        draft.notes.append(f"the base is free: {', '.join(draft.bases)}{wished}")
        return
    if moving := list(_moving(draft)):
        draft.notes += moving
    else:
        draft.notes.append(f"the base is fixed{wished or _usual(draft)}")
    if draft.ground:
        what = f"the root link {draft.ground[0]!r} is the ground; its inertia has no effect"
        draft.notes.append(what)


def _moving(draft: Draft) -> Iterator[str]:
    """Of bodies that joints of the file let slide and turn against the ground, as a base does that
    floats: which, by what."""
    merged = merge(replace(draft, notes=[]))
    joined = [(one, merged.joined(one)[0]) for one in draft.connections]
    for first, bodies in joined:
        if WORLD not in bodies:
            continue
        way, body = [first], bodies[1 - bodies.index(WORLD)]
        while body != WORLD and merged.bodies[body].is_nothing:
            onward = [(c, ends) for c, ends in joined if body in ends and c not in way]
            if len(onward) != 1:
                break
            one, ends = onward[0]
            way.append(one)
            body = ends[1 - ends.index(body)]
        kinds = [joint_type(one.kind) for one in way]
        count = sum(kind.values for kind in kinds)
        if count >= PLANE and any(kind.slides for kind in kinds) and body != WORLD:
            named = ", ".join(one.name for one in way)
            yield (
                f"the base {body} moves against the ground by joints of the file, {named}: "
                f"{count} of 6 degrees of freedom, which are coordinates like any other"
            )


def _usual(draft: Draft) -> str:
    if draft.format != "URDF":
        return f", as in the {draft.format} file"
    return ": URDF does not say, and Pinocchio and KDL fix it"


def _fix(draft: Draft) -> None:
    """Every link that floats becomes part of the ground where the file has it."""
    ends = {one.name: one.links for one in draft.connections if one.name in draft.bases}
    draft.connections = [one for one in draft.connections if one.name not in draft.bases]
    for name, (parent, child) in ends.items():
        draft.fixtures.append(Fixture(child, parent, draft.bases[name]))
        for value in value_names(name, FREE):
            if value in draft.coordinates:
                draft.coordinates.remove(value)
    draft.bases.clear()
    if not draft.connections:
        draft.refuse("", "nothing moves when the base is fixed")


def _release(draft: Draft) -> None:
    """The one link that stands on the ground, on a free joint of its own."""
    root, pose = _standing(draft)
    if root is None:
        return
    ground = {WORLD, *draft.ground}
    ties = [one.name for one in draft.connections if ground & set(one.links)]
    if ties:
        draft.refuse("", f"its base cannot be free: {', '.join(ties)} hold it to the ground")
        return
    name = f"{root}_base"
    draft.let_float(name, (WORLD, root), pose)
    if draft.coordinates:
        draft.coordinates[:0] = value_names(name, FREE)


def _standing(draft: Draft) -> tuple[str | None, Pose]:
    """What becomes the base, with its pose; no longer fixed."""
    if draft.ground and draft.ground[0] != "world":
        root = draft.ground[0]
        draft.ground = ()
        return root, Pose()
    ground = {WORLD, *draft.ground}
    carries = {end for one in draft.connections for end in one.links}
    carries |= {one.parent for one in draft.fixtures}
    standing = [one for one in draft.fixtures if one.parent in ground and one.child in carries]
    if len(standing) != 1:
        named = ", ".join(one.child for one in standing) or "nothing that carries joints"
        draft.refuse("", f"its base cannot be free: {named} stands on the ground, not one link")
        return None, Pose()
    draft.fixtures.remove(standing[0])
    return standing[0].child, standing[0].pose
