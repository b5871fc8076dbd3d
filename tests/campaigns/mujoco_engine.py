"""MuJoCo's own mechanics of an MJCF file: its tree, its equality constraints, its regressor.

Points and bodies that constraints hold move by MuJoCo's Jacobians and their rates; inverse
dynamics is its recursion, without constraints, friction, springs and armature (but for what a free
joint has about its axes, which an importer makes part of the body). The regressor are differences
by its inertias, one body's at a time.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from tests.oracles.engine import Array, Engine

FREE, BALL, _, _ = (int(getattr(mujoco.mjtJoint, f"mjJNT_{k}")) for k in
                    ("FREE", "BALL", "SLIDE", "HINGE"))  # fmt: skip
EQ = mujoco.mjtEq
#: Ways to give a body one more of one of its parameters: mass, place, principal moments, axes.
_TURN = {"xy": (0, 0, 1), "xz": (0, 1, 0), "yz": (1, 0, 0)}


@dataclass
class Held:
    """Two bodies and a frame in each that a constraint holds together, and whether all of it."""

    bodies: tuple[int, int]
    frames: tuple[tuple[Array, Rotation], tuple[Array, Rotation]]
    is_rigid: bool


class MujocoEngine(Engine):
    """A compiled model; `notes` are the importer's, which say what its joints are called here."""

    def __init__(self, model: mujoco.MjModel, notes: Sequence[str], values: Sequence[str]):
        self.model, self.data = model, mujoco.MjData(model)
        model.body_sameframe[:] = 0  # inertias move
        self.speeds = model.nv
        self.held = list(_held(model))
        self.linear = list(_linear(model))
        self.has_loops = bool(self.held)
        self.columns = dict(_columns(model, notes, set(values)))
        self.rods = list(_rods(model, values))
        for j, order in self.rods:
            dof, name = int(model.jnt_dofadr[j]), _plain(_joint(model, j))
            names = f"{name}_across.1", f"{name}_across.2", f"{name}_along"
            self.columns |= {one: (dof + k, 1) for one, k in zip(names, order, strict=True)}
        used = {dof for dof, _ in self.columns.values()}
        self.loose = [k for k in range(model.nv) if k not in used]
        self.inertias = (model.body_mass.copy(), model.body_inertia.copy(), model.body_ipos.copy(),
                    model.body_iquat.copy())  # fmt: skip

    def configuration(self, values: Mapping[str, float]) -> Array:
        step = np.zeros(self.speeds)
        for name, (dof, sign) in self.columns.items():
            step[dof] = sign * values.get(name, 0.0)
        q, model = self.model.qpos0.copy(), self.model
        for j in range(model.njnt):
            at, dof, kind = model.jnt_qposadr[j], model.jnt_dofadr[j], model.jnt_type[j]
            if kind == FREE:
                start = Rotation.from_quat(q[at + 3 : at + 7], scalar_first=True)
                q[at : at + 3] += start.apply(step[dof : dof + 3])
                turned = start * Rotation.from_rotvec(step[dof + 3 : dof + 6])
                q[at + 3 : at + 7] = turned.as_quat(scalar_first=True)
            elif kind == BALL:
                turned = Rotation.from_rotvec(step[dof : dof + 3])
                if order := dict(self.rods).get(j):
                    turned = Rotation.from_euler(_letters(order), step[[dof + k for k in order]])
                q[at : at + 4] = turned.as_quat(scalar_first=True)
            else:
                q[at] += step[dof]
        return q

    def moved(self, q: Array, step: Array) -> Array:
        found = q.copy()
        mujoco.mj_integratePos(self.model, found, self._basis(q)[0] @ step, 1.0)
        return found

    def _placed(self, q: Array, v: Array | None = None) -> mujoco.MjData:
        self.data.qpos[:] = q
        self.data.qvel[:] = 0 if v is None else v
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_comVel(self.model, self.data)
        return self.data

    def gap(self, q: Array) -> Array:
        data, found = self._placed(q), []
        for one in self.held:
            (p, R), (s, S) = self._ends(data, one)
            found.append(s - p)
            if one.is_rigid:
                found.append(R.apply((R.inv() * S).as_rotvec()))
        turns = self._values(q)
        found += [np.array([factors @ turns - offset]) for factors, offset in self.linear]
        return np.concatenate(found) if found else np.zeros(0)

    def _values(self, q: Array) -> Array:
        """Values of hinges and slides from the reference pose, by their speeds."""
        model, found = self.model, np.zeros(self.speeds)
        for j in range(model.njnt):
            if model.jnt_type[j] not in (FREE, BALL):
                at = model.jnt_qposadr[j]
                found[model.jnt_dofadr[j]] = q[at] - model.qpos0[at]
        return found

    def _ends(self, data: mujoco.MjData, one: Held) -> list[tuple[Array, Rotation]]:
        found = []
        for body, (at, turn) in zip(one.bodies, one.frames, strict=True):
            R = Rotation.from_quat(data.xquat[body], scalar_first=True)
            found.append((data.xpos[body] + R.apply(at), R * turn))
        return found

    def _basis(self, q: Array, w: Array | None = None) -> tuple[Array, Array]:
        """B, by which MuJoCo's speeds are B times these: of rods' balls these are rates of turns
        about three axes in a row. And its rate times the speeds."""
        B, rate = np.eye(self.speeds), np.zeros(self.speeds)
        for j, order in self.rods:
            at, dof = int(self.model.jnt_qposadr[j]), int(self.model.jnt_dofadr[j])
            here = [dof + k for k in order]
            turned = Rotation.from_quat(q[at : at + 4], scalar_first=True)
            angles, block = turned.as_euler(_letters(order)), np.ix_(range(dof, dof + 3), here)
            B[block] = _turning(angles, order)
            if w is not None:
                step = 1e-30
                grown = _turning(angles + 1j * step * w[here], order)
                rate[dof : dof + 3] = grown.imag / step @ w[here]
        return B, rate

    def rows(self, q: Array, v: Array) -> tuple[Array, Array]:
        B, rate = self._basis(q, v)
        J, drift = self._rows(q, B @ v)
        return J @ B, drift + J @ rate

    def _rows(self, q: Array, v: Array) -> tuple[Array, Array]:
        data, J, drift = self._placed(q, v), [], []
        for one in self.held:
            parts = []
            for body, (point, _) in zip(one.bodies, self._ends(data, one), strict=True):
                both = [np.zeros((3, self.speeds)) for _ in range(4)]
                mujoco.mj_jac(self.model, data, both[0], both[1], point, body)
                mujoco.mj_jacDot(self.model, data, both[2], both[3], point, body)
                parts.append(both)
            for k in (0, 1) if one.is_rigid else (0,):
                J.append(parts[1][k] - parts[0][k])
                drift.append((parts[1][k + 2] - parts[0][k + 2]) @ v)
        for factors, _ in self.linear:
            J.append(factors[None])
            drift.append(np.zeros(1))
        if not J:
            return np.zeros((0, self.speeds)), np.zeros(0)
        return np.vstack(J), np.concatenate(drift)

    def inverse(self, q: Array, v: Array, a: Array) -> Array:
        B, rate = self._basis(q, v)
        v, a = B @ v, B @ a + rate
        found = self._recursion(q, v, a)
        for j in range(self.model.njnt):
            if self.model.jnt_type[j] == FREE:
                turning = slice(self.model.jnt_dofadr[j] + 3, self.model.jnt_dofadr[j] + 6)
                found[turning] += self.model.dof_armature[turning] * a[turning]
        return B.T @ found

    def _recursion(self, q: Array, v: Array, a: Array) -> Array:
        data, found = self._placed(q, v), np.zeros(self.speeds)
        data.qacc[:] = a
        mujoco.mj_rne(self.model, data, 1, found)
        return found

    def regressor(self, q: Array, v: Array, a: Array) -> Array:
        model, (B, rate) = self.model, self._basis(q, v)
        v, a = B @ v, B @ a + rate
        weighs = np.flatnonzero(self.inertias[0] + self.inertias[1].sum(axis=1) > 0)
        model.body_mass[:], model.body_inertia[:] = 0.0, 0.0
        model.body_ipos[:], model.body_iquat[:] = 0.0, [1.0, 0, 0, 0]
        columns = []
        for body in weighs[weighs > 0]:
            model.body_mass[body] = 1.0
            columns.append(self._recursion(q, v, a))
            for axis in range(3):
                model.body_ipos[body, axis] = 1.0
                columns.append(self._recursion(q, v, a))
                model.body_ipos[body] = 0.0
            model.body_mass[body] = 0.0
            for axis in range(3):
                model.body_inertia[body, axis] = 1.0
                columns.append(self._recursion(q, v, a))
                model.body_inertia[body] = 0.0
            for pair, about in _TURN.items():
                first, second = ("xyz".index(letter) for letter in pair)
                model.body_inertia[body, first], model.body_inertia[body, second] = 1.0, -1.0
                sign = -1.0 if pair == "xz" else 1.0
                turn = Rotation.from_rotvec(sign * np.pi / 4 * np.array(about))
                model.body_iquat[body] = turn.as_quat(scalar_first=True)
                columns.append(self._recursion(q, v, a))
                model.body_inertia[body], model.body_iquat[body] = 0.0, [1.0, 0, 0, 0]
        model.body_mass[:], model.body_inertia[:] = self.inertias[0], self.inertias[1]
        model.body_ipos[:], model.body_iquat[:] = self.inertias[2], self.inertias[3]
        return B.T @ np.stack(columns, axis=1)

    def own(
        self, q: Array, names: Sequence[str], rates: Array, accelerations: Array
    ) -> tuple[Array, Array, Array]:
        """Linear velocities of free joints are in the world's axes for MuJoCo, in the body's
        here."""
        speeds, accelerations, T = super().own(q, names, rates, accelerations)
        place = {self.columns[name][0]: k for k, name in enumerate(names)}
        for j in range(self.model.njnt):
            dof = int(self.model.jnt_dofadr[j])
            if self.model.jnt_type[j] != FREE or dof not in place:
                continue
            along, about = ([place[dof + k] for k in part] for part in ((0, 1, 2), (3, 4, 5)))
            at = self.model.jnt_qposadr[j] + 3
            R = Rotation.from_quat(q[at : at + 4], scalar_first=True).as_matrix()
            T[np.ix_(along, along)] = R
            v, omega = speeds[along], speeds[about]
            accelerations[along] = R @ (accelerations[along] + np.cross(omega, v))
            speeds[along] = R @ v
        return speeds, accelerations, T


def _turning(angles: Array, order: Sequence[int]) -> Array:
    """Angular velocity along the turned axes, by rates of turns about axes in a row."""
    one, two, three = np.eye(3)[list(order)]

    def back(axis: Array, angle: complex, v: Array) -> Array:
        return (
            v * np.cos(angle)
            - np.cross(axis, v) * np.sin(angle)
            + axis * (axis @ v) * (1 - np.cos(angle))
        )

    first = back(three, angles[2], back(two, angles[1], one))
    return np.stack([first, back(three, angles[2], two), three], axis=1)


def _letters(order: Sequence[int]) -> str:
    return "".join("XYZ"[k] for k in order)


def _rods(model: mujoco.MjModel, values: Sequence[str]) -> Iterator[tuple[int, list[int]]]:
    """Balls that are three turns here, by our values; the axes in a row, the last along the rod,
    which a connect holds at a point of that axis."""
    for j in range(model.njnt):
        if model.jnt_type[j] == BALL and f"{_plain(_joint(model, j))}_along" in values:
            (at,) = (
                at
                for one in _held(model)
                for body, (at, _) in zip(one.bodies, one.frames, strict=True)
                if body == model.jnt_bodyid[j]
            )
            (axis,) = np.flatnonzero(at - model.jnt_pos[j])
            yield j, [(axis + 1) % 3, (axis + 2) % 3, axis]


def _joint(model: mujoco.MjModel, j: int) -> str:
    return mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) or f"joint #{j + 1}"


def _plain(name: str) -> str:
    found = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") or "joint"
    return found if found[0].isalpha() else f"joint_{found}"


def _held(model: mujoco.MjModel) -> Iterator[Held]:
    """Active connects and welds."""
    for k in range(model.neq):
        kind = int(model.eq_type[k])
        if not model.eq_active0[k] or kind not in (int(EQ.mjEQ_CONNECT), int(EQ.mjEQ_WELD)):
            continue
        ids, data = (int(model.eq_obj1id[k]), int(model.eq_obj2id[k])), model.eq_data[k]
        is_rigid = kind == int(EQ.mjEQ_WELD) and data[10] != 0
        none = Rotation.identity()
        if int(model.eq_objtype[k]) == int(mujoco.mjtObj.mjOBJ_SITE):
            bodies = int(model.site_bodyid[ids[0]]), int(model.site_bodyid[ids[1]])
            frames = [
                (model.site_pos[s], Rotation.from_quat(model.site_quat[s], scalar_first=True))
                for s in ids
            ]
            yield Held(bodies, (frames[0], frames[1]), is_rigid)
        elif kind == int(EQ.mjEQ_WELD):
            turn = Rotation.from_quat(data[6:10], scalar_first=True)
            yield Held(ids, ((data[3:6], turn), (data[0:3], none)), is_rigid)
        else:
            yield Held(ids, ((data[0:3], none), (data[3:6], none)), False)


def _linear(model: mujoco.MjModel) -> Iterator[tuple[Array, float]]:
    """Equalities of joints and fixed tendons of degree one: factors by speed, and the offset."""

    def factors(kind: int, number: int) -> Array:
        found = np.zeros(model.nv)
        if kind == int(EQ.mjEQ_JOINT):
            found[model.jnt_dofadr[number]] = 1.0
            return found
        first = model.tendon_adr[number]
        for place in range(first, first + model.tendon_num[number]):
            found[model.jnt_dofadr[model.wrap_objid[place]]] += model.wrap_prm[place]
        return found

    for k in range(model.neq):
        kind = int(model.eq_type[k])
        if model.eq_active0[k] and kind in (int(EQ.mjEQ_JOINT), int(EQ.mjEQ_TENDON)):
            row = factors(kind, int(model.eq_obj1id[k]))
            if model.eq_obj2id[k] >= 0:
                row -= model.eq_data[k][1] * factors(kind, int(model.eq_obj2id[k]))
            yield row, float(model.eq_data[k][0])


def _columns(
    model: mujoco.MjModel, notes: Sequence[str], values: set[str]
) -> Iterator[tuple[str, tuple[int, int]]]:
    """Our values by speed, by the importer's notes of joints that are one."""
    said = " ".join(note for note in notes if " are one " in note)
    renamed = dict(re.findall(r"(\S+) is (\S+\.\d)(?:,|$| )", said + " "))
    against = {
        name
        for note in notes
        if "its slide is counted" in note
        for name in re.findall(r"joint '([^']+)'", note)
    }
    for j in range(model.njnt):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) or f"joint #{j + 1}"
        dof, count = int(model.jnt_dofadr[j]), {FREE: 6, BALL: 3}.get(int(model.jnt_type[j]), 1)
        ours = renamed.get(name, name)
        names = [ours] if count == 1 else [f"{ours}.{k + 1}" for k in range(count)]
        for k, one in enumerate(names):
            stem, dot, number = one.rpartition(".") if re.search(r"\.\d$", one) else (one, "", "")
            plain = re.sub(r"[^A-Za-z0-9_]+", "_", stem).strip("_") or "joint"
            plain = plain if plain[0].isalpha() else f"joint_{plain}"
            if f"{plain}{dot}{number}" in values:
                yield f"{plain}{dot}{number}", (dof + k, -1 if name in against else 1)
