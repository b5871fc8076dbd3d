"""Public robots' files against the engines that load them: freedoms, torques, counts.

    python -m tests.campaigns.robots FOLDER… [--seconds 120] [--records FILE] [--table PAGE]

Every URDF and MJCF file below the folders that Pinocchio or MuJoCo load and in which something
moves; the folders are copies of public packages and repositories, and nothing of them is here. Of
each: whether it is read, or why not; freedoms at generic poses against speeds less the rank of the
engine's constraints; torques of the coordinates, inertia and weight, against Nᵀ (M v̇ + h); the
number of base parameters against the rank of Nᵀ Y, Y the engine's regressor, without the columns
of bodies that weigh nothing. URDF's loops and couplings are the constraints that its files and
those beside them state (`pinocchio_engine`), MuJoCo's are its own. `--records` keeps a line per
file, and goes on where it stopped; `--table` writes the page.
"""

import argparse
import json
import re
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin

import basepar
from basepar_core.dynamics import Motion, observe
from basepar_core.errors import BaseparError
from basepar_core.imported.formats import Imported, read_file
from basepar_core.mechanism import joint_type
from tests.campaigns.mujoco_engine import MujocoEngine
from tests.campaigns.pinocchio_engine import PinocchioEngine
from tests.campaigns.robots_page import BEGIN, END, page
from tests.oracles.engine import Engine, moving, told

ENGINES = {".urdf": "URDF", ".xml": "MJCF", ".mjcf": "MJCF"}
#: Poses that freedoms are counted at, states that torques are compared at.
POSES, STATES = 3, 3
#: Rows of W and Nᵀ Y per column, and how many states at most.
ROWS, MOST = 1.5, 400
#: Constraints of the engine that are open by more (m, rad) are others than ours.
OPEN = 1e-8
#: Open loops are repaired by moves of at most so much, m.
REPAIR = 1e-3
#: Coordinates determine the other speeds if singular values are above this share.
REGULAR = 1e-6
Record = dict[str, Any]


def loaded(folder: Path) -> Iterator[tuple[Path, str, Any]]:
    """Files that an engine loads and in which something moves."""
    for path in sorted(folder.rglob("*")):
        kind = ENGINES.get(path.suffix)
        if kind is None or not path.is_file() or not _is_robot(path):
            continue
        try:
            model = (
                pin.buildModelFromUrdf(str(path))
                if kind == "URDF"
                else mujoco.MjModel.from_xml_path(str(path))
            )
        except (ValueError, RuntimeError):
            continue
        if model.nv:
            yield path, kind, model


def _is_robot(path: Path) -> bool:
    text = re.sub(rb"<!--.*?-->", b"", path.read_bytes(), flags=re.DOTALL)
    return path.suffix == ".urdf" or bool(re.search(rb"<\s*mujoco\b", text))


def closing(path: Path) -> str:
    """How frames are held that are named as ends of loops: hinges, where no YAML file says it."""
    text = path.read_bytes() if path.suffix == ".urdf" else b""
    named = re.search(rb'name="(closing_\w+_1|\w*closedloop\d+\w*_A)"', text)
    return "revolute" if named and not path.with_name("robot.yaml").exists() else "no"


def has_loops(path: Path, model: Any) -> bool:
    """Whether a file, or what is beside it, closes loops."""
    if path.suffix != ".urdf":
        kinds = (int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD))
        return bool((model.eq_active0 * np.isin(model.eq_type, kinds)).any())
    beside = path.with_name("robot.yaml").exists() or closing(path) != "no"
    return beside or bool(re.search(rb"<(loop|loop_joint|constraint)\b", path.read_bytes()))


def judged(path: Path, folder: Path, kind: str, model: Any, seconds: float) -> Record:
    """What becomes of one file, each part within seconds of processor time."""
    record: Record = {"speeds": int(model.nv), "loops": has_loops(path, model)}
    signal.signal(signal.SIGPROF, _late)
    try:
        with _limited(seconds):
            within = folder if kind == "MJCF" else None
            mjcf = kind == "MJCF"
            found = read_file(path, within, closing=closing(path), frictionless=mjcf)
    except BaseparError as error:
        return record | {"rejected": _short(error)}
    except TimeoutError:
        return record | {"rejected": f"more than {seconds:g} s"}
    except Exception as error:  # the campaign's question
        return record | {"internal": repr(error)[:200]}
    if found.failure is not None:
        record["open"] = _short(found.failure)
        return record | (_repaired(path, folder, kind, seconds) if record["loops"] else {})
    record["read"] = len(found.mechanism.coordinates)
    for part in ("mechanics", "counted"):
        try:
            with _limited(seconds):
                record |= getattr(_Case(found, path, kind, model), part)()
        except TimeoutError:
            record[part] = f"{part}: more than {seconds:g} s"
        except (BaseparError, ValueError, KeyError, np.linalg.LinAlgError) as error:
            record[part] = f"{type(error).__name__}: {str(error)[:150]}"
    return record


def _repaired(path: Path, folder: Path, kind: str, seconds: float) -> Record:
    """A file whose loops are open: repaired, written in its own format with numbers that close,
    and judged as what the engine loads then; nothing where that does not close."""
    with TemporaryDirectory() as made:
        within, copy = folder if kind == "MJCF" else None, Path(made) / f"robot{path.suffix}"
        mjcf = kind == "MJCF"
        try:
            with _limited(seconds):
                found = read_file(
                    path, within, closing=closing(path), frictionless=mjcf, repair=REPAIR
                )
                basepar.Model(found.mechanism).export(copy)
        except (BaseparError, TimeoutError):
            return {}
        except Exception as error:  # the campaign's question
            return {"internal": repr(error)[:200]}
        load = mujoco.MjModel.from_xml_path if mjcf else pin.buildModelFromUrdf
        record = judged(copy, Path(made), kind, load(str(copy)), seconds)
    said = [one for one in found.notes if one.startswith("repaired")]
    if "read" not in record or not said:
        return {}
    moved = max(float(x) for one in said for x in re.findall(r" by ([\d.e-]+)", one))
    return {key: x for key, x in record.items() if key != "loops"} | {"moved": moved}


class _Case:
    """A file that is read, and the engine that has loaded it."""

    def __init__(self, found: Imported, path: Path, kind: str, model: Any):
        self.model = basepar.Model(found.mechanism)
        self.it, self.names = found.mechanism, list(found.mechanism.coordinates)
        if kind == "URDF":
            held = closing(path).replace("no", "")
            self.engine: Engine = PinocchioEngine(path, held, found)
        else:
            values = [name for joint in self.it.joints for name in joint.values]
            self.engine = MujocoEngine(model, found.notes, values)
        if missing := [name for name in self.names if name not in self.engine.columns]:
            raise ValueError(f"no speed of the engine is called {missing[0]}")
        self.balls = {
            name
            for joint in self.it.joints
            if joint_type(joint.type).is_ball and not joint_type(joint.type).is_free
            for name in joint.values
        }
        self.tied = bool(self.engine.gap(self.engine.configuration({})).size)

    def states(self, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Coordinates at random near the assembly, and the engine's configuration there; balls at
        their zero, where rates of a rotation vector are an angular velocity."""
        free = np.array([name not in self.balls for name in self.names])
        if (self.model.assembly * ~free).any():
            raise ValueError("coordinates of a ball are not zero where it is assembled")
        far = 0.1 if self.engine.has_loops else 1.0
        while True:
            q = self.model.assembly + free * rng.uniform(-far, far, len(free))
            closed = self.model.close(q)
            values = {n: float(closed[n]) for joint in self.it.joints for n in joint.values}
            if not np.isfinite(list(values.values())).all():
                far /= 2
                continue
            at = self.engine.configuration(values)
            found = self.engine.closed_near(at, self.engine.loose) if self.engine.loose else at
            gap = np.abs(self.engine.gap(at if found is None else found)).max(initial=0.0)
            if found is None or gap > OPEN:
                raise ValueError(f"the engine's constraints are open by {gap:.1e}")
            yield q, found

    def mechanics(self) -> Record:
        """Freedoms at generic poses, and torques at states near the assembly."""
        engine, rng = self.engine, np.random.default_rng(1)
        kind = "loops" if engine.has_loops else "coupled" if self.tied else "tree"
        states = self.states(rng)
        first = next(states)
        poses = [engine.generic(first[1], rng) for _ in range(POSES)] if self.tied else []
        theirs = [engine.freedoms(at) for at in (first[1], *poses) if at is not None]
        record: Record = {"kind": kind, "freedoms": min(theirs)}
        off, scale = 0.0, 1e-300
        phi = self.it.inertial_parameters(self.it.nominal)
        for q, at in [first, *(next(states) for _ in range(STATES - 1))]:
            rates, accelerations = rng.uniform(-1, 1, (2, len(self.names)))
            if engine.driven(at, self.names)[1] < REGULAR:
                continue  # the coordinates do not determine the others there
            expected = engine.torque(at, self.names, rates, accelerations)
            seen = self._row(q, rates, accelerations) @ phi
            off, scale = (
                max(off, np.abs(seen - expected).max()),
                max(scale, np.abs(expected).max()),
            )
        return record | {"torque": off / scale} if scale > 1e-300 else record

    def counted(self) -> Record:
        """Base parameters, by our route and by the rank of the engine's regressor."""
        rng, it = np.random.default_rng(2), self.it
        weighing = [10 * k for k in range(len(it.bodies)) if _weighs(it, k)]
        wanted = min(int(ROWS * 10 * len(weighing) / len(self.names)) + 2, MOST)
        states = self.states(rng)
        pairs = [next(states) for _ in range(wanted)]
        rates = moving(rng, self.names, pairs)
        theirs, clear = self.engine.count([at for _, at in pairs], self.names, rates)
        plain = len(weighing) == len(it.bodies) and self.balls.isdisjoint(self.names)
        ours = self.model.base(route="numeric").rank if plain else None
        if ours is None:
            # Parameters of bodies without mass count, and are left out here; balls stay at zero;
            # numbers that are structure but for their last digits have bounds of a rank, and
            # ranks of the same states are compared.
            W = [self._row(q, *rates[..., k]) for k, (q, _) in enumerate(pairs)]
            columns = [first + k for first in weighing for k in range(10)]
            ours = told(np.vstack(W)[:, columns])[0]
        return {"count": [int(ours), theirs], "clear": clear}

    def _row(self, q: np.ndarray, rates: np.ndarray, accelerations: np.ndarray) -> np.ndarray:
        """W (coordinate, parameter) at a state, which is closed from the assembly."""
        motion = Motion(np.zeros(1), q[:, None], rates[:, None], accelerations[:, None])
        found: np.ndarray = observe(self.model.prepared, {}, motion).W[0, 0]
        return found


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Within seconds of processor time."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _weighs(it: Any, k: int) -> bool:
    return bool(np.any(it.inertial_parameters(it.nominal)[10 * k : 10 * k + 10]))


def _short(error: BaseparError) -> str:
    """The first mistake, without the file's place."""
    mistakes = getattr(error, "mistakes", ())
    first = f"{mistakes[0].path}: {mistakes[0].message}" if mistakes else error.message
    more = f" (and {len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
    text = re.sub(r"(/[\w.+-]+){2,}", "…", " ".join(first.split()))
    return (text[:130] + "…" if len(text) > 130 else text) + more


def _late(*_: object) -> None:
    raise TimeoutError


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--records", type=Path, default=Path("robots.jsonl"))
    parser.add_argument("--only", default="", help="files whose name has this in it")
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    mujoco.set_mju_user_warning(lambda text: None)
    kept = options.records.read_text().splitlines() if options.records.exists() else []
    records = [json.loads(line) for line in kept]
    done = {(one["folder"], one["name"]) for one in records}
    for folder in options.folders:
        for path, kind, model in loaded(folder):
            name = re.sub(r"^.*(site-packages|share/[\w-]+)/", "", str(path.relative_to(folder)))
            if (folder.name, name) in done or options.only not in name:
                continue
            found = judged(path, folder, kind, model, options.seconds)
            record = {"folder": folder.name, "name": name, "format": kind, **found}
            records.append(record)
            with options.records.open("a") as file:
                file.write(json.dumps(record) + "\n")
            print(json.dumps(record), flush=True)
    if options.table:
        head, rest = options.table.read_text().split(BEGIN)
        options.table.write_text(f"{head}{BEGIN}\n{page(records)}\n{END}{rest.split(END)[1]}")
    return 0 if records else 1


if __name__ == "__main__":
    sys.exit(main())
