"""What hooks do at requests, replies and tool calls."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import date
from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    AgentSession,
    ChatContext,
    ChatMiddleware,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationContext,
    FunctionTool,
    Message,
    MiddlewareFailure,
    MiddlewareTermination,
    ResponseStream,
    function_middleware,
)
from pydantic import BaseModel

from amplifier_core import HookResult
from amplifier_core.models import ToolResult
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import Called
from amplifier_hooks.frameworks import answer, govern
from amplifier_hooks.frameworks.agent_framework import amplifier, respond
from amplifier_hooks.frameworks.agent_framework.hooks import (
    call_to_end,
    describe_arguments,
    find_model,
    follow_stream,
    hold_stream,
    list_tools,
    name_provider,
    read_result,
    stream_response,
    write_result,
)
from amplifier_hooks.frameworks.agent_framework.messages import say_in_chat
from tests.adapters.drivers.agent_framework import ScriptedClient, make_agent, make_tools
from tests.adapters.drivers.driver import Ran
from tests.adapters.stage import DONE, Stage, ask, call, change_input, change_output, use

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


IMAGE = Content.from_uri("https://example.com/a.png", media_type="image/png")


async def test_arguments_are_the_tools_own_values_if_nobody_changed_them(stage: Stage) -> None:
    """Hooks see JSON; the tool gets the date that the framework has read."""
    given: list[Any] = []

    def remind(day: date) -> str:
        given.append(day)
        return "noted"

    stage.listen("tool:pre")
    client = ScriptedClient(use(call("remind", day="2026-11-17")))
    await make_agent(stage.hooks, client, [FunctionTool(name="remind", func=remind)]).run("Do it.")
    assert stage.heard.events[0][1]["tool_input"] == {"day": "2026-11-17"}
    assert given == [date(2026, 11, 17)]


async def test_a_change_that_only_looks_the_same_reaches_the_tool(stage: Stage) -> None:
    """Python takes 1 for True, but a tool need not."""
    given: list[Any] = []

    def wipe(force: bool | int) -> str:
        given.append(force)
        return "wiped"

    stage.answer("tool:pre", change_input(force=1))
    client = ScriptedClient(use(call("wipe", force=True)))
    await make_agent(stage.hooks, client, [FunctionTool(name="wipe", func=wipe)]).run("Do it.")
    assert [type(one) for one in given] == [int]


async def test_a_result_that_nobody_changed_is_the_frameworks_own(stage: Stage) -> None:
    """Middleware before ours gets the same object."""
    seen: list[Any] = []

    @function_middleware
    async def look(context: FunctionInvocationContext, call_next: Any) -> None:
        await call_next()
        seen.append(context.result)

    stage.listen("tool:post")
    contents = [Content.from_text("Look:"), IMAGE]
    tool = FunctionTool(name="draw", func=lambda: contents, result_parser=lambda found: found)
    client = ScriptedClient([[call("draw")], DONE])
    await make_agent(stage.hooks, client, [tool]).run("Do it.", middleware=[look])
    assert seen[0] is contents
    assert stage.heard.events[0][1]["tool_result"]["output"][1]["uri"] == IMAGE.uri


async def test_parts_of_a_result_are_changed_one_by_one(stage: Stage) -> None:
    """What is no text stays what it was."""

    def clean(data: dict[str, Any]) -> HookResult:
        first, *others = data["tool_result"]["output"]
        output = [{**first, "text": "Look: [hidden]"}, *others]
        result = {**data["tool_result"], "output": output}
        return HookResult(action="modify", data={**data, "tool_result": result})

    seen: list[Any] = []

    @function_middleware
    async def look(context: FunctionInvocationContext, call_next: Any) -> None:
        await call_next()
        seen.append(context.result)

    stage.answer("tool:post", clean)
    contents = [Content.from_text("Look: 4711"), IMAGE]
    tool = FunctionTool(name="draw", func=lambda: contents, result_parser=lambda found: found)
    client = ScriptedClient([[call("draw")], DONE])
    await make_agent(stage.hooks, client, [tool]).run("Do it.", middleware=[look])
    assert [one.type for one in seen[0]] == ["text", "uri"]
    assert seen[0][0].text == "Look: [hidden]"


async def test_an_exception_that_ends_the_loop_passes(stage: Stage) -> None:
    """A tool may end the turn; it has not failed."""

    def stop() -> str:
        raise MiddlewareTermination(result="That is enough.")

    stage.listen("tool:error")
    client = ScriptedClient([[call("stop")], DONE])
    await make_agent(stage.hooks, client, [FunctionTool(name="stop", func=stop)]).run("Do it.")
    assert len(client.requests) == 1


async def test_an_error_in_the_adapter_ends_the_run(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a result it would tell the model nothing, and the loop would go on."""

    async def fail(*_: Any) -> Called:
        raise OSError("no database")

    monkeypatch.setattr(Run, "call", fail)
    ran, client = Ran(), ScriptedClient(use(call("wipe", path="/")))
    with pytest.raises(MiddlewareFailure, match=r"hooks in front of wipe failed.*no database"):
        await make_agent(stage.hooks, client, make_tools(ran)).run("Do it.")
    assert ran.calls == []


async def test_a_changed_result_of_a_failing_tool_is_what_the_model_reads(stage: Stage) -> None:
    """Whatever the framework would have said about it."""
    stage.answer("tool:post", change_output("try later"), tool="note")
    ran, client = Ran(), ScriptedClient(use(call("note", text="a")))
    await make_agent(stage.hooks, client, make_tools(ran)).run("Do it.")
    assert "try later" in client.requests[-1]


def test_arguments_are_json() -> None:
    """Also those of a model, and values that JSON does not know."""

    class Given(BaseModel):
        day: date

    assert describe_arguments(Given(day=date(2026, 1, 2))) == {"day": "2026-01-02"}
    assert describe_arguments({"what": object}) == {"what": str(object)}


def test_a_result_is_its_text_or_its_parts() -> None:
    """A value that the framework does not parse is seen as it is."""
    assert read_result([Content.from_text("a"), Content.from_text("b")]).output == "a\nb"
    assert read_result([IMAGE]).output[0]["media_type"] == "image/png"
    assert read_result({"count": 2}).output == {"count": 2}
    assert read_result(b"\xff").output == "_w=="
    endless: list[Any] = []
    endless.append(endless)
    assert read_result(endless).output == "[[...]]"


def test_a_refusal_is_text() -> None:
    """Whatever the tool had returned."""
    called = Called(ToolResult.refused("no"), [IMAGE], ran=True, changed=True)
    assert write_result(called) == called.text


def make_stream(*words: str, seen: list[str] | None = None) -> Any:
    """A stream of words; `seen` gets each one as it is produced."""

    async def produce() -> AsyncIterator[ChatResponseUpdate]:
        try:
            for word in words:
                if seen is not None:
                    seen.append(word)
                yield ChatResponseUpdate(contents=[Content.from_text(word)], role="assistant")
        finally:
            if seen is not None:
                seen.append("closed")

    made: Any = ResponseStream
    return made(produce(), finalizer=ChatResponse.from_updates)


async def keep(response: Any) -> Any:
    """Judge a response without changing it."""
    return response


async def replace(response: Any) -> Any:
    """Judge a response and say something else."""
    return say_in_chat("withheld")


async def test_a_stream_is_held_until_it_is_judged() -> None:
    """The whole of it is produced before the first piece goes out."""
    seen: list[str] = []
    stream = hold_stream(make_stream("a", "b", seen=seen), keep, is_live=False)
    first = await anext(aiter(stream))
    assert first.text == "a"
    assert seen == ["a", "b", "closed"]
    assert [one.text async for one in stream] == ["b"]
    assert (await stream.get_final_response()).text == "ab"


async def test_another_response_is_streamed_instead() -> None:
    """Nothing of the first one goes out."""
    stream = hold_stream(make_stream("a", "b"), replace, is_live=False)
    assert [one.text async for one in stream] == ["withheld"]
    assert (await stream.get_final_response()).text == "withheld"


async def test_a_live_stream_is_not_held() -> None:
    """Its pieces go out as they come, and its end is judged."""
    seen: list[str] = []
    stream = hold_stream(make_stream("a", "b", seen=seen), replace, is_live=True)
    assert (await anext(aiter(stream))).text == "a"
    assert seen == ["a"]
    assert [one.text async for one in stream] == ["b"]
    assert (await stream.get_final_response()).text == "withheld"


@pytest.mark.parametrize("leave", [False, True])
async def test_the_end_of_a_stream_is_told_once(leave: bool) -> None:
    """Read to its end, or closed before."""
    ends: list[Any] = []

    async def end(error: BaseException | None) -> None:
        ends.append(type(error))

    seen: list[str] = []
    async with follow_stream(make_stream("a", "b", seen=seen), keep, end) as stream:
        async for _ in stream:
            if leave:
                break
    assert ends == [GeneratorExit if leave else type(None)]
    assert seen[-1] == "closed"


async def test_a_stream_that_was_left_has_no_response() -> None:
    """Half of one could be taken for the whole."""

    async def end(error: BaseException | None) -> None:
        """Nobody listens."""

    stream = follow_stream(make_stream("a", "b"), keep, end)
    await anext(aiter(stream))
    await stream.close()
    with pytest.raises(RuntimeError, match="closed before its end"):
        await stream.get_final_response()


async def test_a_response_can_be_streamed() -> None:
    """As if a model had said it."""
    stream = stream_response(say_in_chat("no"))
    assert [one.text async for one in stream] == ["no"]
    assert (await stream.get_final_response()).text == "no"


WIPE = call("wipe", path="/tmp/x")


async def ask_framework(stage: Stage, ran: Ran, **more: Any) -> tuple[Any, AgentSession, Any]:
    """An agent, its session and the response with a question."""
    client = ScriptedClient(use(WIPE), **more)
    agent = make_agent(stage.hooks, client, make_tools(ran), asks="interrupt")
    session = agent.create_session()
    return agent, session, await agent.run("Do it.", session=session)


async def test_the_request_has_the_question_and_exactly_what_would_run(stage: Stage) -> None:
    """Hooks may have changed the arguments before."""
    stage.answer("tool:pre", change_input(path="/tmp/y"), tool="wipe", name="changer", priority=-5)
    stage.answer("tool:pre", ask("Really?"), tool="wipe")
    ran = Ran()
    agent, session, response = await ask_framework(stage, ran)
    (request,) = response.user_input_requests
    assert request.function_call.parse_arguments() == {"path": "/tmp/y"}
    payload = request.additional_properties["amplifier"]
    assert payload["prompt"] == "Really?"
    json.dumps(payload)
    given = respond(request, answer(payload, "Allow", by="ana"))
    await agent.run(Message("user", [given]), session=session)
    assert ran.calls == [("wipe", {"path": "/tmp/y"})]


async def test_a_program_that_knows_nothing_of_hooks_can_answer(stage: Stage) -> None:
    """With the framework's own response, approved or not."""
    stage.answer("tool:pre", ask(), tool="wipe")
    for approved in (True, False):
        ran = Ran()
        agent, session, response = await ask_framework(stage, ran)
        given = response.user_input_requests[0].to_function_approval_response(approved)
        await agent.run(Message("user", [given]), session=session)
        assert len(ran.calls) == int(approved)


async def test_two_questions_about_one_call_are_asked_one_after_the_other(stage: Stage) -> None:
    """Each answer counts for its question."""
    stage.answer("tool:pre", ask("First?"), tool="wipe", name="first")
    stage.answer("tool:pre", ask("Second?"), tool="wipe", name="second")
    ran, asked = Ran(), []
    agent, session, response = await ask_framework(stage, ran)
    while response.user_input_requests:
        request = response.user_input_requests[0]
        payload = request.additional_properties["amplifier"]
        asked.append(payload["prompt"])
        given = respond(request, answer(payload, "Allow", by="ana"))
        response = await agent.run(Message("user", [given]), session=session)
    assert asked == ["First?", "Second?"]
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]


async def test_a_session_can_be_stored_while_somebody_thinks(stage: Stage) -> None:
    """The answer may come in another process."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    agent, session, response = await ask_framework(stage, ran)
    stored = json.dumps(session.to_dict())
    request = Content.from_dict(json.loads(json.dumps(response.user_input_requests[0].to_dict())))
    again = AgentSession.from_dict(json.loads(stored))
    given = respond(request, answer(request.additional_properties["amplifier"], "Allow"))
    await agent.run(Message("user", [given]), session=again)
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]


async def test_an_answer_that_comes_twice_runs_nothing_twice(stage: Stage) -> None:
    """The framework forgets a request with its answer."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    agent, session, response = await ask_framework(stage, ran)
    request = response.user_input_requests[0]
    given = respond(request, answer(request.additional_properties["amplifier"], "Allow"))
    await agent.run(Message("user", [given]), session=session)
    agent.client.steps = ["Once is enough."]
    await agent.run(Message("user", [given]), session=session)
    assert len(ran.calls) == 1


async def test_questions_leave_a_stream_as_well(stage: Stage) -> None:
    """Both turns are streamed."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("provider:response")
    ran = Ran()
    agent = make_agent(stage.hooks, ScriptedClient(use(WIPE)), make_tools(ran), asks="interrupt")
    session = agent.create_session()
    first = await agent.run("Do it.", stream=True, session=session).get_final_response()
    request = first.user_input_requests[0]
    given = respond(request, answer(request.additional_properties["amplifier"], "Allow"))
    message = Message("user", [given])
    await agent.run(message, stream=True, session=session).get_final_response()
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]


async def test_a_question_needs_a_session(stage: Stage) -> None:
    """Without one, the framework would not take the answer."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    agent = make_agent(stage.hooks, ScriptedClient(use(WIPE)), make_tools(ran), asks="interrupt")
    with pytest.raises(MiddlewareFailure, match=r"agent\.create_session\(\)"):
        await agent.run("Do it.")
    assert ran.calls == []


async def test_questions_of_a_sub_agent_are_asked_inline(stage: Stage) -> None:
    """The framework does not hand them on to who runs the outer agent."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person("Allow")
    hooks, ran = stage.hooks, Ran()
    inner = make_agent(hooks, ScriptedClient(use(WIPE)), make_tools(ran), asks="interrupt")
    client = ScriptedClient(use(call("helper", task="Wipe.")))
    outer = make_agent(hooks, client, [inner.as_tool(name="helper")], asks="interrupt")
    await outer.run("Do it.", session=outer.create_session())
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]


def test_only_our_requests_are_answered_like_this() -> None:
    """Another one has no payload."""
    made = Content.from_function_call("c", "wipe", arguments={}, id="o")
    with pytest.raises(ValueError, match="to_function_approval_response"):
        respond(Content.from_function_approval_request("o", made), {})


async def test_an_early_end_is_returned() -> None:
    """Whoever called raises it again when the result is judged."""
    ended = MiddlewareTermination()

    async def stop() -> None:
        raise ended

    async def go() -> None:
        """Go on."""

    assert await call_to_end(stop) is ended
    assert await call_to_end(go) is None


async def test_a_failure_is_no_early_end() -> None:
    """It passes."""

    async def fail() -> None:
        raise MiddlewareFailure("no")

    with pytest.raises(MiddlewareFailure):
        await call_to_end(fail)
