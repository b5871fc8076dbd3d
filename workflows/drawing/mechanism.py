"""Drawings of a mechanism as figures and files.

The assembled pose in full, and a few poses of its cycle (or excitation) faintly behind it.
Where the motion does not go through, the drawing says where it ends. Matplotlib is an extra
(`plot`).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.dynamics import Model
from basepar_core.errors import BaseparError, UsageError
from basepar_core.texts import naming, plot, plural

from .overlay import Overlay
from .painting import FONT, INK, Sheet, paint, sheet
from .scene import Scene

#: Inches of paper, and how many of them a title and the air around leave for the drawing.
PAPER, ROOM = (7.2, 5.4), (-0.3, -0.5)
ENDINGS = (".png", ".svg", ".pdf")


class PlotError(BaseparError):
    """Drawing needs an extra that is not installed."""

    kind = "plot"


def draw(
    model: Model,
    path: Path,
    values: dict[str, float] | None = None,
    overlay: Overlay | None = None,
) -> Path:
    """Draw a mechanism into a PNG, SVG or PDF file.

    Parameters
    ----------
    model
        The mechanism, prepared.
    path
        Its ending decides the format.
    values
        Swept symbols (SI) of a variant; nominal without.
    overlay
        What is drawn over a planar mechanism.

    Raises
    ------
    UsageError
        Another ending than .png, .svg or .pdf.
    PlotError
        Matplotlib is not installed.
    """
    check_ending(path)
    return save(figure_of(model, values, overlay=overlay), path)


def check_ending(path: Path) -> None:
    """Reject a file that no drawing can be written to.

    Raises
    ------
    UsageError
        Another ending than .png, .svg or .pdf.
    """
    if path.suffix not in ENDINGS:
        raise UsageError(
            f"Drawings are {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, not "
            f"{path.suffix or 'without an ending'}: name the file {path.stem}.png.",
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
    metadata: Mapping[str, str | None] = {
        ".svg": {"Date": None, "Creator": "basepar"},
        ".pdf": {"CreationDate": None, "Creator": "basepar"},
    }.get(path.suffix, {"Software": "basepar"})
    with naming(path):
        figure.savefig(path, dpi=160, bbox_inches="tight", pad_inches=0.15, metadata=metadata)
    return path


def figure_of(
    model: Model,
    values: Mapping[str, float] | None = None,
    paper: tuple[float, float] = PAPER,
    overlay: Overlay | None = None,
) -> Any:
    """The drawing as a matplotlib figure, on so many inches of paper."""
    scene = Scene(model, values or {}, overlay)
    return _figure(scene, sheet([scene], _points(paper)), paper)


def figures_of(
    model: Model, variants: Sequence[Mapping[str, float]], font: float = FONT
) -> list[Any]:
    """Drawings of variants at one scale; names have their places at that scale."""
    scenes = [Scene(model, values) for values in variants]
    on = sheet(scenes, _points(PAPER), font)
    return [_figure(scene, on, PAPER) for scene in scenes]


def _points(paper: tuple[float, float]) -> np.ndarray:
    return (np.array(paper) + ROOM) * 72


def _figure(scene: Scene, on: Sheet, paper: tuple[float, float]) -> Any:
    figure = canvas(*paper)
    axes = figure.add_subplot()
    paint(scene, axes, on)
    it = scene.it
    axes.set_title(
        f"{plot(it.name)}: {plural(len(it.bodies), 'body', 'bodies')}, "
        f"{plural(len(it.coordinates), 'degree')} of freedom",
        color=INK,
        fontsize=11,
    )
    if scene.note:
        figure.supxlabel(plot(scene.note), color="#B00020", fontsize=FONT)
    return figure
