"""A scene painted: bodies, joints and ground as a designer sketches them, with their names."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from basepar_core.mechanism import GROUND

from .layout import dotted, label_size, place_labels
from .pitch_circles import PitchCircle
from .scene import Scene

#: Okabe and Ito's colours: distinct for colour-blind readers, on white and on dark.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#7F7F7F")
INK = "#333333"
FONT = 9.0
#: Air around the drawing, a share of its size.
AIR = 0.12
#: Least side of the drawing, a share of its greatest.
LEAST = 0.25
#: Marks have their full size where the shortest bar is this long, points: two pins of 7 to 9
#: points at its ends leave a third of it. Never less than half, which print still tells apart.
FULL, SMALLEST = 26.0, 0.5
#: Half the width, the height and the hatching of what a joint stands on, points.
_FOOT = (7.0, 10.0, 3.5)
_ROUND = {"solid_capstyle": "round", "solid_joinstyle": "round"}
#: Nine points of a disc, to keep names off the pins.
_DISC = np.array([[x, y] for x in (-0.7, 0, 0.7) for y in (-0.7, 0, 0.7)])


@dataclass(frozen=True)
class Sheet:
    """What a scene is painted on.

    Attributes
    ----------
    low, high
        Corners of the paper, (2,) m.
    scale
        Points of paper a metre.
    marks
        Size of marks, 1 in full: it shrinks with the shortest bar, which they must not hide.
    font
        Size of names, points.
    names_bodies
        Whether bodies have names, or joints and points only.
    """

    low: np.ndarray
    high: np.ndarray
    scale: float
    marks: float
    font: float = FONT
    names_bodies: bool = True


def sheet(
    scenes: list[Scene], room: np.ndarray, font: float = FONT, names_bodies: bool = True
) -> Sheet:
    """The paper of scenes at one scale, each with so much room (2,), points."""
    low = np.min([scene.box[0] for scene in scenes], axis=0)
    high = np.max([scene.box[1] for scene in scenes], axis=0)
    # What is a line needs room for its marks beside it.
    missing = np.maximum(LEAST * float((high - low).max() or 1.0) - (high - low), 0.0) / 2
    low, high = low - missing, high + missing
    span = high - low
    air = AIR * span
    scale = float((room / (span + 2 * air)).min())
    shortest = min(scene.shortest for scene in scenes)
    marks = float(np.clip(shortest * scale / FULL, SMALLEST, 1.0))
    # What joints stand on reaches below the lowest of them.
    below = np.array([0.0, 15.0 * marks / scale])
    return Sheet(low - air - below, high + air, scale, marks, font, names_bodies)


def paint(scene: Scene, axes: Any, on: Sheet) -> None:
    """Ghosts first, then the assembled pose on top."""
    axes.set_aspect("equal")
    axes.axis("off")
    for number, points in enumerate(scene.bodies):
        for pose in range(scene.poses - 1, -1, -1):
            _body(axes, points[:, :, pose], COLOURS[number % len(COLOURS)], pose > 0, on)
    for name, outline in scene.outlines:
        colour = COLOURS[scene.it.body_index[name] % len(COLOURS)] if name != GROUND else INK
        axes.fill(*outline, fc=colour, ec=colour, alpha=0.18, lw=0, zorder=1.3)
        axes.plot(*outline[:, [*range(outline.shape[1]), 0]], color=colour, lw=0.7, zorder=1.3)
    for k in range(len(scene.it.joints)):
        _joint(axes, scene, k, on)
    for circle in scene.circles:
        _pitch(axes, circle)
    for number, line in enumerate(scene.paper(scene.paths.swapaxes(0, 1)).swapaxes(0, 1)):
        _path(axes, scene.it.body_index[scene.it.points[number].body], line, on)
    if scene.overlay is not None:
        scene.overlay.paint(axes, *scene.own_box)
    axes.set_xlim(on.low[0], on.high[0])
    axes.set_ylim(on.low[1], on.high[1])
    _names(axes, scene, on)


def _body(axes: Any, points: np.ndarray, colour: str, ghost: bool, on: Sheet) -> None:
    alpha, width = (0.16, 2.0) if ghost else (1.0, 4.0)
    level = 1.6 if ghost else 2.0
    if points.shape[1] > 2:
        order = _around(points)
        closed = points[:, [*order, order[0]]]
        axes.fill(*closed, color=colour, alpha=0.05 if ghost else 0.25, lw=0, zorder=level)
        look = {"color": colour, "alpha": alpha, "lw": width * 0.8 * on.marks}
        axes.plot(*closed, zorder=level, **look, **_ROUND)
    elif points.shape[1] == 2:
        look = {"color": colour, "alpha": alpha, "lw": width * on.marks}
        axes.plot(*points, zorder=level, **look, **_ROUND)


def _around(points: np.ndarray) -> list[int]:
    centre = points.mean(axis=1, keepdims=True)
    return list(np.argsort(np.arctan2(*(points - centre)[::-1])))


def _joint(axes: Any, scene: Scene, k: int, on: Sheet) -> None:
    joint, shape = scene.it.joints[k], scene.shape(k)
    face = "#FFD92F" if any(v in scene.it.actuated for v in joint.values) else "white"
    if scene.stands(k):
        foot = scene.joint_points(k, joint.bodies.index(GROUND))[:, 0]
        _ground(axes, foot, on)
    if scene.is_slot(k):
        for width, colour in ((13.0, INK), (10.2, "white")):
            axes.plot(*scene.guide(k), color=colour, lw=width * on.marks, zorder=2.5, **_ROUND)
    elif scene.slides(k):
        _slide(axes, scene, k, on)
    marker: Any
    marker, size = shape.mark
    if shape.is_slide:  # a block that is turned as it slides
        along = np.diff(scene.guide(k), axis=1)[:, 0]
        turn = float(np.degrees(np.arctan2(along[1], along[0])))
        marker, size = (4, 0, 45 + turn), size * np.sqrt(2)
    look = {"mfc": INK if shape.filled else face, "mec": INK, "mew": 1.4 * on.marks}
    # A pin through a slider is drawn on top of it.
    level = 4.5 if shape.is_slide else 5.0
    axes.plot(*scene.mark(k), marker=marker, ms=size * on.marks, zorder=level, **look)
    if not scene.it.planar and shape.is_pin:
        axes.plot(*scene.axis(k), color=INK, lw=0.8, ls="-.", zorder=4)


def _slide(axes: Any, scene: Scene, k: int, on: Sheet) -> None:
    """The line along which a joint slides; a tube, where a body guides it."""
    tube = scene.tube(k)
    if tube is not None:
        first = scene.it.body_index[scene.it.joints[k].bodies[0]]
        colour = COLOURS[first % len(COLOURS)]
        axes.plot(*tube, color=colour, lw=6.0 * on.marks, alpha=0.35, zorder=1.5, **_ROUND)
        axes.plot(*tube, color=colour, lw=1.6 * on.marks, zorder=1.5, **_ROUND)
    axes.plot(*scene.guide(k), color=INK, lw=1.0, ls=(0, (6, 3)), zorder=1.4)


def _ground(axes: Any, foot: np.ndarray, on: Sheet) -> None:
    """A hatched triangle under a ground joint, behind the bars: it must not hide a short one."""
    wide, tall, hatch = (length * on.marks / on.scale for length in _FOOT)
    x, y = foot
    corners = [x, x - wide, x + wide], [y, y - tall, y - tall]
    axes.fill(*corners, fc="#dddddd", ec=INK, lw=1.0 * on.marks, zorder=1.55)
    lines = [([x - 1.5 * wide, x + 1.5 * wide], [y - tall, y - tall])]
    for shift in np.linspace(-1.2, 1.2, 6):
        ends = [x + shift * wide, x + (shift - 0.5) * wide]
        lines.append((ends, [y - tall, y - tall - hatch]))
    for line in lines:
        axes.plot(*line, color=INK, lw=0.8 * on.marks, zorder=1.55)


def _pitch(axes: Any, circle: PitchCircle) -> None:
    """A gear's pitch circle, thin; the ring's that stands in ink."""
    colour = INK if circle.body < 0 else COLOURS[circle.body % len(COLOURS)]
    axes.plot(*circle.line, color=colour, lw=1.0, ls="-.", zorder=1.5)


def _path(axes: Any, body: int, line: np.ndarray, on: Sheet) -> None:
    """A point's path in its body's colour, and the point where the mechanism is assembled."""
    colour = INK if body < 0 else COLOURS[body % len(COLOURS)]
    axes.plot(*line[:, 1:], color=colour, lw=1.4, ls=(0, (4, 1.5)), zorder=1.8)
    look = {"ms": 7.5 * on.marks, "mfc": colour, "mec": "white", "mew": 0.8}
    axes.plot(*line[:, :1], marker="P", zorder=5.5, **look)


def _joint_names(scene: Scene) -> list[tuple[np.ndarray, str]]:
    """Joints and their places; joints at one place share a label."""
    places: list[tuple[np.ndarray, list[str]]] = []
    for k, joint in enumerate(scene.it.joints):
        here = scene.mark(k)
        for there, names in places:
            if np.abs(there - here).max() < 0.01 * scene.size:
                names.append(joint.name)
                break
        else:
            places.append((here, [joint.name]))
    return [(here, ", ".join(names)) for here, names in places]


def _names(axes: Any, scene: Scene, on: Sheet) -> None:
    """Names of joints, points and bodies where they cover least, at the sheet's scale."""
    it, joints = scene.it, _joint_names(scene)
    spots = scene.paper(scene.paths[:, :, 0].T).T
    joints += [(spot, one.name) for spot, one in zip(spots, it.points, strict=True)]
    shapes = [points[:, :, 0] for points in scene.bodies]
    bodies = [
        (shape.mean(axis=1), body.name) for shape, body in zip(shapes, it.bodies, strict=True)
    ]
    labels = [*joints, *(bodies if on.names_bodies else [])]
    offsets = place_labels(
        [here * on.scale for here, _ in labels],
        [label_size(name, on.font) for _, name in labels],
        _obstacles(scene, shapes, [here for here, _ in joints], on),
    )
    colours = [INK] * len(joints) + [COLOURS[k % len(COLOURS)] for k in range(len(bodies))]
    for (here, name), offset, colour in zip(labels, offsets, colours, strict=False):
        apart = np.maximum(np.abs(offset) - label_size(name, on.font) / 2, 0)
        axes.annotate(
            name,
            here,
            xytext=tuple(offset),
            textcoords="offset points",
            ha="center",
            va="center",
            color=colour,
            fontsize=on.font,
            zorder=6,
            bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.75},
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.6}
            if np.linalg.norm(apart) > 15
            else None,
        )


def _obstacles(
    scene: Scene, shapes: list[np.ndarray], pins: list[np.ndarray], on: Sheet
) -> np.ndarray:
    """Points of paper, (point, 2), that names should leave visible."""
    it = scene.it
    slides = [k for k in range(len(it.joints)) if scene.slides(k)]
    outlines = [shape[:, [*_around(shape), 0]] for shape in shapes]
    lines = [*outlines, *map(scene.guide, slides), *(one.line for one in scene.circles)]
    discs = [here * on.scale + _DISC * 6 * on.marks for here in pins]
    discs += [scene.mark(k) * on.scale + _DISC * 13 * on.marks for k in slides]
    for k, joint in enumerate(it.joints):
        if scene.stands(k):
            foot = scene.joint_points(k, joint.bodies.index(GROUND))[:, 0] * on.scale
            discs.append(foot - [0, 8 * on.marks] + _DISC * 11 * on.marks)
    return np.concatenate([dotted([line * on.scale for line in lines]), *discs])
