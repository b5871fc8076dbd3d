"""Films as files: a page, an animated drawing, a picture that moves, a video."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.errors import MissingDataError, UsageError
from basepar_core.texts import naming
from workflows.drawing import COLOURS, INK, canvas

from .animated_svg import animated
from .film import Film
from .page import page
from .paper import Picture, picture

ENDINGS = (".html", ".gif", ".mp4", ".svg")
#: Seconds that a film of no other speed takes, and frames a second of those without a player.
SECONDS, RATE = 4.0, 25
_WIDTHS = {"bar": 4.0, "tube": 7.0, "slot": 12.0, "effort": 2.5, "trace": 1.4}
#: What is as wide as marks are large.
_SCALED = ("bar", "tube", "slot")
_DASHES: dict[str, Any] = {
    "rail": (0, (8, 4)),
    "axis": "-.",
    "pitch": "-.",
    "trace": (0, (5, 2.5)),
}


def check_ending(path: Path) -> None:
    """Reject a file that no film can be written to, before anything is computed.

    Raises
    ------
    UsageError
        Another ending than .html, .gif, .mp4 or .svg.
    MissingDataError
        A video, and there is no ffmpeg.
    """
    if path.suffix not in ENDINGS:
        raise UsageError(
            f"Films are {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, not "
            f"{path.suffix or 'without an ending'}: name the file {path.stem}.html.",
            [str(path)],
        )
    if path.suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise MissingDataError(
            f"{path}: videos are made by the program ffmpeg, which is not on the PATH. Install "
            f"it, or write {path.stem}.gif, which needs none.",
            [str(path)],
        )


def write(film: Film, path: Path, seconds: float | None = None) -> Path:
    """Write a film; its ending decides the format.

    Parameters
    ----------
    film
        What moves.
    path
        FILE.html, .gif, .mp4 or .svg.
    seconds
        How long the whole motion takes, but in pages, which have a choice of speeds; 4 without.

    Raises
    ------
    UsageError, MissingDataError
        As `check_ending`.
    PlotError
        .gif and .mp4: matplotlib is not installed.
    """
    check_ending(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    lasting = seconds or SECONDS
    with naming(path):
        if path.suffix == ".html":
            path.write_text(page(film), encoding="utf-8")
        elif path.suffix == ".svg":
            path.write_text(animated(film, lasting), encoding="utf-8")
        else:
            _filmed(film, path, lasting)
    return path


def _filmed(film: Film, path: Path, seconds: float) -> None:
    made = picture(film)
    figure = canvas(made.width / 100, made.height / 100, None)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    axes.set_xlim(0, made.width)
    axes.set_ylim(made.height, 0)
    count = len(film.t)
    wanted = min(count, max(2, round(seconds * RATE)))
    frames = [k * count // wanted for k in range(wanted)]
    moves = _artists(axes, made)
    if path.suffix == ".mp4":
        from matplotlib.animation import FFMpegWriter

        writer = FFMpegWriter(
            max(1, round(wanted / seconds)), metadata={"comment": "Written by basepar"}
        )
        with writer.saving(figure, str(path), 100):
            for k in frames:
                _shown(moves, k)
                writer.grab_frame()
        return
    from PIL import Image

    shots = []
    for k in frames:
        _shown(moves, k)
        figure.canvas.draw()
        shots.append(Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()))
    # One palette for all frames, so that colours do not flicker.
    colours = _white(shots[0].quantize(64))
    small = [shot.quantize(palette=colours, dither=Image.Dither.NONE) for shot in shots]
    small[0].save(
        path,
        save_all=True,
        append_images=small[1:],
        duration=round(1000 * seconds / wanted),
        loop=0,
        comment=b"Written by basepar",
    )


def _white(picture: Any) -> Any:
    """The same picture with a paper of pure white: its commonest colour is nearly so."""
    palette = picture.getpalette()
    paper = max(picture.getcolors())[1]
    palette[3 * paper : 3 * paper + 3] = [255, 255, 255]
    picture.putpalette(palette)
    return picture


def _artists(axes: Any, made: Picture) -> list[tuple[Any, np.ndarray, bool]]:
    """What matplotlib draws, with its places per frame, and whether it is filled."""
    points = 0.72  # of type in one of paper, at 100 to the inch
    moves: list[tuple[Any, np.ndarray, bool]] = []
    ground = max((one.body for one in made.strokes), default=0)
    for level, one in enumerate(made.strokes):
        inked = one.body in (-1, ground) and one.kind != "bar"
        colour = "#B3420A" if one.kind == "effort" else INK if inked else COLOURS[one.body % 8]
        look = {
            "color": colour,
            "lw": _WIDTHS.get(one.kind, 1.1) * points * (made.marks if one.kind in _SCALED else 1),
            "ls": _DASHES.get(one.kind, "-"),
            "zorder": 2 + level / 1000,
            "alpha": 0.5 if one.kind == "tube" else 1.0,
        }
        at = np.concatenate([one.at, one.at[:, :1]], axis=1) if one.closed else one.at
        if one.kind != "trace" and one.closed:
            (area,) = axes.fill(*at[0].T, color=colour, alpha=0.22, lw=0, zorder=look["zorder"])
            moves.append((area, at, True))
        (line,) = axes.plot(*at[0].T, solid_capstyle="round", **look)
        if len(at) > 1:
            moves.append((line, at, False))
        if one.kind == "slot":
            (inner,) = axes.plot(*at[0].T, **{**look, "color": "white", "lw": 0.75 * look["lw"]})
            moves.append((inner, at, False))
        if one.kind == "effort":
            (tip,) = axes.plot(*at[0, -1:].T, color=colour, marker="o", ms=4, zorder=6)
            moves.append((tip, at[:, -1:], False))
    for sign in made.signs:
        if sign.feet is not None:
            corners = np.array([[0, 0], [-9, 13], [9, 13], [0, 0]])
            stand = sign.feet[:, None] + made.marks * corners
            (foot,) = axes.fill(*stand[0].T, fc="#dddddd", ec=INK, lw=0.9, zorder=1)
            moves.append((foot, stand, True))
        face = INK if sign.filled else "#FFD92F" if sign.driven else "white"
        if sign.kind == "s":
            c, s = np.cos(np.radians(sign.turn)), np.sin(np.radians(sign.turn))
            turn = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)
            box = np.array([[-11, -7], [11, -7], [11, 7], [-11, 7], [-11, -7]])
            block = sign.at[:, None] + np.einsum("fij,vj->fvi", turn, made.marks * box)
            (made_,) = axes.fill(*block[0].T, fc=face, ec=INK, lw=1.2, zorder=5)
            moves.append((made_, block, True))
        else:
            look = {"marker": sign.kind, "ms": 7 * made.marks, "mfc": face, "mec": INK, "mew": 1.2}
            (dot,) = axes.plot(*sign.at[:1].T, ls="", zorder=5, **look)
            moves.append((dot, sign.at[:, None], False))
    return moves


def _shown(moves: list[tuple[Any, np.ndarray, bool]], frame: int) -> None:
    for artist, at, filled in moves:
        if filled:
            artist.set_xy(at[frame])
        else:
            artist.set_data(*at[frame].T)
