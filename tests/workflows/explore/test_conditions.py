"""The page's conditions against the reader of `where:` itself, in Chromium."""

import json

import numpy as np
import pytest

from basepar_core.errors import ExpressionError
from basepar_core.expressions import LENGTH, NUMBER, UNITS, evaluate, parse_comparison
from tests.workflows import browser
from workflows.explore import columns
from workflows.explore.page import script
from workflows.moving import player

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        browser.executable() is None,
        reason="no Chromium on the PATH (Debian: apt-get install chromium)",
    ),
]

TORQUE = UNITS["N"].dimension * LENGTH
#: Columns of the page: in mm, in N m, an angle in degrees, a number.
NAMES = {"lx1": LENGTH, "h": LENGTH, "torque_rms": TORQUE, "stroke(D)": NUMBER, "rank": NUMBER}
SHOWN = {"lx1": "m", "h": "mm", "torque_rms": "N*m", "stroke(D)": "deg", "rank": ""}
GOOD = [
    "lx1 <= 0.4 m",
    "lx1 + h >= 40 cm",
    "2*lx1 < 3*h + 100 mm",
    "sqrt(lx1^2 + h^2)/lx1 > 2/3*cos(30 deg)",
    "torque_rms <= 6 N*m",
    "torque_rms/lx1 <= 12 kg*m/s^2",
    "torque_rms <= 6 kg*m^2/s^2",
    "stroke( D ) >= 40 deg",
    "stroke(D) >= 0.7",
    "-lx1 <= -0.35 m",
    "lx1*lx1 <= (0.3 m)^2 + 0.05 m^2",
    "max(lx1, h) >= 0.5 m",
    "min(lx1, 0.4 m) == 0.4 m",
    "lx1 > 0",
    "abs(h - lx1) <= 10 cm",
    "rank == 8",
    "rank^2 >= 50",
    "1/lx1 <= 3/m",
    "lx1 <= 1/2 m",
    "lx1 <= 4e-1 m",
    "lx1 <= (1 - 0.6) m",
    "2^-1 m >= lx1",
    "lx1/h - 1 < tan(stroke(D))",
    "lx1^-1 <= 3/m",
    "lx1^(1+1) <= 0.16 m^2",
    "rank^(6/2) >= 500",
]
BAD = [
    "lx1 <= 2",
    "lx1 <= 2 kg",
    "lx1 + rank <= 2 m",
    "alert(1) <= 2",
    "lx1 h <= 1 m",
    "lx1 = 1 m",
    "lx1",
    "lx1 <= 1 m <= 2 m",
    "lx1 ** 2 <= 1 m^2",
    "lx1 <= 1,5 m",
    "sin(lx1) <= 1",
    "(lx1 <= 1 m",
    "lx1 <= m",
    "lx1 <= 3 in",
    "pi <= 3",
    "sqrt <= 1",
    "lx1^lx1 <= 1 m",
    "lx1 <= \u2212 1 m",
    "constructor <= 1",
    "lx1 <= 1 constructor",
    "toString(lx1) <= 1",
    "toString(rank) <= 1",
    "rank <= 1e400",
]
READ = """(lines => lines.map(line => {
  try { const test = read(line); return values.map((_, r) => test(r)); }
  catch (error) { return String(error.message); }
}))"""


def test_the_same_is_selected_and_the_same_is_rejected():
    rng = np.random.default_rng(3)
    count = 200
    si = {
        "lx1": rng.uniform(0.2, 0.6, count),
        "h": rng.uniform(0.1, 0.7, count),
        "torque_rms": rng.uniform(1, 12, count),
        "stroke(D)": rng.uniform(0, 2, count),
        "rank": rng.integers(5, 9, count).astype(float),
    }
    data = [
        {"word": name, "size": size, "powers": powers, "values": (si[name] / size).tolist()}
        for name, unit in SHOWN.items()
        for size, powers in [columns._measure(unit)]
    ]
    begin = f"""(() => {{
      const columns = {json.dumps(data)}, values = columns[0].values;
      const read = conditions(columns, {json.dumps(columns.units())});
      return {READ}({json.dumps([*GOOD, *BAD])});
    }})()"""
    # Without the page's own last lines, which start it.
    text = player() + "\n" + script().rpartition('"use strict";')[0]
    with browser.browser() as chromium:
        told = chromium.show(
            "about:blank", width=400, scheme="light", deeds=[f"{text};{begin}"]
        ).told[0]
    for line, found in zip(GOOD, told, strict=False):
        left, right = parse_comparison(line, NAMES).arguments
        expression = parse_comparison(line, NAMES)
        (keep,) = evaluate([expression], si)
        a, b = (np.broadcast_to(x, count) for x in evaluate([left, right], si))
        near = np.abs(a - b) <= 1e-12 * (np.abs(a) + np.abs(b))  # rounding decides there
        assert isinstance(found, list), (line, found)
        assert ((np.array(found) == keep) | near).all(), line
        assert 0 < np.sum(found) <= count, line
    for line, found in zip(BAD, told[len(GOOD) :], strict=True):
        with pytest.raises(ExpressionError):
            parse_comparison(line, NAMES)
        assert isinstance(found, str), line
