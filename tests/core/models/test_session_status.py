"""How a session is doing, in figures."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from pydantic import ValidationError

from amplifier_core.models import SessionStatus


def test_a_session_begins_now_with_nothing_done() -> None:
    """The time has a zone."""
    before = datetime.now(UTC)
    status = SessionStatus(session_id="s")
    assert before <= status.started_at <= datetime.now(UTC)
    assert status.status == "running"
    figures = {name: value for name, value in status.to_dict().items() if value == 0}
    assert len(figures) == 6


def test_as_a_dict_it_has_what_is_known_and_is_ready_for_json() -> None:
    """What is None is not known."""
    status = SessionStatus(
        session_id="s",
        ended_at=datetime(2026, 1, 2, tzinfo=UTC),
        status="failed",
        cost_usd=Decimal("0.10"),
        last_error={"type": "LLMError"},
    )
    written = json.loads(json.dumps(status.to_dict()))
    assert (written["status"], written["cost_usd"]) == ("failed", "0.10")
    assert written["ended_at"].startswith("2026-01-02")
    assert written["last_error"] == {"type": "LLMError"}
    assert "last_activity" not in written
    assert "cost_usd" not in SessionStatus(session_id="s").to_dict()


def test_a_session_has_one_of_four_states() -> None:
    """Reports can rely on them."""
    with pytest.raises(ValidationError, match="status"):
        SessionStatus(session_id="s", status="asleep")  # type: ignore[arg-type]
