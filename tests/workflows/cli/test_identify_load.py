"""A load, and gains, by `basepar identify --loaded` from raw logs, and the same in Python."""

import numpy as np
import pytest

import basepar
from tests.core.identification.logs import arm

WITH = ["--with", "viscous,coulomb,offset,rotor"]
#: Mass, first moment and moment of inertia about B of what link two carries.
MASS, FIRST, ROUND = 0.5, 0.12, 0.04


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """The arm's file, its raw log, and one with the load: the textbook's heavier arm."""
    folder = tmp_path_factory.mktemp("loads")
    (folder / "arm.yaml").write_text(arm.ARM)
    np.savetxt(folder / "empty.csv", arm.raw_log(1)[0], delimiter=",", fmt="%.9g")
    with pytest.MonkeyPatch.context() as heavier:
        for name, more in (("M2", MASS), ("C", FIRST), ("J2", ROUND)):
            heavier.setattr(arm, name, getattr(arm, name) + more)
        np.savetxt(folder / "loaded.csv", arm.raw_log(2)[0], delimiter=",", fmt="%.9g")
    return [str(folder / name) for name in ("arm.yaml", "empty.csv", "loaded.csv")]


def test_a_load_from_two_raw_logs(run, logs, tmp_path):
    mechanism, empty, loaded = logs
    words = ("identify", mechanism, empty, "--gain", ",".join(map(str, arm.GAINS)), *WITH,
             "--loaded", loaded)  # fmt: skip
    page = tmp_path / "found.html"
    said = run(*words, "-o", str(page), "--json").json["payload"]
    assert said["body"] == "two"
    assert said["undetermined"] == []
    assert said["gains"] is None
    found = {one["parameter"]: one for one in said["parameters"]}
    truth = {"payload.m": MASS, "payload.mx": FIRST, "payload.my": 0.0, "payload.J": ROUND}
    assert found.keys() == truth.keys()
    for name, value in truth.items():  # each of four beyond 4 deviations: once in 4,000 times
        assert abs(found[name]["value"] - value) < 4 * found[name]["deviation"]
        assert found[name]["deviation"] < 0.02
    assert 'id="payload"' in page.read_text()
    same = basepar.identify(mechanism, empty, columns=WITH[1].split(","), gains=arm.GAINS)
    load = same.payload(loaded)
    assert load.document() == said
    assert list(load.to_dataframe().index) == list(truth)
    assert load.values["payload.m"] == found["payload.m"]["value"]
    shown = run(*words, "--loaded-rows", "1:3000")
    assert shown.status == 0, shown.err
    assert "payload.mx" in shown.out
    assert "from both records" in shown.out


def test_gains_of_currents_from_a_weighed_load(run, logs):
    """Gains are stated as 10 and -10 and are 12 and -8."""
    mechanism, empty, loaded = logs
    words = ("identify", mechanism, empty, "--gain", "10,-10", *WITH, "--loaded", loaded)
    said = run(*words, "--find-gains", "--known", "payload.m=0.5", "--json").json["payload"]
    assert said["known"] == {"payload.m": MASS}
    for name, factor in (("A", 1.2), ("B", 0.8)):
        one = said["gains"][name]
        assert abs(one["value"] - factor) < 4 * one["deviation"]
        assert one["deviation"] < 0.1
    for more, says in (
        (["--find-gains"], "Nothing fixes the scale"),
        (["--payload", "three"], "is no body"),
        (["--known", "payload.weight=1"], "no such parameter of a load"),
    ):
        assert says in run(*words, *more, "--json").json["error"]["message"]
    alone = run(*words[:-2], "--find-gains", "--json")
    assert alone.status == 2
    assert "go with --loaded" in alone.json["error"]["message"]
