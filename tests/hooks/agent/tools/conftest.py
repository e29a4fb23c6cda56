"""The real coordinator, with a working directory and something secret beside it."""

from __future__ import annotations

import pytest

from amplifier_core.models import HookResult
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.sandbox import plain_process


@pytest.fixture
def short_grace(monkeypatch):
    """For processes that ignore TERM: the whole wait before KILL is tested once."""
    monkeypatch.setattr(plain_process, "GRACE", 0.3)


@pytest.fixture
def work(tmp_path):
    """The working directory."""
    directory = tmp_path / "work"
    directory.mkdir()
    (tmp_path / "secret.txt").write_text("secret\n")
    return directory


@pytest.fixture
def coordinator(work):
    made = TestCoordinator()
    made.register_capability("session.working_dir", str(work))
    made.tools = made.get("tools")  # type: ignore[attr-defined]
    return made


@pytest.fixture
def artifacts(coordinator):
    """The artifact events, in order, as (event, path, bytes)."""
    seen = []

    async def record(event, data):
        assert data["session_id"] == "test-session"
        seen.append((event, data["path"], data["bytes"]))
        return HookResult(action="continue")

    coordinator.hooks.register("artifact:*", record)
    return seen
