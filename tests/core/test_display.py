"""Messages to the person, on displays that may fail."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="override"

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from amplifier_core import coordinator
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.display import DisplaySystem, LoggingDisplay
from amplifier_core.testing import RecordingDisplay
from tests.support.harness import Harness
from tests.support.hooks import PRE, prints, says


async def test_async_displays():
    class Slow(RecordingDisplay):
        async def show_message(self, message: str, level: str, source: str) -> None:
            await asyncio.sleep(0)
            super().show_message(message, level, source)

    harness = Harness(screen=Slow())
    harness.hooks.register(PRE, says("deny", user_message="hi", user_message_level="warning"))
    await harness.pre()
    assert harness.shown == [("hi", "warning", "hook:hook")]


@pytest.mark.parametrize("how", ["raises", "hangs", "stubborn", "cancels", "missing"])
async def test_a_display_that_fails_costs_the_message_only(  # noqa: C901 - five ways to fail
    how, monkeypatch, caplog
):
    """A display that raises, hangs or returns nonsense never crashes the session."""
    monkeypatch.setattr(coordinator, "PATIENCE", 0.01)
    over = asyncio.Event()

    class Broken:
        def show_message(self, message: str, level: str, source: str) -> Any:
            if how == "raises":
                raise OSError("closed")
            return self.later()

        async def later(self) -> None:
            if how == "cancels":
                raise asyncio.CancelledError
            while not over.is_set():
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    if how != "stubborn":
                        raise

    harness = Harness(screen=object() if how == "missing" else Broken())
    harness.hooks.register(PRE, says(user_message="hi"))
    assert (await harness.pre()).action == "continue"
    assert "The display failed; the message was: hi" in caplog.text
    assert harness.bodies("error")[0]["what"] == "display"
    over.set()
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()


@pytest.mark.parametrize(("is_set_up", "shown"), [(True, "INFO"), (False, "WARNING")])
async def test_what_a_hook_prints_without_a_display_goes_to_the_log(
    is_set_up, shown, caplog, monkeypatch
):
    """Python shows nothing below a warning where a program has set up no log."""
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(logging.Logger, "hasHandlers", lambda logger: is_set_up)
    session = SessionCoordinator()
    session.hooks.register(PRE, prints("hello"), name="h")
    await session.execute_with_hooks(PRE, {})
    assert [(one.levelname, one.message) for one in caplog.records] == [(shown, "[hook:h] hello")]


async def test_without_a_display_messages_go_to_the_log(caplog):
    session = SessionCoordinator()
    with caplog.at_level(logging.INFO):
        for level in ("info", "warning", "error"):
            await session.show("hi", level, "hook:x")
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING", "ERROR"]
    assert caplog.messages[0] == "[hook:x] hi"
    assert isinstance(LoggingDisplay(), DisplaySystem)
