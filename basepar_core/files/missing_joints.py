"""A joint that is left out, by the count of freedoms: before the mechanism is assembled."""

from collections.abc import Sequence

from basepar_core.mechanism import GROUND, Joint, are_too_many, held_once, joint_to_add
from basepar_core.texts import plural

from .reader import Reading
from .yaml_nodes import Items, Text


def missing_joint(reading: Reading, joints: Sequence[Joint]) -> str:
    """What a joint that looks left out would hold; nothing where the count of freedoms fits.

    What couples values is counted as if none followed from the rest.
    """
    node = reading.coordinates
    items = node.items if isinstance(node, Items) else []
    names = [item.value for item in items if isinstance(item, Text)]
    freedom = reading.freedom - reading.coupled - len(reading.pitches)
    bodies = dict.fromkeys(body for joint in joints for body in joint.bodies)
    loose = held_once([body for body in bodies if body != GROUND], joints)
    if not names or not loose or not are_too_many(freedom, len(names), reading.planar):
        return ""
    return (
        f"bodies and joints leave {plural(freedom, 'degree')} of freedom, but "
        f"{plural(len(names), 'coordinate')} {'is' if len(names) == 1 else 'are'} named "
        f"({', '.join(names)}). Is a joint missing? {joint_to_add(loose, reading.planar)}"
    )
