"""Files of xacro, expanded: a program of its own, in a process of its own, and only when asked.

xacro evaluates Python expressions, reads any file that a file names and finds packages by the
environment: who asks for it runs what the file says.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from basepar_core.errors import FileError, MissingDataError, Mistake, UsageError
from basepar_core.expressions import did_you_mean
from basepar_core.texts import shell

#: Seconds that an expansion may take.
SECONDS = 60.0
#: What begins the line that lists the arguments a file asks for, where others were given.
_ASKED = "basepar: arguments that it asks for:"
#: The package's own main function, which does not import what it catches. Arguments that the file
#: never asks for are dropped without a word, so it is recorded what it asks for. Without the
#: working folder on the path (-P), where a file of the package's name might lie. Its processor
#: time is bounded by the system, which holds also where the parent is killed and counts no longer.
_MAIN = f"""
from contextlib import suppress
with suppress(ImportError, ValueError):
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, ({int(SECONDS) + 1},) * 2)
import sys, xml.parsers.expat, xacro

class Asked(dict):
    names = set()
    def __contains__(self, name):
        self.names.add(name)
        return super().__contains__(name)
    def __getitem__(self, name):
        self.names.add(name)
        return super().__getitem__(name)

process = xacro.process_doc
def recorded(doc, **options):
    given = options.get("mappings") or {{}}
    process(doc, **options | {{"mappings": Asked(given)}})
    if set(given) - Asked.names:
        sys.stderr.write("\\n{_ASKED} " + " ".join(map(str, sorted(Asked.names))) + "\\n")
xacro.process_doc = recorded
xacro.main()
"""
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
#: What xacro's words quote of the file: expressions, macros, arguments.
_QUOTED = re.compile(
    r"name '(\w+)'|expression '(.+?)'(?=;|$)|(xacro:[\w.-]+)|substitution argument (\w+)"
)
_FILE = re.compile(r"(?:processing file: |in file: |instantiating macro: \S+ \()([^()\n]+)")
_LINE = re.compile(r"XML parsing error: .*\bline (\d+)")
_COLOUR = re.compile(r"\x1b\[[\d;]*m")


def remedy(path: Path) -> str:
    """Why a file with macros is rejected, and how to have it expanded."""
    return (
        f"has xacro macros in it, and xacro is a program: `basepar import {shell(str(path))} "
        f"--xacro` runs it, with --xacro-arg NAME:=VALUE for its arguments (in Python "
        f"xacro=True); import only what you trust so"
    )


def expanded(
    path: Path, arguments: Mapping[str, str], seconds: float = SECONDS
) -> tuple[bytes, tuple[str, ...]]:
    """What xacro makes of a file, and the lines of what it warns of.

    Parameters
    ----------
    path
        The file; what it includes and evaluates is its own affair.
    arguments
        Values by name, of `<xacro:arg>`.
    seconds
        How long it may take.

    Raises
    ------
    UsageError
        Arguments that xacro would leave out or misread, or that the file never asks for, all of
        them.
    FileError
        With xacro's own words, and the line that they quote where the file has it.
    MissingDataError
        There is no xacro.
    """
    _check(path, arguments)
    given = [f"{name}:={value}" for name, value in arguments.items()]
    words = [*_command(), str(path.resolve()), *given]
    status, out, err = _run(words, path, seconds)
    if status:
        raise FileError(str(path), [_mistake(path, err)])
    lines = [line.strip() for line in err.splitlines()]
    for line in lines:
        if line.startswith(_ASKED):
            raise UsageError(_unasked(path, arguments, line.removeprefix(_ASKED).split()))
    return out, tuple(f"xacro: {line}" for line in lines if line)


def _unasked(path: Path, arguments: Mapping[str, str], asked: Sequence[str]) -> str:
    """Of arguments that a file never asks for, which change nothing."""
    listed = f"; it asks for {', '.join(asked)}" if asked else "; it asks for none"
    found = [
        f"{path} asks for no argument {name!r}{did_you_mean(name, asked) or listed}"
        for name in arguments
        if name not in asked
    ]
    return f"{'; '.join(found)} (leave out what has no effect)"


def _check(path: Path, arguments: object) -> None:
    """Reject what xacro would drop without a word, or take for something else."""
    if not isinstance(arguments, Mapping):
        raise UsageError(
            f"xacro is a mapping of arguments' values by name, such as xacro={{'side': 'left'}}, "
            f"or {{}} for none, not {arguments!r}"
        )
    wrong = [why for name, value in arguments.items() if (why := _unusable(name, value))]
    if ":=" in str(path.resolve()):
        wrong.append(
            f"{str(path.resolve())!r} has := in it, which xacro takes for an argument; rename the "
            f"file or its folder"
        )
    if wrong:
        raise UsageError("; ".join(wrong))


def _unusable(name: object, value: object) -> str:
    """Why xacro cannot take an argument; empty if it can."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        why = "is no name of an argument; it is letters, digits and _, as in side:=left"
        return f"{name!r} {why}"
    default = "write it into the file, as the argument's default"
    if re.match("_[^_]", name):
        return (
            f"xacro leaves out arguments that begin with one _, such as {name!r}, as parameters "
            f"of ROS: rename it in the file, or {default}"
        )
    if not isinstance(value, str | int | float):
        return f"the value of the argument {name!r} is a text or a number, not {value!r}"
    if not str(value).strip():
        return f"xacro leaves out arguments without a value, such as {name!r}: {default}"
    if ":=" in str(value):
        return f"xacro takes no value that has := in it, as {name!r} has: {default}"
    return ""


def _command() -> Sequence[str]:
    """The package of this interpreter, else the command that ROS installs."""
    spec = find_spec("xacro")
    if spec is not None and spec.origin is not None:  # a mere folder of that name has none
        return sys.executable, "-P", "-c", _MAIN
    if (found := shutil.which("xacro")) is not None:
        return (found,)
    raise MissingDataError(
        "Expanding xacro needs xacro, and neither the package nor a command xacro is here. "
        "Install the extra: pip install 'basepar[xacro]', or use the environment of your ROS."
    )


def _run(words: Sequence[str], path: Path, seconds: float) -> tuple[int, bytes, str]:
    """Exit status and what it wrote; its process group ends with it."""
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            why = (
                f"xacro took more than {seconds:g} s and was ended; expand it by hand: xacro FILE"
            )
            raise FileError(str(path), [Mistake("", why)]) from None
        finally:
            _end(process)
    return process.returncode, out, _COLOUR.sub("", err.decode("utf-8", "replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def _mistake(path: Path, said: str) -> Mistake:
    """xacro's words, and the line: xacro's own, or the first one that has what they quote."""
    words = [line.strip() for line in said.splitlines() if line.strip()]
    if any(line.startswith("Traceback") for line in words):
        words = words[-1:]
    words = words[: next((k for k, line in enumerate(words) if line == "Check that:"), None)]
    text = "; ".join(words) or "it ended without a word"
    if (number := _LINE.search(text)) is not None:
        return Mistake("", f"xacro: {text}", int(number[1]))
    files = dict.fromkeys([*map(Path, _FILE.findall(said)), path.resolve()])
    for quoted in (next(filter(None, found.groups())) for found in _QUOTED.finditer(text)):
        for file in files:
            if (line := _line_of(file, quoted)) is None:
                continue
            if file == path.resolve():
                return Mistake("", f"xacro: {text}", line)
            return Mistake("", f"xacro: {text}; line {line} of {file.name} has {quoted!r}")
    return Mistake("", f"xacro: {text}")


def _line_of(file: Path, text: str) -> int | None:
    """The first line of a file that has a text; None where there is none, or no file."""
    try:
        lines = file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    return next((k for k, line in enumerate(lines, 1) if text in line), None)
