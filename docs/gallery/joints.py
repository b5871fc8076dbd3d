"""Draws every joint type for docs/mechanism-files.md: the two joint frames, one value at a time.

    python docs/gallery/joints.py

The frames are placed by the functions that the program itself moves joints with.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from basepar_core.dynamics import joints

#: Joint type: the values that are shown, in radians and in lengths of an axis, and their names.
SHOWN = {
    "revolute": ((0.5,), "angle about z"),
    "prismatic": ((0.55,), "distance along z"),
    "cylindrical": ((0.55, 0.5), ".1 distance along z, .2 angle about z"),
    "universal": ((0.4, 0.3), ".1 about z of the first body,\n.2 about z of the second"),
    "spherical": ((0.5, 0.4, 0.5), ".1 .2 .3 rotation vector\nin the first frame"),
    "planar": ((0.5, 0.4, 0.4), ".1 along x, .2 along y,\n.3 angle about z"),
    "pin_slot": ((0.55, 0.5), ".1 distance along x, .2 angle about z"),
    "free": ((0.1, 0.6, 0.35, 0.5, 0.4, 0.5), ".1 .2 .3 along x, y, z,\n.4 .5 .6 rotation vector"),
    "fixed": ((), "no value"),
}
FIRST, SECOND = "#555555", "#d06000"


def _frame(ax, origin, axes, colour, label):
    for k, name in enumerate("xyz"):
        ax.quiver(*origin, *axes[:, k], color=colour, lw=2.2 if k == 2 else 1.2)
        ax.text(*(origin + 1.12 * axes[:, k]), f"{name}{label}", color=colour, fontsize=8)


def main() -> None:
    figure, grid = plt.subplots(
        2, 5, figsize=(15.5, 6.2), subplot_kw={"projection": "3d"}, layout="constrained"
    )
    for ax in grid.flat:
        ax.set_axis_off()
    for ax, (kind, (values, words)) in zip(grid.flat, SHOWN.items(), strict=False):
        q = joints.configuration(kind, np.array(values))
        turn, shift = joints.relative_motion(kind, q)
        origin = np.zeros(3) if shift is None else np.asarray(shift)
        _frame(ax, np.zeros(3), np.eye(3), FIRST, "₁")
        _frame(ax, origin, 0.75 * np.asarray(turn), SECOND, "₂")
        if origin.any():
            ax.plot(*np.c_[np.zeros(3), origin], ":", color=SECOND, lw=1)
        ax.set(xlim=(-0.2, 1.1), ylim=(-0.2, 1.1), zlim=(-0.1, 1.1))
        ax.view_init(elev=26, azim=24)
        ax.set_title(f"{kind}\n{words}", fontsize=9)
    grid.flat[-1].text2D(
        0.05, 0.5, "grey: joint frame in the first body\norange: joint frame in the second body\n"
        "all values positive; at zero the frames coincide\n(universal: see the text)", fontsize=9,
        transform=grid.flat[-1].transAxes,
    )  # fmt: skip
    figure.savefig(Path(__file__).with_name("joints.png"), dpi=110)


if __name__ == "__main__":
    main()
