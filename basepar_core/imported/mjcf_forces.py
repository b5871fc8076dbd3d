"""What acts on the motion of a compiled model and has no place in a mechanism file.

Forces that the surroundings exert on bodies are left out and noted: contact, the medium. What acts
between bodies, or takes weight off, is rejected.
"""

from collections.abc import Callable
from typing import Any

from .draft import Draft

#: Options that switch something off, with what they take from which arrays.
_FLAGS = (
    ("EQUALITY", "eq_active0", "equality constraints"),
    ("CONSTRAINT", "eq_active0", "equality constraints"),
    ("CONSTRAINT", "dof_frictionloss", "frictionloss"),
    ("FRICTIONLOSS", "dof_frictionloss", "frictionloss"),
    ("SPRING", "jnt_stiffness", "springs"),
    ("SPRING", "tendon_stiffness", "springs"),
    ("DAMPER", "dof_damping", "damping"),
    ("DAMPER", "tendon_damping", "damping"),
)
#: Arrays of a model that must be zero: kind of element, array, its word in the file.
_ZERO = (
    ("actuator", "actuator_armature", "armature", "give it to the joint"),
    ("actuator", "actuator_damping", "damping", "give it to the joint"),
    ("actuator", "actuator_dampingpoly", "damping", "give it to the joint"),
    ("joint", "jnt_stiffnesspoly", "a spring that is not linear", "make it linear"),
    ("joint", "jnt_springyield", "a spring that yields", "make it linear"),
)

Name = Callable[[str, int], str]


def refuse_forces(mujoco: Any, model: Any, draft: Draft, name: Name) -> None:
    """Reject flexes, compensated weight, plugins that push bodies, and options that switch off
    what the file has; note what the surroundings do.

    Parameters
    ----------
    mujoco, model
        The library and a compiled model.
    name
        Of an element: its kind and number to the name, empty without one.
    """

    def called(kind: str, k: int) -> str:
        return f"{kind} {name(kind, k) or f'#{k}'!r}"

    if model.nflex:
        draft.refuse("flex", "deformable bodies are no mechanism; remove them")
    held = _held(mujoco, model)
    for k in range(1, model.nbody):
        if model.body_mocapid[k] >= 0:
            holds = "what is held to it is held there" if k in held else "nothing is held to it"
            what = (
                f"mocap {called('body', k)} is part of the ground where the file has it: {holds}"
            )
            draft.notes.append(what)
        if model.body_gravcomp[k]:
            draft.refuse(
                called("body", k),
                f"gravcomp = {float(model.body_gravcomp[k])!r} compensates its weight, and a "
                f"mechanism file has one gravity for all bodies; remove it",
            )
        if model.body_plugin[k] >= 0:
            draft.refuse(called("body", k), "a plugin exerts forces on it; remove the plugin")
    medium = [(word, float(getattr(model.opt, word))) for word in ("density", "viscosity")]
    if any(value for _, value in medium):  # wind acts through these only
        said = ", ".join(f"{word} {value!r}" for word, value in medium if value)
        draft.dropped.append(f"1 medium ({said})")
        draft.notes.append(
            f"the medium ({said}) is left out, as contact is: torques are those without its drag "
            f"and lift"
        )
    _switched_off(mujoco, model, draft)
    _not_zero(model, draft, called)


def _held(mujoco: Any, model: Any) -> set[int]:
    """Bodies that active connects and welds hold."""
    found: set[int] = set()
    for k in range(model.neq):
        if model.eq_active0[k] and model.eq_type[k] in (
            int(mujoco.mjtEq.mjEQ_CONNECT),
            int(mujoco.mjtEq.mjEQ_WELD),
        ):
            ids = [int(model.eq_obj1id[k]), int(model.eq_obj2id[k])]
            if int(model.eq_objtype[k]) == int(mujoco.mjtObj.mjOBJ_SITE):
                ids = [int(model.site_bodyid[s]) for s in ids]
            found |= set(ids)
    return found


def _switched_off(mujoco: Any, model: Any, draft: Draft) -> None:
    for word, array, what in _FLAGS:
        flag = getattr(mujoco.mjtDisableBit, f"mjDSBL_{word}")
        if model.opt.disableflags & flag and getattr(model, array).any():
            draft.refuse(
                f"option flag {word.lower()}",
                f"it switches off {what} that the file has; remove the flag, or them",
            )


def _not_zero(model: Any, draft: Draft, called: Name) -> None:
    for kind, array, what, remedy in _ZERO:
        for k, value in enumerate(getattr(model, array)):
            if value.any():
                draft.refuse(called(kind, k), f"it has {what}; {remedy}")
    for j in range(model.njnt):
        if model.dof_dampingpoly[model.jnt_dofadr[j]].any():
            draft.refuse(called("joint", j), "it has damping that is not linear; make it linear")
