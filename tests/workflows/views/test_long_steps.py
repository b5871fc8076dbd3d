"""What a long step shows in a terminal, and when its thread begins."""

import io
import threading

from workflows.views import terminal


def test_no_thread_before_the_first_step(monkeypatch):
    """A process that copies itself may have no other threads (variable precision's companion)."""
    shown = io.StringIO()
    console = terminal._Plain(width=80, file=shown, force_terminal=True)
    monkeypatch.setattr(terminal, "err", console)
    before = threading.active_count()
    with terminal.long_steps() as say:
        assert threading.active_count() == before
        say("closing 85 samples")
        assert threading.active_count() == before + 1
    assert "closing 85 samples (0 s)" in shown.getvalue()
