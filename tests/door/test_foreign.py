"""Other people's packages under the names of ours: found at start-up, with the way out."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import basepar
from basepar.foreign import BESIDE

HOME = Path(basepar.__file__).parents[1]
USE = "import basepar; basepar.load"
COMMAND = "import sys; from basepar.command import main; sys.argv[1:] = ['list']; sys.exit(main())"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Our packages as a wheel lays them out, to install others over."""
    place = tmp_path_factory.mktemp("site")
    for name in ("basepar", *BESIDE):
        left = shutil.ignore_patterns("__pycache__")
        shutil.copytree(HOME / name, place / name, ignore=left)
    return place


def ran(code, cwd, path):
    """Python on a file in a folder, as a script is started."""
    (cwd / "script.py").write_text(code)
    return subprocess.run(
        [sys.executable, "script.py"],
        cwd=cwd,
        env={key: value for key, value in os.environ.items() if key != "PYTHONSAFEPATH"}
        | {"PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", BESIDE)
def test_packages_say_whose_they_are(name):
    assert b"basepar" in (HOME / name / "__init__.py").read_bytes()


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("folder", [False, True], ids=["module", "package"])
def test_one_of_the_user_is_named(tmp_path, name, folder):
    theirs = tmp_path / name / "__init__.py" if folder else tmp_path / f"{name}.py"
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text("print('loaded')\n")
    for code, status in ((USE, 1), (COMMAND, 1)):
        found = ran(code, tmp_path, HOME)
        assert (found.returncode, found.stdout) == (status, "")
        said = found.stderr.splitlines()[-1]
        assert f"its own package {name!r}: Python finds {theirs} in the place of {HOME}" in said
        assert "Rename it" in said
    assert found.stderr.startswith("basepar: ")
    assert len(found.stderr.splitlines()) == 1


def test_a_folder_of_files_is_no_package(tmp_path):
    """Folders named `sweeps` with sweep files in them are common, and harmless."""
    (tmp_path / "sweeps").mkdir()
    (tmp_path / "sweeps" / "mine.yaml").write_text("")
    assert ran(USE, tmp_path, HOME).returncode == 0


def test_one_that_is_loaded_already_is_named(tmp_path):
    code = f"import sys, types; sys.modules['cluster'] = types.ModuleType('cluster'); {USE}"
    found = ran(code, tmp_path, HOME)
    assert "Python finds a module without a file" in found.stderr.splitlines()[-1]


def test_one_that_was_installed_over_ours_is_named(tmp_path, environment):
    init = environment / "cluster" / "__init__.py"
    ours = init.read_bytes()
    record = environment / "cluster-1.4.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: cluster\nVersion: 1.4\n")
    (record / "top_level.txt").write_text("cluster\n")
    init.write_text("from .method import KMeansClustering\n")
    try:
        found = ran(COMMAND, tmp_path, environment)
    finally:
        init.write_bytes(ours)
        shutil.rmtree(record)
    assert found.returncode == 1
    assert f"'cluster' was installed over it: {init}" in found.stderr
    assert "Uninstall 'cluster' and install basepar again" in found.stderr


def test_a_package_that_is_missing_is_named(tmp_path, environment):
    (environment / "sweeps").rename(environment / "away")
    try:
        found = ran(USE, tmp_path, environment)
    finally:
        (environment / "away").rename(environment / "sweeps")
    assert f"{environment / 'sweeps' / '__init__.py'} is missing. Install" in found.stderr


def test_what_is_looked_at_is_not_loaded(tmp_path):
    look = "basepar.foreign.check_names(); print(json.dumps([*sys.modules]))"
    code = f"import sys, json, basepar.foreign; {look}"
    assert not set(BESIDE) & set(json.loads(ran(code, tmp_path, HOME).stdout))
