"""Null vectors as identities: right ones pass, wrong ones are caught, bounds are honest."""

from functools import cache

import numpy as np
import pytest

from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics import closure
from basepar_core.dynamics.closure import Model
from basepar_core.files import mechanism_file
from basepar_core.finite_field.arithmetic import random_prime
from basepar_core.finite_field.bounds import error_bits
from basepar_core.finite_field.detection import Branch, detect
from basepar_core.finite_field.family_component import Component, find_component
from basepar_core.finite_field.identities import check_identities
from basepar_core.finite_field.sizes import Size
from basepar_core.symbolic.field import GeometryField
from basepar_core.symbolic.joint_rules import NullVector, Transfers, joint_vectors
from tests.mechanisms import PARALLELOGRAM_BY_VALUE

LIBRARY = mechanism_file.library_names()


@cache
def prepared(name: str) -> tuple[Model, GeometryField, list[NullVector], Component]:
    model = closure.prepare(mechanism_file.load(name))
    field = GeometryField.of(model.mechanism)
    transfers = Transfers(model.mechanism, field)
    vectors = [*joint_vectors(transfers), *detect(transfers, Branch(model))]
    return model, field, vectors, find_component(model)


@pytest.mark.parametrize("name", LIBRARY)
def test_joint_rules_and_what_was_seen_pass(name):
    """Theorems pass as they must; on the parallelogram's component so do seen relations."""
    model, field, vectors, component = prepared(name)
    entries = [vector.entries for vector in vectors]
    tests = check_identities(model, entries, component=component, field=field)
    assert all(test.passed for test in tests)
    # Another implementation's hand formula gave 2⁻⁴³ to 2⁻⁴⁸ a point.
    assert all(90 <= test.bits <= 3 * 61 for test in tests)
    assert len(set(tests[0].primes)) == 3


@pytest.mark.parametrize("name", LIBRARY)
def test_expressions_count_as_elements_do(name):
    """The same vectors as expression trees, as a certificate has them."""
    model, field, vectors, component = prepared(name)
    trees = [{k: field.to_expression(x) for k, x in v.entries.items()} for v in vectors]
    tests = check_identities(model, trees, points=1, component=component)
    assert all(test.passed for test in tests)
    assert all(20 <= test.bits <= 61 for test in tests)


@pytest.mark.parametrize("name", LIBRARY)
def test_corrupted_vectors_are_caught(name):
    """One coefficient wrong by 1/997, of every parameter that has an effect of its own."""
    model, field, vectors, component = prepared(name)
    idle = set(symbolic(model, exact=False).no_effect)
    wrong = []
    for vector in vectors:
        for k in sorted(vector.entries.keys() - idle):
            entries = dict(vector.entries)
            entries[k] = entries[k] + field.one / 997
            wrong.append(entries)
    tests = check_identities(model, wrong, points=1, component=component, field=field)
    assert wrong
    assert not any(test.passed for test in tests)
    # An entry that no motion notices is no error.
    if idle:
        none = [{k: field.one} for k in sorted(idle)]
        assert all(
            test.passed for test in check_identities(model, none, component=component, field=field)
        )


def test_a_wrong_symbol_is_caught():
    """Right but for a length that is another's."""
    _, field, vectors, _ = prepared("four-bar")
    text = mechanism_file.load("four-bar").source
    other = closure.prepare(
        mechanism_file.loads(text.replace("[[lx1, 0], [0, 0]]", "[[lx3, 0], [0, 0]]"))
    )
    entries = [vector.entries for vector in vectors]
    tests = check_identities(other, entries, field=field)
    assert [test.passed for test in tests].count(False) == 1


def test_what_holds_by_relations_fails_without_them():
    """The parallelogram's vectors are none of the four-bar with lengths of other names."""
    model, field, vectors, _ = prepared("parallelogram")
    text = model.mechanism.source
    text = text.replace("lx1: {value: 0.4", "lx3: {value: 0.4, unit: m}\n  lx1: {value: 0.4")
    text = text.replace("[lx1, 0]]}\ncoordinates", "[lx3, 0]]}\ncoordinates")
    other = closure.prepare(mechanism_file.loads(text))
    seen = [
        {k: field.to_expression(x) for k, x in vector.entries.items()}
        for vector in vectors
        if vector.grade != "theorem"
    ]
    assert seen
    assert not any(test.passed for test in check_identities(other, seen))


def test_the_same_seed_is_the_same_test():
    model, field, vectors, component = prepared("rsur")
    one, two, three = (
        check_identities(model, [vectors[0].entries], seed=seed, component=component, field=field)
        for seed in (5, 5, 6)
    )
    assert one == two
    assert one[0].primes != three[0].primes


def test_other_vectors_have_other_points():
    """Points are drawn once the vectors are given: none can be made to vanish there."""
    model, field, vectors, component = prepared("rsur")
    first, second = (
        check_identities(model, [v.entries], component=component, field=field)[0]
        for v in vectors[:2]
    )
    assert not set(first.primes) & set(second.primes)
    trees = [{k: field.to_expression(x) for k, x in vectors[0].entries.items()}]
    again = check_identities(model, trees, component=component)[0]
    assert not set(first.primes) & set(again.primes)  # the same vector, but not the same text


def test_points_are_recorded_and_repeat():
    """What --json has of the points draws their primes again."""
    stated = symbolic(closure.prepare(mechanism_file.load("parallelogram"))).certificate.document()
    assert [len(stated[side]["points"]) for side in ("at_least", "at_most")] == [2, 3]
    for point in stated["at_least"]["points"] + stated["at_most"]["points"]:
        rng = np.random.default_rng([int(x) for x in point["seed"]])
        assert str(random_prime(rng)) == point["prime"]
    plain = symbolic(closure.prepare(mechanism_file.load("four-bar"))).certificate.document()
    assert len(plain["at_least"]["points"]) == 2
    assert "points" not in plain["at_most"]  # theorems need none


def test_error_bits():
    """Degree over p, and bad primes among those of 62 bits; whichever is worse."""
    assert error_bits(Size(2.0**20, 0.0), 1.0) == pytest.approx(40.0, abs=0.01)
    # 2⁶¹/(62 ln 2) primes of 62 bits at least; a coefficient of 61·2²⁰ bits has 2²⁰ of them.
    assert error_bits(Size(0.0, 61.0 * 2**20), 1.0) == pytest.approx(61 - 5.425 - 20 - 1, abs=0.01)
    assert error_bits(Size(2.0**20, 0.0), 4.0) == pytest.approx(36.0, abs=0.01)


def test_grades_and_reasons():
    """Seen relations earn a probability, with its exponent in the reason."""
    base = symbolic(closure.prepare(mechanism_file.load("parallelogram")))
    grades = {vector.grade for vector in base.certificate.vectors}
    assert grades == {"theorem", "probability"}
    seen = [v for v in base.certificate.vectors if v.grade == "probability"]
    assert all("error ≤ 2^-" in vector.reason for vector in seen)
    assert base.certificate.grade == "probability"
    plain = symbolic(closure.prepare(mechanism_file.load("parallelogram")), exact=False)
    assert {vector.grade for vector in plain.certificate.vectors} == {"theorem", "numerical"}
    assert plain.certificate.at_least_grade == "numerical"


def test_a_refuted_vector_is_marked_and_doubted(monkeypatch):
    """What W of this geometry has, and random members of the family have not.

    The coupler does not turn here, so that its second moment has no effect; of four lengths it
    turns, and the generic rank is 8.
    """
    model = closure.prepare(mechanism_file.loads(PARALLELOGRAM_BY_VALUE))
    moment = model.mechanism.parameter_names.index("coupler.J")

    def seen(transfers, _):
        return [NullVector({moment: transfers.field.one}, "numerical", "coupler does not turn")]

    monkeypatch.setattr("basepar_core.base.symbolic_route.detect", seen)
    monkeypatch.setattr("basepar_core.base.symbolic_route.suffice", lambda *_: False)
    base = symbolic(model, own=False)
    assert (base.rank, base.certificate.at_most_grade) == (7, "numerical")
    assert "the rank over finite fields is 8, the null vectors allow 7" in base.doubt
    (vector,) = (v for v in base.certificate.vectors if v.grade == "numerical")
    assert "coupler does not turn" in vector.reason
    assert "does not vanish on the family" in vector.reason
    assert base.certificate.at_least_grade == "numerical"
