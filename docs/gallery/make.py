"""Draws the gallery: `python docs/gallery/make.py` (all) or with names of shipped mechanisms."""

import io
import sys
from pathlib import Path

from PIL import Image

from basepar_core.api import load
from basepar_core.dynamics import prepare
from basepar_core.files import library_names
from workflows.drawing import figure_of

if __name__ == "__main__":
    for name in sys.argv[1:] or library_names():
        raster = io.BytesIO()
        figure_of(prepare(load(name))).savefig(
            raster, dpi=110, bbox_inches="tight", pad_inches=0.1, metadata={"Software": None}
        )
        # A palette makes it a quarter of the size.
        small = Image.open(raster).convert("RGB").quantize(96)
        small.save(Path(__file__).with_name(f"{name}.png"), optimize=True)
