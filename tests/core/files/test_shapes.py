"""Shapes of bodies and of the ground in mechanism files."""

import pytest

from basepar_core.errors import FileError
from basepar_core.files import mechanism_file

SOURCE = mechanism_file.load("slider-crank").source


def with_shape(line, ground=""):
    body = SOURCE.replace("crank:  {", f"crank:  {{shape: {line}, ", 1)
    assert body != SOURCE
    return mechanism_file.loads(f"{body}\n{f'shape: {ground}' if ground else ''}\n")


def test_shapes_are_read_in_file_order():
    found = with_shape(
        "[{capsule: [[0, 0], [lx1, 0]], radius: lx1/10}, {circle: [0, 0], radius: 30 mm}]",
        "{polygon: [[0, -0.1], [0.5, -0.1], [0.5, -0.2]]}",
    ).shapes
    assert [(one.body, len(one.corners)) for one in found] == [
        ("crank", 2),
        ("crank", 1),
        ("ground", 3),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{radius: 1}", "a circle, a capsule or a polygon: one of the three"),
        ("{circle: [0, 0], capsule: [[0, 0], [1, 0]], radius: 1}", "one of the three"),
        ("{circle: [0, 0]}", "a circle has a radius"),
        ("{capsule: [[0, 0], [lx1, 0]], radius: -1 mm}", "its radius is -0.001 m"),
        ("{capsule: [[0, 0]], radius: 1}", "two ends"),
        ("{polygon: [[0, 0], [1, 0]]}", "at least 3 corners"),
        ("{polygon: [[0, 0], [1, 0], [0.2, 0.2], [0, 1]]}", "convex"),
        ("{polygon: [[0, 0], [1, 1], [1, 0], [0, 1]]}", "convex"),
        ("{disc: [0, 0]}", "unknown key"),
        ("{circle: [0, 0], radius: 2 kg}", "kg"),
        ("{circle: [0, 0, 0], radius: 1}", "a vector of 2"),
    ],
)
def test_mistakes(line, said):
    with pytest.raises(FileError, match=said):
        with_shape(line)
    with pytest.raises(FileError, match=said):
        with_shape("{circle: [0, 0], radius: 1}", line)


def test_polygons_are_planar():
    source = mechanism_file.load("rssr").source
    line = "shape: {polygon: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]}"
    with pytest.raises(FileError, match="polygons are of planar mechanisms; take capsules"):
        mechanism_file.loads(f"{source}\n{line}\n")
