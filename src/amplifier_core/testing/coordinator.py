"""Coordinators to mount a module on: real ones, with everything around them to look at."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar, cast

from amplifier_core.approval import AnyApprovalSystem
from amplifier_core.coordinator import ModuleCoordinator, SessionCoordinator
from amplifier_core.hooks import HookRegistry
from amplifier_core.host.display import DisplaySystem
from amplifier_core.interfaces import Conversation
from amplifier_core.models import ToolResult
from amplifier_core.testing.audit import MemoryAudit
from amplifier_core.testing.context import MemoryContext, MockContextManager
from amplifier_core.testing.person import RecordingDisplay, ScriptedApproval
from amplifier_core.testing.tool import MockTool


class _RecordsMounts(SessionCoordinator):
    """Remembers what was mounted and unmounted, as it was asked for."""

    def _start_history(self) -> None:
        self.mount_history: list[dict[str, Any]] = []
        self.unmount_history: list[dict[str, Any]] = []

    async def mount(self, mount_point: str, module: Any, name: str | None = None) -> None:
        await super().mount(mount_point, module, name)
        self.mount_history.append({"mount_point": mount_point, "module": module, "name": name})

    async def unmount(self, mount_point: str, name: str | None = None) -> None:
        await super().unmount(mount_point, name)
        self.unmount_history.append({"mount_point": mount_point, "name": name})


class MockCoordinator(_RecordsMounts, ModuleCoordinator):
    """A coordinator as modules of the ecosystem are tested with: a person who allows, a screen."""

    def __init__(
        self,
        session: Any = None,
        approval_system: AnyApprovalSystem | None = None,
        display_system: DisplaySystem | None = None,
    ) -> None:
        self._start_history()
        self.screen = cast(RecordingDisplay, display_system or RecordingDisplay())
        super().__init__(
            session=session
            or SimpleNamespace(session_id="test-session", parent_id=None, config={}),
            approval_system=approval_system or ScriptedApproval("Allow"),
            display_system=self.screen,
        )


class TestCoordinator(_RecordsMounts):
    """A coordinator with a conversation, a screen and a trail, and nobody to ask."""

    __test__: ClassVar[bool] = False

    def __init__(
        self,
        hooks: HookRegistry | None = None,
        context: Conversation | None = None,
        approval_system: AnyApprovalSystem | None = None,
        display_system: DisplaySystem | None = None,
        **settings: Any,
    ) -> None:
        self._start_history()
        self.screen = cast(RecordingDisplay, display_system or RecordingDisplay())
        self.recorded = cast(MemoryAudit, settings.setdefault("audit", MemoryAudit()))
        settings.setdefault("session_id", "test-session")
        super().__init__(
            hooks, context or MemoryContext(), approval_system, self.screen, **settings
        )
        self.hooks.set_default_fields(session_id=self.session_id)


def create_test_coordinator() -> MockCoordinator:
    """A coordinator with a conversation, a tool `echo` and a tool `fail`."""
    coordinator = MockCoordinator()
    points = coordinator.mount_points
    points["context"] = MockContextManager()
    failed = ToolResult(success=False, error={"message": "This tool always fails"})
    points["tools"].update(
        echo=MockTool("echo", dict, description="Gives back what it is given"),
        fail=MockTool("fail", failed, description="Always fails"),
    )
    return coordinator
