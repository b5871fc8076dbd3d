"""Draws the gallery: `python docs/gallery/make.py` (all) or with names of shipped mechanisms.

`straight-line-cognates` is the shipped study's linkage with its cognates.
"""

import io
import sys
from pathlib import Path
from typing import Any

from PIL import Image

from basepar_core.api import load
from basepar_core.dynamics import prepare
from basepar_core.files import library_names
from workflows.drawing import Overlay, figure_of
from workflows.export import cognates_of

COGNATES = "straight-line-cognates"
LINKAGE = Path("workflows/examples/mechanisms/straight-line.yaml")


def figure(name: str) -> Any:
    if name != COGNATES:
        return figure_of(prepare(load(name)))
    model = prepare(load(LINKAGE))
    bars = [(bar.pins, bar.point) for bar, _ in cognates_of(model, "P")]
    return figure_of(model, overlay=Overlay(bars))


if __name__ == "__main__":
    for name in sys.argv[1:] or [*library_names(), COGNATES]:
        raster = io.BytesIO()
        figure(name).savefig(
            raster, dpi=110, bbox_inches="tight", pad_inches=0.1, metadata={"Software": None}
        )
        # A palette makes it a quarter of the size.
        small = Image.open(raster).convert("RGB").quantize(96)
        small.save(Path(__file__).with_name(f"{name}.png"), optimize=True)
