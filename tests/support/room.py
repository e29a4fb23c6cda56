"""Hooks, contexts and people for the tests of the kernel; each does one thing."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type, no-any-return"

from __future__ import annotations

import asyncio
from typing import Any

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.testing import MemoryAudit

Data = dict[str, Any]
PRE = "tool:pre"
POST = "tool:post"


def says(action: str = "continue", **fields: Any) -> Any:
    """A hook that always gives one answer."""
    answer = HookResult(action=action, **fields)

    async def hook(event: str, data: Data) -> HookResult:
        return answer

    return hook


def asks(prompt: str = "Go on?", **fields: Any) -> Any:
    return says("ask_user", approval_prompt=prompt, **fields)


def injects(text: str, **fields: Any) -> Any:
    return says("inject_context", context_injection=text, **fields)


def raises(error: BaseException) -> Any:
    async def hook(event: str, data: Data) -> HookResult:
        raise error

    return hook


def returns(value: Any) -> Any:
    async def hook(event: str, data: Data) -> Any:
        return value

    return hook


def modifies(**changes: Any) -> Any:
    async def hook(event: str, data: Data) -> HookResult:
        return HookResult(action="modify", data={**data, **changes})

    return hook


def prints(text: str, **fields: Any) -> Any:
    async def hook(event: str, data: Data) -> HookResult:
        print(text)  # noqa: T201
        return HookResult(**fields)

    return hook


class Seen:
    """A hook that writes down what it saw."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Data]] = []

    async def __call__(self, event: str, data: Data) -> HookResult:
        self.calls.append((event, dict(data)))
        return HookResult()

    @property
    def events(self) -> list[str]:
        return [event for event, _ in self.calls]


class Conversation:
    """A context of the architecture document's form."""

    def __init__(self) -> None:
        self.messages: list[Data] = []

    def add_message(self, role: str, content: str, metadata: Data | None = None) -> None:
        self.messages.append({"role": role, "content": content, "metadata": metadata or {}})

    def get_messages(self) -> list[Data]:
        return list(self.messages)

    @property
    def texts(self) -> list[str]:
        return [message["content"] for message in self.messages]


class Screen:
    """A display that remembers."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, str, str]] = []

    def show_message(self, message: str, level: str, source: str) -> None:
        self.shown.append((message, level, source))


class Person:
    """Answers each question with the next of its answers; the last one stays."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers) or ["Allow"]
        self.asked: list[tuple[str, list[str], float, str]] = []

    def _next(self) -> Any:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: str
    ) -> Any:
        self.asked.append((prompt, options, timeout, default))
        answer = self._next()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @property
    def prompts(self) -> list[str]:
        return [prompt for prompt, *_ in self.asked]


class Reader:
    """Takes the whole question."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.questions: list[ApprovalQuestion] = []

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer | str:
        self.questions.append(question)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return await answer(question) if callable(answer) else answer

    async def request_approval(self, *args: Any) -> str:
        raise AssertionError("decide is there")


class Never:
    """A person who has left."""

    def __init__(self) -> None:
        self.waiting = asyncio.Event()

    async def request_approval(self, *question: Any) -> str:
        self.waiting.set()
        await asyncio.get_running_loop().create_future()
        raise AssertionError


class Room:
    """A coordinator with everything around it."""

    def __init__(self, person: Any = None, *, audit: Any = None, **settings: Any) -> None:
        self.hooks = HookRegistry()
        self.context = settings.pop("context", None) or Conversation()
        self.screen = settings.pop("screen", None) or Screen()
        self.audit = audit or MemoryAudit()
        self.person = person
        self.session = SessionCoordinator(
            self.hooks,
            self.context,
            person,
            self.screen,
            audit=self.audit,
            session_id="s1",
            config={"session": settings} if settings else None,
        )

    async def pre(self, **tool_input: Any) -> HookResult:
        return await self.session.execute_with_hooks(
            PRE, {"tool_name": "Write", "tool_input": tool_input}
        )

    def bodies(self, type: str) -> list[Data]:
        return [record["body"] for record in self.audit.of_type(type)]
