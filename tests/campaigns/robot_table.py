"""Which robots' files are read, of all that Pinocchio or MuJoCo load and in which something moves.

    python -m tests.campaigns.robot_table FOLDER… [--seconds 60] [--table docs/robots.md]

A line per file below the folders, which are copies of public packages and repositories; none of it
is here. The denominator is what the engine loads with at least one speed, our answer the freedoms
or the reason; of URDF trees the torque at a random state against Pinocchio's too. `--table` writes
the lines into a page.
"""

import argparse
import re
import signal
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin

from basepar_core.dynamics import Motion, observe, prepare
from basepar_core.errors import BaseparError
from basepar_core.imported import read_file
from basepar_core.mechanism import Mechanism

ENGINES = {".urdf": "Pinocchio", ".xml": "MuJoCo", ".mjcf": "MuJoCo"}
#: Above this share of the largest torque, a tree's torques differ.
SHARE = 1e-9
#: The table's place in the page.
BEGIN, END = "<!-- campaign: robots -->", "<!-- end of campaign -->"


@dataclass(frozen=True)
class Row:
    """A file: folder it was found in, name below it, format, speeds of the engine, our answer."""

    folder: str
    name: str
    format: str
    speeds: int
    answer: str

    @property
    def is_read(self) -> bool:
        return self.answer.startswith("read")


def moving(folder: Path) -> Iterator[tuple[Path, int, object]]:
    """Files that an engine loads and in which something moves, with its number of speeds."""
    for path in sorted(folder.rglob("*")):
        if ENGINES.get(path.suffix) and path.is_file() and _is_robot(path):
            try:
                model = (
                    pin.buildModelFromUrdf(str(path))
                    if path.suffix == ".urdf"
                    else mujoco.MjModel.from_xml_path(str(path))
                )
            except (ValueError, RuntimeError):
                continue
            if model.nv:
                yield path, int(model.nv), model


def _is_robot(path: Path) -> bool:
    text = re.sub(rb"<!--.*?-->", b"", path.read_bytes(), flags=re.DOTALL)
    return path.suffix == ".urdf" or bool(re.search(rb"<\s*mujoco\b", text))


def answered(path: Path, folder: Path, model: object, seconds: float) -> str:
    """What reading it comes to, within seconds of processor time."""
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        found = read_file(path, folder)
        if found.failure is not None:
            return f"open: {_short(found.failure)}"
        count = len(found.mechanism.coordinates)
        compared = ""
        if path.suffix == ".urdf" and count == model.nv:  # type: ignore[attr-defined]
            compared = _torque(found.mechanism, model)
            if "off by" in compared and any("is taken as" in note for note in found.notes):
                compared += ", its printed angles taken as multiples of 90 deg"
        return f"read, {count} coordinates{compared}"
    except BaseparError as error:
        return f"rejected: {_short(error)}"
    except TimeoutError:
        return f"more than {seconds:g} s"
    except Exception as error:  # the campaign's question
        return f"internal error: {error!r}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _torque(it: Mechanism, model: pin.Model) -> str:
    """By how much torques differ from Pinocchio's, at a random state."""
    places = {_plain(name): k for k, name in enumerate(model.names)}
    if not set(it.coordinates) <= places.keys() or any(j.nv != 1 for j in list(model.joints)[1:]):
        return ""
    order = [model.joints[places[name]].idx_v for name in it.coordinates]
    q, v, a = np.random.default_rng(0).uniform(-1, 1, (3, model.nv))
    at = pin.integrate(model, pin.neutral(model), q)
    expected = pin.rnea(model, model.createData(), at, v, a)[order]
    motion = Motion(np.zeros(1), *(x[order][:, None] for x in (q, v, a)))
    seen = observe(prepare(it), {}, motion).W[0, 0] @ it.inertial_parameters(it.nominal)
    off = np.abs(seen - expected).max() / max(np.abs(expected).max(), 1e-300)
    return f", torque off by {off:.0e}" if off > SHARE else ", torque right"


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")


def _short(error: BaseparError) -> str:
    """The first mistake, without the file's place."""
    mistakes = getattr(error, "mistakes", ())
    first = f"{mistakes[0].path}: {mistakes[0].message}" if mistakes else error.message
    more = f" (and {len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
    text = re.sub(r"(/[\w.+-]+){2,}", "…", " ".join(first.split()))
    return (text[:110] + "…" if len(text) > 110 else text) + more


def _late(*_: object) -> None:
    raise TimeoutError


def table(rows: list[Row]) -> str:
    """The page's part: counts, then a line per file."""
    lines = ["| folder | format | files that move | read |", "|---|---|---|---|"]
    for folder, kind in dict.fromkeys((row.folder, row.format) for row in rows):
        own = [row for row in rows if (row.folder, row.format) == (folder, kind)]
        lines.append(f"| {folder} | {kind} | {len(own)} | {sum(row.is_read for row in own)} |")
    lines += ["", "| file | format | speeds of the engine | result |", "|---|---|---|---|"]
    for row in rows:
        said = row.answer.replace("|", "\\|").replace("<", "&lt;")
        lines.append(f"| {row.folder}: {row.name} | {row.format} | {row.speeds} | {said} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    mujoco.set_mju_user_warning(lambda text: None)
    rows: list[Row] = []
    for folder in options.folders:
        for path, speeds, model in moving(folder):
            kind = "URDF" if path.suffix == ".urdf" else "MJCF"
            said = answered(path, folder, model, options.seconds)
            name = re.sub(r"^.*(site-packages|share/[\w-]+)/", "", str(path.relative_to(folder)))
            rows.append(Row(folder.name, name, kind, speeds, said))
            print(f"{folder.name}: {name}: {speeds}: {said}", flush=True)
    print(f"{sum(row.is_read for row in rows)} of {len(rows)} are read")
    if options.table:
        head, rest = options.table.read_text().split(BEGIN)
        text = f"{head}{BEGIN}\n{table(rows)}\n{END}{rest.split(END)[1]}"
        options.table.write_text(text)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
