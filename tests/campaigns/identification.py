"""Identification over many draws of noise: the slider-crank at 1 kHz, and UR10 with friction.

    python -m tests.campaigns.identification slider-crank FOLDER 30
    python -m tests.campaigns.identification robot 200
    python -m tests.campaigns.identification positions 200 [--method iv] [--noise 2.8e-5]

FOLDER holds `slidercrank_a_gravity_train.csv` (8 s at 1 kHz from Exudyn). Each draw has the
paper's noise on angle and torque; the smoothing's cut-off is chosen from the draw, or the paper's
10 Hz. Prints what docs/campaigns.md has.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from basepar_core.base.extended import extend
from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics import force_columns, motion
from basepar_core.dynamics.closure import prepare
from basepar_core.expressions.tree import Number
from basepar_core.files import mechanism_file
from basepar_core.identification.estimate import estimate
from basepar_core.identification.measurement import Measurement, read_measurement
from basepar_core.identification.motion_regressor import observe_motion
from basepar_core.identification.procedure import Choices, identify
from basepar_core.mechanism import Friction
from tests.core import identification_data as data

#: Table 2 of the paper, column "identified".
PRINTED = {
    "crank.J": 3.40e-3,
    "crank.mx": 4.53e-2,
    "crank.my": 2.28e-4,
    "rod.J": 2.06e-2,
    "rod.mx": 9.11e-2,
    "rod.my": -1.91e-5,
}


def slider_crank(folder: Path, draws: int, seed: int = 1) -> None:
    """Errors of each base parameter against the Cramér-Rao bound of the torque noise."""
    model = data.slider_crank()
    base = symbolic(model, data.ELIMINATED)
    record = read_measurement(
        folder / "slidercrank_a_gravity_train.csv", model.mechanism, data.EXACT
    )
    names = base.base_names
    truth = np.array([data.BASE[name] for name in names])
    for label, one in (("rates given", record), ("positions only", replace(record, rates=None))):
        off = np.abs(identify(model, one, base=base).estimate.values - truth)
        print(f"exact signals, {label}: largest error {off.max():.1e}", flush=True)
    W = observe_motion(model, motion.Motion(record.t, record.q, *record.rates))
    bound = data.cramer_rao(W.stacked[0][:, list(base.kept)], data.SIGMA_TAU)
    for label, cutoff in (("chosen cut-off", None), ("10 Hz", 10.0)):
        rng, started = np.random.default_rng(seed), time.process_time()
        errors, inside, cutoffs = [], [], []
        for _ in range(draws):
            noisy = replace(
                record,
                q=record.q + data.SIGMA_Q * rng.standard_normal(record.q.shape),
                tau=record.tau + data.SIGMA_TAU * rng.standard_normal(record.tau.shape),
                rates=None,
            )
            found = identify(model, noisy, base=base, choices=Choices(cutoff=cutoff))
            errors.append(found.estimate.values - truth)
            inside.append(np.abs(errors[-1]) <= found.estimate.half_widths())
            cutoffs.append(found.prepared.cutoffs[0])
        rms, spread = np.sqrt(np.mean(np.square(errors), axis=0)), np.std(errors, axis=0, ddof=1)
        print(
            f"{label} ({min(cutoffs):.3g} to {max(cutoffs):.3g} Hz), {draws} draws, "
            f"{(time.process_time() - started) / draws:.2f} s of CPU each; 95 % intervals hold "
            f"{np.mean(inside):.1%}"
        )
        for k, name in enumerate(names):
            printed = (PRINTED[name] - truth[k]) / spread[k]
            print(
                f"  {name}: RMS error {rms[k]:.3g} = {rms[k] / bound[k]:.3f} bounds; the "
                f"paper's Table 2 lies {printed:+.2f} deviations off",
                flush=True,
            )


def robot(draws: int, seed: int = 11) -> None:
    """Coverage of the 95 % intervals: UR10, viscous and Coulomb friction, 2,000 samples."""
    plain = mechanism_file.load("ur10")
    kinds = {"viscous": Number(5), "coulomb": Number(3)}
    friction = tuple(Friction(q, k, v) for q in plain.coordinates for k, v in kinds.items())
    mechanism = replace(plain, friction=friction)
    model = prepare(mechanism)
    law = replace(mechanism.excitation, samples=2000)
    chosen = force_columns.columns(mechanism)
    moving = motion.excite(law, mechanism, model.assembled.coordinates)
    seen = observe_motion(model, moving, chosen)
    base = extend(model, symbolic(model), chosen, seen)
    nominal = mechanism.nominal
    phi = np.concatenate(
        [
            mechanism.inertial_parameters(nominal),
            force_columns.column_values(mechanism, chosen, nominal),
        ]
    )
    truth = phi[list(base.kept)] + base.nominal_beta @ phi[list(base.eliminated)]
    W, tau = seen.stacked[0][:, list(base.kept)], seen.stacked[0] @ phi
    groups = np.tile(np.arange(6), 2000)
    sigma = np.array([5.0, 4.0, 3.0, 1.0, 0.6, 0.3])[groups]
    for method in ("weighted", "ols", "irls"):
        rng, inside = np.random.default_rng(seed), []
        count = draws if method == "weighted" else max(10, draws // 5)
        for _ in range(count):
            found = estimate(W, tau + sigma * rng.standard_normal(tau.size), groups, method)
            inside.append(np.abs(found.values - truth) <= found.half_widths())
        each = np.mean(inside, axis=0)
        print(
            f"{method}: {base.rank} parameters, {count} draws: intervals hold "
            f"{np.mean(inside):.2%}; single parameters {each.min():.1%} to {each.max():.1%}",
            flush=True,
        )


#: Position noise, rad: an encoder's of 16 bits a turn, and more.
POSITIONS = (2.8e-5, 1e-4)


def positions(
    draws: int,
    ways: Sequence[str] = ("weighted", "iv"),
    noises: Sequence[float] = POSITIONS,
    seed: int = 12,
) -> None:
    """Coverage with noise in positions too: 30 s of a UR10 at 250 Hz, as a raw log is treated.

    Torque from Pinocchio's inverse dynamics would be the same numbers to rounding (tests); here it
    is W φ. Friction is viscous and Coulomb's, 48 parameters, low-pass 10 Hz.
    """
    plain = mechanism_file.load("ur10")
    kinds = {"viscous": Number(5), "coulomb": Number(3)}
    friction = tuple(Friction(q, k, v) for q in plain.coordinates for k, v in kinds.items())
    mechanism = replace(plain, friction=friction)
    model = prepare(mechanism)
    law = replace(mechanism.excitation, samples=2500)  # a period of 10 s, three times
    chosen = force_columns.columns(mechanism)
    one = motion.excite(law, mechanism, model.assembled.coordinates)
    moving = motion.Motion(
        np.arange(7500) / 250, *(np.tile(x, 3) for x in (one.q, one.q_dot, one.q_ddot))
    )
    seen = observe_motion(model, moving, chosen)
    inertial = symbolic(model)
    base = extend(model, inertial, chosen, seen)
    nominal = mechanism.nominal
    values = force_columns.column_values(mechanism, chosen, nominal)
    phi = np.concatenate([mechanism.inertial_parameters(nominal), values])
    truth = phi[list(base.kept)] + base.nominal_beta @ phi[list(base.eliminated)]
    tau = (seen.W[0] @ phi).T
    sigma = np.array([5.0, 4.0, 3.0, 1.0, 0.6, 0.3])[:, None]
    for noise in noises:
        for method in ways:
            rng, inside, errors = np.random.default_rng(seed), [], []
            for _ in range(draws):
                made = Measurement(
                    "made",
                    moving.t,
                    moving.q + noise * rng.standard_normal(moving.q.shape),
                    None,
                    tau + sigma * rng.standard_normal(tau.shape),
                )
                how = Choices(method=method, lowpass=10.0)
                found = identify(model, made, columns=chosen, base=inertial, choices=how)
                errors.append(found.estimate.values - truth)
                inside.append(np.abs(errors[-1]) <= found.estimate.half_widths())
            each, bias = np.mean(inside, axis=0), np.mean(errors, axis=0) / np.std(errors, axis=0)
            print(
                f"position noise {noise:.2g} rad, {method}: {base.rank} parameters, {draws} "
                f"draws: intervals hold {np.mean(inside):.2%}; single ones {each.min():.1%} to "
                f"{each.max():.1%}; bias up to {np.abs(bias).max():.2f} deviations; "
                f"{found.estimate.blocks} pieces of {found.estimate.block_length:.2g} s",
                flush=True,
            )


def main() -> None:
    """Run one of the three."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    crank = commands.add_parser("slider-crank")
    crank.add_argument("folder", type=Path)
    crank.add_argument("draws", type=int, nargs="?", default=30)
    arm = commands.add_parser("robot")
    arm.add_argument("draws", type=int, nargs="?", default=200)
    noisy = commands.add_parser("positions")
    noisy.add_argument("draws", type=int, nargs="?", default=200)
    noisy.add_argument(
        "--method", choices=("weighted", "iv"), nargs="*", default=["weighted", "iv"]
    )
    noisy.add_argument("--noise", type=float, nargs="*", default=POSITIONS, help="rad")
    options = parser.parse_args()
    if options.what == "robot":
        robot(options.draws)
    elif options.what == "positions":
        positions(options.draws, options.method, options.noise)
    else:
        slider_crank(options.folder, options.draws)


if __name__ == "__main__":
    main()
