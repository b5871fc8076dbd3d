"""Every element of an SDF file: read, left out because it changes neither motion nor mass, or
rejected."""

from typing import Any

from .draft import Draft
from .urdf_elements import only_controls

#: What may stand in an element: read, and left out because it changes neither motion nor mass.
READ = {
    "sdf": "model world",
    "world": "model gravity",
    "model": "link joint frame pose",
    "link": "inertial pose",
    "inertial": "mass inertia pose",
    "inertia": "ixx ixy ixz iyy iyz izz",
    "frame": "pose",
    "joint": "parent child axis axis2 pose gearbox_ratio gearbox_reference_body thread_pitch "
    "screw_thread_pitch",
    "axis": "xyz use_parent_model_frame dynamics",
    "axis2": "xyz use_parent_model_frame dynamics",
    "dynamics": "damping friction spring_reference spring_stiffness",
}
LEFT_OUT = {
    "sdf": "light actor",
    "world": "light physics scene gui plugin audio atmosphere wind magnetic_field "
    "spherical_coordinates state road actor frame",
    "model": "self_collide allow_auto_disable gripper",
    "link": "visual collision sensor projector audio_sink audio_source battery light "
    "particle_emitter self_collide must_be_base_link",
    "joint": "physics sensor",
    "axis": "limit",
    "axis2": "limit",
}
#: What says what is so anyway, by the words that say it.
NEUTRAL = {
    "static": "false 0",
    "enable_wind": "false 0",
    "kinematic": "false 0",
    "gravity": "true 1",
}


def audit(draft: Draft, node: Any, where: str = "") -> None:
    """Count what is left out of an element and reject what is not known."""
    tag = node.tag
    here = f"{tag} {node.get('name')!r}" if node.get("name") else where or tag
    if tag == "inertial" and node.get("auto") in ("true", "1"):
        draft.refuse(here, "auto = 'true': its inertia is that of meshes; write numbers")
    for child in list(node):
        if child.tag in READ.get(tag, "").split():
            audit(draft, child, here)
        elif child.tag in LEFT_OUT.get(tag, "").split() or (
            child.tag == "plugin" and (only_controls(child) or not _names(draft, node, child))
        ):
            if tag in ("world", "model", "link", "joint"):
                _count(draft, child.tag)
        elif _says(child, NEUTRAL.get(child.tag, "")) or (
            child.tag == "velocity_decay" and not any(_numbers(child))
        ):
            pass
        else:
            what = f"<{child.tag}> is not read, and may change motion or mass; remove it if not"
            draft.refuse(here, what, child.sourceline)


def _says(node: Any, words: str) -> bool:
    return (node.text or "").strip().lower() in words.split()


def _numbers(node: Any) -> list[float]:
    """Numbers of an element's children; 1 for what is none."""
    found = []
    for child in node:
        try:
            found.append(float(child.text or "0"))
        except ValueError:
            found.append(1.0)
    return found


def _names(draft: Draft, model: Any, plugin: Any) -> bool:
    """Whether a plugin names links or joints."""
    known = {node.get("name") for node in model if node.tag in ("link", "joint")}
    return any((part.text or "").strip() in known for part in plugin.iter())


def _count(draft: Draft, what: str) -> None:
    for k, entry in enumerate(draft.dropped):
        count, _, word = entry.partition(" ")
        if word == what:
            draft.dropped[k] = f"{int(count) + 1} {what}"
            return
    draft.dropped.append(f"1 {what}")
