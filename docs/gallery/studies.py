"""Runs the worked studies and draws them: `python docs/gallery/studies.py [NAME …]`.

Stores go to a temporary folder; what stays is one picture per study and kind, beside this file,
and the numbers of docs/studies-gallery.md on stdout.
"""

import json
import sys
import tempfile
from pathlib import Path

from PIL import Image

from cluster.client import connect
from cluster.places import Laptop
from workflows.drawing import save
from workflows.studies import Shown, StudySpec, load_job, pictures, polish, tolerances
from workflows.studies.study import study
from workflows.views import polish as polish_document
from workflows.views import study as study_document
from workflows.views import tolerances as spread_document

#: Before workers start: what they copy has no script (decision 87).
HERE = Path(__file__).parent
#: Half widths that a workshop keeps without effort.
MADE = {
    "four-bar": "lx1=1mm, lx2=1mm, ly2=1mm, lx3=1mm, Dx=1mm, Dy=1mm",
    "quick-return": "r=0.2mm, d=0.2mm, l=0.2mm, k=0.2mm, h=0.2mm",
    "dwell": "AB=0.1mm, OC=0.1mm",
    "3-rrr": "l1=0.1mm, l2=0.1mm, a=0.1mm, ax=0.1mm, ay=0.1mm, b=0.1mm, bx=0.1mm, by=0.1mm",
}
#: Linkages whose paths count: their studies are screened and drawn, and that is all.
LINKAGES = ("wiper", "straight-line", "dwell-slide", "press", "jansen")
#: Pictures that the gallery shows.
SHOWN = ("history", "front", "designs", "importances", "tolerances")
#: And of linkages.
OF_LINKAGES = ("front", "designs")


def make(name: str, folder: Path, client: object) -> None:
    job = load_job(name, str(folder / f"{name}.zarr"))
    found = study_document.study(job, study(job, client))  # type: ignore[arg-type]
    if name in LINKAGES:
        json.dump({"study": found}, sys.stdout, indent=1)
        draw(name, job, folder)
        return
    polished = polish_document.document(job, polish(job, client, 3))  # type: ignore[arg-type]
    half = tolerances.read_tolerances(job.mechanism, [MADE[name]])
    asked = tolerances.Tolerances(half, samples=400)
    spread = spread_document.document(
        job,
        tolerances.spread(job, client, asked),  # type: ignore[arg-type]
    )
    json.dump({"study": found, "polished": polished, "tolerances": spread}, sys.stdout, indent=1)
    draw(name, job, folder)


def draw(name: str, job: StudySpec, folder: Path) -> None:
    for picture, _, figure in pictures(Shown.of(job)):
        if picture in (OF_LINKAGES if name in LINKAGES else SHOWN):
            path = save(figure, folder / f"{name}-{picture}.png")
            # A palette makes it a quarter of the size.
            small = Image.open(path).convert("RGB").quantize(64)
            small.save(HERE / f"study-{name}-{picture}.png", optimize=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, connect(Laptop(workers=1)) as client:
        for name in sys.argv[1:] or [*MADE, *LINKAGES]:
            make(name, Path(place), client)
