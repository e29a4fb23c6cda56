"""The recorder of events, as a hook and in place of a registry."""

from __future__ import annotations

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder


async def test_a_recorder_hears_answers_and_forgets() -> None:
    """It is a hook like any other, and can be asked what it heard."""
    registry, heard = HookRegistry(), EventRecorder(HookResult(action="deny", reason="no"))
    registry.register("tool:*", heard.record)
    result = await registry.emit("tool:pre", {"a": 1})
    assert result.action == "deny"
    assert [data["a"] for _, data in heard.get_events("tool:pre")] == [1]
    assert heard.get_events("tool:post") == []
    assert heard.names == ["tool:pre"]
    heard.clear()
    assert heard.get_events() == []


async def test_a_recorder_stands_in_for_a_registry() -> None:
    """A loop emits on it and gets an answer that lets it go on, whatever it emits."""
    heard = EventRecorder()
    given = {"prompt": "hi"}
    assert (await heard.emit("prompt:submit", given)).action == "continue"
    assert (await heard.emit("prompt:complete", None)).action == "continue"
    given["prompt"] = "changed later"
    assert heard.events == [("prompt:submit", {"prompt": "hi"}), ("prompt:complete", None)]
    assert heard.get_events(event_type="prompt:complete") == [("prompt:complete", None)]


async def test_a_recorder_itself_can_be_registered() -> None:
    """Without naming its method."""
    registry, heard = HookRegistry(), EventRecorder()
    registry.register("tool:pre", heard)
    await registry.emit("tool:pre", {"a": 1})
    assert heard.names == ["tool:pre"]
