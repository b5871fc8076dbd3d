"""The whole check of a certificate, statement by statement."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import log10
from typing import Any

from flint import arb, arb_mat, ctx

from .assembly import assembly_faults
from .balls import (
    DECIMALS,
    Configurations,
    Motion,
    Sample,
    UndeterminedError,
    UnprovedError,
    determinant,
    fractions,
)
from .coupled_rules import CoupledRules
from .couplings import VALUE_DECIMALS, pose_keys
from .exact import Field
from .family import FamilyTest
from .forms import FormRules
from .natural import LABELS, Mechanism
from .nominal import ball, nominal
from .rejection import RejectedError, blamed, exactly, must
from .rules import JointRules

FORMAT = "basepar certificate 1"
#: Weakest last.
GRADES = ("proved", "theorem", "probability", "numerical")
HERE = "this geometry and branch"
#: Of a pose that is not near the file's assembly: which branch that leads to is not decided here.
STATED = "this geometry and the branch of the stated pose"
SCOPES = {
    "theorem": "every geometry of the file where the null vectors stay independent",
    "numerical": HERE,
}
#: Bits to begin with and to end with; a suspension at its narrowest needs some 1000.
FIRST_BITS, MOST_BITS = 256, 4096
#: Significant digits of the determinant, and decimal digits to which null vectors must vanish.
DIGITS, VANISH = 18, 30


@dataclass(frozen=True)
class Verdict:
    """What was confirmed, in words, with scope and grade.

    `rank` is the number of base parameters, None where the two statements leave more than one;
    `vanish` is the number of decimal digits to which W n vanishes at the samples, for all n;
    `columns` are the parameters besides the inertial ones.
    """

    mechanism: str
    statements: tuple[dict[str, Any], ...]
    grade: str
    bits: int
    vanish: float
    columns: tuple[str, ...] = field(default=(), repr=False)
    rank: int | None = None


def digest(document: Mapping[str, Any]) -> str:
    """SHA-256 of everything but the digest itself."""
    rest = {key: value for key, value in document.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def check(document: Mapping[str, Any], say: Callable[[str], None] = lambda _: None) -> Verdict:
    """Check a certificate.

    Parameters
    ----------
    document
        The certificate.
    say
        Called with a text on each step before it begins.

    Raises
    ------
    RejectedError
        Something in it is wrong, missing, or cannot be confirmed.
    """
    with blamed("format"):
        must(document["format"] == FORMAT, "format", f"it is not {FORMAT!r}")
        must(document["digest"] == digest(document), "digest", "the text was changed")
        exactly(document, _KEYS, "document")
    with blamed("mechanism"):
        mechanism = Mechanism.of(document["mechanism"])
        symbols = document["mechanism"]["symbols"]
        field = Field(symbols)
        must(document["parameters"] == mechanism.parameters, "parameters", "are others")
    lower, upper = document["at_least"], document["at_most"]
    with blamed("at_most"):
        exactly(upper, ("grade", "rank", "relations", "scope", "vectors"), "at_most")
        null = _vectors(mechanism, field, upper)
        found = _upper(mechanism, symbols, field, upper, say)
    with blamed("at_least"):
        exactly(lower, (*_LOWER, *pose_keys(mechanism)), "at_least")
        bits, vanish = _lower(document, mechanism, field, null, say)
    rank = int(lower["rank"])
    grade = max("proved", found, key=GRADES.index) if rank == upper["rank"] else "numerical"
    must(document["grade"] == grade, "grade", f"it is {grade}")
    statements = (
        {"statement": f"rank ≥ {rank}", "grade": "proved", "scope": lower["scope"]},
        {"statement": f"rank ≤ {upper['rank']}", "grade": found, "scope": upper["scope"]},
    )
    columns = tuple(column["name"] for column in mechanism.columns)
    number = rank if rank == upper["rank"] else None
    name = document["mechanism"]["name"]
    return Verdict(name, statements, grade, bits, vanish, columns, number)


_Rules = dict[str, CoupledRules | FormRules]
_KEYS = ("at_least", "at_most", "digest", "format", "grade", "mechanism", "parameters", "program")
_LOWER = ("grade", "minor", "pins", "pose", "rank", "samples", "scope")


# Rank ≤ r.


def _vectors(
    mechanism: Mechanism, field: Field, upper: Mapping[str, Any]
) -> list[Mapping[str, str]]:
    """Null vectors' entries; counted, and each in its one form."""
    known = set(mechanism.parameters)
    entries = []
    for k, vector in enumerate(upper["vectors"]):
        where = f"at_most.vectors[{k}]"
        of = "joint" if "joint" in vector else "rule"
        extra = {"theorem": (of,), "probability": ("bits",)}.get(vector["grade"], ())
        exactly(vector, ("entries", "grade", "reason", *extra), where)
        must(bool(vector["entries"]), where, "it has no entries")
        strange = sorted(set(vector["entries"]) - known)
        must(not strange, where, f"no parameters: {', '.join(strange)}")
        for name, text in vector["entries"].items():
            must(not field.numbers.of(text).is_zero(), f"{where}.entries.{name}", "it is zero")
        entries.append(vector["entries"])
    most = len(mechanism.parameters) - len(entries)
    must(
        type(upper["rank"]) is int and upper["rank"] == most,
        "at_most.rank",
        f"{len(entries)} null vectors leave {most}",
    )
    return entries


def _upper(
    mechanism: Mechanism,
    symbols: Mapping[str, Any],
    field: Field,
    upper: Mapping[str, Any],
    say: Callable[[str], None],
) -> str:
    """Grade of the statement, every vector's own confirmed."""
    rules = JointRules(mechanism, field)
    forms = FormRules(mechanism, field, [*rules.joints.values()])
    wrong = forms.line_fault()
    must(not wrong, "mechanism.forms", wrong)
    coupled = CoupledRules(mechanism, field, rules)
    others: _Rules = {coupled.name: coupled, forms.name: forms}
    grades, likely = ["theorem"], []
    for k, vector in enumerate(upper["vectors"]):
        where, grade = f"at_most.vectors[{k}]", vector["grade"]
        say(f"null vector {k + 1} of {len(upper['vectors'])}")
        grades.append(grade)
        strange = sorted({one["name"] for one in mechanism.columns} & set(vector["entries"]))
        must(
            not strange or grade == "numerical",
            f"{where}.grade",
            f"{', '.join(strange)}: vectors with further columns are numerical",
        )
        if grade == "theorem":
            wrong = _theorem_fault(rules, others, vector)
            must(not wrong, where, wrong)
            continue
        must(grade in GRADES[2:], f"{where}.grade", f"there is no grade {grade!r} of vectors")
        first = next(name for name in mechanism.parameters if name in vector["entries"])
        must(
            field.numbers.of(vector["entries"][first]) == 1,
            f"{where}.entries.{first}",
            "the first entry of a vector that no joint explains is 1",
        )
        if grade == "probability":
            likely.append((where, vector))
    say("null vectors at random members of the family")
    test = FamilyTest(mechanism, symbols, upper["relations"])
    independent = test.independent([vector["entries"] for vector in upper["vectors"]])
    must(independent, "at_most.vectors", "they are not independent")
    if likely:
        test.confirm(likely, must)
    else:
        must(not upper["relations"], "at_most.relations", "no vector needs them")
    grade = max(grades, key=GRADES.index)
    generic = "generic geometry" + (
        ", on the branch with the relations seen on it" if upper["relations"] else ""
    )
    scope = SCOPES.get(grade, generic)
    must(upper["grade"] == grade, "at_most.grade", f"it is {grade}")
    must(upper["scope"] == scope, "at_most.scope", f"it is {scope!r}")
    return grade


def _theorem_fault(joints: JointRules, rules: _Rules, vector: Mapping[str, Any]) -> str:
    """Why a vector follows from no joint, or not from its rule; empty if it does."""
    if "joint" in vector:
        return joints.fault(vector["joint"], vector["entries"], vector["reason"])
    if vector["rule"] not in rules:
        return f"there is no rule {vector['rule']!r}"
    return rules[vector["rule"]].fault(vector["entries"], vector["reason"])


# Rank ≥ r.


def _lower(
    document: Mapping[str, Any],
    mechanism: Mechanism,
    field: Field,
    null: Sequence[Mapping[str, str]],
    say: Callable[[str], None],
) -> tuple[int, float]:
    """Confirm the minor; precision used, and digits to which null vectors vanish."""
    lower = document["at_least"]
    must(lower["grade"] == "proved", "at_least.grade", "it is proved")
    must(lower["scope"] in (HERE, STATED), "at_least.scope", f"it is {HERE!r}")
    minor = lower["minor"]
    exactly(minor, ("columns", "determinant", "rows"), "at_least.minor")
    rows, columns = [tuple(row) for row in minor["rows"]], list(minor["columns"])
    rank = lower["rank"]
    must(
        type(rank) is int and rank == len(rows) == len(columns),
        "at_least.rank",
        f"the minor has {len(rows)} rows and {len(columns)} columns",
    )
    must(rank <= document["at_most"]["rank"], "at_least.rank", "it exceeds the upper bound")
    must(len(set(rows)) == len(rows), "at_least.minor.rows", "a row is repeated")
    places = [mechanism.parameters.index(name) for name in columns]
    samples = [_sample(given) for given in lower["samples"]]
    known = all(type(x) is int for row in rows for x in row)
    known = known and all(0 <= pin < len(lower["pins"]) for _, _, pin in rows)
    must(known, "at_least.minor.rows", "a row is (sample, motion, pin)")
    used = {(s, m) for s, m, _ in rows}
    every = {(s, m) for s, sample in enumerate(samples) for m in range(len(sample.motions))}
    must(used == every, "at_least.samples", "motions and rows are not of the same samples")
    bits = FIRST_BITS
    while True:
        say(f"minor in balls of {bits} bits")
        try:
            with ctx.workprec(bits):
                return _at_precision(document, mechanism, field, null, samples, rows, places)
        except UnprovedError:
            if bits >= MOST_BITS:
                raise
            bits *= 2


def _sample(given: Mapping[str, Any]) -> Sample:
    exactly(given, ("motions", "pins"), "at_least.samples")
    motions = []
    for motion in given["motions"]:
        exactly(motion, ("accelerations", "rates"), "at_least.samples.motions")
        motions.append(Motion(fractions(motion["rates"]), fractions(motion["accelerations"])))
    return Sample(fractions(given["pins"]), motions)


def _at_precision(
    document: Mapping[str, Any],
    mechanism: Mechanism,
    field: Field,
    null: Sequence[Mapping[str, str]],
    samples: Sequence[Sample],
    rows: Sequence[tuple[int, int, int]],
    places: Sequence[int],
) -> tuple[int, float]:
    lower, numbers = document["at_least"], nominal(document["mechanism"]["symbols"], field)
    pose = _pose(mechanism, lower["pose"])
    pins = [1 + mechanism.labels.index(name) for name in lower["pins"]]
    stated = document["mechanism"]["assembly"]["values"]
    values = _values(lower.get("values", {}))
    try:
        closing = Configurations(mechanism, field, numbers, pose, pins, stated, values)
    except UndeterminedError as error:
        raise RejectedError("at_least.pins", str(error)) from None
    box = closing.sheet(samples)
    wrong, far = assembly_faults(document["mechanism"], mechanism, closing.joints, pose, values)
    must(not wrong, "at_least.pose", wrong)
    if lower["scope"] == HERE:
        must(not far, "at_least.pose", far)
    else:
        must(bool(far), "at_least.scope", f"the pose is near the file's assembly: {HERE!r}")
    test = FamilyTest(
        mechanism, document["mechanism"]["symbols"], document["at_most"]["relations"]
    )
    table = []
    for k, sample in enumerate(samples):
        at, modes, found = closing.rows(sample, box)
        table.append(found)
        must(
            test.relations_hold(at, modes, numbers),
            "at_most.relations",
            f"they do not hold at sample {k}",
        )
    chosen = [table[s][m][pin] for s, m, pin in rows]
    _confirm_determinant(lower["minor"]["determinant"], chosen, places)
    _confirm_independent(null, numbers, mechanism)
    return ctx.prec, _vanish(chosen, null, numbers, mechanism)


def _pose(mechanism: Mechanism, given: Mapping[str, Any]) -> list[Fraction]:
    exactly(given, mechanism.bodies, "at_least.pose")
    vectors = list(dict.fromkeys(label.split(".")[0] for label in LABELS[mechanism.planar]))
    found = []
    for body in mechanism.bodies:
        exactly(given[body], vectors, f"at_least.pose.{body}")
        found += [x for name in vectors for x in fractions(given[body][name])]
    step = 10**DECIMALS
    must(
        len(found) == mechanism.unknowns and all((x * step).denominator == 1 for x in found),
        "at_least.pose",
        f"every entry has {DECIMALS} decimals",
    )
    return found


def _values(given: Mapping[str, str]) -> dict[str, Fraction]:
    """Angles of couplings at the pose."""
    found = dict(zip(given, fractions(list(given.values())), strict=True))
    step = 10**VALUE_DECIMALS
    must(
        all((x * step).denominator == 1 for x in found.values()),
        "at_least.values",
        f"every entry has {VALUE_DECIMALS} decimals",
    )
    return found


def _confirm_determinant(stated: str, chosen: Sequence[Any], places: Sequence[int]) -> None:
    found = determinant([[row[k] for k in places] for row in chosen])
    if found.contains(0) or not found.rel_accuracy_bits() > 4 * DIGITS:
        raise UnprovedError("the minor is not shown to be nonzero")
    mantissa, _, exponent = stated.partition("e")
    digits = mantissa.replace("-", "").replace(".", "")
    must(
        len(digits) == DIGITS and "." in mantissa,
        "at_least.minor.determinant",
        f"it has {DIGITS} digits",
    )
    unit = ball(Fraction(1, 10 ** (DIGITS - 1))) * arb(10) ** int(exponent)
    off = abs(found - ball(Fraction(mantissa)) * arb(10) ** int(exponent))
    # Rounded to the nearest: off by half a unit at most, and a hair for the ball.
    must(
        bool(off < unit * arb("0.501")), "at_least.minor.determinant", f"it is {found.str(DIGITS)}"
    )


def _columns(
    null: Sequence[Mapping[str, str]], numbers: Any, mechanism: Mechanism
) -> list[dict[int, Any]]:
    place = {name: k for k, name in enumerate(mechanism.parameters)}
    found = [{place[name]: numbers.of(text) for name, text in entries.items()} for entries in null]
    if not all(x.is_finite() for column in found for x in column.values()):
        raise UnprovedError("entries of null vectors are not bounded at this geometry")
    return found


def _confirm_independent(
    null: Sequence[Mapping[str, str]], numbers: Any, mechanism: Mechanism
) -> None:
    """Null vectors at this geometry: their Gram determinant."""
    columns = _columns(null, numbers, mechanism)
    if not columns:
        return
    gram = arb_mat(
        [
            [sum((x * b[k] for k, x in a.items() if k in b), arb(0)) for b in columns]
            for a in columns
        ]
    )
    if gram.det().contains(0):
        raise UnprovedError("the null vectors are not shown to be independent at this geometry")


def _vanish(
    chosen: Sequence[Any],
    null: Sequence[Mapping[str, str]],
    numbers: Any,
    mechanism: Mechanism,
) -> float:
    """Decimal digits to which all null vectors vanish on the minor's rows of W.

    Of the product of the largest entries of row and vector.
    """
    least = ctx.prec * log10(2)  # exact zeros say no more than the precision does
    for number, column in enumerate(_columns(null, numbers, mechanism)):
        longest = max(abs(x).abs_lower() for x in column.values())
        for row in chosen:
            total = sum((x * row[k] for k, x in column.items()), arb(0))
            size = longest * max(x.abs_lower() for x in row)
            where = f"at_most.vectors[{number}]"
            must(total.contains(0), where, "it does not vanish at the samples")
            if not total.is_zero():
                least = min(least, float((size / total.abs_upper()).log_base(10).lower()))
    if least < VANISH:
        raise UnprovedError(f"null vectors are seen to vanish to {least:.0f} digits only")
    return least
