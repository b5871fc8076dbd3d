"""Drawings: there, not empty, with every body and joint named."""

from xml.etree import ElementTree

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics.closure import prepare
from basepar_core.files.mechanism_file import library_names

plt = pytest.importorskip("matplotlib")

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", library_names())
def test_svg_names_bodies_and_joints(run, tmp_path, name):
    plt.rcParams["svg.fonttype"] = "none"  # text as text
    file = tmp_path / f"{name}.svg"
    assert run("show", name, "-o", str(file), "--json").json["drawing"] == str(file)
    root = ElementTree.parse(file).getroot()
    texts = ["".join(node.itertext()).strip() for node in root.iter(f"{SVG}text")]
    mechanism = load(name)
    for body in mechanism.bodies:
        assert body.name in texts
    # Joints at one place share a label.
    labels = [part for text in texts for part in text.split(", ")]
    for joint in mechanism.joints:
        assert joint.name in labels


def test_png_shows_the_bodies(run, tmp_path):
    from matplotlib.colors import to_rgb
    from matplotlib.image import imread

    from workflows.drawing.painting import COLOURS

    file = tmp_path / "four-bar.png"
    run("show", "four-bar", "-o", str(file))
    pixels = imread(file)[:, :, :3]
    for colour in COLOURS[:3]:  # three bodies, each with some hundred pixels of its own
        near = np.abs(pixels - np.array(to_rgb(colour))).max(axis=2) < 0.02
        assert near.sum() > 200, colour


def test_shapes_are_drawn_where_clearances_are_measured():
    from workflows.drawing.mechanism import figure_of
    from workflows.drawing.scene import Scene

    def area(outline):
        x, y = outline
        return abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2

    model = prepare(load("workflows/examples/mechanisms/straight-line.yaml"))
    scene = Scene(model, {"e": 0.3})
    (coupler, capsule), (ground, bench) = sorted(scene.outlines, key=lambda one: one[0])
    assert (coupler, ground) == ("coupler", "ground")
    np.testing.assert_allclose(bench.T, [[0.17, -0.1], [0.35, -0.1], [0.35, 0.09], [0.17, 0.09]])
    # A polygon of 96 corners stands for a disc, up to 0.1 % less.
    assert area(capsule) == pytest.approx(0.3 * 0.016 + np.pi * 0.008**2, rel=1e-3)
    pin = scene.joint_points([one.name for one in scene.it.joints].index("B"))[:, 0]
    assert np.linalg.norm(capsule - pin[:, None], axis=0).min() == pytest.approx(0.008, rel=1e-3)
    low, high = scene.own_box
    assert np.allclose([low[1], high[0]], [-0.1, 0.35])
    painted = [one.get_xy() for one in figure_of(model, {"e": 0.3}).axes[0].patches]
    for outline in (capsule, bench):
        corners = outline.shape[1]
        assert any(len(one) > corners and (one[:corners] == outline.T).all() for one in painted)


def test_equal_input_equal_file(tmp_path):
    from workflows.drawing.mechanism import draw

    model = prepare(load("slider-crank"))
    one, two = (draw(model, tmp_path / f"{k}.png").read_bytes() for k in (1, 2))
    assert one == two


def test_a_variant_is_drawn_at_its_own_size(tmp_path):
    from workflows.drawing.mechanism import figure_of

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


def test_where_a_crank_locks_is_said():
    """Shortest and longest bar together, 0.6 m and 2.2 m, exceed the others: no crank."""
    from workflows.drawing.mechanism import figure_of

    model = prepare(load("four-bar"))
    assert figure_of(model).get_supxlabel() == ""
    note = figure_of(model, {"lx1": 0.6, "Dx": 2.2}).get_supxlabel()
    assert note.startswith("locks before A = ")
    # There the diagonal B–D is as long as coupler and rocker together.
    angle = np.radians(float(note.removeprefix("locks before A = ").split("°")[0]))
    at = model.mechanism.nominal
    diagonal = np.hypot(2.2 - 0.6 * np.cos(angle), at["Dy"] - 0.6 * np.sin(angle))
    coupler = np.hypot(at["lx2"], at["ly2"])
    # Within a sample, 2π/128 rad of 0.6 m.
    assert 0 <= diagonal - (coupler + at["lx3"]) < 0.6 * 2 * np.pi / 128


def test_names_cover_neither_pins_nor_each_other():
    from workflows.drawing.layout import label_size, place_labels

    anchors = [np.array([x, 0.0]) for x in (0.0, 4.0, 8.0, 12.0)]
    sizes = [label_size("joint", 9)] * len(anchors)
    offsets = place_labels(anchors, sizes, np.array(anchors))
    centres = np.array(anchors) + offsets
    for i, a in enumerate(centres):
        assert not (np.abs(np.array(anchors) - a) < sizes[0] / 2).all(axis=1).any()
        for b in centres[:i]:
            assert (np.abs(a - b) >= sizes[0] - 1e-9).any()


def test_the_view_keeps_points_apart():
    """Three points in an upright plane are seen from its side, not edgewise."""
    from workflows.drawing.layout import view_of

    for angle in np.radians([10, 55, 100]):
        along = np.array([np.cos(angle), np.sin(angle), 0])
        points = np.stack([0 * along, along, 2 * along], axis=1)
        seen = view_of(points) @ points
        # A projection every 15 degrees: within 7.5 of the best, whose length is 2.
        assert np.ptp(seen[0]) > 2 * np.cos(np.radians(7.6))


@pytest.mark.parametrize("name", ["slider-crank", "dwell", "quick-return", "whitworth"])
def test_no_name_lies_over_a_slider(name):
    from workflows.drawing.mechanism import figure_of

    figure = figure_of(prepare(load(name)))
    figure.canvas.draw()
    (axes,) = figure.axes
    size = 15 * figure.dpi / 72  # of the square, as it is drawn
    squares = [
        line.axes.transData.transform(line.get_xydata()[0])
        for line in axes.lines
        if isinstance(line.get_marker(), tuple)  # a square that is turned
    ]
    assert squares
    for text in axes.texts:
        box = text.get_bbox_patch().get_window_extent()  # nearly white
        for x, y in squares:
            apart_x = max(box.x0 - x, x - box.x1)
            apart_y = max(box.y0 - y, y - box.y1)
            assert max(apart_x, apart_y) > 0.5 * size, text.get_text()
