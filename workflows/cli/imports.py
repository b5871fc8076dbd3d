"""Commands that bring mechanisms in from other formats: import.

Imports stand in the functions: `basepar --help` answers without loading any mathematics.
"""

import argparse
import sys
from pathlib import Path

from .command import Command, emit
from .options import OVERWRITE, check_output


def _import(options: argparse.Namespace) -> int:
    from basepar_core.imported import read_file
    from basepar_core.texts import naming, plural
    from workflows.jobs import with_schema
    from workflows.views import terminal

    check_output(options, options.output)
    found = read_file(
        options.file,
        options.within,
        base=options.base,
        keyframe=options.keyframe,
        repair=options.repair,
        right_angles=options.right_angles,
        closing=options.closing,
        frictionless=options.frictionless_balls,
        count_massless=options.count_massless,
        xacro=_arguments(options),
    )
    status = 0 if found.failure is None else 1
    text = with_schema(found.text, "mechanism", Path(options.output or "").parent)
    if options.output:
        with naming(options.output):
            Path(options.output).write_text(text, encoding="utf-8")
    mechanism = found.mechanism
    if options.json:
        emit(
            {
                "mechanism": mechanism.name,
                "format": found.format,
                "file": options.output,
                "text": None if options.output else text,
                "bodies": [body.name for body in mechanism.bodies],
                "joints": [joint.name for joint in mechanism.joints],
                "coordinates": list(mechanism.coordinates),
                "open": None if found.failure is None else found.failure.message,
                "notes": list(found.notes),
                "dropped": list(found.dropped),
            }
        )
        return status
    if not options.output:  # the file says in comments what follows otherwise
        sys.stdout.write(text)
        return status
    terminal.out.print(
        f"{options.output}: {mechanism.name} from {found.format}, "
        f"{plural(len(mechanism.bodies), 'body', 'bodies')}, "
        f"{plural(len(mechanism.joints), 'joint')}, coordinates {', '.join(mechanism.coordinates)}"
    )
    for note in found.notes:
        terminal.out.print(f"  {note}")
    if found.dropped:
        terminal.out.print(f"  dropped: {', '.join(found.dropped)}")
    return status


def _arguments(options: argparse.Namespace) -> dict[str, str] | None:
    """Of xacro; None: it is not run."""
    from basepar_core.errors import UsageError

    given = dict[str, str]()
    for text in options.xacro_arg or ():
        name, sign, value = text.partition(":=")
        if not sign:
            raise UsageError(f"--xacro-arg is NAME:=VALUE, such as side:=left, not {text!r}")
        given[name] = value
    if given and not options.xacro:
        raise UsageError("--xacro-arg goes with --xacro, which runs xacro")
    return given if options.xacro else None


COMMANDS = (
    Command(
        "import",
        _import,
        "a mechanism file from URDF with its dialects of loops, SDF or MJCF",
        "basepar import arm.urdf -o arm.yaml",
        {
            "file": "a URDF, SDF or MJCF file; with --xacro one that xacro makes URDF or SDF of",
            "-o --output FILE": "the mechanism file (default: print it)",
            "--within FOLDER": "MJCF: the folder in which the files that it names may lie: "
            "includes, meshes (default: its own)",
            "--base auto|fixed|free": "whether the base stands or floats (auto: as the "
            "format's own simulator has it, which the notes say)",
            "--keyframe NAME": "MJCF: the keyframe at which it is assembled (default: the "
            "reference pose, or the one keyframe that closes its loops)",
            "--repair M 0.0": "close loops that stay open: structure made exact (right angles, "
            "parallel axes, axes that meet, equal lengths), then the least change of points; "
            "nothing moves by more than M metres",
            "--right-angles": "URDF and SDF: take angles that are multiples of 90 degrees but "
            "for their last digit (1.57, 1.5708) as such, and list them (default: as printed)",
            "--closing no|fixed|spherical|revolute": "URDF: how frames are held that are named "
            "as ends of loops, closing_X_1 and closing_X_2 or closedloop1_A and closedloop1_B; "
            "revolute about their z axes (no: not at all, which is reported)",
            "--frictionless-balls": "MJCF: leave out damping, friction loss and armature of ball "
            "joints, for which a mechanism file has no law, and list them (default: reject them)",
            "--count-massless": "let parameters of bodies between joints count that have no "
            "inertia in the file (default: such bodies are massless, unless no body has inertia)",
            "--xacro": "expand the file by xacro (extra xacro, or the command of ROS), in a "
            "process of its own; it runs what the file says: only for files that you trust",
            "--xacro-arg NAME:=VALUE append": "an argument of xacro, such as side:=left",
            "--overwrite --force": OVERWRITE["--overwrite"],
        },
    ),
)
