"""Doubles for tests of hooks, tools and loops. They behave: nothing here is a mock."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import Any, ClassVar

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, ApprovalTimeout
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import AuditUnavailable
from amplifier_core.events import ORCHESTRATOR_COMPLETE
from amplifier_core.events.payloads import OrchestratorCompleteData
from amplifier_core.hooks import HookRegistry
from amplifier_core.message_models import ToolCall
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.tool_call import call_tool
from amplifier_core.trail import Level, OnFailure
from amplifier_core.utils import safe_repr, timestamp

__all__ = [
    "EventRecorder",
    "MemoryAudit",
    "MockContextManager",
    "MockCoordinator",
    "MockTool",
    "RecordingDisplay",
    "ScriptedApproval",
    "ScriptedOrchestrator",
    "TestCoordinator",
    "create_test_coordinator",
    "wait_for",
]

Event = tuple[str, dict[str, Any]]


class EventRecorder:
    """A hook that keeps every event it hears and answers what it was told to."""

    def __init__(self, answer: HookResult | None = None) -> None:
        self.events: list[Event] = []
        self.answer = answer or HookResult(action="continue")

    async def __call__(self, event: str, data: dict[str, Any]) -> HookResult:
        return await self.record(event, data)

    async def record(self, event: str, data: dict[str, Any]) -> HookResult:
        """The handler to register."""
        self.events.append((event, dict(data)))
        return self.answer

    def get_events(self, event: str | None = None) -> list[Event]:
        """What was heard: all of it, or one kind."""
        return [one for one in self.events if event is None or one[0] == event]

    @property
    def names(self) -> list[str]:
        """The names of what was heard, in order."""
        return [name for name, _ in self.events]

    def clear(self) -> None:
        """Forget it."""
        self.events.clear()


class _Messages(list[dict[str, Any]]):
    def __await__(self) -> Generator[Any, None, _Messages]:
        return self
        yield  # a generator that returns at once


class MockContextManager:
    """A conversation in a list."""

    def __init__(self, messages: Sequence[dict[str, Any]] = ()) -> None:
        self.messages = _Messages(messages)

    async def add_message(
        self,
        role: str | dict[str, Any],
        content: Any = None,
        metadata: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """Add a message of either form."""
        given = role if isinstance(role, dict) else {"role": role, "content": content, **more}
        meta = given.get("metadata") or metadata or {}
        self.messages.append({**given, "metadata": meta, "timestamp": timestamp()})

    def get_messages(self) -> _Messages:
        """The conversation so far."""
        return _Messages(self.messages)

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        """Replace it."""
        self.messages = _Messages(messages)

    async def clear(self) -> None:
        """Forget it."""
        self.messages = _Messages()


class MockTool:
    """A tool that answers with an output, a function of its input, or an exception."""

    def __init__(
        self,
        name: str = "mock_tool",
        output: Any = "done",
        *,
        description: str = "A tool for tests",
        input_schema: dict[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self.input_schema = input_schema or {"type": "object", "properties": {}}
        self.output = output
        self.calls: list[dict[str, Any]] = []

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Note the call and answer."""
        self.calls.append(input)
        answer = self.output(input) if callable(self.output) else self.output
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, ToolResult) else ToolResult(output=answer)


class ScriptedApproval:
    """A person with prepared answers: options, exceptions, or functions of the question.

    Such a function may be async. When the answers run out the last one is repeated; without any,
    time runs out.
    """

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.questions: list[ApprovalQuestion] = []

    @property
    def prompts(self) -> list[str]:
        """What it was asked, in order."""
        return [question.prompt for question in self.questions]

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer | str:
        """Answer the next question."""
        self.questions.append(question)
        if not self._answers:
            raise ApprovalTimeout("nobody is there")
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        answer = answer(question) if callable(answer) else answer
        answer = await answer if inspect.isawaitable(answer) else answer
        if isinstance(answer, BaseException):
            raise answer
        given: ApprovalAnswer | str = answer
        return given

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Any
    ) -> str:
        """The plain protocol, answered from the same script."""
        question = ApprovalQuestion(prompt, tuple(options), timeout, default, hook="")
        answer = await self.decide(question)
        return answer.option if isinstance(answer, ApprovalAnswer) else answer


class RecordingDisplay:
    """A screen that remembers what it showed."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, str, str]] = []

    def show_message(self, message: str, level: str, source: str = "hook") -> None:
        """Show a message."""
        self.messages.append((message, level, source))


class MemoryAudit:
    """A trail in a list: it behaves like a log on disk, fails on demand, and goes with the process.

    Bodies are kept as JSON from the moment of the call, so that what changes later does not change
    what was recorded.
    """

    def __init__(self, level: Level = "normal", on_failure: OnFailure = "deny") -> None:
        self.level: Level = level
        self.on_failure: OnFailure = on_failure
        self.lines: list[bytes] = []
        self.durable = 0
        self.closed = False
        self._failure: str | None = None

    @property
    def records(self) -> list[dict[str, Any]]:
        """All records, as whoever reads the log would see them."""
        return [json.loads(line) for line in self.lines]

    def of_type(self, type: str) -> list[dict[str, Any]]:
        """The records of one type."""
        return [record for record in self.records if record["type"] == type]

    def fail(self, reason: str = "the disk is full") -> None:
        """From now on behave like a log whose disk has failed."""
        self._failure = reason

    def append(
        self,
        type: str,
        body: Mapping[str, Any],
        *,
        session: str | None = None,
        turn: int | None = None,
        event: str | None = None,
        hook: str | None = None,
        registration: int | None = None,
    ) -> int:
        """Add a record; returns its place in the order."""
        self._refuse_if_failed()
        source = {"session": session, "turn": turn, "event": event, "hook": hook}
        record = {"type": type, "time": timestamp(), **source, "registration": registration}
        self.lines.append(_to_json({**record, "body": body}))
        return len(self.lines) - 1

    async def commit(self, sequence: int | None = None) -> None:
        """Remember how far the caller may rely on the trail."""
        self._refuse_if_failed()
        wanted = len(self.lines) if sequence is None else sequence + 1
        self.durable = max(self.durable, wanted)

    async def close(self) -> None:
        """Take no more records."""
        self.closed = True

    def _refuse_if_failed(self) -> None:
        if self._failure:
            raise AuditUnavailable(f"The audit trail takes no records: {self._failure}")
        if self.closed:
            raise AuditUnavailable("The audit trail takes no records: it is closed")


def _to_json(record: dict[str, Any]) -> bytes:
    try:
        return json.dumps(record, default=safe_repr).encode()
    except (TypeError, ValueError, RecursionError):  # odd keys, cycles, great depth
        return json.dumps({**record, "body": {"repr": safe_repr(record["body"])}}).encode()


class TestCoordinator(SessionCoordinator):
    """A real coordinator with a conversation, a screen and a trail that can be looked at."""

    __test__: ClassVar[bool] = False

    def __init__(
        self,
        hooks: HookRegistry | None = None,
        context: Any = None,
        approval_system: Any = None,
        display_system: Any = None,
        **settings: Any,
    ) -> None:
        self.screen = display_system or RecordingDisplay()
        self.recorded = settings.setdefault("audit", MemoryAudit())
        settings.setdefault("session_id", "test-session")
        super().__init__(
            hooks, context or MockContextManager(), approval_system, self.screen, **settings
        )
        self.hooks.set_default_fields(session_id=self.session_id)


MockCoordinator = TestCoordinator


def create_test_coordinator(**settings: Any) -> TestCoordinator:
    """A coordinator to mount a module on."""
    return TestCoordinator(**settings)


class ScriptedOrchestrator:
    """A loop without a model: it runs the prepared tool calls and says the prepared words."""

    name = "loop-scripted"

    def __init__(
        self, calls: Sequence[tuple[str, dict[str, Any]]] = (), reply: str = "done"
    ) -> None:
        self.calls = list(calls)
        self.reply = reply
        self.results: list[ToolResult] = []

    async def execute(
        self,
        prompt: str,
        context: Any,
        providers: Mapping[str, Any],
        tools: Mapping[str, Any],
        hooks: HookRegistry,
        coordinator: SessionCoordinator | None = None,
        **_: Any,
    ) -> str:
        """Play the script."""
        host = coordinator or SessionCoordinator(hooks, context)
        for number, (name, given) in enumerate(self.calls, 1):
            call = ToolCall(id=f"call_{number}", name=name, arguments=given)
            self.results.append(await call_tool(host, call, tools))
        complete: OrchestratorCompleteData = {
            "orchestrator": self.name,
            "final_message": {"role": "assistant", "content": self.reply},
            "turn_count": 1,
            "duration_ms": 0,
            "status": "success",
        }
        await host.notify(ORCHESTRATOR_COMPLETE, complete)
        return self.reply


async def wait_for(
    condition: Callable[[], bool | Awaitable[bool]], timeout: float = 2.0, interval: float = 0.01
) -> None:
    """Wait until something holds; TimeoutError if it never does."""
    async with asyncio.timeout(timeout):
        while True:
            holds = condition()
            if await holds if isinstance(holds, Awaitable) else holds:
                return
            await asyncio.sleep(interval)
