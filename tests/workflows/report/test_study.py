"""The report of a study: the best are feasible, whatever else is marked; and what lies beside."""

import csv
import io
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import optuna
import pytest
from optuna.storages.journal import JournalFileBackend

from basepar_core.errors import StoreError, UsageError
from cluster.client import connect
from cluster.places import Laptop
from sweeps.run.driver import ready
from sweeps.run.standing import summary
from sweeps.store import Store
from tests.workflows import browser
from tests.workflows.fourbar_study import SMALL, small
from workflows.report import feasibility_view as judged_by
from workflows.report import page, variant_table
from workflows.report.data import gather
from workflows.report.html import Section
from workflows.studies import polishing as polish_module
from workflows.studies.chosen_design import chosen
from workflows.studies.companion_stores import polished_path, polished_rows, tolerances_path
from workflows.studies.feasibility import judge
from workflows.studies.polishing import polish
from workflows.studies.reader import parse_study
from workflows.studies.spec import StudySpec
from workflows.studies.stale_companions import stale
from workflows.studies.store import study_of
from workflows.studies.study import Result, study
from workflows.studies.study_pictures import Shown
from workflows.studies.tolerances import Tolerances, spread
from workflows.studies.units import shown_units
from workflows.studies.warm_start import Beginning
from workflows.views import polish as polish_document
from workflows.views import study as study_document

pytestmark = pytest.mark.slow

pytest.importorskip("matplotlib.pyplot")

#: With the rank's results, for the singular values of the page.
TEXT = SMALL.replace('40 deg"', '40 deg", "condition <= 1e9"').replace("trials: 35", "trials: 25")


@pytest.fixture(scope="module")
def client():
    with connect(Laptop(workers=1)) as found:
        yield found


@pytest.fixture(scope="module")
def done(tmp_path_factory, client) -> StudySpec:
    spec = small(tmp_path_factory.mktemp("judged"), "one", TEXT)
    assert study(spec, client).summary.done
    return spec


def page_of(run, spec: StudySpec, output: Path) -> ElementTree.Element:
    ran = run("report", str(spec.path), "-o", str(output), "--json")
    assert ran.status == 0, ran.out + ran.err
    return ElementTree.fromstring(output.read_text(encoding="utf-8"))


def text_of(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


def judged(spec: StudySpec) -> tuple[np.ndarray, np.ndarray]:
    """Torque and feasibility from the store's arrays, by the study file's own words."""
    group = Store.open(spec.path)
    torque, stroke = group["torque_rms"][:], group["stroke_D"][:]
    with np.errstate(invalid="ignore"):
        return torque, stroke >= np.radians(40)


def test_only_feasible_variants_are_best(run, done, tmp_path):
    torque, feasible = judged(done)
    finite = np.isfinite(torque)
    best = int(np.argmin(np.where(feasible & finite, torque, np.inf)))
    assert torque[finite].min() < torque[best]  # something infeasible has less
    shown_page = page_of(run, done, tmp_path / "page.html")
    assert (
        text_of(next(p for p in shown_page.iter("p") if p.get("class") == "kind"))
        == "Design study"
    )
    # The first card is the objective's, of the best feasible design.
    card = text_of(next(li for li in shown_page.iter("li") if li.find("strong") is not None))
    assert f"variant {best}, feasible" in card
    assert float(next(shown_page.iter("strong")).find("data").get("value")) == torque[best]
    table = next(
        t for t in shown_page.iter("table") if t.findtext("caption") == "Best by RMS drive torque"
    )
    shown: dict[str, list[int]] = {}
    for line in table.find("tbody/..").iter("tr"):
        head = line.find("th")
        if head.get("class") == "group":
            group = shown.setdefault(text_of(head), [])
        elif (number := head.find("data")) is not None:
            group.append(int(number.get("value")))
            missed = "misses stroke(D) >= 40 deg" in text_of(line)
            assert missed != feasible[group[-1]]
    first, second = shown.values()
    order = np.argsort(np.where(feasible & finite, torque, np.inf), kind="stable")
    assert first == order[: len(first)].tolist()
    assert all(torque[row] < torque[best] for row in second)
    assert "Plan" in text_of(shown_page)
    assert "chosen by the sampler tpe in batches of 10" in text_of(shown_page)
    assert "asked" not in text_of(shown_page).split("Provenance")[-2]


def test_degrees_where_the_file_says_degrees(done):
    units = shown_units(done)
    assert (units["stroke(D)"].text, units["lx1"].text) == ("deg", "m")
    assert units["stroke(D)"].per_si * np.pi == pytest.approx(180, rel=1e-15)


def test_every_row_says_whether_it_is_feasible(run, done):
    _, feasible = judged(done)
    out = run("report", str(done.path), "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["feasible"] == "yes" for row in rows] == feasible.tolist()
    assert {row["misses"] for row in rows} >= {"", "stroke(D) >= 40 deg"}
    said = [float(row["Stroke of D [deg]"] or "nan") for row in rows]
    stroke = Store.open(done.path)["stroke_D"][:]
    np.testing.assert_allclose(said, np.degrees(stroke), rtol=1e-14)


FILTER = """(() => {
  const titles = [...document.querySelectorAll("#variants thead button")].map(b => b.textContent);
  const input = document.querySelectorAll("#variants input")[titles.indexOf("feasible")];
  const rows = () => [...document.querySelectorAll("#variants tbody tr")];
  const marked = rows().filter(r => r.className === "missed").length;
  input.value = "yes";
  input.dispatchEvent(new Event("input"));
  return {marked, left: rows().map(r => [Number(r.children[0].textContent), r.className])};
})()"""


@pytest.mark.skipif(browser.executable() is None, reason="no Chromium on the PATH")
def test_the_index_filters_what_is_feasible(done, tmp_path):
    _, feasible = judged(done)
    found = gather(done.path)
    parts = [variant_table.section(found, {})]  # of the page that --batch writes
    text = page.text(found, parts, scripts=[variant_table.script()])
    (tmp_path / "index.html").write_text(text, encoding="utf-8")
    with browser.browser() as running:
        seen = running.show(tmp_path / "index.html", width=1280, scheme="dark", script=FILTER)
    assert seen.complaints == []
    assert seen.facts["marked"] == (~feasible).sum()
    assert seen.facts["left"] == [[int(row), ""] for row in np.flatnonzero(feasible)]


def test_where_none_is_feasible_nothing_is_the_best(run, done, tmp_path, monkeypatch, capsys):
    # The same variants, asked for a swing that no four-bar of these has.
    hopeless = replace(done, constraints=parse_study(TEXT.replace("40", "170")).constraints)
    monkeypatch.setattr(judged_by, "is_study", lambda _: hopeless)
    text = text_of(page_of(run, done, tmp_path / "page.html"))
    assert "No variant of this study meets all constraints: none is the best." in text
    assert "Variants that come nearest" in text
    assert "Best that meet" not in text
    result = Result(summary(done.path), Beginning(), hopeless)
    study_document.show(study_document.study(hopeless, result))
    said = capsys.readouterr().out
    assert "0 of 25 variants meet all constraints: none is the best" in said
    assert "basepar pictures" in said
    assert "basepar tolerances" not in said  # of no design


def test_the_table_marks_what_is_settled_and_infeasible(done, monkeypatch):
    """Of more rows than the page has room for the feasible are taken first; one is pending."""
    _, feasible = judged(done)
    verdict = judge(done, Store.open(done.path), 0, done.trials)
    pending = int(np.flatnonzero(~feasible)[0])
    settled = np.arange(done.trials) != pending
    late = replace(verdict, settled=settled)
    monkeypatch.setattr(judged_by, "judge", lambda *_: late)
    found = gather(done.path)
    words = dict(variant_table.words(found))
    assert (words["feasible"][pending], words["misses"][pending]) == ("pending", "")
    shown = table_of(variant_table.section(found, {}))
    assert shown["missed"] == (~feasible & settled).tolist()
    monkeypatch.setattr(variant_table, "MOST", int(feasible.sum()) + 1)
    part = variant_table.section(found, {})
    assert (
        f"{feasible.sum() + 1} of 25 that were read; feasible ones were taken first" in part.body
    )
    shown = table_of(part)
    assert set(np.flatnonzero(feasible)) < set(shown["columns"][0])
    assert len(shown["missed"]) == feasible.sum() + 1


def table_of(part: Section) -> dict[str, list]:
    return json.loads(re.search(r'id="data">(.*?)</script>', part.body)[1])


def test_a_study_that_cannot_be_judged_is_not_ranked(run, done, tmp_path, monkeypatch):
    def unreadable(*_):
        raise StoreError("Array 'torque_rms' is damaged.", ["torque_rms"])

    monkeypatch.setattr(judged_by, "judge", unreadable)
    shown = page_of(run, done, tmp_path / "page.html")
    text = text_of(shown)
    assert "Variants cannot be judged, so none is the best: Array 'torque_rms' is damaged." in text
    assert "Design study" in text
    captions = [one.findtext("caption") or "" for one in shown.iter("table")]
    assert not [one for one in captions if one.startswith("Best")]
    ranking = r"[Bb]est (by|that|design|variants? of)|[Ll]east RMS drive torque"
    assert not re.findall(ranking, text)


# What lies beside


def test_prolonged_and_polished_again(tmp_path, client):
    """Earlier designs are set aside, none lost; what is of an earlier state says so."""
    spec = small(tmp_path, "one", SMALL.replace("trials: 35", "trials: 20"))
    assert study(spec, client).summary.done
    first = polish(spec, client, 1)
    half = {"lx1": 1e-4}
    assert spread(spec, client, Tolerances(half, samples=8)).aside is None
    assert stale(spec, judge(spec, Store.open(spec.path), 0, spec.trials)) == []
    longer = spec.of(55)
    assert study(longer, client).summary.done
    verdict = judge(longer, Store.open(longer.path), 0, longer.trials)
    (said, *_) = stale(longer, verdict)
    assert f"began from variant {first.rows[0]}, and the best now: variant " in said
    assert any(said in note for note in page._notes(gather(longer.path)))  # on top
    again = polish(longer, client, 1)
    assert again.aside == tmp_path / "one-polished-1.zarr"
    assert polished_rows(again.aside).tolist() == first.rows.tolist()
    assert verdict.values[again.rows[0], 0] < verdict.values[first.rows[0], 0]
    made = spread(longer, client, Tolerances(half, samples=8))
    assert made.aside == tmp_path / "one-tolerances-1.zarr"
    # The bounds that hold it: by the numbers of the file itself.
    (facts,) = polish_document.document(longer, again)["designs"]
    for name, low, high in (("lx1", 0.2, 0.6), ("lx3", 1.0, 1.6), ("Dx", 0.6, 1.4)):
        value = facts["parameters"][name]
        expected = {low: "minimum", high: "maximum"}.get(round(value, 12))
        assert facts["bounds"].get(name, {}).get("end") == expected
    assert facts["bounds"]
    shown = polish_document.document(longer, again) | {"certified": []}
    assert any(" at its minimum " in text for text in polish_document.held_by(shown, facts))
    _another_place(longer, client, tmp_path)
    _stores_that_are_no_study(longer)


def _another_place(spec, client, folder):
    other = folder / "other.zarr"
    shutil.copytree(spec.path, other)
    with pytest.raises(StoreError, match=r"left alone\. Move it away, or .*--to OTHER"):
        polish(spec, client, 1, other)


def _stores_that_are_no_study(spec):
    for path, what in ((polished_path, "polished designs"), (tolerances_path, "samples about")):
        with pytest.raises(UsageError, match=f"{what}.* Name the study's store: .*one.zarr"):
            study_of(path(spec.path))


#: The torque of a longer crank is larger. Of these bounds low + (high - low) is above high.
BESIDE = """
mechanism: four-bar
variables: {lx1: [0.03, 0.3]}
objectives: {torque_rms: maximize}
constraints: ["lx1 >= 0.02 m"]
sampler: {kind: random, seed: 1}
trials: 4
batch: 4
"""


@pytest.fixture(scope="module")
def beside(tmp_path_factory, client):
    """The study of `BESIDE` and its polished design."""
    spec = parse_study(BESIDE).at(f"{tmp_path_factory.mktemp('beside')}/one.zarr")
    assert study(spec, client).summary.done
    return spec, polish(spec, client, 1)


def test_a_descent_ends_on_the_bound_itself(beside):
    spec, found = beside
    assert 0.03 + (0.3 - 0.03) > 0.3
    assert found.after.parameters.tolist() == [[0.3]]
    storage = optuna.storages.JournalStorage(JournalFileBackend(spec.storage))
    last = optuna.load_study(study_name=spec.name, storage=storage).get_trials()[-1]
    assert last.params == {"lx1": 0.3}


def test_a_polished_design_that_is_not_confirmed_says_so(beside, capsys):
    """Here the evaluation finds what the descent did not: the constraint is missed."""
    spec, found = beside
    missed = replace(found.after, violations=np.array([[0.0, 1e-6]]))
    for after, words in ((found.after, "lx1 at its maximum"), (missed, "misses lx1 >= 0.02 m")):
        facts = polish_document.document(spec, replace(found, after=after))
        assert facts["designs"][0]["violations"] == (
            {} if after is found.after else {"lx1 >= 0.02 m": 1e-6}
        )
        polish_document.show(facts)
        assert words in " ".join(capsys.readouterr().out.split())


def test_the_best_of_variants_and_polished_designs(beside):
    """The torque is largest at the upper bound, where the descent ended."""
    spec, found = beside
    assert chosen(spec, "best") == ("polished 0", {"lx1": 0.3})
    assert chosen(spec, "polished 0") == ("polished 0", {"lx1": 0.3})
    torque = Store.open(spec.path)["torque_rms"][:]
    assert found.after.values[0, 0] > torque.max()
    for name in ("polished", "polished foo", "polished 1", "variant 4", "²", "4"):
        with pytest.raises(UsageError, match=f"no design '{name}'"):
            chosen(spec, name)


def test_polished_designs_of_another_study_are_left_out(beside, client, tmp_path):
    """The same study, but for a narrower bound that the old one's polished design is beyond."""
    old, _ = beside
    spec = parse_study(BESIDE.replace("0.3]", "0.25]")).at(f"{tmp_path}/one.zarr")
    assert study(spec, client).summary.done
    shutil.copytree(polished_path(old.path), polished_path(spec.path))
    torque = Store.open(spec.path)["torque_rms"][:]
    assert chosen(spec, "best")[0] == f"variant {int(np.argmax(torque))}"
    with pytest.raises(UsageError, match="has no design 'polished 0'"):
        chosen(spec, "polished 0")
    shown = Shown.of(spec)
    assert shown.polished is None
    (said,) = stale(spec, shown.verdict)
    assert "polished designs of another study" in said


def test_descents_that_were_stopped(beside, client, tmp_path, monkeypatch):
    """The store is made, its chunk was never written: as if there were no polished designs."""

    def stopped(job, workers, evaluator):
        with ready(job, workers, evaluator=evaluator):
            raise KeyboardInterrupt

    old, _ = beside
    shutil.copytree(old.path, tmp_path / "one.zarr")
    spec = old.at(f"{tmp_path}/one.zarr")
    with monkeypatch.context() as patched:
        patched.setattr(polish_module, "sweep", stopped)
        with pytest.raises(KeyboardInterrupt):
            polish(spec, client, 1)
    assert Shown.of(spec).polished is None
    torque = Store.open(spec.path)["torque_rms"][:]
    assert chosen(spec, "best")[0] == f"variant {int(np.argmax(torque))}"
    with pytest.raises(UsageError, match="run `basepar polish` again"):
        chosen(spec, "polished 0")
    (said,) = stale(spec, Shown.of(spec).verdict)
    assert "Run `basepar polish` again" in said
    assert polish(spec, client, 1).after.feasible.all()
    assert chosen(spec, "best")[0] == "polished 0"


def test_an_infeasible_variant_is_never_the_best(beside, tmp_path):
    """No torque is that small; by its number a variant can be had all the same."""
    spec, _ = beside
    hopeless = parse_study(BESIDE.replace("lx1 >= 0.02 m", "torque_rms <= 1e-9 N*m"))
    hopeless = replace(spec, constraints=hopeless.constraints)
    with pytest.raises(UsageError, match="none is the best; name one with --variant"):
        chosen(hopeless, "best")
    assert chosen(hopeless, "2")[0] == "variant 2"


def test_the_study_tells_of_samples_of_an_earlier_state(beside, client):
    spec, _ = beside
    spread(spec, client, Tolerances({"lx1": 1e-4}, samples=4), "0")
    result = Result(summary(spec.path), Beginning(), spec)
    (said,) = study_document.study(spec, result)["stale"]
    assert "one-tolerances.zarr is about variant 0, and the best design is polished 0" in said
