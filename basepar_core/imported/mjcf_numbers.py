"""Numbers of a compiled MJCF model that no mechanism has: inf, nan, an axis of no direction.

MuJoCo reads `inf` and `nan` as numbers and hands them on, and an axis as long as 1e200 becomes
zero when it is scaled to one.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

#: Arrays of a model that a draft takes numbers from, by what their rows are of.
READ = {
    "body": ("body_pos", "body_quat", "body_ipos", "body_iquat", "body_inertia", "body_mass"),
    "joint": ("jnt_pos", "jnt_axis", "jnt_stiffness"),
    "site": ("site_pos", "site_quat"),
    "equality": ("eq_data",),
}
OF_FREEDOMS = ("dof_damping", "dof_frictionloss", "dof_armature")
#: A direction that MuJoCo has scaled to 1 is shorter than this only if it had none.
SHORT = 0.5


def mistakes(model: Any, axial: tuple[int, ...]) -> Iterator[tuple[str, int, str]]:
    """What is wrong with a model's numbers: kind of element, its number, in words.

    Parameters
    ----------
    model
        As MuJoCo compiled it.
    axial
        Types of joints that have an axis.
    """
    if not np.isfinite(model.opt.gravity).all():
        yield "option", 0, "gravity is not finite"
    for what, names in READ.items():
        for name in names:
            for k, row in enumerate(getattr(model, name)):
                if not np.isfinite(row).all():
                    yield what, k, f"{name.partition('_')[2]} is not finite"
    for name in OF_FREEDOMS:
        for dof in np.flatnonzero(~np.isfinite(getattr(model, name))):
            yield "joint", int(model.dof_jntid[dof]), f"{name.partition('_')[2]} is not finite"
    starts = np.isfinite(model.qpos0) & np.isfinite(model.qpos_spring)
    for j in range(model.njnt):
        if not starts[model.jnt_qposadr[j]]:
            yield "joint", j, "its start (ref, springref) is not finite"
        if model.jnt_type[j] in axial and np.linalg.norm(model.jnt_axis[j]) < SHORT:
            yield "joint", j, "its axis has no direction: zero, or too long to be scaled"
