"""Symbolic base parameters of mechanisms that state no excitation."""

from dataclasses import replace

import numpy as np
import pytest

from basepar_core.base import nearby_observation, symbolic
from basepar_core.dynamics import closure, nearby_states, sampling
from basepar_core.errors import MissingDataError
from basepar_core.files import mechanism_file

#: Numbers of base parameters from the files' descriptions: counted on paper or in publications.
COUNTS = {"four-bar": 8, "bicycle": 7, "parallelogram": 3, "rsur": 12, "ur5": 36}


def without_excitation(name):
    return closure.prepare(replace(mechanism_file.load(name), excitation=None))


@pytest.mark.parametrize("name", COUNTS)
def test_small_states_see_what_an_excitation_sees(name):
    """`rsur` needs detection, `parallelogram` is special, `bicycle` and `ur5` have no loops."""
    bare = without_excitation(name)
    found = symbolic(bare, own=False, seen=nearby_observation(bare))
    stated = symbolic(closure.prepare(mechanism_file.load(name)), own=False)
    assert found.rank == COUNTS[name]
    assert not found.doubt
    assert found.kept == stated.kept
    assert [entry.text for entry in found.beta] == [entry.text for entry in stated.beta]


def test_states_stay_where_the_loops_follow():
    """Four degrees before a double rocker's crank is stopped; the stop is on paper."""
    crank, ground, rest = 2.0, np.hypot(1.0, 0.1), np.hypot(0.7, 1.1) + 1.3
    cosine = (crank**2 + ground**2 - rest**2) / (2 * crank * ground)  # coupler and rocker in line
    stop = np.arccos(cosine) + np.arctan2(0.1, 1.0)
    text = mechanism_file.load("four-bar").source.replace(
        "value: 0.3, unit: m, bounds: [0.2, 1.5]", "value: 2, unit: m"
    )
    begin = f"assembly: {{A: {np.degrees(stop) - 4} deg"
    mechanism = mechanism_file.loads(text.replace("assembly: {A: 34 deg", begin))
    model = closure.prepare(replace(mechanism, excitation=None))
    far = (nearby_states(model).q - model.assembled.coordinates).max()
    assert 0.2 * np.radians(4) < far < np.radians(4)
    assert symbolic(model, own=False, seen=nearby_observation(model)).rank == 8


def test_who_asks_for_a_rank_must_state_an_excitation():
    with pytest.raises(MissingDataError, match="states no excitation"):
        symbolic(without_excitation("four-bar"), own=False)
    stated = closure.prepare(mechanism_file.load("four-bar"))
    assert sampling(stated).t.size == 64  # the file's
