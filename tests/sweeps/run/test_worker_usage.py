"""What a driver and its workers used, where the workers do not answer."""

from distributed import Client

from sweeps.run.worker_usage import used


def test_a_client_that_is_closed_hides_nothing():
    """As one whose scheduler is lost: what ended the run is to be told, not this."""
    with Client(n_workers=1, processes=False, dashboard_address=None) as client:
        assert [one.role for one in used(client)] == ["driver", "worker"]
    assert [one.role for one in used(client)] == ["driver"]
