"""Drawings of a mechanism: its bodies, joints and ground as a designer sketches them.

The assembled pose in full, and a few poses of its cycle (or excitation) faintly behind it.
Spatial mechanisms are seen in an oblique parallel projection. Where the motion does not go
through, the drawing says where it ends. Matplotlib is an extra (`plot`).
"""

from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.dynamics import (
    Model,
    Outcome,
    carried,
    cycle,
    excitation,
    kinematics,
    places,
    trace,
)
from basepar_core.errors import BaseparError, UsageError
from basepar_core.mechanism import GROUND, joint_type
from basepar_core.texts import naming, plot, plural

from .layout import dotted, label_size, place_labels
from .pitch_circles import PitchCircle, pitch_circles
from .views import end_in_words, paper_of

#: Okabe and Ito's colours: distinct for colour-blind readers, on white and on dark.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#7F7F7F")
INK = "#333333"
GHOSTS = 7

#: Inches of paper, and what a title and the air around leave of them for the drawing, in points.
PAPER = (7.2, 5.4)
_ROOM = np.array([6.9, 4.9]) * 72
FONT = 9


class PlotError(BaseparError):
    """Drawing needs an extra that is not installed."""

    kind = "plot"


def draw(model: Model, path: Path, values: dict[str, float] | None = None) -> Path:
    """Draw a mechanism into a PNG or SVG file.

    Parameters
    ----------
    model
        The mechanism, prepared.
    path
        Its ending decides the format.
    values
        Swept symbols (SI) of a variant; nominal without.

    Raises
    ------
    UsageError
        Another ending than .png or .svg.
    PlotError
        Matplotlib is not installed.
    """
    check_ending(path)
    return save(figure_of(model, values), path)


def check_ending(path: Path) -> None:
    """Reject a file that no drawing can be written to.

    Raises
    ------
    UsageError
        Another ending than .png or .svg.
    """
    if path.suffix not in (".png", ".svg"):
        raise UsageError(
            f"Drawings are .png or .svg, not {path.suffix or 'without an ending'}: name the file "
            f"{path.stem}.png.",
            [str(path)],
        )


def canvas(width: float, height: float, layout: Any = "constrained") -> Any:
    """An empty matplotlib figure (inches) that no window knows of.

    Raises
    ------
    PlotError
        Matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PlotError(
            "Drawing needs matplotlib. Install the extra: pip install 'basepar[plot]'."
        ) from error
    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def save(figure: Any, path: Path) -> Path:
    """Write a figure; equal input, equal file. It says who made it, so that he may again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    svg = {"Date": None, "Creator": "basepar"}
    metadata = svg if path.suffix == ".svg" else {"Software": "basepar"}
    with naming(path):
        figure.savefig(path, dpi=160, bbox_inches="tight", pad_inches=0.15, metadata=metadata)
    return path


def figure_of(model: Model, values: dict[str, float] | None = None) -> Any:
    """The drawing as a matplotlib figure."""
    figure = canvas(*PAPER)
    scene = Scene(model, values or {})
    axes = figure.add_subplot()
    axes.set_aspect("equal")
    axes.axis("off")
    scene.paint(axes)
    it = model.mechanism
    axes.set_title(
        f"{plot(it.name)}: {plural(len(it.bodies), 'body', 'bodies')}, "
        f"{plural(len(it.coordinates), 'degree')} of freedom",
        color=INK,
        fontsize=11,
    )
    if scene.note:
        figure.supxlabel(plot(scene.note), color="#B00020", fontsize=FONT)
    return figure


class Scene:
    """Points of every body at every drawn pose, on paper."""

    def __init__(self, model: Model, values: dict[str, float]):
        self.model, self.it, self.values = model, model.mechanism, values
        columns = {name: np.array([value]) for name, value in values.items()}
        motion = self._motion()
        targets = np.column_stack([model.assembled.coordinates, motion])
        path = trace(model, columns, targets)
        shown = self._shown(path, targets)
        dims = kinematics.geometry(self.it, columns).over_samples()
        self.at = kinematics.poses(model.topology, dims, path.q[:, :, shown])
        self.poses = len(shown)
        self.paths = self._paths(columns, dims, path.q[:, :, : self._last(path, targets)])
        self.marked = self.paths[:, :, shown]
        self.note = end_in_words(model, path, targets)
        self.view = paper_of(model)
        extent = np.concatenate(
            [self._joint_points(k) for k in range(len(self.it.joints))], axis=1
        )
        self.size = float(np.ptp(extent, axis=1).max()) or 1.0
        self.circles = pitch_circles(self.it, self.at, self.values, self.size)

    def _motion(self) -> np.ndarray:
        start = self.model.assembled.coordinates
        if self.it.cycle is not None:
            return cycle(self.it, start).q
        if self.it.excitation is not None:
            return excitation(self.it, start).q
        return start[:, None]

    @staticmethod
    def _last(path: Any, targets: np.ndarray) -> int:
        """How many poses close, the assembled one at least."""
        if path.outcome[0] == Outcome.CLOSED:
            return int(targets.shape[1])
        return max(1, int(np.nan_to_num(path.where[0])))

    def _paths(
        self, columns: dict[str, np.ndarray], dims: kinematics.Geometry, q: np.ndarray
    ) -> np.ndarray:
        """Points of the file in the world (point, 3, sample), the assembled place first."""
        known: dict[str, Any] = {**self.it.nominal, **columns}
        local = carried(self.it.points, known)[..., None]
        return places(self.model, dims, q, self.it.points, local)[:, :, 0]

    def _shown(self, path: Any, targets: np.ndarray) -> list[int]:
        """The assembled pose, then a few along the motion as far as it closes."""
        last = self._last(path, targets)
        ghosts = np.unique(np.linspace(1, max(last - 1, 1), GHOSTS).astype(int))
        return [0, *(int(k) for k in ghosts if 0 < k < last)]

    def _paper(self, points: np.ndarray) -> np.ndarray:
        """(2, …) of world points (3, …)."""
        return np.tensordot(self.view, points, 1)

    def _joint_points(self, k: int, side: int = 0) -> np.ndarray:
        """Origin of a joint's frame on paper (2, pose)."""
        origin = (self.at.P1, self.at.P2)[side][k]
        return self._paper(np.broadcast_to(origin, (3, 1, self.poses))[:, 0])

    def _joint_axis(self, k: int, number: int = 2) -> np.ndarray:
        """Direction of an axis of a joint's first frame, its z, on paper (2, pose)."""
        axis = np.broadcast_to(self.at.X1[k][:, number], (3, 1, self.poses))[:, 0]
        return self._paper(axis)

    def paint(self, axes: Any) -> None:
        """Ghosts first, then the assembled pose on top."""
        shapes = []
        for number, body in enumerate(self.it.bodies):
            colour = COLOURS[number % len(COLOURS)]
            points = self._points_of(body.name, number)
            for pose in range(self.poses - 1, -1, -1):
                self._body(axes, points[:, :, pose], colour, ghost=pose > 0)
            shapes.append(points[:, :, 0])
        # Sliders first: a pin through a slider is drawn on top of it.
        order = sorted(range(len(self.it.joints)), key=lambda k: self._is_pin(k))
        for k in order:
            self._joint(axes, k)
        for circle in self.circles:
            self._pitch(axes, circle)
        for number, line in enumerate(self._paper(self.paths.swapaxes(0, 1)).swapaxes(0, 1)):
            self._path(axes, self.it.body_index[self.it.points[number].body], line)
        axes.margins(0.12)
        self._write_names(axes, shapes)

    def _is_slot(self, k: int) -> bool:
        return joint_type(self.it.joints[k].type).slides == "x"

    def _is_pin(self, k: int) -> bool:
        return not joint_type(self.it.joints[k].type).is_slide

    def _stands(self, k: int) -> bool:
        """Whether a joint carries a body on the ground at a point."""
        joint = self.it.joints[k]
        holds = any(joint_type(joint.type).locks(self.it.planar))
        return GROUND in joint.bodies and holds and self._is_pin(k)

    def _joint_names(self) -> list[tuple[np.ndarray, str]]:
        """Joints and their places; joints at one place share a label."""
        places: list[tuple[np.ndarray, list[str]]] = []
        for k, joint in enumerate(self.it.joints):
            here = self._mark(k)
            for there, names in places:
                if np.abs(there - here).max() < 0.01 * self.size:
                    names.append(joint.name)
                    break
            else:
                places.append((here, [joint.name]))
        return [(here, ", ".join(names)) for here, names in places]

    def _write_names(self, axes: Any, shapes: list[np.ndarray]) -> None:
        """Names of joints and bodies where they cover least."""
        low, high = np.array(axes.dataLim.min), np.array(axes.dataLim.max)
        scale = (_ROOM / np.maximum((high - low) * 1.24, 1e-9)).min()  # points per metre
        joints = self._joint_names()
        bodies = [
            (_middle(shape), body.name) for shape, body in zip(shapes, self.it.bodies, strict=True)
        ]
        outlines = [shape[:, [*self._around(shape), 0]] for shape in shapes]
        rails = [k for k in range(len(self.it.joints)) if self._is_slot(k) or not self._is_pin(k)]
        pins = [here + _DISC * 6 / scale for here, _ in joints]
        pins += [self._mark(k) + _DISC * 13 / scale for k in rails]
        feet = [
            self._joint_points(k, joint.bodies.index(GROUND))[:, 0] - [0, 0.04 * self.size]
            for k, joint in enumerate(self.it.joints)
            if self._stands(k)
        ]
        hatched = [foot + _DISC * 0.05 * self.size for foot in feet]
        lines = [*outlines, *map(self._rail, rails), *(one.line for one in self.circles)]
        obstacles = np.concatenate(
            [
                dotted([line * scale for line in lines]),
                np.concatenate([*pins, *hatched]) * scale,
            ]
        )
        spots = self._paper(self.paths[:, :, 0].T).T
        joints += [(spot, one.name) for spot, one in zip(spots, self.it.points, strict=True)]
        labels = [*joints, *bodies]
        offsets = place_labels(
            [here * scale for here, _ in labels],
            [label_size(name, FONT) for _, name in labels],
            obstacles,
        )
        colours = [INK] * len(joints) + [COLOURS[k % len(COLOURS)] for k in range(len(bodies))]
        for (here, name), offset, colour in zip(labels, offsets, colours, strict=True):
            far = np.linalg.norm(np.maximum(np.abs(offset) - label_size(name, FONT) / 2, 0)) > 15
            axes.annotate(
                name,
                here,
                xytext=tuple(offset),
                textcoords="offset points",
                ha="center",
                va="center",
                color=colour,
                fontsize=FONT,
                zorder=6,
                bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.75},
                arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.6} if far else None,
            )

    def _points_of(self, name: str, number: int) -> np.ndarray:
        """A body's joints and points, or its origin and one joint (2, point, pose)."""
        found = [
            self._joint_points(k, side)
            for k, joint in enumerate(self.it.joints)
            for side, body in enumerate(joint.bodies)
            if body == name
        ]
        found += [
            self._paper(line)
            for point, line in zip(self.it.points, self.marked, strict=True)
            if point.body == name
        ]
        points = _distinct(np.stack(found, axis=1))
        # Too few to be seen: the origin helps, and at the end of a chain the centre of mass.
        for more in (np.zeros(3), self._centre(number))[: 2 if len(found) == 1 else 1]:
            if points.shape[1] < 2:
                R, p = self.at.R[number], self.at.p[number]
                there = np.einsum("ij...,j->i...", R, more) + p
                extra = self._paper(np.broadcast_to(there, (3, 1, self.poses))[:, 0])
                points = _distinct(np.concatenate([points, extra[:, None]], axis=1))
        return points

    def _centre(self, number: int) -> np.ndarray:
        """A body's centre of mass in its frame, where it is known; else the origin."""
        if not self.it.has_inertias or self.it.planar:
            return np.zeros(3)
        phi = self.it.inertial_parameters({**self.it.nominal, **self.values})
        m, *first = phi.reshape(len(self.it.bodies), -1)[number, :4]
        return np.array(first) / m if m > 0 else np.zeros(3)

    def _body(self, axes: Any, points: np.ndarray, colour: str, ghost: bool) -> None:
        alpha, width = (0.16, 2.0) if ghost else (1.0, 4.0)
        if points.shape[1] > 2:
            order = self._around(points)
            closed = points[:, [*order, order[0]]]
            axes.fill(*closed, color=colour, alpha=0.05 if ghost else 0.25, lw=0, zorder=2)
            axes.plot(*closed, color=colour, alpha=alpha, lw=width * 0.8, zorder=2, **_ROUND)
        elif points.shape[1] == 2:
            axes.plot(*points, color=colour, alpha=alpha, lw=width, zorder=2, **_ROUND)

    @staticmethod
    def _around(points: np.ndarray) -> list[int]:
        centre = points.mean(axis=1, keepdims=True)
        return list(np.argsort(np.arctan2(*(points - centre)[::-1])))

    def _mark(self, k: int) -> np.ndarray:
        """Where a joint's mark stands: a slide's between its two ends, off the pins there."""
        ends = [self._joint_points(k, side)[:, 0] for side in (0, 1)]
        between = not self.it.planar and GROUND not in self.it.joints[k].bodies
        return (ends[0] + ends[1]) / 2 if between and not self._is_pin(k) else ends[1]

    def _joint(self, axes: Any, k: int) -> None:
        joint = self.it.joints[k]
        x, y = self._mark(k)
        face = "#FFD92F" if any(v in self.it.actuated for v in joint.values) else "white"
        if self._stands(k):
            self._ground(axes, *self._joint_points(k, joint.bodies.index(GROUND))[:, 0])
        if not self._is_pin(k):
            self._slide(axes, k)
        if self._is_slot(k):
            for width, colour in ((13.0, INK), (10.2, "white")):
                axes.plot(*self._rail(k), color=colour, lw=width, zorder=2.5, **_ROUND)
        shape = joint_type(joint.type)
        marker, size = shape.mark
        axes.plot(
            x,
            y,
            marker=marker,
            ms=size,
            mfc=INK if shape.filled else face,
            mec=INK,
            mew=1.4,
            zorder=5,
        )
        if not self.it.planar and shape.is_pin:
            self._axis(axes, k, x, y)

    @staticmethod
    def _pitch(axes: Any, circle: PitchCircle) -> None:
        """A gear's pitch circle, thin; the ring's that stands in ink."""
        colour = INK if circle.body < 0 else COLOURS[circle.body % len(COLOURS)]
        axes.plot(*circle.line, color=colour, lw=1.0, ls="-.", zorder=1.5)

    @staticmethod
    def _path(axes: Any, body: int, line: np.ndarray) -> None:
        """A point's path in its body's colour, and the point where the mechanism is assembled."""
        colour = INK if body < 0 else COLOURS[body % len(COLOURS)]
        axes.plot(*line[:, 1:], color=colour, lw=1.4, ls=(0, (4, 1.5)), zorder=1.8)
        axes.plot(*line[:, :1], marker="P", ms=7.5, mfc=colour, mec="white", mew=0.8, zorder=5.5)

    def _axis(self, axes: Any, k: int, x: float, y: float) -> None:
        """A dash-dotted line along a revolute's axis."""
        dx, dy = self._joint_axis(k)[:, 0] * self.size * 0.07
        axes.plot([x - dx, x + dx], [y - dy, y + dy], color=INK, lw=0.8, ls="-.", zorder=4)

    def _slide(self, axes: Any, k: int) -> None:
        """The line along which a prismatic joint slides; a tube, where a body guides it."""
        joint = self.it.joints[k]
        if GROUND not in joint.bodies:
            number = next(n for n, b in enumerate(self.it.bodies) if b.name == joint.bodies[0])
            tube = np.stack([self._joint_points(k, side)[:, 0] for side in (0, 1)], axis=1)
            colour = COLOURS[number % len(COLOURS)]
            axes.plot(*tube, color=colour, lw=6.0, alpha=0.35, zorder=1, **_ROUND)
            axes.plot(*tube, color=colour, lw=1.6, zorder=1, **_ROUND)
        axes.plot(*self._rail(k), color=INK, lw=1.0, ls=(0, (6, 3)), zorder=1)

    def _rail(self, k: int) -> np.ndarray:
        """Ends (2, 2) of the line along which a joint slides: a prismatic one's, a slot's."""
        (axis,) = joint_type(self.it.joints[k].type).directions
        reach = self._joint_axis(k, axis)[:, 0] * self.size * (0.1 if self._is_slot(k) else 0.2)
        here = self._joint_points(k, 1)[:, 0]
        return np.stack([here - reach, here + reach], axis=1)

    def _ground(self, axes: Any, x: float, y: float) -> None:
        """A hatched triangle under a ground joint."""
        s = self.size * 0.035
        axes.fill([x, x - s, x + s], [y, y - 1.4 * s, y - 1.4 * s], fc="#dddddd", ec=INK, zorder=3)
        for shift in np.linspace(-1.2, 1.2, 6):
            axes.plot(
                [x + shift * s, x + (shift - 0.5) * s],
                [y - 1.4 * s, y - 1.9 * s],
                color=INK,
                lw=0.8,
                zorder=3,
            )


def _distinct(points: np.ndarray) -> np.ndarray:
    """Points (2, point, pose) that lie apart in the first pose."""
    apart = [0]
    for k in range(1, points.shape[1]):
        gaps = np.abs(points[:, k, 0, None] - points[:, apart, 0]).max(axis=0)
        if gaps.min() > 1e-6:
            apart.append(k)
    return points[:, apart]


def _middle(points: np.ndarray) -> np.ndarray:
    return points.mean(axis=1)


#: Nine points of a disc, to keep names off the pins.
_DISC = np.array([[x, y] for x in (-0.7, 0, 0.7) for y in (-0.7, 0, 0.7)])
_ROUND = {"solid_capstyle": "round", "solid_joinstyle": "round"}
