"""A mechanism's motion, frame by frame, as plain facts: what pages and animated drawings show."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from basepar_core.dynamics import Model, Motion, evaluate, kinematics, trace
from basepar_core.errors import MotionError
from basepar_core.expressions import parse_unit
from basepar_core.mechanism import joint_type
from workflows.drawing import end_in_words, paper_of

from .motion import FilmedMotion, filmed_motion
from .sketch import Placed, Sketch, Vertex, centres, draft, local_points, sketch

#: The last frame goes over into the first where it is no farther from it than this many frames:
#: one in an even motion, more where it slows down between two samples.
NEAR = 2.0


@dataclass(frozen=True)
class Arrow:
    """A force (N) or moment (N m) at a joint's point along a body's direction, (sample,)."""

    name: str
    unit: str
    joint: str
    body: str
    direction: tuple[float, float, float]
    values: np.ndarray


@dataclass(frozen=True)
class Film:
    """A motion of one variant.

    Attributes
    ----------
    sketch
        What is drawn.
    R, p
        (frame, body, 3, 3) and (frame, body, 3) m, the ground last.
    t
        (frame,) s, and `duration` of the whole: more than the last where it starts over.
    view
        (3, 3): right, up, and towards the eye, in the world.
    readings
        Coordinates {name, unit, values} per frame.
    efforts
        Drives {name, unit, kind (turn | push), at, along, values}, N m or N per frame.
    """

    mechanism: str
    planar: bool
    bodies: tuple[str, ...]
    sketch: Sketch
    R: np.ndarray
    p: np.ndarray
    t: np.ndarray
    duration: float
    closed: bool
    view: np.ndarray
    motion: str
    note: str
    readings: list[dict[str, Any]]
    efforts: list[dict[str, Any]]
    values: dict[str, str]

    def places(self, vertices: list[Vertex]) -> np.ndarray:
        """Where vertices are, (frame, vertex, 3) m."""
        body = [vertex[0] for vertex in vertices]
        local = np.array([vertex[1:] for vertex in vertices])
        found: np.ndarray = self.p[:, body] + np.einsum("fvij,vj->fvi", self.R[:, body], local)
        return found

    def document(self) -> dict[str, Any]:
        """What a page reads: poses as float32 in base64, the rest as JSON."""
        poses = np.concatenate([self.R.reshape(*self.R.shape[:2], 9), self.p], axis=2)
        if self.planar:  # cosine, sine, place
            poses = poses[:, :, [0, 3, 9, 10]]
        return {
            "mechanism": self.mechanism,
            "flat": self.planar,
            "bodies": list(self.bodies),
            "lines": self.sketch.lines,
            "marks": self.sketch.marks,
            "points": self.sketch.points,
            "frames": len(self.t),
            "t": _short(self.t),
            "duration": float(self.duration),
            "closed": self.closed,
            "view": _short(self.view.ravel()),
            "motion": self.motion,
            "note": self.note,
            "readings": [{**one, "values": _short(one["values"])} for one in self.readings],
            "efforts": [{**one, "values": _short(one["values"])} for one in self.efforts],
            "values": self.values,
            "poses": base64.b64encode(poses.astype("<f4").tobytes()).decode(),
        }


def _short(numbers: np.ndarray) -> list[float]:
    return [float(f"{x:.6g}") for x in numbers]


def film(
    model: Model,
    values: Mapping[str, float] | None = None,
    whole: FilmedMotion | None = None,
    arrows: Sequence[Arrow] = (),
) -> Film:
    """Film a mechanism over its cycle; without one, over its excitation.

    Parameters
    ----------
    model
        The mechanism, prepared.
    values
        Symbols of a variant, SI; nominal without.
    whole
        Another motion.
    arrows
        Forces and moments besides the drives'.

    Raises
    ------
    MissingDataError
        The file states no motion.
    MotionError
        It cannot be assembled at these values. A motion that ends early is filmed so far.
    """
    it, known = model.mechanism, dict(values or {})
    columns = {name: np.array([value]) for name, value in known.items()}
    whole = whole or filmed_motion(model)
    path = trace(model, columns, whole.motion.q)
    note = end_in_words(model, path, whole.motion.q, whole.name, assembled=False)
    last = whole.motion.t.size if not note else max(1, int(np.nan_to_num(path.where[0])))
    if not np.isfinite(path.q[:, 0, :last]).all() or "assembled" in note:
        raise MotionError(f"{it.name!r} {note}, so nothing moves. Change its dimensions.", ["set"])
    shown = whole.shown(last)
    motion = whole.taken(shown).motion
    q = path.q[:, :, shown]
    dims = kinematics.geometry(it, columns).over_samples()
    at = kinematics.poses(model.topology, dims, q)
    R, p = _bodies(at, q.shape[-1])
    size = _size(at)
    placed = Placed(dims, at, local_points(model, known), centres(model, known), size)
    closed = not note and _closes(R, p, size)
    lasting = float(whole.motion.t[last - 1] - whole.motion.t[0])
    return Film(
        mechanism=it.name,
        planar=it.planar,
        bodies=tuple(body.name for body in it.bodies),
        sketch=sketch(model, known, draft(model), placed),
        R=R,
        p=p,
        t=motion.t - motion.t[0],
        duration=lasting + (whole.step if closed else 0.0),
        closed=closed,
        view=view_of(model),
        motion=whole.name,
        note=note,
        readings=readings(model, motion),
        efforts=[
            *(_efforts(model, columns, dims, q, motion, at) if whole.timed else []),
            *(_loaded(model, dims, one, shown) for one in arrows),
        ],
        values=_words(model, known),
    )


def view_of(model: Model) -> np.ndarray:
    """(3, 3): right, up, and towards the eye, in the world."""
    view = paper_of(model)
    return np.vstack([view, np.cross(view[0], view[1])])


def _bodies(at: kinematics.Poses, frames: int) -> tuple[np.ndarray, np.ndarray]:
    R = [np.broadcast_to(x, (3, 3, 1, frames))[:, :, 0] for x in at.R]
    p = [np.broadcast_to(x, (3, 1, frames))[:, 0] for x in at.p]
    return np.moveaxis(np.stack(R), -1, 0), np.moveaxis(np.stack(p), -1, 0)


def _size(at: kinematics.Poses) -> float:
    """Of what is drawn, in the first pose, m."""
    first = [np.broadcast_to(P, (3, *P.shape[1:]))[:, 0, :1] for P in (*at.P1, *at.P2)]
    return float(np.ptp(np.concatenate(first, axis=1), axis=1).max()) or 1.0


def _closes(R: np.ndarray, p: np.ndarray, size: float) -> bool:
    """Whether the frame after the last one is the first."""
    flat = np.concatenate([R.reshape(len(R), -1), p.reshape(len(p), -1) / size], axis=1)
    if len(flat) < 3:
        return False
    steps = np.linalg.norm(np.diff(flat, axis=0), axis=1)
    return bool(np.linalg.norm(flat[0] - flat[-1]) <= NEAR * steps.max())


def readings(model: Model, motion: Motion) -> list[dict[str, Any]]:
    """Coordinates {name, unit, values}, in degrees or m."""
    found = []
    for name, q in zip(model.mechanism.coordinates, motion.q, strict=True):
        length = model.mechanism.value(name).is_length
        row = q if length else np.degrees(q)
        found.append({"name": name, "unit": "m" if length else "°", "values": row})
    return found


def _efforts(
    model: Model,
    columns: Mapping[str, np.ndarray],
    dims: kinematics.Geometry,
    q: np.ndarray,
    motion: Motion,
    at: kinematics.Poses,
) -> list[dict[str, Any]]:
    """What the drives among the coordinates must give to inertia and gravity."""
    it = model.mechanism
    if not it.has_inertias:
        return []
    W = evaluate(model, dims, q, motion)[0][0]
    known = {name: float(x[0]) for name, x in columns.items()}
    tau = W @ it.inertial_parameters({**it.nominal, **known}).ravel()
    found = []
    for k, name in enumerate(it.coordinates):
        arrow = _arrow(model, name, dims, at)
        if name in it.actuated and arrow is not None and np.isfinite(tau[:, k]).all():
            unit = it.value(name).effort_unit
            found.append({"name": name, "unit": unit, **arrow, "values": tau[:, k]})
    return found


def _loaded(
    model: Model, dims: kinematics.Geometry, one: Arrow, shown: np.ndarray
) -> dict[str, Any]:
    """A force or moment at a joint's point, along a direction of a body."""
    # The ground's number is −1; of the film's bodies it is the last.
    index, count = model.mechanism.body_index, len(model.mechanism.bodies) + 1
    k = next(k for k, joint in enumerate(model.mechanism.joints) if joint.name == one.joint)
    place = index[model.mechanism.joints[k].bodies[1]] % count
    origin, body = dims.joints[k].second_origin[:, 0, 0], index[one.body] % count
    return {
        "name": one.name,
        "unit": one.unit,
        "kind": "push" if one.unit == "N" else "turn",
        "at": (place, *map(float, origin)),
        "along": [(body, 0.0, 0.0, 0.0), (body, *map(float, one.direction))],
        "values": one.values[shown],
    }


def _arrow(
    model: Model, name: str, dims: kinematics.Geometry, at: kinematics.Poses
) -> dict[str, Any] | None:
    """Where a drive's arrow stands and along which axis; None of a ball's values."""
    it, value = model.mechanism, model.mechanism.value(name)
    k = next(k for k, joint in enumerate(it.joints) if name in joint.values)
    joint, place = it.joints[k], it.joints[k].values.index(name)
    shape = joint_type(joint.type)
    if place < len(shape.slides):
        side, axis, kind = 0, shape.directions[place], "push"
    elif shape.turns == "zz":
        side, axis, kind = place - len(shape.slides), 2, "turn"
    elif shape.turns == "z":
        side, axis, kind = 0, 2, "turn"
    else:
        return None
    body = [it.body_index[one] % (len(it.bodies) + 1) for one in value.joint.bodies]
    axes = (dims.joints[k].first_axes, dims.joints[k].second_axes)[side][:, axis, 0, 0]
    second = dims.joints[k].second_origin[:, 0, 0]
    origin = (dims.joints[k].first_origin, dims.joints[k].second_origin)[side][:, 0, 0]
    far = (body[side], *map(float, origin + axes))
    near = (body[side], *map(float, origin))
    return {"kind": kind, "at": (body[1], *map(float, second)), "along": [near, far]}


def _words(model: Model, known: Mapping[str, float]) -> dict[str, str]:
    """Its dimensions, in their own units; those that follow from others are left out."""
    found = {}
    for symbol in model.mechanism.geometry:
        if symbol.name not in model.mechanism.roots:
            value = known.get(symbol.name, model.mechanism.nominal[symbol.name])
            one = parse_unit(symbol.unit or "1").size
            found[symbol.name] = f"{value / one:.6g} {symbol.unit}".strip()
    return found
