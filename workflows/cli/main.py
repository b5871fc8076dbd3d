"""The command line: `basepar COMMAND …`.

Exit status: 0 done, 1 not done, 2 usage, 3 done but variants crashed or timed out (or, under
--strict, are not settled), 4 stopped: the same command goes on.
"""

import argparse
import gc
import io
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import takewhile
from typing import Any, NoReturn

from basepar_core.errors import BaseparError, BaseparWarning, UsageError
from basepar_core.texts import shell
from workflows.views import flagged, place, spoken

from . import (
    certificates,
    completion,
    exports,
    identification,
    imports,
    mechanisms,
    moving,
    onedof,
    places,
    reductions,
    reports,
    reproductions,
    schemas,
    stores,
    studies,
    warmup,
)
from .command import STOPPED, emit, typed_words, warned
from .options import arguments

#: What commands and flags are called elsewhere.
_CALLED = {
    **dict.fromkeys(("optimize", "optimise", "optimization", "optuna"), ("study",)),
    **dict.fromkeys(("draw", "view", "info", "check"), ("show",)),
    **dict.fromkeys(("rank", "parameters", "minimal"), ("base",)),
    **dict.fromkeys(("convert", "urdf"), ("import",)),
    **dict.fromkeys(("--output", "--out", "-o"), ("--output", "-o", "--store")),
}
#: Modules of commands, in the order of the help.
MODULES = (
    *(mechanisms, moving, certificates, reductions, onedof, imports, exports),
    *(identification, places),
    *(stores, studies, reports, reproductions, schemas, warmup, completion),
)
#: Environment variable: the traceback of a defect goes to stderr.
DEBUG = "BASEPAR_DEBUG"


#: A quantity like -30deg or -1e-3, which argparse would take for an option.
_NEGATIVE = re.compile(r"-\.?[0-9]")


class _Parser(argparse.ArgumentParser):
    """Raises instead of exiting, so that --json can report usage errors too."""

    def error(self, message: str) -> NoReturn:
        if found := re.match(r"argument (.*): invalid (int|float) value: (.*)", message):
            kind = "whole number" if found[2] == "int" else "number"
            message = f"{found[1]}: {found[3]} is no {kind}"
        for action in self._actions if "arguments are required" in message else ():
            if action.required and action.option_strings:
                line = f"{action.option_strings[0]} {action.metavar}"
                message = message.replace("/".join(action.option_strings), line)
        if lacking := re.match(r"the following arguments are required: (\w.*)", message):
            order = [one.metavar or one.dest for one in self._actions if not one.option_strings]
            words = " ".join(word.upper() for word in order if isinstance(word, str))
            message = f"{lacking[1].upper()} is missing: `{self.prog} {words}`"
        end = "" if message.endswith("?") else "."
        raise UsageError(f"{message}{end} See `{self.prog} --help`.")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The command that does not know a word reports it, with its own flags."""
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            flags = [flag for action in self._actions for flag in action.option_strings]
            listed = [one for one in self._actions if str(one.metavar).endswith(",…")]
            listed = [one for one in listed if "=" not in str(one.metavar)]
            lists = [flag for action in listed for flag in action.option_strings]
            wrong = [word for word in rest if word.startswith("-")] or rest
            hints = {word: self._bare(word) or _hint(word, flags) for word in wrong}
            told = [
                f"{word}{hints[word] or _joined(word, list(args or ()), lists)}"
                for word in wrong[:1] + [one for one in wrong[1:] if one.startswith("-")]
            ]
            self.error(f"unrecognized arguments: {', '.join(told)}")
        return found, rest

    def _bare(self, word: str) -> str:
        """The remedy for `--data FILE` where DATA stands without an option."""
        order = [str(one.metavar or one.dest) for one in self._actions if not one.option_strings]
        if word.lstrip("-").lower() not in [name.lower() for name in order]:
            return ""
        words = " ".join(name.upper() for name in order)
        return f"; it stands without an option: `{self.prog} {words}`"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """A choice that there is not; with the one that was meant."""
        if action.choices is not None and value not in action.choices:
            known = [str(one) for one in action.choices]
            hint = _hint(str(value), known) or f"; there are {', '.join(known)}"
            raise argparse.ArgumentError(action, f"there is no {value!r}{hint}")


def _hint(word: str, known: Sequence[str]) -> str:
    from basepar_core.expressions import did_you_mean

    word = word.partition("=")[0]
    others = [one for one in _CALLED.get(word, ()) if one in known]
    return did_you_mean(others[0] if others else word, known)


def _joined(word: str, given: Sequence[str], lists: Sequence[str]) -> str:
    """The remedy for `--set lx1 0.31`, name and value are one word; or for `--eliminate J1 J2`."""
    place = given.index(word) if word in given else 0
    if place < 2 or not given[place - 2].startswith("--") or given[place - 1].startswith("-"):
        return ""
    if given[place - 2] in lists:
        words = takewhile(lambda one: not one.startswith("-"), given[place - 1 :])
        joined = ",".join(one.strip(",") for one in words)
        return f"; if it belongs to {given[place - 2]}, write {given[place - 2]} {joined}"
    option, before = given[place - 2 : place]
    whole = f"{before}={word}"
    if before.endswith(","):  # of several
        whole = f"{before.rstrip(',')} {option} {word}"
    elif "=" in before:  # a unit, or a blank behind the sign
        whole = shell(f"{before}{'' if before.endswith('=') else ' '}{word}")
    return f"; if it belongs to {option}, write {option} {whole}"


def parser() -> argparse.ArgumentParser:
    """The whole grammar of the command line."""
    top = _Parser(
        prog="basepar",
        description="Smallest dynamic models of mechanisms, at the scale of a design sweep.",
    )
    top.add_argument(
        "--version",
        action="version",
        version=f"basepar {version('basepar')}",
        help="print the version",
    )
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    for one in (command for module in MODULES for command in module.COMMANDS):
        # What is redirected into a file is that file's text, not a document.
        shown = one.example.partition(" >")[0]
        as_json = "" if "--json" in shown else f"\n  {shown} --json"
        made = commands.add_parser(
            one.name,
            help=one.summary,
            description=one.description or f"{one.summary[:1].upper()}{one.summary[1:]}.",
            epilog=f"example:\n  {one.example}{as_json}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        made.add_argument(
            "--json",
            action="store_true",
            help="print one JSON document for programs; numbers that are not finite are null",
        )
        arguments(made, one.options)
        made.set_defaults(command=one.run)
    commands.choices["completion"].set_defaults(grammar=top)
    return top


#: New objects after which garbage is looked for. What a command loads lives as long as it does:
#: to look among that every 700 objects, Python's own number, is an eighth of a command's start.
COLLECT_AFTER = 200_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    typed_words[:] = given
    given = [f" {word}" if _NEGATIVE.match(word) else word for word in given]
    as_json = "--json" in given
    for stream in (sys.stdout, sys.stderr):  # a terminal without φ or − gets ? for it
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        with _few_collections():
            options = parser().parse_args(given)
            with _warnings(), _terminable():
                return options.command(options)
    except BaseparError as error:
        _report(error, as_json)
        return 2 if isinstance(error, UsageError) else 1
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a file that cannot be written, a full disk
        place = [str(error.filename)] if error.filename else []
        said = (
            f"{': '.join([*place, error.strerror or str(error)])}. Put this right and run again."
        )
        _report(BaseparError(said, place), as_json)
        return 1
    except MemoryError:
        said = "Memory ran out. Ask for less at once: fewer samples, a smaller chunk or mechanism."
        _report(_MemoryError(said), as_json)
        return 1
    except KeyboardInterrupt:
        goes_on = given[:1] in (["sweep"], ["study"])
        kept = "; the same command goes on from here" * goes_on
        _report(_StoppedError(f"stopped{kept}"), as_json)
        return STOPPED if goes_on else 1
    except Exception as error:
        if os.environ.get(DEBUG):
            traceback.print_exc()
        _report(_InternalError(_internal(error)), as_json)
        return 1


@contextmanager
def _few_collections() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(COLLECT_AFTER)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _warnings() -> Iterator[None]:
    """Our warnings as sentences on stderr, each once a command, and for `emit`."""
    warned.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("default", BaseparWarning)
        warnings.formatwarning = _warned
        before = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
            if issubclass(category, BaseparWarning):
                if flagged(str(message)) in warned:  # of a file that is read from two places
                    return
                warned.append(flagged(str(message)))
            before(message, category, *rest, **more)

        warnings.showwarning = show
        yield


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends a command as Ctrl-C does: workers and what they share are put away first."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


_PLAIN = warnings.formatwarning


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    """Our own warnings as sentences; others as Python has them."""
    if issubclass(category, BaseparWarning):
        return f"basepar: warning: {spoken(flagged(str(message)))}\n"
    return _PLAIN(message, category, filename, lineno, line)


class _StoppedError(BaseparError):
    kind = "interrupted"


class _MemoryError(BaseparError):
    kind = "memory"


class _InternalError(BaseparError):
    kind = "internal"


def _internal(error: Exception) -> str:
    text = " ".join(str(error).split())
    return (
        f"internal error, {type(error).__name__}: {text[:300]}. This is a defect of the program: "
        f"please report it with the command and its files, and with what {DEBUG}=1 in the "
        "environment prints before this line."
    )


def _report(error: BaseparError, as_json: bool) -> None:
    if as_json:
        where = [place(word) for word in error.where]
        emit({"error": {"kind": error.kind, "message": flagged(error.message), "where": where}})
    else:
        print(f"basepar: {spoken(flagged(error.message))}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
