"""Requests and tool calls of a crew."""

from __future__ import annotations

import asyncio
import copy
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("crewai")

from crewai import Crew
from crewai.hooks import HookAborted, InterceptionPoint, ToolCallHookContext
from crewai.hooks.dispatch import register_scoped
from crewai.tools import tool
from pydantic import BaseModel

from amplifier_core import HookResult
from amplifier_core.approval import ApprovalAnswer
from amplifier_hooks.external.messages import Placed
from amplifier_hooks.external.verdicts import ReplyVerdict
from amplifier_hooks.frameworks.crewai import amplified
from amplifier_hooks.frameworks.crewai.calls import (
    GovernedCall,
    ToolCalls,
    describe_message,
    explain,
    finish,
    govern_model,
    is_being_judged,
    list_messages,
    list_tools,
    place_back,
    read_calls,
    read_reply,
    write_reply,
)
from amplifier_hooks.frameworks.crewai.kickoffs import Kickoffs
from tests.adapters.drivers.crewai import HELPER, ScriptedModel
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.stage import DONE, Stage, ask, call, change_input, change_output, use
from tests.hooks.frameworks.crewai.crews import make_agent, make_crew, make_text_crew


async def test_the_stored_conversation_stays_as_it_was(stage: Stage) -> None:
    """A change of one request is in that request only."""

    def hide(data: dict[str, Any]) -> HookResult:
        if data["iteration"] != 1:
            return HookResult()
        messages = [{**one, "content": "[hidden]"} for one in data["messages"]]
        return HookResult(action="modify", data={**data, "messages": messages})

    stage.answer("provider:request", hide)
    ran = Ran()

    def kick() -> None:
        with amplified(stage.hooks):
            make_crew(use(call("note", text="a")), ran, "Buy milk.").kickoff()

    await asyncio.to_thread(kick)
    assert "Buy milk." not in ran.requests[0]
    assert "Buy milk." in ran.requests[1]


async def test_a_model_that_agents_share_is_judged_for_each(stage: Stage) -> None:
    """By the agent that asks."""
    stage.listen("provider:request")
    ran = Ran()
    first, second = make_crew([DONE, DONE], ran), make_crew([], ran)
    second.agents[0].llm = first.agents[0].llm

    def kick() -> None:
        with amplified(stage.hooks):
            first.kickoff()
            second.kickoff()

    await asyncio.to_thread(kick)
    assert len({data["session_id"] for _, data in stage.heard.events}) == 2


async def test_a_model_without_function_calling_is_judged(stage: Stage) -> None:
    """It writes its calls as text, and hooks see that text."""
    stage.listen("provider:response", "tool:pre")
    ran = Ran()

    def kick() -> None:
        with amplified(stage.hooks):
            make_text_crew(use(call("note", text="a")), ran).kickoff()

    await asyncio.to_thread(kick)
    assert stage.heard.names == ["provider:response", "tool:pre", "provider:response"]
    assert "Action: note" in str(stage.heard.events[0][1]["response"])


async def test_a_copy_of_a_model_calls_itself(stage: Stage) -> None:
    """Not the one that it was copied from."""

    def work() -> None:
        kickoffs = Kickoffs(stage.hooks)
        first = ScriptedModel.make([DONE], Ran())
        assert govern_model(first, kickoffs)
        for made in (copy.copy(first), copy.deepcopy(first)):
            govern_model(made, kickoffs)
            found = made.__dict__["call"]
            assert isinstance(found, GovernedCall)
            assert found.llm is made

    await asyncio.to_thread(work)


async def test_a_model_is_governed_once(stage: Stage) -> None:
    """However often it is met."""

    def work() -> None:
        kickoffs, llm = Kickoffs(stage.hooks), ScriptedModel.make([DONE], Ran())
        govern_model(llm, kickoffs)
        found = llm.__dict__["call"]
        govern_model(llm, kickoffs)
        assert llm.__dict__["call"] is found
        assert not govern_model("gpt", kickoffs)
        assert not is_being_judged(llm)
        assert llm.call("Hi") == DONE  # outside of any kickoff: as without hooks
        assert "call" not in llm.model_dump()

    await asyncio.to_thread(work)
    assert stage.audit.records == []


def test_a_reply_that_cannot_be_used_stops_the_run() -> None:
    """Rather than the one that a hook wanted changed."""
    with pytest.raises(HookAborted, match="cannot be used"):
        finish([], ReplyVerdict(True, calls=[]))
    with pytest.raises(HookAborted, match="no"):
        finish("Done.", ReplyVerdict(False, "no"))
    answer = ["same"]
    assert finish(answer, ReplyVerdict(True)) is answer


async def test_hooks_see_what_the_model_used(stage: Stage) -> None:
    """The tokens of this call, not those of all calls of the object."""
    stage.listen("provider:response")

    class Counting(ScriptedModel):
        def call(self, messages: Any, *arguments: Any, **more: Any) -> Any:
            counts = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
            self._track_token_usage_internal(counts)
            return super().call(messages, *arguments, **more)

    ran = Ran()
    crew = make_crew([], ran)
    crew.agents[0].llm = Counting.make(use(call("note", text="a")), ran)

    def kick() -> None:
        with amplified(stage.hooks):
            crew.kickoff()

    await asyncio.to_thread(kick)
    assert [data["usage"]["total_tokens"] for _, data in stage.heard.events] == [12, 12]


async def test_agents_without_a_crew_have_a_session_each(stage: Stage) -> None:
    """Their models are governed when they are first used."""
    stage.listen("provider:request", "provider:response")
    ran = Ran()

    def kick() -> None:
        with amplified(stage.hooks):
            for name in ("one", "two"):
                make_agent(name, [DONE], ran).kickoff("Hi")

    await asyncio.to_thread(kick)
    assert stage.heard.names == ["provider:request", "provider:response"] * 2
    assert len({data["session_id"] for _, data in stage.heard.events}) == 2


CALL = {"id": "c1", "type": "function", "function": {"name": "note", "arguments": '{"a": 1}'}}


class Form(BaseModel):
    """A filled form."""

    total: int


def test_a_text_is_a_message_of_the_user() -> None:
    """As CrewAI takes it."""
    assert list_messages("Hi") == [{"role": "user", "content": "Hi"}]


def test_a_message_is_described_with_its_calls() -> None:
    """Hooks see names and arguments, not JSON inside of JSON."""
    plain = describe_message({"role": "assistant", "content": None, "tool_calls": [CALL]})
    wanted = [{"id": "c1", "name": "note", "arguments": {"a": 1}}]
    assert plain == {"role": "assistant", "content": "", "tool_calls": wanted}
    result = {"role": "tool", "content": "ok", "tool_call_id": "c1", "name": "note"}
    assert describe_message({**result, "cache_breakpoint": True}) == result


def test_messages_that_hooks_left_alone_go_back_as_they_are() -> None:
    """With everything that only CrewAI knows; a changed one keeps the rest of it."""
    own: list[Any] = [{"role": "user", "content": "a", "cache_breakpoint": True}]
    changed = Placed(0, {"role": "user", "content": "b"})
    added = Placed(None, {"role": "system", "content": "c"})
    assert place_back(own, [Placed(0)])[0] is own[0]
    assert place_back(own, [changed, added]) == [
        {"role": "user", "content": "b", "cache_breakpoint": True},
        {"role": "system", "content": "c"},
    ]


def test_tools_have_names() -> None:
    """In either form."""
    assert list_tools([{"function": {"name": "note"}}, {"name": "wipe"}]) == ["note", "wipe"]
    assert list_tools(None) == []


def test_calls_of_every_provider_are_read() -> None:
    """OpenAI's and Anthropic's objects, and arguments that are no JSON."""
    function = SimpleNamespace(name="note", arguments="{}")
    block = SimpleNamespace(id="c3", name="wipe", input={"path": "/"})
    assert read_calls([SimpleNamespace(id="c2", function=function)]) == [
        {"id": "c2", "name": "note", "arguments": {}}
    ]
    assert read_calls([block]) == [{"id": "c3", "name": "wipe", "arguments": {"path": "/"}}]
    broken = {**CALL, "function": {"name": "note", "arguments": "{"}}
    assert read_calls([broken])[0]["arguments"] == {"arguments": "{"}
    assert read_calls("text") == []


def test_a_reply_is_a_text_a_form_or_calls() -> None:
    """Each as hooks see it."""
    assert read_reply("Done.", "m", {}, 3).text == "Done."
    assert read_reply(Form(total=3), "m", {}, 3).text == '{"total":3}'
    reply = read_reply([CALL], "m", {"total_tokens": 5}, 3)
    assert (reply.text, reply.usage, reply.duration_ms) == ("", {"total_tokens": 5}, 3)
    assert reply.calls[0]["name"] == "note"


def test_a_changed_reply_is_in_the_form_of_the_first() -> None:
    """So that CrewAI goes on with it."""
    assert write_reply("Done.", ReplyVerdict(True, text="Nearly.")) == "Nearly."
    assert write_reply(Form(total=3), ReplyVerdict(True, text='{"total": 4}')) == Form(total=4)
    calls = [{"id": "c1", "name": "note", "arguments": {"a": 2}}]
    written = write_reply([CALL], ReplyVerdict(True, calls=calls))
    assert read_calls(written) == calls
    assert write_reply([CALL], ReplyVerdict(True, text="No.", calls=[])) == "No."


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ([CALL], ReplyVerdict(True, text="and a text")),
        ("text", ReplyVerdict(True, text="both", calls=[{"id": "c", "name": "n"}])),
        ([CALL], ReplyVerdict(True, calls=[])),
        (Form(total=3), ReplyVerdict(True, text="no form")),
    ],
)
def test_a_reply_that_crewai_has_not_is_refused(answer: Any, verdict: ReplyVerdict) -> None:
    """A text beside calls, nothing at all, or a form that is none."""
    with pytest.raises(ValueError):
        write_reply(answer, verdict)


DENY = HookResult(action="deny", reason="against the rules")


async def kick(stage: Stage, crew: Crew) -> Any:
    """Kick it off behind hooks."""

    def work() -> Any:
        with amplified(stage.hooks):
            return crew.kickoff()

    return await asyncio.to_thread(work)


async def test_calls_that_a_model_writes_as_text_are_judged(stage: Stage) -> None:
    """The other way in which CrewAI runs tools."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.answer("tool:pre", change_input(text="oat milk"), tool="note", name="changer")
    stage.answer("tool:post", change_output("noted [removed]"), tool="note", name="cleaner")
    ran = Ran()
    script: list[Step] = [[call("note", 1, text="milk")], [call("wipe", 2, path="/")], "All done."]
    await kick(stage, make_text_crew(script, ran))
    assert ran.calls == [("note", {"text": "oat milk"})]
    assert "noted [removed]" in ran.requests[1]
    assert "against the rules" in ran.requests[2]


async def test_arguments_for_a_call_that_has_none_are_refused(stage: Stage) -> None:
    """CrewAI would run the tool without them in one of its two ways."""
    ran = Ran()

    @tool("now")
    def now(zone: str = "UTC") -> str:
        """Tell the time."""
        ran.calls.append(("now", {"zone": zone}))
        return "noon"

    stage.answer("tool:pre", change_input(zone="CET"))
    crew = make_crew(use(call("now")), ran)
    crew.agents[0].tools.append(now)
    await kick(stage, crew)
    assert ran.calls == []
    assert "does not take over" in ran.requests[-1]


async def test_what_the_person_said_stands_before_the_result(stage: Stage) -> None:
    """Where the model reads it."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person(ApprovalAnswer("Allow", comment="only this once"))
    ran = Ran()
    await kick(stage, make_crew(use(call("wipe", path="/x")), ran))
    assert "only this once" in ran.requests[-1]
    assert "wiped /x" in ran.requests[-1]


async def test_a_coworker_has_a_session_below(stage: Stage) -> None:
    """Its start is asked about with its task, and its end is told."""
    stage.listen("tool:pre", "agent:spawn", "agent:complete")
    ran = Ran()
    crew = make_crew(use(call(HELPER, task="Clean up.")), ran)
    crew.agents[0].allow_delegation = True
    crew.agents.append(make_agent(HELPER, use(call("wipe", 7, path="/x")), ran))
    await kick(stage, crew)
    assert stage.heard.names == ["tool:pre", "agent:spawn", "tool:pre", "agent:complete"]
    outer, spawn, inner, done = (data for _, data in stage.heard.events)
    assert (spawn["agent_name"], spawn["task"]) == (HELPER, "Clean up.")
    assert inner["parent_id"] == outer["session_id"]
    assert "All done." in str(done["result"])
    assert len(stage.of_type("session_ended")) == 2


@pytest.mark.parametrize("answered", ["deny", "modify"])
async def test_a_refused_coworker_does_not_start(stage: Stage, answered: str) -> None:
    """Neither one whose start a hook wants otherwise: the model reads why."""

    def decide(data: dict[str, Any]) -> HookResult:
        if answered == "deny":
            return DENY
        return HookResult(action="modify", data={**data, "task": "Do nothing."})

    stage.answer("agent:spawn", decide)
    ran = Ran()
    crew = make_crew(use(call(HELPER, task="Clean up.")), ran)
    crew.agents[0].allow_delegation = True
    crew.agents.append(make_agent(HELPER, use(call("wipe", 7, path="/x")), ran))
    await kick(stage, crew)
    assert ran.calls == []
    wanted = "against the rules" if answered == "deny" else "cannot be done"
    assert wanted in ran.requests[-1]
    assert [one["body"]["outcome"] for one in stage.of_type("tool_finished")] == ["cancelled"]


async def test_a_call_that_another_hook_refuses_has_no_result(stage: Stage) -> None:
    """CrewAI tells of it as of one that ran."""

    def refuse(_: Any) -> None:
        raise HookAborted("not by me")

    stage.listen("tool:post", "tool:error")
    ran = Ran()
    crew = make_crew(use(call("wipe", path="/x")), ran)

    def work() -> None:
        with amplified(stage.hooks):
            register_scoped(InterceptionPoint.PRE_TOOL_CALL, refuse)
            crew.kickoff()

    await asyncio.to_thread(work)
    assert ran.calls == []
    assert stage.heard.names == []
    assert [one["body"]["outcome"] for one in stage.of_type("tool_finished")] == ["cancelled"]


async def test_a_question_of_a_coworker_ends_with_the_block(stage: Stage) -> None:
    """Its session ends with that of the crew, and its call does not run."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def think(_: object) -> str:
        loop.call_soon_threadsafe(asked.set)
        await asyncio.Event().wait()
        return "Allow"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person(think)
    ran = Ran()
    crew = make_crew(use(call(HELPER, task="Clean up.")), ran)
    crew.agents[0].allow_delegation = True
    crew.agents.append(make_agent(HELPER, use(call("wipe", 7, path="/x")), ran))

    async def work() -> None:
        with amplified(stage.hooks):
            await crew.akickoff()

    waiting = asyncio.create_task(work())
    await asyncio.wait_for(asked.wait(), 60)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ran.calls == []
    assert [one["body"]["reason"] for one in stage.of_type("session_ended")] == ["user_exit"] * 2


def make_context(**given: Any) -> ToolCallHookContext:
    """A call, without a crew around it."""
    nothing: Any = None
    return ToolCallHookContext("wipe", given, nothing, tool_result="wiped")


async def test_our_own_failure_blocks_the_call(stage: Stage) -> None:
    """The model reads that nobody has judged it."""

    def work() -> None:
        kickoffs = Kickoffs(stage.hooks)
        calls = ToolCalls(kickoffs)
        kickoffs.has_ended = True
        context = make_context(path="/")
        with pytest.raises(HookAborted, match="not judged"):
            calls.before(context)
        assert "not judged" in str(calls.after(context))

    await asyncio.to_thread(work)


async def test_a_result_that_nobody_expected_is_withheld(stage: Stage) -> None:
    """A call that never came before is none that hooks allowed."""

    def work() -> None:
        assert "Withheld" in str(ToolCalls(Kickoffs(stage.hooks)).after(make_context(path="/")))

    await asyncio.to_thread(work)


def test_a_denial_of_ours_says_what_happened() -> None:
    """So that somebody can mend it."""
    assert "no space left" in explain(OSError("no space left"))
