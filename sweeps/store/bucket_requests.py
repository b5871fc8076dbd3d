"""Requests to a bucket, by obstore: many at once, tried again, errors in words.

What fails or is too much at the moment (5xx, 429, a connection that breaks) obstore asks again,
with growing pauses of random length. What only a person can put right is `Unreachable`.

obstore's threads do not survive a fork: a copy of a process that has loaded it would wait for
ever. So such a copy (a child of `sweeps.run.crew`) has a program of its own ask for it
(`bucket_requester`).
"""

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from basepar_core.errors import StoreError, UsageError
from basepar_core.texts import without_user

from .bucket_requester import Requester

if TYPE_CHECKING:
    from obstore.store import ObjectStore

#: What tells an object from all that lay or will lie in its place.
Tag = Mapping[str, str]
#: Requests under way at a time.
THREADS = 16
#: Of what fails: so often once more, for so long at most in s, with pauses from … to, in s.
TRIES, TRIED_FOR, PAUSE, LONGEST_PAUSE = 10, 180, 0.2, 15
#: Likewise, until a bucket has answered for the first time: nothing is lost by then, and whoever
#: mistyped an address waits for it. A host that swallows everything takes 5 s a try by default.
FIRST_TRIES, FIRST_TRIED_FOR = 4, 8
#: Names below a folder that are listed at a time.
PAGE = 1000
#: What each try of a conditional request says of its writer.
WRITER = "writer"
#: Variables that say where to ask and with what credentials: where they change, so does who asks.
_VARIABLES = ("AWS_", "AZURE_", "GOOGLE_")


class Unreachable(StoreError):
    """A bucket that does not answer, or does not let us."""

    kind = "unreachable"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of the object at a key: a verb of `_VERBS`."""

    verb: str
    key: str
    content: bytes = b""
    before: Tag | None = None
    writer: str = ""
    kind: str = ""


def answers(url: str, asked: Sequence[Request]) -> list[Any]:
    """What comes back, in the order of the requests, all of which are under way at once.

    Raises
    ------
    Unreachable
        For any of them.
    UsageError
        The extra `cloud` is not installed.
    """
    return _process().answers(url, asked)


def perform(url: str, asked: Sequence[Request]) -> list[Any]:
    """As `answers`, by this very process."""
    there, bucket = opened(url), url.split("/")[2]
    if bucket not in _process().known:
        there = opened(url, is_first=True)

    def one(request: Request) -> Any:
        try:
            answer = _VERBS[request.verb](there, request)
            _process().known.add(bucket)
            return answer
        except Exception as error:
            raise in_words(url, request.key, error) from None  # whose text may have keys in it

    if len(asked) == 1:
        return [one(asked[0])]
    return list(_pool().map(one, asked))


def be_patient() -> None:
    """Take all buckets as known: whoever this process works for has had answers of them."""
    _process().known = _Every()


def opened(url: str, is_first: bool = False) -> "ObjectStore":
    """obstore's store at an address, with the credentials that there are in the environment.

    With `is_first` it gives up soon.
    """
    try:
        import obstore
    except ImportError:
        scheme = url.partition(":")[0]
        raise UsageError(
            f"{url}: stores in {scheme}:// need the extra `cloud`. Install it: "
            'pip install "basepar[cloud]"',
            [url],
        ) from None
    names = sorted(name for name in os.environ if name.startswith(_VARIABLES))
    told = tuple((name, os.environ[name]) for name in names)
    return _opened(obstore, url, told, is_first)


@lru_cache(maxsize=64)
def _opened(
    obstore: Any, url: str, environment: tuple[tuple[str, str], ...], is_first: bool
) -> "ObjectStore":
    from obstore.store import from_url

    pauses = {"init_backoff": timedelta(seconds=PAUSE), "base": 3}
    pauses["max_backoff"] = timedelta(seconds=LONGEST_PAUSE)
    tries, limit = (FIRST_TRIES, FIRST_TRIED_FOR) if is_first else (TRIES, TRIED_FOR)
    limited = timedelta(seconds=limit)
    again: Any = {"max_retries": tries, "backoff": pauses, "retry_timeout": limited}
    try:
        return from_url(url, retry_config=again)
    except Exception as error:
        raise in_words(url, "", error) from None


# Verbs


def _get(there: Any, asked: Request) -> bytes | None:
    found = _get_tagged(there, asked)
    return None if found is None else found[0]


def _get_tagged(there: Any, asked: Request) -> tuple[bytes, Tag, float] | None:
    import obstore

    try:
        found = obstore.get(there, asked.key)
        return bytes(found.bytes()), _tag(found.meta), found.meta["last_modified"].timestamp()
    except FileNotFoundError as error:
        _refuse_no_bucket(error)
        return None


def _put(there: Any, asked: Request) -> None:
    import obstore

    told: Any = {"Content-Type": f"{asked.kind}; charset=utf-8"} if asked.kind else None
    obstore.put(there, asked.key, asked.content, attributes=told, use_multipart=False)


def _try_put(there: Any, asked: Request) -> Tag | None:
    """Each try says whose it is: where its answer is lost, the next one finds what it did."""
    import obstore
    from obstore.exceptions import AlreadyExistsError, PreconditionError

    mode: Any = "create" if asked.before is None else dict(asked.before)
    told = {WRITER: asked.writer}
    try:
        made = obstore.put(
            there, asked.key, asked.content, mode=mode, attributes=told, use_multipart=False
        )
        return _tag(made)
    except (AlreadyExistsError, PreconditionError, FileNotFoundError) as error:
        if isinstance(error, FileNotFoundError):  # what was to be replaced is gone
            _refuse_no_bucket(error)
            return None
    try:
        found = obstore.get(there, asked.key)
    except FileNotFoundError:
        return None
    return _tag(found.meta) if found.attributes.get(WRITER) == asked.writer else None


def _remove(there: Any, asked: Request) -> None:
    import obstore

    try:
        obstore.delete(there, asked.key)
    except FileNotFoundError as error:
        _refuse_no_bucket(error)


def _names(there: Any, asked: Request) -> list[str]:
    import obstore

    found = obstore.list_with_delimiter(there, asked.key or None)
    paths = [*found["common_prefixes"], *(one["path"] for one in found["objects"])]
    return [path.rstrip("/").rpartition("/")[2] for path in paths]


def _keys(there: Any, asked: Request) -> list[str]:
    import obstore

    pages = obstore.list(there, asked.key or None, chunk_size=PAGE)
    return [str(one["path"]) for page in pages for one in page]


def _numbers(there: Any, asked: Request) -> set[int]:
    """N of all objects KEY/N…, page by page, there may be millions; `content` follows each N."""
    import obstore

    rest, begin, found = asked.content.decode(), len(asked.key) + 1, set[int]()
    for page in obstore.list(there, asked.key, chunk_size=PAGE):
        for one in page:
            name = one["path"][begin:]
            if name.endswith(rest):
                name = name[: len(name) - len(rest)]
                if name.isascii() and name.isdigit() and (name == "0" or name[0] != "0"):
                    found.add(int(name))
    return found


def _have(there: Any, asked: Request) -> bool:
    """By its first byte: the answer to HEAD has no room for what is the matter."""
    import obstore

    try:
        obstore.get_range(there, asked.key, start=0, length=1)
    except FileNotFoundError as error:
        _refuse_no_bucket(error)
        return False
    return True


def _any(there: Any, asked: Request) -> bool:
    import obstore

    return any(len(page) > 0 for page in obstore.list(there, asked.key, chunk_size=1))


_VERBS: Mapping[str, Callable[[Any, Request], Any]] = {
    "get": _get,
    "get_tagged": _get_tagged,
    "put": _put,
    "try_put": _try_put,
    "remove": _remove,
    "names": _names,
    "keys": _keys,
    "numbers": _numbers,
    "have": _have,
    "any": _any,
}


def _tag(meta: Mapping[str, Any]) -> Tag:
    return {key: meta[key] for key in ("e_tag", "version") if meta.get(key) is not None}


# Errors


def _refuse_no_bucket(error: Exception) -> None:
    if any(word in str(error) for word in ("NoSuchBucket", "ContainerNotFound")):
        raise error


#: What an answer has in it; what is the matter; what to do.
_RENEW = "Renew them in the environment"
_CAUSES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("ExpiredToken", "TokenRefreshRequired", "RequestExpired", "token is expired"),
        "the credentials have expired",
        _RENEW,
    ),
    (
        ("169.254.169.254", "metadata.google.internal", "latest/api/token"),
        "there are no credentials in the environment, and no service of the machine gives any",
        "Set them (S3: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN where "
        "there is one)",
    ),
    (
        ("NoSuchBucket", "ContainerNotFound", "bucket does not exist"),
        "there is no such bucket",
        "Make it, or name another",
    ),
    (
        ("InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "AuthenticationFailed"),
        "the credentials are not known there",
        _RENEW,
    ),
    (
        ("AccessDenied", "PermissionDenied", "Unauthenticated", "403 Forbidden", "401 Unauth"),
        "access is denied",
        "Use credentials that may list, read, write and delete there",
    ),
    (
        ("SlowDown", "429 Too Many", "503 Service"),
        "it has too much to do, and still had after many tries",
        "Use fewer workers",
    ),
    (
        ("BadScheme",),
        "its endpoint is http:, without encryption",
        "Name an endpoint of https:, or set AWS_ALLOW_HTTP=true where that is meant",
    ),
)


def in_words(url: str, key: str, error: Exception) -> StoreError:
    """An error in our words: those of the library quote the answer, with names of keys in it."""
    if isinstance(error, StoreError):
        return error
    text = f"{type(error).__name__} {error}"
    found = next((one for one in _CAUSES if any(word in text for word in one[0])), None)
    if found is None:
        found = ((), f"it does not answer as it should ({_short(error)})", "Put this right")
    _, what, remedy = found
    place = f"{url}/{key}" if key else url
    return Unreachable(
        f"{place}: {what}. {remedy}, then run the same command again; what is stored is kept.",
        [place],
    )


def _short(error: Exception) -> str:
    """The first line of an error, without what may be secret: queries, and all that is quoted."""
    line = str(error).partition("\n")[0].partition("<")[0].partition("?")[0]
    return f"{type(error).__name__}: {without_user(line[:200].strip())}"


# Of this process


class _Every(set[str]):
    """All there are."""

    def __contains__(self, name: object) -> bool:
        return True


class _Process:
    """How this process asks: by itself, or by a program of its own where it is a copy.

    Attributes
    ----------
    known
        Buckets that have answered. To a worker all are known: it is given work because its
        driver had answers, and is to outlive an outage.
    """

    def __init__(self, is_copy: bool = False):
        self.pool: ThreadPoolExecutor | None = None
        self.lock = threading.Lock()
        self.requester = Requester() if is_copy else None
        is_worker = is_copy or multiprocessing.parent_process() is not None
        self.known: set[str] = _Every() if is_worker else set()

    def answers(self, url: str, asked: Sequence[Request]) -> list[Any]:
        if self.requester is None:
            return perform(url, asked)
        return self.requester.answers(url, asked)


_here = [_Process()]


def _process() -> _Process:
    return _here[0]


def _pool() -> ThreadPoolExecutor:
    here = _process()
    with here.lock:
        if here.pool is None:
            here.pool = ThreadPoolExecutor(THREADS, thread_name_prefix="bucket")
        return here.pool


def _copied() -> None:
    """In a copy of this process: its parent's threads are not there.

    obstore's clients stay in `_opened`, unused: letting go of one asks those threads, and waits
    for a lock that one of them may have held when the copy was made. Copies end by `os._exit`.
    """
    loaded = "obstore._obstore" in sys.modules or _here[0].requester is not None
    known = _here[0].known
    _here[0] = _Process(is_copy=loaded)
    if not loaded:
        _here[0].known = known


os.register_at_fork(after_in_child=_copied)
