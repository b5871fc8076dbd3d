"""What acts on the motion of a compiled model and has no place in a mechanism file: rejected."""

from collections.abc import Callable
from typing import Any

from .draft import Draft
from .mjcf_couplings import tendon_fault

#: Options that switch something off, with what they take from which arrays.
_FLAGS = (
    ("EQUALITY", "eq_active0", "equality constraints"),
    ("CONSTRAINT", "eq_active0", "equality constraints"),
    ("CONSTRAINT", "dof_frictionloss", "frictionloss"),
    ("FRICTIONLOSS", "dof_frictionloss", "frictionloss"),
    ("SPRING", "jnt_stiffness", "springs"),
    ("DAMPER", "dof_damping", "damping"),
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
    """Reject tendons that are no sums of joint values, flexes, media, compensated weight, plugins
    that push bodies, and options that switch off what the file has.

    Parameters
    ----------
    mujoco, model
        The library and a compiled model.
    name
        Of an element: its kind and number to the name, empty without one.
    """

    def called(kind: str, k: int) -> str:
        return f"{kind} {name(kind, k) or f'#{k}'!r}"

    for k in range(model.ntendon):
        if wrong := tendon_fault(mujoco, model, k):
            draft.refuse(called("tendon", k), wrong)
    if model.nflex:
        draft.refuse("flex", "deformable bodies are no mechanism; remove them")
    held = _held(mujoco, model)
    for k in range(1, model.nbody):
        if model.body_mocapid[k] >= 0 and k in held:
            what = "it is a mocap body and drives what is held to it; remove it, and what holds it"
            draft.refuse(called("body", k), what)
        elif model.body_mocapid[k] >= 0:
            draft.notes.append(
                f"mocap {called('body', k)} stays where it is: nothing is held to it"
            )
        if model.body_gravcomp[k]:
            draft.refuse(
                called("body", k),
                f"gravcomp = {float(model.body_gravcomp[k])!r} compensates its weight, and a "
                f"mechanism file has one gravity for all bodies; remove it",
            )
        if model.body_plugin[k] >= 0:
            draft.refuse(called("body", k), "a plugin exerts forces on it; remove the plugin")
    for word in ("density", "viscosity"):  # wind acts through these only
        if value := getattr(model.opt, word):
            draft.refuse(
                f"option {word}",
                f"{word} = {float(value)!r}: a mechanism file has no forces of the medium; "
                f"remove it",
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
