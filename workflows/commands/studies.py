"""The command that optimises a design: study."""

import argparse

from . import Add, add_place, emit


def register(add: Add) -> None:
    """Add the command to the grammar."""
    study = add(
        "study",
        _study,
        "search for the best variants of a mechanism; run again to go on",
        "basepar study four-bar --store best.zarr --workers 2",
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
        help="how many variants in all (default: the file's); fixed once the study has begun",
    )
    study.add_argument("--quiet", action="store_true", help="no progress bar")


def _study(options: argparse.Namespace) -> int:
    from .. import study_document, terminal
    from ..design_study import load_job, run
    from ..sweep_job import place_of

    place = place_of(options.cluster, options.workers)
    job = load_job(options.spec, options.store, options.trials)
    with terminal.sweep_bar(options.json or options.quiet) as bar:
        result = run(job, place, bar)
    document = study_document.study(job, result)
    emit(document) if options.json else study_document.show(document)
    if not result.summary.done:
        return 1
    return 3 if result.summary.failed else 0
