"""Force laws that the file names and nobody asked for: recognised where the record has them."""

from dataclasses import replace

import numpy as np
import pytest

from basepar_core.base import extend, symbolic
from basepar_core.dynamics.closure import prepare
from basepar_core.files import loads
from basepar_core.identification.declared import declared
from basepar_core.identification.procedure import Choices, identify
from basepar_core.identification.recorded_reduction import reduce_record
from basepar_core.identification.simulated import motion_of, simulate

from .test_exchanges import ARM, NO_VALUES, NONE

SPRING = ARM + (
    "springs: {S: {connects: [ground, fore], at: [[0.2, 0.3], [l2, 0]], stiffness: 40 N/m, "
    "rest: 0.1 m}}\n"
)
TURNING = ARM + "springs: {back: {joint: shoulder, stiffness: 0.5 N*m/rad, rest: 0 rad}}\n"
GUESSES = {"unexplained", "unlike the file", "above noise", "correlated", "outliers"}


def record_of(text, words=(), seed=1):
    made = prepare(loads(text))
    noise = np.full(2, 0.05)
    columns = declared(made.mechanism, words) if words else ()
    return simulate(made, motion_of(made, "excitation"), noise, 0 * noise, columns, seed)


def found_in(text, record, words=(), **choices):
    model = prepare(loads(text))
    columns = declared(model.mechanism, words) if words else ()
    return identify(model, record, columns=columns, choices=Choices(**choices))


@pytest.fixture(scope="module")
def rubbing():
    return record_of(ARM, ["friction"])


@pytest.mark.parametrize("text", [ARM, NO_VALUES, NONE], ids=["file", "no values", "no inertias"])
def test_friction_is_the_first_note(rubbing, text):
    """With the errors that both runs print, and no guesses besides."""
    found, better = found_in(text, rubbing), found_in(text, rubbing, ["friction"])
    first, *others = found.notes
    assert (first.kind, first.text) == (
        "omitted",
        f"the file names friction of shoulder, elbow; with its columns the torque error is "
        f"{better.training.error:.2%} instead of {found.training.error:.2%}: add `with=friction`",
    )
    assert not GUESSES & {note.kind for note in others}
    assert not [note for note in better.notes if note.kind == "omitted"]


@pytest.mark.parametrize(
    "choices",
    [
        {"method": "irls"},
        {"method": "iv"},
        {"lowpass": 10.0},
        {"essential": True},
        {"method": "ols"},
    ],
    ids=str,
)
def test_however_it_is_identified(rubbing, choices):
    assert found_in(ARM, rubbing, **choices).notes[0].kind == "omitted"


def test_what_is_left_of_a_section(rubbing):
    found = found_in(ARM, rubbing, ["viscous"])
    assert found.notes[0].text.startswith("the file names shoulder.coulomb, elbow.coulomb; with")


@pytest.mark.parametrize("words", [["springs"], ["friction"], ["friction", "springs"]], ids=str)
def test_sections_with_values_are_all_proposed(words):
    """They are in the machine, whichever of them a record shows by itself."""
    note = found_in(SPRING, record_of(SPRING, words)).notes[0]
    assert note.kind == "omitted"
    assert note.text.endswith("add `with=friction,springs`")


@pytest.mark.parametrize("words", [["springs"], ["friction"], ["friction", "springs"]], ids=str)
def test_the_shortest_list_of_sections_without_values(words):
    """Springs alone, friction alone, or both, as they are in the record."""
    bare = NO_VALUES + SPRING.removeprefix(ARM).replace("stiffness: 40 N/m, ", "")
    note = found_in(bare, record_of(SPRING, words)).notes[0]
    assert note.kind == "omitted"
    assert note.text.endswith(f"add `with={','.join(words)}`")


def test_a_spring_that_the_motion_hardly_tells():
    """Gravity takes most of its torque: the error is small without it, parameters are wrong."""
    record = record_of(TURNING, ["friction", "springs"])
    for words, kind in (([], "omitted"), (["friction"], "left out")):
        note = found_in(TURNING, record, words).notes[0]
        assert note.kind == kind
        assert note.text.endswith("add `with=friction,springs`")
    assert note.text.startswith("the file's spring back (0.5 N m/rad) is not in the model")
    found = found_in(TURNING, record, ["friction", "springs"])
    assert not {"omitted", "left out"} & {one.kind for one in found.notes}


def test_force_laws_with_values_that_are_left_out():
    """Beside others that were asked for, always; else unless the file agrees without them."""
    model = prepare(loads(TURNING))
    base, friction = symbolic(model), declared(model.mechanism, ["friction"])
    plain, sprung = record_of(TURNING), record_of(TURNING, ["springs"])
    for record, columns, is_noted in (
        (plain, (), False),
        (plain, friction, True),
        (sprung, (), True),
    ):
        known = extend(model, base, columns) if columns else base
        kinds = {note.kind for note in identify(model, record, columns=columns).notes}
        reduced = reduce_record(model, known, record, columns=columns).document()["notes"]
        assert ("left out" in kinds) == is_noted
        assert ("left out" in {note["kind"] for note in reduced}) == is_noted
    for text in (NO_VALUES, TURNING.replace("0.5 N*m/rad", "0 N*m/rad")):
        notes = found_in(text, plain, ["friction"]).notes
        assert "left out" not in {note.kind for note in notes}


def test_guesses_that_contradict_exchanged_columns(rubbing):
    swapped = replace(rubbing, tau=rubbing.tau[::-1], titles={})
    kinds = {note.kind for note in found_in(ARM, swapped, ["friction"]).notes}
    assert "exchanged" in kinds
    assert not {"scale", "sign", "unlike the file"} & kinds


@pytest.mark.parametrize("seed", range(1, 9))
def test_no_note_of_friction_that_is_not_there(seed):
    """Neither of noise as stated, nor of ten times as much."""
    record = record_of(ARM, seed=seed)
    noise = np.random.default_rng(seed).normal(0, 0.5, record.tau.shape)
    louder = replace(record, tau=record.tau + noise)
    for one in (record, louder):
        assert "omitted" not in {note.kind for note in found_in(ARM, one).notes}


def test_no_note_where_something_else_is_wrong():
    """Wrong lengths, a zero far off, a sign or unit: friction explains little of it."""
    record = record_of(ARM)
    wrong = ARM.replace("l1: {value: 0.3", "l1: {value: 0.6")
    assert "omitted" not in {note.kind for note in found_in(wrong, record).notes}
    for shift in (0.3, 1.0):
        off = replace(record, q=record.q + np.array([[0.0], [shift]]))
        assert "omitted" not in {note.kind for note in found_in(NONE, off).notes}
    turned = replace(record_of(ARM, ["friction"]), tau=-record_of(ARM, ["friction"]).tau)
    assert "omitted" not in {note.kind for note in found_in(NONE, turned).notes}


def test_reduction_says_the_same(rubbing):
    model = prepare(loads(ARM))
    base = symbolic(model)
    notes = reduce_record(model, base, rubbing).document()["notes"]
    assert notes[0]["kind"] == "omitted"
    assert notes[0]["text"].endswith("add `with=friction`")
    assert not GUESSES & {note["kind"] for note in notes}
    columns = declared(model.mechanism, ["friction"])
    with_them = reduce_record(model, extend(model, base, columns), rubbing, columns=columns)
    assert "omitted" not in {note["kind"] for note in with_them.document()["notes"]}
