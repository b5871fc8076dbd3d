"""Commands about places to compute: cluster, tls."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .command import Command, emit

if TYPE_CHECKING:
    from cluster import Place


def _cluster(options: argparse.Namespace) -> int:
    from basepar_core.texts import lines, plural
    from cluster import preview
    from workflows.jobs import place_of, roll_call
    from workflows.views import terminal

    place = place_of(options.cluster, options.workers)
    if options.script is not None:
        return _script(options, place)
    document: dict[str, Any] = {"kind": type(place).__name__.lower(), "starts": preview(place)}
    if options.tried:
        document["workers"] = roll_call(place)
    if options.json:
        emit(document)
    elif options.tried:
        for worker in document["workers"]:
            terminal.out.print("  ".join(str(fact) for fact in worker.values()))
        count = len(document["workers"])
        gone = "came and is gone again" if count == 1 else "came and are gone again"
        terminal.out.print(f"{plural(count, 'worker')} {gone}")
    else:
        print(lines(document["starts"]))  # as it is: for pipes and files
    return 0


def _script(options: argparse.Namespace, place: "Place") -> int:
    """Jobs that evaluate parts of a sweep, wherever they are submitted from."""
    from basepar_core.errors import UsageError
    from basepar_core.texts import lines
    from cluster import PlaceError, script
    from sweeps.store import locate

    spec = options.script
    store = locate(options.store or f"{Path(spec).stem}.zarr")
    if options.tried:
        raise UsageError("--script writes, --try starts: one of them.", ["--script", "--try"])
    try:
        found = script(
            place,
            str(Path(spec).absolute()) if Path(spec).is_file() else spec,
            str(store.expanduser().absolute()),
        )
    except PlaceError as error:
        raise UsageError(f"--script: {error}", ["--script"]) from error
    if options.json:
        emit({"kind": type(place).__name__.lower(), "script": found})
    else:
        print(lines(found), end="")  # as it is: for pipes and files
    return 0


def _tls(options: argparse.Namespace) -> int:
    import yaml

    from basepar_core.texts import shell
    from workflows.jobs import make_own_keys

    document = make_own_keys(Path(options.directory).expanduser())
    if options.json:
        emit(document)
        return 0
    files = "--tls-ca-file {authority} --tls-cert {certificate} --tls-key {key}".format(
        **{name: shell(path) for name, path in document.items()}
    )
    profile = {"kind": "address", "url": "tls://HOST:8786", "keys": dict(document)}
    written = yaml.safe_dump(profile, sort_keys=False, allow_unicode=True).replace("\n", "\n  ")
    print(
        "Whoever reads key.pem may use the scheduler. Start it, and workers, with\n"
        f"  dask scheduler --protocol tls --port 8786 {files}\n"
        f"  dask worker tls://HOST:8786 {files}\n"
        "and name it in a profile:\n"
        f"  {written.rstrip()}"
    )
    return 0


COMMANDS = (
    Command(
        "cluster",
        _cluster,
        "what a profile would start (job script, manifests), or with --try whether it works",
        "basepar cluster my-slurm.yaml --try",
        {
            "cluster": "the name or file of a profile, an address, or laptop",
            "--workers N int": "worker processes (default: the profile's)",
            "--script SPEC": "write the script of jobs that evaluate parts of this sweep "
            "(profiles of kind slurm or batch)",
            "--store DIR": "of --script: the store as the jobs see it",
            "--try": "start it, ask every worker where it is, and end it",
        },
    ),
    Command(
        "tls",
        _tls,
        "make the key and certificate of a scheduler that you start yourself",
        "basepar tls ~/dask-keys",
        {
            "directory": "where certificate.pem and key.pem go",
        },
    ),
)
