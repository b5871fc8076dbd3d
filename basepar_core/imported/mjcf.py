"""MJCF through MuJoCo (extra `mjcf`): the compiled model, so that compiler settings, defaults and
masses inferred from geoms are what MuJoCo computes with.

Equality constraints become joints. A connect holds two points together and nothing else: that is
a spherical joint, in a planar loop too, where one of its three equations then is redundant. A
weld is a fixed joint, but with a torquescale of zero it says nothing of the rotation and is a
connect. A free joint is the absence of one where constraints hang its body from the ground; else
the body floats, with a joint of type free. Several joints on a body that no one joint moves as get
bodies without mass between them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.errors import MissingDataError
from basepar_core.texts import plural

from . import mjcf_numbers
from .draft import (
    NOTHING,
    WORLD,
    Connection,
    Draft,
    End,
    Fixture,
    Inertia,
    Link,
    held_by_world,
)
from .mjcf_couplings import Couplings, tied_joints
from .mjcf_files import strays
from .mjcf_forces import refuse_forces
from .mjcf_joints import HELD, Moving, combined, parted, read_moving
from .mjcf_keyframes import start, values_at
from .mjcf_tendons import read_tendons, tendons_in
from .rationals import (
    UNITS,
    ZERO,
    Pose,
    Quaternion,
    centre,
    decimal,
    from_floats,
    vector,
)

#: Parts of a model that a mechanism has no place for, by the model's counter.
DROPPED = {
    "ngeom": "geom",
    "nsite": "site",
    "ncam": "camera",
    "nlight": "light",
    "nu": "actuator",
    "nsensor": "sensor",
    "npair": "contact pair",
    "nexclude": "contact exclusion",
    "nkey": "keyframe",
    "nskin": "skin",
    "nmesh": "mesh",
    "nhfield": "height field",
    "nmat": "material",
    "ntex": "texture",
    "nnumeric": "number",
    "ntext": "text",
    "ntuple": "tuple",
    "nplugin": "plugin",
}
#: What MuJoCo calls a model that has no name.
UNNAMED = "MuJoCo Model"
#: Place of a weld's torquescale in `eq_data`.
TORQUESCALE = 10
#: Entries of an inertia below this share of its largest are rounding of the compiler.
INERTIA_NOISE = 1e-14


def read(
    path: Path,
    folder: Path | None = None,
    keyframe: str | None = None,
    frictionless: bool = False,
) -> Draft:
    """A draft of an MJCF file that may read files in a folder, its own without, assembled at a
    keyframe, without what rubs in balls if so asked; what it rejects is in `mistakes`.

    Raises
    ------
    MissingDataError
        MuJoCo is not installed.
    """
    try:
        import lxml  # noqa: F401
        import mujoco
    except ImportError as error:
        raise MissingDataError(
            "Reading MJCF needs MuJoCo. Install the extra: pip install 'basepar[mjcf]'."
        ) from error
    draft = Draft(path.stem, "MJCF", ZERO)
    draft.mistakes += strays(path, folder)
    if draft.mistakes:
        return draft
    try:
        with _warnings_in(mujoco, draft.notes):
            model = mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        draft.refuse("", f"MuJoCo does not compile it: {' '.join(str(error).split())}")
        return draft
    return _Reader(mujoco, model, draft, keyframe, frictionless).draft


@contextmanager
def _warnings_in(mujoco: Any, notes: list[str]) -> Iterator[None]:
    """MuJoCo's warnings as notes; it writes a file into the working folder otherwise."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: notes.append(f"MuJoCo: {text}"))
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


class _Reader:
    """One compiled model on its way to a draft."""

    def __init__(
        self, mujoco: Any, model: Any, draft: Draft, keyframe: str | None, frictionless: bool
    ):
        self.mujoco, self.model, self.draft = mujoco, model, draft
        self.frictionless = frictionless
        axial = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
        for what, k, why in mjcf_numbers.mistakes(model, axial):
            draft.refuse(f"{what} {self._name(what, k) or k!r}" if what != "option" else what, why)
        if draft.mistakes:
            return
        name = model.names.split(b"\0", 1)[0].decode()
        draft.name = draft.name if name in ("", UNNAMED) else name
        off = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
        draft.gravity = ZERO if off else vector(model.opt.gravity)
        self.names = [
            WORLD,
            *(self._name("body", k) or f"body #{k}" for k in range(1, model.nbody)),
        ]
        refuse_forces(mujoco, model, draft, self._name)
        read_tendons(mujoco, model, draft, self.names, self._name)
        self.values: dict[int, str] = {}  # by degree of freedom
        self.reversed: frozenset[int] = frozenset()
        for k in range(1, model.nbody):
            self._body(k)
        closing = [k for k in range(model.neq) if model.eq_active0[k]]
        if len(closing) < model.neq:
            draft.dropped.append(f"{model.neq - len(closing)} inactive equality constraint")
        for k in closing:
            self._equality(k)
        draft.dropped += [
            f"{count} {word}" for n, word in DROPPED.items() if (count := getattr(model, n, 0))
        ]
        if idle := model.ntendon - len(tendons_in(mujoco, model, closing)) - len(draft.between):
            draft.dropped.append(f"{idle} tendon")
        if any(model.jnt_limited):
            draft.dropped.append(f"{sum(map(bool, model.jnt_limited))} joint limit")
        self._float()
        if not draft.mistakes and not draft.connections:
            draft.refuse("", "nothing moves: no body has a joint")
        if draft.mistakes:
            return
        begin = start(mujoco, model, draft, keyframe)
        draft.begin_at(values_at(mujoco, model, begin, self.values, self.reversed))
        draft.preferred += self._driven() if closing else []

    def _name(self, what: str, k: int) -> str:
        kind = getattr(self.mujoco.mjtObj, f"mjOBJ_{what.upper()}")
        return self.mujoco.mj_id2name(self.model, kind, k) or ""

    def _body(self, k: int) -> None:
        model, name = self.model, self.names[k]
        pose = _pose(model.body_pos[k], model.body_quat[k])
        parent = self.names[model.body_parentid[k]]
        first, count = model.body_jntadr[k], model.body_jntnum[k]
        moving = [self._moving(j) for j in range(first, first + count)]
        inertia = _inertia(model, k)
        if moving and moving[0].kind == "free":
            self.draft.links.append(Link(name, inertia.with_sphere(moving[0].armature)))
            return
        self.draft.links.append(Link(name, inertia))
        if not count:
            self.draft.fixtures.append(Fixture(name, parent, pose))
            return
        groups = parted(moving, tied_joints(self.mujoco, model))
        stubs = [f"{name} after {one[-1].name}" for one in groups[:-1]]
        self.draft.links += [Link(stub, NOTHING) for stub in stubs]
        if stubs:
            self.draft.notes.append(
                f"body {name!r}: no one joint moves as {', '.join(one.name for one in moving)} "
                f"do; {plural(len(stubs), 'body', 'bodies')} without mass between them"
            )
        chain = [parent, *stubs, name]
        for k, group in enumerate(groups):
            self._connect((chain[k], chain[k + 1]), Pose() if k else pose, group)

    def _connect(self, links: tuple[str, str], pose: Pose, moving: Sequence[Moving]) -> None:
        """One joint of ours; the second link's frame has a pose in the first's."""
        joint = combined(moving)
        ends = (joint.ends[0].seen_from(pose), joint.ends[1])
        self.values |= joint.values
        self.reversed |= joint.reversed
        self.draft.connections.append(
            Connection(
                joint.name,
                joint.kind,
                links,
                ends,
                {v: f for j in moving if (v := joint.names.get(j.index)) and (f := j.friction)},
                {
                    v: s
                    for j in moving
                    if (v := joint.names.get(j.index)) and (s := joint.spring(j))
                },
                limits={
                    v: span
                    for j in moving
                    if (v := joint.names.get(j.index)) and (span := joint.limits(j))
                },
            )
        )
        self.draft.notes += joint.notes

    def _moving(self, j: int) -> Moving:
        """One joint of MuJoCo's."""
        name = self._name("joint", j) or f"joint #{j + 1}"
        return read_moving(self.mujoco, self.model, self.draft, j, name, self.frictionless)

    def _equality(self, k: int) -> None:
        """An equality constraint as a joint."""
        model, kinds = self.model, self.mujoco.mjtEq
        kind = int(model.eq_type[k])
        words = {
            int(kinds.mjEQ_JOINT): "joint",
            int(kinds.mjEQ_TENDON): "tendon",
            int(kinds.mjEQ_CONNECT): "connect",
            int(kinds.mjEQ_WELD): "weld",
        }
        word = words.get(kind, "flex")
        name = self._name("equality", k) or f"{word} #{k + 1}"
        if word not in ("connect", "weld"):
            self._coupling(k, name, word)
            return
        rigid = word == "weld" and model.eq_data[k][TORQUESCALE] != 0
        bodies, frames = self._closed(k, word, rigid)
        if bodies[0] == bodies[1]:
            self.draft.refuse(f"equality {name!r}", "it holds a body to itself; remove it")
            return
        ends = tuple(End(f.at, f.turned(UNITS[2]), f.turned(UNITS[0])) for f in frames)
        kind_ = "fixed" if rigid else "spherical"
        links = self.names[bodies[0]], self.names[bodies[1]]
        if any(name == other.name for other in self.draft.connections):
            name = f"{name} {word}"  # equalities have names of their own in MJCF
        self.draft.connections.append(Connection(name, kind_, links, ends))  # type: ignore[arg-type]
        free = word == "weld" and not rigid
        why = ", because with torquescale = 0 it leaves the rotation free" if free else ""
        self.draft.notes.append(f"{word} {name!r} is a {kind_} joint{why}")

    def _coupling(self, k: int, name: str, word: str) -> None:
        """An equality constraint of joint values."""
        try:
            if word == "flex":
                raise ValueError("deformable bodies are no mechanism; remove it")
            couplings = Couplings(self.mujoco, self.model, self.values, self.reversed)
            made = couplings.of(k, name)
        except ValueError as error:
            self.draft.refuse(f"equality {name!r} ({word})", str(error))
            return
        self.draft.couplings.append(made)
        self.draft.notes.append(
            f"{word} equality {name!r} is a coupling of {', '.join(made.terms)}"
        )

    def _closed(self, k: int, word: str, rigid: bool) -> tuple[tuple[int, int], tuple[Pose, Pose]]:
        """Bodies of a connect or weld, and the frames in them that it holds together."""
        model = self.model
        data, ids = model.eq_data[k], (int(model.eq_obj1id[k]), int(model.eq_obj2id[k]))
        points = (data[0:3], data[3:6]) if word == "connect" else (data[3:6], data[0:3])
        if int(model.eq_objtype[k]) == int(self.mujoco.mjtObj.mjOBJ_SITE):
            sites = tuple(_pose(model.site_pos[s], model.site_quat[s]) for s in ids)
            ids = int(model.site_bodyid[ids[0]]), int(model.site_bodyid[ids[1]])
            if rigid:
                return ids, (sites[0], sites[1])
            points = model.site_pos[model.eq_obj1id[k]], model.site_pos[model.eq_obj2id[k]]
        turn = from_floats(data[6:10]) if rigid else self._near(ids)
        return ids, (Pose(vector(points[0]), turn), Pose(vector(points[1])))

    def _near(self, ids: tuple[int, int]) -> Quaternion:
        """Roughly the orientation of the second body in the first at the reference pose: where a
        spherical joint has its zero does not matter, and short numbers read better."""
        turns = [Pose(ZERO, self._world(body).turn) for body in ids]
        exact = turns[0].inverse().then(turns[1]).turn
        largest = max(exact, key=abs)
        return from_floats([round(x / largest, 2) for x in exact])

    def _world(self, body: int) -> Pose:
        model = self.model
        pose = Pose()
        while body > 0:
            pose = _pose(model.body_pos[body], model.body_quat[body]).then(pose)
            body = int(model.body_parentid[body])
        return pose

    def _driven(self) -> list[str]:
        """Joint values that actuators act on."""
        model = self.model
        dofs = [
            int(model.jnt_dofadr[model.actuator_trnid[k][0]])
            for k in range(model.nu)
            if int(model.actuator_trntype[k]) == int(self.mujoco.mjtTrn.mjTRN_JOINT)
        ]
        return [self.values[dof] for dof in dofs if dof in self.values]

    @property
    def free(self) -> list[int]:
        """Bodies with a free joint."""
        model = self.model
        return [
            int(model.jnt_bodyid[j])
            for j in range(model.njnt)
            if model.jnt_type[j] == self.mujoco.mjtJoint.mjJNT_FREE
        ]

    def _float(self) -> None:
        """A free joint for every body that has one in the file and that nothing else leads to."""
        held = held_by_world(self.draft)
        for body in self.free:
            name = self.names[body]
            moving = self._moving(int(self.model.body_jntadr[body]))
            if name in held:
                if moving.armature:
                    self.draft.refuse(f"joint {moving.name!r}", HELD)
                continue
            pose = _pose(self.model.body_pos[body], self.model.body_quat[body])
            self.draft.let_float(moving.name, (WORLD, name), pose, moving.armature)
            self.values |= {moving.dof + k: f"{moving.name}.{k + 1}" for k in range(6)}
            self.draft.notes.append(
                f"joint {moving.name!r} is free: its position counts from the body's in the file, "
                f"along its axes; velocities and forces too, MuJoCo's linear ones in the world's"
            )
            held = held_by_world(self.draft)


def _pose(at: Sequence[float], turn: Sequence[float]) -> Pose:
    return Pose(vector(at), from_floats(turn))


def _inertia(model: Any, k: int) -> Inertia:
    w, x, y, z = model.body_iquat[k]
    R = np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )
    I = R @ np.diag(model.body_inertia[k]) @ R.T
    I[np.abs(I) < INERTIA_NOISE * np.abs(I).max()] = 0.0
    six: Any = tuple(decimal(I[p]) for p in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
    return Inertia(decimal(model.body_mass[k]), centre(model.body_ipos[k]), six)
