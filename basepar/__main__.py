"""`python -m basepar`: the command, where scripts are not on the path."""

import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main())
