"""Forged certificates: each is rejected, or what it states is true all the same.

Certificates of shipped mechanisms, planar and spatial, some with couplings or with columns of
friction, are changed in every way that a forger would think of, their digest made anew. Where
`verify` confirms one, its statements are decided without checker or maker: the file's text is
read, W evaluated by the plain float64 path, its rank counted by NumPy, every null vector
multiplied with it, and every grade and reason compared with those of the true certificate.
"Undetected" is a confirmed forgery with a statement that is false or stronger than what is known.

    python -m tests.campaigns.forgeries FOLDER [MECHANISM ...]
"""

import copy
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from basepar_core.api import load
from basepar_core.base.symbolic_route import symbolic
from basepar_core.certificate.checker import RejectedError
from basepar_core.certificate.checker.checking import GRADES, digest
from basepar_core.certificate.description import described
from basepar_core.certificate.make import certify, verify
from basepar_core.dynamics.closure import prepare
from basepar_core.dynamics.force_columns import select
from basepar_core.errors import BaseparError
from basepar_core.files.mechanism_file import loads

from .forgery_truth import Document, falsehood

#: Mechanisms, and the columns taken in besides the inertial ones.
MECHANISMS: dict[str, tuple[str, ...]] = {
    "four-bar": (),
    "slider-crank": ("friction",),
    "five-bar": (),
    "parallelogram": (),
    "quick-return": (),
    "scara": (),
    "puma-560": (),
    "rssr": (),
    "rsur": (),
    "planetary-gear": (),
    "gripper": (),
    "screw-jack": (),
}


@dataclass(frozen=True)
class Forgery:
    """A changed certificate, and how it was changed."""

    mechanism: str
    how: str
    document: Document


def made(name: str) -> Document:
    """A true certificate, as it comes back from a file."""
    model = prepare(load(name))
    further = select(model.mechanism, MECHANISMS[name])
    return json.loads(json.dumps(certify(model, symbolic(model), further)))


def forgeries(name: str, true: Document, other: Document, seed: int = 1) -> Iterator[Forgery]:
    """All forgeries of a certificate; `other` is one of another mechanism."""
    for how, change in _changes(true, other, random.Random(f"{name} {seed}")):
        document = copy.deepcopy(true)
        change(document)
        if document != true:
            document["digest"] = digest(document)
            yield Forgery(name, how, document)
    stale = copy.deepcopy(true)
    stale["at_least"]["rank"] -= 1
    yield Forgery(name, "digest left as it was", stale)


Changes = Iterator[tuple[str, Callable[[Document], Any]]]


def _changes(true: Document, other: Document, rng: random.Random) -> Changes:
    yield from _ranks()
    yield from _words(rng)
    yield from _vectors(true, rng)
    yield from _minors(rng)
    yield from _poses()
    yield from _mechanisms(true)
    yield from _parts_of(other)


def _ranks() -> Changes:
    for step in (-1, 1):
        yield f"at_least.rank {step:+}", lambda d, s=step: _add(d["at_least"], "rank", s)
        yield f"at_most.rank {step:+}", lambda d, s=step: _add(d["at_most"], "rank", s)
        yield (
            f"both ranks {step:+}",
            lambda d, s=step: (
                _add(d["at_least"], "rank", s),
                _add(d["at_most"], "rank", s),
            ),
        )


def _add(part: Document, key: str, step: int) -> None:
    part[key] += step


def _words(rng: random.Random) -> Changes:
    for part in ("at_least", "at_most"):
        for grade in GRADES:
            yield f"{part}.grade {grade}", lambda d, p=part, g=grade: d[p].update(grade=g)
        yield f"{part}.scope", lambda d, p=part: d[p].update(scope="every geometry")
    for grade in GRADES:
        yield f"grade {grade}", lambda d, g=grade: d.update(grade=g)
    yield "parameters shuffled", lambda d: rng.shuffle(d["parameters"])
    yield "a parameter missing", lambda d: d["parameters"].pop()
    yield "relations from nowhere", lambda d: d["at_most"]["relations"].append(["a", "b"])
    yield "another program", lambda d: d.update(program="another")


def _vectors(true: Document, rng: random.Random) -> Changes:
    vectors = true["at_most"]["vectors"]
    names = true["parameters"]
    for k, vector in enumerate(vectors):
        for name in vector["entries"]:
            of = partial(_entries, k)
            yield (
                f"vector {k}: {name} doubled",
                lambda d, n=name, of=of: of(d).update({n: f"2*({of(d)[n]})"}),
            )
            yield (
                f"vector {k}: {name} of the other sign",
                lambda d, n=name, of=of: of(d).update({n: f"-({of(d)[n]})"}),
            )
            yield f"vector {k}: {name} left out", lambda d, n=name, of=of: of(d).pop(n)
        absent = rng.choice([name for name in names if name not in vector["entries"]])
        yield f"vector {k}: {absent} added", lambda d, n=absent, of=of: of(d).update({n: "1"})
        yield f"vector {k} left out", lambda d, k=k: _without(d, k)
        yield f"vector {k} twice", lambda d, k=k: _with(d, copy.deepcopy(vectors[k]))
        yield (
            f"vector {k}: another reason",
            lambda d, k=k: d["at_most"]["vectors"][k].update(
                reason=vectors[(k + 1) % len(vectors)]["reason"]
            ),
        )
        if "joint" in vector:
            yield f"vector {k}: another joint", lambda d, k=k: _another_joint(d, k)
        for grade in GRADES:
            yield f"vector {k}: grade {grade}", lambda d, k=k, g=grade: _graded(d, k, g)
        if "bits" in vector:
            yield f"vector {k}: bits", lambda d, k=k: d["at_most"]["vectors"][k].update(bits=999)
    for name in names:
        yield (
            f"a vector of {name} alone",
            lambda d, n=name: _with(
                d, {"grade": "numerical", "reason": "seen", "entries": {n: "1"}}
            ),
        )


def _entries(k: int, document: Document) -> Document:
    return document["at_most"]["vectors"][k]["entries"]


def _without(document: Document, k: int) -> None:
    """One vector less, and the rest made to fit: rank ≤ r + 1 is true and weaker."""
    del document["at_most"]["vectors"][k]
    document["at_most"]["rank"] += 1
    document["grade"] = "numerical"


def _with(document: Document, vector: Document) -> None:
    """One vector more, the minor a row and a column smaller."""
    document["at_most"]["vectors"].append(vector)
    document["at_most"].update(rank=document["at_most"]["rank"] - 1)
    document["at_least"]["rank"] -= 1
    for key in ("rows", "columns"):
        document["at_least"]["minor"][key].pop()
    if vector["grade"] == "numerical":
        document["at_most"].update(grade="numerical", scope="this geometry and branch")
        document["grade"] = "numerical"


def _another_joint(document: Document, k: int) -> None:
    vector = document["at_most"]["vectors"][k]
    names = [joint["name"] for joint in document["mechanism"]["joints"]]
    vector["joint"] = names[(names.index(vector["joint"]) + 1) % len(names)]


def _graded(document: Document, k: int, grade: str) -> None:
    """A vector of another grade, all words that follow made to fit."""
    upper = document["at_most"]
    vector = {key: upper["vectors"][k][key] for key in ("entries", "reason")} | {"grade": grade}
    if grade == "theorem":
        vector["joint"] = document["mechanism"]["joints"][0]["name"]
    if grade == "probability":
        vector["bits"] = 100
    upper["vectors"][k] = vector
    worst = max((one["grade"] for one in upper["vectors"]), key=GRADES.index)
    scope = {"numerical": "this geometry and branch", "probability": "generic geometry"}
    upper.update(grade=worst, scope=scope.get(worst, upper["scope"]))
    document["grade"] = max("proved", worst, key=GRADES.index)


def _minors(rng: random.Random) -> Changes:
    def minor(d: Document) -> Document:
        return d["at_least"]["minor"]

    yield (
        "two columns exchanged",
        lambda d: minor(d)["columns"].insert(0, minor(d)["columns"].pop()),
    )
    yield "two rows exchanged", lambda d: minor(d)["rows"].insert(0, minor(d)["rows"].pop())
    yield (
        "both exchanged",
        lambda d: (
            minor(d)["columns"].insert(0, minor(d)["columns"].pop()),
            minor(d)["rows"].insert(0, minor(d)["rows"].pop()),
        ),
    )
    yield "a row repeated", lambda d: minor(d)["rows"].__setitem__(0, minor(d)["rows"][-1])
    yield "a column repeated", lambda d: minor(d)["columns"].__setitem__(0, minor(d)["columns"][1])
    yield (
        "a dependent column",
        lambda d: minor(d)["columns"].__setitem__(
            0, next(name for name in d["parameters"] if name not in minor(d)["columns"])
        ),
    )
    for value in ("0", "1", "1e400", "nan", "-1.00000000000000000e-20"):
        yield f"determinant {value}", lambda d, v=value: minor(d).update(determinant=v)
    yield (
        "determinant of the other sign",
        lambda d: minor(d).update(determinant=f"-{minor(d)['determinant']}".replace("--", "")),
    )
    yield (
        "a smaller minor",
        lambda d: (
            minor(d)["rows"].pop(),
            minor(d)["columns"].pop(),
            _add(d["at_least"], "rank", -1),
        ),
    )
    yield "samples shuffled", lambda d: rng.shuffle(d["at_least"]["samples"])
    yield "a sample missing", lambda d: d["at_least"]["samples"].pop()
    yield "no motion", lambda d: _each_motion(d, lambda text: "0")
    yield "motions doubled", lambda d: _each_motion(d, lambda text: str(2 * float(text)))
    yield (
        "far samples",
        lambda d: [s.update(pins=["3.0" for _ in s["pins"]]) for s in d["at_least"]["samples"]],
    )
    yield "pins reversed", lambda d: d["at_least"]["pins"].reverse()
    yield "a pin that is none", lambda d: d["at_least"]["pins"].__setitem__(0, "ground.x.y")


def _each_motion(document: Document, change: Callable[[str], str]) -> None:
    for sample in document["at_least"]["samples"]:
        for motion in sample["motions"]:
            for key in ("rates", "accelerations"):
                motion[key] = [change(text) for text in motion[key]]


def _poses() -> Changes:
    def bodies(d: Document) -> list[Document]:
        return list(d["at_least"]["pose"].values())

    def shifted(d: Document, by: str) -> None:
        one = bodies(d)[-1]
        one["at"][0] = f"{float(one['at'][0]) + float(by):.12f}"

    for by in ("0.000001", "0.1", "1000"):
        yield f"a body shifted by {by} m", lambda d, b=by: shifted(d, b)
    yield "a body mirrored", lambda d: _mirror(bodies(d)[-1])
    yield "all bodies mirrored", lambda d: [_mirror(one) for one in bodies(d)]
    yield "two bodies exchanged", lambda d: _exchange(d["at_least"]["pose"])
    yield "a body missing", lambda d: d["at_least"]["pose"].popitem()
    yield "fewer digits", lambda d: bodies(d)[0].update(at=["0.1"] * len(bodies(d)[0]["at"]))


def _mirror(body: Document) -> None:
    for key, row in body.items():
        if key != "at":
            body[key] = [text[1:] if text.startswith("-") else f"-{text}" for text in row]


def _exchange(pose: Document) -> None:
    first, second = list(pose)[:2] if len(pose) > 1 else list(pose) * 2
    pose[first], pose[second] = pose[second], pose[first]


def _mechanisms(true: Document) -> Changes:
    """The mechanism changed: in the description alone, in the text alone, in both alike."""
    source = true["mechanism"]["text"]
    for k, joint in enumerate(true["mechanism"]["joints"]):
        where = partial(_joint, k)
        yield (
            f"joint {joint['name']}: bodies exchanged",
            lambda d, w=where: w(d)["bodies"].reverse(),
        )
        yield f"joint {joint['name']}: points exchanged", lambda d, w=where: w(d)["at"].reverse()
        yield f"joint {joint['name']}: another type", lambda d, w=where: w(d).update(type="fixed")
    yield from _couplings(true)
    yield "bodies in another order", lambda d: d["mechanism"]["bodies"].reverse()
    yield (
        "no gravity",
        lambda d: d["mechanism"].update(gravity=["0"] * len(d["mechanism"]["gravity"])),
    )
    yield "another name", lambda d: d["mechanism"].update(name="another")
    for key in list(true["mechanism"]["assembly"]["values"])[:3]:
        yield (
            f"assembled at another {key}",
            lambda d, n=key: d["mechanism"]["assembly"]["values"].update({n: "((1/7) * pi)"}),
        )
    for column in true["mechanism"].get("columns", ()):
        for kind in ("rotor", "offset", "viscous", "coulomb", "stiffness"):
            yield (
                f"column {column['name']}: {kind}",
                lambda d, n=column["name"], k=kind: [
                    one.update(kind=k) for one in d["mechanism"]["columns"] if one["name"] == n
                ],
            )
    for how, text in _texts(source):
        yield f"text: {how}", lambda d, t=text: d["mechanism"].update(text=t)
        yield f"text and description: {how}", lambda d, t=text: _described_anew(d, t)


def _couplings(true: Document) -> Changes:
    for k, coupling in enumerate(true["mechanism"].get("couplings", ())):
        named = f"coupling {coupling['name']}"
        of = partial(_coupling, k)
        for name in coupling["values"]:
            yield (
                f"{named}: {name} doubled",
                lambda d, n=name, of=of: of(d)["values"].update({n: f"2*{of(d)['values'][n]}"}),
            )
            yield f"{named}: {name} left out", lambda d, n=name, of=of: of(d)["values"].pop(n)
        for offset in ("(1/10)", "(2 * pi)"):
            yield f"{named}: offset {offset}", lambda d, x=offset, of=of: of(d).update(offset=x)
        yield f"{named} left out", lambda d, k=k: d["mechanism"]["couplings"].pop(k)
        yield f"{named} twice", lambda d, of=of: d["mechanism"]["couplings"].append(of(d))
    for name, text in true["at_least"].get("values", {}).items():
        for by in (1e-6, 6.283185):
            moved = f"{float(text) + by:.6f}"
            yield (
                f"angle {name} by {by}",
                lambda d, n=name, x=moved: d["at_least"]["values"].update({n: x}),
            )


def _coupling(k: int, document: Document) -> Document:
    return document["mechanism"]["couplings"][k]


def _joint(k: int, document: Document) -> Document:
    return document["mechanism"]["joints"][k]


def _texts(source: str) -> Iterator[tuple[str, str]]:
    """Other texts: of a number, of an inertia, of bounds, of what does not matter."""
    numbers = list(re.finditer(r"value: (-?[0-9.]+)", source))
    for found in numbers:
        changed = f"value: {float(found[1]) * 1.01:.6g}"
        line = source.count("\n", 0, found.start()) + 1
        yield f"line {line} by 1 %", source[: found.start()] + changed + source[found.end() :]
    yield "a comment", f"# forged\n{source}"
    yield "gravity", re.sub(r"gravity: \[.*?\]", lambda m: m[0].replace("9.81", "1.62"), source)
    yield "bounds", re.sub(r"bounds: \[([0-9.]+),", "bounds: [0.0001,", source, count=1)
    yield "a mass", re.sub(r"mass: ([^,}\n]+)", r"mass: 2*(\1)", source, count=1)
    yield "an inertia", re.sub(r"inertia: ([^\[,}\n]+)", r"inertia: 3*(\1)", source, count=1)
    yield (
        "two bodies",
        re.sub(r"connects: \[(\w+), (\w+)\]", r"connects: [\2, \1]", source, count=1),
    )
    yield "a ratio", re.sub(r"(values: {\w+): ([^,]+),", r"\1: 2*(\2),", source, count=1)
    yield "an offset", re.sub(r"(values: {.*?})}", r"\1, offset: 1/10}", source, count=1)
    yield "a coupling less", re.sub(r"\n  \w+: {values: .*", "", source, count=1)


def _described_anew(document: Document, text: str) -> None:
    """The description that belongs to a text: the proofs are then those of another mechanism."""
    try:
        mechanism = loads(text, "the certificate's mechanism")
    except BaseparError:
        return
    used = [x for one in document["at_most"]["vectors"] for x in one["entries"].values()]
    columns = document["mechanism"].get("columns", ())
    further = select(mechanism, [column["name"] for column in columns])
    anew = json.loads(json.dumps(described(mechanism, used, further)))
    document["mechanism"] = anew | {"text": text}


def _parts_of(other: Document) -> Changes:
    for key in ("mechanism", "at_least", "at_most", "parameters"):
        yield f"another mechanism's {key}", lambda d, k=key: d.update({k: copy.deepcopy(other[k])})
    yield (
        "another mechanism's text",
        lambda d: d["mechanism"].update(text=other["mechanism"]["text"]),
    )
    yield "the other's minor", lambda d: d["at_least"].update(minor=other["at_least"]["minor"])
    yield "the other's pose", lambda d: d["at_least"].update(pose=other["at_least"]["pose"])


# Judged


def judge(forged: Forgery, true: Document) -> str:
    """`rejected`, `true`, or what went wrong."""
    try:
        verify(forged.document)
    except RejectedError:
        return "rejected"
    except Exception as error:
        return f"internal error {type(error).__name__}: {error}"
    found = falsehood(forged.document, true)
    return f"undetected: {found}" if found else "true"


def main() -> int:
    folder, *chosen = Path(sys.argv[1]), *sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    total: Counter[str] = Counter()
    certificates = {name: made(name) for name in chosen or MECHANISMS}
    for place, (name, true) in enumerate(certificates.items()):
        other = certificates[list(certificates)[place - 1]]
        count: Counter[str] = Counter()
        for number, forged in enumerate(forgeries(name, true, other)):
            found = judge(forged, true)
            count[found.partition(" ")[0].rstrip(":")] += 1
            if found == "true":
                print(f"  {name}, {forged.how}: confirmed, and true")
            elif found != "rejected":
                print(f"  {name}, {forged.how}: {found}", flush=True)
                text = json.dumps(forged.document, indent=1, ensure_ascii=False)
                (folder / f"{name}-{number}.json").write_text(text)
        print(f"{name}: {count.total()} forgeries, {dict(count)}", flush=True)
        total += count
    print(f"in all {total.total()}: {dict(total)}")
    return int(set(total) > {"rejected", "true"})


if __name__ == "__main__":
    sys.exit(main())
