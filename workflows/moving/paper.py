"""A film on paper: where everything is in the picture, frame by frame, in points."""

from dataclasses import dataclass

import numpy as np

from .film import Film

#: Points of paper: its width, its least and greatest height (4 : 3), and the air around the
#: drawing, where the largest arc of a torque (`ARC`, its tip, a name) has room.
WIDTH, LEAST, MOST, AIR = 720.0, 300.0, 540.0, 46.0
#: Marks have their full size where the shortest bar is this long, never less than half: more than
#: on figures (drawing/painting.py), for pins are 10 points wide here and feet 26.
FULL, SMALLEST = 30.0, 0.5
#: A bar shorter than this share of the longest is a point.
POINT = 1e-3
#: Points: radius of a torque's arc, clear of the largest mark; length of the largest force, a
#: ninth of the paper; an arc's largest angle, rad, three quarters of a turn: whole ones are alike.
ARC, FORCE, ROUND = 24.0, 80.0, 4.7


@dataclass(frozen=True)
class Stroke:
    """A line: `at` (frame, corner, 2), y down; `body` as of `Sketch.lines`; `closed`: an outline.

    `kind`: that of the line, or trace or effort.
    """

    kind: str
    body: int
    at: np.ndarray
    closed: bool = False


@dataclass(frozen=True)
class Sign:
    """A mark: `at` (frame, 2), `turn` (frame,) degrees; `feet` (frame, 2) where it stands."""

    kind: str
    driven: bool
    filled: bool
    at: np.ndarray
    turn: np.ndarray
    feet: np.ndarray | None


@dataclass(frozen=True)
class Picture:
    """Everything, back to front, on paper of so many points.

    `marks`: the size of marks, 1 in full. What joints stand on is behind the strokes.
    """

    width: float
    height: float
    marks: float
    strokes: list[Stroke]
    signs: list[Sign]


def picture(film: Film) -> Picture:
    """Lay a film out on paper, as the page does."""
    lines = [(line, film.places(line["at"])) for line in film.sketch.lines]
    seen = np.concatenate(
        [at.reshape(-1, 3) @ film.view[:2].T for line, at in lines if line["kind"] != "axis"]
    )
    low, high = seen.min(axis=0), seen.max(axis=0)
    across, up = np.maximum(high - low, 1e-9)
    height = float(np.clip((WIDTH - 2 * AIR) * up / across + 2 * AIR, LEAST, MOST))
    scale = min((WIDTH - 2 * AIR) / across, (height - 2 * AIR) / up)
    middle, paper = (low + high) / 2, np.array([WIDTH, height]) / 2

    def flat(at: np.ndarray) -> np.ndarray:
        found: np.ndarray = paper + scale * (at @ film.view[:2].T - middle) * [1, -1]
        return found

    strokes = [_stroke(line["kind"], line["body"], flat(at)) for line, at in lines]
    order = ("slot", "rail", "axis", "pitch", "trace", "tube", "bar", "effort")
    for point in film.sketch.points:
        way = flat(film.places([point["at"]]))[:, 0]
        strokes.append(Stroke("trace", point["body"], way[None], film.closed))
    strokes += [Stroke("effort", -1, flat(at)) for at in _arrows(film, scale)]
    strokes.sort(key=lambda one: order.index(one.kind))
    signs = []
    for mark in film.sketch.marks:
        ends = flat(film.places(mark["ends"]))
        way = np.diff(flat(film.places(mark["along"])), axis=1)[:, 0]
        turn = np.degrees(np.arctan2(way[:, 1], way[:, 0])) * (mark["kind"] == "s")
        feet = ends[:, mark["ground"]] if mark["ground"] >= 0 else None
        here = flat(film.places(mark["at"])).mean(axis=1)
        signs.append(Sign(mark["kind"], mark["driven"], mark["filled"], here, turn, feet))
    marks = float(np.clip(_shortest(film) * scale / FULL, SMALLEST, 1.0))
    return Picture(WIDTH, height, marks, strokes, signs)


def _shortest(film: Film) -> float:
    """The shortest bar's length, m; of an outline its longest side, which it keeps in any pose."""
    bars = [np.array(line["at"])[:, 1:] for line in film.sketch.lines if line["kind"] == "bar"]
    sides = [float(np.linalg.norm(at[:, None] - at[None], axis=-1).max()) for at in bars]
    return min((side for side in sides if side > POINT * max(sides)), default=np.inf)


def _stroke(kind: str, body: int, at: np.ndarray) -> Stroke:
    if kind != "bar" or at.shape[1] < 3:
        return Stroke(kind, body, at)
    arms = at - at.mean(axis=1, keepdims=True)
    order = np.argsort(np.arctan2(arms[..., 1], arms[..., 0]), axis=1)
    return Stroke(kind, body, np.take_along_axis(at, order[..., None], axis=1), closed=True)


def _arrows(film: Film, scale: float) -> list[np.ndarray]:
    """World points of the drives' arrows (frame, corner, 3); forces are straight, torques arcs."""
    most: dict[str, float] = {}
    for one in film.efforts:
        most[one["unit"]] = max(most.get(one["unit"], 0.0), float(np.abs(one["values"]).max()))
    made = []
    for one in film.efforts:
        share = one["values"] / (most[one["unit"]] or 1.0)
        centre = film.places([one["at"]])
        axis = np.diff(film.places(one["along"]), axis=1)
        axis = axis / np.linalg.norm(axis, axis=-1, keepdims=True)
        if one["kind"] == "push":
            steps = np.array([0.0, 1.0])[:, None] * share[:, None, None]
            made.append(centre + steps * axis * FORCE / scale)
            continue
        upright = np.abs(axis[..., 2:]) < 0.9
        x = np.cross(np.where(upright, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]), axis)
        x = x / np.linalg.norm(x, axis=-1, keepdims=True)
        angle = (share[:, None] * ROUND * np.linspace(0, 1, 25) - np.pi / 2)[..., None]
        arc = x * np.cos(angle) + np.cross(axis, x) * np.sin(angle)
        made.append(centre + arc * ARC / scale)
    return made
