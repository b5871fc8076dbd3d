"""Stores in buckets, on a real S3 server: bytes by key, conditional requests, errors in words."""

import os
import pickle
import socket
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace

import pytest

from basepar_core.errors import StoreError, UsageError
from sweeps.store import bucket_requests, objects
from sweeps.store.bucket import Bucket
from sweeps.store.bucket_lock import locked
from sweeps.store.bucket_requester import write
from sweeps.store.bucket_requests import Request, Unreachable
from sweeps.store.location import locate
from tests.sweeps import bucket_server as servers
from tests.sweeps.bucket_server import SECRET, Faults, asked, proxied


@pytest.fixture
def there(bucket):
    return locate(f"{bucket}/x.zarr")


@pytest.fixture(params=["folder", "bucket"])
def both(request, tmp_path):
    """What chunks, records and claims are built on, of either kind."""
    if request.param == "folder":
        (tmp_path / "x.zarr").mkdir()
        return objects.of(tmp_path / "x.zarr")
    return objects.of(request.getfixturevalue("there"))


def test_the_verbs_mean_the_same_in_folders_and_buckets(both):
    assert both.get("a/b") is None
    both.put("a/b", b"1")
    both.put("a/b", b"2")
    assert both.get("a/b") == b"2"
    assert not both.create("a/b", b"3")
    assert both.create("a/c/d", b"4")
    assert sorted(both.names("a")) == ["b", "c"]
    assert list(both.names("none")) == []
    assert list(both.get_all(["a/c/d", "none", "a/b"])) == [b"4", None, b"2"]
    both.put_all({"a/e": b"5", "a/b": None, "a/f": b"6"})
    assert sorted(both.names("a")) == ["c", "e", "f"]
    both.remove("a/e")
    both.remove("a/e")
    both.clear("a/f")
    both.restore("a/g", b"7")
    assert sorted(both.names("a")) == ["c", "g"]


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_chunks_are_listed_by_number(both, dimensions):
    rest = "/0" * (dimensions - 1)
    for number in (0, 3, 12):
        both.put(f"φ/c/{number}{rest}", b"x")
    for name in ("03", "x", "1.partial"):  # of others
        both.put(f"φ/c/{name}{rest}", b"x")
    assert both.chunks("φ", dimensions) == {0, 3, 12}
    assert both.chunks("none", dimensions) == set()


@pytest.mark.slow
def test_listings_have_many_pages(there):
    """2,500 objects, of which a server lists 1,000 at a time."""
    there.put_folder((f"a/c/{number}", b"x") for number in range(2500))
    assert there.chunks("a", 1) == set(range(2500))
    assert set(there.names("a/c")) == set(map(str, range(2500)))


def test_of_several_that_create_one_succeeds(there):
    won, start = [], threading.Barrier(8)

    def one(number):
        start.wait()
        if there.create("claim", b"%d" % number):
            won.append(number)

    threads = [threading.Thread(target=one, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [b"%d" % number for number in won] == [there.get("claim")]


def test_what_has_changed_is_not_replaced(there):
    first = there.try_put("lock", b"1", None)
    second = there.try_put("lock", b"2", first)
    assert there.try_put("lock", b"3", first) is None
    assert there.get("lock") == b"2"
    assert there.try_put("lock", b"3", second) is not None
    there.remove("lock")
    assert there.try_put("lock", b"4", second) is None
    assert there.get("lock") is None


@pytest.mark.slow
def test_answers_that_are_lost_are_asked_for_again(there, bucket_server, monkeypatch):
    """Half of all requests are done and answered with 500: whoever created something knows it."""
    faults = Faults(lost=0.5)
    with proxied(bucket_server, faults) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy)
        tag = there.try_put("lock", b"0", None)
        for number in range(1, 12):
            assert there.create(f"claims/{number}", b"x")
            assert not there.create(f"claims/{number}", b"x")
            tag = there.try_put("lock", b"%d" % number, tag)
            assert tag is not None
    monkeypatch.setenv("AWS_ENDPOINT_URL", bucket_server)
    assert there.get("lock") == b"11"
    assert faults.done["lost"] > 10


ERRORS = {
    (400, "ExpiredToken"): "credentials have expired",
    (403, "RequestExpired"): "credentials have expired",
    (403, "InvalidAccessKeyId"): "credentials are not known there",
    (403, "SignatureDoesNotMatch"): "credentials are not known there",
    (403, "AccessDenied"): "access is denied",
    (404, "NoSuchBucket"): "no such bucket",
    (400, "Whatever"): "does not answer as it should",
}


@pytest.mark.parametrize("answer", ERRORS, ids=lambda one: one[1])
def test_errors_say_what_where_and_what_to_do(there, bucket_server, monkeypatch, answer):
    with proxied(bucket_server, Faults(always=answer)) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy)
        doors = [
            lambda: there.get("a"),
            lambda: there.put("a", b""),
            lambda: there.create("a", b""),
            lambda: there.remove("a"),
            lambda: list(there.names("a")),
            lambda: there.exists(),
        ]
        for door in doors:
            with pytest.raises(Unreachable, match=ERRORS[answer]) as found:
                door()
            assert str(there) in found.value.message
            assert "run the same command again; what is stored is kept" in found.value.message
            assert not any(word in repr(found.value) for word in (SECRET, "AKIA"))
            assert found.value.__cause__ is None
            again = pickle.loads(pickle.dumps(found.value))  # as it crosses processes
            assert (again.message, again.where) == (found.value.message, found.value.where)


def test_what_is_too_busy_for_long(there, bucket_server, monkeypatch):
    monkeypatch.setattr(bucket_requests, "FIRST_TRIES", 1)
    monkeypatch.setattr(bucket_requests, "TRIES", 2)
    monkeypatch.setattr(bucket_requests._process(), "known", set())
    bucket_requests._opened.cache_clear()
    faults = Faults(always=(503, "SlowDown"))
    with proxied(bucket_server, faults) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy)
        with pytest.raises(Unreachable, match=r"too much to do.*Use fewer workers"):
            there.get("a")
        assert faults.done["plain"] == 2
        faults.always = None
        assert there.get("a") is None
        faults.always, faults.done = (503, "SlowDown"), Counter()
        with pytest.raises(Unreachable, match=r"too much to do.*Use fewer workers"):
            there.get("a")  # it has answered once: then it is waited for longer
    assert faults.done["plain"] == 3
    bucket_requests._opened.cache_clear()


def test_no_server_at_all(there, monkeypatch):
    """Pauses are of random length: 0.2, 0.6, 1.8 and 5.4 s at most, and the program's own time."""
    monkeypatch.setattr(bucket_requests._process(), "known", set())
    monkeypatch.setattr(bucket_requests, "PAUSE", 0.02)
    bucket_requests._opened.cache_clear()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(Unreachable, match=r"does not answer as it should.*after 4 retries"):
        there.get("a")
    bucket_requests._opened.cache_clear()


def test_a_program_that_asks_ends_with_who_started_it(there):
    """Also while its question waits for an answer: of a server here, which gives none."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        environment = {**os.environ, "AWS_ENDPOINT_URL": address, "PYTHONPATH": ":".join(sys.path)}
        words = [sys.executable, "-P", "-m", "sweeps.store.bucket_program"]
        program = subprocess.Popen(words, stdin=subprocess.PIPE, env=environment)
        assert program.stdin is not None
        write(program.stdin, (there.url, [Request("get", "a")]))
        silent.settimeout(60)
        connection, _ = silent.accept()  # it has asked
        with connection:
            assert program.poll() is None
            program.stdin.close()  # as when its parent is killed
            assert program.wait(timeout=10) == 0


def test_a_prefix_with_something_else_stays_as_it_is(there):
    """No lock is left in it."""
    there.put("mine.txt", b"mine")
    with pytest.raises(StoreError, match="is no store, and something lies there"), locked(there):
        pass
    assert set(there.names("")) == {"mine.txt"}


def test_without_encryption_only_where_that_is_meant(there, monkeypatch):
    monkeypatch.delenv("AWS_ALLOW_HTTP")
    bucket_requests._opened.cache_clear()
    with pytest.raises(Unreachable, match="without encryption"):
        there.get("a")
    bucket_requests._opened.cache_clear()


def test_without_the_extra(there, monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(UsageError, match=r'pip install "basepar\[cloud\]"'):
        there.get("a")


def test_copies_of_a_process_ask_through_a_program_of_their_own(there):
    """obstore's threads are not in a copy, which would wait for them for ever."""
    there.put("a", b"1")
    answers, pipe = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            there.put("b", b"2" * 1_000_000)
            found = there.get("a"), there.create("a", b"3"), there.get("none")
            # Clients let go of here would wait for a lock that a thread there may have held.
            kept = bucket_requests._opened.cache_info().currsize
            os.write(pipe, repr((*found, kept)).encode())
        finally:
            os._exit(0)
    os.close(pipe)
    with os.fdopen(answers, "rb") as file:
        clients = bucket_requests._opened.cache_info().currsize
        assert file.read() == repr((b"1", False, None, clients)).encode()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert there.get("b") == b"2" * 1_000_000


def test_errors_come_from_that_program_too(there, bucket_server, monkeypatch):
    there.put("a", b"1")
    with proxied(bucket_server, Faults(always=(400, "ExpiredToken"))) as proxy:
        answers, pipe = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.environ["AWS_ENDPOINT_URL"] = proxy
                there.get("a")
            except StoreError as error:
                os.write(pipe, f"{type(error).__name__}: {error}".encode())
            finally:
                os._exit(0)
        os.close(pipe)
        with os.fdopen(answers, "rb") as file:
            assert file.read().startswith(b"Unreachable: s3://")
        os.waitpid(pid, 0)


def test_half_of_a_multipart_upload_is_nothing(there, bucket_server):
    """Somebody else's: ours are one request each."""
    there.put("a/c/0", b"whole")
    port = int(bucket_server.rpartition(":")[2])
    path = f"/{servers.BUCKET}/{there.url.split('/', 3)[3]}/a/c/1"
    status, said = asked(port, "POST", f"{path}?uploads")
    assert status == 200
    upload = said.decode().partition("<UploadId>")[2].partition("</UploadId>")[0]
    assert asked(port, "PUT", f"{path}?partNumber=1&uploadId={upload}", b"half")[0] == 200
    assert there.get("a/c/1") is None
    assert there.chunks("a", 1) == {0}
    assert list(there.names("a/c")) == ["0"]


def test_a_prefix_is_not_its_longer_neighbour(there):
    (there.parent / "x.zarr-other").put("zarr.json", b"{}")
    (there.parent / "x.zarr2").put("chunk-records/chunks/0/0", b"")
    assert not there.exists()
    assert there.is_empty
    assert Bucket(f"{there.url}2").exists()


def test_nothing_is_told_of_credentials(there):
    assert not any(SECRET in text for text in (repr(there), str(there), repr(replace(there))))
    assert SECRET.encode() not in pickle.dumps(there)


def test_a_move_that_is_killed_leaves_no_half_store(there, monkeypatch):
    """Without its records what was copied is none, and the whole store is where it was."""
    contents = {"chunk-records/chunks/0": b"r", "x/c/0": b"1", "x/zarr.json": b"2"}
    contents |= {"chunk-records/zarr.json": b"3", "zarr.json": b"4"}
    for key, content in contents.items():
        there.put(key, content)
    to, real = there.with_name("aside.zarr"), Bucket.put
    for most in range(4):
        left = iter(range(most))

        def put(bucket, *words, left=left):
            if next(left, None) is None:
                raise Unreachable("killed", [])
            real(bucket, *words)

        monkeypatch.setattr(Bucket, "put", put)
        with pytest.raises(Unreachable):
            there.rename(to)
        assert not to.exists()
        assert {key: there.get(key) for key in contents} == contents
    monkeypatch.setattr(Bucket, "put", real)
    there.rename(to)
    assert not there.exists()
    assert {key: to.get(key) for key in contents} == contents
