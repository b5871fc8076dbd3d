"""`basepar report`: a page that stands alone and says what the dataset says."""

import base64
import hashlib
import json
import re
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import xarray as xr
import zarr

from sweeps.store import Store

pytestmark = pytest.mark.slow

pytest.importorskip("matplotlib")

SWEEP = """
mechanism: {mechanism}
space:
  plan: sobol
  variables: {{lx1: [0.2, 1.5], lx2: [0.5, 0.9], lx3: [1.0, 1.6], Dx: [0.6, 1.4]}}
  where: ["lx1 + Dx <= sqrt(lx2^2 + ly2^2) + lx3"]
  candidates: 96
  seed: 7
evaluate:
  rank: auto
  metrics: [torque_rms, torque_peak]
  reduction: {{criteria: [tolerance, bic], tolerance: 0.01}}
store: {{chunk: 32}}
"""
HOSTILE = '<script>alert(1)</script> & "quoted" <img src=x onerror=alert(2)>'
SECTIONS = [
    "swept",
    "outcome",
    "base",
    "spectrum",
    "reduction",
    "extremes",
    "motion",
    "scatter",
    "provenance",
]


def sweep(folder: Path, text: str) -> Path:
    """A finished sweep's store."""
    from workflows.jobs import load_jobs, place_of
    from workflows.jobs.sweep import run

    (folder / "job.yaml").write_text(text)
    store = folder / "job.zarr"
    assert run(load_jobs(str(folder / "job.yaml"), str(store))[""], place_of("laptop", 1)).done
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return sweep(tmp_path_factory.mktemp("report"), SWEEP.format(mechanism="four-bar"))


@pytest.fixture
def writable(store, tmp_path) -> Path:
    """A copy of the store to spoil."""
    import shutil

    return Path(shutil.copytree(store, tmp_path / "copy.zarr"))


def undone(path: Path, *chunks: int) -> None:
    """As before these chunks of 32 variants were written."""
    records = Store.open(path, "r+").records()
    for chunk in chunks:
        records.forget(chunk)
    zarr.open_group(path, mode="r+", use_consolidated=False)["status"][32 * chunks[0] :] = 0


def page_of(run, store: Path, output: Path) -> ElementTree.Element:
    """The page, read by a parser that forgives nothing."""
    ran = run("report", str(store), "-o", str(output), "--json")
    assert ran.status == 0, ran.out + ran.err
    return ElementTree.fromstring(output.read_text(encoding="utf-8"))


def table(page: ElementTree.Element, caption: str) -> ElementTree.Element:
    """The table of a caption."""
    return next(t for t in page.iter("table") if t.findtext("caption") == caption)


def numbers(row: ElementTree.Element) -> list[float]:
    """The numbers of a row, in full."""
    return [float(cell.get("value", "nan")) for cell in row.iter("data")]


def text_of(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


def test_every_section_is_there(run, store, tmp_path):
    output = tmp_path / "page.html"
    found = run("report", str(store), "-o", str(output), "--json").json
    assert found["report"] == str(output)
    assert found["bytes"] == output.stat().st_size < 3e6
    assert found["sections"] == SECTIONS
    assert found["left_out"] == {}
    assert found["done"]
    assert (found["total"], found["read"]) == (96, 96)
    page = ElementTree.fromstring(output.read_text(encoding="utf-8"))
    assert [section.get("id") for section in page.iter("section")] == SECTIONS
    links = [link.get("href") for link in page.iter("a")]
    assert links == [f"#{name}" for name in SECTIONS]
    assert text_of(next(page.iter("h1"))) == "Sweep of four-bar"


def test_nothing_is_loaded_and_nothing_runs(run, store, tmp_path):
    page = page_of(run, store, tmp_path / "page.html")
    # What runs is the player, which the policy names by its digest; data are no program.
    scripts = [one for one in page.iter("script") if one.get("type") != "application/json"]
    policy = next(m for m in page.iter("meta") if m.get("http-equiv")).get("content", "")
    for script in scripts:
        # XML's readers take the marks of what is no markup for their own.
        inner = text_of(script).removeprefix("//").removesuffix("//")
        digest = hashlib.sha256(f"//<![CDATA[{inner}//]]>".encode()).digest()
        assert base64.b64encode(digest).decode() in policy
    assert policy.count("sha256-") == len(scripts) == 2
    forbidden = {"link", "img", "iframe", "object", "embed", "base", "form", "image"}
    assert not forbidden & {element.tag for element in page.iter()}
    for element in page.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert not re.search(r"https?:|javascript:|//", value), (element.tag, name, value)
            if name in ("href", "src"):
                assert value.startswith("#")
    style = text_of(next(page.iter("style")))
    assert "url(" not in style
    assert "@import" not in style
    policy = next(m for m in page.iter("meta") if m.get("http-equiv"))
    assert policy.get("content", "").startswith("default-src 'none'")


def test_ids_are_unique_and_lead_somewhere(run, store, tmp_path):
    page = page_of(run, store, tmp_path / "page.html")
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    for element in page.iter():
        for name, value in element.attrib.items():
            for target in re.findall(r"url\(#([^)]+)\)", value):
                assert target in ids, (name, target)
            if name == "href":
                assert value[1:] in ids


def test_pictures_have_words_and_levels_do_not_jump(run, store, tmp_path):
    page = page_of(run, store, tmp_path / "page.html")
    for picture in page.iter("svg"):
        assert picture.get("role") == "img"
        assert len(picture.get("aria-label", "")) > 5
    for made in page.iter("table"):
        assert made.findtext("caption")
        assert all(head.get("scope") for head in made.iter("th"))
    levels = [int(e.tag[1]) for e in page.iter() if re.fullmatch("h[1-6]", e.tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_numbers_are_the_dataset_s(run, store, tmp_path):
    page, data = page_of(run, store, tmp_path / "page.html"), xr.open_zarr(store)
    counts = np.bincount(data.status.values, minlength=10)
    shown = table(page, "Variants by status")
    assert [int(numbers(row)[0]) for row in shown.iter("tr") if numbers(row)] == [
        n for n in counts if n
    ]
    solved = np.flatnonzero(data.status.values == 1)
    order = solved[np.argsort(data.torque_rms.values[solved], kind="stable")]
    rows = [
        n
        for r in table(page, "Best and worst by RMS drive torque").iter("tr")
        if (n := numbers(r))
    ]
    names = ["lx1", "lx2", "lx3", "Dx", "torque_rms", "torque_peak", "condition"]
    expected = [*order[:5], *order[::-1][:5]]
    assert [row[0] for row in rows] == expected
    for row, variant in zip(rows, expected, strict=True):
        assert row[1:] == [float(data[name][variant]) for name in names]


def test_base_parameters_at_nominal_geometry_and_over_the_variants(run, store, tmp_path):
    from basepar_core.api import load

    page, data = page_of(run, store, tmp_path / "page.html"), xr.open_zarr(store)
    caption = (
        "Base parameters: nominal geometry, and minimum, median and maximum over the variants"
    )
    rows = [numbers(row) for row in table(page, caption).iter("tr") if numbers(row)]
    solved = data.base_parameters.values[data.status.values == 1]
    np.testing.assert_array_equal(
        np.array(rows)[:, 1:].T, np.quantile(solved, [0, 0.5, 1], axis=0)
    )
    it, base = load("four-bar"), json.loads(data.attrs["base"])
    phi = dict(zip(it.parameter_names, it.inertial_parameters(it.nominal), strict=True))
    for row, line in zip(rows, base["base"], strict=True):
        hand = phi[line["parameter"]] + sum(v * phi[n] for n, v in line["values"].items())
        assert row[0] == pytest.approx(hand, rel=1e-12, abs=1e-14)


def test_path_of_the_best_variant(run, store, tmp_path):
    page, data = page_of(run, store, tmp_path / "page.html"), xr.open_zarr(store)
    rms = np.where(data.status.values == 1, data.torque_rms.values, np.inf)
    best = int(rms.argmin())
    shown = [numbers(r)[0] for r in table(page, "Steps of the path").iter("tr") if numbers(r)]
    assert shown == data.torque_error.values[best].tolist()
    words = [text_of(h) for h in page.iter("h3")]
    assert f"Path of variant {best}, the best by RMS drive torque" in words
    selected = dict(zip(("tolerance 1 %", "BIC"), data.selected_size.values[best], strict=True))
    for row in table(page, "Steps of the path").iter("tr"):
        cells = [text_of(cell) for cell in row]
        if cells[0].isdigit():
            for word, size in selected.items():
                assert (word in cells[3]) == (int(cells[0]) == size)


def test_survival_by_hand(run, store, tmp_path):
    from workflows.report.results import survival

    page, data = page_of(run, store, tmp_path / "page.html"), xr.open_zarr(store)
    caption = "How often a base parameter is among those kept, percent of the variants"
    shown = [numbers(row) for row in table(page, caption).iter("tr") if numbers(row)]
    solved = np.flatnonzero(data.status.values == 1)
    left = np.zeros((data.sizes["base_parameter"], data.sizes["criterion"]))
    for variant in solved:
        removed = data.removed.values[variant].tolist()
        for k, size in enumerate(data.selected_size.values[variant]):
            gone = set(removed[1 : len(removed) - size])
            for parameter in range(len(left)):
                left[parameter, k] += parameter not in gone
    np.testing.assert_allclose(shown, left / len(solved), rtol=1e-15)
    nobody = survival(np.array([[-1, 0, 1]]), np.array([[-1]]), 2)
    assert np.isnan(nobody).all()


def test_hostile_names_are_text(run, tmp_path):
    from basepar_core.files.mechanism_file import library_path

    text = library_path("four-bar").read_text()
    text = re.sub(r"(?m)^description:.*\n(?: .*\n)*", "", text)
    text = text.replace("name: four-bar", "name: '</style><script>x()</script>'", 1)
    (tmp_path / "mine.yaml").write_text(f"description: '{HOSTILE}'\n{text}")
    store = sweep(tmp_path, SWEEP.format(mechanism="mine.yaml").replace("96", "32"))
    page = page_of(run, store, tmp_path / "page.html")
    scripts = [text_of(one) for one in page.iter("script") if not one.get("type")]
    assert len(scripts) == 2  # the player's
    assert all(text.startswith("//") for text in scripts)
    assert not list(page.iter("img"))
    whole = text_of(page)
    assert HOSTILE in whole
    assert text_of(next(page.iter("h1"))) == "Sweep of </style><script>x()</script>"


def test_unfinished_sweep_is_reported_and_says_so(run, writable, tmp_path):
    undone(writable, 1, 2)
    page = page_of(run, writable, tmp_path / "page.html")
    note = next(p for p in page.iter("p") if p.get("role") == "note")
    assert "64 of 96 variants are pending" in text_of(note)
    assert not run("report", str(writable), "-o", str(tmp_path / "p.html"), "--json").json["done"]
    assert "not finished" in run("report", str(writable), "-o", str(tmp_path / "p.html")).out


def test_nothing_done_yet(run, writable, tmp_path):
    undone(writable, 0, 1, 2)
    output = tmp_path / "page.html"
    found = run("report", str(writable), "-o", str(output), "--json").json
    # The nominal mechanism moves all the same.
    wanted = ["swept", "outcome", "base", "spectrum", "motion", "left-out", "provenance"]
    assert found["sections"] == wanted
    assert set(found["left_out"]) == {"reduction", "extremes", "scatter"}
    ElementTree.fromstring(output.read_text(encoding="utf-8"))


def test_only_what_is_there(run, tmp_path):
    text = "mechanism: four-bar\nspace: {plan: grid, variables: {lx1: [0.25, 0.3, 0.35]}}\n"
    store = sweep(tmp_path, text + "evaluate: {rank: none}\n")
    output = tmp_path / "page.html"
    found = run("report", str(store), "-o", str(output), "--json").json
    assert set(found["left_out"]) == {"spectrum", "reduction", "extremes", "scatter"}
    page = ElementTree.fromstring(output.read_text(encoding="utf-8"))
    assert "did not ask for a reduction" in text_of(page)


def test_precise_stage(run, tmp_path):
    text = "mechanism: sla-suspension\nspace: {plan: grid, variables: {D22: [0.2501, 0.251]}}\n"
    store = sweep(tmp_path, text + "store: {chunk: 2}\n")
    page, data = page_of(run, store, tmp_path / "page.html"), xr.open_zarr(store)
    shown = [n for r in table(page, "The first 2 of them").iter("tr") if (n := numbers(r))]
    names = ("precise_rank", "precise_digits", "precise_ridge")
    assert shown == [[float(data[name][k]) for name in names] for k in range(2)]
    labels = [picture.get("aria-label") for picture in page.iter("svg")]
    assert "Singular values in variable precision." in labels
    # Both had waited, and neither does now.
    assert set(data["status"].values) == {6}
    counts = text_of(table(page, "Variants by status"))
    words = {1: "settled precisely: certified", 2: "settled precisely: numerically evident"}
    for code in set(data["precise_status"].values):
        assert words[int(code)] in counts
    assert "awaiting" not in text_of(page)
    ran = run("report", str(store), "--format", "csv")
    assert [line.split(",")[-1] for line in ran.out.splitlines()[1:]] == [
        words[int(code)] for code in data["precise_status"].values
    ]


def test_without_matplotlib_it_says_what_to_install(run, store, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    ran = run("report", str(store), "-o", str(tmp_path / "page.html"))
    assert ran.status == 1
    assert "pip install 'basepar[plot]'" in ran.err
    assert not (tmp_path / "page.html").exists()


def test_default_name_lies_beside_the_store(run, writable):
    assert run("report", str(writable)).status == 0
    assert writable.with_suffix(".html").is_file()


def test_more_variants_than_are_read(run, store, tmp_path, monkeypatch):
    from workflows.report import data as facts

    monkeypatch.setattr(facts, "MOST_ROWS", 64)
    output = tmp_path / "page.html"
    found = run("report", str(store), "-o", str(output), "--json").json
    assert (found["total"], found["read"]) == (96, 64)
    page = ElementTree.fromstring(output.read_text(encoding="utf-8"))
    assert (
        sum(int(numbers(r)[0]) for r in table(page, "Variants by status").iter("tr") if numbers(r))
        == 96
    )
    # Rows that are read are the first and the last chunk; variants keep their numbers.
    data = xr.open_zarr(store)
    rms = np.where(data.status.values == 1, data.torque_rms.values, np.inf)
    rms[32:64] = np.inf
    best = next(
        n
        for r in table(page, "Best and worst by RMS drive torque").iter("tr")
        if (n := numbers(r))
    )
    assert best[0] == rms.argmin()


class TestRefusals:
    def test_no_store(self, run, tmp_path):
        ran = run("report", str(tmp_path / "none.zarr"), "--json")
        assert ran.status == 1
        assert "There is no store" in ran.json["error"]["message"]

    def test_not_a_store(self, run, tmp_path):
        (tmp_path / "other.zarr").mkdir()
        ran = run("report", str(tmp_path / "other.zarr"))
        assert ran.status == 1
        assert "is not the store of a sweep" in ran.err

    def test_a_group_of_something_else(self, run, tmp_path):
        zarr.create_group(tmp_path / "other.zarr")
        ran = run("report", str(tmp_path / "other.zarr"), "--json")
        assert ran.status == 1
        assert ran.json["error"]["kind"] == "store"
        assert "not the store of a sweep" in ran.json["error"]["message"]

    def test_an_array_is_missing(self, run, writable):
        import shutil

        shutil.rmtree(writable / "status")
        ran = run("report", str(writable), "--json")
        assert ran.status == 1
        assert "'status' is missing" in ran.json["error"]["message"]

    def test_an_array_is_spoilt(self, run, writable):
        for chunk in (writable / "torque_rms" / "c").iterdir():
            chunk.write_bytes(b"no numbers")
        ran = run("report", str(writable), "--json")
        assert ran.status == 1
        assert "torque_rms" in ran.json["error"]["message"]

    def test_spoilt_attribute(self, run, writable):
        group = zarr.open_group(writable, mode="r+", use_consolidated=False)
        group.attrs["base"] = "{"
        ran = run("report", str(writable), "--json")
        assert ran.status == 1
        assert "zarr.json does not match its digest" in ran.json["error"]["message"]

    def test_nowhere_to_write(self, run, store, tmp_path):
        ran = run("report", str(store), "-o", str(tmp_path), "--json")
        assert ran.status == 2
        assert "cannot be written" in ran.json["error"]["message"]
