"""`basepar report --batch`: an index that sorts and filters, pages of variants, tables."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from basepar_core.api import load

pytestmark = pytest.mark.slow

pytest.importorskip("matplotlib")

from tests.workflows import browser  # noqa: E402
from tests.workflows.report.test_browser import MEASURE  # noqa: E402
from tests.workflows.report.test_page import SWEEP, sweep  # noqa: E402
from workflows.report.fronts import front  # noqa: E402

needs_chromium = pytest.mark.skipif(
    browser.executable() is None, reason="no Chromium on the PATH (apt-get install chromium)"
)
#: Sort by RMS torque twice (descending), filter a size, and read the table.
SORTED = """(() => {
  const rows = () => [...document.querySelectorAll("#variants tbody tr")].map(
    tr => [...tr.children].map(cell => cell.textContent));
  const titles = [...document.querySelectorAll("#variants thead button")].map(b => b.textContent);
  const at = titles.findIndex(t => t.startsWith("RMS"));
  const count = () => document.getElementById("count").textContent;
  const type = (k, text) => {
    const input = document.querySelectorAll("#variants input")[k];
    input.value = text;
    input.dispatchEvent(new Event("input"));
  };
  const found = {titles, at, all: count(), first: rows()};
  const button = document.querySelectorAll("#variants thead button")[at];
  button.click();
  found.up = rows();
  button.click();
  found.down = rows();
  found.sort = document.querySelectorAll("#variants th[aria-sort]")[at].getAttribute("aria-sort");
  type(1, "0.4..0.8");
  type(titles.length - 1, "solved");
  found.filtered = [count(), rows()];
  type(1, ""); type(titles.length - 1, "");
  document.getElementById("after").click();
  found.second = document.getElementById("place").textContent;
  found.links = [...document.querySelectorAll("#variants a")].length;
  return found;
})()"""


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return sweep(tmp_path_factory.mktemp("batch"), SWEEP.format(mechanism="four-bar"))


@pytest.fixture(scope="module")
def folder(store, tmp_path_factory) -> Path:
    from workflows.report.batch import write

    made = tmp_path_factory.mktemp("pages")
    write(store, made)
    return made


@pytest.fixture(scope="module")
def chromium():
    with browser.browser() as running:
        yield running


@needs_chromium
def test_the_index_sorts_and_filters(chromium, folder, store):
    seen = chromium.show(folder / "index.html", width=1280, scheme="light", script=SORTED)
    found, data = seen.facts, xr.open_zarr(store).load()
    assert seen.complaints == []
    assert seen.requests == [(folder / "index.html").as_uri()]
    rms = data.torque_rms.values
    finite = np.sort(rms[np.isfinite(rms)])
    shown = [float(row[found["at"]]) for row in found["up"] if row[found["at"]] != "–"]
    np.testing.assert_allclose(shown, finite[: len(shown)], rtol=1e-5)  # six digits
    down = [float(row[found["at"]]) for row in found["down"]]
    np.testing.assert_allclose(down, finite[::-1][: len(down)], rtol=1e-5)
    assert found["sort"] == "descending"
    lx1 = data.lx1.values
    hit = (lx1 >= 0.4) & (lx1 <= 0.8) & (data.status.values == 1)
    assert found["filtered"][0] == f"{hit.sum()} of 96 variants"
    assert {int(row[0]) for row in found["filtered"][1]} <= set(np.flatnonzero(hit).tolist())
    assert found["second"] == "51 to 96"


@needs_chromium
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_readable(chromium, folder, width, scheme):
    for page in [folder / "index.html", next(folder.glob("variant-*.html"))]:
        seen = chromium.show(page, width=width, scheme=scheme, script=MEASURE)
        assert seen.complaints == []
        assert seen.facts["beyond"] == []
        assert seen.facts["scroll"] <= seen.facts["width"]
        assert seen.facts["cut"] == []
        assert seen.facts["twice"] == []
        assert seen.facts["covered"] == []


@needs_chromium
def test_no_other_script_runs(chromium, folder, tmp_path):
    page = tmp_path / "index.html"
    text = (folder / "index.html").read_text()
    page.write_text(text.replace("<main>", '<main><script>document.title = "run"</script>'))
    seen = chromium.show(page, width=800, scheme="light", script="document.title")
    assert seen.facts == "Sweep of four-bar"
    assert any("Content Security Policy" in text for text in seen.complaints)


def test_pages_are_those_asked_for(run, store, tmp_path):
    solved = np.flatnonzero(xr.open_zarr(store).status.values == 1)[:2].tolist()
    asked = ",".join(map(str, solved))
    found = run("report", str(store), "--batch", str(tmp_path), "--variants", asked, "--json").json
    assert list(found["pages"]) == [str(k) for k in solved]
    for page in found["pages"].values():
        text = Path(page).read_text()
        for anchor in ("summary", "base", "spectrum", "reduction", "criteria", "torque"):
            assert f'id="{anchor}"' in text
    assert run("report", str(store), "--batch", str(tmp_path), "--variants", "999").status == 2
    assert run("report", str(store), "--variants", "1").status == 2


def test_pages_say_what_a_reduction_by_addition_rests_on(tmp_path):
    from workflows.report.batch import write

    plain = load("four-bar").source
    values = "friction: {A: {viscous: 0.02, coulomb: 0.1, rotor: 0.01}}"
    (tmp_path / "mine.yaml").write_text(re.sub("(?m)^friction:.*$", values, plain))
    text = SWEEP.format(mechanism="mine.yaml").replace(
        "evaluate:", "evaluate:\n  with: [friction]"
    )
    found = [line for line in text.splitlines() if line.lstrip().startswith("reduction:")]
    assert len(found) == 1
    own = (
        "  reduction: {criteria: [tolerance, aic], tolerance: 0.01, method: forward, "
        "noise: pooled, effective_samples: 50, arrays: [generalised, validation]}"
    )
    store = sweep(tmp_path, text.replace(found[0], own))
    solved = np.flatnonzero(xr.open_zarr(store).status.values == 1)
    write(store, tmp_path / "pages", solved[:1].tolist())
    index = (tmp_path / "pages" / "index.html").read_text()
    assert "addition; tolerance, aic; tolerance 0.01; noise pooled over the drives" in index
    assert "friction, in torques and reduction" in index
    page = next((tmp_path / "pages").glob("variant-*.html")).read_text()
    assert "n = 50; standard deviation of the torque&#39;s noise, pooled" in page
    for words in ("Addition path", "Added next", "On the excitation", 'id="generalised"'):
        assert words in page
    assert "Removed" not in page
    for words in ("viscous</mtext>", "N\u202fm\u202fs/rad", "excitation, inertial columns"):
        assert words in page
    page_errs_as_the_store_says(store)


def test_torques_of_a_page_err_as_the_store_says(store):
    page_errs_as_the_store_says(store)


def page_errs_as_the_store_says(store):
    from workflows.report.data import gather
    from workflows.report.fronts import rows_with_paths
    from workflows.report.variant_page import torques

    found = gather(store)
    for row in rows_with_paths(found)[:3]:
        again = torques(found, found.model, int(row))
        error = np.linalg.norm(again.full - again.reduced) / np.linalg.norm(again.full)
        stored = found.read("torque_error")[row, len(again.path.sizes) - 1 - again.size]
        # The sweep's compiled kernels and the plain path: rounding times the condition.
        assert error == pytest.approx(stored, rel=1e-6, abs=1e-10)


def test_formats_hold_the_datasets_numbers(run, store):
    data = xr.open_zarr(store).load()
    rows = list(csv.DictReader(io.StringIO(run("report", str(store), "--format", "csv").out)))
    assert [int(row["variant"]) for row in rows] == list(range(96))
    np.testing.assert_array_equal([float(row["lx1 [m]"]) for row in rows], data.lx1.values)
    known = json.loads(run("report", str(store), "--format", "json").out)
    for point in known["front"]:
        errors = data.torque_error.values[:, data.sizes["step"] - 1 - point["size"]]
        assert point["torque_error"] == np.nanmin(errors)
    latex = run("report", str(store), "--format", "latex").out
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 2


def test_the_front_is_what_nothing_beats():
    rng = np.random.default_rng(5)
    errors = np.sort(rng.uniform(0.01, 1, (40, 7)), axis=1)  # nested models: errors grow
    errors[:, -1] = 1.0
    found = front(errors)
    points = [(6 - step, errors[row, step]) for row in range(40) for step in range(7)]
    best = {
        (k, e)
        for k, e in points
        if not any((a <= k and b < e) or (a < k and b <= e) for a, b in points)
    }
    assert set(zip(found.sizes.tolist(), found.errors.tolist(), strict=True)) == best
