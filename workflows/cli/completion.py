"""The command that prints what a shell needs to complete this command line."""

import argparse
from collections.abc import Iterator

from .command import Command, emit

#: Arguments whose words a shell may complete: files, and names of shipped mechanisms and sweeps.
FILES = ["store", "data", "output", "file", "certificate", "second", "validate", "export"]
NAMED = ["mechanism", "spec"]
#: Completes to a file or a shipped name.
_NAMED = {
    "bash": "_basepar_named",
    "zsh": "_basepar_named",
    "tcsh": "f",
}
_PREAMBLE = {
    "bash": """\
_basepar_named() {{
  compgen -W "{names}" -- "$1"
  compgen -f -- "$1"
}}
""",
    "zsh": """\
_basepar_named() {{
  _alternative 'names:shipped:({names})' 'files:file:_files'
}}
""",
}


def _completion(options: argparse.Namespace) -> int:
    import shtab

    from basepar_core.files import library_names
    from workflows.jobs import study_names, sweep_names

    top = options.grammar
    named, files = _NAMED, shtab.FILE
    for command in _commands(top):
        for action in command._actions:
            if action.dest in NAMED and not action.option_strings:
                action.complete = named  # type: ignore[attr-defined]
            elif action.dest in FILES and action.choices is None and action.nargs != 0:
                action.complete = files  # type: ignore[attr-defined]
    names = " ".join(sorted({*library_names(), *sweep_names(), *study_names()}))
    preamble = _PREAMBLE.get(options.shell, "").format(names=names)
    script = shtab.complete(top, options.shell, preamble=preamble)
    emit({"shell": options.shell, "script": script}) if options.json else print(script)
    return 0


def _commands(top: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The grammar of every command."""
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()
            for inner in action.choices.values():
                yield from _commands(inner)


COMMANDS = (
    Command(
        "completion",
        _completion,
        "what a shell needs to complete commands, flags, files and shipped names",
        "basepar completion bash > ~/.local/share/bash-completion/completions/basepar",
        {
            "shell bash|zsh|tcsh": "",
        },
    ),
)
