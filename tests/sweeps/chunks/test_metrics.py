"""Metrics of a sweep beyond torques: geometry, shaking, mass, and a user's own."""

from dataclasses import replace

import cloudpickle
import numpy as np
import pytest

from basepar_core.dynamics.motion import cycle
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import FileError, MechanismError, MissingDataError
from basepar_core.files import mechanism_file
from basepar_core.files.mechanism_file import library_path
from sweeps.chunks.evaluator import prepare
from sweeps.run.isolation import in_pieces
from sweeps.run.standing import layout_of
from sweeps.spec import own_metrics
from sweeps.spec.own_metrics import MetricError, metric
from sweeps.spec.plans import Sobol
from sweeps.spec.reader import from_document, parse_sweep
from sweeps.spec.sweep_spec import Evaluation, SweepSpec
from sweeps.store.statuses import REASONS, Status, reason_texts

SWEEP = """
mechanism: four-bar
space: {plan: sobol, variables: {lx1: [0.2, 0.9], lx3: [1.0, 1.6]}, candidates: 16}
evaluate:
  rank: none
  metrics: [mass, shaking_force_rms, "transmission_angle(B, C, D)"]
  own: {reach: reach.py:reach}
"""
REACH = '''
import numpy
from sweeps.spec.own_metrics import metric

def farthest(points):
    return numpy.sqrt((points**2).sum(axis=-1)).max(axis=-1)

@metric("far", unit="m")
def reach(cycle):
    """Farthest the rocker's pin comes from the crank's."""
    return farthest(cycle.position("rocker"))
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "reach.py").write_text(REACH)
    return tmp_path


def evaluated(spec):
    evaluator = prepare(spec)
    columns = spec.plan.rows(0, len(spec))
    return evaluator, columns, evaluator(columns, np.ones(len(spec), bool))


def test_named_metrics_and_an_own_one(folder):
    spec = parse_sweep(SWEEP, str(folder / "sweep.yaml"))
    evaluator, columns, found = evaluated(spec)
    units = {output.name: output.unit for output in evaluator.outputs}
    assert units["mass"] == "kg"
    assert units["shaking_force_rms"] == "N"
    assert units["transmission_angle_B_C_D"] == "rad"
    assert units["reach"] == "m"
    good = found["status"] == Status.SOLVED
    assert 0 < good.sum() < 16  # some cranks are too long
    rho = spec.mechanism.nominal["rho"]
    mass = rho * (columns["lx1"] + np.hypot(0.7, 1.1) + columns["lx3"])
    np.testing.assert_allclose(found["mass"][good], mass[good], rtol=1e-14)
    assert np.isnan(found["mass"][~good]).all()
    # Between the coupler less the crank and both together, from the crank's pin.
    arm = np.hypot(0.7, 1.1)
    assert (found["reach"][good] <= arm + columns["lx1"][good] + 1e-12).all()
    assert (found["reach"][good] >= arm - columns["lx1"][good]).all()
    assert (found["transmission_angle_B_C_D"][good] <= np.pi / 2).all()


@pytest.mark.slow
def test_the_own_metric_travels_by_value(folder, tmp_path):
    """In another process without the file: as on a cluster's worker."""
    import subprocess
    import sys

    spec = parse_sweep(SWEEP, str(folder / "sweep.yaml"))
    own = spec.evaluation.own[0]
    (tmp_path / "own.pickle").write_bytes(cloudpickle.dumps(own))
    (folder / "reach.py").unlink()
    code = (
        "import pickle, numpy; own = pickle.load(open('own.pickle', 'rb'))\n"
        "class Cycle:\n"
        "    count, q = 2, numpy.zeros((1, 2, 3))\n"
        "    def position(self, body): return numpy.ones((2, 3, 3)) * numpy.array([3.0, 4.0, 0])\n"
        "print(own(Cycle()).tolist())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[5.0, 5.0]"


def test_the_store_finds_it_again_and_another_function_is_another_sweep(folder):
    spec = parse_sweep(SWEEP, str(folder / "sweep.yaml"))
    assert from_document(spec.document()).hash == spec.hash
    (folder / "reach.py").write_text(REACH.replace("the rocker's pin", "pin C"))
    other = parse_sweep(SWEEP, str(folder / "sweep.yaml"))
    assert other.hash != spec.hash
    assert any("evaluate.own.reach.sha256" in line for line in other.difference(spec.canonical))


def test_sweeps_without_own_metrics_keep_their_hash(folder):
    plain = parse_sweep(SWEEP.replace("  own: {reach: reach.py:reach}\n", ""))
    assert "own" not in plain.canonical["evaluate"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    return cycle.joint('X')", r"metric bad .* raised MechanismError: No joint .*'X'"),
        ("    return 1 / 0", r"raised ZeroDivisionError: division by zero \(line 3 of .*bad.py"),
        ("    return [1.0, 2.0, 3.0]", r"returned an array of shape \(3,\); \(1,\) is needed"),
        ("    return ['much']", r"returned values of the type <U4; real numbers are needed"),
        ("    return ['1.5']", r"returned values of the type <U3"),
        ("    return [None]", r"returned values of the type object"),
        ("    return [1 + 0.5j]", r"returned complex numbers, such as 1\+0.5j; .* Return \.real"),
    ],
)
def test_a_metric_that_fails_says_where(body, said, tmp_path):
    (tmp_path / "bad.py").write_text(f"def bad(cycle):\n    '''Bad.'''\n{body}\n")
    text = SWEEP.replace("reach: reach.py:reach", "bad: bad.py:bad")
    spec = parse_sweep(text, str(tmp_path / "sweep.yaml"))
    with pytest.raises(MetricError, match=said):
        prepare(spec).warm(spec.plan.names)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("[True] * cycle.count", 1.0),
        ("np.full(cycle.count, 3, np.uint8)", 3.0),
        ("np.full(cycle.count, 2 + 0j)", 2.0),  # a root of a real polynomial, say
    ],
)
def test_numbers_of_other_types(body, expected, tmp_path):
    (tmp_path / "good.py").write_text(
        f"import numpy as np\n\n\ndef good(cycle):\n    return {body}\n"
    )
    text = SWEEP.replace("reach: reach.py:reach", "good: good.py:good")
    _, _, found = evaluated(parse_sweep(text, str(tmp_path / "sweep.yaml")))
    good = found["status"] == Status.SOLVED
    assert good.any()
    assert (found["good"][good] == expected).all()


NOT_FINITE = """
import numpy as np


def odd(cycle):
    found = np.arange(cycle.count, dtype=float)
    return np.where(cycle.symbols["lx1"] > 0.5, VALUE, found)


def even(cycle):
    return np.ma.masked_greater(cycle.symbols["lx3"], 1.3)
"""


@pytest.mark.parametrize("value", ["np.nan", "np.inf", "-np.inf"])
def test_values_that_are_not_finite_are_said(value, tmp_path):
    """Not *solved* without a word: special, with a reason that names the metric."""
    (tmp_path / "own.py").write_text(NOT_FINITE.replace("VALUE", value))
    text = SWEEP.replace("reach: reach.py:reach", "odd: own.py:odd, even: own.py:even")
    spec = parse_sweep(text, str(tmp_path / "sweep.yaml"))
    evaluator, columns, found = evaluated(spec)
    closed = np.isfinite(found["mass"])
    odd, even = columns["lx1"] > 0.5, columns["lx3"] > 1.3
    assert (closed & odd & ~even).any()
    assert (closed & ~odd & even).any()
    expected = np.where(odd | even, Status.SPECIAL, Status.SOLVED)[closed]
    np.testing.assert_array_equal(found["status"][closed], expected)
    texts = {**REASONS, **layout_of(spec, evaluator).texts}
    said = reason_texts(found["reason"], found["reason_value"], texts)
    number = value.removeprefix("np.").replace("-np.", "-")
    assert set(said[closed & odd]) == {f"the own metric odd has no finite value (it is {number})"}
    assert set(said[closed & even & ~odd]) == {
        "the own metric even has no finite value (it is nan)"
    }
    assert set(said[closed & ~odd & ~even]) == {""}


def test_a_complex_value_is_one_variants_affair(tmp_path):
    """Cut into pieces, only the variants that have it crash, and the text says why."""
    (tmp_path / "own.py").write_text(
        "import numpy as np\n\n\ndef root(cycle):\n"
        "    return np.emath.sqrt(0.5 - cycle.symbols['lx1'])\n"
    )
    text = SWEEP.replace("reach: reach.py:reach", "root: own.py:root")
    spec = parse_sweep(text, str(tmp_path / "sweep.yaml"))
    evaluator, columns = prepare(spec), spec.plan.rows(0, 16)
    with pytest.raises(MetricError):
        evaluator(columns, np.ones(16, bool))
    wanted = np.ones(16, bool)
    found, errors = in_pieces(evaluator, evaluator, columns, wanted, "", 60.0)
    # Who does not close is not asked.
    crashed = found["status"] == Status.CRASHED
    assert crashed.any()
    assert (columns["lx1"][crashed] > 0.5).all()
    assert (columns["lx1"][found["status"] == Status.SOLVED] <= 0.5).all()
    assert all("complex numbers" in text for _, text in errors)
    assert len(errors) == crashed.sum()


def test_texts_of_a_strange_store_are_no_formats():
    hostile = {7: "{value.__class__} {value:9999999999f} {0} {value:.2f} {value:zz}"}
    (said,) = reason_texts(np.array([7]), np.array([1.5]), hostile)
    assert said == "{value.__class__} {value:9999999999f} {0} 1.50 {value:zz}"


def test_mistakes_of_names():
    text = SWEEP.replace("mass, shak", "mas, stroke(X), shak").replace("B, C, D", "B, D, D")
    text = text.replace("reach: reach.py:reach", "reach: nowhere.py:reach, mass: os:getcwd")
    with pytest.raises(FileError) as caught:
        parse_sweep(text)
    found = {mistake.path: mistake.message for mistake in caught.value.mistakes}
    assert "did you mean 'mass'" in found["evaluate.metrics[0]"]
    assert "no joint value 'X'" in found["evaluate.metrics[1]"]
    assert "no joints B,C,D of a transmission 'B,D,D'" in found["evaluate.metrics[3]"]
    assert "cannot be read: FileNotFoundError" in found["evaluate.own.reach"]
    # Python's own modules are everywhere: by value, nothing that uses them could be unpickled.
    assert "os" not in cloudpickle.list_registry_pickle_by_value()


def test_registered_by_a_decorator():
    @metric("slowest", unit="rad/s")
    def slowest(cycle):
        return np.abs(np.gradient(cycle.joint("D"), cycle.motion.t, axis=1)).min(axis=1)

    try:
        text = SWEEP.replace("[mass", "[slowest, mass").replace(
            "  own: {reach: reach.py:reach}", ""
        )
        spec = parse_sweep(text)
        assert spec.evaluation.built_in == (
            "mass",
            "shaking_force_rms",
            "transmission_angle(B,C,D)",
        )
        _, _, found = evaluated(spec)
        assert (found["slowest"][found["status"] == Status.SOLVED] >= 0).all()
        assert slowest.__name__ == "slowest"
    finally:
        own_metrics._registered.pop("slowest")


FIVE = """
mechanism: five.yaml
space: {plan: sobol, variables: {lx1: [0.28, 0.32], Ex: [0.45, 0.55]}, candidates: 4}
evaluate: {rank: none, metrics: [METRICS]}
"""


def driven(folder, drives, metrics="torque_rms, torque_peak"):
    """A sweep of the five-bar with other drives than its two coordinates A and E."""
    text = library_path("five-bar").read_text(encoding="utf-8")
    named = text.replace("coordinates: [A, E]", f"coordinates: [A, E]\nactuated: [{drives}]")
    (folder / "five.yaml").write_text(named, encoding="utf-8")
    return parse_sweep(FIVE.replace("METRICS", metrics), str(folder / "sweep.yaml"))


def test_torques_of_some_of_the_coordinates(folder):
    """The driven coordinate's rows of W φ, by the plain path one variant at a time."""
    evaluator, columns, found = evaluated(driven(folder, "E"))
    assert (found["status"] == Status.SOLVED).all()
    model = evaluator.model
    motion = cycle(model.mechanism, model.assembled.coordinates)
    seen = observe(model, columns, motion)
    for row in range(4):
        here = {name: values[row] for name, values in columns.items()}
        phi = model.mechanism.inertial_parameters({**model.mechanism.nominal, **here})
        torque = seen.W[row, :, 1] @ phi
        # Two ways to close loops to 1e-13; torques of one N m and their sums keep ten digits.
        assert found["torque_rms"][row] == pytest.approx(np.sqrt((torque**2).mean()), rel=1e-10)
        assert found["torque_peak"][row] == pytest.approx(np.abs(torque).max(), rel=1e-10)
    _, _, both = evaluated(driven(folder, "A, E"))
    np.testing.assert_array_equal(found["torque_rms"], both["torque_rms"][:, 1])


@pytest.mark.parametrize(
    ("drives", "words"),
    [
        ("C", r"\(C\) C is none\. Choose the driven joints as coordinates"),
        ("A, C", r"\(A, C\) C is none\. Choose the driven joints as coordinates"),
        ("A, C, E", "3 drives and 2 degrees of freedom the motion does not say how they share"),
        ("", r"\(none\) none is named\. Name the coordinates that are driven"),
    ],
)
def test_drives_that_are_no_coordinates(folder, drives, words):
    with pytest.raises(MechanismError, match=words):
        prepare(driven(folder, drives))


def test_drives_do_not_matter_where_no_torque_is_asked_for(folder):
    spec = driven(folder, "C", "stroke(C)")
    assert spec.mechanism.actuated == ("C",)
    _, _, found = evaluated(spec)
    _, _, plain = evaluated(driven(folder, "A, E", "stroke(C)"))
    np.testing.assert_array_equal(found["stroke_C"], plain["stroke_C"])


@pytest.mark.slow
def test_a_sweep_of_paths_needs_no_excitation_and_says_the_same_without_torques():
    """Statuses, reasons and margins are those of variants whose W is made as well."""
    source = library_path("four-bar").read_text()
    bare = "\n".join(x for x in source.splitlines() if not x.startswith("excitation"))
    points = "points: {P: {body: coupler, at: [0.3, 0.2]}}"
    mechanism = mechanism_file.loads(f"{bare}\n{points}\n")
    plan = Sobol((("lx1", 0.2, 0.9), ("lx3", 1.0, 1.6)), 64)
    found = []
    for metrics in (("point_range(P.x)",), ("point_range(P.x)", "torque_rms")):
        spec = SweepSpec(mechanism, plan, evaluation=Evaluation("none", metrics=metrics))
        found.append(prepare(spec)(plan.rows(0, 64), np.ones(64, bool)))
    alone, both = found
    assert {Status.SOLVED, Status.LOST} <= set(alone["status"].tolist())
    for name in ("status", "reason", "reason_value", "branch", "point_range_P.x"):
        np.testing.assert_array_equal(alone[name], both[name])
    solved = alone["status"] == Status.SOLVED
    # The same determinants over the same pivots; sums in another order.
    np.testing.assert_allclose(alone["margin"][solved], both["margin"][solved], rtol=1e-12)
    asks = replace(spec, evaluation=Evaluation("numeric", metrics=metrics))
    with pytest.raises(MissingDataError, match="states no excitation"):
        prepare(asks)
