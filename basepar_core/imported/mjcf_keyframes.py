"""Where the assembly of a MuJoCo model begins: its reference pose, or one of its keyframes.

Values of imported joints count from the reference pose (`qpos0`), so those of a keyframe are
differences to it.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.expressions import did_you_mean

from .draft import Draft

#: A constraint that is off by more (m, rad) is open: keyframes print three decimals and more.
OPEN = 1e-2


def start(mujoco: Any, model: Any, draft: Draft, wanted: str | None) -> Array:
    """Positions (nq,) that the assembly begins from; which ones, where not the reference pose, is
    noted, and a keyframe that there is not is rejected.

    Parameters
    ----------
    wanted
        Name of a keyframe; None: the one that closes the loops if the reference pose does not.
    """
    keys = {
        mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_KEY, k) or f"#{k}": np.array(
            model.key_qpos[k]
        )
        for k in range(model.nkey)
    }
    if wanted is not None:
        if wanted not in keys:
            hint = did_you_mean(wanted, list(keys)) or f"; they are {', '.join(keys) or 'none'}"
            draft.refuse("keyframe", f"none is named {wanted!r}{hint}")
            return np.array(model.qpos0)
        draft.notes.append(f"assembled at keyframe {wanted!r}")
        return keys[wanted]
    if gap(mujoco, model, model.qpos0) > OPEN:
        closing = [name for name, pose in keys.items() if gap(mujoco, model, pose) <= OPEN]
        if len(closing) == 1:
            draft.notes.append(
                f"assembled at keyframe {closing[0]!r}: the reference pose leaves loops open by "
                f"{gap(mujoco, model, model.qpos0):.2g} m (rad), and this one closes them"
            )
            return keys[closing[0]]
        if closing:
            said = "the reference pose leaves loops open, and several keyframes close them"
            draft.notes.append(f"{said}: {', '.join(closing)}; name one of them")
    return np.array(model.qpos0)


def gap(mujoco: Any, model: Any, positions: Array) -> float:
    """How far equality constraints are from being met, m (rad)."""
    data = mujoco.MjData(model)
    data.qpos[:] = positions
    mujoco.mj_fwdPosition(model, data)
    rows = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    return float(np.abs(data.efc_pos[rows]).max(initial=0.0))


def values_at(
    mujoco: Any,
    model: Any,
    positions: Array,
    names: Mapping[int, str],
    reversed_values: frozenset[int],
) -> dict[str, Fraction]:
    """Joint values that are not zero at some positions, by our names.

    Parameters
    ----------
    names, reversed_values
        Names of values by degree of freedom; those that are counted the other way.
    """
    difference = np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, difference, 1.0, model.qpos0, positions)
    for j in range(model.njnt):
        if (
            model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE
        ):  # along axes of the body, not the world
            dof, turn, place = int(model.jnt_dofadr[j]), np.zeros(9), int(model.jnt_qposadr[j])
            mujoco.mju_quat2Mat(turn, np.array(model.qpos0[place + 3 : place + 7]))
            difference[dof : dof + 3] = turn.reshape(3, 3).T @ difference[dof : dof + 3]
    return {
        name: Fraction(repr(round(float(difference[dof]), 9)))
        * (-1 if dof in reversed_values else 1)
        for dof, name in names.items()
        if round(float(difference[dof]), 9)
    }
