"""Tendons of a compiled MuJoCo model.

A fixed tendon is a sum of joint values, and one through space the length of a path. Neither holds
anything by itself: equality constraints do (`mjcf_couplings`), and limits and actuators are left
out as those of joints are. What pulls with a force of its own is a spring or damper between two
points if its path is straight, and rejected otherwise.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .draft import Between, Draft
from .rationals import decimal, vector

#: Arrays that make a tendon pull, or weigh, with words for what no mechanism file has of them.
_FORCES = {
    "tendon_stiffness": "",
    "tendon_stiffnesspoly": "a stiffness that is not linear",
    "tendon_springyield": "a spring that yields",
    "tendon_damping": "",
    "tendon_dampingpoly": "a damping that is not linear",
    "tendon_frictionloss": "frictionloss",
    "tendon_armature": "armature",
}


def tendons_in(mujoco: Any, model: Any, constraints: Iterable[int]) -> set[int]:
    """Tendons that stand in equality constraints."""
    tied = [k for k in constraints if model.eq_type[k] == int(mujoco.mjtEq.mjEQ_TENDON)]
    return {int(ids[k]) for k in tied for ids in (model.eq_obj1id, model.eq_obj2id)} - {-1}


def is_sum(mujoco: Any, model: Any, t: int) -> bool:
    """Whether a tendon is a sum of joint values."""
    return bool((_path(model, model.wrap_type, t) == int(mujoco.mjtWrap.mjWRAP_JOINT)).all())


def read_tendons(
    mujoco: Any, model: Any, draft: Draft, bodies: list[str], name: Callable[[str, int], str]
) -> None:
    """Springs and dampers between points; forces of other tendons are rejected.

    Parameters
    ----------
    mujoco, model
        The library and a compiled model.
    bodies
        Names of the model's bodies in the draft.
    name
        Of an element: its kind and number to the name, empty without one.
    """
    for t in range(model.ntendon):
        where = f"tendon {name('tendon', t) or f'#{t}'!r}"
        acting = [array for array in _FORCES if np.any(getattr(model, array)[t])]
        if not acting:
            continue
        words = [_FORCES[array] for array in acting if _FORCES[array]]
        if words:
            draft.refuse(where, f"it has {', '.join(words)}, and a mechanism file none; remove it")
        elif is_sum(mujoco, model, t):
            what = acting[0].removeprefix("tendon_")
            draft.refuse(
                where,
                f"it has {what}, which a mechanism file has for joint values alone; set it to "
                f"zero, or put it on joints",
            )
        else:
            _straight(mujoco, model, draft, bodies, t, where)


def _straight(
    mujoco: Any, model: Any, draft: Draft, bodies: list[str], t: int, where: str
) -> None:
    """A spring or damper along the line between two sites."""
    low, high = map(float, model.tendon_lengthspring[t])
    kinds = _path(model, model.wrap_type, t)
    if len(kinds) != 2 or any(kinds != int(mujoco.mjtWrap.mjWRAP_SITE)):
        draft.refuse(
            where,
            "it pulls along a path of more than two points, and springs and dampers of a "
            "mechanism file are straight; set its stiffness and damping to zero",
        )
        return
    if model.tendon_stiffness[t] and low != high:
        draft.refuse(
            where,
            f"it is slack from {low!r} to {high!r} m, and springs of a mechanism file have one "
            f"length at rest; give springlength one number",
        )
        return
    one, two = map(int, _path(model, model.wrap_objid, t))
    links = bodies[model.site_bodyid[one]], bodies[model.site_bodyid[two]]
    points = vector(model.site_pos[one]), vector(model.site_pos[two])
    pulls = decimal(model.tendon_stiffness[t]), decimal(low), decimal(model.tendon_damping[t])
    draft.between.append(Between(where.split("'")[1], links, points, *pulls))
    draft.notes.append(f"{where} is a spring or damper between points of its two bodies")


def _path(model: Any, array: Any, t: int) -> Any:
    """The part of an array of path points that is a tendon's."""
    first = int(model.tendon_adr[t])
    return array[first : first + int(model.tendon_num[t])]
