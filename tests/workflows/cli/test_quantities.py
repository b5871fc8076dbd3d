"""Numbers of the command line, with units and without."""

import json

import numpy as np
import pytest

from basepar_core.errors import BaseparWarning
from workflows.cli.main import main
from workflows.cli.quantities import quantity


def test_quantities_of_the_command_line():
    assert quantity(" -30deg", "rad", "") == pytest.approx(-np.pi / 6, rel=1e-15)
    assert quantity("0.2 mm", "m", "") == pytest.approx(2e-4, rel=1e-15)
    assert quantity("1", "rad", "") == 1
    with pytest.warns(BaseparWarning, match="1.4 turns; write 9deg, or 9rad"):
        assert quantity("9", "rad", "--range") == 9


def test_limits_of_a_motion_have_units(capsys):
    words = ["--range", "A=-30deg:0.5", "--speed", "A=30rpm", "--random", "1", "--starts", "1"]
    assert main(["excite", "four-bar", *words, "--harmonics", "1", "--json"]) == 0
    (limit,) = json.loads(capsys.readouterr().out)["limits"]
    assert limit["lowest"] == pytest.approx(-np.pi / 6, rel=1e-15)
    assert limit["highest"] == 0.5
    assert limit["speed"] == pytest.approx(np.pi, rel=1e-15)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--range", "A=-30:30"], "more than two turns; write --range A=-30deg:30deg, or rad"),
        (["--range", "A=1"], "write A=LO:HI"),
        (["--range", "A=-30deg,60deg"], "a range has a colon: write --range A=-30deg:60deg."),
        (["--range", "A=-30deg,A=60deg"], "a range has a colon: write --range A=-30deg:60deg."),
        (["--range", "A=0:1,A=1:2"], "'A=1:2' is given twice."),
        (["--range", "A=-30deg,B"], "'B' is not of the form NAME=VALUE."),
        (["--range", "-30deg:60deg"], "write whose it is, as in --range A=-30deg:60deg."),
        (["--speed", "A=2m/s"], "rad/s is expected"),
        (["--speed", "Z=2"], "known are A, B, C, D"),
    ],
)
def test_mistakes_in_limits(words, message, capsys):
    assert main(["excite", "four-bar", *words]) == 2
    assert message in capsys.readouterr().err
