"""The command about mechanisms with one degree of freedom: onedof."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .command import Command, emit
from .options import GEOMETRY, OVERWRITE, check_output, model_of

if TYPE_CHECKING:
    from basepar_core.mechanism import Mechanism


def _onedof(options: argparse.Namespace) -> int:
    from basepar_core.single_dof import the_coordinate
    from workflows.drawing import check_ending, curves_figure, save
    from workflows.jobs import one_dof
    from workflows.views import single_dof as onedof
    from workflows.views import terminal, write_csv

    output = Path(options.output) if options.output else None
    if output is not None and output.suffix not in (".csv", ".html"):
        check_ending(output)
    check_output(options, output)
    model = model_of(options)
    unit = model.mechanism.value(the_coordinate(model)).unit
    bands = _bands(model.mechanism, options.dwell)
    period, duration = (_given(word, options, "s") for word in ("period", "time"))
    speed = _given("speed", options, f"{unit}/s")
    with terminal.steps(options.json) as say:
        found = one_dof(
            model,
            force=options.force,
            moment=options.moment,
            range=_limits(options.range, unit),
            period=period,
            speed=speed,
            time=duration,
            dwell=bands,
            say=say,
        )
    facts = onedof.document(found)
    if output is not None and output.suffix == ".csv":
        facts["table"] = str(write_csv(found.machine, facts, output))
    elif output is not None and output.suffix == ".html":
        from workflows.report import single_dof as pages

        facts["page"] = str(pages.write(model, found, facts, output))
    elif output is not None:
        facts["drawing"] = str(save(curves_figure(facts), output))
    emit(facts) if options.json else onedof.show(facts)
    return 0


def _given(word: str, options: argparse.Namespace, unit: str) -> float | None:
    from .quantities import quantity

    text = getattr(options, word)
    return None if text is None else quantity(text, unit, f"--{word}")


def _limits(given: list[str] | None, unit: str) -> tuple[float, float] | None:
    from .quantities import quantity

    if given is None:
        return None
    low, high = (quantity(text, unit, "--range", given) for text in given)
    return low, high


def _bands(mechanism: "Mechanism", given: list[str]) -> dict[str, float | None]:
    from .quantities import quantity

    found: dict[str, float | None] = {}
    for text in given:
        name, _, width = text.partition(":")
        known = {value for joint in mechanism.joints for value in joint.values}
        unit = mechanism.value(name).unit if name in known else ""
        found[name] = quantity(width, unit, f"--dwell {name}:") if width and unit else None
    return found


COMMANDS = (
    Command(
        "onedof",
        _onedof,
        "reduced inertia, steady regime, joint forces of a one-degree-of-freedom mechanism",
        "basepar onedof dwell --force S:rocker:y --dwell Q:0.5deg -o dwell.png",
        {
            **GEOMETRY,
            **{
                f"--{word} JOINT:BODY:DIR append": f"{word} that the joint's first body exerts "
                "on its second, in BODY's axes: DIR is x, y, z or numbers 1,0; may be repeated"
                for word in ("force", "moment")
            },
            "--range FROM TO": "tabulate this range of q only: -30deg 90deg; bare numbers are "
            "rad or m",
            "--period T": "seconds per turn of a neutral regime (work in and out are equal at "
            "every speed)",
            "--time T": "move for T s from the assembly, at rest or at --speed, with stops and "
            "reversals",
            "--speed W": "speed at the assembly: of a neutral regime, of --time, or as a first "
            "guess",
            "--dwell JOINT[:BAND] append": "longest stretch on which a joint value stays within "
            "a band, Q:1deg or S:0.2mm; without a band 1 %% of its stroke, as in sweeps",
            "-o --output FILE": "a page that moves, FILE.html; or curves drawn into FILE.png, "
            ".svg or .pdf, or written to FILE.csv",
            **OVERWRITE,
        },
        """\
Reduced inertia m(q), its derivative and the potential's slope over the whole motion, by inverse
dynamics and by energy; with motors, torques, friction or springs in the file also the steady
regime of a turning machine, and what its joints transmit.

--json prints mechanism, coordinate, unit, range (closed, from, to, dead_points, near_dead_points,
margin, requested), samples, errors (curves, accurate, routes), curves (q, m, m_prime,
potential_slope, potential), joints (unit, values on the same q), dwells (band, unit, stretch,
where), reactions (name, unit, m_e1, m_e2, at_rest on the same q), and regime (state, multiplier,
error, peaks_error, accurate, measures, units, motion), with --time run (end, t, q, speed,
currents). SI.

Numbers without a unit are SI (rad, m, s); 30deg, '2 rad/s', 5mm say their own.""",
    ),
)
