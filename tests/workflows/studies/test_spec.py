"""Study files: what they mean, all mistakes at once, and what makes two studies different."""

import hashlib
import warnings
from importlib.resources import files

import pytest

from basepar_core.errors import BaseparWarning, FileError
from basepar_core.files.mechanism_file import library_path
from sweeps.spec import own_metrics
from sweeps.spec.reader import from_document
from tests.workflows.study_specs import study_from
from workflows.studies import samplers
from workflows.studies.reader import load_study, parse_study
from workflows.studies.spec import Choices, Integers, Range
from workflows.studies.units import shown_units, si_units

STUDY = """
mechanism: four-bar
variables: {lx1: [0.2, 0.6], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}
objectives: {torque_rms: minimize}
constraints: ["stroke(D) >= 40 deg", "condition <= 1e4"]
sampler: {kind: tpe, seed: 3}
trials: 400
batch: 20
store: {path: four-bar-study.zarr}
study: {storage: four-bar-study.journal, name: torque}
"""


def mistakes(text):
    with pytest.raises(FileError) as caught:
        parse_study(text)
    return {mistake.path: mistake for mistake in caught.value.mistakes}


def test_the_example_of_the_format():
    spec = parse_study(STUDY)
    assert spec.variables == (
        ("lx1", Range(0.2, 0.6)),
        ("lx3", Range(1.0, 1.6)),
        ("Dx", Range(0.6, 1.4)),
    )
    assert [(line.text, line.direction, line.unit) for line in spec.objectives] == [
        ("torque_rms", "minimize", "N*m")
    ]
    assert spec.results == ("stroke(D)", "torque_rms", "condition")
    asked = spec.sweep.evaluation
    assert (asked.rank, asked.metrics) == ("numeric", ("stroke(D)", "torque_rms"))
    assert (spec.trials, spec.batch, spec.storing_chunk) == (400, 20, 5)
    assert (spec.store, spec.storage, spec.name) == (
        "four-bar-study.zarr",
        "four-bar-study.journal",
        "torque",
    )


def test_units_choices_and_integers(tmp_path):
    text = library_path("four-bar").read_text()
    text = text.replace(
        "Dx: {value: 1.0, unit: m, bounds: [0.6, 1.4]}", "Dx: {value: 1000, unit: mm}"
    )
    (tmp_path / "mine.yaml").write_text(text)
    file = tmp_path / "study.yaml"
    file.write_text("""
mechanism: mine.yaml
variables: {lx1: [200 mm, 0.6], lx3: {choices: [1.1, 1300 mm]}, Dx: {integer: [700, 1400]}}
objectives: {"torque_rms + torque_peak": minimize, lx1 + lx3: maximize, "stroke(D)": maximize}
trials: 7
""")
    spec = load_study(file)
    (_, lx1), (_, lx3), (_, dx) = spec.variables
    assert lx1 == Range(0.2, 0.6)
    assert lx3 == Choices((1.1, 1.3))
    assert isinstance(dx, Integers)
    assert (dx.low, dx.high, dx.si(703)) == (700, 1400, 0.703)
    assert (dx.parameter(0.703), dx.parameter(0.7035), dx.parameter(1.5)) == (703, None, None)
    assert [dx.at(0.0), dx.at(0.9999)] == [700, 1400]
    assert [lx3.at(0.0), lx3.at(0.99)] == [1.1, 1.3]
    assert [line.unit for line in spec.objectives] == ["N*m", "m", "1"]
    # Nothing speaks of the rank: it is not computed, and the excitation is not needed.
    assert spec.sweep.evaluation.rank == "none"
    assert (spec.store, spec.storage, spec.name) == (
        "study-study.zarr",
        "study-study.journal",
        "study",
    )


def test_all_mistakes_at_once():
    found = mistakes("""
mechanism: four-bar
variables: {lx1: [0.6, 0.2], lx9: [1, 2], rho: [1, 2], Dx: {integer: [3, 1]}, lx3: {choice: [1]}}
objectives: {torque_rns: minimize, "stroke(E)": minimize, condition: minimise}
constraints: ["stroke(X) >= 40 deg", "condition == 3", "stroke(D) >= 1 m", "lx1 < 1 m < 2 m"]
sampler: {kind: tpee, seed: -1}
trials: 0
batch: 20
store: {chunk: 7}
colour: red
""")
    assert [found[path].line for path in found] == sorted(one.line for one in found.values())
    assert set(found) == {
        "variables.lx1",
        "variables.lx9",
        "variables.rho",
        "variables.lx3.choice",
        "variables.lx3",
        "variables.Dx",
        "objectives.torque_rns",
        "objectives.stroke(E)",
        "objectives.condition",
        "constraints[0]",
        "constraints[1]",
        "constraints[2]",
        "constraints[3]",
        "sampler.kind",
        "sampler.seed",
        "trials",
        "store.chunk",
        "colour",
    }
    assert "did you mean 'torque_rms'?" in found["objectives.torque_rns"].message
    assert "did you mean 'minimize'?" in found["objectives.condition"].message
    said = "four-bar has no joint value {!r}; there are A, B, C, D"
    assert found["objectives.stroke(E)"].message == said.format("E")
    assert found["constraints[0]"].message == said.format("X")
    assert "two bounds" in found["constraints[1]"].message
    assert "does not divide the batch of 20" in found["store.chunk"].message
    assert "constants are never swept" in found["variables.rho"].message
    assert found["sampler.kind"].line == 6


def test_missing_sections_and_a_wrong_mechanism():
    assert set(mistakes("mechanism: four-bar")) == {"variables", "objectives", "trials"}
    found = mistakes(
        "mechanism: four-barr\nvariables: {a: [1, 2]}\nobjectives: {x: minimize}\ntrials: 5"
    )
    assert set(found) == {"mechanism"}


def test_samplers_say_what_they_cannot():
    found = mistakes(STUDY.replace("kind: tpe", "kind: cmaes"))
    assert "ignores constraints" in found["sampler.kind"].message


def test_one_value_per_drive():
    text = STUDY.replace("four-bar\n", "five-bar\n", 1).replace(
        "{lx1: [0.2, 0.6], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}", "{l1: [0.2, 0.3]}"
    )
    found = mistakes(text)
    message = found["objectives.torque_rms"].message
    assert "torque_rms has one value per drive: torque_rms(" in message


def test_the_hash_covers_what_fixes_the_rows_and_nothing_else():
    spec = parse_study(STUDY)
    for old, new, line in (
        ("seed: 3", "seed: 4", "sampler.seed: 4 here, 3 there"),
        ("40 deg", "41 deg", "constraints[0]: stroke(D) >= 41 deg here, stroke(D) >= 40"),
        ("torque_rms: minimize", "torque_rms: maximize", "objectives.torque_rms"),
        ("batch: 20", "batch: 10", "batch: 10 here, 20 there"),
        ("[0.2, 0.6]", "[0.2, 0.5]", "variables.lx1[1]: 0.5 here, 0.6 there"),
    ):
        other = parse_study(STUDY.replace(old, new))
        assert other.hash != spec.hash
        assert any(line in found for found in other.sweep.difference(spec.sweep.canonical))
    assert spec.at("elsewhere.zarr").hash == spec.hash
    assert spec.at("elsewhere.zarr").storage == "elsewhere.journal"


def test_the_store_keeps_the_specification():
    spec = parse_study(STUDY)
    again = from_document(spec.sweep.document())
    assert len(again) == 400
    assert again.hash == spec.hash
    assert again.plan.describe() == spec.plan.describe()


def test_more_trials_are_the_same_study():
    spec = parse_study(STUDY)
    assert spec.of(500).hash == spec.hash


def test_samplers_by_class_with_options():
    text = STUDY.replace(
        "{kind: tpe, seed: 3}",
        "{kind: NSGAIISampler, options: {population_size: 8, crossover_prob: 0.5}}",
    )
    spec = parse_study(text)
    assert spec.sampler.options == (("population_size", 8), ("crossover_prob", 0.5))
    assert spec.hash != parse_study(text.replace(": 8", ": 9")).hash
    found = mistakes(STUDY.replace("kind: tpe", "kind: tqe"))
    assert "own: file.py:Class" in found["sampler.kind"].message


MINE = """
from optuna.samplers import RandomSampler


class Mine(RandomSampler):
    def __init__(self, seed, twice=False):
        super().__init__(seed)
"""


def test_a_sampler_of_ones_own(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    text = STUDY.replace("{kind: tpe, seed: 3}", "{own: 'mine.py:Mine', options: {twice: true}}")
    spec = parse_study(text, str(tmp_path / "study.yaml"))
    by = samplers.sampler(spec, 0, 0)
    assert type(by).__name__ == "Mine"
    kept = spec.sweep.canonical["space"]["by"]["sampler"]
    assert kept["own"]["entry"] == f"{tmp_path}/mine.py:Mine"
    assert kept["own"]["sha256"] == hashlib.sha256(MINE.encode()).hexdigest()
    (tmp_path / "mine.py").write_text(MINE + "# another\n")
    assert parse_study(text, str(tmp_path / "study.yaml")).hash != spec.hash
    both = text.replace("own: 'mine.py:Mine'", "kind: tpe, own: 'mine.py:Mine'")
    with pytest.raises(FileError, match="without a kind"):
        parse_study(both, str(tmp_path / "study.yaml"))


def test_the_batch_suits_the_sampler():
    text = STUDY.replace("batch: 20\n", "")
    sizes = {
        kind: parse_study(text.replace("kind: tpe", f"kind: {kind}")).batch
        for kind in ("tpe", "random", "nsga2")
    }
    assert sizes["tpe"] < sizes["nsga2"] < sizes["random"]


def test_quantities_of_the_issue():
    """Everything that objectives and constraints may speak of, in one study."""
    spec = parse_study(
        STUDY.replace("{torque_rms: minimize}", '{"shaking_force_rms/mass": minimize}').replace(
            '["stroke(D) >= 40 deg", "condition <= 1e4"]',
            '["transmission_angle(B, C, D) >= 30 deg", "shaking_moment_peak <= 100 N*m", '
            '"mass <= 12 kg", "torque_peak <= 40 N*m", "rank >= 8", '
            '"selected_size(tolerance) <= 7"]',
        )
        + "reduction: {tolerance: 0.02}\nderive: {lx2: 2*lx1}\n".replace("lx2", "Dy")
    )
    asked = spec.sweep.evaluation
    assert set(asked.metrics) == {
        "shaking_force_rms",
        "mass",
        "transmission_angle(B,C,D)",
        "shaking_moment_peak",
        "torque_peak",
    }
    assert asked.rank == "numeric"
    assert (asked.reduction.criteria, asked.reduction.tolerance) == (("tolerance",), 0.02)
    assert spec.swept == ("lx1", "lx3", "Dx", "Dy")
    assert spec.objectives[0].unit == "m/s^2"
    again = from_document(spec.sweep.document())
    assert again.hash == spec.hash


def test_angles_without_a_unit_are_said_to_be_radians(recwarn):
    parse_study(STUDY)
    assert not [one for one in recwarn if issubclass(one.category, BaseparWarning)]
    bare = STUDY.replace("40 deg", "1")
    with pytest.warns(BaseparWarning, match=r"constraints: .* 1 rad, .* 57.3 deg; write '1 deg'"):
        assert parse_study(bare).constraints[0].text == "stroke(D) >= 1"
    angle = bare.replace("stroke(D)", "transmission_angle(B, C, D)")
    with pytest.warns(BaseparWarning, match="write '1 deg' or '1 rad'"):
        parse_study(angle)
    # More than a turn: nothing is computed by it.
    with pytest.raises(FileError, match=r"40 rad, which is 2292 deg; write '40 deg'"):
        parse_study(STUDY.replace("40 deg", "40"))
    aim = {"abs(stroke(D) - 1)": "minimize"}
    with pytest.warns(BaseparWarning, match="'abs"):
        study_from("four-bar", {"lx1": (0.2, 0.6)}, aim, trials=1, sampler="random")


def test_a_bare_angle_in_a_formula_is_said_in_python_too(tmp_path):
    angles = "geometry:\n  tilt: {value: 20, unit: deg}\n  turn: {value: 30, unit: deg}"
    (tmp_path / "turned.yaml").write_text(
        library_path("four-bar").read_text().replace("geometry:", angles)
    )

    def made(formula):
        aim = {"turn": "minimize"}
        follows = {"turn": formula}
        path = str(tmp_path / "turned.yaml")
        study_from(path, {"tilt": (0.2, 0.6)}, aim, trials=1, derive=follows)

    with pytest.warns(BaseparWarning, match=r"tilt \+ 2.*114.6 deg; write '2 deg'"):
        made("tilt + 2")
    with warnings.catch_warnings():
        warnings.simplefilter("error", BaseparWarning)
        made("tilt + 5 deg")


def test_units_are_those_that_metrics_state(monkeypatch):
    """What rad and A measure is a bare number to the grammar, and not to people."""
    monkeypatch.setattr(own_metrics, "_registered", {})
    own_metrics.metric("wear", unit="rad")(lambda cycle: cycle.joint("D")[:, 0])
    spec = study_from(
        "four-bar",
        {"lx1": (0.2, 0.6)},
        {"wear": "minimize", "selected_size(bic)": "minimize"},
        constraints=["stroke(D) >= 40 deg"],
        trials=1,
    )
    expected = {"wear": "rad", "stroke(D)": "rad", "selected_size(bic)": "1", "lx1": "m"}
    assert si_units(spec) == expected
    assert (shown_units(spec)["wear"].text, shown_units(spec)["lx1"].text) == ("deg", "m")
    aims = {"motor_current_rms(drive)": "minimize", "mean_speed": "maximize"}
    units = si_units(study_from("dwell", {"gear": (4, 16)}, aims, trials=1))
    assert units["motor_current_rms(drive)"] == "A"
    assert units["mean_speed"] == "rad/s"


@pytest.mark.parametrize("call", ["stroke(D)", "stroke( D )", "stroke (D)"])
def test_a_constraints_unit_is_shown_however_its_call_is_spaced(call):
    text = STUDY.replace('"stroke(D) >= 40 deg"', f'"{call} >= 40 deg"')
    assert call in text
    assert shown_units(parse_study(text))["stroke(D)"].text == "deg"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("transmission_angle(B, C, D) >= 120 deg", "the acute angle, at most 90 deg: transm"),
        ("2 rad < transmission_angle(B,C,D)", "2 rad < transmission_angle(B,C,D) is never met"),
        ("time_ratio(D) < 1", "time_ratio is slow over quick stroke, at least 1"),
        ("stroke(D) <= -5 deg", "at least 0: stroke(D) <= -5 deg is never met"),
    ],
)
def test_what_no_variant_meets_by_definition_is_a_mistake(line, told):
    (found,) = mistakes(STUDY.replace("condition <= 1e4", line)).values()
    assert found.path == "constraints[1]"
    assert told in found.message


def test_a_transmission_angle_at_the_driven_crank_is_told():
    with pytest.warns(BaseparWarning, match=r"pushed at transmission_angle\(B,C,D\)"):
        parse_study(STUDY.replace("condition <= 1e4", "transmission_angle(A, B, C) >= 30 deg"))


def test_what_all_meet_and_deviations_made_large_are_told(recwarn):
    aim = '{"function_error(D,f)": maximize, "time_ratio(D)": maximize}'
    limits = '["transmission_angle(B, C, D) <= 140 deg", "transmission_angle(B, C, D) >= 40 deg"]'
    targets = "{f: {points: [[1], [2]], timing: {A: [1, 2]}}}"
    parse_study(
        f"mechanism: four-bar\nvariables: {{lx1: [0.2, 0.6]}}\nobjectives: {aim}\n"
        f"constraints: {limits}\ntargets: {targets}\n"
    )
    worst, always = (str(one.message) for one in recwarn)
    assert worst.startswith("objectives.function_error(D,f) (line 3): function_error(D,f) is the")
    assert "`maximize` looks for the worst" in worst
    assert always.startswith("constraints[0] (line 4)")
    assert always.endswith("<= 140 deg is always met: leave it out.")


def test_a_point_without_its_coordinate():
    file = files("workflows") / "examples/mechanisms/straight-line.yaml"
    text = STUDY.replace("mechanism: four-bar\n", f"mechanism: {file}\n", 1).replace(
        "{lx1: [0.2, 0.6], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}", "{a: [40, 60]}"
    )
    message = mistakes(text.replace("torque_rms", "point_range(P)"))["objectives.point_range(P)"]
    assert message.message.endswith("write point_range(P.x) or point_range(P.y)")
