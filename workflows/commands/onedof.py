"""The command about mechanisms with one degree of freedom: onedof."""

import argparse
from pathlib import Path

from . import Add, emit


def register(add: Add) -> None:
    """Add the command to the grammar."""
    onedof = add(
        "onedof",
        _onedof,
        "reduced inertia, steady regime, joint forces of a one-degree-of-freedom mechanism",
        "basepar onedof dwell --force S:rocker:y --dwell Q:0.01 -o dwell.png",
    )
    onedof.description = """\
Reduced inertia m(q), its derivative and the potential's slope over the whole motion, by inverse
dynamics and by energy; with motors, torques, friction or springs in the file also the steady
regime of a turning machine, and what its joints transmit.

--json prints mechanism, coordinate, unit, way (closed, from, to, dead_points, near_dead_points,
margin), samples, errors, curves (q, m, m_prime, potential_slope, potential), reactions (name,
unit, m_e1, m_e2, at_rest on the same q), and regime (state, multiplier, error, measures,
motion), with --time run (end, t, q, speed, currents). SI."""
    onedof.add_argument("mechanism", help="a mechanism file, or the name of a shipped one")
    for word in ("force", "moment"):
        onedof.add_argument(
            f"--{word}",
            action="append",
            default=[],
            metavar="JOINT:BODY:DIR",
            help=f"{word} that the joint's first body exerts on its second, in BODY's axes: "
            f"DIR is x, y, z or numbers 1,0; may be repeated",
        )
    onedof.add_argument(
        "--range",
        nargs=2,
        type=float,
        metavar=("FROM", "TO"),
        help="of q (rad or m) instead of all",
    )
    onedof.add_argument("--period", type=float, metavar="T", help="of a neutral regime, s a turn")
    onedof.add_argument(
        "--time",
        type=float,
        metavar="T",
        help="move for T s from the assembly, at rest or at --speed, with stops and reversals",
    )
    onedof.add_argument(
        "--speed", type=float, metavar="W", help="at the assembly, of a neutral regime; or a guess"
    )
    onedof.add_argument(
        "--dwell",
        action="append",
        default=[],
        metavar="JOINT:BAND",
        help="longest stretch on which a joint value stays within a band (rad or m)",
    )
    onedof.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="draw into FILE.png or FILE.svg, or write the curves to FILE.csv",
    )


def _onedof(options: argparse.Namespace) -> int:
    from basepar_core.closure import prepare
    from basepar_core.files import load
    from basepar_core.onedof.machine import machine
    from basepar_core.onedof.virtual import reaction

    from .. import onedof, terminal
    from ..drawing import check_ending, save

    output = Path(options.output) if options.output else None
    if output is not None and output.suffix != ".csv":
        check_ending(output)
    model = prepare(load(options.mechanism))
    wanted = [reaction(model.mechanism, text) for text in options.force]
    wanted += [reaction(model.mechanism, text, moment=True) for text in options.moment]
    bands = _bands(options.dwell)
    limits = tuple(options.range) if options.range else None
    with terminal.steps(options.json) as say:
        say("reduced parameters and regime")
        made = machine(model, wanted, limits, options.period, options.speed, tuple(bands))
        facts = onedof.document(made, bands)
        if options.time is not None:
            say("motion in time")
            facts["run"] = onedof.moved(made, options.time, options.speed or 0.0)
    if output is not None and output.suffix == ".csv":
        facts["table"] = str(onedof.write_csv(facts, output))
    elif output is not None:
        facts["drawing"] = str(save(onedof.figure_of(facts), output))
    emit(facts) if options.json else onedof.show(facts)
    return 0


def _bands(given: list[str]) -> dict[str, float]:
    from basepar_core.errors import UsageError

    found = {}
    for text in given:
        name, _, width = text.rpartition(":")
        try:
            found[name] = float(width)
        except ValueError:
            raise UsageError(f"--dwell {text}: give JOINT:BAND, as in Q:0.01.", [text]) from None
    return found
