"""Fixtures of the command line."""

from tests.workflows.conftest import run as run
