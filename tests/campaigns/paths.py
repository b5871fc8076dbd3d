"""Four-bar paths of the literature: printed designs' own errors, and what a study finds.

python -m tests.campaigns.paths [CASE …] [--seeds 3] [--table]

Errors are sums of squares over a target's points, in the paper's own unit of length, computed
here from circles that meet and from nothing of the product. Ours are found in three steps with
the product's own parts: a study screens shapes, which the target's fit places (`fit: [position,
rotation, scale]`); the best distinct ones, placed, start descents by all lengths, places and
angles within the paper's ranges. Evaluations: rows, and for every design with slopes one more per
variable; of the screening's descents as many as there may have been.
"""

import argparse
import json
import tempfile
import time
from dataclasses import replace

import numpy as np
import yaml

from basepar_core.metrics import curve_shapes
from cluster.client import connect
from cluster.places import Laptop
from sweeps.run import sweep
from sweeps.spec.reader import parse_sweep
from sweeps.store import Store
from tests.campaigns.path_errors import (
    compared,
    is_met,
    needs_order,
    outside,
    path,
    printed,
    squares,
    turns_fully,
)
from tests.campaigns.printed_paths import CASES, NAMES
from workflows.studies.descents import descend
from workflows.studies.feasibility import judge
from workflows.studies.gradients import Landscape
from workflows.studies.screening import DESCENTS, MOST
from workflows.studies.study import load_job, study

EVERY = (*NAMES, "start")
#: Share of the evaluations that are rows of the study, and how many at most; of an atlas, where
#: there is one; designs of a descent in the end.
ROWS, MOST_ROWS, MAPPED, LAST = 0.06, 512, 0.2, 80
#: Shapes from which descents begin at most.
STARTS = 40
#: Samples of the cycle while shapes are screened, and in the end: the cubics' share of the error
#: is 1e-7 of the path's size, and 3e-11.
SCREENED, ENDED, EXACT = 128, 256, 1024


def mechanism(case, samples, shape):
    """The four-bar of the papers, its crank turned by `start` from its fixed line."""
    middle = dict.fromkeys(EVERY, 0.0)
    size = 1.0 if shape else 0.2 * case.bars[1]
    middle |= {"r1": 4.0 * size, "r2": size, "r3": 3.5 * size, "r4": 4.0 * size}
    middle |= {"cx": 2.0 * size, "cy": size, "start": case.start or 0.0}
    angles = ("th", "start")
    geometry = {
        name: {"value": float(middle[name]), "unit": "rad" if name in angles else "m"}
        for name in EVERY
    }
    B = middle["r2"] * np.exp(1j * middle["start"])
    C = complex(path([*list(middle.values())[:4], middle["r3"], 0, 0, 0, 0], middle["start"]))
    turned = "th + start"
    joints = {
        "A": ("ground", "crank", ["x0", "y0"], [0, 0]),
        "B": ("crank", "coupler", [f"r2*cos({turned})", f"r2*sin({turned})"], [0, 0]),
        "C": ("coupler", "rocker", ["r3", 0], ["r4", 0]),
        "D": ("ground", "rocker", ["x0 + r1*cos(th)", "y0 + r1*sin(th)"], [0, 0]),
    }
    # Of a stated timing the part of the turn that it is of, its points at samples: the best half
    # circles of print fold at the last point, between samples nothing like a cubic.
    turns = 1.0
    if not shape and case.turns is not None:
        each = (samples - 1) // (len(case.turns) - 1)
        turns = float(samples * case.turns[1] / each / (2 * np.pi))
    return {
        "name": "path",
        "space": "planar",
        "gravity": [0, 0],
        "geometry": geometry,
        "bodies": {"crank": {}, "coupler": {}, "rocker": {}},
        "joints": {
            name: {"type": "revolute", "connects": [first, second], "at": [here, there]}
            for name, (first, second, here, there) in joints.items()
        },
        "coordinates": ["A"],
        "assembly": {"A": 0, "points": {"B": _pair(B), "C": _pair(C)}},
        "cycle": {
            "joints": {"A": {"kind": "constant_speed", "speed": "1 rad/s", "turns": turns}},
            "samples": samples,
        },
        "points": {"P": {"body": "coupler", "at": ["cx", "cy"]}},
    }


def limits(case, shape):
    """Full rotation, and order while shapes are screened; in the end that is looked at.

    In the end Grashof's rule in its three parts: of bars in pairs of equal length two hold at
    once, and a descent is to see both.
    """
    if shape:
        asks = case.turns is None and needs_order(case)
        return ["full_rotation(A) >= 0 m", *["order_defects(P, wanted) <= 0"] * asks]
    return ["r2 + r1 <= r3 + r4", "r2 + r3 <= r1 + r4", "r2 + r4 <= r1 + r3"]


def _pair(number):
    return [float(number.real), float(number.imag)]


def is_scaled(case):
    """Whether shapes are searched with the crank 1 m long: not of points on a line, which any
    large mechanism meets."""
    spread = np.linalg.svd(np.stack([case.points.real, case.points.imag]) - _mean(case))[1]
    return bool(spread[1] > 1e-6 * spread[0])


def _mean(case):
    return np.array([[case.points.real.mean()], [case.points.imag.mean()]])


def variables(case, shape):
    """Ranges by name: of shapes, whose crank is 1 m long, or of the paper."""
    start = {} if case.turns is None or case.start is not None else {"start": [0.0, 2 * np.pi]}
    if shape and is_scaled(case):
        bars = {name: [1.0, 6.0] for name in ("r1", "r3", "r4")}
        return bars | {"cx": [-5.0, 5.0], "cy": [-5.0, 5.0]} | start
    found = {name: list(case.bars) for name in NAMES[:4]}
    found |= {name: list(case.rest) for name in ("cx", "cy")}
    if shape or case.held:
        return found | start
    found |= {name: list(case.rest) for name in ("x0", "y0")}
    return found | {"th": [-np.pi, 3 * np.pi]} | start


def asked(case, folder, trials, shape):
    """A study of a case as a document: of shapes, or of all that the paper lets move."""
    place = f"{folder}/path{int(shape)}.yaml"
    with open(place, "w", encoding="utf-8") as file:
        samples = EXACT if is_met(case) else ENDED
        yaml.safe_dump(mechanism(case, SCREENED if shape else samples, shape), file)
    target = {"points": [_pair(point) for point in case.points]}
    free = [] if case.turns is not None else ["timing"]
    if shape:
        free += [] if case.held else ["position", "rotation"]
        free += ["scale"] if is_scaled(case) else []
    target["fit"] = free
    if case.turns is not None:
        target["timing"] = {"A": case.turns.tolist()}
    return json.loads(
        json.dumps(
            {
                "mechanism": place,
                "variables": variables(case, shape),
                "targets": {"wanted": target},
                "objectives": {"path_error(P, wanted)": "minimize"},
                "constraints": limits(case, shape),
                "sampler": {"kind": "screen", "seed": 0},
                "trials": trials,
                "store": {"path": f"{folder}/run{int(shape)}.zarr"},
                "study": {"storage": f"{folder}/run{int(shape)}.journal", "name": "path"},
            }
        )
    )


def is_mapped(case):
    """Whether shapes begin from an atlas: of points that go round, the timing free."""
    points = np.stack([case.points.real, case.points.imag], axis=1)
    return case.turns is None and is_scaled(case) and curve_shapes.is_ring(points)


def atlas(document, folder, count, seed, client):
    """The store of a sweep of shapes in the study's ranges."""
    plan = {"plan": "sobol", "candidates": count, "seed": seed}
    asks = {
        "mechanism": document["mechanism"],
        "space": plan | {"variables": document["variables"]},
        "evaluate": {"rank": "none", "metrics": ["fourier_descriptors(P)"]},
        "store": {"path": f"{folder}/atlas.zarr"},
    }
    sweep(parse_sweep(json.dumps(asks)), client)
    return f"{folder}/atlas.zarr"


def placed(case, shape, start):
    """A shape by NAMES with the scale and place that bring its path nearest to the points."""
    if case.turns is not None:
        found = path(shape, start + case.turns)
        if case.held:
            scale = (found.conj() @ case.points).real / (found.conj() @ found).real
            return _scaled(shape, complex(scale), 0j)
        return _scaled(shape, *_similar(found, case.points))
    turn = np.linspace(0, 2 * np.pi, 2001)[:-1]
    curve, best = path(shape, turn), (np.inf, 1 + 0j, 0j)
    free = is_scaled(case)
    for direction in range(16):
        w = np.exp(1j * direction * np.pi / 8)
        w *= case.size / np.abs(curve - curve.mean()).max() if free else 1.0
        t = case.points.mean() - w * curve.mean()
        for _ in range(30):
            feet = np.abs((w * curve + t)[:, None] - case.points).argmin(axis=0)
            w, _ = _similar(curve[feet], case.points)
            w = w if free else w / abs(w)
            t = (case.points - w * curve[feet]).mean()
        left = np.abs(w * curve[feet] + t - case.points)
        best = min(best, (float((left**2).sum()), w, t), key=lambda one: one[0])
    return _scaled(shape, *best[1:])


def _similar(found, wanted):
    """Scale and rotation as one complex factor, and a shift, by least squares."""
    a, b = found - found.mean(), wanted - wanted.mean()
    w = (a.conj() @ b) / (a.conj() @ a).real
    return w, wanted.mean() - w * found.mean()


def _scaled(shape, w, t):
    return np.concatenate([np.array(shape[:6]) * abs(w), [t.real, t.imag, np.angle(w)]])


def run(name, seed, client):
    """The best design of one seed, with its error recomputed."""
    case, begun = CASES[name], time.time()
    rows = 64 * max(1, int(min(ROWS * case.evaluations, MOST_ROWS) / 64))
    with tempfile.TemporaryDirectory() as folder:
        document = asked(case, folder, rows, True)
        mapped = 0
        if is_mapped(case):
            mapped = 1 << int(np.log2(MAPPED * case.evaluations))
            document["warm_start"] = atlas(document, folder, mapped, seed, client)
        spec = load_job(document, f"{folder}/run1.zarr")
        spec = replace(spec, sampler=replace(spec.sampler, seed=seed))
        study(spec, client)
        starts = _starts(case, spec)
        exact = load_job(asked(case, folder, 64, False), f"{folder}/run0.zarr")
    rounds = len(list(spec.rounds())) - 1
    spent = mapped + rows + rounds * DESCENTS * MOST * (1 + len(spec.variables))
    landscape, each = Landscape.of(exact), 1 + len(exact.variables)
    found, tried = [], 0

    def ended(design, most):
        """Follow the slopes from a design, and look at where they end."""
        nonlocal spent, tried
        end = descend(landscape, design, None, min(most, (case.evaluations - spent) // each))
        spent, tried = spent + end.evaluations * each, tried + 1
        values = [end.design.get(key, 0.0) for key in NAMES]
        start = end.design.get("start", case.start or 0.0)
        error, ordered = squares(case, values, start)
        ordered |= not needs_order(case)
        if ordered and turns_fully(values) and not outside(case, values):
            found.append((error, [*values, start], end.design))

    for start in starts:
        if spent + 10 * each <= case.evaluations:
            ended(_within(case, exact, start), LAST)
    while found and spent + 10 * each <= case.evaluations:  # the best goes on while it gets better
        before = min(one[0] for one in found)
        ended(min(found, key=lambda one: one[0])[2], 5 * LAST)
        if min(one[0] for one in found) >= before * (1 - 1e-9):
            break
    best = min(found, key=lambda one: one[0], default=(np.inf, []))
    return {
        "case": name,
        "seed": seed,
        "atlas": mapped,
        "rows": rows,
        "descents": tried,
        "evaluations": spent,
        "seconds": round(time.time() - begun, 1),
        "squares": best[0],
        "design": dict(zip(EVERY, map(float, best[1]), strict=False)),
    }


def _starts(case, spec):
    """The study's best designs, apart from each other by 2 % of some range, placed."""
    store = Store.open(spec.path)
    verdict = judge(spec, store, 0, spec.trials)
    order = np.argsort(np.where(verdict.feasible, verdict.values[:, 0], np.inf), kind="stable")
    wide = np.array([variable.high - variable.low for _, variable in spec.variables])
    kept, found = [], []
    for row in order[: int(verdict.feasible.sum())]:
        values = verdict.parameters[row]
        if all(np.abs((values - other) / wide).max() > 0.02 for other in kept):
            kept.append(values)
            design = dict.fromkeys(EVERY, 0.0) | {"r2": 1.0}
            design |= dict(zip(spec.names, map(float, values), strict=True))
            start = design["start"] if case.start is None else case.start
            found.append((placed(case, [design[key] for key in NAMES], start), start))
        if len(found) == STARTS:
            break
    return found


def _within(case, exact, start):
    """A placed shape as a design of the exact study, moved into its ranges."""
    design = dict(zip(EVERY, [*start[0], start[1] % (2 * np.pi)], strict=True))
    return {
        name: float(np.clip(design[name], variable.low, variable.high))
        for name, variable in exact.variables
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=[*CASES])
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    lines = {}
    for name in options.cases:
        for one in CASES[name].printed:
            own, best, ordered = printed(CASES[name], one)
            line = {"case": name, "printed": one.who, "stated": one.error, "own": own}
            print(json.dumps(line | {"best": best, "in order": ordered}), flush=True)
            lines.setdefault(name, []).append((one.who, best))
    if not options.seeds:
        return
    with connect(Laptop(workers=1)) as client:
        for name in options.cases:
            for seed in range(options.seeds):
                found = run(name, seed, client)
                against = [
                    compared(CASES[name], found["squares"], best) for _, best in lines[name]
                ]
                print(json.dumps(found | {"against": against}), flush=True)


if __name__ == "__main__":
    main()
