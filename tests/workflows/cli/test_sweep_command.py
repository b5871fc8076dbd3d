"""`basepar sweep` and `status` on real processes and real stores."""

import numpy as np
import pytest
import xarray as xr

from workflows.jobs import sweep

pytestmark = pytest.mark.slow

SWEEP = """
mechanism: four-bar
space:
  plan: sobol
  variables: {lx1: [0.2, 1.5], lx2: [0.5, 0.9], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}
  candidates: 96
  seed: 7
evaluate: {rank: auto, metrics: [torque_rms, torque_peak]}
store: {chunk: 32}
"""


@pytest.fixture
def job(tmp_path):
    file = tmp_path / "job.yaml"
    file.write_text(SWEEP)
    return str(file), str(tmp_path / "job.zarr")


def closes_all_round(data: xr.Dataset) -> np.ndarray:
    """Whether the crank can turn: no triangle of ground diagonal, coupler and rocker opens."""
    coupler = np.hypot(data.lx2.values, 1.1)
    ground = np.hypot(data.Dx.values, 0.1)
    rocker, crank = data.lx3.values, data.lx1.values
    return (ground + crank < coupler + rocker) & (
        np.abs(ground - crank) > np.abs(coupler - rocker)
    )


def test_unassemblable_variants_are_results(run, job):
    spec, store = job
    ran = run("sweep", spec, "--store", store, "--workers", "2", "--json")
    assert ran.status == 0
    found = ran.json
    assert found["total"] == found["evaluated"] == 96
    assert found["done"]
    assert sum(found["counts"].values()) == 96
    # The constant-speed cycle turns the crank; half of this space cannot follow.
    assert found["counts"]["lost during motion"] > 10
    assert sum(reason["count"] for reason in found["reasons"]) == 96 - found["counts"]["solved"]
    data = xr.open_zarr(store)
    solved = data.status.values == 1
    # Whatever turned all round can turn; what cannot be assembled at 34 deg may still turn on
    # another branch, so the other direction holds for motion, not for assembly.
    assert closes_all_round(data)[solved].all()
    assert not closes_all_round(data)[data.status.values == 4].any()
    for name in ("torque_rms", "torque_peak", "rank_gap", "condition"):
        assert np.isfinite(data[name].values[solved]).all()
        assert np.isnan(data[name].values[~solved]).all()
    assert (data["rank"].values[solved] == 8).all()


def test_rerun_does_nothing_and_status_agrees(run, job, tmp_path, monkeypatch):
    spec, store = job
    first = run("sweep", spec, "--store", store, "--workers", "1", "--json").json
    again = run("sweep", spec, "--store", store, "--workers", "1", "--json").json
    assert again["evaluated"] == 0
    assert again["counts"] == first["counts"]
    status = run("status", store, "--json").json
    assert status["counts"] == first["counts"]
    assert status["done"]
    shown = run("status", store).out
    assert "complete" in shown
    assert "lost during motion" in shown
    # Another specification is refused before any worker starts.
    monkeypatch.setattr(sweep, "connect", None)
    other = tmp_path / "other.yaml"
    other.write_text(SWEEP.replace("seed: 7", "seed: 8"))
    ran = run("sweep", str(other), "--store", store, "--json")
    assert ran.status == 1
    assert ran.json["error"]["kind"] == "store"
    assert "space.seed: 8 here, 7 there" in ran.json["error"]["message"]


def test_torques_by_hand(run, job):
    """Torque of a solved variant from energies: τ φ̇ = d/dt (kinetic + potential)."""
    spec, store = job
    run("sweep", spec, "--store", store, "--workers", "1", "--json")
    data = xr.open_zarr(store)
    best = int(np.flatnonzero(data.status.values == 1)[0])
    lengths = {name: float(data[name][best]) for name in ("lx1", "lx2", "lx3", "Dx")}
    rate, samples = 6.28, 128
    # Samples start at 34 deg and run one turn. Differences over 1e-4 rad: third derivatives of
    # the energy make an error of 1e-8 of its size, rounding one of 1e-11.
    angles = np.radians(34) + 2 * np.pi * np.arange(samples) / samples
    step = 1e-4
    energy = [_energy(angles + k * step, rate, **lengths) for k in (-1, 1)]
    torque = (energy[1] - energy[0]) / (2 * step)
    assert float(data.torque_rms[best]) == pytest.approx(np.sqrt((torque**2).mean()), rel=1e-5)
    assert float(data.torque_peak[best]) == pytest.approx(np.abs(torque).max(), rel=1e-5)


def _energy(angle, rate, lx1, lx2, lx3, Dx, ly2=1.1, Dy=0.1, rho=2.7, g=9.81):
    """Kinetic and potential energy of the four-bar from triangles alone."""

    def pins(a):
        B = lx1 * np.stack([np.cos(a), np.sin(a)])
        D = np.stack([np.full_like(a, Dx), np.full_like(a, Dy)])
        coupler, span = np.hypot(lx2, ly2), np.hypot(*(D - B))
        # C is at distance `coupler` from B and lx3 from D, on the side of the nominal assembly.
        along = (coupler**2 - lx3**2 + span**2) / (2 * span)
        across = np.sqrt(coupler**2 - along**2)
        e = (D - B) / span
        return B, B + along * e + across * np.stack([-e[1], e[0]]), D

    B, C, D = pins(angle)
    h = 1e-5
    (B0, C0, _), (B1, C1, _) = pins(angle - h), pins(angle + h)
    vB, vC = (B1 - B0) / (2 * h) * rate, (C1 - C0) / (2 * h) * rate
    zero = np.zeros_like(vB)
    # A uniform bar's kinetic energy is m/6 (u·u + u·v + v·v) of its ends' velocities u, v.
    total = np.zeros_like(angle)
    for (P, Q), (u, v) in (
        ((0 * B, B), (zero, vB)),
        ((B, C), (vB, vC)),
        ((C, D), (vC, zero)),
    ):
        mass = rho * np.hypot(*(Q - P))
        total += mass / 6 * ((u * u).sum(0) + (u * v).sum(0) + (v * v).sum(0))
        total += mass * g * (P[1] + Q[1]) / 2
    return total


def test_a_table_shows_its_results(run, tmp_path):
    file = tmp_path / "table.yaml"
    rows = "{plan: table, rows: [{lx1: 0.25}, {lx1: 0.3}]}"
    file.write_text(
        f"mechanism: four-bar\nspace: {rows}\nevaluate: {{rank: none, metrics: [stroke(D)]}}\n"
    )
    ran = run("sweep", str(file), "--store", str(tmp_path / "table.zarr"), "--workers", "1")
    assert ran.status == 0
    assert "stroke_D" in ran.out
    assert "lx1" not in ran.out


def test_a_sweep_without_any_result_says_so(run, tmp_path):
    """Metres for millimetres: said before the sweep begins, and after it."""
    file, store = tmp_path / "job.yaml", str(tmp_path / "job.zarr")
    file.write_text(
        "mechanism: four-bar\nspace: {plan: grid, variables: {lx3: [1200 m, 1300 m]}}\n"
        "evaluate: {rank: none, metrics: [stroke(D)]}\n"
    )
    ran = run("sweep", str(file), "--store", store, "--workers", "1", "--quiet")
    assert ran.status == 0  # variants that cannot be assembled are results
    assert "write '1200 mm'" in ran.err
    assert "None of the 2 variants has a result." in ran.out
    assert "None of the 2 variants has a result." in run("status", store).out


def test_a_condition_turned_round(run, tmp_path, monkeypatch):
    """Before the sweep it is told; afterwards the command that is proposed works."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "sw.yaml"
    file.write_text(
        "mechanism: four-bar\nspace:\n  plan: sobol\n  variables: {lx1: [0.2, 0.6]}\n"
        "  candidates: 4\n  where: [lx1 >= lx3]\n"
    )
    ran = run("sweep", "sw.yaml", "--store", "sw.zarr", "--workers", "1")
    assert "write lx1 <= lx3" in ran.err
    assert "report" not in ran.out
    assert "basepar sweep sw.yaml --store sw-2.zarr" in ran.out
    file.write_text(file.read_text().replace(">=", "<="))
    again = run("sweep", "sw.yaml", "--store", "sw-2.zarr", "--workers", "1")
    assert again.status == 0
    assert "basepar report sw-2.zarr" in again.out
