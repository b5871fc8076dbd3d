"""Drawings: there, not empty, with every body and joint named."""

import numpy as np
import pytest

from basepar_core.closure import prepare
from basepar_core.files import library_names, load

plt = pytest.importorskip("matplotlib")


@pytest.mark.parametrize("name", library_names())
def test_svg_names_bodies_and_joints(run, tmp_path, name):
    plt.rcParams["svg.fonttype"] = "none"  # text as text
    file = tmp_path / f"{name}.svg"
    assert run("show", name, "-o", str(file), "--json").json["drawing"] == str(file)
    drawn = file.read_text()
    mechanism = load(name)
    for body in mechanism.bodies:
        assert f">{body.name}<" in drawn
    for joint in mechanism.joints:
        assert joint.name in drawn


def test_png_shows_the_bodies(run, tmp_path):
    from matplotlib.colors import to_rgb
    from matplotlib.image import imread

    from workflows.drawing import COLOURS

    file = tmp_path / "four-bar.png"
    run("show", "four-bar", "-o", str(file))
    pixels = imread(file)[:, :, :3]
    for colour in COLOURS[:3]:  # three bodies, each with some hundred pixels of its own
        near = np.abs(pixels - np.array(to_rgb(colour))).max(axis=2) < 0.02
        assert near.sum() > 200, colour


def test_equal_input_equal_file(tmp_path):
    from workflows.drawing import draw

    model = prepare(load("slider-crank"))
    one, two = (draw(model, tmp_path / f"{k}.png").read_bytes() for k in (1, 2))
    assert one == two


def test_a_variant_is_drawn_at_its_own_size(tmp_path):
    from workflows.drawing import figure_of

    model = prepare(load("four-bar"))
    spans = []
    for length in (0.25, 0.35):
        lines = figure_of(model, {"lx1": length}).axes[0].lines
        # The crank of the assembled pose is the thick line from the origin.
        crank = next(
            line for line in lines if line.get_linewidth() == 4.0 and line.get_alpha() == 1.0
        )
        spans.append(float(np.hypot(*np.ptp(crank.get_xydata(), axis=0))))
    # On paper a planar mechanism has its true lengths; rounding only.
    np.testing.assert_allclose(spans, [0.25, 0.35], rtol=1e-12)
