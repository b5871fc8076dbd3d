"""A report over 10,000 variants: how long it takes to write and to open, and how large it is.

    python -m tests.campaigns.reports FOLDER [--mechanism four-bar] [--variants 10000]

Sweeps (kept in FOLDER and not done twice), writes the report in a process of its own, opens its
index in Chromium five times and keeps a picture of it. Prints what docs/campaigns.md has.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

from tests.workflows import browser

#: Swept symbols, and columns besides the inertial ones, of mechanisms with one drive and more.
SPACES = {
    "four-bar": "{lx1: [0.2, 0.4], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}",
    "five-bar": "{lx1: [0.25, 0.35], lx2: [0.45, 0.6], Ex: [0.4, 0.6]}",
    "3-rps": "{R: [0.25, 0.4], p1: [0.15, 0.25]}",
    "ur10": "{a2: [-0.8, -0.4], a3: [-0.7, -0.4]}",
}
SWEEP = """
mechanism: {mechanism}
space: {{plan: sobol, variables: {space}, candidates: {variants}, seed: 7}}
evaluate:
  rank: numeric
  reduction:
    {{criteria: [tolerance, aic, bic], method: forward, arrays: [generalised, validation]}}
  metrics: [torque_rms, torque_peak]
store: {{chunk: 1024}}
"""
#: Milliseconds from the address to the load event.
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"


def run(*arguments: str) -> tuple[float, float]:
    """`basepar …` in a process: its processor time, and seconds by the clock."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    program = "import sys; from workflows.cli.main import main; sys.exit(main())"
    subprocess.run([sys.executable, "-c", program, *arguments], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, time.monotonic() - started


def main() -> None:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mechanism", choices=SPACES, default="four-bar")
    parser.add_argument("--variants", type=int, default=10_000)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    job = asked.folder / f"{asked.mechanism}.yaml"
    space = SPACES[asked.mechanism]
    text = SWEEP.format(mechanism=asked.mechanism, space=space, variants=asked.variants)
    job.write_text(text)
    store, pages = job.with_suffix(".zarr"), job.with_suffix(".report")
    run("sweep", str(job), "--store", str(store))
    spent, clock = run("report", str(store), "--batch", str(pages))
    files = list(pages.iterdir())
    index = pages / "index.html"
    print(f"written: {spent:.1f} s of processor time, {clock:.1f} s by the clock")
    print(
        f"index {index.stat().st_size / 1e6:.2f} MB; with {len(files) - 1} pages of variants "
        f"{sum(file.stat().st_size for file in files) / 1e6:.2f} MB"
    )
    with browser.browser() as chromium:
        seen = [
            chromium.show(index, width=1280, scheme="light", script=LOADED, whole=k == 4)
            for k in range(5)
        ]
    picture = job.with_suffix(".png")
    picture.write_bytes(seen[-1].picture)
    print("opens in", ", ".join(f"{one.facts / 1e3:.2f}" for one in seen), f"s; see {picture}")
    print("complaints of the page:", sum(len(one.complaints) for one in seen))


if __name__ == "__main__":
    main()
