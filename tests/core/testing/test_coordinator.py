"""The coordinators that a module can be mounted on."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.coordinator import ModuleCoordinator
from amplifier_core.models import HookResult
from amplifier_core.testing import (
    EventRecorder,
    MemoryContext,
    MockContextManager,
    MockCoordinator,
    MockTool,
    RecordingDisplay,
    ScriptedApproval,
    TestCoordinator,
    create_test_coordinator,
)

ASKS = HookResult(action="ask_user", approval_prompt="?", user_message="hm")
CALL = {"tool_name": "t", "tool_input": {}}


async def test_the_coordinator_is_a_real_one() -> None:
    """It asks, shows and records."""
    coordinator = TestCoordinator(approval_system=ScriptedApproval("Allow"))
    coordinator.hooks.register("tool:pre", EventRecorder(ASKS))
    result = await coordinator.execute_with_hooks("tool:pre", CALL)
    assert result.action == "continue"
    assert result.data is not None
    assert result.data["session_id"] == "test-session"
    assert isinstance(coordinator.screen, RecordingDisplay)
    assert coordinator.screen.messages == [("hm", "info", "hook:EventRecorder")]
    assert coordinator.recorded.of_type("approval_decided")
    assert isinstance(coordinator.context, MemoryContext)


async def test_nobody_is_there_to_allow_unless_given() -> None:
    """A test that forgot the person learns it."""
    coordinator = TestCoordinator()
    coordinator.hooks.register("tool:pre", EventRecorder(ASKS))
    assert (await coordinator.execute_with_hooks("tool:pre", CALL)).action == "deny"


async def test_the_ecosystems_coordinator_has_everything_around_it() -> None:
    """A session id, a person who allows and a screen; nothing is mounted yet."""
    coordinator = MockCoordinator()
    assert isinstance(coordinator, ModuleCoordinator)
    assert coordinator.session_id == "test-session"
    assert coordinator.parent_id is None
    assert coordinator.config == {}
    assert coordinator.get("context") is None
    assert coordinator.display_system is coordinator.screen
    coordinator.hooks.register("tool:pre", EventRecorder(ASKS))
    result = await coordinator.process_hook_result(
        await coordinator.hooks.emit("tool:pre", CALL), "tool:pre"
    )
    assert result.action == "continue"
    assert coordinator.screen.messages == [("hm", "info", "hook:EventRecorder")]


def test_what_is_given_takes_the_place_of_the_doubles() -> None:
    """Positionally too: session, approval system, display system."""

    class Session:
        session_id, parent_id = "mine", "parent"
        config: dict[str, Any] = {}

    person, screen = ScriptedApproval("Deny"), RecordingDisplay()
    coordinator = MockCoordinator(Session(), person, screen)
    assert (coordinator.session_id, coordinator.parent_id) == ("mine", "parent")
    assert coordinator.approval_system is person
    assert coordinator.display_system is screen


@pytest.mark.parametrize("kind", [MockCoordinator, TestCoordinator])
async def test_what_was_mounted_and_unmounted_is_remembered(
    kind: type[MockCoordinator | TestCoordinator],
) -> None:
    """As it was asked for, in order; what was refused is not."""
    coordinator, tool = kind(), MockTool("t")
    await coordinator.mount("tools", tool)
    await coordinator.mount("tools", tool, name="other")
    with pytest.raises(ValueError, match="Unknown mount point"):
        await coordinator.mount("nowhere", tool)
    await coordinator.unmount("tools", "t")
    await coordinator.unmount("orchestrator")
    assert coordinator.mount_history == [
        {"mount_point": "tools", "module": tool, "name": None},
        {"mount_point": "tools", "module": tool, "name": "other"},
    ]
    assert coordinator.unmount_history == [
        {"mount_point": "tools", "name": "t"},
        {"mount_point": "orchestrator", "name": None},
    ]
    assert list(coordinator.get("tools")) == ["other"]


async def test_a_ready_made_coordinator_has_tools_and_a_conversation() -> None:
    """One tool that works and one that does not."""
    coordinator = create_test_coordinator()
    assert isinstance(coordinator.get("context"), MockContextManager)
    tools = coordinator.get("tools")
    assert sorted(tools) == ["echo", "fail"]
    assert (await tools["echo"].execute({"a": 1})).output == {"a": 1}
    failed = await tools["fail"].execute({})
    assert not failed.success
    assert "always fails" in str(failed.error)
