"""The commands that optimise a design: study, polish, tolerances, pictures, around."""

import argparse
from pathlib import Path

from . import Add, add_place, emit
from .options import overwrite, trust_metrics


def register(add: Add) -> None:
    """Add the commands to the grammar."""
    study = add(
        "study",
        _study,
        "search for the best variants of a mechanism; run again to go on",
        "basepar study four-bar --store best.zarr --workers 2 --polish 3",
    )
    study.add_argument("spec", help="a study file, or the name of a shipped one")
    study.add_argument(
        "--store",
        metavar="DIR",
        help="where the results go, DIR.journal beside them (default: the file's)",
    )
    add_place(study)
    study.add_argument(
        "--trials",
        type=int,
        metavar="N",
        help="how many variants in all (default: the file's); more than before prolongs a study",
    )
    study.add_argument(
        "--certify",
        type=int,
        metavar="N",
        default=1,
        help="how many of the best to certify in variable precision (default: 1; 0: none)",
    )
    study.add_argument(
        "--polish", type=int, metavar="N", help="then polish the N best by gradients"
    )
    study.add_argument(
        "--repair",
        action="store_true",
        help="first look for damage in the store and do damaged chunks again",
    )
    study.add_argument("--quiet", action="store_true", help="no live table")
    _polish_command(add)
    _tolerances_command(add)
    _pictures_command(add)
    _around_command(add)


def _polish_command(add: Add) -> None:
    polish = add(
        "polish",
        _polish,
        "follow gradients from the best variants of a study, within its constraints",
        "basepar polish four-bar-study.zarr --points 3",
    )
    polish.add_argument("store", help="the store of a study that is done")
    polish.add_argument(
        "--points", type=int, default=3, metavar="N", help="how many of the best (default 3)"
    )
    polish.add_argument(
        "--certify",
        type=int,
        metavar="N",
        default=1,
        help="how many of the polished to certify in variable precision (default: 1; 0: none)",
    )
    polish.add_argument(
        "--to",
        metavar="DIR",
        help="another store for the polished designs (default: beside the study's, where "
        "designs polished earlier are set aside)",
    )
    trust_metrics(polish)
    add_place(polish)


def _tolerances_command(add: Add) -> None:
    tolerances = add(
        "tolerances",
        _tolerances,
        "what manufacturing tolerances make of a study's best design (Monte Carlo)",
        "basepar tolerances four-bar-study.zarr --tolerance lx1=0.5mm,lx3=1mm",
    )
    tolerances.add_argument("store", help="the store of a study that is done")
    tolerances.add_argument(
        "--tolerance",
        action="append",
        required=True,
        metavar="NAME=T,…",
        help="a dimension lies within ± T of its value; any symbol of the mechanism's geometry",
    )
    tolerances.add_argument(
        "--variant",
        default="best",
        help="best (default; a polished design where there is one), a number, or 'polished N'",
    )
    tolerances.add_argument(
        "--shape",
        choices=("uniform", "normal"),
        default="uniform",
        help="uniform (default), or normal with T for three standard deviations",
    )
    tolerances.add_argument("--samples", type=int, default=1000, metavar="N", help="default 1000")
    tolerances.add_argument("--seed", type=int, default=0, metavar="N", help="default 0")
    tolerances.add_argument(
        "--to",
        metavar="DIR",
        help="another store for the samples (default: beside the study's, where samples of other "
        "tolerances are set aside)",
    )
    trust_metrics(tolerances)
    add_place(tolerances)


def _pictures_command(add: Add) -> None:
    pictures = add(
        "pictures",
        _pictures,
        "history, front, importances, slices, best designs and tolerances of a study as PNG files",
        "basepar pictures four-bar-study.zarr -o pictures",
    )
    pictures.add_argument("store", help="the store of a study")
    pictures.add_argument(
        "-o", "--output", metavar="DIR", help="a folder (default: the store's name, -pictures)"
    )
    overwrite(pictures)


def _around_command(add: Add) -> None:
    around = add(
        "around",
        _around,
        "write a sweep of the designs around a study's best one",
        "basepar around best.zarr -o around.yaml --share 0.05 --candidates 4096",
    )
    around.add_argument("store", help="the store of a study")
    around.add_argument("-o", "--output", metavar="FILE", help="where to (default: beside it)")
    around.add_argument(
        "--variant", type=int, metavar="N", help="the design (default: the study's best one)"
    )
    around.add_argument(
        "--share",
        type=float,
        default=0.1,
        metavar="S",
        help="how far, as a share of each variable's range (default: 0.1)",
    )
    around.add_argument(
        "--candidates", type=int, default=1024, metavar="N", help="designs (default: 1024)"
    )
    trust_metrics(around)
    overwrite(around)


def _around(options: argparse.Namespace) -> int:
    from basepar_core.texts import plural, shell
    from workflows.studies import write_neighbourhood
    from workflows.views import near, out, typed

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
        out.print(f"{found['file']}: {count} around variant {found['variant']}")
        again = f"{typed('basepar')} sweep {shell(near(found['file']))}"
        out.print(f"\nNext:\n  {again}", soft_wrap=True)
    return 0


def _study(options: argparse.Namespace) -> int:
    from workflows.jobs import mend, place_of
    from workflows.studies import load_job, run
    from workflows.views import live_table, show_notes
    from workflows.views import polish as polish_document
    from workflows.views import study as study_document

    _check_points(options.polish, "--polish")
    place = place_of(options.cluster, options.workers)
    job = load_job(options.spec, options.store, options.trials)
    mended = mend(job.sweep) if options.repair else []
    with live_table(job, options.json or options.quiet) as live:
        result = run(job, place, live)
    job = result.spec
    document = study_document.study(job, result, options.certify)
    if options.polish and result.summary.done:
        document["polished"] = polish_document.run(job, place, options.polish, options.certify)
    if options.repair:
        document["repaired"] = mended
    if options.json:
        emit(document)
    else:
        show_notes(f"repaired: {line}" for line in mended)
        study_document.show(document)
        if "polished" in document:
            polish_document.show(document["polished"])
    if not result.summary.done:
        return 1
    return 3 if result.summary.failed else 0


def _check_points(points: int | None, option: str) -> None:
    from basepar_core.errors import UsageError

    if points is not None and points < 1:
        raise UsageError(f"{option} {points}: at least 1 is needed.", [option])


def _polish(options: argparse.Namespace) -> int:
    from sweeps.store import folder
    from workflows.jobs import place_of
    from workflows.studies import study_of
    from workflows.views import polish as polish_document

    _check_points(options.points, "--points")
    place = place_of(options.cluster, options.workers)
    spec = study_of(options.store).fetched(options.trust_metrics)
    document = polish_document.run(
        spec,
        place,
        options.points,
        options.certify,
        folder(options.to).absolute() if options.to else None,
    )
    emit(document) if options.json else polish_document.show(document)
    return 0


def _tolerances(options: argparse.Namespace) -> int:
    from sweeps.store import folder
    from workflows.jobs import place_of
    from workflows.studies import study_of, tolerances
    from workflows.views import connected, show_spread

    _check_points(options.samples, "--samples")
    place = place_of(options.cluster, options.workers)
    spec = study_of(options.store).fetched(options.trust_metrics)
    half = tolerances.read_tolerances(spec.mechanism, options.tolerance)
    asked = tolerances.Tolerances(half, options.shape, options.samples, options.seed)
    to = folder(options.to).absolute() if options.to else None
    with connected(place) as client:
        found = tolerances.spread(spec, client, asked, options.variant, to)
    document = tolerances.document(spec, found)
    emit(document) if options.json else show_spread(document)
    return 0


def _pictures(options: argparse.Namespace) -> int:
    from workflows.studies import Shown, study_of, write_pictures
    from workflows.views import out

    spec = study_of(options.store)
    place = Path(options.output or f"{Path(options.store).with_suffix('')}-pictures")
    written = [str(path) for path in write_pictures(Shown.of(spec), place, options.overwrite)]
    if options.json:
        emit({"store": options.store, "pictures": written})
        return 0
    for path in written:
        out.print(path)
    return 0
