"""Certificates: what the symbolic route found, with what proves it, as a document.

    document = certify(model, symbolic(model))
    verdict = verify(document)

rank ≥ r is proved at configurations of the actual mechanism on its branch: a few natural
coordinates (pins) get decimal values near the assembled pose, and a minor of W there is not
zero. Small motions are enough, in as many digits as that takes; in return all configurations are
shown to lie on one sheet. rank ≤ r is carried by the null vectors. The checker (`checker`) knows
nothing of this module; before a certificate is handed out it is checked once.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from typing import Any

import numpy as np

from basepar_core.base import BaseParameters, VectorGrade
from basepar_core.certificate.checker import (
    FORMAT,
    HERE,
    SCOPES,
    STATED,
    SURE,
    RejectedError,
    Verdict,
    digest,
)
from basepar_core.dynamics import Column, Model, assemble, kinematics, select
from basepar_core.errors import BaseparError, UsageError
from basepar_core.expressions import Number
from basepar_core.files import loads
from basepar_core.finite_field import Branch, SpinRelation, spin_relations
from basepar_core.mechanism import Mechanism
from basepar_core.symbolic import RULES, GeometryField, Transfers

from . import checker, force_columns
from .coupled_relations import relations_may_follow
from .description import CertificateError, described, python, texts
from .rank_proof import Proof, prove

#: Pins move this share of what was tried before, where no box holds one configuration each.
NARROWER, TRIES = 0.125, 4
#: Float64 assembles to 1e-11, next to singular poses to its root; another branch is far away.
SAME_POSE = 1e-5
_WHY_NULL = "a further column that acts as these do at the samples"
_WEAKER = ("theorem", "probability", "numerical")


def certify(
    model: Model,
    base: BaseParameters,
    further: Sequence[Column] = (),
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """The certificate of a mechanism's number of base parameters.

    Parameters
    ----------
    model
        The mechanism, prepared.
    base
        Of the symbolic route, inertial.
    further
        Columns besides (`force_columns.select`): the rank is then that of W with all of them, over
        all motions near the assembly.
    say
        Called with a text on each step before it begins.

    Raises
    ------
    UsageError
        No minor is found, a force-law column acts on
        a value of a spherical joint, or the mechanism is at other values than its file's.
    CertificateError
        The route has no null vectors, or the checker does not confirm what was found: so it is
        where constraints are redundant and not seen to follow from others.
    """
    mechanism = model.mechanism
    if not mechanism.source:  # which the certificate holds
        raise UsageError(
            f"A certificate is of a file's own geometry, and no file states {mechanism.name!r}: "
            "write these values into one.",
            ["certificate="],
        )
    if not base.certificate.vectors and len(base.kept) < len(base.parameters):
        raise CertificateError(
            f"The {base.route} route has no null vectors to certify; make the certificate with "
            f"the symbolic route.",
            ["certificate="],
        )
    force_columns.check(mechanism, further)
    claims = _claims(model, base.certificate.vectors)
    reach, scope, proof = 1.0, HERE, None
    for _ in range(TRIES + len(claims) - 1 + len(base.certificate.vectors)):
        if proof is None:
            say("certificate: configurations whose minor is not zero")
            proof = prove(model, base.kept, reach, further)
        upper = _widened(claims[0], proof, len(further))
        document = _document(mechanism, base, upper, proof, further, scope)
        try:
            checker.check(document, lambda step: say(f"certificate, checked: {step}"))
        except RejectedError as error:
            if error.where == "at_most" and len(claims) > 1:
                del claims[0]
            elif error.where == "at_least":
                reach, proof = reach * NARROWER, None
            elif error.where == "at_least.pose" and scope == HERE:
                scope = STATED  # `verify` assembles the file anew
            elif (rounded := _rounded_vector(claims[0], error.where)) is not None:
                claims = [_without(claim, rounded) for claim in claims]
            else:
                raise _not_made(mechanism, error) from error
            last = error
            continue
        return document
    raise _not_made(mechanism, last) from last


def _not_made(mechanism: Mechanism, error: RejectedError) -> CertificateError:
    return CertificateError(
        f"No certificate of {mechanism.name!r}: the checker rejects it at {error.where}, because "
        f"{error.why}.",
        [error.where],
    )


def verify(document: Mapping[str, Any]) -> Verdict:
    """Check a certificate, and that its mechanism is that of the file's text in it.

    The reading of the file is the one thing that maker and check have in common.

    Raises
    ------
    RejectedError
        It does not hold.
    """
    try:
        given = dict(document["mechanism"])
        entries = [vector["entries"] for vector in document["at_most"]["vectors"]]
        mechanism = _as_assembled(loads(given["text"], "the certificate's mechanism"))
        further = select(mechanism, [column["name"] for column in given.get("columns", ())])
        used = [text for some in entries for text in some.values()]
        stated = described(mechanism, used, further)
    except KeyError as error:
        raise RejectedError("document", f"it is no certificate: no {error.args[0]!r}") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise RejectedError("document", "it is no certificate: not built like one") from error
    except BaseparError as error:
        raise RejectedError("mechanism.text", error.message) from error
    wrong = [key for key in {**stated, **given} if stated.get(key) != given.get(key)]
    if wrong:
        raise RejectedError("mechanism", f"{', '.join(wrong)}: not what the file's text says")
    verdict = checker.check(document)
    if document["at_least"]["scope"] == STATED:
        _same_branch(mechanism, document["at_least"]["pose"])
    return verdict


def _as_assembled(mechanism: Mechanism) -> Mechanism:
    """With the axes of joints that hold a spin, which its assembly chooses."""
    held = any(joint.holds for joint in mechanism.joints)
    return assemble(mechanism).mechanism if held else mechanism


def _same_branch(mechanism: Mechanism, pose: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
    """Hold a pose that is far from what the file's assembly says against where that leads.

    Raises
    ------
    RejectedError
        It leads to no pose, or to another one.
    """
    try:
        assembled = assemble(mechanism)
    except BaseparError as error:
        raise RejectedError("at_least.pose", error.message) from error
    dims = kinematics.geometry(mechanism, {})
    at = kinematics.poses(assembled.topology, dims, assembled.q[:, None])
    size, axes = (2, "x") if mechanism.planar else (3, "xyz")
    for k, body in enumerate(mechanism.bodies):
        R, p = at.R[k].reshape(3, 3), at.p[k].reshape(3)
        here = [p[:size], *(R[:size, j] for j in range(len(axes)))]
        stated = [[float(x) for x in pose[body.name][key]] for key in ("at", *axes)]
        apart = float(np.abs(np.array(here) - np.array(stated)).max())
        if not apart < SAME_POSE:
            raise RejectedError(
                "at_least.pose",
                f"body {body.name} is {apart:.2g} (m or direction cosine) from where the file's "
                f"assembly leads; allowed is {SAME_POSE:g}",
            )


def _document(
    mechanism: Mechanism,
    base: BaseParameters,
    upper: dict[str, Any],
    proof: Proof,
    further: Sequence[Column],
    scope: str,
) -> dict[str, Any]:
    grade = upper["grade"] if proof.rank == upper["rank"] else "numerical"
    texts = [text for vector in upper["vectors"] for text in vector["entries"].values()]
    document = {
        "format": FORMAT,
        "program": f"basepar {metadata.version('basepar')}",
        "mechanism": described(mechanism, texts, further),
        "parameters": [*base.parameters, *(one.name for one in further)],
        "grade": grade,
        "at_least": proof.document() | {"grade": "proved", "scope": scope},
        "at_most": upper,
    }
    return document | {"digest": digest(document)}


# Null vectors.


def _claims(model: Model, vectors: Sequence[VectorGrade]) -> list[dict[str, Any]]:
    """What may be stated of rank ≤ r, the strongest first.

    Relations of orientations that may follow from other constraints are left out first.
    """
    seen = _upper(model, vectors)
    found = [seen]
    if relations_may_follow(model.mechanism) and seen["relations"]:
        found.insert(0, _with_grade(seen | {"relations": []}))
    return found + ([_as_numerical(seen)] if _likely(vectors) else [])


def _upper(model: Model, vectors: Sequence[VectorGrade]) -> dict[str, Any]:
    relations: list[dict[str, Any]] = []
    if _likely(vectors):
        mechanism = model.mechanism
        found = spin_relations(Transfers(mechanism, GeometryField.of(mechanism)), Branch(model))
        relations = [_relation(mechanism, relation) for relation in found]
    return _with_grade(
        {
            "rank": len(model.mechanism.parameter_names) - len(vectors),
            "relations": relations,
            "vectors": [_vector(vector) for vector in vectors],
        }
    )


def _widened(upper: dict[str, Any], proof: Proof, further: int) -> dict[str, Any]:
    """With the null vectors of force-law columns, which are seen at the samples only."""
    more = []
    for entries in proof.null:
        first = next(iter(entries.values()))
        texts = {name: python(Number(x / first)) for name, x in entries.items()}
        more.append({"grade": "numerical", "reason": _WHY_NULL, "entries": texts})
    rank = upper["rank"] + further - len(more)
    return _with_grade(upper | {"rank": rank, "vectors": [*upper["vectors"], *more]})


def _rounded_vector(claim: Mapping[str, Any], where: str) -> int | None:
    """Number of the numerical vector that a message is about: π or a root in an entry is rounded.

    It vanishes to float64's digits only, and is left out; the two ranks then differ.
    """
    for k, vector in enumerate(claim["vectors"]):
        if where == f"at_most.vectors[{k}]" and vector["grade"] == "numerical":
            return k
    return None


def _without(claim: dict[str, Any], k: int) -> dict[str, Any]:
    vectors = [*claim["vectors"][:k], *claim["vectors"][k + 1 :]]
    return _with_grade(claim | {"vectors": vectors, "rank": claim["rank"] + 1})


def _likely(vectors: Sequence[VectorGrade]) -> bool:
    """Whether some vector is claimed for generic geometry, whatever the others are."""
    return any(vector.grade == "probability" for vector in vectors)


def _with_grade(upper: dict[str, Any]) -> dict[str, Any]:
    grades = [vector["grade"] for vector in upper["vectors"]]
    grade = max(grades, key=_WEAKER.index, default="theorem")
    relations = upper["relations"] if "probability" in grades else []
    on = ", on the branch with the relations seen on it" if relations else ""
    scope = SCOPES.get(grade, f"generic geometry{on}")
    return upper | {"relations": relations, "grade": grade, "scope": scope}


def _as_numerical(upper: dict[str, Any]) -> dict[str, Any]:
    """The same where the checker finds no points of the family: what it sees at its samples."""
    vectors = [
        {k: v for k, v in vector.items() if k != "bits"} | {"grade": "numerical"}
        if vector["grade"] == "probability"
        else vector
        for vector in upper["vectors"]
    ]
    return _with_grade(upper | {"vectors": vectors})


def _vector(vector: VectorGrade) -> dict[str, Any]:
    entries = dict(vector.entries)
    found: dict[str, Any] = {"grade": vector.grade, "reason": vector.reason, "entries": entries}
    if vector.grade == "theorem":
        for ending, rule in RULES.items():
            if vector.reason.endswith(ending):
                return found | {"rule": rule}
        return found | {"joint": vector.reason.rsplit(" ", 1)[-1]}
    first = next(iter(entries.values()))
    if first != "1":  # of all its multiples the one that starts with 1
        found["entries"] = {name: f"({text})/({first})" for name, text in entries.items()}
    if vector.grade == "probability":
        found |= {"reason": vector.reason.partition(" (vanishes")[0], "bits": SURE}
    return found


def _relation(mechanism: Mechanism, relation: SpinRelation) -> dict[str, Any]:
    names_ = [*(body.name for body in mechanism.bodies), "ground"]
    found: dict[str, Any] = {"bodies": [names_[relation.first], names_[relation.second]]}
    if relation.rotation is not None:
        return found | {"rotation": [[str(x) for x in row] for row in relation.rotation]}
    return found | {"axes": [texts(axis) for axis in relation.axes or ()]}
