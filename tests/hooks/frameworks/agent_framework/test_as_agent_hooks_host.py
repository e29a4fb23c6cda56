"""Our hooks in Microsoft Agent Framework, which is a host of the contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

pytest.importorskip("agent_hooks")
pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    create_agent_hooks_middleware,
)

from amplifier_core import HookRegistry, HookResult
from amplifier_hooks.frameworks.agent_hooks import AmplifierInterceptor
from tests.hooks.frameworks.agent_hooks.reference_host import Resolver
from tests.support.hooks import asks, injects, says


class Client(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Calls `write` once, then answers; keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__()
        call = Content.from_function_call("c1", "write", arguments={"path": "a.txt"})
        self._replies = [call, Content.from_text("done")]
        self.sent: list[str] = []

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_: Any
    ) -> Any:
        self.sent.append("\n".join(_read_text(one) for one in messages))
        return self._reply()

    async def _reply(self) -> ChatResponse[Any]:
        reply = self._replies.pop(0)
        return ChatResponse(messages=[Message("assistant", [reply])], finish_reason="stop")


def _read_text(message: Message) -> str:
    return " ".join(str(one.text or one.result or "") for one in message.contents)


async def run(registry: HookRegistry, resolver: Any = None) -> tuple[str, list[str], Client]:
    """One run: the answer, the paths that were written, the client."""
    written: list[str] = []

    def write(path: str) -> str:
        """Write a file."""
        written.append(path)
        return f"wrote {path}"

    client = Client()
    judged = create_agent_hooks_middleware(
        [AmplifierInterceptor(registry)], resolver=resolver, timeout=None
    )
    agent = Agent(client=client, tools=[write], middleware=[judged])
    answer = await agent.run("go")
    return answer.text, written, client


async def test_a_denied_call_does_not_run_and_the_model_reads_why() -> None:
    """The turn goes on."""
    registry = HookRegistry()
    registry.register("tool:pre", says("deny", reason="not here"), name="guard")
    answer, written, client = await run(registry)
    assert (answer, written) == ("done", [])
    assert "amplifier:guard" in client.sent[1]


async def test_a_changed_input_is_the_one_that_runs() -> None:
    """And a changed answer the one that is returned."""

    async def rename(_: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "tool_input": {"path": "b.txt"}})

    async def shout(_: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "response": data["response"].upper()})

    registry = HookRegistry()
    registry.register("tool:pre", rename)
    registry.register("prompt:answer", shout)
    answer, written, _ = await run(registry)
    assert (answer, written) == ("DONE", ["b.txt"])


async def test_what_is_injected_is_in_the_next_request() -> None:
    """The framework has no place for it; the contract's rewrite of the messages is one."""
    registry = HookRegistry()
    registry.register("tool:post", injects("mind the gap"))
    _, _, client = await run(registry)
    assert ["mind the gap" in one for one in client.sent] == [False, True]


@pytest.mark.parametrize("lifted", [True, False])
async def test_a_question_is_put_to_the_resolver(lifted: bool) -> None:
    """Without one, nothing runs."""
    registry = HookRegistry()
    registry.register("tool:pre", asks("Write?"), name="gate")
    resolver = Resolver() if lifted else None
    _, written, _ = await run(registry, resolver)
    assert written == (["a.txt"] if lifted else [])
    if resolver is not None:
        assert [one.verdict.message for one in resolver.requests] == ["Write?"]
