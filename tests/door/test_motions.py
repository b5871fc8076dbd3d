"""Motions of the file and recorded ones, as arrays and as tables."""

from importlib import resources

import numpy as np
import pandas as pd
import pytest

import basepar


@pytest.mark.parametrize("source", ["excitation", "cycle"])
def test_rates_are_derivatives(source):
    """Differences over 20,000 samples are the derivatives to the step squared, and rounding."""
    found = basepar.motion("slider-crank", source, samples=20_000)
    for value, rate in ((found.q, found.qd), (found.qd, found.qdd)):
        steps = np.gradient(value[:, 0], found.t)
        allowed = 1e-4 * np.abs(rate).max() + 1e-9
        np.testing.assert_allclose(steps[1:-1], rate[1:-1, 0], atol=allowed)


def test_a_table_of_it_is_read_as_it_was_written(tmp_path):
    """Numbers of a CSV file are written to the last digit."""
    found, file = basepar.motion("five-bar", "excitation"), tmp_path / "motion.csv"
    found.to_dataframe().to_csv(file, index=False)
    for record in (file, str(file), pd.read_csv(file, float_precision="round_trip")):
        again = basepar.motion("five-bar", record)
        for name in ("t", "q", "qd", "qdd"):
            np.testing.assert_allclose(getattr(again, name), getattr(found, name), rtol=1e-15)


def test_units_titles_and_rates_that_are_not_known():
    """The spline's rates of a sine, away from its ends; 500 samples in a period."""
    t = np.linspace(0.0, 2.0, 1001)
    angle = 20 * np.sin(2 * np.pi * t)
    found = basepar.motion(
        "four-bar", pd.DataFrame({"t [ms]": 1e3 * t, "crank [deg]": angle}), titles={"A": "crank"}
    )
    np.testing.assert_allclose(found.t, t, atol=1e-12)
    rate = np.deg2rad(20) * 2 * np.pi * np.cos(2 * np.pi * t)
    inside = slice(100, -100)
    np.testing.assert_allclose(found.qd[inside, 0], rate[inside], atol=1e-4 * rate.max())


def test_what_was_made_of_a_record_is_reported():
    t = np.linspace(0, 2, 400)
    angle = 0.3 * np.sin(3 * t)
    angle[200] += 1.0
    with pytest.warns(basepar.BaseparWarning, match="the given columns"):
        basepar.motion("four-bar", {"t": t, "A": angle})
    with pytest.raises(basepar.UsageError, match="samples= does not go with a record"):
        basepar.motion("four-bar", {"t": t, "A": angle}, samples=3)
    with pytest.raises(basepar.UsageError, match="samples is 0; a motion has one at least"):
        basepar.motion("four-bar", "cycle", samples=0)
    with pytest.raises(basepar.UsageError, match="cutoff= does not go with a motion of the file"):
        basepar.motion("four-bar", "cycle", cutoff=3.0)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(basepar.FileError, match="has no column A"):
        basepar.motion("four-bar", {"t": [0.0] * 9})
    text = resources.files("basepar_core.library").joinpath("slider-crank.yaml").read_text()
    file = tmp_path / "still.yaml"
    file.write_text("".join(one for one in text.splitlines(True) if not one.startswith("cycle:")))
    with pytest.raises(basepar.MissingDataError, match="cycle"):
        basepar.motion(file, "cycle")
