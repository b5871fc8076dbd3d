"""What the fast tests leave out, their order, and where processes of tests import from."""

import os
from collections import defaultdict

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
#: Tests over the whole library leave these out daily: another mechanism of their kind is in.
ALIKE = (
    "quick-return",
    "watt-i",
    "stephenson-iii",
    "dwell",
    "3-rrr",
    "rssr",
    "ur5",
    "panda",
    "screw-jack",
)
#: As many names of these as make a test one over the whole library.
WHOLE = 4
#: The order of files. All kernels take a minute and a half to compile, and a process that needs
#: one before it is on disk compiles it too: the first file compiles loops and W, and the next ones
#: need none of these.
ORDER = (
    "core/dynamics/test_couplings.py",  # compiles loops and W, planar and spatial
    "core/dynamics/test_regressor.py",
    "core/single_dof/test_onedof_reduced.py",
    "core/compiled/test_kernels_linear.py",  # compiles ranks and spectra
    "core/dynamics/test_closure.py",
    "core/base/test_library.py",
    "core/variable_precision/test_precise.py",
    "core/identification/test_payload.py",
    "workflows/export/test_hostile_texts.py",
    "workflows/drawing/test_mechanism.py",
    "core/certificate/test_checker_rules.py",
    "core/certificate/test_certificate_couplings.py",
    "core/symbolic/test_null_space.py",
    "tests/test_schemas.py",
    "tests/test_house.py",
    "core/base/test_numeric.py",
    "core/compiled/test_kernels_paths.py",  # compiles reduction paths
    # Then those that take long.
    "door/test_names.py",
    "security/test_outputs.py",
    "core/single_dof/test_onedof_motion.py",
    "core/metrics/test_design_metrics.py",
    "core/imported/test_imports_urdf_loops.py",
    "core/imported/test_imports_sdf.py",
    "core/metrics/test_path_error.py",
    "sweeps/chunks/test_metrics.py",
    "sweeps/run/test_fanout.py",
    "workflows/cli/test_other_values.py",
    # Of the long tests.
    "site/test_blocks.py",
    "campaigns/test_damage_sample.py",
    "campaigns/test_studies_sample.py",
    "campaigns/test_mutations_sample.py",
    "campaigns/test_forgeries_sample.py",
    "campaigns/test_sample.py",
    "cluster/test_scripts.py",
    "cluster/test_detached.py",
    "sweeps/run/test_killed_driver.py",
)

# Processes that tests start import what pytest does: what is installed, not the folder they
# stand in, whose kernels would all be compiled once more.
os.environ.setdefault("PYTHONSAFEPATH", "by the tests")


def pytest_collection_modifyitems(items):
    whole = defaultdict(list)
    for item in items:
        given = list(item.name.split("[")[1:])
        if any(name in part for part in given for name in HEAVY):
            item.add_marker(pytest.mark.slow)
        whole[item.nodeid.split("[")[0]].append((item, _alike(item)))
    for tests in whole.values():
        if len({name for _, name in tests if name}) >= WHOLE:
            for item, name in tests:
                if name:
                    item.add_marker(pytest.mark.slow)
    sizes = defaultdict(int)
    for item in items:
        sizes[item.path] += 1
    items.sort(key=lambda item: (_place(item), -sizes[item.path]))


def _alike(item):
    """The mechanism of `ALIKE` that a test is of, or ""."""
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return next((one for one in values if isinstance(one, str) and one in ALIKE), "")


def _place(item):
    """Of its file in `ORDER`; others come after these, by their number of tests."""
    path = item.path.as_posix()
    return next((k for k, one in enumerate(ORDER) if path.endswith(one)), len(ORDER))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """One file, one process: what its tests share is made once. In the order of the items."""
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)
