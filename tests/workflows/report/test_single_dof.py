"""The page of a mechanism of one degree of freedom: what moves in it."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import basepar
from workflows.report import single_dof
from workflows.views import single_dof as views


@pytest.fixture(scope="module")
def turning():
    """The dwell linkage in a steady turn: the work of a force against that of a moment."""
    model = basepar.load("dwell")
    return model.prepared, basepar.one_dof(model, speed=10.0).found


def film_of(model, found, path):
    """The page's film."""
    single_dof.write(model, found, views.document(found), path)
    texts = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', path.read_text())
    (film,) = (json.loads(text) for text in texts if '"duration"' in text)
    return film


def test_a_steady_turn_goes_evenly_in_time(turning, tmp_path):
    model, found = turning
    steady = found.machine.motion
    film = film_of(model, found, tmp_path / "page.html")
    t, period = np.array(film["t"]), float(steady.time[0][-1] - steady.time[0][0])
    np.testing.assert_allclose(np.diff(t), t[1], rtol=1e-3)  # times are written with six digits
    # Closed: the first pose is not there once more.
    assert film["closed"]
    assert film["duration"] == pytest.approx(period, rel=1e-6)
    assert t[-1] < period


def test_the_crank_is_where_the_steady_turn_has_it(turning, tmp_path):
    model, found = turning
    steady = found.machine.motion
    film = film_of(model, found, tmp_path / "page.html")
    (reading,) = (one for one in film["readings"] if one["name"] == model.mechanism.coordinates[0])
    expected = np.interp(np.array(film["t"]) + steady.time[0][0], steady.time[0], steady.q)
    shown = np.array(reading["values"]) * (np.pi / 180 if reading["unit"] in ("deg", "°") else 1)
    # The crank goes unevenly in time, by more than numbers of six digits hide.
    assert np.abs(expected - np.array(film["t"]) * expected[-1] / film["t"][-1]).max() > 1e-3
    np.testing.assert_allclose(shown, expected, atol=1e-4)


@pytest.mark.slow
def test_arrows_are_what_the_joint_transmits(tmp_path):
    model = basepar.load("dwell")
    found = basepar.one_dof(model, speed=10.0, force=["B:crank:x"]).found
    film = film_of(model.prepared, found, tmp_path / "page.html")
    steady, (joint,) = found.machine.motion, found.machine.reactions
    (arrow,) = (one for one in film["efforts"] if one["name"] == joint.name)
    at = np.array(film["t"]) + steady.time[0][0]
    expected = np.interp(at, steady.time[0], steady.reactions[0, 0])
    assert arrow["unit"] == "N"
    # Numbers of six digits, read at times of six digits.
    np.testing.assert_allclose(arrow["values"], expected, atol=1e-4 * np.abs(expected).max())
    assert np.abs(expected).max() > 0


def test_a_turn_that_ends_early_is_said(turning, tmp_path, monkeypatch):
    """Whatever the film says of its end stands in the page."""
    model, found = turning
    real = single_dof.moving.film
    words = "locks before A = 12.0° (sample 3 of 144 of its steady turn)"
    monkeypatch.setattr(
        single_dof.moving, "film", lambda *a, **k: replace(real(*a, **k), note=words)
    )
    film = film_of(model, found, tmp_path / "page.html")
    assert film["note"] == words
    assert f"It {words}; the motion up to there." in (tmp_path / "page.html").read_text()
