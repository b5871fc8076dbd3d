"""Torque functions with friction, rotors, offsets, springs and dampers: W φ in another way."""

import json
import re
import shutil

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics.closure import prepare
from basepar_core.dynamics.force_columns import select, with_columns
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import UsageError
from basepar_core.files.mechanism_file import loads
from basepar_core.torque_code.program import torque_program
from tests.core.certificate.test_certificate_columns import SPATIAL
from tests.workflows.export.test_torque_code import compiled, module, motion_of, pointer, sample
from workflows.export.torque_code import write

SAMPLES = 12
EVERY = "[viscous, coulomb, offset, rotor]"
#: Columns on coordinates, on joints in the loop, at the cut joint, and between points.
LOOPS = {
    "five-bar": (
        f"friction: {{A: {EVERY}, C: {EVERY}, E: [viscous, coulomb, offset]}}\n"
        "springs:\n  S: {joint: C, rest: -60 deg}\n"
        "  L: {connects: [left_crank, right_rod], at: [[0.1, 0.6], [0.1, 0]], rest: lx1}\n"
        "dampers: {d: {connects: [ground, left_rod], at: [[0, 1], [lx2, 0.1]]}}\n"
    ),
    "slider-crank": (
        f"friction: {{A: {EVERY}, B: {EVERY}, D: [viscous, coulomb, offset]}}\n"
        "springs: {S: {joint: D, rest: lx2}}\n"
    ),
}
TEXTS = {
    name: re.sub("(?m)^friction:.*$", "", load(name).source) + text for name, text in LOOPS.items()
} | {"chain": SPATIAL}


def with_every_column(name):
    """A model, its columns, some parameters without symmetry, torques, and what they are of."""
    one = prepare(loads(TEXTS[name]))
    words = [w for w in ("friction", "springs", "dampers") if f"{w}:" in TEXTS[name]]
    further, motion = select(one.mechanism, words), motion_of(one)
    seen = with_columns(one, {}, motion, observe(one, {}, motion), further)
    phi = np.random.default_rng(4).uniform(0.5, 2.0, seen.W.shape[-1])
    return one, further, phi, seen.W[0] @ phi, motion


@pytest.mark.parametrize("name", TEXTS)
def test_python_is_the_regressor_times_parameters(name):
    one, further, phi, expected, motion = with_every_column(name)
    program = torque_program(one, range(len(phi)), further)
    assert program.names[-len(further) :] == tuple(column.name for column in further)
    found = module(write(program, phi, "python"))
    state = list(found["START"])
    ours = [found["torque"](*sample(motion, k), state=state) for k in range(SAMPLES)]
    # Rounding through the loops' inverses, whose condition is below 1e4 here.
    assert np.abs(np.array(ours) - expected[:SAMPLES]).max() <= 1e-11 * np.abs(expected).max()


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_c_is_the_same_and_forward_dynamics_goes_back(tmp_path):
    one, further, phi, expected, motion = with_every_column("slider-crank")
    library = compiled(write(torque_program(one, range(len(phi)), further), phi, "c"), tmp_path)
    text = write(torque_program(one, [0]), [1.0], "python")
    state, tau, back = np.array(module(text)["START"]), np.empty(1), np.empty(1)
    for k in range(SAMPLES):
        q, qd, qdd = (np.array(x) for x in sample(motion, k))
        assert library.torque(*map(pointer, (q, qd, qdd, phi, state, tau))) == 0
        assert np.abs(tau - expected[k]).max() <= 1e-11 * np.abs(expected).max()
        # Rotors and friction are in the equations of motion: accelerations come back.
        assert library.acceleration(*map(pointer, (q, qd, tau, phi, state, back))) == 0
        np.testing.assert_allclose(back, qdd, rtol=0, atol=1e-8 * (1 + np.abs(qdd).max()))


@pytest.mark.parametrize(
    ("name", "column", "why"),
    [
        ("slider-crank", "friction: {CUT: [rotor]}", "acts on a joint that is cut"),
        ("five-bar", "springs: {S: {joint: CUT, rest: 0}}", "needs the angle of a joint that is"),
    ],
)
def test_what_cannot_be_written_out_is_refused_by_name(name, column, why):
    plain = prepare(load(name))
    cut = plain.mechanism.joints[plain.topology.cuts[0].joint].name
    text = re.sub("(?m)^friction:.*$", "", load(name).source) + column.replace("CUT", cut)
    one = prepare(loads(text + "\n"))
    further = select(one.mechanism, [column.split(":")[0]])
    with pytest.raises(UsageError, match=rf"cannot be written out: it {why}"):
        torque_program(one, [len(one.mechanism.parameter_names)], further)


def test_reduce_exports_them(run, tmp_path):
    values = "friction: {A: {viscous: 0.02, coulomb: 0.1, rotor: 0.01}}"
    path, made = tmp_path / "mine.yaml", tmp_path / "mine.py"
    path.write_text(re.sub("(?m)^friction:.*$", values, load("four-bar").source))
    ran = run("reduce", str(path), "--with", "friction", "--export", str(made), "--json")
    assert ran.status == 0, ran.err
    found = module(made.read_text())
    size = ran.json["export"]["size"]
    assert found["PARAMETERS"] == ran.json["export"]["parameters"]
    assert len(found["PARAMETERS"]) == size
    assert {"A.viscous", "A.coulomb"} & set(json.loads(ran.out)["base"])
