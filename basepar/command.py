"""The command `basepar`: looks at its packages' names before it loads them."""

import sys

from .foreign import check_names


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
    from workflows.cli import main as command_line

    return command_line.main()
