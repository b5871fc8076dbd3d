"""The command `basepar`: looks at its packages' names before it loads them."""

import os
import sys

from .foreign import check_names

#: Matrices here are small: threads of BLAS wait for each other longer than they compute.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main() -> int:
    """Run one command.

    Returns
    -------
    Its exit status: 0 done, 1 not done, 2 usage, 3 done but variants crashed or timed out.
    """
    try:
        check_names()
    except ImportError as error:
        sys.exit(f"basepar: {error}")
    for name in THREADS:
        os.environ.setdefault(name, "1")
    from workflows.cli import main as command_line

    return command_line.main()
