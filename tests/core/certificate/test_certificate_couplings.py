"""Certificates of mechanisms with couplings and screws, and forged ones.

The maker has a coupling's rows from twists, the checker from quadratic forms in natural
coordinates: that a determinant comes out alike to 18 digits is what says both are right. Ranks
are those counted by hand in the library's files, or by `energy_rank`: eighty digits of energies.
"""

import copy
import json
from functools import cache

import pytest

from basepar_core.api import load
from basepar_core.base.symbolic_route import symbolic
from basepar_core.certificate import checker
from basepar_core.certificate.checker import RejectedError, digest
from basepar_core.certificate.checker.exact import Field
from basepar_core.certificate.checker.expressions import MalformedError
from basepar_core.certificate.description import described
from basepar_core.certificate.make import certify, verify
from basepar_core.dynamics.closure import prepare
from basepar_core.files import loads
from tests.core.certificate.test_certificate import altered, free_text, leaves, put
from tests.core.dynamics.test_couplings import ARM, BELT, DIFFERENTIAL, GEARS, PHASED
from tests.oracles.energy_rank import energy_rank

#: The jack's guide is a prismatic joint, which locks what the spindle locks already; here the
#: table is kept from turning by a coupling, and nothing is determined twice.
GUIDED = (
    load("screw-jack")
    .source.replace(
        "  G: {type: prismatic, connects: [ground, table], at: [[0, 0, h], [0, 0, 0]]}\n", ""
    )
    .replace(
        "coordinates: [N.2]", "couplings: {guide: {values: {N.2: 1, B: 1}}}\ncoordinates: [N.2]"
    )
)
STATES = (
    "excitation: {kind: states, samples: 24, seed: 1, amplitude: {A: 0.3 rad}, frequency: 1 Hz}"
)
#: More than a turn from zero; and a ratio that `altered` changes in the file's text.
WOUND = GEARS.replace("A: 0.3 rad", "A: 400 deg").replace("{value: 2.5}", "{value: 0.7}")
#: The four-bar of the library with a flywheel geared to its rocker.
FLYWHEEL = (
    load("four-bar")
    .source.replace(
        "joints:\n",
        "joints:\n  F: {type: revolute, connects: [ground, flywheel], at: [[2, 1/2], [0, 0]]}\n",
    )
    .replace(
        "bodies:\n", "bodies:\n  flywheel: {mass: 1 kg, centre: [0, 0], central_inertia: 1}\n"
    )
    .replace("\ncoordinates:", "\ncouplings: {mesh: {values: {F: 3, D: 2}}}\ncoordinates:")
)
FLAT_GEARS = GEARS.replace("gravity: [0, -9.81]", "gravity: [0, 0]")
TEXTS = {
    "guided": GUIDED,
    "gears": GEARS,
    "wound": WOUND,
    "arm": ARM,
    "belt": BELT + STATES,
    "differential": DIFFERENTIAL,
    "flywheel": FLYWHEEL,
    "phased": PHASED,
}
#: The gripper's null vector of its mirror image, and two of a belt that turns by half a turn, are
#: of the file's own numbers; a table that a coupling keeps from turning, and the differential's
#: spider on its cage, follow from no rule.
GRADES = {
    "gripper": "numerical",
    "belt": "numerical",
    "guided": "probability",
    "differential": "probability",
}
#: As counted by hand in their files (tests/core/base/test_library.py).
LIBRARY = {"planetary-gear": 9, "gripper": 7, "rack-steering": 42}


@cache
def _made(name):
    model = prepare(loads(TEXTS[name]) if name in TEXTS else load(name))
    rank = LIBRARY[name] if name in LIBRARY else energy_rank(model).rank
    return rank, json.loads(json.dumps(certify(model, symbolic(model))))


def made(name):
    """The rank, and a certificate as it comes back from a file."""
    rank, document = _made(name)
    return rank, copy.deepcopy(document)


def resealed(document):
    return document | {"digest": digest(document)}


def rejected(document, where="", check=verify):
    """Assert that a document is rejected although its digest is right; why."""
    with pytest.raises(RejectedError) as caught:
        check(resealed(document))
    assert caught.value.where.startswith(where), caught.value
    return str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(n, marks=pytest.mark.slow) if n in ("arm", "wound") else n for n in TEXTS),
        "planetary-gear",
        pytest.param("gripper", marks=pytest.mark.slow),
        pytest.param("rack-steering", marks=pytest.mark.slow),  # 25 s
    ],
)
def test_confirmed(name):
    rank, document = made(name)
    verdict = verify(document)
    assert (verdict.rank, verdict.grade) == (rank, GRADES.get(name, "theorem"))
    assert verdict.vanish >= 30


def test_whole_turns_are_stated():
    # A is a turn and 40 deg, and B = (A - 0.2 rad)/0.7.
    _, document = made("wound")
    assert document["at_least"]["values"] == {"A": "6.981317", "B": "9.687596"}


def test_certificates_without_couplings_have_no_new_keys():
    model = prepare(load("four-bar"))
    document = certify(model, symbolic(model))
    assert "couplings" not in document["mechanism"]
    assert "values" not in document["at_least"]


#: Weightless: the upper arm's mass goes up the screw and round it, p = (18 mm)/(2 π) a radian, and
#: counts with the nut's inertia in a share that has π² in it.
SCREW_ARM = """
name: screw arm
space: spatial
gravity: [0, 0, 0]
bodies: {nut: {}, upper: {}, lower: {}}
joints:
  N: {type: screw, connects: [ground, nut], pitch: 18 mm}
  A: {type: revolute, connects: [nut, upper], at: [[1.1, -0.6, 0.6], [0, 0, 0]],
      axis: [[1, 0, 0], [1, 0, 0]]}
  B: {type: revolute, connects: [upper, lower], at: [[-0.6, 1.2, -1], [0, 0, 0]],
      axis: [[0, 1, 0], [0, 1, 0]]}
coordinates: [N.2, A, B]
excitation: {kind: states, samples: 44, seed: 1, frequency: 1 Hz,
             amplitude: {N.2: 0.3 rad, A: 0.3 rad, B: 0.3 rad}}
"""


def test_a_vector_that_is_rounded_is_left_out():
    """The route's own entry is a float: null to 16 digits, and no statement of a certificate."""
    model = prepare(loads(SCREW_ARM))
    base = symbolic(model)
    assert base.rank == energy_rank(model).rank == 15
    document = json.loads(json.dumps(certify(model, base)))
    verdict = verify(document)
    assert (document["at_least"]["rank"], document["at_most"]["rank"]) == (15, 16)
    assert (verdict.rank, verdict.grade) == (None, "numerical")


# Forged.


def test_another_coefficient():
    """Not seen at zero, where all gears are: the rates tell."""
    _, document = made("planetary-gear")
    document["mechanism"]["couplings"][0]["values"]["P1"] = "(zp + 1/997)"
    rejected(document, "mechanism")
    rejected(document, "at_", checker.check)


def test_another_coefficient_in_file_and_certificate_alike():
    _, document = made("wound")
    text = document["mechanism"]["text"].replace("B: -n}", "B: -2*n}")
    assert text != document["mechanism"]["text"]
    document["mechanism"] = described(loads(text), ["n"])
    rejected(document, "at_")


@pytest.mark.parametrize("name", ["planetary-gear", "gripper", "guided"])
def test_a_dropped_coupling(name):
    _, document = made(name)
    document["mechanism"]["couplings"].pop()
    rejected(document, "mechanism")
    rejected(document, "at_", checker.check)


def test_a_dropped_coupling_in_file_and_certificate_alike():
    _, document = made("gripper")
    mechanism = document["mechanism"]
    lines = mechanism["text"].splitlines(keepends=True)
    kept = [line for line in lines if "mimic:" not in line and "couplings:" not in line]
    mechanism["text"] = "".join(kept).replace("coordinates: [W, L]", "coordinates: [W, L, R]")
    del mechanism["couplings"]
    rejected(document, "mechanism")


@pytest.mark.parametrize("name", ["belt", "wound", "guided"])
def test_another_offset(name):
    """The stated pose, or the stated angles, are then those of another mechanism."""
    _, document = made(name)
    document["mechanism"]["couplings"][-1]["offset"] = "(1/10)"
    rejected(document, "at_least", checker.check)


def test_another_number_of_turns():
    """B turns by more than a whole number of turns when A makes one."""
    _, document = made("wound")
    document["at_least"]["values"]["A"] = "0.698132"  # 40 deg instead of 400 deg
    assert "no box" in rejected(document, "at_least")
    document["at_least"]["values"]["B"] = f"{9.687596 - 6.283185 / 0.7:.6f}"
    rejected(document, "at_least")


def test_turns_that_are_not_the_files():
    """A true statement, of an assembly a turn before: not *this branch* of the file."""
    _, document = made("wound")
    before = prepare(loads(WOUND.replace("A: 400 deg", "A: 40 deg")))
    other = json.loads(json.dumps(certify(before, symbolic(before))))
    document["at_least"] = other["at_least"]
    assert "coupled angle A is 6.28 rad" in rejected(document, "at_least.pose")


def test_values_that_are_none():
    _, document = made("wound")
    values = document["at_least"]["values"]
    for forged in (
        values | {"A": "6.981318"},
        values | {"A": "6.98"},
        values | {"A": "6.9813170079"},
        {"A": values["A"]},
        values | {"C": "0.000000"},
        {},
    ):
        document["at_least"]["values"] = forged
        rejected(document, "at_least")
    del document["at_least"]["values"]
    rejected(document, "at_least")


@pytest.mark.parametrize(
    ("name", "entry", "forged"),
    [
        ("gears", "wheel.J", "n**2 + 1/997"),
        ("gears", "wheel.J", "n"),
        ("planetary-gear", "carrier.J", "4*(zp + zs)**2 + zs"),
        ("differential", "spider.Iyy", "2*k**2"),
    ],
)
def test_a_null_vector_of_another_ratio(name, entry, forged):
    _, document = made(name)
    vector = _of_couplings(document, entry)
    vector["entries"][entry] = forged
    why = rejected(document, "at_most")
    assert ("does not vanish at a random point" if "bits" in vector else "depends on it") in why


def _of_couplings(document, entry):
    return next(
        one
        for one in document["at_most"]["vectors"]
        if entry in one["entries"] and "joint" not in one
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rule": "gears"}, "there is no rule 'gears'"),
        ({"reason": "inertia of pinion, whose speeds couplings tie"}, "not what its reason says"),
        ({"reason": ""}, "not what its reason says"),
        ({"joint": "A"}, "keys missing or unknown"),
    ],
)
def test_a_theorem_of_another_rule(change, message):
    _, document = made("gears")
    vector = _of_couplings(document, "wheel.J")
    vector |= change
    assert message in rejected(document, "at_most")


def test_a_joints_vector_by_couplings():
    """True, and of another rule."""
    _, document = made("gears")
    vector = next(one for one in document["at_most"]["vectors"] if "joint" in one)
    del vector["joint"]
    bodies = ", ".join(dict.fromkeys(name.rpartition(".")[0] for name in vector["entries"]))
    vector |= {"rule": "couplings", "reason": f"inertia of {bodies}, whose speeds couplings tie"}
    rejected(document, "at_most")


def test_an_entry_without_effect_is_no_part_of_a_theorem():
    """Where gravity is parallel to its axis, the pinion's first moments are felt by nobody."""
    text = FLAT_GEARS
    model = prepare(loads(text))
    document = json.loads(json.dumps(certify(model, symbolic(model))))
    assert verify(document).grade == "theorem"
    vector = _of_couplings(document, "wheel.J")
    vector["entries"]["wheel.mx"] = "1"
    assert "no energy of the coupled speeds" in rejected(document, "at_most")


def test_a_coupled_vector_as_probability():
    """Weaker, and confirmed by another way: at random points, with their own ratios."""
    _, document = made("gears")
    vector = _of_couplings(document, "wheel.J")
    del vector["rule"]
    entries = {"pinion.J": "1", "wheel.J": "-n**2"}
    vector |= {"grade": "probability", "bits": 100, "entries": entries}
    upper = document["at_most"]
    upper |= {"grade": "probability", "scope": "generic geometry"}
    document["grade"] = "probability"
    assert verify(resealed(document)).grade == "probability"
    vector["entries"]["wheel.J"] = "-n**2 - 1/997"
    assert "does not vanish at a random point" in rejected(document, "at_most")


def test_a_vector_that_an_offset_makes_is_of_no_family():
    """Half a turn is this file's own: *numerical*, and not *probability*."""
    _, document = made("belt")
    upper = document["at_most"]
    vector = next(one for one in upper["vectors"] if one["grade"] == "numerical")
    vector |= {"grade": "probability", "bits": 100}
    assert "does not vanish at a random point" in rejected(document, "at_most")


@pytest.mark.parametrize("name", ["gears", "gripper"])
@pytest.mark.parametrize("step", [-1, 1])
def test_a_rank_one_off(name, step):
    _, document = made(name)
    for part in ("at_least", "at_most"):
        document[part]["rank"] += step
    rejected(document, "at_")


def test_a_rank_one_lower_by_a_vector_more():
    """A vector of one inertia alone, and the minor a row and a column smaller."""
    _, document = made("gears")
    upper, lower = document["at_most"], document["at_least"]
    vector = {"grade": "numerical", "reason": "seen", "entries": {"pinion.J": "1"}}
    scope = "this geometry and branch"
    vectors = [*upper["vectors"], vector]
    upper |= {"vectors": vectors, "rank": upper["rank"] - 1, "grade": "numerical", "scope": scope}
    lower["rank"] -= 1
    for key in ("rows", "columns"):
        lower["minor"][key].pop()
    document["grade"] = "numerical"
    rejected(document, "at_")


@pytest.mark.parametrize(
    "forged",
    [
        {"name": "mesh", "values": {"A": "1", "Z": "1"}, "offset": "0"},
        {"name": "mesh", "values": {"A": "1", "B.2": "1"}, "offset": "0"},
        {"name": "mesh", "values": {}, "offset": "0"},
        {"name": "mesh", "values": {"A": "1", "B": "1"}},
        {"name": "mesh", "values": {"A": "1", "B": "n/0"}, "offset": "0"},
        {"name": "mesh", "values": {"A": "1", "B": "__import__('os')"}, "offset": "0"},
        [],
    ],
)
def test_no_coupling_at_all(forged):
    _, document = made("gears")
    document["mechanism"]["couplings"] = [forged]
    rejected(document, "", checker.check)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wound", "guided"])
def test_any_leaf_changed_is_rejected(name):
    _, document = made(name)
    accepted = []
    for path, value in leaves(document):
        if path == ("digest",) or free_text(document, path):
            continue
        forged = altered(value)
        if forged == value:  # a text without the number that is changed
            continue
        try:
            verify(resealed(put(document, path, forged)))
        except RejectedError:
            continue
        accepted.append(path)
    # One inertia turns: of two rows of one sample the difference counts, and no other sample's
    # motion does (docs/certificate.md).
    assert {path[-2] for path in accepted} <= {"rates", "accelerations"}


def test_pi_is_a_variable():
    """A rational number near it is another one; what holds for every number holds for it."""
    field = Field({})
    assert not (field.numbers.of("pi - 355/113")).is_zero()
    assert (field.numbers.of("pi*(1/pi) - 1")).is_zero()
    with pytest.raises(MalformedError, match="pi"):
        Field({"pi": {"angle": False, "relation": None, "value": "3"}})
