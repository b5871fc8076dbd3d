"""Two worker processes, shared by the tests that do not kill them; a server of buckets."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from distributed import Client

from cluster.client import connect
from cluster.places import Laptop
from tests.sweeps.bucket_server import BUCKET, CREDENTIALS, served


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    with connect(Laptop(workers=2)) as client:
        yield client


@pytest.fixture(scope="session")
def bucket_server() -> Iterator[str]:
    """The address of a real S3 server on loopback."""
    with served() as address:
        yield address


@pytest.fixture
def bucket(bucket_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A prefix of a bucket of its own, and the environment that leads there."""
    for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": bucket_server}.items():
        monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}/{uuid4().hex}"
