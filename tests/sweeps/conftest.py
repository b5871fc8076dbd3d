"""Two worker processes, shared by the tests that do not kill them."""

from collections.abc import Iterator

import pytest
from distributed import Client

from cluster.client import connect
from cluster.places import Laptop


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    with connect(Laptop(workers=2)) as client:
        yield client
