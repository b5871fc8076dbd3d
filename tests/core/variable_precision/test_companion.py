"""Half of the samples by another process: the same numbers, its errors, and its death."""

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from basepar_core.api import load
from basepar_core.base.precise_route import precise
from basepar_core.dynamics.closure import prepare
from basepar_core.variable_precision.companion import Companion, companion
from basepar_core.variable_precision.krawczyk import NotClosedError
from basepar_core.variable_precision.observation import Variant, variant

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of processes here")


#: In a process of its own: one that runs tests may have other threads.
SHARED = """
import json, sys
from basepar_core.api import load
from basepar_core.base.precise_route import precise
from basepar_core.dynamics.closure import prepare
from basepar_core.variable_precision.companion import companion

with companion(abs) as made:
    if made is not None:
        made.ask(-2)
        assert made.answer() == 2
assert made is None or made._process.exitcode is not None
documents = [precise(prepare(load(name)), None, 40, True).document() for name in sys.argv[1:]]
print(json.dumps([made is not None, *documents]))
"""


def test_the_same_documents():
    """Also where equations are redundant, and chosen at the first sample."""
    names = ["four-bar", "sla-suspension", "parallelogram", "gripper"]
    run = subprocess.run(
        [sys.executable, "-c", SHARED, *names], capture_output=True, text=True, check=True
    )
    copied, *found = json.loads(run.stdout)
    assert copied or len(os.sched_getaffinity(0)) < 2
    alone = [precise(prepare(load(name)), None, 40).document() for name in names]
    assert found == json.loads(json.dumps(alone))


@pytest.mark.parametrize("form", ["W", "modes"])
def test_the_same_matrix_to_more_digits(form):
    one = variant(prepare(load("3-rps")), {})
    made = Companion(one.closed)
    try:
        other = replace(one, companion=made)
        for digits in (30, 45):
            other.ahead(digits, form)  # nothing begun, or another share
            if digits == 45:
                other.ahead(60, form)  # not asked for afterwards
            here, there = one.observe(digits, form), other.observe(digits, form)
            assert there.entries == here.entries
            assert (there.scale, there.proved) == (here.scale, here.proved)
            assert there.radius <= 2 * here.radius  # boxes are as wide as the last sample's
    finally:
        made.close()


def test_an_error_of_the_other_process():
    made = Companion(_fails)
    try:
        made.ask(3)
        with pytest.raises(NotClosedError, match="sample 3 stays open") as caught:
            made.answer()
        assert caught.value.where == ("excitation",)
        made.ask(4)
        with pytest.raises(NotClosedError, match="sample 4"):
            made.answer()
    finally:
        made.close()


def _fails(sample):
    raise NotClosedError(f"sample {sample} stays open", ["excitation"])


def test_its_death_costs_time_only():
    one = variant(prepare(load("four-bar")), {})
    made = Companion(one.closed)
    os.kill(made._process.pid, signal.SIGKILL)
    try:
        found = replace(one, companion=made).observe(30)
    finally:
        made.close()
    assert found.entries == one.observe(30).entries


def test_an_answer_that_nobody_took():
    made = Companion(abs)
    try:
        made.ask(-1)
        made.ask(-2)
        assert made.answer() == 2
        made.ask(-2)  # taken, so asked once more
        assert made.answer() == 2
    finally:
        made.close()


def test_an_interrupt_waits_for_nobody(monkeypatch):
    """The other process never answers: to wait for it would never end."""

    def interrupted(*_):
        raise KeyboardInterrupt

    one = variant(prepare(load("four-bar")), {})
    made = Companion(lambda *_: signal.pause())
    monkeypatch.setattr(Variant, "closed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace(one, companion=made).observe(30)
    made.close()
    assert made._process.exitcode == -signal.SIGTERM


def test_none_beside_another_thread():
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        with companion(abs) as made:
            assert made is None
    finally:
        done.set()
        other.join()
