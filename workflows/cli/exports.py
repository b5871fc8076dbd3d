"""Commands that write mechanisms in other formats: export.

Imports stand in the functions: `basepar --help` answers without loading any mathematics.
"""

import argparse
import sys
from pathlib import Path

from .command import Command, emit
from .options import GEOMETRY, OVERWRITE, check_output, model_of


def _export(options: argparse.Namespace) -> int:
    from basepar_core.errors import UsageError
    from basepar_core.texts import naming, plural
    from workflows.robots import dialect_of, identified_parameters, robot_file
    from workflows.views import terminal

    if not (options.output or options.dialect):
        raise UsageError(
            "Which format? Name a file, -o FILE.urdf, .xml or .sdf, or a --dialect.", ["--output"]
        )
    check_output(options, options.output)
    model = model_of(options)
    known = options.parameters and identified_parameters(model.mechanism, options.parameters)
    dialect = options.dialect or dialect_of(options.output, model)
    found = robot_file(model, dialect, known or {})
    if options.output:
        with naming(options.output):
            Path(options.output).write_text(found.text, encoding="utf-8")
    if options.json:
        emit(
            {
                "mechanism": model.mechanism.name,
                "dialect": found.dialect,
                "file": options.output,
                "text": None if options.output else found.text,
                "zeros": dict(found.zeros),
                "notes": list(found.notes),
            }
        )
    elif options.output:
        bodies = plural(len(model.mechanism.bodies), "body", "bodies")
        terminal.out.print(f"{options.output}: {model.mechanism.name} as {dialect}, {bodies}")
        for note in found.notes:
            terminal.out.print(f"  {note}")
    else:  # the file says in comments what follows otherwise
        sys.stdout.write(found.text)
    return 0


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
            "constraint, mjcf or sdf (default: by the file's ending)",
            "--parameters FILE": "inertial parameters and friction that `basepar identify "
            "--consistent --json` has printed, in place of the mechanism's",
            **OVERWRITE,
        },
        """\
A robot's file from a mechanism: URDF with its dialects of loops, MJCF or SDF.

Symbols become numbers: those of the file, of --set, or of a stored --variant. What a dialect
cannot represent is rejected, all of it at once, with the dialects that can. Of a mechanism with
loops joint values count from its assembly, where they are closed (in MJCF by `ref`, so that they
are the mechanism's). A planar body gets its one moment of inertia about all three axes.

--json prints mechanism, dialect, file, text (without -o), zeros (joint values of the mechanism,
rad or m, where the file's are zero) and notes.""",
    ),
)
