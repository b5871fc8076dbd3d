"""Figures of measured robots, one a line, beside published ones (docs/real-robots.md).

    BASEPAR_RECORDS=FOLDER python -m tests.campaigns.real_records [ur10e tx40 mtm psm command]

FOLDER has the public records, which are no part of this project; without it the campaign ends.
Errors are ‖τ − τ̂‖₂/‖τ‖₂ in percent, on the joints' side unless another side is named.
"""

import os
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import basepar
from basepar_core.identification import Validation, consistent_parameters
from basepar_core.identification.procedure import validate
from workflows.jobs import LogWords
from workflows.jobs.raw_logs import read_raw, read_second

HERE = Path(__file__).parent / "real_robots"
#: Friction of each joint; of motors that turn several.
JOINTS, MOTORS = ("viscous", "coulomb", "offset"), ("motor.viscous", "motor.coulomb")
#: With what the drives of an industrial arm have where the motion turns round.
SMOOTH = ("viscous", "smooth_coulomb", "offset", "rotor")
#: N m per A, as published.
UR10E = (14.87, 13.26, 11.13, 10.62, 11.03, 11.47)
#: Errors that the arms' authors print, percent of each joint.
PUBLISHED = {
    "mtm": (7.7, 14.9, 17.0, 22.3, 28.0, 23.4, 34.0),
    "psm": (9.3, 17.8, 19.1, 13.4, 23.9, 21.3, 26.4),
}


def say(what: str, figure: str, bound: str = "") -> None:
    """One figure."""
    print(f"{what}: {figure}{f' ({bound})' if bound else ''}", flush=True)


def percent(errors: Any) -> str:
    """Errors in percent."""
    return " ".join(f"{100 * x:.1f}" for x in np.atleast_1d(errors))


def both(of: Validation) -> str:
    """Low-passed and raw."""
    raw = of.unfiltered_error
    return f"{percent(of.error)} low-passed, {'–' if raw is None else percent(raw)} raw"


def ur10e(folder: Path) -> None:
    """UR10e, its authors' cuts and the whole files."""
    model = basepar.load(folder / "ur10e.urdf")
    logs = [folder / f"ur10e_{name}.csv" for name in ("train_50s_12harmonics", _SECOND)]
    cut = {"rows": (355, 5090), "validate_rows": (320, 2310)}
    for name, words, more in (
        ("58 columns, cut", (*JOINTS, "rotor"), cut),
        ("58 columns, cut, ols", (*JOINTS, "rotor"), {**cut, "method": "ols"}),
        ("58 columns, whole files", (*JOINTS, "rotor"), {}),
        ("smooth friction, cut", SMOOTH, cut),
        ("smooth friction, whole files", SMOOTH, {}),
        ("friction by load, cut", (*JOINTS, "rotor", "load"), cut),
        ("friction by load, whole files", (*JOINTS, "rotor", "load"), {}),
        ("smooth friction, by load too, cut", (*SMOOTH, "smooth_load"), cut),
        ("smooth friction, by load too, whole files", (*SMOOTH, "smooth_load"), {}),
    ):
        found = basepar.identify(
            model, str(logs[0]), columns=words, gains=UR10E, validate=str(logs[1]), **more
        ).found
        assert found.validation is not None
        bound = "published 6.5 and 7.2; must 6.4 and 7.1; wanted 5.5 with load"
        say(f"UR10e, {name}, {len(found.names)} parameters", both(found.validation), bound)
        if found.searched:
            speeds = ", ".join(f"{1000 * one.value:.0f}" for one in found.searched.values())
            say(f"UR10e, {name}, speeds of the first record", f"{speeds} mrad/s")


_SECOND = "validation_20s_8harmonics"


def tx40(folder: Path) -> None:
    """TX40: counts, and essential parameters on one part judged on the other."""
    model = basepar.load(folder / "tx40.urdf")
    log = f"{folder}/tx40_positions_motor_rad.csv+{folder}/tx40_currents.csv"
    mapping = HERE / "tx40-log.yaml"
    whole = (*JOINTS, *MOTORS, "motor.rotor")
    for words, count in (
        ((), 36),
        (("rotor",), 40),
        (("rotor", "viscous", "coulomb"), 52),
        (("rotor", *JOINTS), 58),
        (whole, 60),
        (("rotor", *whole), 61),
    ):
        found = basepar.identify(model, log, mapping=mapping, columns=words).found
        say(f"TX40, {' '.join(words) or 'inertial'}", str(found.base.rank), f"published {count}")
    for rows, second in (((1, 30000), (30001, 45000)), ((15001, 45000), (1, 15000))):
        errors = {}
        for essential in (False, True, "cv", 25, 20):
            found = basepar.identify(
                model,
                log,
                mapping=mapping,
                columns=whole,
                rows=rows,
                validate=log,
                validate_rows=second,
                essential=essential,
            ).found
            assert found.validation is not None
            errors[essential] = found.validation.error
            size = len(found.names)
            share = f"{found.validation.error / errors[False] - 1:+.1%} against all 60"
            name = f"TX40, fitted on rows {rows[0]}–{rows[1]}, {size} parameters"
            how = {False: "", True: "; BIC", "cv": "; cv"}.get(essential, "; stated")
            say(name, percent(found.validation.error), f"{share}{how}; must ≤ 25 and +2 %")


def dvrk(folder: Path, arm: str, words: Sequence[str], rows: int, **more: Any) -> None:
    """One arm of the research kit, plain and with bodies that can exist."""
    model = basepar.load(HERE / f"dvrk-{arm}.yaml")
    mapping, first = HERE / f"dvrk-{arm}-log.yaml", str(folder / f"dvrk_{arm}_one.csv")
    found = basepar.identify(
        model, first, mapping=mapping, columns=words, deviations="white", **more
    ).found
    mechanism = model.prepared.mechanism
    names, published = list(found.base.base_names), np.array(PUBLISHED[arm]) / 100
    near = consistent_parameters(found).base_values[[names.index(n) for n in found.names]]
    consistent = replace(found, estimate=replace(found.estimate, values=near))
    for start in (1, 201):  # the authors leave 200 rows out at each end
        log = LogWords(mapping=mapping, second_rows=(start, start + rows - 1))
        read = read_raw(mechanism, first, log)
        second = read_second(mechanism, str(folder / f"dvrk_{arm}_two.csv"), read, log)
        for name, one in (("least squares", found), ("consistent", consistent)):
            of = validate(one, second)
            better, share = (
                int((of.errors < published).sum()),
                float((of.errors / published).mean()),
            )
            text = f"{percent(of.errors)} (motors {percent(of.drive_errors)})"
            bound = (
                f"published {percent(published)}; better in {better} of 7, mean {share - 1:+.0%}"
            )
            what = f"{name}, rows from {start}, {len(found.names)} parameters"
            say(f"dVRK {arm.upper()}, {what}", text, bound)
    say(f"dVRK {arm.upper()}, delay", f"{1000 * found.delay:.1f} ms")


def mtm(folder: Path) -> None:
    """Master side: coil spring, cable at joint 4, friction of joints and motors."""
    words = (*JOINTS, *MOTORS, "springs", "J4.polynomial@5")
    dvrk(folder, "mtm", words, 2000, lowpass=1.8)


def psm(folder: Path) -> None:
    """Patient side: springs of cables in the wrist, friction of joints and motors, delay."""
    springs = [f"J{k}.stiffness" for k in (4, 5, 6, 7)]
    friction = [word.replace("coulomb", "smooth_coulomb") for word in (*JOINTS, *MOTORS)]
    words = (*friction, "motor.offset", *springs)
    dvrk(folder, "psm", words, 1111, lowpass=5.4, delay=None)


def command(folder: Path) -> None:
    """Processor time of the one command from log to page, imports included."""
    for words in ((*JOINTS, "rotor"), SMOOTH, (*SMOOTH, "smooth_load")):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryDirectory() as place:
            subprocess.run(
                [
                    *(str(Path(sys.executable).with_name("basepar")), "identify"),
                    *(folder / "ur10e.urdf", folder / "ur10e_train_50s_12harmonics.csv"),
                    *("--with", ",".join(words), "--gain", ",".join(map(str, UR10E))),
                    *("--validate", folder / f"ur10e_{_SECOND}.csv", "-o", f"{place}/page.html"),
                ],
                check=True,
                capture_output=True,
            )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        what = f"UR10e, log to page, 50 s and 20 s, {','.join(words)}"
        say(what, f"{spent:.1f} s of processor time", "must 15, want 5")


PARTS: dict[str, Callable[[Path], None]] = {
    "ur10e": ur10e,
    "tx40": tx40,
    "mtm": mtm,
    "psm": psm,
    "command": command,
}


def main() -> None:
    """Run the parts that are named, or all."""
    folder = os.environ.get("BASEPAR_RECORDS")
    if not folder:
        print("skipped: BASEPAR_RECORDS names no folder of records")
        return
    warnings.simplefilter("ignore", basepar.BaseparWarning)
    for name in sys.argv[1:] or PARTS:
        PARTS[name](Path(folder))


if __name__ == "__main__":
    main()
