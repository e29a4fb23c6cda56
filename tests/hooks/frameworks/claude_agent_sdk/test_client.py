"""A client with hooks, its options and its connection."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeSDKClient,
    HookMatcher,
    Message,
    ResultMessage,
    SystemMessage,
    TextBlock,
    ToolUseBlock,
    query,
)
from claude_agent_sdk.types import StreamEvent

from amplifier_core import HookResult
from amplifier_core.testing import wait_for
from amplifier_hooks.coding_agents.dialects.dialect import Reply
from amplifier_hooks.coverage import CLAUDE_AGENT_SDK
from amplifier_hooks.external.verdicts import Verdict
from amplifier_hooks.frameworks.claude_agent_sdk import (
    AmplifiedClient,
    amplified_query,
    amplifier_hooks,
    amplifier_options,
)
from amplifier_hooks.frameworks.claude_agent_sdk.client import (
    Connection,
    defer,
    end_soon,
    judge_answers,
    read_answer,
    refuse,
    wait_for_ends,
)
from amplifier_hooks.frameworks.claude_agent_sdk.session import LONGEST, Questions, choose
from tests.adapters.drivers.claude_agent_sdk import SERVER, ClaudeDriver
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.stage import DONE, Stage, ask, call, change_input, change_output, use
from tests.hooks.frameworks.claude_agent_sdk.program import BASE, NO_CONTEXT, describe_call, tell

DENY = HookResult(action="deny", reason="against the rules")


def rewrite(data: dict[str, Any]) -> HookResult:
    """Another prompt."""
    return HookResult(action="modify", data={**data, "prompt": data["prompt"] + " Please."})


async def test_a_client_is_one_session_with_changed_prompts(stage: Stage) -> None:
    """From `connect` to `disconnect`."""
    stage.answer("prompt:submit", rewrite)
    stage.listen("session:start", "prompt:answer", "session:end")
    driver, ran = ClaudeDriver(), Ran()
    async with (
        driver.serve([DONE, DONE], ran) as url,
        AmplifiedClient(stage.hooks, driver.build_options(url, ran)) as client,
    ):
        for prompt in ("Buy milk.", "Buy bread."):
            await client.query(prompt)
            async for _ in client.receive_response():
                pass
    assert "Buy milk. Please." in ran.requests[0]
    assert "Buy bread. Please." in ran.requests[-1]
    answers = ["prompt:answer", "prompt:answer"]
    assert stage.heard.names == ["session:start", *answers, "session:end"]


async def test_a_refused_prompt_of_a_client_ends_its_turn(stage: Stage) -> None:
    """The next one goes on."""
    stage.answer("prompt:submit", lambda data: DENY if "milk" in data["prompt"] else HookResult())
    driver, ran = ClaudeDriver(), Ran()
    results: list[str | None] = []
    async with (
        driver.serve([DONE], ran) as url,
        AmplifiedClient(stage.hooks, driver.build_options(url, ran)) as client,
    ):
        for prompt in ("Buy milk.", "Buy bread."):
            await client.query(prompt)
            async for one in client.receive_response():
                results += [one.result] if isinstance(one, ResultMessage) else []
    assert len(ran.requests) == 1
    assert "Buy milk." not in ran.requests[0]
    assert results[-1] == DONE


async def test_prompts_of_a_stream_are_changed(stage: Stage) -> None:
    """Each as it is sent."""

    async def prompts() -> AsyncIterator[dict[str, Any]]:
        yield {"type": "user", "message": {"role": "user", "content": "Buy milk."}}

    stage.answer("prompt:submit", rewrite)
    driver, ran = ClaudeDriver(), Ran()
    async with driver.serve([DONE], ran) as url:
        options = driver.build_options(url, ran)
        async for _ in amplified_query(stage.hooks, prompt=prompts(), options=options):
            pass
    assert "Buy milk. Please." in ran.requests[0]


async def test_who_stops_reading_ends_the_session(stage: Stage) -> None:
    """With the reason that the caller left."""
    stage.listen("session:end")
    driver, ran = ClaudeDriver(), Ran()
    async with driver.serve([DONE], ran) as url:
        messages: Any = amplified_query(
            stage.hooks, prompt="Do it.", options=driver.build_options(url, ran)
        )
        await anext(messages)
        await messages.aclose()
    assert [data["reason"] for _, data in stage.heard.events] == ["user_exit"]


async def test_options_of_the_program_stay_as_they_are(stage: Stage) -> None:
    """They may be used again, without hooks."""
    driver, ran = ClaudeDriver(), Ran()
    async with driver.serve([DONE], ran) as url:
        options = driver.build_options(url, ran)
        async for _ in amplified_query(stage.hooks, prompt="Do it.", options=options):
            pass
        assert options.hooks is None


SECRET = describe_call(command="cat .env") | {"tool_response": {"stdout": "KEY=1", "stderr": ""}}


def connect(stage: Stage, timeout: float = 60.0, **more: Any) -> Connection:
    """A connection behind these hooks."""
    return Connection(stage.hooks, choose(timeout, more.get("plain_servers", ()), "inline"))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        # `allow` would run what the person's own rules refuse, so it is never said for a hook.
        pytest.param(HookResult(), {}, id="continue is no opinion"),
        pytest.param(
            DENY,
            {
                "permissionDecision": "deny",
                "permissionDecisionReason": "Operation denied by policy: against the rules",
            },
            id="deny says who and why",
        ),
        pytest.param(
            change_input(command="ls -l"),
            {"updatedInput": {"command": "ls -l"}},
            id="a changed input leaves the decision open",
        ),
        pytest.param(ask(), {"permissionDecision": "allow"}, id="a yes of a person allows"),
    ],
)
async def test_an_answer_before_a_tool_is_told_in_the_programs_fields(
    stage: Stage, answer: Any, expected: dict[str, Any]
) -> None:
    """Nobody is asked a second time by the program."""
    stage.answer("tool:pre", answer)
    stage.ask_person("Allow")
    said = await tell(connect(stage), "PreToolUse", **describe_call(command="ls"))
    inner = dict(said.get("hookSpecificOutput", {}))
    assert inner.pop("hookEventName", "PreToolUse") == "PreToolUse"
    if "permissionDecision" in expected and "permissionDecisionReason" not in expected:
        inner.pop("permissionDecisionReason", None)
    assert inner == expected


def test_what_is_not_an_answer_of_a_hook_has_a_form_too() -> None:
    """An exit code blocks, a deferred call says what is asked, a notice has nothing to block."""
    said = read_answer("PreToolUse", Reply(code=2, stderr="not JSON"))
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert read_answer("PreToolUse", Reply()) == {}
    assert refuse("Notification", {}, "why") == {}
    said = defer("PreToolUse", Verdict(decision="defer", reason="Delete it?"))
    assert said["hookSpecificOutput"]["permissionDecision"] == "defer"
    assert said["hookSpecificOutput"]["permissionDecisionReason"] == "Delete it?"


async def test_an_output_keeps_the_shape_of_its_tool(stage: Stage) -> None:
    """The program ignores one of any other shape, and would show the secret."""
    stage.answer("tool:post", change_output("KEY=[hidden]"))
    said = await tell(connect(stage), "PostToolUse", **SECRET)
    assert said["hookSpecificOutput"]["updatedToolOutput"]["stdout"] == "KEY=[hidden]"


async def test_what_the_adapter_cannot_do_is_refused(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of our own blocks the call, keeps the prompt back and withholds the result."""
    connection = connect(stage)

    def break_down(_: str) -> Any:
        raise OSError("no space left")

    monkeypatch.setattr(connection, "find_session", break_down)
    call = await tell(connection, "PreToolUse", **describe_call(command="ls"))
    assert call["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "no space left" in call["hookSpecificOutput"]["permissionDecisionReason"]
    assert (await tell(connection, "UserPromptSubmit", prompt="Hi"))["decision"] == "block"
    shown = await tell(connection, "PostToolUse", **SECRET)
    assert "KEY=1" not in str(shown)
    assert "no space left" in shown["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    assert await tell(connection, "Stop") == {}


@pytest.mark.parametrize("payload", [None, [], {}, {"session_id": "s"}, {**BASE, "tool_name": 1}])
async def test_a_call_that_cannot_be_read_is_refused(stage: Stage, payload: Any) -> None:
    """Nothing runs because we did not understand it."""
    said = dict(await connect(stage).listen("PreToolUse")(payload, None, NO_CONTEXT))
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_without_asyncio_calls_are_refused(stage: Stage) -> None:
    """The SDK runs on trio as well, and our hooks do not."""
    payload: Any = {**BASE, **describe_call(command="ls"), "hook_event_name": "PreToolUse"}
    answering: Any = connect(stage).listen("PreToolUse")(payload, None, NO_CONTEXT)
    with pytest.raises(StopIteration) as done:
        answering.send(None)
    assert done.value.value["hookSpecificOutput"]["permissionDecision"] == "deny"


async def test_what_is_not_judged_in_time_is_denied(stage: Stage) -> None:
    """Before the program gives up by itself, and the trail says so."""

    async def hang(event: str, data: object) -> HookResult:
        await asyncio.Event().wait()
        return HookResult()

    stage.registry.register("tool:pre", hang, name="slow", timeout=None)
    said = await tell(connect(stage, 0.3), "PreToolUse", **describe_call(command="ls"))
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "0.3 seconds" in said["hookSpecificOutput"]["permissionDecisionReason"]
    assert stage.of_type("tool_started") == []
    assert any("0.3 seconds" in str(one) for one in stage.audit.records)


async def test_tools_of_a_server_have_plain_names_if_asked_for(stage: Stage) -> None:
    """Of that server only; the program's own tools keep theirs."""
    stage.listen("tool:pre")
    connection = connect(stage, plain_servers=["mine"])
    for number, name in enumerate(("mcp__mine__note", "mcp__other__note", "Bash")):
        await tell(connection, "PreToolUse", **describe_call(name, number, text="a"))
    assert [data["tool_name"] for _, data in stage.heard.events] == [
        "note",
        "mcp__other__note",
        "Bash",
    ]


async def test_each_session_of_the_program_is_one_of_ours(stage: Stage) -> None:
    """Two ids, two sessions; one that was opened early gets the first id."""
    connection = connect(stage)
    early = connection.open_early()
    await tell(connection, "UserPromptSubmit", prompt="One")
    await tell(connection, "UserPromptSubmit", prompt="Two")
    await tell(connection, "UserPromptSubmit", prompt="Three", session_id="s2")
    assert connection.find_session("s1") is early
    assert len(stage.of_type("session_started")) == 2
    await connection.end("complete")
    assert len(stage.of_type("session_ended")) == 2


async def test_sessions_end_when_nobody_holds_the_connection(stage: Stage) -> None:
    """Whichever thread noticed it, with those of sub-agents first; a program that exits waits."""
    connection = connect(stage)
    await tell(connection, "UserPromptSubmit", prompt="One")
    await tell(connection, "SubagentStart", agent_id="a1", agent_type="tester")
    await asyncio.to_thread(end_soon, connection.sessions)
    await asyncio.to_thread(wait_for_ends)
    ended = stage.of_type("session_ended")
    assert [one["body"]["reason"] for one in ended] == ["complete", "complete"]


async def run_by_options(stage: Stage, script: list[Step], **more: Any) -> Ran:
    """The SDK's own `query`, with nothing of ours but options."""
    driver, ran = ClaudeDriver(), Ran()
    given = more.pop("given", None) or amplifier_options(stage.hooks, plain_servers=[SERVER])
    async with driver.serve(script, ran) as url:
        options = replace(driver.build_options(url, ran, **given), **more)
        async for message in query(prompt="Do it.", options=options):
            if isinstance(message, ResultMessage):
                ran.answer = message.result or ""
    return ran


async def test_options_are_enough_for_tool_calls(stage: Stage) -> None:
    """Denied and allowed, and the answer is told."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("prompt:answer")
    script = use(call("note", 1, text="a"), call("wipe", 2, path="/"))
    ran = await run_by_options(stage, script)
    assert ran.calls == [("note", {"text": "a"})]
    assert "against the rules" in ran.requests[-1]
    assert stage.heard.names == ["prompt:answer"]


async def test_a_session_ends_with_its_connection(stage: Stage) -> None:
    """Nobody tells of the end, but nobody holds the callbacks any more."""
    await run_by_options(stage, [DONE])
    gc.collect()
    await wait_for(lambda: bool(stage.of_type("session_ended")))
    assert len(stage.of_type("session_started")) == 1


async def test_a_session_ends_although_the_program_stops_at_once(stage: Stage) -> None:
    """Its loop is gone by then."""
    await asyncio.to_thread(lambda: asyncio.run(run_by_options(stage, [DONE])))
    await wait_for(lambda: bool(stage.of_type("session_ended")))
    assert [one["body"]["reason"] for one in stage.of_type("session_ended")] == ["complete"]


async def test_a_client_has_one_session_for_all_its_turns(stage: Stage) -> None:
    """Two prompts, one session."""
    stage.listen("session:start", "prompt:submit")
    driver, ran = ClaudeDriver(), Ran()
    async with driver.serve([DONE, DONE], ran) as url:
        given = amplifier_options(stage.hooks)
        async with ClaudeSDKClient(driver.build_options(url, ran, **given)) as client:
            for prompt in ("One.", "Two."):
                await client.query(prompt)
                async for _ in client.receive_response():
                    pass
    assert stage.heard.names == ["session:start", "prompt:submit", "prompt:submit"]


async def test_the_rules_of_the_person_stay_in_force(stage: Stage) -> None:
    """Hooks that say continue allow nothing that the program would have refused."""
    stage.answer("tool:pre", HookResult())
    ran = await run_by_options(stage, use(call("wipe", path="/")), allowed_tools=[])
    assert ran.calls == []


async def test_another_hook_that_changes_the_call_is_noticed(stage: Stage) -> None:
    """The program runs all hooks at once, so this can only be recorded."""

    async def change(*_: Any) -> Any:
        changed = {"hookEventName": "PreToolUse", "updatedInput": {"text": "other"}}
        return {"hookSpecificOutput": changed}

    also: Any = {"PreToolUse": [HookMatcher(hooks=[change])]}
    given = amplifier_options(stage.hooks, also=also, plain_servers=[SERVER])
    ran = await run_by_options(stage, use(call("note", text="mine")), given=given)
    assert ran.calls == [("note", {"text": "other"})]
    assert len(stage.of_type("digest_mismatch")) == 1


async def test_output_of_a_tool_of_the_program_is_changed(stage: Stage) -> None:
    """What its shell prints is in the shape that it takes."""

    def hide(data: dict[str, Any]) -> HookResult:
        shown = data["tool_result"]["output"]
        result = {**data["tool_result"], "output": {**shown, "stdout": "[hidden]"}}
        return HookResult(action="modify", data={**data, "tool_result": result})

    stage.answer("tool:post", hide, tool="Bash")
    script = use(call("Bash", command="echo 4711", description="print"))
    ran = await run_by_options(stage, script, allowed_tools=["Bash"])
    assert "[hidden]" in ran.requests[-1]
    assert '"content": "4711' not in ran.requests[-1]


def test_each_connection_gets_its_own_callbacks(stage: Stage) -> None:
    """As the SDK reads the options once for each; who copies them shares one set."""
    made = amplifier_hooks(stage.hooks)
    first, second = dict(made.items()), dict(made.items())
    assert first["PreToolUse"][0].hooks != second["PreToolUse"][0].hooks
    copied = {**made}
    assert copied["PreToolUse"][0].hooks == made["PreToolUse"][0].hooks


def test_every_callback_blocks_when_it_fails(stage: Stage) -> None:
    """And has the time that was chosen."""
    for matchers in amplifier_hooks(stage.hooks, timeout=30).values():
        assert [(one.matcher, one.on_failure, one.timeout) for one in matchers] == [
            (None, "block", 30)
        ]


CALL = ToolUseBlock(id="toolu_1", name="Bash", input={})
NOTICE = SystemMessage(subtype="status", data={})


def say(*blocks: Any, parent: str | None = None) -> AssistantMessage:
    """A message of the agent."""
    content = [TextBlock(text=one) if isinstance(one, str) else one for one in blocks]
    return AssistantMessage(content=content, model="m", parent_tool_use_id=parent)


def finish(text: str | None, **more: Any) -> ResultMessage:
    """The result of a turn."""
    given: dict[str, Any] = {"subtype": "success", "is_error": False, "num_turns": 1} | more
    return ResultMessage(duration_ms=1, duration_api_ms=1, session_id="s1", result=text, **given)


async def pass_on(stage: Stage, *messages: Message) -> list[Message]:
    """What the caller gets of these messages."""

    async def send() -> AsyncIterator[Message]:
        for one in messages:
            yield one

    connection = Connection(stage.hooks, choose(60, (), "inline"), CLAUDE_AGENT_SDK)
    return [one async for one in judge_answers(send(), connection)]


async def test_what_hooks_leave_alone_is_the_same_object(stage: Stage) -> None:
    """In the same order."""
    sent = (NOTICE, say("I look.", CALL), say("Looking."), say(CALL), say("Done."), finish("Done."))
    got = await pass_on(stage, *sent)
    assert all(one is other for one, other in zip(got, sent, strict=True))


async def test_a_denied_answer_is_nowhere_in_the_messages(stage: Stage) -> None:
    """Neither in the agent's words nor in the result, in whichever form."""
    stage.answer("prompt:answer", DENY)
    secret = finish("The PIN is 4711.", structured_output={"pin": 4711})
    got = await pass_on(stage, say("The PIN"), NOTICE, say("is 4711."), secret)
    assert "4711" not in str(got)
    assert [type(one).__name__ for one in got] == [
        "AssistantMessage",
        "SystemMessage",
        "ResultMessage",
    ]
    assert "against the rules" in str(got[0])
    assert "against the rules" in str(got[-1])


async def test_a_changed_answer_is_what_the_caller_gets(stage: Stage) -> None:
    """In both places."""

    def change(data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "response": "Nearly."})

    stage.answer("prompt:answer", change)
    words, result = await pass_on(stage, say("Done."), finish("Done."))
    assert isinstance(words, AssistantMessage)
    assert words.content == [TextBlock(text="Nearly.")]
    assert isinstance(result, ResultMessage)
    assert result.result == "Nearly."


async def test_text_before_a_call_is_not_held_back(stage: Stage) -> None:
    """Nor are the words of a sub-agent: neither is the answer."""
    stage.answer("prompt:answer", DENY)
    got = await pass_on(
        stage, say("I look."), say(CALL), say("Inner.", parent="t"), finish("Done.")
    )
    assert "I look." in str(got)
    assert "Inner." in str(got)


async def test_text_that_streamed_was_read(stage: Stage) -> None:
    """Hooks are told so, and the result is still theirs."""
    stage.answer("prompt:answer", DENY)
    stage.registry.register("prompt:answer", stage.heard, priority=-5, name="recorder")
    event = StreamEvent(uuid="u", session_id="s1", event={"delta": {"text": "Done."}})
    got = await pass_on(stage, event, say("Done."), finish("Done."))
    assert stage.heard.events[0][1]["streamed"] is True
    assert "against the rules" in str(got[-1])


@pytest.mark.parametrize(
    "result", [finish(None), finish("error", is_error=True), finish("blocked", num_turns=0)]
)
async def test_no_answer_is_judged_where_there_is_none(stage: Stage, result: Any) -> None:
    """A failed turn, or a prompt that was refused."""
    stage.listen("prompt:answer")
    assert await pass_on(stage, result) == [result]
    assert stage.heard.names == []


async def test_messages_without_a_result_arrive(stage: Stage) -> None:
    """The program has died; nothing is kept back for ever."""
    assert await pass_on(stage, say("Almost")) == [say("Almost")]


AGENT = describe_call("Agent", 1, subagent_type="tester", prompt="Test it.", description="test")
INNER = {"agent_id": "a1", "agent_type": "tester"}


def connect_client(stage: Stage) -> Connection:
    """A connection behind these hooks."""
    return Connection(stage.hooks, choose(60, (), "inline"))


async def delegate(connection: Connection) -> dict[str, Any]:
    """The agent starts a sub-agent, which lists a folder."""
    answer = await tell(connection, "PreToolUse", **AGENT)
    await tell(connection, "SubagentStart", **INNER)
    call = describe_call("Bash", 2, command="ls")
    await tell(connection, "PreToolUse", **INNER, **call)
    return answer


async def test_a_sub_agent_has_a_session_below_its_agents(stage: Stage) -> None:
    """Its calls carry its own session, and the one of its agent as the parent."""
    stage.listen("tool:pre", "session:fork")
    connection = connect_client(stage)
    await delegate(connection)
    first, fork, second = (data for _, data in stage.heard.events)
    assert first["tool_name"] == "Delegate"
    assert first["tool_input"]["task"] == "Test it."
    assert fork["agent_name"] == "tester"
    assert second["parent_id"] == first["session_id"]
    assert second["session_id"] != first["session_id"]
    await tell(connection, "SubagentStop", **INNER, last_assistant_message="Tested.")
    assert len(stage.of_type("session_ended")) == 1
    await connection.end("complete")
    assert len(stage.of_type("session_ended")) == 2


async def test_its_start_is_asked_about_once(stage: Stage) -> None:
    """With the task, before the program starts it; its end is told."""
    stage.listen("agent:spawn", "agent:complete")
    connection = connect_client(stage)
    await delegate(connection)
    await tell(connection, "SubagentStop", **INNER, last_assistant_message="Tested.")
    assert stage.heard.names == ["agent:spawn", "agent:complete"]
    assert stage.heard.events[0][1]["task"] == "Test it."


async def test_a_refused_start_is_a_refused_call(stage: Stage) -> None:
    """The program does not start it."""
    stage.answer("agent:spawn", DENY)
    said = await tell(connect_client(stage), "PreToolUse", **AGENT)
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert [one["body"]["outcome"] for one in stage.of_type("tool_finished")] == ["cancelled"]


async def test_a_changed_start_is_refused(stage: Stage) -> None:
    """The program cannot be given another one, and the reason says where it can be changed."""

    def change(data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "task": "Do nothing."})

    stage.answer("agent:spawn", change)
    said = await tell(connect_client(stage), "PreToolUse", **AGENT)
    assert "tool:pre" in said["hookSpecificOutput"]["permissionDecisionReason"]


async def test_one_that_the_program_starts_by_itself_does_nothing_if_refused(stage: Stage) -> None:
    """No call announced it, so each of its calls is denied."""
    stage.answer("agent:spawn", DENY)
    connection = connect_client(stage)
    started = await tell(connection, "SubagentStart", **INNER)
    assert "against the rules" in started["hookSpecificOutput"]["additionalContext"]
    call = describe_call("Bash", 2, command="ls")
    said = await tell(connection, "PreToolUse", **INNER, **call)
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"


async def test_what_hooks_say_at_its_start_is_for_it(stage: Stage) -> None:
    """And not for the agent that started it."""
    said = HookResult(action="inject_context", context_injection="Only read.")
    stage.answer("agent:spawn", said)
    connection = connect_client(stage)
    assert "Only read." not in str(await tell(connection, "PreToolUse", **AGENT))
    started = await tell(connection, "SubagentStart", **INNER)
    assert started["hookSpecificOutput"]["additionalContext"] == "Only read."


def test_our_answer_is_there_before_the_program_gives_up() -> None:
    """Also if there is little time."""
    assert choose(LONGEST, (), "inline").seconds == LONGEST - 5
    assert choose(2, (), "inline").seconds == 1.8


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((0, (), "inline"), "more than 0 seconds"),
        ((60, "tools", "inline"), "a list of names"),
        ((60, (), "interrupt"), "a Questions object"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: Any, said: str) -> None:
    """With the value, and what would do."""
    with pytest.raises((ValueError, TypeError), match=said):
        choose(*given)


def test_people_are_asked_elsewhere_with_questions() -> None:
    """Otherwise while the call waits."""
    questions = Questions()
    assert choose(60, (), questions).asks is questions
    assert choose(60, (), "inline").asks is None
