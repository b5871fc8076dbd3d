"""Commands that fill and read stores: sweep, status."""

import argparse
import os
from typing import TYPE_CHECKING, Any

from basepar_core.errors import UsageError

from . import parts
from .command import STOPPED, Command, emit, warned
from .options import PLACE, TRUST_METRICS

if TYPE_CHECKING:
    from sweeps.run import Leave, Summary
    from sweeps.spec import SweepSpec
    from sweeps.store import Location


def _sweep(options: argparse.Namespace) -> int:
    how = parts.wanted(options)
    if how == "detach":
        document = parts.detach(options)
        (emit if options.json else parts.show_detached)(document)
        return 0
    if not how:
        from workflows.jobs import start_early

        start_early(options.cluster, options.store)

    from workflows.views import flagged, store

    jobs, results, mended, leave = _done(options, how)
    if how == "part":
        documents = {name: parts.document(options.part, one) for name, one in results.items()}
    else:
        documents = {
            name: store.summary(one) | {"repaired": mended[name]} for name, one in results.items()
        }
    if options.json:
        emit(documents.get("", {"members": documents}))
    elif how == "part":
        parts.show(documents)
    else:
        for name, document in documents.items():
            store.show_notes(f"repaired: {line}" for line in document["repaired"])
            told = set(map(flagged, jobs[name].notes))  # before the sweep began
            _show(name, document | {"notes": [x for x in document["notes"] if x not in told]})
            if how == "prepare":
                continue
            store.show_rate(document)
            if store.without_results(document) and _file(options) and not name:
                store.show_after_nothing(document, _file(options))
            else:
                file = _file(options) if not name else ""
                again = store.show_after_warnings(_warnings(jobs), document["store"], file)
                store.show_next_steps(document, jobs[name].mechanism, again)
        if how == "prepare":
            parts.show_next(options)
        elif "" not in documents:
            _show_after_warnings_of_family(jobs, _file(options))
    if any(one.stopped for one in results.values()):
        if options.requeue:
            parts.run_again(leave)
        return STOPPED
    if how != "prepare" and any("pending" in one["counts"] for one in documents.values()):
        return 1
    return (
        3
        if any(
            document["failed"] or (options.strict and document["unsettled"])
            for document in documents.values()
        )
        else 0
    )


def _file(options: argparse.Namespace) -> str:
    """The sweep file that the command names; "" of a shipped sweep, or of a store's."""
    return options.spec if os.path.isfile(options.spec or "") else ""


def _warnings(jobs: "dict[str, SweepSpec]") -> int:
    """How many warnings were shown of what the files state."""
    return len(warned) + len({note for job in jobs.values() for note in job.notes})


def _show_after_warnings_of_family(jobs: "dict[str, SweepSpec]", file: str) -> None:
    """Of several sweeps in one store, once: which store a corrected file needs."""
    from sweeps.store import locate
    from workflows.views import store, terminal

    root = str(locate(next(iter(jobs.values())).store).parent)
    if again := store.show_after_warnings(_warnings(jobs), root, file):
        terminal.show_next(*again)


def _done(
    options: argparse.Namespace, how: str
) -> "tuple[dict[str, SweepSpec], dict[str, Summary], dict[str, list[str]], Leave]":
    """Run the sweeps; they, what each did, what was repaired before, and who wanted it to end."""
    from sweeps.run import heard
    from workflows.jobs import leaving, mend
    from workflows.views import terminal

    with heard(leaving(options.within)) as leave:
        place = None
        if not how:
            from workflows.jobs import place_of

            place = place_of(options.cluster, options.workers)
        jobs = _jobs(options)
        if how != "part":  # said when the store was made, and they are not quick to find
            for name, job in jobs.items():
                terminal.show_before(name, job.notes)
        mended = {name: mend(job) if options.repair else [] for name, job in jobs.items()}
        if place is None:
            return jobs, parts.run(options, how, jobs, leave), mended, leave
        from workflows.jobs import run_all
        from workflows.views import sweep_bar

        with sweep_bar(options.json or options.quiet) as bar:
            return jobs, run_all(jobs, place, bar, options.retry_failed, leave), mended, leave


def _jobs(options: argparse.Namespace) -> "dict[str, SweepSpec]":
    """The sweeps asked for by name: a file's (mostly one, ""), or the one a store holds."""
    from workflows.jobs import again_all, load_jobs

    if (options.spec is None) == (options.origin is None):
        raise UsageError("Name a sweep file, or a store with --from; one of them.", ["SPEC"])
    if options.origin is None:
        return load_jobs(options.spec, options.store)
    if options.store is None:
        raise UsageError("--from needs --store: where the new results go.", ["--store"])
    return again_all(options.origin, options.store, options.trust_metrics)


def _status(options: argparse.Namespace) -> int:
    from sweeps.store import locate, members_of

    path = locate(options.store)
    members = members_of(path)
    found = {name: _standing(path / name, options.check) for name in members or ("",)}
    if options.json:
        emit({"members": found} if members else found[""])
    else:
        for name, document in found.items():
            _show(name, document)
    return 1 if any(document.get("damage") for document in found.values()) else 0


def _standing(path: "Location", check: bool) -> dict[str, Any]:
    from sweeps.store import check_and_repair
    from workflows.jobs import resources
    from workflows.views import store

    if not check:
        return store.document(path) | {"resources": resources(path)}
    found = check_and_repair.find(path)
    if any(one.start is None for one in found):
        check_and_repair.check(
            path
        )  # without its attributes and labels there is nothing to be told
    told = {"resources": resources(path), "damage": [str(one) for one in found]}
    return store.document(path, checked=True) | told


def _show(name: str, document: dict[str, Any]) -> None:
    from sweeps.store import locate
    from workflows.jobs import extremes
    from workflows.views import show_resources, store, terminal

    if name:
        terminal.out.print(f"\n{name}", style="bold")
    store.show_status(document)
    if not document.get("damage"):
        store.show_extremes(extremes(locate(document["store"])))
    if "resources" in document:
        show_resources(document["resources"])


COMMANDS = (
    Command(
        "sweep",
        _sweep,
        "evaluate many variants of a mechanism into a store; run again to go on",
        "basepar sweep four-bar --store four-bar.zarr --workers 2",
        {
            "spec?": "a sweep file, or the name of a shipped one; none with --from",
            "--from STORE": "run the sweep that STORE holds once more, into --store",
            "--store DIR": "where the results go: a folder or an address such as "
            "s3://bucket/x.zarr (default: the file's)",
            **PLACE,
            "--strict": "exit status 3 if variants are not settled",
            "--retry-failed": "evaluate crashed and timed-out variants once more",
            **parts.PARTS,
            "--repair": "check the whole store first, and evaluate damaged chunks again",
            **TRUST_METRICS,
            "--quiet": "no progress bar",
        },
    ),
    Command(
        "status",
        _status,
        "what a store holds, and what is missing",
        "basepar status four-bar.zarr",
        {
            "store": "a store that a sweep made",
            "--check": "read every chunk; exit status 1 if the store is damaged",
        },
        """\
What a store holds, and what is missing.

--json prints store, title, total, done, settled, counts {status: variants},
precise {precise status: variants}, precise_ranks {rank: variants},
special (variants of lower rank than generic, or where a pivot vanishes, whoever found it),
reasons [{status, reason, count, example}], precise_reasons [{status, reason, count, example}],
errors {variant: text}, spec_hash, created, versions {package: version}, notes,
retries {times: variants}, runs [{started, host, pid, evaluated, seconds, lost, ended}],
running {host, pid, since, silent, settled, total, evaluated, seconds, workers, rate, seconds_left}
(null where nobody fills it), resources {jobs [{role, jobs, accounted, stopped, out_of_memory,
used, asked, next}], unrecorded, batch}, damage (with --check); of a family's store members
{name: these facts}.""",
    ),
)
