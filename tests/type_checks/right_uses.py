"""What authors write, and type checkers must accept without a word. `scripts/typing` asks them.

Each function is a use; none of them is run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal, assert_type

import amplifier_core
from amplifier_audit import AuditLog, AuditSettings, Verdict, verify
from amplifier_core import AmplifierSession, ContextManager, HookRegistry, HookResult, ToolResult
from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import CONTEXT_PRE_COMPACT, TOOL_POST, TOOL_PRE, Event, EventData
from amplifier_core.interfaces import Host, Tool, hook
from amplifier_core.payloads import ContextPreCompactData, ToolPostData, ToolPreData
from amplifier_core.testing import EventRecorder, MockCoordinator, ScriptedApproval, TestCoordinator
from amplifier_hooks import AssembledSession, load_bundle, open_session

registry = HookRegistry()


# Handlers


@registry.register("tool:pre", priority=5, name="guard", on_error="deny", timeout=2.5)
async def typed(event: str, data: ToolPreData) -> HookResult:
    """A payload type makes an editor complete the fields of the event."""
    assert_type(data["tool_input"], dict[str, Any])
    if data["tool_name"] == "Bash" and "rm" in data["tool_input"].get("command", ""):
        return HookResult(action="deny", reason=f"{event}: no")
    changed = {**data["tool_input"], "safe": True}
    return HookResult(action="modify", data={**data, "tool_input": changed})


@registry.on(TOOL_PRE)
async def whole(event: str, data: ToolPreData) -> HookResult | None:
    """The data itself is an answer's data, too."""
    return HookResult(action="modify", data=data) if event else None


@hook("tool:pre", TOOL_POST, "my:event", priority=3, on_error="deny")
async def marked(event: str, data: dict[str, Any]) -> None:
    """Marked for a bundle."""


@hook("tool:*")
def plain(event: str, data: Mapping[str, object]) -> dict[str, Any]:
    """Not async, and answers with the fields of a result."""
    return {"action": "deny", "reason": f"{event} {data.get('tool_name')}"}


class Policy:
    """Methods and callable objects are handlers."""

    async def __call__(self, event: str, data: ToolPreData) -> HookResult:
        return HookResult(action="ask_user", approval_prompt="Really?", approval_options=["Allow"])

    async def on_result(self, event: str, data: ToolPostData) -> HookResult:
        return HookResult(reason=str(data["tool_result"].get("error")))


async def on_compaction(event: str, data: ContextPreCompactData) -> None:
    """An event with two spellings."""


async def call_what_was_decorated() -> None:
    """A decorator keeps the type of the function."""
    call: ToolPreData = {"tool_name": "Write", "tool_input": {}}
    assert_type(await typed("tool:pre", call), HookResult)
    assert_type(await whole(event="tool:pre", data=call), HookResult | None)
    assert_type(await marked("tool:pre", {}), None)
    assert_type(plain("tool:pre", {}), dict[str, Any])


def register_in_every_way(host: Host) -> None:
    """By constant, by name, by pattern, through the host of a module."""
    policy = Policy()
    assert_type(registry.register(TOOL_PRE, typed), Callable[[], None])
    registry.register("tool:pre", typed, 5, "mine")
    registry.register(TOOL_PRE, policy, on_error="deny")
    registry.on("tool:post", policy.on_result, timeout=1)
    registry.register(TOOL_POST, typed)  # what tool:pre carries, tool:post carries as well
    registry.register("tool:*", plain)
    registry.register("my:event", marked)
    registry.register(TOOL_PRE, lambda event, data: None)
    registry.register("context:pre-compact", on_compaction)
    registry.register(HookRegistry.CONTEXT_PRE_COMPACT, on_compaction)
    registry.register(CONTEXT_PRE_COMPACT, on_compaction)
    registry.register("*", EventRecorder())
    host.hooks.register(TOOL_PRE, typed, priority=1)
    host.hooks.register("tool:pre", policy, on_error="deny")
    unregister = host.hooks.register("tool:*", marked)
    unregister()


class DeployData(EventData):
    """The data of an event of one's own."""

    version: str


DEPLOY_DONE = Event[DeployData]("deploy:done")


@registry.register(DEPLOY_DONE)
async def announce(event: str, data: DeployData) -> None:
    """Typed like any other."""
    assert_type(data["version"], str)


async def emit(call: ToolPreData) -> None:
    """A payload is data to emit, and the answer has its types."""
    answer = await registry.emit(TOOL_PRE, call)
    action: Literal["continue", "deny", "modify", "inject_context", "ask_user"] = answer.action
    assert_type(answer.data, dict[str, Any] | None)
    await registry.emit("deploy:done", {"version": action})
    await registry.emit_and_collect("deploy:ask")


# Answers


def answer_in_every_way() -> list[HookResult]:
    """All fields, and results of tools."""
    assert_type(ToolResult(output="done").success, bool)
    assert_type(ToolResult(success=False, error={"message": "no"}).denied, bool)
    return [
        HookResult(),
        HookResult(action="inject_context", context_injection="text", ephemeral=True),
        HookResult(action="ask_user", approval_default="allow", approval_timeout=30),
        HookResult(user_message="look", user_message_level="warning", suppress_output=True),
    ]


# The session, and what is given to it


class Person:
    """An approval system."""

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Literal["allow", "deny"]
    ) -> str:
        return options[0]


class Deciding:
    """One that wants the whole question."""

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
        assert_type(question.tool_input, dict[str, Any])
        return ApprovalAnswer(question.options[0], comment="fine")


class Screen:
    """A display."""

    def show_message(
        self, message: str, level: Literal["info", "warning", "error"], source: str
    ) -> None: ...


class AsyncScreen:
    """A display that takes its time, and any level."""

    async def show_message(self, message: str, level: str, source: str = "hook") -> None: ...


class Notes:
    """The least that a context has."""

    async def add_message(
        self, role: str, content: str, metadata: dict[str, Any] | None = None
    ) -> None: ...


async def open_sessions(folder: Path) -> None:
    """Directly, and from a bundle."""
    SessionCoordinator(registry, Notes(), Person(), Screen())
    async with AmplifierSession(
        {}, approval_system=Deciding(), display_system=AsyncScreen()
    ) as one:
        assert_type(one, AmplifierSession)
        assert_type(one.context, ContextManager | None)
        assert_type(await one.execute("hello"), str)
        assert_type(await one.execute_tool("Read", {"file_path": "x"}), ToolResult)
    bundle = load_bundle(folder / "amplifier.yaml")
    session = await open_session(bundle, approval_system=Person(), display_system=Screen())
    assert_type(session, AssembledSession)
    assert_type(verify(folder / "audit").verdict, Verdict)
    AuditLog(folder / "audit", AuditSettings())
    assert_type(amplifier_core.__version__, str)


# Modules and tests


class Echo:
    """A tool."""

    name = "Echo"
    description = "Gives back what it is given"
    input_schema: dict[str, Any] = {"type": "object"}

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        return ToolResult(output=input)


async def mount(coordinator: Host, config: dict[str, Any]) -> Callable[[], None]:
    """A module."""
    tool: Tool = Echo()
    await coordinator.mount("tools", tool)
    return coordinator.hooks.register("tool:pre", typed)


async def test_with_doubles(coordinator: MockCoordinator) -> None:
    """What the doubles remember is known to an editor."""
    cleanup: Awaitable[Callable[[], None]] = mount(coordinator, {})
    await cleanup
    assert_type(coordinator.screen.messages, list[tuple[str, str, str]])
    person = ScriptedApproval("Allow", TimeoutError(), lambda question: question.options[0])
    host = TestCoordinator(approval_system=person)
    assert_type(person.prompts, list[str])
    assert_type(host.recorded.records, list[dict[str, Any]])
