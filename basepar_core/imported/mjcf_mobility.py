"""Which joint values of a MuJoCo model with constraints are independent: by its own Jacobian.

At several configurations that satisfy the constraints, because the reference pose may be
singular.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import joint_type

from .draft import Connection

#: Random configurations that are looked at, steps of Newton's method to reach one, and what is
#: closed: rad or m.
LOOKS, STEPS, CLOSED = 4, 60, 1e-9
#: Singular values below this share of the largest are zero; lengths are of order one metre.
RANK = 1e-7


def independent(
    mujoco: Any, model: Any, units: Sequence[tuple[int, ...]], begin: Array
) -> tuple[list[int], int] | None:
    """Independent degrees of freedom, and how many there are; None if no pose closes.

    Parameters
    ----------
    mujoco, model
        The library and a compiled model.
    units
        Degrees of freedom that may be coordinates, in order of preference; those of one unit
        only together.
    begin
        Positions (nq,) that are looked at, and random ones near them.
    """
    jacobians = _jacobians(mujoco, model, begin)
    ranks = [_rank(J) for J in jacobians]
    if not jacobians:
        return None
    J, rank = jacobians[int(np.argmax(ranks))], max(ranks)
    freedoms, chosen = int(model.nv) - rank, list[int]()
    for unit in units:
        rest = [k for k in range(model.nv) if k not in (*chosen, *unit)]
        if len(chosen) + len(unit) <= freedoms and _rank(J[:, rest]) == rank:
            chosen += unit
    return chosen, freedoms


def driven_together(
    values: dict[int, str], connections: Sequence[Connection]
) -> list[tuple[int, ...]]:
    """Degrees of freedom that are driven together: a ball's and a base's all, others alone."""
    kinds = {c.name: joint_type(c.kind) for c in connections}
    together = {name: kind.values for name, kind in kinds.items() if kind.is_ball}
    found: list[tuple[int, ...]] = []
    for dof in sorted(values):
        joint, _, k = values[dof].rpartition(".")
        if joint in together and k:
            if k == "1":
                found.append(tuple(range(dof, dof + together[joint])))
        else:
            found.append((dof,))
    return found


def _rank(J: Array) -> int:
    if not J.size:
        return 0
    sigma = np.linalg.svd(J, compute_uv=False)
    return int((sigma > RANK * max(sigma[0], 1.0)).sum())


def _jacobians(mujoco: Any, model: Any, begin: Array) -> list[Array]:
    """Of the active equality constraints, at some positions and at random ones near them."""
    rng, found = np.random.default_rng(0), []
    before = model.opt.jacobian
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    try:
        for look in range(LOOKS):
            data = mujoco.MjData(model)
            data.qpos[:] = begin
            if look:
                mujoco.mj_integratePos(model, data.qpos, rng.uniform(-0.2, 0.2, model.nv), 1.0)
            closed = _close(mujoco, model, data)
            if closed is not None:
                found.append(closed)
    finally:
        model.opt.jacobian = before
    return found


def _close(mujoco: Any, model: Any, data: Any) -> Array | None:
    """Newton's method on the equality constraints; their Jacobian where it arrives."""
    for _ in range(STEPS):
        mujoco.mj_fwdPosition(model, data)
        rows = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        J = np.array(data.efc_J).reshape(-1, model.nv)[rows]
        gap = np.array(data.efc_pos)[rows]
        if np.abs(gap).max(initial=0.0) < CLOSED:
            return J
        step = -np.linalg.lstsq(J, gap, rcond=1e-8)[0]
        mujoco.mj_integratePos(model, data.qpos, step, 1.0)
    return None
