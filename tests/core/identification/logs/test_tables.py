"""Tables as machines write them."""

import numpy as np
import pytest

from basepar_core.errors import FileError
from basepar_core.identification.logs import has_titles, read_tables

NUMBERS = np.array([[0.0, 1.5, -2e-3], [0.1, np.nan, 4.0]])


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("0,1.5,-2e-3\n0.1,,4\n", ("", "", "")),
        ("time;a;a\n0;1,5;-0,002\n0,1;;4\n", ("time", "a", "a#2")),
        ("% a log\n%t\ta\tb\n0\t1.5\t-0.002\n0.1\tnan\t4\n", ("t", "a", "b")),
        ("# a log made by nobody\n\n0 1.5 -0.002\n0.1 nan 4.0\n", ("", "", "")),
    ],
)
def test_delimiters_headers_and_empty_cells(tmp_path, text, titles):
    path = tmp_path / "log.csv"
    path.write_text(text)
    (found,) = read_tables(path)
    np.testing.assert_array_equal(found.numbers, NUMBERS)
    assert found.titles == titles
    assert has_titles(path) == (not text.startswith("0"))


def test_side_by_side_and_one_after_another(tmp_path):
    one, two = tmp_path / "q.csv", tmp_path / "i.csv"
    one.write_text("J1,J2\n1,2\n3,4\n")
    two.write_text("J1\n5\n6\n")
    (beside,) = read_tables(f"{one}+{two}")
    np.testing.assert_array_equal(beside.numbers, [[1, 2, 5], [3, 4, 6]])
    assert beside.titles == ("J1", "J2", "J1#2")
    assert len(read_tables(f"{one},{one}")) == 2
    with pytest.raises(FileError, match=r"same columns; these have q\.csv 2, i\.csv 1"):
        read_tables(f"{one},{two}")
    two.write_text("J1\n5\n")
    with pytest.raises(FileError, match=r"these have q\.csv 2 rows, i\.csv 1 row"):
        read_tables(f"{one}+{two}")


def test_all_bad_rows_at_once(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("1,2\n3\n4,x\n")
    with pytest.raises(FileError) as caught:
        read_tables(path)
    assert [mistake.path for mistake in caught.value.mistakes] == ["row 2", "row 3"]
    path.write_text("no numbers\n")
    with pytest.raises(FileError, match="is it a log"):
        read_tables(path)
    with pytest.raises(FileError, match="cannot be read"):
        read_tables(tmp_path / "none.csv")
