"""Identification: another simulator's slider-crank, UR10 with friction; followed motions."""

from dataclasses import replace

import numpy as np
import pytest

from basepar_core.base.extended import extend
from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics import closure, force_columns, motion
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import MotionError, UsageError
from basepar_core.expressions.tree import Number
from basepar_core.files import mechanism_file
from basepar_core.identification import procedure as module
from basepar_core.identification.dependents import standard_parameters
from basepar_core.identification.estimate import estimate
from basepar_core.identification.measurement import read_measurement
from basepar_core.identification.motion_regressor import follow, observe_motion
from basepar_core.identification.procedure import Choices, identify
from basepar_core.mechanism import Friction
from tests.core import identification_data as data


@pytest.fixture(scope="module")
def slider_crank():
    return data.slider_crank()


@pytest.fixture(scope="module")
def known_base(slider_crank):
    return symbolic(slider_crank, data.ELIMINATED)


@pytest.fixture(autouse=True)
def _derived_once(monkeypatch, slider_crank, known_base):
    """Base parameters of the slider-crank are derived once for all tests."""

    def found(model, wanted):
        return known_base if model is slider_crank else symbolic(model, wanted)

    monkeypatch.setattr(module, "symbolic", found)


@pytest.fixture(scope="module")
def exact(slider_crank):
    return read_measurement(data.TRAIN, slider_crank.mechanism, data.EXACT)


def by_name(found):
    return dict(zip(found.names, found.estimate.values, strict=True))


@pytest.mark.parametrize("rates", [True, False], ids=["rates given", "from positions"])
def test_exact_signals_give_the_base_parameters(slider_crank, exact, rates):
    record = exact if rates else replace(exact, rates=None)
    found = identify(slider_crank, record, wanted=data.ELIMINATED)
    assert set(found.names) == set(data.BASE)
    for name, value in by_name(found).items():
        # At 125 Hz the splines that differentiate err by 1e-7 themselves (1e-9 at 1 kHz).
        assert value == pytest.approx(data.BASE[name], abs=1e-7 if rates else 1e-6)
    # The simulator's torque is right to 2e-8 N m; splines' accelerations err at the record's ends.
    assert found.training.relative_error < (1e-6 if rates else 1e-4)
    assert {n.kind for n in found.notes} <= {"correlated", "insignificant"}


@pytest.mark.slow
def test_errors_of_noisy_draws_are_those_of_the_torque_noise_alone(
    slider_crank, exact, known_base
):
    base = known_base
    rng = np.random.default_rng(20)
    names, errors, inside = base.base_names, [], []
    wanted = np.array([data.BASE[name] for name in names])
    for _ in range(60):
        found = identify(slider_crank, data.noisy(rng), wanted=data.ELIMINATED)
        errors.append(found.estimate.values - wanted)
        inside.append(np.abs(errors[-1]) <= found.estimate.half_widths())
    W = observe(slider_crank, {}, _motion(exact)).stacked[0][:, list(base.kept)]
    bound = data.cramer_rao(W, data.SIGMA_TAU)
    rms = np.sqrt(np.mean(np.square(errors), axis=0))
    assert (rms <= 1.25 * bound).all()
    # 360 intervals, six at a time correlated: 0.95 ± three times 1.5 %.
    assert np.mean(inside) > 0.90


def _motion(record):
    return motion.Motion(record.t, record.q, *record.rates)


@pytest.mark.slow
def test_followed_at_once_is_followed_sample_by_sample(slider_crank, exact):
    some = replace(exact, t=exact.t[:400])
    targets = exact.q[:, :400]
    fast, plain = follow(slider_crank, targets), closure.trace(slider_crank, {}, targets)
    np.testing.assert_allclose(fast.q, plain.q, atol=1e-12)  # both at Newton's rounding
    assert fast.margin == pytest.approx(plain.margin, rel=1e-6)
    moving = motion.Motion(some.t, targets, *(x[:, :400] for x in exact.rates))
    np.testing.assert_allclose(
        observe_motion(slider_crank, moving).W, observe(slider_crank, {}, moving).W, atol=1e-9
    )


def test_a_motion_that_cannot_be_followed_says_where(slider_crank):
    text = slider_crank.mechanism.source.replace("value: 0.08", "value: 0.3")
    model = closure.prepare(mechanism_file.loads(text, "long crank"))
    q = np.linspace(0, 3, 200)[None]  # the rod reaches sin q = 25/30 only
    with pytest.raises(MotionError, match=r"at t = .* Check units and zero") as caught:
        observe_motion(model, motion.Motion(np.linspace(0, 1, 200), q, 0 * q + 3, 0 * q))
    sample = int(caught.value.where[0].split()[1])
    assert abs(q[0, sample] - np.arcsin(25 / 30)) < 0.03  # a sample or two


# Known, essential and dependent parameters.


def test_known_parameters_go_to_the_right_hand_side(slider_crank, exact):
    known = {"crank.my": 0.0, "rod.my": 0.0}
    found = identify(slider_crank, exact, wanted=data.ELIMINATED, choices=Choices(known=known))
    assert set(found.names) == set(data.BASE) - set(known)
    # A wrong one shifts the others, by what it carries.
    wrong = identify(
        slider_crank, exact, wanted=data.ELIMINATED, choices=Choices(known={"rod.J": 0.03})
    )
    assert by_name(wrong)["crank.mx"] != pytest.approx(0.0448, rel=1e-2)
    assert wrong.base_values[list(wrong.base.base_names).index("rod.J")] == 0.03
    # The record is of the file's parameters: they are compared with what they give here.
    np.testing.assert_allclose(wrong.stated, wrong.estimate.values, atol=1e-7)
    np.testing.assert_allclose(found.stated, found.estimate.values, atol=1e-7)
    with pytest.raises(UsageError, match="`dependent=`"):
        identify(
            slider_crank, exact, wanted=data.ELIMINATED, choices=Choices(known={"slider.m": 1.0})
        )


def test_essential_parameters_are_those_that_are_not_zero(slider_crank):
    record = data.noisy(np.random.default_rng(4))
    found = identify(slider_crank, record, wanted=data.ELIMINATED, choices=Choices(essential=True))
    assert set(found.dropped) == {"crank.my", "rod.my"}
    np.testing.assert_allclose(found.stated, [data.BASE[name] for name in found.names], rtol=1e-14)


def test_dependent_parameters_come_back_without_changing_any_torque(slider_crank, exact):
    found = identify(slider_crank, exact, wanted=data.ELIMINATED)
    W = observe_motion(slider_crank, _motion(exact)).stacked[0]
    names = slider_crank.mechanism.parameter_names
    true = slider_crank.mechanism.inertial_parameters(slider_crank.mechanism.nominal)
    chosen = standard_parameters(found, {"rod.m": 0.22, "slider.m": 0.25})
    # The paper's update with the true masses gives the true parameters (Table 1).
    for name, value in zip(names, true, strict=True):
        if name not in ("crank.m", "slider.J"):  # no effect: left at zero
            assert chosen[name] == pytest.approx(value, abs=1e-7)
    least = standard_parameters(found, "minimum-norm")
    zero = standard_parameters(found)
    torque = [W @ [one[name] for name in names] for one in (chosen, least, zero)]
    np.testing.assert_allclose(torque[1], torque[0], atol=1e-12)
    np.testing.assert_allclose(torque[2], torque[0], atol=1e-12)
    sizes = [np.linalg.norm(list(one.values())) for one in (least, chosen, zero)]
    assert sizes[0] < min(sizes[1:])
    # Least norm: no component along the null space of [1 β].
    L = np.concatenate([np.eye(6), found.base.nominal_beta], axis=1)
    order = [*found.base.kept, *found.base.eliminated]
    phi = np.array([least[names[k]] for k in order])
    np.testing.assert_allclose(phi, np.linalg.pinv(L) @ (L @ phi), atol=1e-12)
    with pytest.raises(UsageError, match="`known=`"):
        standard_parameters(found, {"crank.J": 1.0})


def test_validation_on_another_record(slider_crank):
    rng = np.random.default_rng(6)
    second = data.noisy(rng, data.VALIDATION)
    found = identify(slider_crank, data.noisy(rng), wanted=data.ELIMINATED, second=second)
    # What is left is the torque noise; parameters add a percent of it.
    assert found.validation.rms[0] == pytest.approx(data.SIGMA_TAU, rel=0.08)
    truth = data.columns(data.VALIDATION)["tau"]
    off = found.validation.predicted[0] - truth
    assert np.sqrt(np.mean(off**2)) < 0.1 * data.SIGMA_TAU * np.sqrt(6)
    assert "validation" not in {note.kind for note in found.notes}


def test_validation_on_the_record_itself_is_told(slider_crank):
    record = data.noisy(np.random.default_rng(6))
    found = identify(slider_crank, record, wanted=data.ELIMINATED, second=record)
    (note,) = (note for note in found.notes if note.kind == "validation")
    assert "that the parameters come from (all)" in note.text
    assert "so its error validates nothing" in note.text
    assert "disjoint parts of this one with `rows=` and `validate_rows=`" in note.text


# UR10 with friction: do 95 % intervals hold the true values 95 times in a hundred?


@pytest.mark.slow
def test_intervals_of_a_robot_with_friction_cover():
    plain = mechanism_file.load("ur10")
    kinds = {"viscous": Number(5), "coulomb": Number(3)}
    friction = tuple(Friction(q, k, v) for q in plain.coordinates for k, v in kinds.items())
    mechanism = replace(plain, friction=friction)
    model = closure.prepare(mechanism)
    law = replace(mechanism.excitation, samples=2000)
    moving = motion.excite(law, mechanism, model.assembled.coordinates)
    chosen = force_columns.columns(mechanism)
    seen = observe_motion(model, moving, chosen)
    base = extend(model, symbolic(model), chosen, seen)
    phi = np.concatenate(
        [
            mechanism.inertial_parameters(mechanism.nominal),
            force_columns.column_values(mechanism, chosen, mechanism.nominal),
        ]
    )
    exact = base.combine(phi[None], base_entries(base))[0]
    W = seen.stacked[0][:, list(base.kept)]
    tau = seen.stacked[0] @ phi
    np.testing.assert_allclose(W @ exact, tau, atol=1e-9 * np.abs(tau).max())
    groups = np.tile(np.arange(6), 2000)
    sigma = np.array([5.0, 4.0, 3.0, 1.0, 0.6, 0.3])[groups]
    rng = np.random.default_rng(11)
    inside = []
    for _ in range(200):
        found = estimate(W, tau + sigma * rng.standard_normal(tau.size), groups, "weighted")
        inside.append(np.abs(found.values - exact) <= found.half_widths())
    share = np.mean(inside)
    assert base.rank == 36 + 12
    assert 0.93 <= share <= 0.97


def base_entries(base):
    return np.array([[entry.value] for entry in base.beta]).reshape(len(base.beta), 1)
