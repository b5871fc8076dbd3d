"""The store: whole chunks or nothing, readable at any time, never taken for what it is not."""

import json
import shutil
import warnings

import numpy as np
import pytest
import xarray as xr

from basepar_core.errors import StoreError, UsageError
from basepar_core.files import library_path
from sweeps.run.isolation import empty
from sweeps.run.standing import layout_of, refuse_other
from sweeps.spec.plans import Random
from sweeps.store import check_and_repair, objects, pieces, store
from sweeps.store import status as survey
from sweeps.store.opened import Store
from sweeps.store.outputs import Output
from sweeps.store.statuses import REASONS, PreciseStatus, Reason, Status, flags, reason_texts
from sweeps.store.store import Layout, Part
from tests.sweeps.fourbar import Digits, FourBar, spec


@pytest.fixture
def made(tmp_path):
    """A store of 40 variants in chunks of 16, and its layout."""
    path = tmp_path / "sweep.zarr"
    layout = layout_of(spec(path, 40), FourBar(), Digits())
    store.create(path, layout)
    return path, layout


def results(start, stop, status=Status.SOLVED):
    arrays = empty(FourBar(), stop - start) | spec().plan.rows(start, stop)
    arrays["stroke"][:] = np.arange(start, stop)
    arrays["status"][:] = status
    return arrays


def test_a_place_that_cannot_be_written_is_named(made, tmp_path):
    _, layout = made
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "sweep.zarr"
    with pytest.raises(StoreError, match=r"cannot be made.*Name a directory") as refused:
        store.create(place, layout)
    assert refused.value.where == (str(place),)


def test_a_store_moved_away_while_it_is_filled(made, tmp_path):
    """Whichever array a worker opens first then, the message does not speak of damage."""
    path, _ = made
    opened = Store.open(path, "r+")
    path.rename(tmp_path / "elsewhere.zarr")
    for ask in (lambda: opened["status"], lambda: Store.open(path, "r+")):
        with pytest.raises(StoreError, match="removed or moved while it was filled"):
            ask()
    assert not path.exists()
    with pytest.raises(StoreError, match="There is no store at"):
        Store.open(path)


def test_read_by_xarray_without_a_warning(made):
    path, _ = made
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset = xr.open_zarr(path)
        assert dataset.sizes == {"variant": 40, "sample": 16, "step": 2, "parameter": 2}
        assert (dataset["status"].values == Status.PENDING).all()
        assert np.isnan(dataset["stroke"].values).all()
        assert (dataset["removed"].values == -1).all()
    assert dataset["parameter"].values.tolist() == ["a", "bc"]
    assert dataset.sel(step=1)["removed"].dims == ("variant",)
    assert {
        name: dataset[name].dtype for name in ("status", "reason", "removed", "crank_turns")
    } == {
        "status": np.int8,
        "reason": np.int16,
        "removed": np.int16,
        "crank_turns": np.bool_,
    }


def test_attributes_say_what_things_are(made):
    path, _ = made
    dataset = store.read(path)
    assert dataset["lx1"].attrs == {"long_name": "lx1", "units": "m"}
    assert dataset["stroke"].attrs["units"] == "rad"
    meanings = dict(zip(*flags_of(dataset["status"]), strict=True))
    assert meanings[Status.LOST] == "lost_during_motion"
    assert dict(zip(*flags_of(dataset["precise_status"]), strict=True))[1] == "certified"
    texts = json.loads(dataset["reason"].attrs["texts"])
    assert texts["100"] == "joint C"  # the evaluator's own
    assert texts["20"] == REASONS[Reason.LOST_LOOP]
    assert dataset.attrs["spec_hash"] == spec(path, 40).hash
    assert "numpy" in json.loads(dataset.attrs["provenance"])["versions"]


def flags_of(array):
    return array.attrs["flag_values"], array.attrs["flag_meanings"].split()


def test_netcdf_takes_the_attributes(made, tmp_path):
    path, _ = made
    dataset = store.read(path)
    assert all(isinstance(value, str | int | float | list) for value in dataset.attrs.values())


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 8), (8, 24), (16, 30), (32, 48), (16, 16), (33, 40)]
)
def test_unaligned_writes_are_refused_before_anything_is_written(made, start, stop):
    path, layout = made
    arrays = store.check(path, layout)
    with pytest.raises(ValueError, match="whole chunks of 16"):
        store.write(arrays, layout.parts[0], start, stop, results(start, stop))
    assert np.isnan(store.read(path)["stroke"].values).all()


def test_what_is_missing(made):
    path, layout = made
    group = store.check(path, layout)
    part = layout.parts[0]
    assert survey.take(group).pending == [(0, 40)]
    store.write(group, part, 16, 32, results(16, 32, Status.SPECIAL))
    found = survey.take(group)
    assert found.pending == [(0, 16), (32, 40)]
    assert found.counts == {Status.PENDING: 24, Status.SPECIAL: 16}
    assert np.flatnonzero(survey.done(group, 10, 40)).tolist() == list(range(6, 22))


def test_what_awaits_a_precise_task(made):
    path, layout = made
    group = store.check(path, layout)
    sweep_part, precise_part = layout.parts
    assert list(survey.awaiting(group, 8)) == []
    arrays = results(0, 16)
    arrays["status"][[1, 9]] = Status.AWAITING_PRECISE
    store.write(group, sweep_part, 0, 16, arrays)
    assert list(survey.awaiting(group, 8)) == [(0, 8), (8, 16)]
    assert list(survey.awaiting(group, 4)) == [(0, 4), (8, 12)]
    answer(group, precise_part, 9, PreciseStatus.STILL_DOUBTFUL)
    assert not pieces.gather(group, precise_part, 0, empty(Digits(), 16, "precise_"))
    assert list(survey.awaiting(group, 8)) == [(0, 8)]
    told = survey.take_precise(group)
    assert survey.precise_counts(told) == {PreciseStatus.STILL_DOUBTFUL: 1}
    assert (store.read(path)["precise_status"] == 0).all()  # until the chunk is whole
    answer(group, precise_part, 1, PreciseStatus.CERTIFIED)
    assert list(survey.awaiting(group, 8)) == [(0, 8)]  # its writer was killed before the chunk
    assert pieces.gather(group, precise_part, 0, empty(Digits(), 16, "precise_"))
    assert list(survey.awaiting(group, 8)) == []
    assert survey.precise_counts(survey.take_precise(group)) == {
        PreciseStatus.CERTIFIED: 1,
        PreciseStatus.STILL_DOUBTFUL: 1,
    }
    found = store.read(path)
    assert np.flatnonzero(found["precise_status"]).tolist() == [1, 9]
    assert found["precise_rank"][9] == 8
    assert pieces.chunks(group) == []
    assert check_and_repair.find(path) == []


def answer(group, part, row, status):
    """What a precise task leaves of one variant among the eight it looks at."""
    arrays = empty(Digits(), 1, "precise_")
    arrays["precise_status"][:] = status
    arrays["precise_rank"][:] = 8
    start = row // 8 * 8
    pieces.put(group, part, start, start + 8, pieces.Piece(np.array([row]), arrays))


def test_a_piece_that_is_not_whole_waits_again(made):
    path, layout = made
    group = store.check(path, layout)
    arrays = results(0, 16)
    arrays["status"][9] = Status.AWAITING_PRECISE
    store.write(group, layout.parts[0], 0, 16, arrays)
    answer(group, layout.parts[1], 9, PreciseStatus.CERTIFIED)
    (piece,) = (path / "chunk-records/pieces/0").iterdir()
    piece.write_bytes(piece.read_bytes()[:-3])
    blank = empty(Digits(), 16, "precise_")
    assert not pieces.gather(group, layout.parts[1], 0, blank)
    assert list(survey.awaiting(group, 8)) == [(8, 16)]
    assert not piece.exists()


def test_more_doubts_in_a_chunk_that_was_settled(made):
    """A retry's: what is settled stays, as pieces, and only the new variant waits."""
    path, layout = made
    group = store.check(path, layout)
    sweep_part, precise_part = layout.parts
    arrays = results(0, 16)
    arrays["status"][[1, 2, 9]] = Status.AWAITING_PRECISE
    store.write(group, sweep_part, 0, 16, arrays)
    settled = empty(Digits(), 16, "precise_")
    settled["precise_status"][[1, 2, 9]] = PreciseStatus.CERTIFIED
    settled["precise_rank"][[1, 2, 9]] = 1, 2, 9
    store.write(group, precise_part, 0, 16, settled)
    pieces.reopen(group, precise_part, 0)
    arrays["status"][5] = Status.AWAITING_PRECISE
    store.write(group, sweep_part, 0, 16, arrays)
    assert pieces.left(group, 0).tolist() == [5]
    answer(group, precise_part, 5, PreciseStatus.EVIDENT)
    assert pieces.gather(group, precise_part, 0, empty(Digits(), 16, "precise_"))
    found = store.read(path)["precise_rank"].values
    assert found[[1, 2, 5, 9]].tolist() == [1, 2, 8, 9]


def test_the_record_is_written_last(made):
    path, layout = made
    arrays = results(0, 16)
    del arrays["reason_value"]
    group = store.check(path, layout)
    with pytest.raises(KeyError):
        store.write(group, layout.parts[0], 0, 16, arrays)
    assert survey.take(group).pending == [(0, 40)]


def test_half_made_store_is_made_again(tmp_path, monkeypatch):
    path = tmp_path / "sweep.zarr"
    layout = layout_of(spec(path, 40), FourBar())

    put, written = objects.Folder.put_unread, []

    def killed(self, key, content):
        if len(written) == 3:
            raise KeyboardInterrupt
        written.append(key)
        put(self, key, content)

    with monkeypatch.context() as patch:
        patch.setattr(objects.Folder, "put_unread", killed)
        with pytest.raises(KeyboardInterrupt):
            store.create(path, layout)
    assert not path.exists()
    (tmp_path / ".sweep.zarr.creating" / "left over").touch()
    store.create(path, layout)
    store.check(path, layout)
    assert [entry.name for entry in tmp_path.iterdir()] == ["sweep.zarr"]
    assert not (path / "left over").exists()


def test_another_sweeps_store_is_refused_with_the_difference(made):
    path, _ = made
    other = spec(path, 40, plan=Random((("lx1", 0.2, 0.6),), 40, 9))
    with pytest.raises(StoreError) as caught:
        refuse_other(other, path)
    assert "space.plan: random here, sobol there" in caught.value.message
    assert "space.seed: 9 here, 7 there" in caught.value.message
    assert f"Run with `store={path.parent}/{path.stem}-2.zarr`" in caught.value.message


def test_rows_are_those_that_zarr_reads(made):
    path, layout = made
    group = store.check(path, layout)
    store.write(group, layout.parts[0], 16, 40, results(16, 40))
    for name in ("stroke", "rocker", "removed", "status", "crank_turns", "lx1"):
        for start, stop in ((0, 40), (3, 5), (10, 33), (32, 40), (39, 50), (16, 32), (5, 5)):
            found, theirs = group.rows(name, start, stop), group[name][start:stop]
            assert found.dtype == theirs.dtype
            np.testing.assert_array_equal(found, theirs)
    (path / "stroke/c/1").write_bytes(b"torn")
    with pytest.raises(StoreError, match="'stroke' cannot be read at variants 16 to 20"):
        group.rows("stroke", 16, 20)


class TestDamage:
    def test_array_is_missing(self, made):
        path, layout = made
        shutil.rmtree(path / "stroke")
        with pytest.raises(StoreError, match="'stroke' is missing"):
            store.check(path, layout)

    def test_metadata_is_unreadable(self, made):
        path, layout = made
        (path / "rocker" / "zarr.json").write_text("{ not JSON")
        with pytest.raises(StoreError, match="'rocker' is unreadable"):
            store.check(path, layout)

    def test_array_has_another_shape(self, made):
        path, layout = made
        with pytest.raises(StoreError, match=r"'lx1' has shape \(40,\), not \(41,\)"):
            store.check(path, Layout(41, layout.parts, layout.coords))

    def test_array_has_another_chunk(self, made):
        path, layout = made
        part = Part(layout.parts[0].outputs, 8)
        with pytest.raises(StoreError, match="'lx1' has chunk 16, not 8"):
            store.check(path, Layout(40, (part,), layout.coords))

    def test_a_record_is_torn(self, made):
        path, layout = made
        group = store.check(path, layout)
        store.write(group, layout.parts[0], 16, 32, results(16, 32))
        (path / "chunk-records/chunks/0/1").write_bytes(b"torn")
        with pytest.raises(StoreError, match=r"the record of a chunk cannot be read.*`repair=`"):
            survey.take(group)

    def test_no_store_at_all(self, tmp_path):
        (tmp_path / "notes.txt").touch()
        with pytest.raises(StoreError, match="is not the store of a sweep"):
            refuse_other(spec(), tmp_path)

    def test_the_file_in_the_place_of_its_store(self, made):
        path, _ = made
        file = path.parent / f"{path.stem}.yaml"
        file.touch()
        with pytest.raises(StoreError, match=rf"It is a file; stores beside it: .*{path.name}"):
            Store.open(file)

    @pytest.mark.parametrize("line", ["store: {path: NAME}", "store:\n  path: 'NAME'"])
    def test_of_several_stores_the_one_that_the_file_names(self, line, made, tmp_path):
        path, _ = made
        (tmp_path / "jobs").mkdir()
        shutil.copytree(path, tmp_path / "jobs" / "other.zarr")
        file = tmp_path / "jobs" / "other.yaml"
        file.write_text(f"mechanism: four-bar\n{line.replace('NAME', f'../{path.name}')}\n")
        with pytest.raises(StoreError, match=rf"its store is .*\.\./{path.name}\.$"):
            Store.open(file)

    @pytest.mark.parametrize(("key", "command"), [("space", "sweep"), ("objectives", "study")])
    @pytest.mark.parametrize("line", ["", "store: {path: none.zarr, chunk: 16}\n"])
    def test_a_file_whose_store_is_not_made_yet(self, line, key, command, tmp_path):
        file = tmp_path / "a job.yaml"
        file.write_text(f"mechanism: four-bar\n{line}{key}: {{}}\n")
        with pytest.raises(StoreError, match=rf"not made yet: basepar {command} '.*a job.yaml'$"):
            Store.open(file)

    def test_a_mechanism_makes_no_store(self, tmp_path):
        file = tmp_path / "four-bar.yaml"
        file.write_text(library_path("four-bar").read_text())
        with pytest.raises(StoreError, match=r"not the store of a sweep\. Name another store\."):
            Store.open(file)

    def test_somebody_elses_store(self, tmp_path):
        xr.Dataset({"x": ("variant", np.zeros(3))}).to_zarr(
            tmp_path / "x.zarr", consolidated=False
        )
        with pytest.raises(StoreError, match="not the store of a sweep"):
            refuse_other(spec(), tmp_path / "x.zarr")


def test_names_that_clash_are_refused():
    part = Part((Output("condition"), Output("condition", unit="m")), 4)
    with pytest.raises(UsageError, match="would be named condition"):
        Layout(4, (part,))


def test_an_output_begins_with_variants():
    with pytest.raises(ValueError, match="start with 'variant'"):
        Output("x", ("sample", "variant"))


def test_reasons_in_words():
    codes = np.array([0, Reason.TOO_SLOW, Reason.FILTER, 77])
    texts = reason_texts(codes, np.array([np.nan, 0.05, 2.0, 1.0]))
    assert texts.tolist() == [
        "",
        "not finished after 0.05 s",
        "does not meet condition 2 of space.where",
        "reason 77",
    ]
    (said,) = reason_texts(codes[2:3], np.array([2.0]), where=["lx1 > 0", "lx1 + Dx <= 1.8 m"])
    assert said == "does not meet lx1 + Dx <= 1.8 m (condition 2 of space.where)"


def test_every_status_has_its_words():
    assert [status.meaning for status in (Status.LOST, PreciseStatus.EVIDENT)] == [
        "lost during motion",
        "numerically evident",
    ]
    for statuses in (Status, PreciseStatus):
        found = flags(statuses)
        assert len(found["flag_values"]) == len(found["flag_meanings"].split())
