"""The command that compiles: warmup."""

import argparse
from collections.abc import Mapping
from typing import Any

from .command import Command, emit


def _warmup(options: argparse.Namespace) -> int:
    from sweeps.chunks import warmup
    from workflows.views import terminal

    groups: list[dict[str, Any]] = []
    with terminal.steps(options.json) as say:
        say("compiling")
        for group in warmup.warm():
            say(f"{group.name}: {group.seconds:.1f} s")
            groups.append(
                {"name": group.name, "seconds": group.seconds, "compiled": group.compiled}
            )
    document = {
        "cache": warmup.cache_directory(),
        "kernels": groups,
        "seconds": sum(group["seconds"] for group in groups),
    }
    emit(document) if options.json else _show(document)
    return 0


def _show(document: Mapping[str, Any]) -> None:
    from workflows.views import terminal

    rows = (
        (group["name"], f"{group['seconds']:.1f}", str(group["compiled"]))
        for group in document["kernels"]
    )
    terminal.out.print(terminal.table("kernels", "#seconds", "#compiled", rows=rows))
    terminal.out.print(f"kept in {document['cache']}")


COMMANDS = (
    Command(
        "warmup",
        _warmup,
        "compile the numerical kernels and keep them on disk, so that nothing waits for it later",
        "basepar warmup",
    ),
)
