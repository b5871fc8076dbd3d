"""Mutated files of every kind that the program reads: an answer or a readable message, always.

A case is a kind of file and a seed (`mutators`): a good file, changed, is given in this process
to the cheapest command that uses it. Right is success, or a `BaseparError` (exit status 1 or 2,
a message of bounded length, JSON that is JSON). Anything else is an internal error: another
exception, a death, more than 20 s of CPU, more than 2 GB of memory on top, a wait without end,
a warning that is not the program's own. Failing files are kept.

    python -m tests.campaigns.mutations COUNT FOLDER [KIND …] [--first N]
"""

import argparse
import contextlib
import io
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

from basepar_core.errors import BaseparError, BaseparWarning
from workflows.cli.main import main as basepar

from .mutation_kinds import KINDS, Kind, Seeds, seeds
from .mutators import mutated

#: Of one case: CPU in s; memory beyond what a warm process has; characters of a message.
CPU, MEMORY, TEXT = 20.0, 2 << 30, 20_000
#: A process that takes no CPU for so long (s) waits for something, however busy the machine is.
IDLE = 60.0
#: Cases of one process: what it leaks is not another case's fault.
BATCH = 250
#: What stands where a file is expected, by kind of oddity.
ODD = ("folder", "pipe", "/dev/null", "/dev/zero", "/dev/full", "loop", "nothing", "socket")
ACCEPTED, REFUSED, WRONG = "accepted", "refused", "wrong"
QUIET = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


class _WeakJSONError(ValueError):
    pass


def make(kind: Kind, number: int, good: Seeds, folder: Path) -> Path:
    """The file of a case, in a folder of its own, with what lies beside it."""
    rng = random.Random(f"{kind.name} {number}")
    seed = rng.choice(good.files[kind.name])
    for name, content in good.beside[kind.name].items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    path = folder / f"{kind.stem}{seed.suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    if rng.random() < 0.015:
        _odd(path, rng.choice(ODD))
        return path
    content = seed.content
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2))):
        content = mutated(rng, content, kind.language)
    path.write_bytes(content)
    return path


def _odd(path: Path, what: str) -> None:
    path.unlink(missing_ok=True)
    match what:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(path.name)
        case "nothing":
            path.symlink_to("nowhere")
        case "socket":
            import socket

            with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as made:
                made.bind(path.name)
        case device:
            path.symlink_to(device)


def answer(kind: Kind, number: int, path: Path) -> str:
    """Whether a file is `ACCEPTED` or `REFUSED`, or what is wrong with the program's answer."""
    rng = random.Random(f"{number} {kind.name}")
    out, err = io.StringIO(), io.StringIO()
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        with contextlib.redirect_stderr(err):
            try:
                work = kind.work(path, rng)
                status = work() if callable(work) else basepar(work)
            except BaseparError as error:
                status = 1
                print(error.message, file=err)
            except SystemExit as error:
                return f"SystemExit {error.code}"
            except BaseException:
                return traceback.format_exc()
    strange = [one for one in warned if not issubclass(one.category, (BaseparWarning, *QUIET))]
    if strange:
        one = strange[0]
        return f"warning: {one.category.__name__}: {one.message} ({one.filename}:{one.lineno})"
    return _wrong_words(status, out.getvalue(), err.getvalue(), callable(work))


def _wrong_words(status: Any, out: str, err: str, called: bool) -> str:
    said = out + err
    if status not in (0, 1, 2):
        return f"exit status {status}"
    if "internal error" in said or "Traceback" in said:
        return said[:3000]
    if "Warning" in err:
        return err[:500]
    if status and not said.strip():
        return "failed without a word"
    if status and len(said) > TEXT:
        return f"{len(said)} characters of message: {said[:200]}"
    if not called:
        try:
            json.loads(out, parse_constant=_refuse)
        except ValueError as error:
            return f"no JSON ({error}): {out[:200]} {err[:200]}"
    return REFUSED if status else ACCEPTED


def _refuse(word: str) -> None:
    raise _WeakJSONError(f"{word} is no JSON")


# One process after the other


def _child(kind: Kind, numbers: range, good: Seeds, pipe: Connection, where: str) -> None:
    """Work through cases; before each its number is sent, after it its fault."""
    os.environ["BASEPAR_DEBUG"] = "1"
    size = psutil.Process().memory_info().vms
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        for number in numbers:
            folder = Path(where, str(number))
            folder.mkdir()
            os.chdir(folder)
            pipe.send((number, None))
            path = make(kind, number, good, folder)
            pipe.send((number, answer(kind, number, path)))
            os.chdir(where)
            shutil.rmtree(folder)
    pipe.close()


def cases(kind: Kind, numbers: range, good: Seeds) -> Iterator[tuple[int, str]]:
    """Answers by case; a process that dies or hangs is one, and the next goes on behind it."""
    context, start = get_context("fork"), numbers.start
    while start < numbers.stop:
        with tempfile.TemporaryDirectory() as where:
            ours, theirs = context.Pipe(duplex=False)
            part = range(start, min(numbers.stop, start + BATCH))
            child = context.Process(target=_child, args=(kind, part, good, theirs, where))
            child.start()
            theirs.close()
            current = start
            for number, found in _received(ours, child.pid or 0, start):
                current = number
                if found is not None:
                    yield number, found
                    current = number + 1
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid or 0, signal.SIGKILL)
            child.join()
            start = current


def _received(pipe: Connection, pid: int, number: int) -> Iterator[tuple[int, str | None]]:
    """Numbers of cases before they are tried, their answers after; `number` is the first."""
    process, found = psutil.Process(pid), None
    while True:
        busy, spent, last = time.monotonic(), _cpu(process), 0.0
        while not pipe.poll(0.5):
            cpu = _cpu(process) - spent
            if cpu > last:
                busy, last = time.monotonic(), cpu
            if cpu > CPU or time.monotonic() - busy > IDLE:
                yield number, f"hangs: {cpu:.0f} s of CPU"
                return
        try:
            number, found = pipe.recv()
        except EOFError:
            if found is None:
                yield number, "the process died"
            return
        yield number, found


def _cpu(process: psutil.Process) -> float:
    try:
        return sum(process.cpu_times()[:2])
    except psutil.NoSuchProcess:
        return 0.0


def run(kind: Kind, numbers: range, good: Seeds, kept: Path | None = None) -> Counter[str]:
    """Outcomes of many cases, counted; failing files go to a folder."""
    count: Counter[str] = Counter()
    for number, found in cases(kind, numbers, good):
        right = found in (ACCEPTED, REFUSED)
        count[found if right else WRONG] += 1
        if not right and kept is not None:
            folder = kept / f"{kind.name}-{number}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            make(kind, number, good, folder)
            (folder / "FAULT").write_text(found)
            print(f"{kind.name} {number}: {found.strip().splitlines()[-1][:300]}", flush=True)
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="cases of each kind")
    parser.add_argument("folder", type=Path, help="where failing files go")
    parser.add_argument("kinds", nargs="*", help="kinds of file (default: all)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        good = seeds(Path(folder))
        for name in options.kinds or KINDS:
            began = time.monotonic()
            numbers = range(options.first, options.first + options.count)
            count = run(KINDS[name], numbers, good, options.folder.absolute())
            wrong += count[WRONG]
            outcomes = ", ".join(f"{count[what]} {what}" for what in (ACCEPTED, REFUSED, WRONG))
            seconds = time.monotonic() - began
            print(f"{name}: {count.total()} cases, {outcomes}, {seconds:.0f} s", flush=True)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
