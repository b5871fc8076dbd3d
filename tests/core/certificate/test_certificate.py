"""Certificates: made of what the symbolic route found, and checked by code that shares none of it.

What must be rejected is tampered with in two ways: as it stands, where the digest tells, and with
the digest made anew, where mathematics has to.
"""

import ast
import copy
import json
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from basepar_core.api import load
from basepar_core.base.symbolic_route import symbolic
from basepar_core.certificate import checker
from basepar_core.certificate.checker import RejectedError
from basepar_core.certificate.checker.checking import digest
from basepar_core.certificate.checker.family import FamilyTest, UnconfirmedError
from basepar_core.certificate.description import CertificateError
from basepar_core.certificate.make import certify, verify
from basepar_core.dynamics.closure import prepare
from basepar_core.files.mechanism_file import library_path, loads
from tests.core.dynamics import test_joint_matrix as matrix
from tests.mechanisms import PARALLELOGRAM_BY_VALUE

# Ranks as in tests/core/base/test_symbolic_ranks.py, from the papers and from Pinocchio.
SMALL = {
    "four-bar": (8, "theorem"),
    "slider-crank": (6, "theorem"),
    "five-bar": (11, "theorem"),
    "watt-ii": (13, "theorem"),
    "parallelogram": (3, "probability"),
    "whitworth": (9, "theorem"),
}
LARGE = {
    "rsur": (12, "theorem"),
    "ur10": (36, "theorem"),
    "sla-suspension": (41, "theorem"),
    "stewart-gough": (82, "theorem"),
}


def made_of(mechanism):
    model = prepare(mechanism)
    return json.loads(json.dumps(certify(model, symbolic(model))))


@cache
def _made(name):
    return made_of(load(name))


def made(name):
    """A certificate of a shipped mechanism, as it comes back from a file."""
    return copy.deepcopy(_made(name))


def resealed(document):
    return document | {"digest": digest(document)}


def rejected(document, where=""):
    """Assert that a document is rejected although its digest is right; why."""
    with pytest.raises(RejectedError) as caught:
        verify(resealed(document))
    assert caught.value.where.startswith(where), caught.value
    return str(caught.value)


#: In space, with an angle, an algebraic number, poses, and a joint of which one value is stated.
SKEW = """
name: skew
space: spatial
gravity: [1, 2, -9.81]
geometry: {l: {value: 0.7, unit: m}, t: {value: 20 deg, unit: deg}, r3: {value: sqrt(3)}}
relations: {r3: r3^2 = 3}
bodies: {one: {}, two: {}}
joints:
  A: {type: revolute, connects: [ground, one], axis: [[0, "sin(t)", "cos(t)"], [0, 0, 1]]}
  B: {type: cylindrical, connects: [one, two], at: [[l, 0, 1/3], [0, 0, 0]],
      axis: [[0, 1, r3], [0, 0, 2]], reference: [[1, 0, 0], [1, 0, 0]]}
coordinates: [A, B.1, B.2]
assembly: {B.2: 0.2 rad, bodies: {one: {at: [0, 0, 0], rotation: [-0.35, 0, 0]}}}
excitation:
  {kind: states, samples: 40, seed: 1, amplitude: {A: 1, B.1: 0.1, B.2: 1}, frequency: 1 Hz}
"""

# Made and confirmed.


@pytest.mark.parametrize("name", SMALL)
def test_small_mechanisms(name):
    _confirmed(name, *SMALL[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_large_mechanisms(name):
    _confirmed(name, *LARGE[name])


def _confirmed(name, rank, grade):
    document = made(name)
    verdict = verify(document)
    assert [line["statement"] for line in verdict.statements] == [
        f"rank ≥ {rank}",
        f"rank ≤ {rank}",
    ]
    assert (document["grade"], verdict.grade) == (grade, grade)
    assert verdict.vanish >= 30


def _one_seen_only():
    """A parallelogram, and its base parameters with one of the probable vectors numerical."""
    model = prepare(load("parallelogram"))
    base = symbolic(model)
    vectors = list(base.certificate.vectors)
    place = next(k for k, v in enumerate(vectors) if v.grade == "probability")
    vectors[place] = replace(vectors[place], grade="numerical", reason="seen")
    stated = replace(base.certificate, vectors=tuple(vectors), at_most_grade="numerical")
    return model, replace(base, certificate=stated)


def test_vectors_of_different_grades():
    """One vector seen at this geometry only; the others keep their grades and their relations."""
    model, base = _one_seen_only()
    document = json.loads(json.dumps(certify(model, base)))
    grades = [vector["grade"] for vector in document["at_most"]["vectors"]]
    assert set(grades) == {"theorem", "probability", "numerical"}
    assert document["at_most"]["relations"]
    assert verify(document).grade == "numerical"


def test_vectors_of_different_grades_that_the_checker_finds_no_points_for(monkeypatch):
    """Then what would be probable is numerical too, and nothing is refused."""
    model, base = _one_seen_only()

    def none(*_):
        raise UnconfirmedError("the family has no points")

    monkeypatch.setattr(FamilyTest, "confirm", none)
    document = certify(model, base)
    grades = {vector["grade"] for vector in document["at_most"]["vectors"]}
    assert grades == {"theorem", "numerical"}
    assert document["at_most"]["relations"] == []


def test_same_certificate_every_time():
    assert made_of(load("four-bar")) == made("four-bar")


#: Ranks as the oracles of `test_joint_matrix` count, and of the jack as by hand in its file.
REDUNDANT = {
    "four-bar": (matrix.FLAT, 8),
    "parallelogram": (matrix.PARALLEL, 3),
    "slider-crank": (matrix.SLIDER, 6),
    "Hooke": (matrix.HOOKE, 6),
    "spherical": (matrix.SPHERE, 11),
    "screw jack": (load("screw-jack").source, 2),
}
#: 10 mm and more, along no axis of theirs.
ASIDE = ("1/100", "1/70", "1/50")


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        pytest.param(
            *REDUNDANT[name],
            marks=pytest.mark.slow if name in ("parallelogram", "slider-crank", "Hooke") else (),
            id=name,
        )
        for name in REDUNDANT
    ],
)
def test_constraints_that_follow_from_others_are_left_out(text, rank):
    """Each joint of a planar loop in space locks what the others lock already."""
    document = made_of(loads(text))
    assert verify(document).rank == rank
    # An equation that does not follow is none to leave out: a joint that is moved aside.
    joint = document["mechanism"]["joints"][-1]
    joint["at"][0] = [f"{text} + {off}" for text, off in zip(joint["at"][0], ASIDE, strict=True)]
    with pytest.raises(RejectedError, match="at_least"):
        checker.check(resealed(document))


def test_constraints_that_are_not_seen_to_follow_have_no_certificate():
    """Bennett's linkage moves by its lengths and angles."""
    model = prepare(loads(matrix.BENNETT))
    with pytest.raises(CertificateError, match=r"at_least\.pins, because 38 equations"):
        certify(model, symbolic(model))


# The checker stands alone.


def test_checker_imports_nothing_of_the_maker():
    files = list(Path(checker.__file__).parent.glob("*.py"))
    assert len(files) > 5
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names = {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level <= 1, f"{file.name} imports from outside"
                names = set() if node.level else {node.module.split(".")[0]}
            else:
                continue
            assert names <= {*sys.stdlib_module_names, "flint"}, f"{file.name}: {names}"


def test_checker_runs_without_the_rest(tmp_path):
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(made("four-bar")))
    code = (
        "import json, sys; from basepar_core.certificate.checker import check; "
        f"check(json.load(open({str(file)!r}))); "
        "print(*(m for m in sys.modules if m.startswith('basepar_core.') and '.' in m[13:]"
        " and not m.startswith('basepar_core.certificate.checker') or m in ('numpy', 'sympy')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


# Every leaf.


def leaves(part, path=()):
    """Every leaf of a document with its path."""
    if isinstance(part, dict | list):
        items = part.items() if isinstance(part, dict) else enumerate(part)
        for key, value in items:
            yield from leaves(value, (*path, key))
    else:
        yield path, part


def altered(value):
    """Something else of the same kind; numbers change in their last digit only."""
    if isinstance(value, bool):
        return not value
    if value is None:
        return "x**2 - 3"
    if isinstance(value, int):
        return value + 1
    if "\n" in value:  # the file's text: one of its values
        return value.replace("value: 0.7", "value: 0.71")
    try:
        float(value)
    except ValueError:
        return value + ("*998/997" if any(c in value for c in "*/()") else "x")
    mantissa = value.partition("e")[0]
    last = max(k for k, c in enumerate(mantissa) if c.isdigit())
    return f"{value[:last]}{(int(value[last]) + 1) % 10}{value[last + 1 :]}"


def put(document, path, value):
    found = copy.deepcopy(document)
    part = found
    for key in path[:-1]:
        part = part[key]
    assert part[path[-1]] != value
    part[path[-1]] = value
    return found


def free_text(document, path):
    """Leaves that only the digest protects (docs/certificate.md)."""
    if path == ("program",):
        return True
    vector = document["at_most"]["vectors"][path[2]] if path[:2] == ("at_most", "vectors") else {}
    return path[-1] == "reason" and vector["grade"] != "theorem"


@pytest.mark.parametrize("name", ["four-bar", "parallelogram"])
def test_any_leaf_changed_is_rejected_by_the_digest(name):
    document, count = made(name), 0
    for path, value in leaves(document):
        with pytest.raises(RejectedError):
            checker.check(put(document, path, altered(value)))
        count += 1
    assert count > 200


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four-bar", "parallelogram", "skew"])
def test_any_leaf_changed_is_rejected_by_mathematics(name):
    document = made_of(loads(SKEW)) if name == "skew" else made(name)
    accepted = []
    for path, value in leaves(document):
        if path == ("digest",) or free_text(document, path):
            continue
        try:
            verify(resealed(put(document, path, altered(value))))
        except RejectedError:
            continue
        accepted.append(path)
    # A pin of the pose may turn a body by so little that all else stays the same, rounded: a
    # pose that is as true (docs/certificate.md).
    labels = [label.split(".") for label in document["at_least"]["pins"]]
    pins = {("at_least", "pose", body, axis, "xyz".index(k)) for body, axis, k in labels}
    assert set(accepted) <= (pins if name == "skew" else set())


def test_what_the_checker_alone_sees_of_the_mechanism():
    # Without the file's text: all numbers that move anything in the plane.
    document = made("four-bar")
    joints = document["mechanism"]["joints"]
    paths = [
        ("mechanism", "joints", k, "at", side, axis)
        for k in range(len(joints))
        for side in (0, 1)
        for axis in (0, 1)
    ]
    paths += [("mechanism", "symbols", name, "value") for name in document["mechanism"]["symbols"]]
    paths += [("mechanism", "gravity", 0), ("mechanism", "gravity", 1)]
    for path in paths:
        part = document
        for key in path:
            part = part[key]
        with pytest.raises(RejectedError):
            checker.check(resealed(put(document, path, f"({part}) + 1/997")))


# Particular lies.


def test_too_high_a_rank():
    document = made("four-bar")
    document["at_least"]["rank"] = 9
    rejected(document, "at_least.rank")
    minor = document["at_least"]["minor"]
    minor["rows"].append(minor["rows"][0])
    minor["columns"].append("crank.J")
    rejected(document, "at_least.rank")


def test_repeated_row_and_repeated_column():
    document = made("four-bar")
    document["at_least"]["minor"]["rows"][1] = document["at_least"]["minor"]["rows"][0]
    rejected(document, "at_least.minor.rows")
    document = made("four-bar")
    columns = document["at_least"]["minor"]["columns"]
    columns[0] = columns[1]
    rejected(document, "at_least")


def test_a_minor_with_dependent_columns_is_not_proved_at_any_precision():
    document = made("four-bar")
    columns = document["at_least"]["minor"]["columns"]
    (gone,) = [name for name in ("crank.mx", "crank.J") if name in columns]
    columns[columns.index(gone)] = "crank.m"  # the ground carries it
    assert "not shown to be nonzero" in rejected(document, "at_least")


def test_null_vector_changed():
    document = made("four-bar")
    vector = document["at_most"]["vectors"][1]
    name = next(name for name in vector["entries"] if name.endswith("J"))
    vector["entries"][name] += "*(1 + 1/997)"
    rejected(document, "at_most.vectors[1]")


def test_null_vector_removed_or_repeated():
    document = made("four-bar")
    gone = document["at_most"]["vectors"].pop()
    rejected(document, "at_most.rank")
    document["at_most"]["rank"] += 1
    rejected(document, "grade")
    document["at_most"]["vectors"].append(document["at_most"]["vectors"][0])
    document["at_most"]["rank"] -= 1
    assert "independent" in rejected(document, "at_most.vectors")
    assert gone["grade"] == "theorem"


def test_a_vector_of_another_joint():
    document = made("four-bar")
    document["at_most"]["vectors"][1]["joint"] = "C"
    rejected(document, "at_most.vectors[1]")


@pytest.mark.parametrize("grade", ["probability", "numerical"])
def test_a_vector_that_is_not_null(grade):
    document = made("four-bar")
    vector = {"grade": grade, "reason": "seen", "entries": {"rocker.my": "1"}}
    if grade == "probability":
        vector["bits"] = 100
    document["at_most"]["vectors"][0] = vector
    document["at_most"]["grade"] = document["grade"] = grade
    scopes = {"probability": "generic geometry", "numerical": "this geometry and branch"}
    document["at_most"]["scope"] = scopes[grade]
    assert "does not vanish" in rejected(document, "at_most.vectors[0]")


def test_a_weaker_grade_may_be_claimed_but_is_said():
    # What a joint explains also holds at random points of the family: confirmed as that.
    document = made("four-bar")
    vector = document["at_most"]["vectors"][1]
    del vector["joint"]
    vector |= {"grade": "probability", "bits": 100}
    document["at_most"] |= {"grade": "probability", "scope": "generic geometry"}
    document["grade"] = "probability"
    assert verify(resealed(document)).grade == "probability"
    document["grade"] = "theorem"
    rejected(document, "grade")


def test_relations_are_needed_and_must_hold():
    document = made("parallelogram")
    assert document["at_most"]["relations"]
    without = copy.deepcopy(document)
    without["at_most"] |= {"relations": [], "scope": "generic geometry"}
    rejected(without, "at_most")
    relation = document["at_most"]["relations"][0]
    relation["rotation"] = [["3/5", "-4/5", "0"], ["4/5", "3/5", "0"], ["0", "0", "1"]]
    rejected(document, "at_")


def test_what_holds_by_value_only_is_not_generic():
    """A four-bar with l1 = l3 and l2 = l4 by value; its vectors are a parallelogram's.

    They vanish at all points with the parallelogram's relations, on which l1 = l3 and l2 = l4:
    points of special geometries, of which "generic geometry" must not be said.
    """
    own = ", l3: {value: 0.4, unit: m},\n           l4: {value: 0.7, unit: m}"
    assert own in PARALLELOGRAM_BY_VALUE
    tied = PARALLELOGRAM_BY_VALUE.replace(own, "").replace("l3", "l1").replace("l4", "l2")
    same, apart = made_of(loads(tied)), made_of(loads(PARALLELOGRAM_BY_VALUE))
    bounds = apart["at_least"], apart["at_most"]
    assert [(bound["rank"], bound["grade"]) for bound in bounds] == [
        (3, "proved"),
        (3, "numerical"),
    ]
    upper = copy.deepcopy(same["at_most"])
    assert (upper["rank"], len(upper["relations"]), len(upper["vectors"])) == (3, 2, 9)
    for vector in upper["vectors"]:
        first = next(p for p in apart["parameters"] if p in vector["entries"])
        head = vector["entries"][first]
        entries = {
            k: "1" if k == first else f"({x})/({head})" for k, x in vector["entries"].items()
        }
        vector.pop("joint", None)
        vector |= {"entries": entries, "grade": "probability", "bits": 100}
    # The very same is confirmed of lengths that are equal by name.
    alike = same | {"at_most": upper | {"grade": "probability"}, "grade": "probability"}
    assert verify(resealed(alike)).grade == "probability"
    forged = apart | {"at_most": upper | {"grade": "probability"}, "grade": "probability"}
    assert "special geometries" in rejected(forged, "at_most")


def test_a_relation_of_one_moment():
    # A four-bar's coupler is level with the ground once; that says nothing of its motion.
    document = made("four-bar")
    level = {"bodies": ["coupler", "ground"], "rotation": [[*"100"], [*"010"], [*"001"]]}
    vector = document["at_most"]["vectors"][1]
    del vector["joint"]
    vector |= {"grade": "probability", "bits": 100}
    scope = "generic geometry, on the branch with the relations seen on it"
    document["at_most"] |= {"grade": "probability", "scope": scope, "relations": [level]}
    document["grade"] = "probability"
    assert "do not last along the motion" in rejected(document, "at_most")


def test_another_branch():
    # The four-bar with its elbow on the other side is closed as well, and has rank 8.
    text = library_path("four-bar").read_text()
    line = next(row for row in text.splitlines() if row.startswith("assembly:"))
    flipped = "assembly: {A: 34 deg, B: -54.5 deg, C: 88.8 deg}"
    other = made_of(loads(text.replace(line, flipped)))
    document = made("four-bar")
    assert other["at_least"]["pose"] != document["at_least"]["pose"]
    document["at_least"] = other["at_least"]
    assert "file's assembly" in rejected(document, "at_least.pose")


def test_pose_shifted_swapped_widened():
    pose = made("four-bar")["at_least"]["pose"]
    document = made("four-bar")
    document["at_least"]["pose"] = pose | {"crank": pose["rocker"], "rocker": pose["crank"]}
    rejected(document, "at_least")
    document["at_least"]["pose"] = pose | {"crank": pose["crank"] | {"at": ["0.1", "0.2"]}}
    rejected(document, "at_least")
    # Fewer decimals are a wider ball.
    wide = {
        body: {name: [f"{float(x):.9f}" for x in v] for name, v in given.items()}
        for body, given in pose.items()
    }
    document["at_least"]["pose"] = wide
    assert "the closed pose has" in rejected(document, "at_least")


def test_samples_that_leave_the_sheet():
    document = made("four-bar")
    sample = document["at_least"]["samples"][0]
    sample["pins"] = [f"{float(sample['pins'][0]) - 0.4:.12f}"]
    assert "no box" in rejected(document, "at_least")


def test_a_moved_joint_in_file_and_certificate_alike():
    # Consistent, but the samples and the minor were another mechanism's.
    document = made("four-bar")
    mechanism = document["mechanism"]
    mechanism["text"] = mechanism["text"].replace("[[lx1, 0], [0, 0]]", "[[lx1, 1/997], [0, 0]]")
    joint = next(j for j in mechanism["joints"] if j["name"] == "B")
    joint["at"][0][1] = "(1/997)"
    rejected(document, "at_")


@pytest.mark.parametrize(
    "document",
    [None, 3, [], {}, {"mechanism": 1}, {"mechanism": {"text": "x"}, "at_most": {"vectors": []}}],
)
def test_no_certificate_at_all(document):
    with pytest.raises(RejectedError):
        verify(document)
    with pytest.raises(RejectedError):
        checker.check(document)


def test_text_is_never_evaluated():
    document = made("four-bar")
    entries = document["at_most"]["vectors"][1]["entries"]
    for text in (
        "__import__('os').getcwd()",
        "lx1.__class__",
        "lx1 if 1 else 2",
        "[1][0]",
        "9**99",
    ):
        entries["crank.mx"] = text
        rejected(document, "at_most")


@pytest.mark.slow
def test_tampered_suspension():
    document = made("sla-suspension")
    for path in [
        ("at_least", "samples", 3, "pins", 0),
        ("at_least", "samples", 0, "motions", 0, "rates", 1),
        ("at_least", "pose", "wheel", "x", 0),
        ("at_least", "minor", "determinant"),
        ("at_most", "vectors", 7, "reason"),
    ]:
        part = document
        for key in path:
            part = part[key]
        rejected(put(document, path, altered(part)), "at_")
