"""One small sweep's store for all tests of the explorer."""

import pytest

from tests.workflows.report.test_page import SWEEP, sweep


@pytest.fixture(scope="session")
def swept(tmp_path_factory):
    """A store of 96 four-bars, some filtered, some lost; nobody writes into it."""
    folder = tmp_path_factory.mktemp("explored")
    return sweep(folder, SWEEP.format(mechanism="four-bar"))
