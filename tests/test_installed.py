"""Under CI nothing is imported from the checkout."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import basepar_core

CHECKOUT = Path(__file__).parents[1]
PLACE = "import basepar_core, sweeps, workflows, cluster as c; print(basepar_core.__file__)"


@pytest.mark.skipif(
    os.environ["PYTHONSAFEPATH"] == "by the tests", reason="daily work tests the checkout"
)
def test_what_is_tested_is_what_is_installed():
    ran = subprocess.run(
        [sys.executable, "-c", PLACE], capture_output=True, text=True, check=True, cwd=CHECKOUT
    )
    assert Path(basepar_core.__file__) == Path(ran.stdout.strip())
    assert not Path(basepar_core.__file__).is_relative_to(CHECKOUT / "basepar_core")
    assert "site-packages" in Path(basepar_core.__file__).parts
