"""Doubles for tests of hooks, tools and loops. They behave; some also tell how they were called."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar, cast
from unittest.mock import AsyncMock

from amplifier_core import only_kernel as only_kernel
from amplifier_core.approval import (
    AnyApprovalSystem,
    ApprovalAnswer,
    ApprovalQuestion,
    ApprovalTimeout,
)
from amplifier_core.coordinator import ModuleCoordinator, SessionCoordinator
from amplifier_core.display import DisplaySystem
from amplifier_core.errors import AuditUnavailable
from amplifier_core.events import ORCHESTRATOR_COMPLETE, SESSION_END, SESSION_START
from amplifier_core.hooks import HookRegistry
from amplifier_core.interfaces import Conversation
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ToolCall, Usage
from amplifier_core.models import Decision, HookResult, ModelInfo, ProviderInfo, ToolResult
from amplifier_core.payloads import OrchestratorCompleteData
from amplifier_core.tool_call import call_tool
from amplifier_core.trail import Level, OnFailure
from amplifier_core.utils import safe_repr, timestamp
from amplifier_core.utils.conversation import arrange_messages, list_open_ids

__all__ = [
    "EventRecorder",
    "MemoryAudit",
    "MemoryContext",
    "MockContextManager",
    "MockCoordinator",
    "MockProvider",
    "MockTool",
    "RecordingDisplay",
    "ScriptedApproval",
    "ScriptedLoop",
    "ScriptedOrchestrator",
    "TestCoordinator",
    "create_test_coordinator",
    "wait_for",
]


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
        """All records, as a reader of the log would see them."""
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


class MessageList(list[Any]):
    """A list that may be awaited too: some loops read a conversation plainly, others await it."""

    def __await__(self) -> Generator[Any, None, MessageList]:
        return self
        yield  # a generator that returns at once


class MemoryContext:
    """A conversation that behaves like a real one, and forgets nothing it is not told to."""

    keeps_results_with_calls = True

    def __init__(self, messages: Sequence[Any] | None = None) -> None:
        self.messages: list[Any] = list(messages or ())

    async def add_message(
        self,
        role: Any = None,
        content: Any = None,
        metadata: dict[str, Any] | None = None,
        *,
        message: Any = None,
        **more: Any,
    ) -> None:
        """Add a message of either form: a whole one, or its role and content."""
        role = message if role is None else role
        if isinstance(role, str):
            given = {"role": role, "content": content, "metadata": metadata or {}, **more}
            self.messages.append({**given, "timestamp": timestamp()})
        else:
            self.messages.append(dict(role) if isinstance(role, dict) else role)
        open_calls = list_open_ids(self.messages)
        self.messages[:] = arrange_messages(self.messages, open_calls, keep_strays=True)

    def get_messages(self) -> MessageList:
        """The conversation so far."""
        return MessageList(self.messages)

    def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> MessageList:
        """What goes to the model: all of it, in an order that models accept."""
        return MessageList(arrange_messages(self.messages))

    async def set_messages(self, messages: list[Any]) -> None:
        """Replace it."""
        self.messages = list(messages)

    async def clear(self) -> None:
        """Forget it."""
        self.messages.clear()


class MockContextManager(MemoryContext):
    """The same, with methods that a test can ask how they were called."""

    def __init__(self, messages: Sequence[Any] | None = None) -> None:
        super().__init__(messages)
        for name in ("add_message", "get_messages", "get_messages_for_request", "clear"):
            setattr(self, name, AsyncMock(side_effect=getattr(self, name)))


class ScriptedOrchestrator:
    """Gives the prepared answers in turn, and then `DONE`."""

    def __init__(self, responses: Sequence[str] = ()) -> None:
        self.responses = list(responses)
        self.call_count = 0

    async def execute(
        self,
        prompt: str,
        context: Any = None,
        providers: Any = None,
        tools: Any = None,
        hooks: Any = None,
        coordinator: Any = None,
        **_: Any,
    ) -> str:
        """Give the next answer, between the events of a session of one turn."""
        number = self.call_count
        self.call_count = self.call_count + 1
        answer = self.responses[number] if number < len(self.responses) else "DONE"
        if hooks is not None:
            await hooks.emit(SESSION_START, {"prompt": prompt})
            await hooks.emit(SESSION_END, {"response": answer})
        return answer


class ScriptedLoop:
    """Runs the prepared tool calls through every hook and gate, and says the prepared words."""

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
            "request_count": 0,
            "duration_ms": 0,
            "status": "success",
        }
        await host.notify(ORCHESTRATOR_COMPLETE, complete)
        return self.reply


Answer = ApprovalAnswer | str | BaseException | Callable[[ApprovalQuestion], object]


class ScriptedApproval:
    """A person with prepared answers: options, exceptions, or functions of the question.

    Such a function may be async. When the answers run out the last one is repeated; without any,
    time runs out.
    """

    def __init__(self, *answers: Answer) -> None:
        self._answers: list[Any] = list(answers)
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
        self, prompt: str, options: list[str], timeout: float, default: Decision
    ) -> str:
        """The plain protocol, answered from the same script."""
        question = ApprovalQuestion(prompt, tuple(options), timeout, default, hook="")
        answer = await self.decide(question)
        if isinstance(answer, ApprovalAnswer):
            return answer.option
        return answer


class RecordingDisplay:
    """A screen that remembers what it showed."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, str, str]] = []

    def show_message(self, message: str, level: str, source: str = "hook") -> None:
        """Show a message."""
        self.messages.append((message, level, source))


class MockProvider:
    """Gives one reply to every request, and keeps the requests."""

    def __init__(self, name: str = "mock", reply: str = "Hello from the mock provider") -> None:
        self.name = name
        self.reply = reply
        self.requests: list[ChatRequest] = []

    def get_info(self) -> ProviderInfo:
        """What an application would list."""
        return ProviderInfo(id=self.name, display_name="Mock provider")

    async def list_models(self) -> list[ModelInfo]:
        """The one model it does not have."""
        return [
            ModelInfo(
                id="mock-model",
                display_name="Mock model",
                context_window=100_000,
                max_output_tokens=10_000,
            )
        ]

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        """Note the request and reply."""
        self.requests.append(request)
        usage = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
        return ChatResponse(
            content=[TextBlock(text=self.reply)], usage=usage, finish_reason="end_turn"
        )

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """The calls in a response; its own never have any."""
        return response.tool_calls or []


Event = tuple[str, Any]


class EventRecorder:
    """Keeps every event it hears and gives one answer to all of them.

    Register it as a hook, or hand it to a loop in place of a registry.
    """

    def __init__(self, answer: HookResult | None = None) -> None:
        self.events: list[Event] = []
        self.answer = answer or HookResult(action="continue")

    async def __call__(self, event: str, data: Any) -> HookResult:
        return await self.record(event, data)

    async def record(self, event: str, data: Any) -> HookResult:
        """The handler to register."""
        self.events.append((event, dict(data) if isinstance(data, dict) else data))
        return self.answer

    async def emit(self, event: str, data: Any = None) -> HookResult:
        """What a loop calls on its registry."""
        return await self.record(event, data)

    def get_events(self, event_type: str | None = None) -> list[Event]:
        """What was heard: all of it, or one kind."""
        return [one for one in self.events if event_type is None or one[0] == event_type]

    @property
    def names(self) -> list[str]:
        """The names of what was heard, in order."""
        return [name for name, _ in self.events]

    def clear(self) -> None:
        """Forget it."""
        self.events.clear()


class MockTool:
    """Answers with an output, a function of its input, or an exception.

    `execute` can be asked how it was called; a subclass that defines its own keeps it as it is.
    """

    def __init__(
        self,
        name: str = "mock_tool",
        output: Any = "Success",
        *,
        description: str = "A tool for tests",
        input_schema: dict[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self.input_schema = input_schema or {"type": "object", "properties": {}}
        self.output = output
        self.calls: list[dict[str, Any]] = []
        if type(self).execute is MockTool.execute:
            vars(self)["execute"] = AsyncMock(side_effect=self.execute)

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Note the call and answer."""
        self.calls.append(input)
        answer = self.output(input) if callable(self.output) else self.output
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, ToolResult):
            return answer
        return ToolResult(output=answer)

    @property
    def call_count(self) -> int:
        """How often it was called."""
        return len(self.calls)


async def wait_for(
    condition: Callable[[], bool | Awaitable[bool]], timeout: float = 1.0, interval: float = 0.01
) -> bool:
    """Whether something comes to hold in time; the condition may be async."""
    try:
        async with asyncio.timeout(timeout) as limit:
            while not await _holds(condition):  # noqa: ASYNC110 - nobody tells when it holds
                await asyncio.sleep(interval)
    except TimeoutError:
        if not limit.expired():  # the condition's own
            raise
        return False
    return True


async def _holds(condition: Callable[[], bool | Awaitable[bool]]) -> bool:
    holds = condition()
    if inspect.isawaitable(holds):
        return await holds
    return bool(holds)


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
