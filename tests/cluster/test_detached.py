"""A driver that is submitted: as written down, and in a real SLURM."""

import json
import sys
from pathlib import Path

import pytest

from cluster.detached import driver_script
from cluster.errors import PlaceError
from cluster.places import Laptop, Slurm
from sweeps.store import check_and_repair
from tests.cluster.test_scripts import PLACE, SWEEP, until
from workflows.cli.main import main

GOLDEN = Path(__file__).parent / "golden"


def test_script_as_written_down():
    words = ["sweep", "/home/me/a.yaml", "--store", "/scratch/it's/a.zarr", "--requeue"]
    found = driver_script(Slurm(**PLACE), words, "/scratch/it's/a.zarr-%j.log")
    assert found == (GOLDEN / "driver.sh").read_text()
    with pytest.raises(PlaceError, match="nobody sees"):
        driver_script(Slurm(1), ["sweep", "a\n.yaml"], "x")
    with pytest.raises(PlaceError, match="`kind: slurm`"):
        driver_script(Laptop(), words, "x")
    with pytest.raises(PlaceError, match="evaluate parts instead"):
        driver_script(Slurm(1, container="a.sif"), words, "x")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["four-bar"], "name a profile of `kind: slurm`"),
        (["four-bar", "--part", "1/2"], "--part and --detach: one after the other"),
        (["--from", "a.zarr"], "--detach needs a sweep file"),
        (["no-such-sweep"], "There is no sweep file"),
    ],
)
def test_what_is_not_submitted(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", *words, "--detach"]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_driver_in_a_real_slurm(in_slurm, tmp_path, capsys):
    """It submits its workers, fills the store, which is looked at meanwhile, and all end."""
    (tmp_path / "a.yaml").write_text(SWEEP)
    setup = f"setup: ['export PYTHONPATH={':'.join(sys.path)}']"
    profile = f"kind: slurm\nworkers: 2\nmemory: 600 MB\npartition: debug\n{setup}\n"
    profile += f"python: {sys.executable}\ninterface: lo\ndirectory: {tmp_path}\ninterval: 1\n"
    (tmp_path / "p.yaml").write_text(profile)
    store = tmp_path / "a.zarr"
    words = ["sweep", str(tmp_path / "a.yaml"), "--store", str(store), "--detach", "--json"]
    assert main([*words, "--cluster", str(tmp_path / "p.yaml")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["store"] == str(store)
    until(store.exists)
    assert main(["status", str(store), "--json"]) == 0  # while it fills
    assert json.loads(capsys.readouterr().out)["total"] == 16384
    until(lambda: not in_slurm.run("squeue", "-h"))
    assert main(["status", str(store), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["done"], Path(told["log"]).read_text()
    assert found["runs"][-1]["job"] == told["job"]
    assert check_and_repair.find(store) == []
