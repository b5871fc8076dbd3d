"""Whether a confirmed certificate states what is true: decided without its maker and its checker.

W comes from the plain float64 path, its rank from NumPy; grades and reasons are compared with
those of the true certificate.
"""

import math
from typing import Any

import numpy as np

from basepar_core.certificate.checker.checking import GRADES
from basepar_core.dynamics.closure import prepare
from basepar_core.dynamics.force_columns import observe_columns, select
from basepar_core.dynamics.motion import excitation
from basepar_core.dynamics.regressor import observe
from basepar_core.files.mechanism_file import loads

Document = dict[str, Any]

#: W n against the longest column and largest entry: rounding is 1e-15, wrong entries give 1e-3.
VANISHES = 1e-8
#: Length (SI) of a column that is zero but for rounding; the others are above 1e-3.
ZERO = 1e-9
#: Columns scaled to 1: what is dependent leaves rounding, some 1e-14 with loops.
DEPENDENT = 1e-9


def falsehood(document: Document, true: Document) -> str:
    """What a confirmed forgery states and is not true; nothing if all of it is."""
    mechanism = loads(document["mechanism"]["text"])
    model = prepare(mechanism)
    further = select(mechanism, [one["name"] for one in document["mechanism"].get("columns", ())])
    motion = excitation(mechanism, model.assembled.coordinates)
    seen = observe(model, {}, motion)
    W = seen.W[0].reshape(-1, seen.W.shape[-1])
    if further:
        more = observe_columns(model, {}, motion, seen.trace.q, further)[0]
        W = np.hstack([W, more.reshape(-1, len(further))])
    lengths = np.linalg.norm(W, axis=0)
    rank = int(np.linalg.matrix_rank(W / np.where(lengths > ZERO, lengths, 1), DEPENDENT))
    lower, upper = document["at_least"]["rank"], document["at_most"]["rank"]
    if not lower <= rank <= upper:
        return f"{lower} ≤ r ≤ {upper}, but the rank is {rank}"
    for k, vector in enumerate(document["at_most"]["vectors"]):
        n = np.zeros(len(document["parameters"]))
        for name, text in vector["entries"].items():
            n[document["parameters"].index(name)] = _value(text, mechanism.nominal)
        if np.linalg.norm(W @ n) > VANISHES * lengths.max() * np.abs(n).max():
            return f"vector {k} is no null vector"
    return _stronger(document, true)


def _value(text: str, symbols: Any) -> float:
    names = {name: getattr(math, name) for name in ("sin", "cos", "sqrt", "pi")}
    return float(eval(text, {"__builtins__": {}}, {**names, **symbols}))


def _stronger(document: Document, true: Document) -> str:
    """A grade above the true certificate's, or a reason that is not the vector's."""
    if GRADES.index(document["grade"]) < GRADES.index(true["grade"]):
        return f"{document['grade']} is more than {true['grade']}"
    known = [(one["entries"], one["reason"]) for one in true["at_most"]["vectors"]]
    for vector in document["at_most"]["vectors"]:
        stated = vector["entries"], vector["reason"]
        if vector["grade"] == "theorem" and stated not in known:
            return f"{vector['reason']!r} is the reason of no such vector"
    return ""
