"""The commands that optimise a design: study, polish, tolerances, pictures, around."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .command import Command, emit, warned
from .options import OVERWRITE, PLACE, TRUST_METRICS

if TYPE_CHECKING:
    from cluster import Place
    from workflows.studies import Result, StudySpec


def _around(options: argparse.Namespace) -> int:
    from basepar_core.texts import plural, shell
    from workflows.studies import write_neighbourhood
    from workflows.views import near, terminal

    found = write_neighbourhood(
        options.store,
        options.output,
        options.share,
        options.candidates,
        options.variant,
        options.trust_metrics,
        options.overwrite,
    )
    if options.json:
        emit(found)
    else:
        count = plural(found["candidates"], "design")
        terminal.out.print(f"{found['file']}: {count} around {found['design']}")
        if found["mechanism"]:
            terminal.out.print(f"{found['mechanism']}: the mechanism, as the study's store has it")
        terminal.show_next(f"sweep {shell(near(found['file']))}")
    return 0


def _study(options: argparse.Namespace) -> int:
    from workflows.jobs import start_early

    start_early(options.cluster, options.store)

    from workflows.jobs import place_of
    from workflows.studies import load_jobs
    from workflows.views import study as view
    from workflows.views import terminal

    _check_points(options.polish, "--polish")
    place = place_of(options.cluster, options.workers)
    jobs = load_jobs(options.spec, options.store, options.trials)
    results, documents = {}, {}
    for name, job in jobs.items():
        terminal.show_before(name, job.sweep.notes)
    for name, job in jobs.items():
        results[name], documents[name] = _searched(job, place, options)
        if not options.json:
            # Of several, each store is named after the file's: none is proposed.
            is_file = not name and os.path.isfile(options.spec)
            count = len(warned) + len(job.sweep.notes)
            _show_study(name, documents[name], options.spec if is_file else "", count)
    if "" in jobs:
        whole = documents[""]
    else:
        together = view.together({name: one.spec for name, one in results.items()})
        whole = {"members": documents, "together": together}
        if not options.json:
            view.show_together(together)
    if options.json:
        emit(whole)
    if not all(one.summary.done for one in results.values()):
        return 1
    return 3 if any(one.summary.failed for one in results.values()) else 0


def _searched(
    job: "StudySpec", place: "Place", options: argparse.Namespace
) -> "tuple[Result, dict[str, Any]]":
    """Run one study, polish it if that is asked for, and say what it found."""
    from workflows.jobs import connected, mend
    from workflows.studies import polish, run
    from workflows.views import live_table
    from workflows.views import polish as polish_document
    from workflows.views import study as view

    mended = mend(job.sweep) if options.repair else []
    with live_table(job, options.json or options.quiet) as live:
        result = run(job, place, live)
    document = view.study(result.spec, result, options.certify)
    if options.polish and result.summary.done:
        with connected(place) as client:
            polished = polish(result.spec, client, options.polish)
        document["polished"] = polish_document.document(result.spec, polished, options.certify)
    if options.repair:
        document["repaired"] = mended
    return result, document


def _show_study(name: str, document: "dict[str, Any]", file: str, warnings: int) -> None:
    from workflows.views import out, show_notes
    from workflows.views import polish as polish_document
    from workflows.views import study as view

    if name:
        out.print(f"\n[bold]{name}[/bold]")
    show_notes(f"repaired: {line}" for line in document.get("repaired", ()))
    view.show(document, file, warnings)
    if "polished" in document:
        polish_document.show(document["polished"])


def _check_points(points: int | None, option: str) -> None:
    from basepar_core.errors import UsageError

    if points is not None and points < 1:
        raise UsageError(f"{option} {points}: at least 1 is needed.", [option])


def _polish(options: argparse.Namespace) -> int:
    from sweeps.store import locate
    from workflows.jobs import connected, place_of
    from workflows.studies import polish, study_of
    from workflows.views import polish as polish_document

    _check_points(options.points, "--points")
    place = place_of(options.cluster, options.workers)
    spec = study_of(options.store).fetched(options.trust_metrics)
    to = locate(options.to).absolute() if options.to else None
    with connected(place) as client:
        polished = polish(spec, client, options.points, to)
    document = polish_document.document(spec, polished, options.certify)
    emit(document) if options.json else polish_document.show(document)
    return 0


def _tolerances(options: argparse.Namespace) -> int:
    from sweeps.store import locate
    from workflows.jobs import connected, place_of
    from workflows.studies import study_of, tolerances
    from workflows.views import tolerances as view

    _check_points(options.samples, "--samples")
    place = place_of(options.cluster, options.workers)
    spec = study_of(options.store).fetched(options.trust_metrics)
    half = tolerances.read_tolerances(spec.mechanism, options.tolerance)
    asked = tolerances.Tolerances(half, options.shape, options.samples, options.seed)
    to = locate(options.to).absolute() if options.to else None
    with connected(place) as client:
        found = tolerances.spread(spec, client, asked, options.variant, to)
    document = view.document(spec, found)
    emit(document) if options.json else view.show(document)
    return 0


def _pictures(options: argparse.Namespace) -> int:
    from sweeps.store import beside, locate
    from workflows.studies import Shown, study_of, write_pictures
    from workflows.views import out

    spec = study_of(options.store)
    place = Path(options.output or f"{beside(locate(options.store), '')}-pictures")
    written = [str(path) for path in write_pictures(Shown.of(spec), place, options.overwrite)]
    if options.json:
        emit({"store": options.store, "pictures": written})
        return 0
    for path in written:
        out.print(path)
    return 0


COMMANDS = (
    Command(
        "study",
        _study,
        "search for the best variants of a mechanism; run again to go on",
        "basepar study four-bar --store best.zarr --workers 2 --polish 3",
        {
            "spec": "a study file, or the name of a shipped one",
            "--store DIR": "where the results go, DIR.journal beside them (default: the file's)",
            **PLACE,
            "--trials N int": "how many variants in all (default: the file's); more than before "
            "prolongs a study",
            "--certify N 1": "how many of the best variants to certify in variable precision "
            "(default: 1; 0: none)",
            "--polish N int": "then polish the N best variants by gradients",
            "--repair": "check the whole store first, and evaluate damaged chunks again",
            "--quiet": "no live table",
        },
    ),
    Command(
        "polish",
        _polish,
        "follow gradients from the best variants of a study, within its constraints",
        "basepar polish four-bar-study.zarr --points 3",
        {
            "store": "the store of a study that is done",
            "--points N 3": "how many of the best variants to start from (default: 3)",
            "--certify N 1": "how many of the polished designs to certify in variable precision "
            "(default: 1; 0: none)",
            "--to DIR": "another store for the polished designs (default: beside the study's, "
            "where designs polished earlier are set aside)",
            **TRUST_METRICS,
            **PLACE,
        },
    ),
    Command(
        "tolerances",
        _tolerances,
        "what manufacturing tolerances make of a study's best design (Monte Carlo)",
        "basepar tolerances four-bar-study.zarr --tolerance lx1=0.5mm,lx3=1mm",
        {
            "store": "the store of a study that is done",
            "--tolerance NAME=T,… append required": "a dimension lies within ± T of its value; "
            "any symbol of the mechanism's geometry",
            "--variant _ best": "best (default; a polished design where there is one), a number, "
            "or 'polished N'",
            "--shape uniform|normal": "uniform (default), or normal with T for three standard "
            "deviations",
            "--samples N 1000": "number of random designs (default: 1000)",
            "--seed N 0": "seed of the draws (default: 0)",
            "--to DIR": "another store for the samples (default: beside the study's, where "
            "samples of other tolerances are set aside)",
            **TRUST_METRICS,
            **PLACE,
        },
    ),
    Command(
        "pictures",
        _pictures,
        "history, front, importances, slices, best designs and tolerances of a study as PNG files",
        "basepar pictures four-bar-study.zarr -o pictures",
        {
            "store": "the store of a study",
            "-o --output DIR": "a folder (default: the store's name, -pictures)",
            **OVERWRITE,
        },
    ),
    Command(
        "around",
        _around,
        "write a sweep of the designs around a study's best one",
        "basepar around best.zarr -o around.yaml --share 0.05 --candidates 4096",
        {
            "store": "the store of a study",
            "-o --output FILE": "the sweep file to write (default: beside the store)",
            "--variant _ best": "best (default; a polished design where there is one), a number, "
            "or 'polished N'",
            "--share S 0.1": "how far, as a share of each variable's range (default: 0.1)",
            "--candidates N 1024": "number of designs (default: 1024)",
            **TRUST_METRICS,
            **OVERWRITE,
        },
    ),
)
