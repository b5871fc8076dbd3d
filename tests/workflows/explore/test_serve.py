"""The explorer on loopback: who has the key, and a store that fills while somebody looks."""

import html
import http.client
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import pytest

from basepar_core.errors import StoreError, UsageError
from sweeps.store import Store
from tests.workflows import browser
from workflows.explore import Server, write

#: Seconds, ten times what it takes alone, for a sweep of some hundred variants and a browser, on
#: machines that others use too.
PATIENCE = 300


@pytest.fixture
def server(swept):
    made = Server(swept)
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    yield made
    made.close()
    thread.join()


def asked(server, path, method="GET", **headers):
    place = urlsplit(server.address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read(), answer.headers


def test_the_page_and_its_data_for_whoever_has_the_key(server, swept, tmp_path):
    path = urlsplit(server.address).path
    status, body, headers = asked(server, path)
    assert status == 200
    text = html.unescape(body.decode())
    write(swept, tmp_path / "page.html")
    # The same page, but for what it may ask and that it follows.
    assert text.split("<main")[0].replace("; connect-src 'self'", "").split("<title>")[1] in (
        html.unescape((tmp_path / "page.html").read_text())
    )
    assert "connect-src 'self'" in text
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Frame-Options"] == "DENY"
    status, body, _ = asked(server, f"{path}data?known=")
    found = json.loads(body)
    assert (status, found["rows"], found["follow"]["done"]) == (200, 96, True)
    assert asked(server, f"{path}data?known={found['follow']['stamp']}")[0] == 204


def test_without_the_key_nothing_is_answered(server):
    path = urlsplit(server.address).path
    wrong = ["/", "/data", path[:-1], path[:-2] + "/", path.lower() + "x/", f"{path}data/", "//"]
    wrong += [f"/{server.key}/../{server.key}/x", f"{path}%2e%2e/zarr.json", f"{path}zarr.json"]
    for one in wrong:
        assert asked(server, one)[:2] == (404, b""), one
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD"):
        assert asked(server, path, method)[0] == 501


def test_another_name_for_this_address_is_not_answered(server):
    """Somebody's page whose name its owner has pointed to loopback."""
    path = urlsplit(server.address).path
    port = urlsplit(server.address).port
    assert asked(server, path, Host=f"evil.example:{port}")[0] == 404
    assert asked(server, path, Host=f"localhost:{port}")[0] == 200
    assert asked(server, path, Host=f"LOCALHOST:{port}")[0] == 200  # names have no case


def test_it_listens_on_loopback_only_and_each_time_with_another_key(server, swept):
    assert urlsplit(server.address).hostname == "127.0.0.1"
    other = Server(swept)
    try:
        assert other.key != server.key
        assert len(other.key) >= 32
        port = urlsplit(server.address).port
        with pytest.raises(UsageError, match=f"--port {port}"):
            Server(swept, port)
    finally:
        other.close()


def test_a_store_that_there_is_not(tmp_path):
    with pytest.raises(StoreError, match="no store"):
        Server(tmp_path / "none.zarr")


FILLING = """
mechanism: four-bar
space:
  plan: sobol
  variables: {lx1: [0.2, 0.4], lx2: [0.6, 0.8], lx3: [1.2, 1.5], Dx: [0.9, 1.1]}
  candidates: 3072
  seed: 7
evaluate: {rank: none, metrics: [torque_rms, torque_peak]}
store: {chunk: 32}
"""
SETTLED = """(() => { const t = document.getElementById("follow").textContent;
  const n = t.match(/[\\d,]+/); return [t, n ? +n[0].replaceAll(",", "") : -1]; })()"""
#: Looks every half second until all is settled; what was said on the way.
WATCH = f"""new Promise(done => {{ const seen = []; const look = () => {{
  const [text, n] = {SETTLED};
  if (!seen.length || seen[seen.length - 1] !== n) seen.push(n);
  if (text.startsWith("All ")) done(seen); else setTimeout(look, 300);
}}; look(); }})"""
COUNT = "+document.getElementById('count').textContent.split(' ')[0].replaceAll(',', '')"
TYPED = """(() => { const a = document.querySelector("textarea"); a.value = "torque_rms <= 9 N*m";
  a.dispatchEvent(new Event("change")); })()"""
WAIT = "new Promise(done => setTimeout(done, 1000))"


@pytest.mark.slow
@pytest.mark.skipif(
    browser.executable() is None,
    reason="no Chromium on the PATH (Debian: apt-get install chromium)",
)
def test_the_page_follows_a_store_that_fills(tmp_path, monkeypatch):
    """Half of a real sweep is there; the other half goes on, in a process of its own, when the
    page has been looked at. The server is another process, Chromium a third."""
    monkeypatch.setattr(browser, "PATIENCE", PATIENCE)
    (tmp_path / "job.yaml").write_text(FILLING)
    run = [sys.executable, "-m", "workflows.cli.main"]
    here = {"cwd": tmp_path, "env": {**os.environ, "OMP_NUM_THREADS": "1"}, "text": True}
    sweep = [*run, "sweep", "job.yaml", "--quiet"]
    for words in (["--prepare"], ["--part", "1/2"]):
        subprocess.run([*sweep, *words], **here, check=True, stdout=subprocess.DEVNULL)
    path, begun = tmp_path / "job.zarr", []

    def goes_on():
        second = [*sweep, "--part", "2/2"]
        begun.append(subprocess.Popen(second, **here, stdout=subprocess.DEVNULL))

    serving = subprocess.Popen(
        [*run, "explore", "job.zarr", "--serve", "--json"], **here, stdout=subprocess.PIPE
    )
    try:
        lines = []
        while not lines or lines[-1].rstrip() != "}":
            lines.append(serving.stdout.readline())
            assert lines[-1], "the server ended"
        address = json.loads("".join(lines))["address"]
        with browser.browser() as chromium:
            seen = chromium.show(
                address,
                width=1000,
                scheme="light",
                whole=False,
                deeds=[SETTLED, goes_on, WATCH, TYPED, WAIT, COUNT],
            )
        assert seen.complaints == []
        assert {urlsplit(one).netloc for one in seen.requests} == {urlsplit(address).netloc}
        first, watched, count = seen.told[0][1], seen.told[1], seen.told[4]
        assert first == 1536
        assert watched[-1] == 3072
        assert watched == sorted(watched)
        torque = Store.open(path)["torque_rms"][:]
        assert count == (torque <= 9).sum() > 0
        assert begun[0].wait(timeout=PATIENCE) == 0
    finally:
        for process in (serving, *begun):
            process.terminate()
            process.wait(timeout=30)


def test_a_renewal_is_made_once_and_answers_are_of_one_moment(swept, monkeypatch):
    """Many that ask at once, while the store changes: page, data and stamp belong together."""
    from workflows.explore import serve

    made, looks = [], itertools.count()
    real, documented = serve.document, serve.stores.document
    monkeypatch.setattr(serve, "document", lambda *a: made.append(1) or real(*a))

    def changing(store):
        status = documented(store)
        return {**status, "counts": {**status["counts"], "told": next(looks) // 5}}

    monkeypatch.setattr(serve.stores, "document", changing)
    followed = serve.Followed(swept)
    answers = []

    def ask():
        for _ in range(3):
            now = followed.now()
            answers.append((now.stamp, json.loads(now.data)["follow"]["stamp"], now.page()))

    asking = [threading.Thread(target=ask) for _ in range(12)]
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    assert len(answers) == 36
    # Each five looks at the store find something new, once.
    assert len(made) == (next(looks) + 4) // 5
    assert len({stamp for stamp, _, _ in answers}) > 3
    for stamp, inside, page in answers:
        assert stamp == inside
        assert stamp in page


def test_the_command_refuses_what_it_would_not_do(swept, run):
    ran = run("explore", str(swept), "--serve", "--overwrite")
    assert ran.status == 2
    assert "--overwrite" in ran.err


def test_an_interrupt_ends_it_and_frees_the_port(swept):
    words = ["explore", str(swept), "--serve", "--json"]
    begin = (  # an interrupt is ignored where tests run behind a shell
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        f"from workflows.cli.main import main; sys.exit(main({words!r}))"
    )
    serving = subprocess.Popen(
        [sys.executable, "-c", begin], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        lines = ""
        while not lines.rstrip().endswith("}"):
            lines += (line := serving.stdout.readline())
            assert line, "the server ended"
        port = urlsplit(json.loads(lines)["address"]).port
        serving.send_signal(signal.SIGINT)
        assert serving.wait(timeout=60) == 0
        assert serving.stderr.read() == ""
    finally:
        serving.kill()
        serving.wait()
    again = Server(swept, port)
    again.close()
