"""Half of the samples by another process: the same numbers, its errors, and its death."""

import os
import signal
from dataclasses import replace

import pytest

from basepar_core.api import load
from basepar_core.base.precise_route import precise
from basepar_core.dynamics.closure import prepare
from basepar_core.variable_precision.companion import Companion, companion
from basepar_core.variable_precision.krawczyk import NotClosedError
from basepar_core.variable_precision.observation import variant

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of processes here")


@pytest.mark.parametrize("name", ["four-bar", "sla-suspension", "parallelogram", "gripper"])
def test_the_same_document(name):
    """Also where equations are redundant, and chosen at the first sample."""
    model = prepare(load(name))
    assert precise(model, None, 40, shared=True).document() == precise(model, None, 40).document()


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


def test_it_ends_with_its_block():
    with companion(abs) as made:
        if made is None:
            pytest.skip("one core")
        made.ask(-2)
        assert made.answer() == 2
    assert made._process.exitcode is not None
