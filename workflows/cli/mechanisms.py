"""Commands about one mechanism: list, show, base.

Imports stand in the functions: `basepar --help` answers without loading any mathematics.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from . import certificates
from .command import Command, emit
from .options import COLUMNS, GEOMETRY, OVERWRITE, check_output, listed, model_of, wanted

if TYPE_CHECKING:
    from basepar_core.dynamics import Column, Model, Observation


def _list(options: argparse.Namespace) -> int:
    from workflows.views import shipped

    document = shipped.document()
    emit(document) if options.json else shipped.show(document)
    return 0


def _show(options: argparse.Namespace) -> int:
    from basepar_core.errors import UsageError
    from workflows.views import kinematic_geometry, mechanisms, placed_targets, write_paths

    stem = options.cognate_files
    if stem and not options.cognates:
        raise UsageError("--cognate-files: of which point? Add --cognates P.", ["--cognates"])
    check_output(options, options.output, options.trace, *kinematic_geometry.files(stem))
    model = model_of(options, uses_inertias=False)
    document = mechanisms.document(model)
    if options.centres:
        document["centres"] = kinematic_geometry.centres(model)
    if options.cognates:
        document["cognates"] = kinematic_geometry.cognates(model, options.cognates, stem)
    if options.variant:
        from workflows.studies import design_title

        besides = f", with {', '.join(options.set)}" if options.set else ""
        document["design"] = f"{design_title(options.variant)}{besides}"
        document["placed"] = placed_targets.document(model, options.variant)
    if options.trace:
        write_paths(model, Path(options.trace))
        document["trace"] = options.trace
    if options.output:
        from workflows.drawing import draw

        over = kinematic_geometry.overlay(document)
        document["drawing"] = str(draw(model, Path(options.output), overlay=over))
    emit(document) if options.json else mechanisms.show(document)
    return 0


def _base(options: argparse.Namespace) -> int:
    from basepar_core.base import extend
    from basepar_core.dynamics import select
    from workflows.jobs import base_routes
    from workflows.views import base, terminal

    route = options.route
    check_output(options, options.output, options.certificate)
    _check_base(options)
    model = model_of(options, uses_inertias=False)
    gone = wanted(model, options.eliminate)
    if route == "all":
        return _all_routes(options, model, gone)
    chosen = select(model.mechanism, listed(options.columns_with))
    seen = _energies(model, chosen) if options.observation == "energy" else None
    certificate, not_done = None, ""
    with terminal.long_steps() as say:
        if options.certificate or options.within is not None:
            from workflows.jobs import certified_base

            made = certified_base(
                model,
                gone,
                say,
                seconds=options.within,
                columns=chosen if options.certificate else None,
                seen=seen and seen[0],
            )
            inertial, certificate, not_done = made.base, made.document, made.not_done
        else:
            inertial = base_routes.find(
                model, route, gone, options.digits, seen and seen[0], say, shared=True
            )
    found = extend(model, inertial, chosen, seen and seen[1])
    if certificate:
        certificates.write(certificate, Path(options.certificate))
    if options.format != "table":
        from workflows.export import base as exported

        text = exported.export(found, options.format)
        document = {"mechanism": found.mechanism, "format": options.format, "text": text}
    else:
        document = found.document()
    if certificate:
        document["certificate_file"] = options.certificate
    if not_done:
        document["not_done"] = not_done
    status = int(bool(not_done))
    if options.json:
        emit(document)
        return status
    if options.format == "table":
        base.show(document, options.columns, model.mechanism.uncounted)
    else:
        print(text)
    if certificate:
        terminal.beside(options.format == "table").print(f"certificate: {options.certificate}")
    if not_done:
        terminal.err.print(f"not done: {not_done}", style="yellow", soft_wrap=True)
    return status


def _energies(model: "Model", chosen: "tuple[Column, ...]") -> "tuple[Observation, Observation]":
    """H along the excitation, without and with force-law columns."""
    from basepar_core.base import nominal_observation
    from basepar_core.dynamics import check_columns, energies, excitation

    check_columns(chosen)
    motion = excitation(model.mechanism, model.assembled.coordinates)
    seen = nominal_observation(model)
    plain = energies(model, {}, motion, seen)
    return plain, energies(model, {}, motion, seen, chosen) if chosen else plain


def _check_base(options: argparse.Namespace) -> None:
    """Options that do not go together, before anything is computed."""
    from basepar_core.errors import UsageError

    digits, route = options.digits, options.route
    if digits is not None and (route not in ("precise", "all") or digits < 1):
        why = "must be at least 1" if digits < 1 else "go with --route precise or all"
        raise UsageError(f"--digits {digits}: digits {why}.", ["--digits"])
    if options.output:
        if route != "all":
            raise UsageError("-o draws singular values: it goes with --route all.", ["--output"])
        from workflows.drawing import check_ending

        check_ending(Path(options.output))
    if options.certificate and route != "symbolic":
        raise UsageError("--certificate goes with --route symbolic.", ["--certificate"])
    if options.within is not None and (route != "symbolic" or not options.within > 0):
        why = "goes with --route symbolic" if route != "symbolic" else "is no time"
        raise UsageError(f"--within {options.within:g} {why}.", ["--within"])
    if options.certificate and not Path(options.certificate).parent.is_dir():
        folder = Path(options.certificate).parent
        raise UsageError(f"There is no directory {folder}; make it first.", ["--certificate"])
    if options.certificate and (options.set or options.variant):
        raise UsageError(
            "--certificate is of a file's own geometry: write these values into a file.",
            ["--certificate"],
        )
    if options.format != "table" and route == "all":
        raise UsageError(
            f"--format {options.format} prints one route: use --route symbolic.", ["--format"]
        )
    if options.columns and options.format != "table":
        raise UsageError(
            f"--columns goes with --format table; --format {options.format} has none.",
            ["--columns"],
        )
    if options.observation == "energy" and route not in ("symbolic", "numeric"):
        raise UsageError(
            "--observation energy goes with --route symbolic or numeric: the others choose what "
            "they observe.",
            ["--observation"],
        )
    if options.columns_with and route not in ("symbolic", "numeric"):
        raise UsageError(
            "--with goes with --route symbolic or numeric: the others make inertial columns only.",
            ["--with"],
        )


def _all_routes(options: argparse.Namespace, model: "Model", gone: "list[int] | None") -> int:
    from workflows.drawing import save, spectra
    from workflows.jobs import base_routes
    from workflows.views import base, terminal

    with terminal.steps(options.json) as say:
        found = base_routes.compare(model, gone, options.digits, say)
    document = found.document()
    if options.output:
        title = f"{model.mechanism.name}: singular values of W, {found.spectra.samples} samples"
        file = save(spectra.spectra_figure(found.spectra, title), Path(options.output))
        document["drawing"] = str(file)
    emit(document) if options.json else base.show_routes(document, found.spectra, options.columns)
    return 0


COMMANDS = (
    Command(
        "list",
        _list,
        "the shipped mechanisms and sweeps",
        "basepar list --json",
        description="""\
The shipped mechanisms, sweeps and studies.

--json prints mechanisms [{name, space, bodies, joints, degrees_of_freedom, parameters,
description}], sweeps, studies; of bodies, joints and parameters their counts.""",
    ),
    Command(
        "show",
        _show,
        "bodies, joints, loops and degrees of freedom of a mechanism, and its drawing",
        "basepar show four-bar -o four-bar.png",
        {
            **GEOMETRY,
            "-o --output FILE": "the drawing: FILE.png, .svg or .pdf",
            "--trace FILE": "write positions, velocities and accelerations of its points, and the "
            "curvature of their paths, over its cycle (without one, its excitation) into FILE.csv",
            "--centres": "instant centres of every pair of bodies, as assembled; -o draws them",
            "--cognates P": "the two other four-bars whose couplers guide point P along the same "
            "curve; -o draws them",
            "--cognate-files STEM": "write these as mechanism files, STEM-1.yaml and STEM-2.yaml",
            **OVERWRITE,
        },
        """\
Bodies, joints, loops and degrees of freedom of a mechanism, and its drawing.

--json prints mechanism, description, space, degrees_of_freedom,
coordinates [{name, unit, assembled}], parameters (their names),
bodies [{name, number, form, parameters}] (by kind: m, mx …; null without),
impossible_inertias (by body, why no distribution of mass has its parameters),
unlikely_inertias (by body: a radius of gyration far beyond its mechanism),
unused_symbols (symbols and constants that nothing names: their lines),
unlikely_masses (by body: more than 1,000 times every other body and more than 100 kg, or
denser than any material by its line density or its moments),
joints [{name, type, connects, cut, coordinate, actuated, holds_spin}] (actuated: driven, as the
file has it; all coordinates are where it does not say),
couplings [{name, values (coefficients), arms (the values whose coefficients are in m), offset}],
loops (joints of each, the cut one last),
redundant_constraints (how many), overconstrained [{names, excess}] (joints and couplings that hold
each other, and how many of their constraints are redundant),
locked (joint values that no motion changes),
idle [{bodies, joints, point?, direction?}] (what turns and moves nothing else; about which line of
the first body where it is not the one through two balls),
blocks (equations of each), residual (m or rad),
swapped_points {joint, line, write, connects, off {name, unit, value}, off_swapped} (the joint of
which two points look exchanged by the stated values, null where none does; connects: its bodies
where these are, else empty; off, rad or a share of a length: the value farthest off; off_swapped:
with the points exchanged),
mistaken_unit {symbol, line, value, unit, unit_meant, agrees} (the length in whose other unit all
stated values agree, null where none does; agrees: the value that is farthest off in the file's),
mistaken_signs [{name, place, line, write, connects}] (the value of the assembly, or the entry of
joint `name`'s points, or either of two, with whose sign turned round all stated values agree;
connects: the bodies that a value counts between, else empty),
mistaken_entry {place, line, written, meant, why, partner} (the symbol in a joint's point, the
point, its axis, or a length of the geometry, with the other one in whose place all stated values
agree; null without; why: a remark; partner {place, line, written, meant}: the length whose value
is to be exchanged with it, null where none is),
branch_found [{name, unit, value, stated}] (joint values that the file does not state, or states
far away), other_branches [{nearer, values [{name, unit, value}]}] (where one is far away;
nearer: to what is stated), far_poses [{body, at, rotation, off}] (bodies far from their
stated poses: the pose found, m and rad, and how far from the stated one a joint is, m),
motion_ends [{motion, ends: locks | singular, at [{name, unit, value}], sample, samples}] (of
cycle and excitation, where they cannot be followed), reach (from where to where a
single coordinate goes then, on this branch; null where it meets no end),
points [{name, body, at (in its frame, m), assembled (where it stands in the ground's frame, m)}],
symbols [{name, value, unit, bounds, constant}] (value and bounds in the symbol's unit),
path, path_why (how sweeps evaluate it), drawing (with -o; and trace with
--trace; with --centres, centres: the bodies of each pair and at, m, null where they do not turn
about each other; with --cognates, cognates: mechanism, pins, the first bar's on ground and
coupler, then the second's on coupler and ground, point and lengths, all m, and file;
with --variant, design: which one it is, and placed [{metric, error, angle, scale, shift,
rotation, points}]: where the design is to stand to meet a target, a place p of it at scale times
rotation times p, plus shift, m and rad; points: the target as its file sees it; -o draws
them).""",
    ),
    Command(
        "base",
        _base,
        "base parameters of a mechanism",
        "basepar base four-bar --eliminate J1,J2,J3,m1 --json",
        {
            **GEOMETRY,
            "--eliminate P,…": "all parameters to eliminate (φ₂), like crank.J,rod.m or J1",
            **COLUMNS,
            "--route symbolic|numeric|precise|product|black-box|all": "symbolic, checked in "
            "float64 (default); numeric; precise; product (planar: search of expressions); "
            "black-box (expressions through values over finite fields, without any joint rule); "
            "all: side by side, product where the planar paper's conditions hold",
            "--observation torque|energy": "what float64 looks at: W of inverse dynamics "
            "(default), or the energies' matrix H, which needs no accelerations and cannot carry "
            "friction",
            "--format table|latex|python|c": "how to print them (default: table)",
            "--columns": "number the column of W that each base parameter multiplies (columns in "
            "--json)",
            "--digits N int": "decimal digits of β by the precise route; as text in --json when "
            "more than 17",
            "-o --output FILE": "with --route all: draw the singular values into FILE.png, "
            ".svg or .pdf",
            "--certificate FILE": "write a certificate that `basepar verify` checks",
            "--within SECONDS float": "time for the symbolic route and its certificate; where it "
            "is not enough, variable precision answers in as long again, or float64, and the exit "
            "status is 1",
            **OVERWRITE,
        },
        """\
Base parameters of a mechanism, with the certificate of their number.

--json prints mechanism, parameters, rank (of this geometry; null where only bounds are known),
generic_rank (of its family), generic (the same of the family, where this geometry has fewer),
near (relations that the numbers nearly meet), route, eliminated, no_effect, base [{parameter,
terms, values}], columns (of W, from 0), gap, singular_values, doubt (the route's own),
float64_doubt, validity (must not vanish), certificate {grade, at_least {rank, grade, scope,
points}, at_most {rank, grade, scope, vectors}} (points are random primes and their seeds; at_most
has them too where it rests on them); the precise route its digits and bounds too. --within
adds not_done where there was no time (for what, and what the answer rests on). --route all adds
agreed, not_run (what could not run, and why) and, in routes, a document per route.""",
    ),
)
