"""Pages of the explorer that tests look at."""

import base64
import json
import re
from pathlib import Path

import numpy as np
import zarr

import basepar_core
from basepar_core.api import load
from basepar_core.dynamics import prepare
from sweeps.store import objects, seal
from tests.workflows.report.test_page import SWEEP, sweep
from workflows import moving
from workflows.explore import columns
from workflows.explore.page import MOST, page

HOSTILE = """</script><script>document.title='ran'</script><img src=x onerror=alert(1)>"""


def at_random(count, seed=0, **more):
    """Numbers at random (column, variant), and a page of them."""
    drawn = np.random.default_rng(seed).normal(size=(20, count))
    made = [columns.Column("variant", "", np.arange(count), "number", 0, "variant")]
    for k, values in enumerate(drawn):
        kind, unit = ("symbol", "m") if k < 6 else ("metric", "N*m")
        made.append(columns.Column(f"c{k}", unit, values, kind, int(k >= 6), f"c{k}"))
    documents, left = columns.fitting([one.document() for one in made], MOST)
    assert left == []
    document = {
        "said": "at random",
        "rows": count,
        "columns": documents,
        "states": [],
        "front": [0, 1],
        "front_of": ["c6", "c7"],
        "constraints": [],
        "constants": [],
        "units": columns.units(),
        "command": "basepar animate --variant s.zarr",
        "kit": None,
        **more,
    }
    return drawn, page("at random", "0", json.loads(json.dumps(document)))


#: Texts that would run, end what they stand in, or mean something to a language.
TEXTS = (
    HOSTILE,
    "\"><img src=x onerror=document.title='ran'>",
    "__proto__",
    "constructor",
    "x <= 3",
    "max(c, \u202e\u2028${1}`\\\" '",
    "=1+1",
)


def hostile(count=20):
    """A page whose every text would run, were it one, and that moves."""
    numbers = np.arange(count, dtype=float)
    kinds = ("number", "symbol", "objective", "constraint", "metric", "result", "result")
    made = [
        columns.Column(text, text, numbers + k, kind, 1, text, (("<=", 3.0),))
        for k, (kind, text) in enumerate(zip(kinds, TEXTS, strict=True))
    ]
    documents, _ = columns.fitting([one.document() for one in columns.named(made)], MOST)
    places = base64.b64encode(bytes(k % 2 for k in range(count))).decode()
    document = {
        "said": HOSTILE,
        "rows": count,
        "columns": documents,
        "states": [
            {"title": text, "texts": [text, HOSTILE], "type": "u1", "data": places}
            for text in TEXTS
        ],
        "front": [0],
        "front_of": list(TEXTS),
        "constraints": list(TEXTS),
        "constants": [{"word": text, "size": 1.0, "powers": [0.0] * 4} for text in TEXTS],
        "units": columns.units(),
        "command": HOSTILE,
        "kit": _renamed(moving.kit(prepare(load("four-bar")))),
    }
    return page(HOSTILE, HOSTILE, document)


def _renamed(kit):
    """A mechanism's data with another name for everything that has one."""
    kit["mechanism"] = kit["motion"]["name"] = HOSTILE
    kit["bodies"] = list(TEXTS[: len(kit["bodies"])])
    for mark, text in zip(kit["draft"]["marks"], TEXTS, strict=False):
        mark["name"] = text
    kit["draft"]["points"] = [
        {"name": text, "body": 1, "at": [1, "origin", 0, 0, 0.0]} for text in TEXTS
    ]
    for one in kit["motion"]["readings"]:
        one["name"] = one["unit"] = HOSTILE
    return kit


#: Names that a file may give, and that mean something to a script.
OWN = {
    "crank": "constructor",
    "coupler": "toString",
    "rocker": "hasOwnProperty",
    "lx3": "valueOf",
    "A": "isPrototypeOf",
    "B": "toLocaleString",
}


def hostile_store(folder):
    """A real sweep's store whose names mean something to scripts; then what somebody may do to it.

    That is to its title, units, labels and arrays, before it is sent to somebody.
    """
    text = (Path(basepar_core.__file__).parent / "library" / "four-bar.yaml").read_text()
    for name, other in OWN.items():
        text = re.sub(rf"\b{name}\b(?! (deg|\())", other, text)
    text = text.replace("name: four-bar", f"name: {json.dumps(HOSTILE[:60])}", 1)
    (folder / "bar.yaml").write_text(text)
    store = sweep(folder, SWEEP.format(mechanism="bar.yaml").replace("lx3", "valueOf"))
    group = zarr.open_group(store, mode="r+", use_consolidated=False)
    labels = np.array([HOSTILE, *TEXTS])[: group["base_parameter"].shape[0]]
    del group["base_parameter"]
    group.create_array("base_parameter", data=labels, dimension_names=("base_parameter",))
    group["torque_rms"].attrs["units"] = HOSTILE
    for name in ("x <= 3", TEXTS[1], "constructor"):
        array = group.create_array(
            name, data=np.arange(96.0), chunks=(32,), dimension_names=("variant",)
        )
        array.attrs["units"] = HOSTILE
    # Whoever changes a store can seal it again.
    there = objects.of(store)
    before = seal.read_copy(there)
    attributes = {**before.attributes, "title": HOSTILE}
    names = [*before.metadata, "x <= 3", TEXTS[1], "constructor"]
    seal.write(there, seal.take(there, attributes, names), {})
    other = store.with_name("<img src=x onerror=alert(1)>.zarr")
    store.rename(other)
    return other
