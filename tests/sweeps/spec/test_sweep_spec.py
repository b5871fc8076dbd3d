"""What a specification is: its hash, its differences, its mistakes."""

import re
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from basepar_core.errors import BaseparWarning, ExpressionError, FileError
from basepar_core.expressions.grammar import parse_unit
from basepar_core.files.mechanism_file import loads
from sweeps.spec.filters import Filter, condition
from sweeps.spec.plans import Grid, Random, Sobol
from sweeps.spec.reader import from_document, load_sweep, parse_sweep
from sweeps.spec.sampling import FROM_PILOT
from sweeps.spec.sweep_spec import Evaluation, Reduction, SweepSpec
from sweeps.spec.table_reader import read_table
from sweeps.spec.tables import Table
from tests.sweeps.fourbar import FOUR_BAR, MECHANISM, SPANNED, spec

GOOD = """
mechanism: four-bar.yaml
space:
  plan: sobol
  variables: {lx1: [0.2, 1.5], lx2: [500, 0.9 m], tilt: [1, 20]}
  where: ["lx1 + max(lx2, Dx) <= lx3 + 10 mm"]
  candidates: 32768
  seed: 7
evaluate:
  rank: auto
  reduction: {criteria: [tolerance, aic, bic, mdl, fpe], tolerance: 0.01}
  metrics: [torque_rms, torque_peak]
store: {path: four-bar.zarr, chunk: 512}
limits: {variant_seconds: 30}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "four-bar.yaml").write_text(FOUR_BAR)
    return tmp_path


def parsed(folder, text):
    return parse_sweep(text, str(folder / "sweep.yaml"))


def with_space(folder, space):
    return parsed(folder, f"mechanism: four-bar.yaml\nspace: {space}\n")


def complaint(folder, space):
    with pytest.raises(FileError) as caught:
        with_space(folder, space)
    return str(caught.value)


class TestHash:
    def test_same_arrays_same_hash(self):
        assert spec("a.zarr").hash == spec("b.zarr", variant_seconds=5.0).hash

    def test_comments_do_not_count(self):
        other = replace(spec(), mechanism=loads("# a remark\n" + FOUR_BAR))
        assert other.hash == spec().hash

    @pytest.mark.parametrize(
        "change",
        [
            {"chunk": 32},
            {"where": ()},
            {"plan": Sobol((("lx1", 0.2, 0.6),), 400, 8)},
            {"evaluation": Evaluation(rank="none")},
            {"mechanism": loads(FOUR_BAR.replace("0.3", "0.31"))},
        ],
    )
    def test_whatever_fixes_the_arrays_counts(self, change):
        other = replace(spec(), **change)
        assert other.hash != spec().hash
        assert spec().difference(other.canonical)

    def test_order_of_variables_counts(self):
        first, second = ("lx1", 0.2, 0.6), ("Dx", 0.6, 1.4)
        one, two = (spec(plan=Random(pair, 9)) for pair in ((first, second), (second, first)))
        assert one.hash != two.hash
        assert one.difference(two.canonical) == [
            "space.variables: lx1, Dx here, in the order Dx, lx1 there"
        ]


def test_differences_are_named():
    other = spec(chunk=32, plan=Sobol((("lx1", 0.2, 0.5),), 400, 8))
    lines = spec().difference(other.canonical)
    assert "space.seed: 7 here, 8 there" in lines
    assert "store.chunk: 16 here, 32 there" in lines
    assert "space.variables.lx1[1]: 0.6 here, 0.5 there" in lines
    assert "space.variables.lx3: [0.4, 1.6] here, nothing there" in lines


def test_differences_are_in_the_units_of_the_file():
    def grid(*values):
        return spec(plan=Grid((("lx2", values), ("lx3", (1.0,)))))

    one = grid(0.25, 0.3)
    assert one.difference(grid(0.25, 0.299).canonical) == [
        "space.variables.lx2[1]: 300 mm here, 299 mm there"
    ]
    assert one.difference(grid(0.2).canonical) == [
        "space.variables.lx2: [250 mm, 300 mm] here, [200 mm] there"
    ]
    # One rounding apart, both are 300 mm.
    assert one.difference(grid(0.25, 0.1 + 0.2).canonical) == [
        "space.variables.lx2[1]: 0.3 here, 0.30000000000000004 there"
    ]


def test_all_mistakes_at_once_in_python_too():
    with pytest.raises(FileError) as caught:
        SweepSpec(
            MECHANISM,
            Random((("lx9", 0.0, 1.0), ("rho", 1.0, 2.0), ("r3", 1.0, 2.0)), 0),
            evaluation=Evaluation("fast", Reduction(("aix",), 2.0, 0), ("torque",)),
            chunk=-1,
            variant_seconds=0.0,
        )
    assert [mistake.path for mistake in caught.value.mistakes] == [
        "space.variables.lx9",
        "space.variables.rho",
        "space.variables.r3",
        "space",
        "evaluate.rank",
        "evaluate.metrics[0]",
        "evaluate.reduction.criteria[0]",
        "evaluate.reduction.tolerance",
        "evaluate.reduction.effective_samples",
        "store.chunk",
        "limits.variant_seconds",
    ]


class TestFile:
    def test_reads_what_it_says(self, folder):
        (folder / "sweep.yaml").write_text(GOOD)
        found = load_sweep(folder / "sweep.yaml")
        degree = np.pi / 180
        assert found.plan == Sobol(
            (("lx1", 0.2, 1.5), ("lx2", 0.5, 0.9), ("tilt", degree, 20 * degree)), 32768, 7
        )
        assert (found.chunk, found.store, found.variant_seconds) == (512, "four-bar.zarr", 30.0)
        criteria = ("tolerance", "aic", "bic", "mdl", "fpe")
        assert found.evaluation == Evaluation(
            "auto", Reduction(criteria, 0.01), ("torque_rms", "torque_peak")
        )

    def test_the_store_keeps_enough_to_run_again(self, folder):
        found = parsed(folder, GOOD)
        assert from_document(found.document()) == found

    def test_all_mistakes_at_once_with_paths_and_lines(self, folder):
        text = """
mechanism: four-bar.yaml
space:
  plan: sobol
  variables: {lx9: [0.2, 1.5], lx2: [500, 0.4 m], rho: [1, 20], Dx: [1, 2 kg]}
  where: ["lx1 + Dx <= 3", "lx1 <= lx8"]
  candidtes: 0
evaluate:
  rank: automatic
  reduction: {criteria: [tolernce, aic, aic], tolerance: 2}
  metrics: [torque_rm]
store: {path: four-bar.zarr, chunk: 0}
limits: {variant_seconds: -1}
other: 3
"""
        with pytest.raises(FileError) as caught:
            parsed(folder, text)
        found = {mistake.path: mistake for mistake in caught.value.mistakes}
        assert list(found) == [
            "space.variables.lx9",
            "space.variables.rho",
            "space.variables.lx2",
            "space.variables.Dx[1]",
            "space.where[0]",
            "space.where[1]",
            "space.candidtes",
            "evaluate.rank",
            "evaluate.reduction.criteria[2]",
            "evaluate.reduction.criteria[0]",
            "evaluate.reduction.tolerance",
            "evaluate.metrics[0]",
            "store.chunk",
            "limits.variant_seconds",
            "other",
        ]
        assert "did you mean 'candidates'?" in found["space.candidtes"].message
        assert "did you mean 'auto'?" in found["evaluate.rank"].message
        assert found["evaluate.rank"].line == 9
        assert "constants are never swept" in found["space.variables.rho"].message

    def test_mistakes_of_the_mechanism_are_among_them(self, folder):
        (folder / "four-bar.yaml").write_text(FOUR_BAR.replace("revolute", "revolut", 1))
        text = complaint(folder, "{plan: grid, variables: {lx1: [1]}, seed: 3}")
        assert "joints.A.type" in text
        assert "space.seed" in text

    def test_a_bare_number_beside_an_angle_is_said_to_be_rad(self, folder):
        with pytest.warns(
            BaseparWarning, match=r"where\[0\] \(line 6\).*114.6 deg; write '2 deg'"
        ):
            parsed(folder, GOOD.replace("lx1 + max(lx2, Dx) <= lx3 + 10 mm", "tilt < 2"))

    def test_mistakes_of_a_plan_do_not_hide_others(self, folder):
        text = """
mechanism: four-bar.yaml
space: {plna: sobol, variables: {lx9: [1, 2]}, candidates: 0, where: ["lx1 <= 3"]}
evaluate: {rank: automatic}
"""
        found = ["plna", "variables.lx9", "candidates", "where[0]"]
        with pytest.raises(FileError) as caught:
            parsed(folder, text)
        paths = [one.path for one in caught.value.mistakes]
        assert paths == [*(f"space.{one}" for one in found), "evaluate.rank"]
        with pytest.raises(FileError) as caught:
            parsed(folder, text.replace("plna: sobol", "plan: table, file: none.csv, row: 1"))
        assert "none.csv" in str(caught.value)
        assert "space.row" in str(caught.value)
        each = "{from: 1, to: 2, count: 1000000}"
        many = f"plan: grid, variables: {{lx1: {each}, lx2: {each}, lx3: {each}, Dx: {each}}}"
        with pytest.raises(FileError) as caught:
            parsed(folder, re.sub("plna.*candidates: 0", many, text))
        paths = [one.path for one in caught.value.mistakes]
        assert sorted(paths) == ["evaluate.rank", "space", "space.where[0]"]

    def test_no_file(self, tmp_path):
        with pytest.raises(FileError, match="cannot be read"):
            load_sweep(tmp_path / "none.yaml")

    def test_defaults(self, folder):
        found = with_space(folder, "{plan: lhs, variables: {lx1: [0.1, 0.2]}, candidates: 5}")
        assert (found.chunk, found.store, found.plan.seed) == (FROM_PILOT, "", 0)
        assert found.evaluation == Evaluation()


class TestSpace:
    def test_grid_of_lists_and_ranges(self, folder):
        space = "{plan: grid, variables: {lx1: {from: 0.2, to: 0.3, count: 3}, lx2: [1, 2 m]}}"
        assert with_space(folder, space).plan == Grid(
            (("lx1", (0.2, 0.25, 0.3)), ("lx2", (0.001, 2.0)))
        )

    @pytest.mark.parametrize(
        ("space", "line"),
        [
            (
                "{lx2: [200, 600 mm]}",
                "2 ends alone; for values between write lx2: {from: 200, to: 600 mm",
            ),
            ("{lx1: [0.2, 1.2, 0.05]}", "write {from: 0.2, to: 1.2, count: 21}, else write"),
            (
                "{lx1: [0.2 m, 0.6 m], lx3: [1, 2]}",
                "4 corners alone; for values between write lx1:",
            ),
            (
                "{lx1: [0.25 m, 0.35 m], lx3: [1.2 m, 1.4 m]}",
                "4 corners alone; for values between write lx1:",
            ),
        ],
    )
    def test_a_grid_of_ends(self, folder, space, line):
        with pytest.warns(BaseparWarning) as caught:
            with_space(folder, f"{{plan: grid, variables: {space}}}")
        (one,) = caught
        assert line in str(one.message)

    @pytest.mark.parametrize(
        "variables",
        [
            "{lx1: [0.25 m, 0.3 m]}",
            "{lx1: [0.2 m, 0.6 m], lx3: [1.0 m, 1.3 m, 1.6 m]}",
            "{lx1: [0.2 m, 0.6 m], lx3: [1.0 m]}",
            "{lx1: [0.2 m, 0.6 m], lx3: {from: 1 m, to: 1.6 m, count: 2}}",
            "{lx1: [0.6 m, 0.2 m]}",
            "{Dx: [0 m, 0.1 m]}",
        ],
    )
    @pytest.mark.filterwarnings("error::basepar_core.errors.BaseparWarning")
    def test_grids_that_are_meant(self, folder, variables):
        with_space(folder, f"{{plan: grid, variables: {variables}}}")
        ends = f"plan: grid, variables: {variables.replace('0.3 m', '0.9 m')}"
        with_space(folder, f"{{plan: product, of: [{{{ends}}}]}}")

    def test_rows(self, folder):
        space = "{plan: table, rows: [{lx1: 0.3, lx2: 300}, {lx2: 1 m, lx1: 1/4}]}"
        expected = Table(("lx1", "lx2"), np.array([[0.3, 0.3], [0.25, 1.0]]))
        assert with_space(folder, space).plan == expected

    def test_csv_in_the_symbols_units(self, folder):
        (folder / "points.csv").write_text("lx1, lx2, tilt\n0.3, 700, 90\n1e-1, 300, 45\n\n")
        plan = with_space(folder, "{plan: table, file: points.csv}").plan
        expected = [[0.3, 0.7, np.pi / 2], [0.1, 0.3, np.pi / 4]]
        np.testing.assert_array_equal(plan.values, expected)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("lx1, lx9\n1, 2\n", "did you mean 'lx"),
            ("lx1\n1\nhm\n", "line 3.*'hm' is not a number"),
            ("lx1\nnan\n", "its value is nan"),
            ("lx1 [kg]\n1\n", r"line 1, lx1: is in \[kg\], but m or a multiple"),
            ("lx1, lx2\n1\n", "1 number for 2 symbols"),
            ("lx1\n", "no row"),
            ("", "the first line names"),
        ],
    )
    def test_csv_that_is_wrong(self, folder, text, words):
        (folder / "points.csv").write_text(text)
        with pytest.raises(FileError, match=words):
            with_space(folder, "{plan: table, file: points.csv}")

    def test_csv_with_units_in_its_titles(self, folder):
        (folder / "points.csv").write_text("lx1 [mm], lx2\n250, 600\n300,700\n")
        found = with_space(folder, "{plan: table, file: points.csv}").plan.values
        np.testing.assert_array_equal(found, [[0.25, 0.6], [0.3, 0.7]])

    def test_csv_that_is_too_large_in_si_only(self, folder):
        (folder / "points.csv").write_text("c\n1\n1e306\n")
        with pytest.raises(FileError, match=r"c \(line 3\): its value is inf"):
            read_table(folder / "points.csv", {"c": parse_unit("N/mm")})

    def test_a_long_csv_that_changed_is_noticed(self, folder):
        path = folder / "points.csv"
        path.write_text("lx1\n" + "0.5\n" * 50_001)
        document = with_space(folder, "{plan: table, file: points.csv}").document()
        assert len(from_document(document)) == 50_001
        path.write_text("lx1\n" + "0.4\n" * 50_001)
        with pytest.raises(FileError, match="not those of the sweep"):
            from_document(document)

    @pytest.mark.filterwarnings("ignore:Consolidated metadata")  # young in Zarr 3
    def test_a_long_table_of_a_store_is_found_from_anywhere(self, folder, tmp_path, monkeypatch):
        count = 50_001
        rows = xr.Dataset({"lx1": ("variant", np.linspace(0.2, 0.6, count))})
        rows.to_zarr(folder / "rows.zarr")
        monkeypatch.chdir(folder)
        document = parse_sweep(
            "mechanism: four-bar.yaml\nspace: {plan: table, file: rows.zarr}\n"
        ).document()
        (folder / "elsewhere").mkdir()
        monkeypatch.chdir(folder / "elsewhere")
        assert len(from_document(document)) == count

    @pytest.mark.parametrize(
        ("space", "words"),
        [
            ("{plan: soboll}", "did you mean 'sobol'"),
            ("{variables: {lx1: [1]}}", "`plan` is missing, one of grid, zip"),
            ("{}", "`plan` is missing, one of grid, zip"),
            ("{plan: zip, variables: {lx1: [1, 2], lx2: [1]}}", "lx1 has 2, lx2 has 1"),
            ("{plan: grid, variables: {}}", "at least one is needed"),
            ("{plan: grid, variables: {lx1: []}}", "no value"),
            ("{plan: grid, variables: {lx1: {from: 1, to: 2, count: 9999999}}}", "at most"),
            ("{plan: table}", "either rows or a file"),
            ("{plan: table, rows: []}", "no row"),
            ("{plan: table, rows: [{lx1: 1}, {lx2: 1}]}", "this row has lx2; the first lx1"),
            ("{plan: table, file: none.csv}", "cannot be read"),
            ("{plan: sobol, variables: {lx1: [1, 2]}, candidates: 2000000000}", "at most"),
        ],
    )
    def test_mistakes(self, folder, space, words):
        assert words in complaint(folder, space)


class TestFilter:
    def test_swept_symbols_take_the_rows_value_others_their_nominal_one(self):
        lines = [condition(MECHANISM, text) for text in ("lx1 < Dx", "rho*lx1 <= 2 kg")]
        failed = Filter.of(MECHANISM, lines).first_failed({"lx1": np.array([0.5, 1.5, 0.9])})
        assert failed.tolist() == [0, 1, 2]

    def test_a_root_follows_what_is_swept(self):
        line = condition(SPANNED, "span <= 0.8 m")
        lengths = np.array([0.1, 0.3, 0.38, 0.39, 0.6])
        failed = Filter.of(SPANNED, [line]).first_failed({"lx1": lengths})
        assert failed.tolist() == (np.hypot(lengths, 0.7) > 0.8).astype(int).tolist()

    def test_what_has_no_value_is_not_met(self):
        line = condition(MECHANISM, "sqrt(lx1 - 1 m) >= sqrt(0 m)")
        failed = Filter.of(MECHANISM, [line]).first_failed({"lx1": np.array([0.5, 1.5])})
        assert failed.tolist() == [1, 0]

    def test_conditions_without_swept_symbols(self):
        line = condition(MECHANISM, "lx3 <= Dx")
        assert Filter.of(MECHANISM, [line]).first_failed({"lx1": np.ones(2)}).tolist() == [1, 1]

    def test_units_are_checked(self):
        with pytest.raises(ExpressionError, match="compares m and no unit"):
            condition(MECHANISM, "lx1 <= 1")


def test_swept_symbols_are_stored_in_si():
    plan = Random((("lx2", 0.1, 0.2), ("tilt", 0.0, 1.0), ("k", 1.0, 2.0)), 4)
    units = [(output.name, output.unit) for output in spec(plan=plan).swept]
    assert units == [("lx2", "m"), ("tilt", "rad"), ("k", "1")]


class TestConditionsAtNominal:
    """Conditions that the mechanism's own geometry does not meet are told before a sweep."""

    FILE = (
        "mechanism: four-bar\nspace:\n  plan: sobol\n"
        "  variables: {lx1: [0.2, 0.6]}\n  candidates: 16\n  where: ['CONDITION']\n"
    )

    def notes(self, condition):
        return parse_sweep(self.FILE.replace("CONDITION", condition)).notes

    def test_the_wrong_way_round(self):
        (note,) = self.notes("lx1 >= lx3")
        assert note == (
            "space.where[0] (line 6): the file's own geometry does not meet lx1 >= lx3 "
            "(lx1 0.3 m, lx3 1.3 m: 0.3 >= 1.3 does not hold, in SI): if it is the wrong way "
            "round, write lx1 <= lx3"
        )

    @pytest.mark.parametrize(
        ("condition", "asked"),
        [
            ("lx1 + lx3 <= 170 mm", "; is 1700 mm meant?"),
            ("lx1 + lx3 <= 1.7 mm", "; is 1700 mm meant?"),
            ("lx1 + lx3 >= 90 m", ""),
            ("lx1 + lx3 >= 1700 m", "; is 1.7 m meant?"),
        ],
    )
    def test_a_limit_that_no_row_meets(self, condition, asked):
        (note,) = self.notes(condition)
        reverse = condition.translate(str.maketrans("<>", "><"))
        assert f"No row that was looked at meets it, and all meet {reverse}: lx1 + lx3 " in note
        assert note.endswith(asked)
        assert ("is" in note.partition("runs")[2]) == bool(asked)
        assert "the wrong way round" not in note

    @pytest.mark.parametrize("condition", ["lx1 >= 500 mm", "lx2 >= 5 m", "lx1 >= lx3 - 0.5 m"])
    def test_of_others_the_reverse_is_proposed(self, condition):
        (note,) = self.notes(condition)
        assert "if it is the wrong way round, write" in note

    @pytest.mark.parametrize("condition", ["lx1 <= lx3", "lx1 >= 300 mm", "lx1 + 1 m <= lx3"])
    def test_what_holds_is_not_told(self, condition):
        assert self.notes(condition) == ()

    def test_with_its_symbols_exchanged(self):
        (note,) = self.notes("lx1 >= 3*lx2")
        assert note.endswith("write lx1 <= 3*lx2")  # 0.7 m is less than 3 times 0.3 m
        (note,) = self.notes("lx1 >= 2*lx2")
        assert note.endswith("write lx1 <= 2*lx2; or, with its symbols exchanged, lx2 >= 2*lx1")
        (note,) = self.notes("lx1 >= lx2 + lx3")
        assert "exchanged" not in note

    def test_no_turn_where_that_does_not_hold_either(self):
        (note,) = self.notes("lx1 < 300 mm")
        assert "does not hold" in note
        assert "wrong way" not in note


def test_mechanism_files_beside_the_sweep(tmp_path):
    """Not those where the program runs."""
    (tmp_path / "rocker.yaml").write_text("name: wiper\njoints: {}\n")
    (tmp_path / "job.yaml").write_text(
        "mechanism: wiper.yaml\nspace: {plan: grid, variables: {a: [1]}}\n"
    )
    told = "mechanism files beside this one: rocker.yaml; rocker.yaml is named wiper"
    with pytest.raises(FileError, match=f"mechanism .line 1.: wiper.yaml: no such file; {told}"):
        load_sweep(tmp_path / "job.yaml")
