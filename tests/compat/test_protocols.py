"""What existing modules implement: providers, contexts, tools, and questions to a person."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from amplifier_core.approval import ApprovalTimeoutError
from amplifier_core.interfaces import (
    ApprovalProvider,
    ApprovalRequest,
    ApprovalResponse,
    ContextManager,
    Orchestrator,
    Provider,
    Tool,
)
from amplifier_core.message_models import ChatResponse, TextBlock, ToolCall, ToolCallBlock
from amplifier_core.models import ModelInfo, ProviderInfo, ToolResult
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.contexts import simple
from amplifier_hooks.agent.providers import anthropic, local, openai, scripted
from tests.support.models import mount_provider
from tests.support.sessions import SessionHarness, calls


class Asked:
    """A provider of the ecosystem, complete."""

    name = "asked"

    def get_info(self) -> ProviderInfo:
        return ProviderInfo(id="asked", display_name="Asked")

    async def list_models(self) -> list[ModelInfo]:
        return []

    async def complete(self, request: Any, **kwargs: Any) -> ChatResponse:
        return ChatResponse(content=[TextBlock(text="hello")])

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        return []


class Kept:
    """A context of the ecosystem: what it sends is not all that it holds."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.asked: list[tuple[int | None, Any]] = []

    async def add_message(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    async def get_messages(self) -> list[dict[str, Any]]:
        return list(self.messages)

    async def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> list[dict[str, Any]]:
        self.asked.append((token_budget, provider))
        return [{"role": "system", "content": "earlier: nothing"}, *self.messages[-1:]]

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        self.messages = list(messages)

    async def clear(self) -> None:
        self.messages = []


# Providers


@pytest.mark.parametrize("missing", ["name", "get_info", "list_models", "complete",
                                     "parse_tool_calls"])  # fmt: skip
def test_a_provider_has_five_members(missing: str) -> None:
    """None of which may be missing."""
    assert isinstance(Asked(), Provider)
    members = {name: value for name, value in vars(Asked).items() if name != missing}
    assert not isinstance(type("Half", (), members)(), Provider)


@pytest.mark.parametrize("module", [anthropic, openai, local, scripted])
async def test_our_providers_say_what_they_are(module: Any, monkeypatch: Any) -> None:
    """Without a key and without a network, as tests of the ecosystem ask them."""
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    async with mount_provider(module, {"model": "m"}) as provider:
        assert isinstance(provider, Provider)
        assert isinstance(provider.get_info(), ProviderInfo)
        found = await provider.list_models()
    assert [(type(one), one.id) for one in found] == [(ModelInfo, "m")]


@pytest.mark.parametrize("module", [anthropic, openai, local, scripted])
async def test_our_providers_find_calls_in_any_reply(module: Any) -> None:
    async with mount_provider(module, {"model": "m"}) as provider:
        block = ToolCallBlock(id="1", name="Bash", input={"a": 1})
        found = provider.parse_tool_calls(ChatResponse(content=[block]))
        assert found == [ToolCall(id="1", name="Bash", arguments={"a": 1})]
        assert provider.parse_tool_calls(ChatResponse(content=[])) == []


# Contexts


def test_a_context_also_says_what_to_send() -> None:
    assert isinstance(Kept(), ContextManager)
    parameters = inspect.signature(ContextManager.get_messages_for_request).parameters
    assert [one.default for one in parameters.values()][1:] == [None, None]


async def test_our_context_says_what_to_send() -> None:
    """Awaited, by keyword or by position; all that it holds can be read plainly or awaited."""
    host = TestCoordinator()
    await simple.mount(host)
    context = host.get("context")
    assert isinstance(context, ContextManager)
    await context.add_message({"role": "user", "content": "one"})
    context.add_message("assistant", "two", {"k": 1})
    assert inspect.iscoroutinefunction(context.get_messages_for_request)
    sent = await context.get_messages_for_request(token_budget=None, provider=Asked())
    assert sent == await context.get_messages_for_request(None, None) == context.get_messages()
    assert context.get_messages() == await context.get_messages()
    assert [one["content"] for one in sent] == ["one", "two"]


@pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])
async def test_our_loops_send_what_the_context_says(loop: str) -> None:
    """And tell it which provider will read it; `get_messages` is not what they send."""
    context = Kept()
    async with SessionHarness([{"text": "a"}, {"text": "b"}], loop=loop) as harness:
        await harness.coordinator.mount("context", context)
        heard = harness.listen()
        await harness.session.execute("first")
        await harness.session.execute("second")
        provider = harness.coordinator.get("providers", "scripted")
    assert context.asked == [(None, provider)] * 2
    sent = [data["messages"] for _, data in heard.get_events("provider:request")]
    assert [[one["content"] for one in each] for each in sent] == [
        ["earlier: nothing", "first"],
        ["earlier: nothing", "second"],
    ]
    assert [one["content"] for one in context.messages] == ["first", "a", "second", "b"]


# Tools and loops


def test_the_schema_of_a_tool_is_empty_unless_it_has_one() -> None:
    class Ping(Tool):
        name = "ping"
        description = "Answers."

        async def execute(self, input: dict[str, Any]) -> ToolResult:
            return ToolResult(output="pong")

    assert Ping().input_schema == {}


@pytest.mark.parametrize("protocol", [Tool, Orchestrator])
def test_tools_and_loops_cannot_be_told_by_isinstance(protocol: Any) -> None:
    with pytest.raises(TypeError):
        isinstance(object(), protocol)


async def test_a_tool_without_a_schema_is_offered_to_the_model() -> None:
    """It need not have one to be called."""

    class Bare:
        name = "bare"
        description = "Answers."

        async def execute(self, input: dict[str, Any]) -> ToolResult:
            return ToolResult(success=False, error={"message": "no", "code": "E1"})

    seen: list[Any] = []

    async def look(event: str, data: dict[str, Any]) -> None:
        seen.append(data["tool_result"])

    async with SessionHarness([calls("bare"), {"text": "ok"}]) as harness:
        await harness.coordinator.mount("tools", Bare())
        harness.hooks.register("tool:post", look)
        assert await harness.session.execute("x") == "ok"
        assert harness.texts("tool") == ["no"]
    assert seen == [{"success": False, "output": "no", "error": {"message": "no", "code": "E1"}}]


# Questions


@pytest.mark.parametrize("level", ["low", "critical", "whatever"])
def test_the_risk_of_a_question_is_any_text(level: str) -> None:
    request = ApprovalRequest(tool_name="Bash", action="run", details={}, risk_level=level)
    assert (request.risk_level, request.timeout) == (level, None)


def test_the_risk_of_a_question_is_required() -> None:
    with pytest.raises(ValueError, match="risk_level"):
        ApprovalRequest(tool_name="Bash", action="run", details={})  # type: ignore[call-arg]


@pytest.mark.parametrize("timeout", [0, -1.5])
def test_a_question_needs_time(timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout"):
        ApprovalRequest(tool_name="Bash", action="run", risk_level="low", timeout=timeout)
    assert ApprovalRequest(tool_name="B", action="r", risk_level="l", timeout=5).timeout == 5.0


async def test_a_person_is_asked_through_a_provider() -> None:
    class Person:
        async def request_approval(self, request: ApprovalRequest) -> ApprovalResponse:
            return ApprovalResponse(approved=True, reason=request.risk_level)

    person: ApprovalProvider = Person()
    assert isinstance(person, ApprovalProvider)
    asked = ApprovalRequest(tool_name="Bash", action="run", risk_level="high")
    answer = await person.request_approval(asked)
    assert (answer.approved, answer.reason, answer.remember) == (True, "high", False)


def test_nobody_answering_is_an_exception() -> None:
    assert issubclass(ApprovalTimeoutError, Exception)
