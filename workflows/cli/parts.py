"""A sweep without a driver: `basepar sweep SPEC` with --prepare, --part or --finish."""

import argparse
import signal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from basepar_core.errors import UsageError

if TYPE_CHECKING:
    from sweeps.run import Leave, Summary
    from sweeps.spec import SweepSpec

PARTS = {
    "--prepare": "make the store and evaluate nothing: parts of it may be evaluated then",
    "--part K/N": "evaluate part K of N only, without scheduler and ports, any number at a time "
    "on machines that see the store; --workers counts processes (default 1)",
    "--finish": "evaluate what parts left undone, and check that every chunk is there",
    "--within SECONDS float": "end politely before so many seconds have passed, exit status 4 "
    "(default: when SLURM says that the job ends)",
    "--requeue": "stopped before it is done, have SLURM run this job again",
    "--detach": "submit this command itself as a job of the SLURM profile --cluster, and return",
}


def wanted(options: argparse.Namespace) -> str:
    """Which of them is asked for; "": none.

    Raises
    ------
    UsageError
        Several are, or what does not go with them.
    """
    asked = [name for name in ("prepare", "part", "finish", "detach") if getattr(options, name)]
    if len(asked) > 1:
        said = " and ".join(f"--{name}" for name in asked)
        raise UsageError(f"{said}: one after the other.", [f"--{name}" for name in asked])
    if not asked:
        return ""
    (name,) = asked
    if name == "detach":
        if options.spec is None:
            raise UsageError("--detach needs a sweep file; --from has none.", ["--detach"])
        return name
    if options.cluster != "laptop":
        raise UsageError(
            f"--{name} needs no cluster: whoever runs this command is the worker. `basepar "
            "cluster PROFILE --script SPEC` writes a job script of such commands.",
            ["--cluster"],
        )
    for word in ("repair", "retry_failed"):
        if getattr(options, word) and name != "finish":
            flag = f"--{word.replace('_', '-')}"
            raise UsageError(f"{flag} is for the whole sweep: with --finish.", [flag])
    if options.workers is not None and options.workers < 1:
        raise UsageError(f"--workers {options.workers}: at least 1 is needed.", ["--workers"])
    return name


def run(
    options: argparse.Namespace, name: str, jobs: "Mapping[str, SweepSpec]", leave: "Leave"
) -> "dict[str, Summary]":
    """Do it; what the stores, or the parts of them, hold then."""
    from workflows.jobs import finish_parts, part_of, prepare_parts, run_part
    from workflows.views import sweep_bar

    if name == "prepare":
        return prepare_parts(jobs)
    workers = options.workers or 1
    with sweep_bar(options.json or options.quiet) as bar:
        if name == "part":
            return run_part(jobs, part_of(options.part), workers, bar, leave)
        return finish_parts(jobs, workers, bar, options.retry_failed, leave)


def document(part: str, result: "Summary") -> dict[str, Any]:
    """What a part of a store holds; the rest of the store is not looked at."""
    return {
        "store": result.store,
        "part": part,
        "total": result.total,
        "counts": {status.meaning: n for status, n in result.counts.items()},
        "precise": {status.meaning: n for status, n in result.precise.items()},
        "errors": {str(variant): text for variant, text in result.errors.items()},
        "evaluated": result.evaluated,
        "seconds": result.seconds,
        "lost": result.lost,
        "failed": result.failed,
        "unsettled": result.unsettled,
        "stopped": result.stopped,
    }


def show(documents: Mapping[str, Mapping[str, Any]]) -> None:
    """A line for each."""
    from basepar_core.texts import plural
    from workflows.views import terminal

    for name, found in documents.items():
        counts = ", ".join(f"{n:,} {word}" for word, n in found["counts"].items())
        counts = counts or "no chunk is in it, as there are fewer chunks than parts"
        terminal.out.print(
            f"{name + ': ' if name else ''}part {found['part']} of {found['store']}: {counts}; "
            f"{plural(found['evaluated'], 'variant')} evaluated in {found['seconds']:.1f} s",
            soft_wrap=True,
        )


def detach(options: argparse.Namespace) -> dict[str, Any]:
    """Submit the driver as a job; what is its number, and where it writes.

    Mistakes of the sweep and the profile are found here, before anything waits in a queue.

    Raises
    ------
    UsageError
        No profile of SLURM, or SLURM rejects the job.
    """
    import os.path

    from cluster import PlaceError, find_profile, submit
    from sweeps.run import path_of
    from sweeps.store import Bucket
    from workflows.jobs import load_jobs, place_of

    place = place_of(options.cluster, options.workers)
    jobs = load_jobs(options.spec, options.store)
    first = next(iter(jobs.values()))
    lies = path_of(first) if "" in jobs else path_of(first).parent
    store = str(lies)
    spec = os.path.abspath(options.spec) if os.path.isfile(options.spec) else options.spec
    words = ["sweep", spec, "--store", store, "--quiet", "--requeue", "--cluster"]
    try:
        profile = "laptop" if options.cluster == "laptop" else str(find_profile(options.cluster))
        words.append(os.path.abspath(profile))
        words += ["--workers", str(options.workers)] if options.workers else []
        for word in ("strict", "retry_failed", "repair"):
            words += [f"--{word.replace('_', '-')}"] if getattr(options, word) else []
        written = os.path.abspath(lies.name) if isinstance(lies, Bucket) else store
        log = f"{written.replace('%', '%%')}-%j.log"
        job = submit(place, words, log)
    except PlaceError as error:
        raise UsageError(f"--detach: {error}", ["--detach"]) from error
    return {"job": job, "store": store, "log": f"{written}-{job}.log"}


def show_detached(document: Mapping[str, Any]) -> None:
    """Which job it is, and where to look."""
    from basepar_core.texts import shell
    from workflows.views import terminal

    terminal.out.print(
        f"submitted as job {document['job']}; what it says: {document['log']}", soft_wrap=True
    )
    terminal.show_next(f"status {shell(document['store'])}")


def show_next(options: argparse.Namespace) -> None:
    """How to go on from a store that is made."""
    from basepar_core.texts import shell
    from workflows.views import terminal

    words = [shell(options.spec)] if options.spec else ["--from", shell(options.origin)]
    words += ["--store", shell(options.store)] if options.store else []
    said = " ".join(["sweep", *words])
    terminal.show_next(f"{said} --part 1/4   # … 4/4, anywhere, or 1/1000 …", f"{said} --finish")


def run_again(leave: "Leave") -> None:
    """Have the batch system run this job again, where it has to be asked.

    Not at SIGTERM: then somebody cancelled it, or SLURM takes its place away and knows what to do.
    """
    if leave.signal == signal.SIGTERM:
        return
    from cluster import requeue
    from workflows.views import terminal

    requeue(lambda said: terminal.err.print(said, soft_wrap=True))
