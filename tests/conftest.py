"""What make check leaves out beside the tests marked slow."""

import pytest

#: Many bodies, loops or parameters: seconds a test. Smaller mechanisms take the same paths daily.
HEAVY = (
    "sla-suspension",
    "stewart-gough",
    "delta",
    "3-rps",
    "bicycle",
    "ur10",
    "quadruped",
    "rack-steering",
)


def pytest_collection_modifyitems(items):
    for item in items:
        if any(name in part for part in item.name.split("[")[1:] for name in HEAVY):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """One file, one process: what its tests share is made once."""
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log)
