"""What SLURM's accounting says, as `sacct --parsable2` prints it, and where it says nothing."""

import pytest

from cluster.accounting import Accounted, accounted, parsed

SAID = """\
101|basepar|COMPLETED|3725|01:02:03||2|1145M|1440
101.batch|basepar|COMPLETED|3725|01:02:03|512000K|2||
101.extern|basepar|COMPLETED|3725|00:00.001|1000K|2||
102|basepar|OUT_OF_MEMORY|60|00:30.500||2|600Mc|UNLIMITED
102.batch|basepar|OUT_OF_MEMORY|60|00:30.500|1.50G|2||
103|basepar|RUNNING|60|00:30.500||2|600Mc|10
103.batch|basepar|RUNNING|60|00:30.500|1G|2||
104|elsewhere|COMPLETED|60|1-00:00:00||2|1G|10
104.batch|elsewhere|COMPLETED|60|1-00:00:00|1G|2||
105|basepar|CANCELLED by 0|0|00:00:00||0|1G|10
106|basepar|TIMEOUT|86460|1-00:00:10||1|2G|1441
106.batch|basepar|CANCELLED|86461|1-00:00:10|3M|1||
"""
FOUND = {
    "101": Accounted("COMPLETED", 3725, 3723, 512000 * 1024, 86400, 1145 * 2**20, 2),
    "102": Accounted("OUT_OF_MEMORY", 60, 30, 1.5 * 2**30, None, 1200 * 2**20, 2),
    "106": Accounted("TIMEOUT", 86460, 86410, 3 * 2**20, 86460, 2 * 2**30, 1),
}


def test_what_it_prints():
    """Jobs that go on, never began or are another cluster's are left out; steps have memory."""
    assert parsed(SAID, "basepar") == FOUND


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """In the place of `sacct`: says this, and notes how it was asked."""

    def made(said, status=0):
        (tmp_path / "said").write_text(said)
        text = f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncat {tmp_path}/said\nexit {status}\n'
        (tmp_path / "sacct").write_text(text)
        (tmp_path / "sacct").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        return tmp_path / "asked"

    return made


def test_it_is_asked_for_numbers_only(stand_in):
    asked = stand_in(SAID)
    assert accounted(["106", "101", "102", "1;rm", "--help"], "basepar") == FOUND
    assert asked.read_text().split()[-1] == "--jobs=101,102,106"
    assert accounted(["x"], "basepar") == {}
    assert len(asked.read_text().splitlines()) == 1


def test_accounting_that_is_off(stand_in, monkeypatch, tmp_path):
    stand_in("Slurm accounting storage is disabled\n", 1)
    assert accounted(["101"], "basepar") == {}
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert accounted(["101"], "basepar") == {}


@pytest.mark.slow
def test_a_real_slurm_without_accounting(in_slurm):
    assert accounted(["1"], "basepar") == {}
