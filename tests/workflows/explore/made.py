"""Pages of the explorer that tests look at."""

import base64
import json

import numpy as np

from workflows.explore import columns
from workflows.explore.page import page

HOSTILE = """</script><script>document.title='ran'</script><img src=x onerror=alert(1)>"""


def at_random(count, seed=0, **more):
    """Numbers at random (column, variant), and a page of them."""
    drawn = np.random.default_rng(seed).normal(size=(20, count))
    made = [columns.Column("variant", "", np.arange(count), "number", 0, "variant")]
    for k, values in enumerate(drawn):
        kind, unit = ("symbol", "m") if k < 6 else ("metric", "N*m")
        made.append(columns.Column(f"c{k}", unit, values, kind, int(k >= 6), f"c{k}"))
    documents, left = columns.fitting(made)
    assert left == []
    document = {
        "said": "at random",
        "rows": count,
        "columns": documents,
        "states": [],
        "front": [0, 1],
        "constraints": [],
        "units": columns.units(),
        "command": "basepar animate --variant s.zarr",
        "kit": None,
        **more,
    }
    return drawn, page("at random", "0", json.loads(json.dumps(document)))


def hostile(count=20):
    """A page whose every text would run, were it one."""
    numbers = np.arange(count, dtype=float)
    made = [
        columns.Column(HOSTILE, HOSTILE, numbers, kind, 1, HOSTILE, ("<=", 3.0))
        for kind in ("number", "symbol", "objective", "constraint", "metric", "result")
    ]
    documents, _ = columns.fitting(columns.named(made))
    places = base64.b64encode(bytes(range(count))).decode()
    words = {"title": HOSTILE, "texts": [HOSTILE] * count, "type": "u1", "data": places}
    document = {
        "said": HOSTILE,
        "rows": count,
        "columns": documents,
        "states": [words],
        "front": [0],
        "constraints": [HOSTILE],
        "units": columns.units(),
        "command": HOSTILE,
        "kit": None,
    }
    return page(HOSTILE, HOSTILE, document)
