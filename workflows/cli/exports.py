"""Commands that write mechanisms in other formats: export.

Imports stand in the functions: `basepar --help` answers without loading any mathematics.
"""

import argparse
import sys
from pathlib import Path

from .command import Command, emit
from .options import GEOMETRY, OVERWRITE, check_output, listed, model_of


def _export(options: argparse.Namespace) -> int:
    from basepar_core.errors import UsageError
    from basepar_core.texts import plural
    from workflows.robots import exported, identified_parameters
    from workflows.views import terminal

    original = _original(options)
    if not (options.output or options.dialect or original):
        raise UsageError(
            "Which format? Name a file, -o FILE.urdf, .xml or .sdf, or a --dialect.", ["--output"]
        )
    check_output(options, options.output)
    model, known = model_of(options), dict[str, float]()
    if options.parameters:
        without = listed(options.without)
        known = identified_parameters(model.mechanism, options.parameters, without)
    found = exported(model, options.output or "", options.dialect or "", known, original)
    places = [*found.places(options.output)] if options.output else []
    check_output(options, *places)
    if options.output:
        found.write(options.output)
    if options.json:
        emit(
            {
                "mechanism": model.mechanism.name,
                "dialect": found.dialect,
                "into": original,
                "file": options.output,
                "companion": str(places[1]) if len(places) > 1 else None,
                "text": None if options.output else found.text.decode("utf-8", "replace"),
                "zeros": dict(found.zeros),
                "notes": list(found.notes),
            }
        )
    elif options.output:
        bodies = plural(len(model.mechanism.bodies), "body", "bodies")
        how = f"in {original}" if original else f"as {found.dialect}"
        files = " and ".join(map(str, places))
        terminal.out.print(f"{files}: {model.mechanism.name} {how}, {bodies}")
        for note in found.notes:
            terminal.out.print(f"  {note}")
    else:  # the file says in comments what follows otherwise
        sys.stdout.write(found.text.decode("utf-8", "replace"))
    return 0


def _original(options: argparse.Namespace) -> str | None:
    """The file that is to be changed: that of --into, or the mechanism's own, if it is a robot's
    file of the format that is written and no dialect is asked for."""
    from basepar_core.api import OTHER_FORMATS
    from basepar_core.errors import UsageError

    if options.into and options.dialect:
        said = "Give --into or --dialect: one changes a file, the other writes a new one."
        raise UsageError(said, ["--into", "--dialect"])
    own = Path(options.mechanism)
    is_robot = own.suffix in OTHER_FORMATS and own.is_file() and not options.dialect
    original = options.into or (options.mechanism if is_robot else None)
    if original is None or options.output is None:
        return original
    kinds = [
        {".mjcf": ".xml"}.get(x, x) for x in (Path(original).suffix, Path(options.output).suffix)
    ]
    if kinds[0] == kinds[1]:
        return original
    if options.into:
        said = f"{options.output} is of another format than {original}, which is to be changed."
        raise UsageError(said, ["--into", "--output"])
    return None


COMMANDS = (
    Command(
        "export",
        _export,
        "a robot's file from a mechanism: URDF with its dialects of loops, MJCF or SDF",
        "basepar export four-bar --set lx1=0.31 -o four-bar.xml",
        {
            **GEOMETRY,
            "-o --output FILE": "FILE.urdf, FILE.xml (MJCF) or FILE.sdf (default: print it)",
            "--dialect D": "urdf (trees, mimic joints), urdf+ (.urdf of loops), loop-joint, "
            "constraint, extended, mjcf or sdf (default: by the file's ending)",
            "--into FILE": "put it into this file, of which only what differs is changed "
            "(default: MECH, if that is a robot's file of the same format, without --dialect)",
            "--parameters FILE": "inertial parameters and friction that `basepar identify "
            "--consistent --json` has printed, in place of the mechanism's",
            "--without KIND,…": "friction of --parameters that is left out: offset, A.rotor",
            **OVERWRITE,
        },
        """\
A robot's file from a mechanism: URDF with its dialects of loops, MJCF or SDF.

Symbols become numbers: those of the file, of --set, or of a stored --variant. What a dialect
cannot represent is rejected, all of it at once, with the dialects that can. Of a mechanism with
loops joint values count from its assembly, where they are closed (in MJCF by `ref`, so that they
are the mechanism's). A planar body gets its one moment of inertia about all three axes.

With --into the file that a mechanism was imported from is changed: inertias, friction and frames
of joints that differ are written into its text, every other byte stays. What it cannot take is
rejected by name. The new file is read again and held against the mechanism before it is written.

    `basepar export robot.urdf --parameters identified.json -o new.urdf`
    `basepar export robot.yaml --set arm=0.4 --into robot.urdf -o new.urdf`

--json prints mechanism, dialect, into (the file that was changed), file, companion (the YAML file
of Extended URDF beside it), text (without -o), zeros (joint values of the mechanism, rad or m,
where the file's are zero) and notes.""",
    ),
)
