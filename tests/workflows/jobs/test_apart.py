"""A computation that no signal reaches is ended all the same, and says what it was at."""

import itertools
import signal
import subprocess
import sys
import warnings

import pytest

from basepar_core.base import BaseParameters
from basepar_core.errors import BaseparError, BaseparWarning, UsageError
from workflows.cli.main import main
from workflows.jobs import TimeOverError, apart, base_routes

#: Loops in C with the interpreter held, as one call of FLINT does: no handler and no thread runs.
DEAF = "sum(itertools.repeat(0))"


def deaf(say):
    say("a call that does not end")
    return sum(itertools.repeat(0))


def test_what_it_returns_says_and_warns_comes_back():
    steps = []

    def job(say):
        say("one")
        warnings.warn("two", BaseparWarning, stacklevel=1)
        return {"three": 3}

    with pytest.warns(BaseparWarning, match="two"):
        assert apart(job, steps.append) == {"three": 3}
    assert steps == ["one"]


def test_what_it_raises_comes_back():
    def job(say):
        raise UsageError("no such thing", ["--eliminate"])

    with pytest.raises(UsageError) as found:
        apart(job, str)
    assert (found.value.message, found.value.where) == ("no such thing", ("--eliminate",))


class Odd(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def test_what_cannot_be_sent_is_told():
    def fails(say):
        raise Odd(1, 2)

    with pytest.raises(RuntimeError, match="Odd: 1 and 2"):
        apart(fails, str)
    with pytest.raises(RuntimeError, match="function cannot be sent"):
        apart(lambda say: lambda: 1, str)


def test_its_end_is_told():
    with pytest.raises(BaseparError, match=r"ended by signal SIGKILL\. Memory may have run out"):
        apart(lambda say: signal.raise_signal(signal.SIGKILL), str)


def test_time_limit_where_no_handler_runs():
    steps = []
    with pytest.raises(TimeOverError, match="at: a call that does not end") as over:
        apart(deaf, steps.append, 1.5)
    assert over.value.step == "a call that does not end"
    assert len(steps) > 1  # and again while it lasts


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_where_no_handler_runs(number):
    program = f"""
import itertools, signal, sys
from workflows.cli.main import main
# Ignored where the tests run in the background of a shell.
signal.signal(signal.SIGINT, signal.default_int_handler)
from workflows.jobs import base_routes
def find(*_, say, **__):
    say("deaf")
    sys.stderr.write("begun\\n"); sys.stderr.flush()
    {DEAF}
base_routes.find = find
sys.exit(main(["base", "four-bar", "--certificate", "never.json", "--json"]))
"""
    run = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stderr is not None
    assert any(line == "begun\n" for line in run.stderr)
    run.send_signal(number)
    said, _ = run.communicate(timeout=60)  # without an end of its own it would never come
    assert run.returncode == 1
    assert '"interrupted"' in said


@pytest.mark.slow
def test_base_within_answers_by_another_route(monkeypatch, tmp_path, capsys):
    """The symbolic route does not end: variable precision answers, with the reason."""
    find = base_routes.find

    def hangs(model, route, *rest, say=str, **more) -> BaseParameters:
        return deaf(say) if route == "symbolic" else find(model, route, *rest, **more)

    monkeypatch.setattr(base_routes, "find", hangs)
    file = tmp_path / "four-bar.json"
    words = ["base", "four-bar", "--certificate", str(file), "--within", "8"]
    assert main([*words, "--with", "viscous"]) == 1
    assert "A.viscous" in capsys.readouterr().out
    assert main(words) == 1
    told = capsys.readouterr()
    assert "8 base parameters of 12, precise route" in told.out
    assert "not done in 8 s; it was at: a call that does not end" in told.err
    assert "precise route's" in told.err
    assert not file.exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--route", "numeric", "--within", "3"], "goes with --route symbolic"),
        (["--within", "0"], "is no time"),
    ],
)
def test_within_that_makes_no_sense(words, why, capsys):
    assert main(["base", "four-bar", *words]) == 2
    assert why in capsys.readouterr().err
