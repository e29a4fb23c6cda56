"""Requests to a model and its replies, through the hooks of a run."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    ChatContext,
    ChatMiddleware,
    ChatResponse,
    Content,
    Message,
    MiddlewareTermination,
)
from pydantic import BaseModel

from amplifier_core import HookResult
from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.agent_framework import amplifier
from amplifier_hooks.frameworks.agent_framework.hooks import (
    find_model,
    list_tools,
    name_provider,
)
from tests.adapters.drivers.agent_framework import ScriptedClient, make_agent, make_tools
from tests.adapters.drivers.driver import Ran
from tests.adapters.stage import DONE, Stage, call, use

DENY = HookResult(action="deny", reason="against the rules")


def rewrite(text: str) -> Any:
    """A hook's answer: the reply says something else."""

    def modify(data: dict[str, Any]) -> HookResult:
        response = {**data["response"], "content": [{"type": "text", "text": text}]}
        return HookResult(action="modify", data={**data, "response": response})

    return modify


async def test_hooks_see_and_change_the_instructions(stage: Stage) -> None:
    """They are the first message of a request."""

    def change(data: dict[str, Any]) -> HookResult:
        first, *others = data["messages"]
        assert first == {"role": "system", "content": "You take notes."}
        messages = [{**first, "content": "You take short notes."}, *others]
        return HookResult(action="modify", data={**data, "messages": messages})

    stage.answer("provider:request", change)
    client = ScriptedClient(use(call("note", text="a")))
    await make_agent(stage.hooks, client, make_tools(Ran())).run("Do it.")
    for request in client.requests:
        assert request.startswith("system: You take short notes.\n")


async def test_requests_that_nobody_looks_at_get_injections(stage: Stage) -> None:
    """Without a trail and without a hook for them, they are not even described."""
    hint = HookResult(action="inject_context", context_injection="Lint: line 3")
    stage.answer("tool:post", hint)
    client = ScriptedClient(use(call("note", text="a")))
    async with govern(stage.registry) as hooks:
        response = await make_agent(hooks, client, make_tools(Ran())).run("Do it.")
    assert response.text == DONE
    assert ["Lint: line 3" in request for request in client.requests] == [False, True]
    assert client.requests[1].startswith("system: You take notes.\nuser: Do it.\nassistant: ")


async def test_a_changed_reply_is_read_as_the_caller_wants_it(stage: Stage) -> None:
    """A structured response is made of what hooks left."""

    class Note(BaseModel):
        text: str

    stage.answer("provider:response", rewrite('{"text": "[hidden]"}'))
    agent = make_agent(stage.hooks, ScriptedClient(['{"text": "4711"}']), [])
    response = await agent.run("Do it.", options={"response_format": Note})
    assert response.value == Note(text="[hidden]")


async def test_nothing_of_a_changed_reply_goes_out(stage: Stage) -> None:
    """Nor what the provider sent as it came."""

    class Client(ScriptedClient):
        async def _reply(self, contents: Any) -> ChatResponse[Any]:
            message = Message("assistant", contents, raw_representation="raw: 4711")
            return ChatResponse(messages=[message], raw_representation="raw: 4711")

    stage.answer("provider:response", rewrite("The PIN is [hidden]."))
    response = await make_agent(stage.hooks, Client(["The PIN is 4711."]), []).run("Hello.")
    raw = response.raw_representation
    assert response.text == "The PIN is [hidden]."
    assert "4711" not in str([getattr(raw, "raw_representation", None), response.messages])
    assert response.messages[0].raw_representation is None


async def test_a_held_stream_is_released_piece_by_piece(stage: Stage) -> None:
    """If hooks left it alone, the caller gets the model's own pieces."""
    stage.listen("provider:response", "prompt:answer")
    stream = make_agent(stage.hooks, ScriptedClient([DONE]), []).run("Hello.", stream=True)
    assert [one.text async for one in stream] == ["All", " done."]
    assert [data.get("streamed") for _, data in stage.heard.events] == [None, False]


async def test_a_stream_that_nobody_judges_is_live(stage: Stage) -> None:
    """It is not held back, and the trail has the answer all the same."""
    seen: list[str] = []

    class Client(ScriptedClient):
        async def _stream(self, contents: Any) -> Any:
            async for update in super()._stream(contents):
                yield update
                seen.append("produced")

    stage.listen("session:end")
    stream = make_agent(stage.hooks, Client([DONE]), []).run("Hello.", stream=True)
    async for update in stream:
        seen += [update.text]
    assert seen == ["All", "produced", " done.", "produced"]
    assert (await stream.get_final_response()).text == DONE


async def test_calls_in_a_held_stream_run_once(stage: Stage) -> None:
    """The framework finds its own marks in what was released."""
    stage.listen("provider:response")
    ran, client = Ran(), ScriptedClient(use(call("note", 1, text="a"), call("note", 2, text="b")))
    stream = make_agent(stage.hooks, client, make_tools(ran)).run("Hello.", stream=True)
    final = await stream.get_final_response()
    assert sorted(one["text"] for one in ran.ran("note")) == ["a", "b"]
    contents = [one for message in final.messages for one in message.contents]
    made = {one.id for one in contents if one.type == "function_call"}
    assert made == {one.id for one in contents if one.type == "function_result"}
    assert None not in made


async def test_what_other_middleware_replies_itself_is_judged(stage: Stage) -> None:
    """A chat middleware behind ours, as a context provider adds it."""

    class Short(ChatMiddleware):
        async def process(self, context: ChatContext, call_next: Any) -> None:
            context.result = ChatResponse(messages=[Message("assistant", ["The PIN is 4711."])])
            raise MiddlewareTermination

    from agent_framework import ContextProvider

    class Adding(ContextProvider):
        async def before_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:
            context.extend_middleware(self.source_id, Short())

    stage.answer("provider:response", DENY)
    agent: Agent[Any] = Agent(
        ScriptedClient([DONE]),
        context_providers=[Adding("adding")],
        middleware=[amplifier(stage.hooks)],
    )
    assert "against the rules" in (await agent.run("Hello.")).text


async def test_hosted_calls_are_no_calls_of_ours(stage: Stage) -> None:
    """What the provider has run stays in the reply, and hooks are not told to judge it."""

    class Client(ScriptedClient):
        async def _reply(self, contents: Any) -> ChatResponse[Any]:
            ran = Content.from_function_call("h", "search", arguments={}, informational_only=True)
            return ChatResponse(messages=[Message("assistant", [ran, *contents])])

    stage.answer("provider:response", rewrite("Found it."))
    stage.listen("provider:response")
    response = await make_agent(stage.hooks, Client([DONE]), []).run("Hello.")
    assert response.text == "Found it."
    assert [one.type for one in response.messages[0].contents] == ["function_call", "text"]
    assert not stage.heard.events[0][1]["response"].get("tool_calls")


def test_a_request_says_whose_it_is() -> None:
    """The provider, the model and the tools, as far as the client names them."""
    client: Any = ScriptedClient([DONE])
    tools = [*make_tools(Ran()), {"name": "search"}, {"type": "unnamed"}]
    context = ChatContext(client, [], {"model": "scripted-1", "tools": tools})
    assert name_provider(client) == "ScriptedClient"
    assert find_model(context) == "scripted-1"
    assert list_tools(context) == ["note", "wipe", "boom", "search"]
    assert find_model(ChatContext(client, [], None)) is None
