"""Films: where everything is, frame by frame, and what is written of it."""

import json
import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import basepar
from basepar_core.api import load
from basepar_core.dynamics import prepare
from basepar_core.errors import MissingDataError, MotionError, UsageError
from basepar_core.files.mechanism_file import loads
from tests.mechanisms import PARALLELOGRAM_BY_VALUE
from workflows import moving
from workflows.cli.main import main
from workflows.moving.motion import filmed_motion

#: What would run, were it not text.
HOSTILE = """</script><script>document.title='ran'</script><img src=x onerror=alert(1)>"""


@pytest.fixture(scope="module")
def four_bar():
    return moving.film(prepare(load("four-bar")))


def mark(film, name):
    return next(one for one in film.sketch.marks if one["name"] == name)


def test_pins_stay_together_and_go_where_circles_meet(four_bar):
    """The rocker's pin is where circles about the crank's pin and the ground's meet."""
    ends = {one["name"]: four_bar.places(one["ends"]) for one in four_bar.sketch.marks}
    for name, at in ends.items():
        gap = np.abs(at[:, 0] - at[:, 1]).max()
        assert gap < 1e-9, name  # Newton's last update, of metres
    A, B, C, D = (ends[name][:, 0, :2] for name in "ABCD")
    values = {name: float(text.split()[0]) for name, text in four_bar.values.items()}
    coupler = np.hypot(values["lx2"], values["ly2"])
    rocker = np.linalg.norm(C - D, axis=1)
    crank = np.radians(four_bar.readings[0]["values"])
    np.testing.assert_allclose(
        B - A, values["lx1"] * np.stack([np.cos(crank), np.sin(crank)], axis=1), atol=1e-12
    )
    base = D - B
    far = np.linalg.norm(base, axis=1)
    along = (coupler**2 - rocker**2 + far**2) / (2 * far)
    across = np.sqrt(coupler**2 - along**2)
    unit = base / far[:, None]
    normal = np.stack([-unit[:, 1], unit[:, 0]], axis=1)
    met = B + along[:, None] * unit + across[:, None] * normal
    # Closed to 1e-9; circles that meet at an angle magnify that a little.
    np.testing.assert_allclose(C, met, atol=1e-8)


def test_arrows_are_the_drives_torques(four_bar):
    """Against the compiled kernels, another program of the same mechanics."""
    model = basepar.load("four-bar")
    cycle = basepar.motion(model, "cycle")
    tau = model.torque(cycle.q, cycle.qd, cycle.qdd)[:, 0]
    assert [one["name"] for one in four_bar.efforts] == ["A"]
    scale = np.abs(tau).max()
    np.testing.assert_allclose(four_bar.efforts[0]["values"], tau, atol=1e-9 * scale)


def test_a_full_turn_closes_and_a_rest_to_rest_motion_does_not(four_bar):
    assert four_bar.closed
    # 128 samples and as many steps, the last one back to the first.
    assert four_bar.duration == pytest.approx(four_bar.t[-1] * 128 / 127)
    assert not moving.film(prepare(load("planetary-gear"))).closed


def test_what_ends_early_is_filmed_so_far():
    """A rocker that swings no farther than its links reach."""
    rocking = PARALLELOGRAM_BY_VALUE.replace("l3: {value: 0.4", "l3: {value: 0.5").replace(
        "l2: {value: 0.7", "l2: {value: 0.45"
    )
    turning = rocking + "cycle: {joints: {A: {kind: constant_speed, speed: 1 rad/s, turns: 1}}, "
    film = moving.film(prepare(loads(turning + "samples: 64}\n", "rocking")))
    assert film.note.split()[0] in ("locks", "is")
    assert 1 < len(film.t) < 64
    assert not film.closed
    assert film.note.split(" at ")[0] in moving.page(film)
    # The sample that is named is the first that there is no frame of, counted from 1.
    assert film.note.endswith(f"(sample {len(film.t) + 1} of 64 of its cycle)")
    # Another motion has its own name.
    model = prepare(loads(turning + "samples: 64}\n", "rocking"))
    whole = replace(filmed_motion(model), name="steady turn")
    assert moving.film(model, whole=whole).note.endswith(" of its steady turn)")


def test_a_variant_that_cannot_be_assembled_is_an_error():
    with pytest.raises(MotionError, match="cannot be assembled"):
        moving.film(prepare(load("four-bar")), {"lx1": 9.0})


class Reader(HTMLParser):
    """Elements of a page, with their attributes."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_names_are_text_in_every_film(tmp_path):
    """Joint names may be anything but control characters; so may a file's name."""
    text = PARALLELOGRAM_BY_VALUE.replace("name: parallelogram by value", "name: mine")
    film = moving.film(prepare(loads(text, "mine")))
    hostile = moving.Film(
        **{
            **vars(film),
            "mechanism": HOSTILE[:90],
            "bodies": (HOSTILE, *film.bodies[1:]),
            "note": HOSTILE,
            "values": {HOSTILE: HOSTILE},
        }
    )
    read = Reader()
    read.feed(moving.page(hostile))
    scripts = [attributes for tag, attributes in read.found if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {}, {}]
    assert not [tag for tag, _ in read.found if tag in ("img", "iframe", "object", "embed")]
    assert not [a for _, a in read.found for name in a if name.startswith("on")]
    policy = next(a["content"] for _, a in read.found if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    assert policy.count("sha256-") == 2
    frame = Reader()
    frame.feed(moving.frame(hostile))
    assert [tag for tag, _ in frame.found] == ["iframe"]
    assert frame.found[0][1]["sandbox"] == "allow-scripts"
    moving.write(hostile, tmp_path / "film.svg")
    root = ET.parse(tmp_path / "film.svg").getroot()
    assert root[0].text == HOSTILE[:90]
    assert not [one for one in root.iter() if one.tag.endswith("script")]


def test_a_drawing_that_moves_has_every_frame(four_bar, tmp_path):
    root = ET.parse(moving.write(four_bar, tmp_path / "bar.svg", 2.0)).getroot()
    moves = [one for one in root.iter() if one.tag.endswith(("animate", "animateTransform"))]
    assert {one.get("dur") for one in moves} == {"2s"}
    assert {len(one.get("values").split(";")) for one in moves} == {len(four_bar.t)}


def test_a_gif_takes_as_long_as_asked(four_bar, tmp_path):
    image = pytest.importorskip("PIL.Image")
    with image.open(moving.write(four_bar, tmp_path / "bar.gif", 0.4)) as shot:
        shots, lasting = shot.n_frames, 0
        for k in range(shots):
            shot.seek(k)
            lasting += shot.info["duration"]
    assert shots == 10  # 25 a second
    assert lasting == pytest.approx(400)


def test_endings_that_there_are_not(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match=r"not \.png"):
        moving.check_ending(tmp_path / "film.png")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(MissingDataError, match="ffmpeg"):
        moving.check_ending(tmp_path / "film.mp4")


def test_the_command_says_what_it_wrote(tmp_path, capsys):
    path = tmp_path / "crank.html"
    assert main(["animate", "slider-crank", "--set", "lx1=0.11", "-o", str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["frames"], said["motion"], said["ends"]) == (128, "cycle", None)
    assert said["bytes"] == path.stat().st_size < 300_000
    assert "lx1 = 0.11 m" in path.read_text()
    assert main(["animate", "slider-crank", "--seconds", "0", "-o", str(path)]) == 2


def test_from_python(tmp_path):
    model = basepar.load("four-bar")
    made = model.animate(tmp_path / "bar.html", {"lx1": 0.31})
    assert repr(made).startswith("<basepar.Animation 'four-bar': 128 frames")
    assert made.html == (tmp_path / "bar.html").read_text()
    assert made._repr_html_().startswith("<iframe sandbox")
    with pytest.raises(UsageError, match="one geometry"):
        model.animate(geometry={"lx1": [0.3, 0.31]})
