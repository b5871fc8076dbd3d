"""Preloaded by schedulers and workers: no web server.

Dask gives them one whatever one says, in plain HTTP and without keys. It has no pages then
(`dask_settings.py`), and stops listening before anybody joins.
"""

from distributed import Scheduler, Worker


def dask_setup(server: Scheduler | Worker) -> None:
    """Called by Dask when the server has started."""
    server.http_server.stop()
    server.services.pop("dashboard", None)
