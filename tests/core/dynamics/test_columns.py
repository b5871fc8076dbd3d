"""Friction, offset, rotor, spring and damper columns against differences of the joint values."""

from dataclasses import replace

import numpy as np
import pytest

from basepar_core.base import symbolic_route
from basepar_core.base.extended import extend
from basepar_core.dynamics import closure, joint_tracks, kinematics, motion, spatial
from basepar_core.dynamics.force_columns import column_values, columns, observe_columns, select
from basepar_core.errors import FileError, MissingDataError, UsageError
from basepar_core.expressions.tree import Number
from basepar_core.files import mechanism_file
from basepar_core.mechanism import Damper, Friction, Spring
from basepar_core.reduction import reduce
from tests.core.dynamics.test_regressor import LOOPS, single

KINDS = ("viscous", "coulomb", "offset", "rotor")
#: Fourth-order central differences: the step's error is about h⁴ of the fifth derivative.
STEP = 1e-3
FIRST = np.array([1, -8, 0, 8, -1]) / 12
SECOND = np.array([-1, 16, -30, 16, -1]) / 12


def everywhere(mechanism):
    """The mechanism with every column on every joint value, springs and dampers across bodies."""
    names = [name for joint in mechanism.joints for name in joint.values]
    friction = tuple(Friction(name, kind) for name in names for kind in KINDS)
    springs = [Spring(f"s{k}", Number(1), name) for k, name in enumerate(names)]
    points = tuple(tuple(Number(n) for n in p) for p in ((1, 2, 0), (-1, 1, 0)))
    ends = (mechanism.bodies[0].name, mechanism.bodies[-1].name)
    springs.append(Spring("across", Number(2), None, ends, points))
    springs.append(Spring("ground", Number(0), None, ("ground", ends[1]), points))
    dampers = (Damper("piston", ends, points), Damper("dashpot", ("ground", ends[1]), points))
    return replace(mechanism, friction=friction, springs=tuple(springs), dampers=dampers)


def tracked(model, targets, start):
    """Joint values (name: sample) and spring lengths where the coordinates are set."""
    path = closure.trace(model, {}, np.concatenate([start[:, None], targets], axis=1))
    assert path.outcome[0] == closure.Outcome.CLOSED
    names = [name for joint in model.mechanism.joints for name in joint.values]
    found = {n: x[0, 1:] for n, x in joint_tracks.tracks(model, {}, path.q, names)}
    return found | lengths(model, path.q[..., 1:])


def lengths(model, q):
    """Lengths (sample,) of the springs between points."""
    dims = kinematics.geometry(model.mechanism, {}).over_samples()
    at = kinematics.poses(model.topology, dims, q)
    number = {"ground": -1} | {b.name: k for k, b in enumerate(model.mechanism.bodies)}
    found = {}
    for spring in (*model.mechanism.springs, *model.mechanism.dampers):
        if spring.bodies:
            ends = [
                at.p[number[name]]
                + spatial.rotate(
                    at.R[number[name]], np.array([float(x.value) for x in p])[:, None, None]
                )
                for name, p in zip(spring.bodies, spring.points, strict=True)
            ]
            found[spring.name] = np.linalg.norm(ends[1] - ends[0], axis=0)[0]
    return found


def expected(model, moving, s):
    """Columns (coordinate, column) at a sample, from tracked values only."""
    q, v, a = (x[:, s : s + 1] for x in (moving.q, moving.q_dot, moving.q_ddot))
    h = STEP * np.arange(-2, 3)
    along = tracked(model, q + v * h + a * h**2 / 2, q[:, 0])
    across = [
        tracked(model, q + np.eye(len(q))[:, [k]] * h, q[:, 0]) for k in range(len(moving.q))
    ]
    rows = np.empty((len(moving.q), len(columns(model.mechanism))))
    for place, column in enumerate(columns(model.mechanism)):
        name = getattr(column.source, "coordinate", None) or column.source.name
        x = along[name]
        first, second = FIRST @ x / STEP, SECOND @ x / STEP**2
        law = {
            "viscous": first,
            "coulomb": np.sign(first),
            "offset": 1.0,
            "rotor": second,
            "damping": first,
            "stiffness": x[2] - float(getattr(column.source, "rest", Number(0)).value),
        }[column.kind]
        rows[:, place] = [law * (FIRST @ one[name]) / STEP for one in across]
    return rows


MECHANISMS = {name: lambda name=name: single(name, swap=True) for name in LOOPS} | {
    name: lambda name=name: mechanism_file.load(name)
    for name in ("four-bar", "slider-crank", "five-bar", "ur10", "stewart-gough")
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_columns_are_laws_times_derivatives_of_joint_values(name):
    model = closure.prepare(everywhere(MECHANISMS[name]()))
    full = motion.excitation(model.mechanism, model.assembled.coordinates)
    few = [0, full.t.size // 2]
    moving = motion.Motion(*(getattr(full, n)[..., few] for n in ("t", "q", "q_dot", "q_ddot")))
    path = closure.trace(model, {}, moving.q)
    found = observe_columns(model, {}, moving, path.q, columns(model.mechanism))[0]
    for s in range(len(few)):
        wanted = expected(model, moving, s)
        size = np.abs(wanted).max()
        # Second differences of rounding: 1e-15/h² = 1e-9 of the values, tens in the stencil and
        # the step's own h⁴ = 1e-12 times what fast derivatives make of it.
        np.testing.assert_allclose(found[s], wanted, rtol=1e-5, atol=1e-7 * size)


def test_variants_have_their_own_columns():
    mechanism = everywhere(mechanism_file.load("four-bar"))
    model = closure.prepare(mechanism)
    moving = motion.excitation(mechanism, model.assembled.coordinates)
    values = {"lx1": np.array([0.25, 0.3, 0.35])}
    chosen = columns(mechanism)
    path = closure.trace(model, values, moving.q)
    found = observe_columns(model, values, moving, path.q, chosen)
    for variant, length in enumerate(values["lx1"]):
        one = {"lx1": np.array([length])}
        alone = observe_columns(model, one, moving, closure.trace(model, one, moving.q).q, chosen)
        # One mechanism by one sequence of operations: only the order of sums may differ.
        np.testing.assert_allclose(found[variant], alone[0], rtol=1e-11, atol=1e-12)


# Base parameters and reduction with them.


def with_values(name, friction, springs=()):
    return replace(mechanism_file.load(name), friction=friction, springs=tuple(springs))


def test_a_rotor_on_the_ground_cannot_be_told_from_its_link():
    mechanism = with_values("four-bar", (Friction("A", "viscous"), Friction("A", "rotor")))
    model = closure.prepare(mechanism)
    base = symbolic_route.symbolic(model)
    found = extend(model, base, columns(mechanism))
    assert found.rank == base.rank + 1
    assert found.eliminated_names[-1] == "A.rotor"
    shares = {found.base_names[e.base]: e.value for e in found.beta if e.eliminated == 4}
    # crank.J itself is eliminated or kept: either way the rotor enters where it does.
    own = {
        base.base_names[e.base]: e.value
        for e in base.beta
        if base.eliminated_names[e.eliminated] == "crank.J"
    } or {"crank.J": 1.0}
    assert shares == pytest.approx(own, rel=1e-9)  # least squares on W, condition below 1e3


def test_coulomb_friction_is_an_offset_where_the_speed_keeps_its_sign():
    text = mechanism_file.load("four-bar").source.replace(
        "excitation: {",
        "excitation: {kind: sines, duration: 1 s, samples: 40, terms: {A: ["
        "[5, 0.3, 0.2], [0.02, 20, 0]]}}\nno_excitation: {",
    )
    text = "\n".join(line for line in text.splitlines() if not line.startswith("no_exc"))
    mechanism = replace(
        mechanism_file.loads(text, "one-way"),
        friction=(Friction("A", "coulomb"), Friction("A", "offset")),
    )
    model = closure.prepare(mechanism)
    found = extend(model, symbolic_route.symbolic(model), columns(mechanism))
    assert found.eliminated_names[-1] == "A.offset"
    assert found.certificate.at_most_grade == "numerical"
    (entry,) = [e for e in found.beta if e.eliminated == len(found.eliminated) - 1]
    assert (found.base_names[entry.base], entry.value) == ("A.coulomb", pytest.approx(1, abs=1e-9))


def test_counts_without_columns_are_inertial():
    model = closure.prepare(mechanism_file.load("four-bar"))
    base = symbolic_route.symbolic(model)
    assert extend(model, base, ()) is base
    found = extend(model, base, select(model.mechanism, ["friction"]))
    assert (base.rank, found.rank, len(found.parameters)) == (8, 10, 14)
    rows = found.document()["base"]
    assert rows[0]["terms"] == base.document()["base"][0]["terms"]
    assert found.document()["route"] == "symbolic, further columns numeric"


def test_reduction_of_a_model_with_friction_and_a_spring():
    numbers = {"viscous": Number(2), "coulomb": Number(3)}
    friction = tuple(Friction("A", kind, value) for kind, value in numbers.items())
    spring = Spring("S", Number(0), "D", stiffness=Number(5))
    mechanism = with_values("four-bar", friction, [spring])
    model = closure.prepare(mechanism)
    chosen = select(mechanism, ["friction", "springs"])
    base = extend(model, symbolic_route.symbolic(model), chosen)
    found = reduce.reduce_mechanism(model, base, columns=chosen)
    full = dict(zip(found.names, found.path.values[0, 0], strict=True))
    # The full model's own torque is explained exactly by its own values.
    assert found.path.torque_error[0, 0] < 1e-10
    # The cycle turns at constant speed: viscous and Coulomb friction act alike, only one stays.
    assert found.path.dependent[0] >= 1
    speed = 6.28
    total = full["A.viscous"] * speed + full["A.coulomb"]
    assert total == pytest.approx(2 * speed + 3, rel=1e-3)
    assert full["S.stiffness"] == pytest.approx(5, rel=1e-6)


def test_a_damper_between_points_from_file_to_base_parameters():
    """Between the pivots of a bar it is nothing; across a four-bar it is one parameter more."""
    source = mechanism_file.load("four-bar").source
    ends = "connects: [ground, coupler], at: [[0, 0], [lx2, 0]]"
    text = source + f"\ndampers: {{Z: {{{ends}, damping: 3 N*s/mm}}}}\n"
    mechanism = mechanism_file.loads(text, "damped")
    (damper,) = mechanism.dampers
    assert float(damper.damping.value) == 3000
    model = closure.prepare(mechanism)
    base = symbolic_route.symbolic(model)
    chosen = select(mechanism, ["dampers"])
    found = extend(model, base, chosen)
    assert (found.rank, found.base_names[-1]) == (base.rank + 1, "Z.damping")
    assert found.certificate.at_most_grade == "numerical"
    # Along a bar no distance changes: the column is no effect, and says so.
    rigid = text.replace(ends, "connects: [ground, crank], at: [[0, 0], [lx1, 0]]")
    model = closure.prepare(mechanism_file.loads(rigid, "rigid"))
    dampers = select(model.mechanism, ["dampers"])
    assert extend(model, base, dampers).no_effect[-1] == 12
    # Power that it takes is the damping times the squared rate of its length.
    moving = motion.excitation(mechanism, closure.prepare(mechanism).assembled.coordinates)
    path = closure.trace(closure.prepare(mechanism), {}, moving.q)
    column = observe_columns(closure.prepare(mechanism), {}, moving, path.q, chosen)[0, :, 0, 0]
    assert (column * moving.q_dot[0] >= 0).all()


def test_dampers_that_are_none():
    source = mechanism_file.load("four-bar").source
    with pytest.raises(FileError) as caught:
        mechanism_file.loads(source +
                    "\ndampers: {A: {connects: [ground, crank], at: [[0, 0], [1, 0]]}, "
                    "C: {joint: A}}\n", "wrong")  # fmt: skip
    text = str(caught.value)
    assert "names a joint or spring already" in text
    assert "friction: {A: [viscous]}" in text


def test_values_that_are_missing_are_asked_for():
    mechanism = mechanism_file.load("four-bar")
    with pytest.raises(MissingDataError, match=r"A\.viscous, A\.coulomb"):
        column_values(mechanism, columns(mechanism), mechanism.nominal)


def test_unknown_columns_are_named_all_at_once():
    with pytest.raises(UsageError) as caught:
        select(mechanism_file.load("four-bar"), ["friction", "A.viscos", "B.rotor"])
    assert caught.value.where == ("A.viscos", "B.rotor")
    assert "did you mean 'A.viscous'" in caught.value.message
