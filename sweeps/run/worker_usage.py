"""What a driver and its workers used of their machines, asked once, when a run ends."""

import logging

from distributed import Client

from sweeps.store import Usage, measured, together

#: Seconds for the workers' answers: a job that is asked to leave has little time.
PATIENCE = 5.0

log = logging.getLogger(__name__)


def used(client: Client) -> list[Usage]:
    """Of this process and of all workers that are there still, one for each job."""
    found = [measured("driver")]
    try:
        # Workers answer between tasks and during them.
        told = client.run(measured, "worker", on_error="ignore", callback_timeout=PATIENCE)
    except Exception as error:  # of a closed client any: it must not hide why the run ended
        log.warning("workers do not say what they used: %s", error)
        return found
    return together([*found, *(one for one in told.values() if isinstance(one, Usage))])
