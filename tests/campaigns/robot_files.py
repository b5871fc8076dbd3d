"""Every URDF and MJCF file below some folders: imported, refused with a reason, or broken?

    python -m tests.campaigns.robot_files FOLDER… [--within] [--json FILE]

A line per file, then counts. A file is *silent* if it is imported though a search of its text
finds an element that closes a loop or couples joints (the importer's own lists are not asked;
MJCF's connect and weld are represented). Results: docs/campaigns.md.
"""

import argparse
import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from basepar_core.errors import AssemblyError, BaseparError, FileError
from basepar_core.imported.formats import read_file

#: Seconds for one file: the largest robots have hundreds of bodies.
SECONDS = 120
ENDINGS = (".urdf", ".xml", ".mjcf", ".sdf")
#: What closes a loop or couples joints, in any writing.
URDF_TIES = re.compile(
    rb"<(?:\w+:)?(?:loop|loop_joint|constraint|coupling|mimic|gap_joint|passive_joint|"
    rb"simulated_actuated_joint|mimicJoint)\b|mimic_joint_plugin|<gazebo>\s*<joint\b"
)
MJCF_TIES = re.compile(rb"<spatial\b[^/]*>|joint1\s*=|<flexcomp\b|tendon1\s*=")

Record = dict[str, Any]


def files_in(folders: list[str]) -> Iterator[tuple[Path, Path]]:
    """Robots' files with the folder given for each."""
    for folder in map(Path, folders):
        for path in sorted(folder.rglob("*")):
            if path.suffix in ENDINGS and path.is_file():
                text = _plain(path.read_bytes())
                if path.suffix == ".urdf" or re.search(rb"<\s*(robot|mujoco|sdf)\b", text):
                    yield folder, path


def _plain(text: bytes) -> bytes:
    return re.sub(rb"<!--.*?-->", b"", text, flags=re.DOTALL)


def looked_at(path: Path, within: Path | None) -> Record:
    """What becomes of one file."""
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(SECONDS)
    found: Record = {"file": str(path), "dropped": [], "reasons": []}
    try:
        made = read_file(path, within)
    except FileError as error:
        reasons = [f"{m.path}: {m.message}" for m in error.mistakes]
        return found | {"outcome": "refused", "reasons": reasons}
    except AssemblyError as error:
        return found | {"outcome": "not assembled", "reasons": [error.message]}
    except BaseparError as error:
        return found | {"outcome": "refused", "reasons": [error.message]}
    except TimeoutError:
        return found | {"outcome": "too long", "reasons": [f"more than {SECONDS} s"]}
    except Exception as error:  # the campaign's question
        return found | {"outcome": "internal error", "reasons": [repr(error)]}
    finally:
        signal.alarm(0)
    ties = URDF_TIES if made.format == "URDF" else MJCF_TIES
    tied = ties.findall(_plain(path.read_bytes()))
    it = made.mechanism
    silent = len(tied) > len(it.couplings) + len(it.joints) - len(it.bodies)
    outcome = "silent" if silent else "imported"
    return found | {
        "outcome": outcome,
        "dropped": list(made.dropped),
        "reasons": [one.decode() for one in tied] if silent else [],
    }


def _late(*_: object) -> None:
    raise TimeoutError


def run(folders: list[str], within: bool) -> Iterator[Record]:
    """Each file in a process that may die of it."""
    pool = ProcessPoolExecutor(1)
    for folder, path in files_in(folders):
        try:
            yield pool.submit(looked_at, path, folder if within else None).result()
        except BrokenProcessPool:
            yield {"file": str(path), "outcome": "killed", "dropped": [], "reasons": []}
            pool = ProcessPoolExecutor(1)
    pool.shutdown()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folders", nargs="+")
    options.add_argument(
        "--within", action="store_true", help="MJCF may read all of its FOLDER, not only its own"
    )
    options.add_argument("--json", help="the records, a line each")
    given = options.parse_args()
    records = []
    for one in run(given.folders, given.within):
        records.append(one)
        more = f" (and {len(one['reasons']) - 1} more)" if len(one["reasons"]) > 1 else ""
        said = "; ".join(one["reasons"][:1]) + more or f"dropped {', '.join(one['dropped'])}"
        print(f"{one['outcome']}: {one['file']}: {said}", flush=True)
    if given.json:
        Path(given.json).write_text("".join(json.dumps(one) + "\n" for one in records))
    for outcome, count in Counter(one["outcome"] for one in records).most_common():
        print(f"{count:6d} {outcome}")
    bad = {"internal error", "killed", "silent"}
    return int(any(one["outcome"] in bad for one in records))


if __name__ == "__main__":
    sys.exit(main())
