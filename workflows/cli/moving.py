"""Commands that make pages to look at mechanisms by hand: animate, explore."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .command import Command, emit
from .options import GEOMETRY, OVERWRITE, check_output, model_of

if TYPE_CHECKING:
    from sweeps.store import Location


def _animate(options: argparse.Namespace) -> int:
    from workflows import moving
    from workflows.views import terminal

    path = Path(options.output or f"{_stem(options)}.moving.html")
    moving.check_ending(path)
    if options.seconds is not None and not 0 < options.seconds <= 600:
        from basepar_core.errors import UsageError

        said = f"--seconds {options.seconds:g}: more than 0, at most 600."
        raise UsageError(said, ["--seconds"])
    check_output(options, path)
    film = moving.film(model_of(options))
    moving.write(film, path, options.seconds)
    size = path.stat().st_size
    document = {
        "animation": str(path),
        "mechanism": film.mechanism,
        "motion": film.motion,
        "frames": len(film.t),
        "duration": film.duration,
        "efforts": [one["name"] for one in film.efforts],
        "points": [one["name"] for one in film.sketch.points],
        "ends": film.note or None,
        "bytes": size,
    }
    if options.json:
        emit(document)
        return 0
    said = f"{path}: {film.duration:.3g} s of its {film.motion}"
    if path.suffix != ".html":
        said += f", shown in {options.seconds or moving.SECONDS:g} s"
    terminal.out.print(f"{said}, {size / 1e3:.3g} kB")
    if film.note:
        terminal.out.print(f"The mechanism {film.note}; filmed up to there.")
    return 0


def _stem(options: argparse.Namespace) -> str:
    """Of the file that is written where none is named: the mechanism, or the stored variant."""
    if options.mechanism:
        return Path(options.mechanism).stem
    return f"variant-{(options.variant or '').rpartition(':')[2].replace(' ', '-')}"


def _explore(options: argparse.Namespace) -> int:
    from basepar_core.errors import UsageError
    from basepar_core.texts import plural
    from sweeps.store import beside, locate
    from workflows.explore import write
    from workflows.views import terminal

    store = locate(options.store)
    if options.serve:
        if options.output:
            raise UsageError("--serve writes no file: leave out -o.", ["--output"])
        if options.overwrite:
            raise UsageError("--serve writes no file: leave out --overwrite.", ["--overwrite"])
        return _serve(store, options)
    if options.port is not None:
        raise UsageError("--port goes with --serve.", ["--port"])
    output = Path(options.output) if options.output else beside(store, ".explorer.html")
    if output.suffix != ".html":
        raise UsageError(f"{output}: the explorer is a page; name a FILE.html.", ["--output"])
    check_output(options, output)
    document = write(store, output)
    if options.json:
        emit(document)
        return 0
    terminal.out.print(
        f"{document['explorer']}: {document['shown']:,} of {document['total']:,} variants, "
        f"{plural(len(document['columns']) - 1, 'column')}, {document['bytes'] / 1e6:.3g} MB"
    )
    return 0


def _serve(store: "Location", options: argparse.Namespace) -> int:
    import sys

    from workflows.explore import Server
    from workflows.views import terminal

    server = Server(store, options.port or 0)
    try:
        if options.json:
            emit({"address": server.address, "store": str(store)})
            sys.stdout.flush()
        else:
            terminal.out.print(f"{server.address}\nOpen it in a browser here; Ctrl-C ends it.")
        server.run()
    except KeyboardInterrupt:
        return 0
    finally:
        server.close()
    return 0


COMMANDS = (
    Command(
        "animate",
        _animate,
        "a mechanism moving over its cycle, as a page, a GIF, a video or an animated SVG",
        "basepar animate four-bar -o four-bar.html",
        {
            **GEOMETRY,
            "-o --output FILE": "FILE.html (a page that loads nothing: play, slider, speed; drag "
            "turns spatial mechanisms), .gif, .mp4 (needs ffmpeg) or .svg (default: the "
            "mechanism's name with .moving.html)",
            "--seconds S float": "how long the motion takes in .gif, .mp4 and .svg (default: 4)",
            **OVERWRITE,
        },
        """\
A mechanism moving over its cycle (without one, its excitation), with the paths of its points and
the torques and forces of its drives as arrows.

A motion that cannot be followed to its end is shown up to there. --json prints animation (the
file), mechanism, motion, frames, duration (s), efforts (drives that have arrows), points, ends
(where and why it ends early, or null), bytes.""",
    ),
    Command(
        "explore",
        _explore,
        "one page with every number of a store: select by hand, compare variants",
        "basepar explore four-bar.zarr -o four-bar.html",
        {
            "store": "a store that a sweep or a study made, finished or not",
            "-o --output FILE": "the page (default: the store's name with .explorer.html)",
            "--serve": "serve the page on this machine instead, following a store that fills; "
            "only who has its address, with a key in it, can read it",
            "--port N int": "with --serve: a port (default: any that is free)",
            **OVERWRITE,
        },
        """\
One page that loads nothing, with every number of a store of up to 100,000 variants (of a larger
one a sample, the best and the front always in it): parallel coordinates, scatter plot, histograms,
all linked; conditions as `where:` and `constraints:` take them; the selection as CSV; two variants
side by side, moving.

--json prints explorer (the file), store, total, shown (variants in the page), columns, left_out
(what did not fit into 25 MB), front (how many are on it), moves (whether variants move in the
page), bytes; with --serve address, store.""",
    ),
)
