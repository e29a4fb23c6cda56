"""What an agent tells, event by event: its turns, its calls, its questions, and what they show."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import open_log, read_records
from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion
from amplifier_core.events import (
    AGENT_COMPLETE,
    AGENT_SPAWN,
    ORCHESTRATOR_COMPLETE,
    PROMPT_COMPLETE,
    PROMPT_SUBMIT,
    PROVIDER_REQUEST,
    TOOL_ERROR,
    TOOL_POST,
    TOOL_PRE,
    USER_NOTIFICATION,
)
from amplifier_core.models import HookResult
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.reading import read_payload
from amplifier_hooks.coding_agents.dialects.writing import write_reply
from amplifier_hooks.coding_agents.sessions import transcripts
from amplifier_hooks.coding_agents.sessions.handlers import (
    MOST_BLOCKED_STOPS,
    PERMISSION,
    ask_people_elsewhere,
)
from amplifier_hooks.external.tool_calls import is_refusal, move_calls
from amplifier_hooks.external.verdicts import UNCHANGED, Verdict
from tests.hooks.coding_agents.dialects.opencode.opencode_payloads import read_event
from tests.hooks.coding_agents.dialects.recordings import make_incoming
from tests.hooks.coding_agents.sessions.agents import PAYLOADS, Agent, read, start

DENY = {"action": "deny", "reason": "no"}
DENIED = ("deny", "Operation denied by strict: no")
SAY = {"action": "inject_context", "context_injection": "mind the gap"}
NEW = {"command": "echo safe"}
ANSWERS: dict[str, tuple[str, str, str, dict[str, Any], dict[str, Any]]] = {
    "a prompt is judged": ("claude", "UserPromptSubmit", PROMPT_SUBMIT, DENY, {"said": DENIED}),
    "a prompt is rewritten": (
        "copilot",
        "userPromptSubmitted",
        PROMPT_SUBMIT,
        {"action": "modify", "data": {"prompt": "be careful", "metadata": {}}},
        {"prompt": "be careful"},
    ),
    "claude tells of no requests, so their hooks speak with the prompt": (
        "claude",
        "UserPromptSubmit",
        PROVIDER_REQUEST,
        {**SAY, "ephemeral": True},
        {"context": "mind the gap"},
    ),
    "and deny it, such as for its cost": (
        "claude",
        "UserPromptSubmit",
        PROVIDER_REQUEST,
        DENY,
        {"said": DENIED},
    ),
    "a sub-agent's start": (
        "claude",
        "SubagentStart",
        AGENT_SPAWN,
        SAY,
        {"context": "mind the gap"},
    ),
    "a permission is denied": ("claude", "PermissionRequest", PERMISSION, DENY, {"said": DENIED}),
    "a permission that nobody minds is the person's": (
        "claude",
        "PermissionRequest",
        PERMISSION,
        {},
        {"said": (None, None)},
    ),
    "a second start says nothing": (
        "claude",
        "SessionStart.compact",
        TOOL_PRE,
        DENY,
        {"said": (None, None)},
    ),
    "a call is denied": ("claude", "PreToolUse", TOOL_PRE, DENY, {"said": DENIED}),
    "a call becomes one of another tool": (
        "claude",
        "PreToolUse",
        TOOL_PRE,
        {"action": "modify", "data": {"tool_name": "Read", "tool_input": {}}},
        {"decision": "deny", "reason": "another tool ('Read')"},
    ),
    "a call gets an input that is none": (
        "claude",
        "PreToolUse",
        TOOL_PRE,
        {"action": "modify", "data": {"tool_name": "Bash", "tool_input": ["x"]}},
        {"said": ("deny", "A hook left no usable input for Bash: list")},
    ),
    "a text goes with the answer": (
        "claude",
        "PreToolUse",
        TOOL_PRE,
        SAY,
        {"context": "mind the gap"},
    ),
    "a result is changed": (
        "claude",
        "PostToolUse",
        TOOL_POST,
        {
            "action": "modify",
            "data": {"tool_result": {"success": True, "output": "hidden", "error": None}},
        },
        {"output": "hidden", "withhold": False},
    ),
    "a result is withheld": (
        "claude",
        "PostToolUse",
        TOOL_POST,
        DENY,
        {"output": "Operation denied by strict: no", "withhold": True},
    ),
    "an unchanged result": ("claude", "PostToolUse", TOOL_POST, {}, {"output": UNCHANGED}),
}
"""An agent, its event, the event of a hook, what that answers, and what the agent is told."""


@pytest.mark.parametrize("name", ANSWERS)
async def test_an_agent_is_told_what_a_hook_answers(project: Path, name: str) -> None:
    """At the event that it tells of."""
    agent, native, event, fields, expected = ANSWERS[name]
    async with start(agent, project) as one:
        one.hook(event, name="strict", **fields)
        verdict = await one.tell(native)
    told = {
        "said": (verdict.decision, verdict.reason),
        "decision": verdict.decision,
        "prompt": verdict.prompt,
        "output": verdict.output,
        "withhold": verdict.withhold,
    }
    for what, value in expected.items():
        if what in ("context", "reason"):
            assert value in str(getattr(verdict, what))
        else:
            assert told[what] == value


@pytest.mark.parametrize(
    ("agent", "native", "event", "key", "text"),
    [
        ("claude", "PreToolUse", TOOL_PRE, "tool_name", "Bash"),
        ("codex", "PreToolUse", TOOL_PRE, "tool_name", "Bash"),
        ("gemini", "BeforeTool", TOOL_PRE, "tool_name", "Bash"),
        ("gemini", "BeforeTool", TOOL_PRE, "tool_input", "out.txt"),
        ("claude", "PreToolUse", TOOL_PRE, "session_id", "s1"),
        ("claude", "UserPromptSubmit", PROMPT_SUBMIT, "prompt", ""),
        ("claude", "SubagentStart", AGENT_SPAWN, "agent_name", ""),
        ("claude", "TaskCreated", "guest:task_created", "task_id", ""),
        ("claude", "PostToolUseFailure", TOOL_ERROR, "error", "message"),
        ("gemini", "Notification", USER_NOTIFICATION, "message", "requires execution"),
    ],
)
async def test_a_hook_hears_what_an_agent_tells_under_our_names(
    project: Path, agent: str, native: str, event: str, key: str, text: str
) -> None:
    """Whatever the agent calls its shell, a hook sees Bash with a command."""
    async with start(agent, project) as one:
        heard = one.hook(event)
        verdict = await one.tell(native)
    assert verdict.decision is None
    assert len(heard) == 1
    assert heard[0][key]
    assert text in str(heard[0][key])


async def test_injections_count_per_prompt_of_the_person(project: Path) -> None:
    """A sub-agent's prompt renews no budget, else an agent could spend it all by delegating."""
    async with start("codex", project) as one:
        one.hook(PROMPT_SUBMIT, action="inject_context", context_injection="x" * 400)
        await one.tell("UserPromptSubmit")
        spent = one.guest.coordinator.injection_budget
        await one.tell("UserPromptSubmit")
        assert one.guest.coordinator.injection_budget == spent > 0
        one.guest.blocked_stops = 3
        await one.tell("UserPromptSubmit", agent_id="sub")
        assert one.guest.coordinator.injection_budget > spent
        assert one.guest.blocked_stops == 3


async def test_a_stop_is_told_with_the_last_words(project: Path) -> None:
    """Hooks of the end of a turn hear what the agent said."""
    async with start("claude", project) as one:
        ends, completes = one.hook(ORCHESTRATOR_COMPLETE), one.hook(PROMPT_COMPLETE)
        verdict = await one.tell("Stop")
    assert verdict.decision is None
    assert len(ends) == 1
    assert completes[0]["response"] == "Done."


STOP_EVENTS = [
    (agent, native, row.occasions[0].event, "deny" in row.powers)
    for agent, dialect in DIALECTS.items()
    for native, row in dialect.events.items()
    if row.occasions and row.occasions[0].event in (ORCHESTRATOR_COMPLETE, AGENT_COMPLETE)
]


@pytest.mark.parametrize(("agent", "native", "event", "can"), STOP_EVENTS)
async def test_a_denied_end_makes_the_agent_go_on_but_not_for_ever(
    project: Path, agent: str, native: str, event: str, can: bool
) -> None:
    """Codex and Gemini have no limit of their own; ours holds for all, and that is said."""
    told = read_event(native) if agent == "opencode" else make_incoming(agent, native)
    async with start(agent, project) as one:
        one.hook(event, name="strict", action="deny", reason="the tests fail")
        incoming = replace(told, cwd=str(project))
        verdicts = [await one.guest.handle(incoming) for _ in range(MOST_BLOCKED_STOPS + 2)]
        ignored = one.guest.coordinator.hooks.count()["strict"].ignored.get("deny", 0)
        one.guest.coordinator.hooks.unregister("strict")
        await one.guest.handle(incoming)  # of its own accord
        one.hook(event, name="strict", action="deny", reason="the tests fail")
        verdicts.append(await one.guest.handle(incoming))
    went_on = [(verdict.decision, verdict.reason) for verdict in verdicts]
    if not can:
        assert (set(went_on), ignored) == ({(None, None)}, len(verdicts) - 1)
        return
    first = ("deny", "the tests fail")
    assert went_on == [*[first] * MOST_BLOCKED_STOPS, (None, None), (None, None), first]
    assert ignored == 2
    read = write_reply(DIALECTS[agent], incoming, verdicts[0])
    assert "the tests fail" in read.stdout


async def test_what_it_goes_on_with_is_no_prompt_of_the_person(project: Path) -> None:
    """Copilot reports it as one, and so hooks could keep it working for ever."""
    async with start("copilot", project) as one:
        one.hook(ORCHESTRATOR_COMPLETE, name="strict", action="deny", reason="the tests fail")
        for _ in range(MOST_BLOCKED_STOPS):
            assert (await one.tell("agentStop")).decision == "deny"
            await one.tell("userPromptSubmitted", prompt="the tests fail")
        assert (await one.tell("agentStop")).decision is None
        await one.tell("userPromptSubmitted", prompt="and now?")
        assert (await one.tell("agentStop")).decision == "deny"


async def test_a_sub_agent_that_goes_on_uses_up_nothing_of_another(project: Path) -> None:
    """Each has its own limit, and so has the agent itself."""
    async with start("claude", project) as one:
        one.hook(AGENT_COMPLETE, action="deny", reason="more")
        for _ in range(MOST_BLOCKED_STOPS):
            await one.tell("SubagentStop", agent_id="a")
        assert (await one.tell("SubagentStop", agent_id="b")).decision == "deny"
        assert (await one.tell("SubagentStop", agent_id="a")).decision is None
        assert one.guest.blocked_stops == 0


async def test_how_often_it_went_on_survives_another_process(project: Path) -> None:
    """Else a hook could keep it working for ever by way of restarts."""
    async with start("claude", project) as one:
        one.hook(AGENT_COMPLETE, action="deny", reason="more")
        one.hook(ORCHESTRATOR_COMPLETE, action="deny", reason="more")
        await one.tell("SubagentStop", agent_id="a")
        await one.tell("Stop")
        state = await one.guest.read_state()
    async with start("claude", project, state=state) as other:
        assert other.guest.blocked_stops == 1
        assert other.guest.blocked_agents == {"a": 1}


async def test_a_wish_to_go_on_at_another_event_is_refused(project: Path) -> None:
    """The agent is not about to stop then."""
    async with start("claude", project) as one:
        keep = one.guest.coordinator.get_capability("session.keep_working")
        said: list[str | None] = []

        async def wish(event: str, data: object) -> HookResult:
            said.append(keep("go on"))
            return HookResult()

        one.guest.coordinator.hooks.register(PROMPT_SUBMIT, wish, 50, "wish")
        await one.tell("UserPromptSubmit")
        said.append(keep("go on"))
    assert said == ["the agent is not about to stop"] * 2


async def test_a_text_at_the_end_of_a_turn_waits_for_the_next_prompt(project: Path) -> None:
    """In every agent: what makes it go on is a denial."""
    async with start("claude", project) as one:
        one.hook(ORCHESTRATOR_COMPLETE, action="inject_context", context_injection="by the way")
        assert (await one.tell("Stop")).context == ()
        verdict = await one.tell("UserPromptSubmit")
    assert any("by the way" in text for text in verdict.context)


class Person:
    """Answers every question the same way."""

    def __init__(self, option: str) -> None:
        self.option = option
        self.asked: list[ApprovalQuestion] = []

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
        self.asked.append(question)
        return ApprovalAnswer(self.option, by="ann")


def _seat(one: Agent, option: str) -> Person:
    person = Person(option)
    one.guest.coordinator._gate.system = person
    return person


@pytest.mark.parametrize(("option", "decision"), [("Allow once", "allow"), ("Deny", "deny")])
async def test_people_elsewhere_answer_for_the_prompt(
    project: Path, option: str, decision: str
) -> None:
    """Their yes is the agent's permission, their no a denial, and they see what would run."""
    async with start("claude", project) as one:
        person = _seat(one, option)
        ask_people_elsewhere(one.guest.coordinator, "claude")
        verdict = await one.tell("PermissionRequest")
    assert verdict.decision == decision
    assert "echo ORIG" in person.asked[0].prompt


async def test_what_a_person_approved_before_the_tool_is_not_asked_again(project: Path) -> None:
    """Codex asks for permission after our hook had a person approve the call."""
    same = {"command": "echo ORIG > out.txt", "description": "need"}
    async with start("codex", project) as one:
        _seat(one, "Allow once")
        one.hook(TOOL_PRE, action="ask_user", approval_prompt="May it?")
        await one.tell("PreToolUse", tool_input=same, tool_use_id="")
        verdict = await one.tell("PermissionRequest", tool_input=same)
        other = await one.tell("PermissionRequest", tool_input={"command": "echo other"})
    assert verdict.decision == "allow"
    assert other.decision is None


HERE = Path("/p")


def _find(tool: str, given: dict[str, Any], cwd: str = "/p/a b") -> list[dict[str, Any]]:
    incoming = read("claude", "PreToolUse", tool_name=tool, tool_input=given, cwd=cwd)
    return [part["tool_input"] for part in move_calls(incoming, HERE)]


@pytest.mark.parametrize(
    ("tool", "given", "moved"),
    [
        ("Bash", {"command": "rm x"}, {"command": "cd '/p/a b' && rm x"}),
        ("Bash", {"command": ["rm", "x y"]}, {"command": "cd '/p/a b' && rm 'x y'"}),
        ("Monitor", {"command": "make"}, {"command": "cd '/p/a b' && make"}),
        ("Write", {"file_path": "x", "content": ""}, {"file_path": "/p/a b/x", "content": ""}),
        ("Write", {"file_path": "/x", "content": ""}, None),
        ("mcp__fs__write", {"path": "../x"}, {"path": "/p/a b/../x"}),
    ],
)
def test_a_call_is_judged_where_it_runs_as_well(
    tool: str, given: dict[str, Any], moved: dict[str, Any] | None
) -> None:
    """Commands, parts of a call and relative paths; in the session's own folder nothing twice."""
    found = _find(tool, given)
    assert found[-1:] == ([] if moved is None else [moved])
    for cwd in ("/p", "/p/", "/p/x/..", ""):
        assert _find(tool, given, cwd) == []


async def test_a_denial_there_is_a_denial(project: Path) -> None:
    """Of a call that nobody would mind in the folder of the session."""
    (project / ".claude").mkdir()
    guarded = [project / ".claude" / "settings.json"]
    async with start("claude", project, guarded=guarded) as one:
        given = {"command": "echo > settings.json"}
        here = await one.tell("PreToolUse", tool_input=given)
        there = await one.tell("PreToolUse", tool_input=given, cwd=str(project / ".claude"))
    assert here.decision is None
    assert there.decision == "deny"


async def test_a_hook_that_changes_every_call_changes_it_there_too(project: Path) -> None:
    """The change goes to the agent, once."""
    async with start("claude", project) as one:
        data = {"tool_name": "Bash", "tool_input": {"command": "echo safe"}, "tool_call_id": "t"}
        one.hook(TOOL_PRE, action="modify", data=data)
        verdict = await one.tell("PreToolUse", cwd=str(project / "below"))
    assert verdict.decision is None
    assert verdict.tool_input == {"command": "echo safe"}


async def test_a_changed_input_goes_to_the_agent(project: Path) -> None:
    """A hook that modifies the call changes what the agent runs."""
    async with start("claude", project) as one:
        data = {"tool_name": "Bash", "tool_input": {"command": "echo safe"}}
        one.hook(TOOL_PRE, action="modify", data=data)
        verdict = await one.tell("PreToolUse")
        after = one.hook(TOOL_POST)
        await one.tell("PostToolUse")
    assert verdict.tool_input == {"command": "echo safe"}
    assert after[0]["tool_input"] == {"command": "echo safe"}


@pytest.mark.parametrize("changes_all", [True, False])
async def test_a_call_is_judged_where_the_agent_is(project: Path, changes_all: bool) -> None:
    """A hook that would change it only there cannot; one that changes every call has done so."""
    below = project / "below"
    below.mkdir()
    async with start("claude", project) as one:
        told = []

        async def change(event: str, data: dict[str, Any]) -> HookResult:
            told.append((data["tool_call_id"], data["tool_input"]["command"]))
            if changes_all or told[-1][1].startswith("cd "):
                return HookResult(action="modify", data={**data, "tool_input": {"command": "pwd"}})
            return HookResult()

        one.guest.coordinator.hooks.register(TOOL_PRE, change, 1, "change")
        verdict = await one.tell(
            "PreToolUse", cwd=str(below), tool_use_id="t", tool_input={"command": "ls"}
        )
        one.guest.coordinator.hooks.unregister("change")
        one.hook(TOOL_PRE)
        plain = await one.tell("PreToolUse", cwd=str(below), tool_input={"command": "ls"})
    assert plain.decision is None
    there = "pwd" if changes_all else "ls"
    assert told == [("t", "ls"), ("t:there:1", f"cd {below} && {there}")]
    assert verdict.tool_input == ({"command": "pwd"} if changes_all else None)
    assert (verdict.decision == "deny") is not changes_all


async def test_an_injection_waits_where_the_agent_takes_none(project: Path) -> None:
    """Gemini ignores context before a tool, and takes it after."""
    async with start("gemini", project) as one:
        one.hook(TOOL_PRE, action="inject_context", context_injection="mind the gap")
        before = await one.tell("BeforeTool")
        after = await one.tell("AfterTool")
    assert before.context == ()
    assert any("mind the gap" in text for text in after.context)


async def test_each_file_of_a_patch_is_judged(project: Path) -> None:
    """A hook that guards files by Write and Edit sees each file of Codex's patch."""
    async with start("codex", project) as one:
        told = one.hook(TOOL_PRE)
        await one.tell("PreToolUse.apply_patch")
    assert told[0]["tool_name"] == "apply_patch"
    assert all(Path(data["tool_input"]["file_path"]).is_absolute() for data in told[1:])
    assert len(told) > 1


async def test_a_part_that_is_denied_denies_the_whole(project: Path) -> None:
    """One guarded file in a patch keeps the whole patch away."""
    async with start("codex", project) as one:

        async def guard(event: str, data: dict[str, Any]) -> HookResult:
            if data["tool_name"] in ("Write", "Edit"):
                return HookResult(action="deny", reason="guarded")
            return HookResult()

        one.guest.coordinator.hooks.register(TOOL_PRE, guard, 1, "files")
        verdict = await one.tell("PreToolUse.apply_patch")
    assert verdict.decision == "deny"
    assert "guarded" in str(verdict.reason)


async def test_a_part_cannot_be_changed(project: Path) -> None:
    """The agent is given a whole call or none: what a hook changes in a part denies it."""
    async with start("codex", project) as one:

        async def change(event: str, data: dict[str, Any]) -> HookResult:
            if data["tool_name"] in ("Write", "Edit"):
                return HookResult(action="modify", data={**data, "tool_input": {}})
            return HookResult()

        assert (await one.tell("PreToolUse.apply_patch")).decision is None
        one.guest.coordinator.hooks.register(TOOL_PRE, change, 1, "change")
        verdict = await one.tell("PreToolUse.apply_patch")
    assert verdict.decision == "deny"
    assert "a hook changed a part of this" in str(verdict.reason)


@pytest.mark.parametrize(
    ("agent", "before", "after"),
    [
        ("claude", "PreToolUse", "PostToolUse"),
        ("gemini", "BeforeTool", "AfterTool"),
        ("copilot", "preToolUse", "postToolUse"),
    ],
)
async def test_the_trail_has_both_halves_under_one_id(
    home: Path, project: Path, agent: str, before: str, after: str
) -> None:
    """A call that was started and reported is one call, also where the agent gives no id."""
    async with start(agent, project) as one:
        await one.tell(before)
        await one.tell(after)
    records = list(read_records(open_log(locate_trail({}, "s1"))))
    halves = [one for one in records if one["type"] in ("tool_started", "tool_finished")]
    assert [one["type"] for one in halves] == ["tool_started", "tool_finished"]
    assert halves[0]["body"]["id"] == halves[1]["body"]["id"]
    assert halves[1]["body"]["outcome"] == "returned"
    assert 0 <= halves[1]["body"]["ms"] < 60_000


async def test_two_calls_at_once_keep_their_injections_apart(project: Path) -> None:
    """Codex and Gemini hook several calls at the same time."""
    async with start("claude", project) as one:
        both = asyncio.Barrier(2)

        async def say(event: str, data: dict[str, Any]) -> HookResult:
            await both.wait()
            return HookResult(
                action="inject_context", context_injection=f"for {data['tool_call_id']}"
            )

        one.guest.coordinator.hooks.register(TOOL_PRE, say, 1, "say")
        first, second = await asyncio.gather(
            one.tell("PreToolUse", tool_use_id="a"), one.tell("PreToolUse", tool_use_id="b")
        )
    assert [text for text in first.context if "for a" in text]
    assert not [text for text in first.context if "for b" in text]
    assert [text for text in second.context if "for b" in text]


Body = dict[str, Any]


def bodies(type: str) -> list[Body]:
    """What the trail has of that type."""
    records = read_records(open_log(locate_trail({}, "s1")))
    return [one["body"] for one in records if one["type"] == type]


def outcomes() -> list[tuple[str, str, str]]:
    """What became known of questions: the call, the state, the evidence."""
    found = bodies("approval_outcome")
    return [(one["id"], one["state"], one["evidence"]) for one in found]


def asks(agent: Agent) -> None:
    agent.hook(TOOL_PRE, action="ask_user", approval_prompt="Really?")


def read_recorded(agent: str, name: str, **changes: Any) -> Body:
    """What an agent sent; of Cursor nothing was recorded, and OpenCode's plugin words it anew."""
    if agent in ("cursor", "opencode"):
        tool = {"cursor": "Shell", "opencode": "bash"}[agent]
        call = {"tool_name": tool, "tool_input": {"command": "ls"}, "tool_use_id": "c1"}
        result = {"tool_output": "x", "tool_response": "x"}
        return {"conversation_id": "s", "session_id": "s", **call, **result, **changes}
    return {**json.loads((PAYLOADS / agent / f"{name}.json").read_text()), **changes}


async def tell(agent: Agent, event: str, payload: Body) -> Verdict:
    """Fire an event as it is."""
    here = str(agent.guest.coordinator.get_capability("session.working_dir"))
    text = json.dumps({**payload, "cwd": here})
    return await agent.guest.handle(read_payload(DIALECTS[agent.name], event, text))


STOPS: dict[str, tuple[str, Body, str]] = {
    "a stop": ("Stop", {}, "stop"),
    "the next prompt": ("UserPromptSubmit", {}, "next prompt"),
    "the end": ("", {}, "session end"),
    "a refusal": ("PermissionDenied", {}, "the agent refused it"),
}


@pytest.mark.parametrize(
    ("event", "shown"), [("PostToolUse", "result"), ("PostToolUseFailure", "failure")]
)
async def test_a_result_shows_that_the_person_allowed_it(
    project: Path, event: str, shown: str
) -> None:
    """Nothing else does; the call has ended then, and never "started" before."""
    async with start("claude", project) as one:
        asks(one)
        await one.tell("PreToolUse", tool_use_id="c1")
        assert outcomes() == []
        await one.tell(event, tool_use_id="c1")
        await one.tell("Stop")
    assert outcomes() == [("c1", "allowed", shown)]
    assert bodies("tool_started") == []
    assert [one["id"] for one in bodies("tool_finished")] == ["c1"]


@pytest.mark.parametrize("name", STOPS)
async def test_what_has_no_result_by_then_did_not_run(project: Path, name: str) -> None:
    """It is not in the trail as a call that started."""
    event, changes, shown = STOPS[name]
    async with start("claude", project) as one:
        asks(one)
        await one.tell("PreToolUse", tool_use_id="c1")
        if event == "PermissionDenied":
            await tell(one, event, read_recorded("claude", "PreToolUse", tool_use_id="c1"))
        elif event:
            await one.tell(event, **changes)
        else:
            await one.guest.conclude()
    assert outcomes() == [("c1", "not_run", shown)]
    assert bodies("tool_started") == bodies("tool_finished") == []


async def test_a_result_that_comes_later_corrects_what_was_concluded(project: Path) -> None:
    """The trail keeps both."""
    async with start("claude", project) as one:
        asks(one)
        await one.tell("PreToolUse", tool_use_id="c1")
        await one.tell("UserPromptSubmit")
        await one.tell("PostToolUse", tool_use_id="c1")
    assert outcomes() == [("c1", "not_run", "next prompt"), ("c1", "allowed", "result")]


async def test_each_of_several_calls_has_its_own_end(project: Path) -> None:
    """A result of one says nothing of the others; a sub-agent's calls end with the sub-agent."""
    async with start("claude", project) as one:
        asks(one)
        for call, agent in (("c1", {}), ("c2", {}), ("c3", {"agent_id": "a1"})):
            await one.tell("PreToolUse", tool_use_id=call, **agent)
        await one.tell("PostToolUse", tool_use_id="c2")
        assert outcomes() == [("c2", "allowed", "result")]
        await one.tell("UserPromptSubmit")
        assert outcomes()[1:] == [("c1", "not_run", "next prompt")]
        await one.tell("SubagentStop", agent_id="a1")
    assert outcomes()[2:] == [("c3", "not_run", "stop")]


async def test_an_agent_that_starts_anew_shows_nothing_of_what_was_before(project: Path) -> None:
    """Whether it died at its prompt or while the tool ran, nobody knows."""
    async with start("claude", project) as one:
        asks(one)
        await one.tell("PreToolUse", tool_use_id="c1")
        await one.tell("SubagentStop", agent_id="")  # the agent itself may still ask its person
        assert outcomes() == []
        await one.tell("SessionStart.resume")
        await one.tell("UserPromptSubmit")
        await one.tell("Stop")
    assert outcomes() == []


async def test_what_is_asked_about_a_part_is_settled_with_the_whole(project: Path) -> None:
    """A question about where the call would run is one about the call."""
    async with start("claude", project) as one:
        one.guest.coordinator.hooks.register(
            TOOL_PRE, lambda event, data: _ask_about_parts(data), 50, "parts"
        )
        call = {"tool_use_id": "c1", "cwd": str(project.parent)}
        verdict = await one.tell("PreToolUse", **call)
        assert verdict.decision == "ask"
        assert bodies("tool_started") == []
        await one.tell("PostToolUse", **call)
    assert outcomes() == [("c1:there:1", "allowed", "result")]


def _ask_about_parts(data: Body) -> Any:
    if ":" in data["tool_call_id"]:
        return HookResult(action="ask_user", approval_prompt="There?")
    return HookResult()


async def test_a_result_that_says_refused_is_none(project: Path) -> None:
    """Copilot reports a call that it did not run as a result of that kind."""
    async with start("copilot", project) as one:
        asks(one)
        await one.tell("preToolUse")
        refused = {"resultType": "denied", "textResultForLlm": "no"}
        await one.tell("postToolUse", toolResult=refused)
    assert [found[1:] for found in outcomes()] == [("not_run", "the agent refused it")]
    assert bodies("tool_finished") == []


# Calls that were denied

PAIRS = {
    "claude": ("PreToolUse", "PostToolUse"),
    "codex": ("PreToolUse", "PostToolUse"),
    "gemini": ("BeforeTool", "AfterTool"),
    "copilot": ("preToolUse", "postToolUse"),
    "cursor": ("preToolUse", "postToolUse"),
    "opencode": ("tool.execute.before", "tool.execute.after"),
}


@pytest.mark.parametrize("agent", PAIRS)
async def test_a_result_of_a_denied_call_is_recorded_as_what_it_is(
    project: Path, agent: str
) -> None:
    """Whatever stands above us there: the agent shows that it ran."""
    before, after = PAIRS[agent]
    async with start(agent, project) as one:
        one.hook(TOOL_PRE, name="strict", action="deny", reason="never")
        verdict = await tell(one, before, read_recorded(agent, before))
        assert verdict.decision == "deny"
        assert bodies("denial_contradicted") == []
        for _ in range(2):
            await tell(one, after, read_recorded(agent, after))
    (body,) = bodies("denial_contradicted")
    assert (body["tool"], body["agent"], body["shown"]) == ("Bash", agent, "result")
    assert body["reason"] == "Operation denied by strict: never"
    assert body["success"] is True


async def test_a_failure_that_is_our_own_denial_is_no_contradiction(project: Path) -> None:
    """Some agents report a blocked call as one that failed; any other failure shows that it ran."""
    async with start("claude", project) as one:
        one.hook(TOOL_PRE, name="strict", action="deny", reason="never")
        said = str((await one.tell("PreToolUse", tool_use_id="c1")).reason)
        await one.tell("PostToolUseFailure", tool_use_id="c1", error=f"hook error: {said}")
        assert bodies("denial_contradicted") == bodies("tool_finished") == []
        await one.tell("PostToolUseFailure", tool_use_id="c1", error="Exit code 3")
    assert [one["shown"] for one in bodies("denial_contradicted")] == ["failure"]


async def test_a_call_that_was_allowed_later_is_not_the_denied_one(project: Path) -> None:
    """Where calls have no ids, an allowed one with the same input comes first."""
    async with start("gemini", project) as one:
        remove = one.guest.coordinator.hooks.register(
            TOOL_PRE, lambda event, data: {"action": "deny", "reason": "not yet"}, 50, "strict"
        )
        await one.tell("BeforeTool")
        remove()
        await one.tell("BeforeTool")
        await one.tell("AfterTool")
    assert bodies("denial_contradicted") == []


async def test_what_was_denied_because_time_was_over_is_kept_in_mind_too(project: Path) -> None:
    """The agent may have gone on without us."""
    async with start("claude", project) as one:
        asks(one)
        one.hook(TOOL_PRE, name="slow")

        async def hang(event: str, data: Body) -> None:
            await asyncio.sleep(30)

        one.guest.coordinator.hooks.register(TOOL_PRE, hang, 90, "hanging")
        incoming = read("claude", "PreToolUse", tool_use_id="c1", cwd=str(project))
        verdict = await one.guest.handle(incoming, seconds=0.2)
        assert verdict.decision == "deny"
        await one.tell("PostToolUse", tool_use_id="c1")
    assert len(bodies("denial_contradicted")) == 1


def test_only_what_says_so_is_a_refusal() -> None:
    """An error of a tool is none."""
    assert is_refusal({"type": "denied", "message": ""})
    assert not is_refusal({"type": "ToolError", "message": "denied"})
    assert not is_refusal(None)


# What the transcript shows


def write_transcript(path: Path, *, error: bool) -> None:
    """As Claude Code keeps a conversation, with a line that is still being written."""
    part = {"type": "tool_result", "tool_use_id": "c1", "content": "ok", "is_error": error}
    lines = ["{}", json.dumps({"type": "user", "message": {"role": "user", "content": [part]}})]
    path.write_text(
        "\n".join([*lines, '{"type":"user","message":{"content":[{"type":"tool_result"'])
    )


@pytest.mark.parametrize("error", [True, False])
async def test_a_result_of_a_denied_call_in_the_transcript_contradicts(
    home: Path, tmp_path: Path, error: bool
) -> None:
    """A mod within Claude Code hands one to the model, and no hook is told; each is said once."""
    transcript = tmp_path / "transcript.jsonl"
    write_transcript(transcript, error=error)
    async with start("claude", tmp_path / "project") as agent:
        agent.hook(TOOL_PRE, action="deny", reason="no")
        await agent.tell("PreToolUse", tool_use_id="c1", transcript_path=str(transcript))
        for _ in range(2):
            await agent.tell("Stop", transcript_path=str(transcript))
    found = bodies("denial_contradicted")
    assert [one["shown"] for one in found] == ([] if error else ["transcript"])


async def test_a_result_that_is_written_after_the_stop_is_found(home: Path, tmp_path: Path) -> None:
    """Claude Code calls the hook first, and writes the end of the conversation then."""
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text("{}")
    async with start("claude", tmp_path / "project") as agent:
        agent.hook(TOOL_PRE, action="deny", reason="no")
        await agent.tell("PreToolUse", tool_use_id="c1", transcript_path=str(transcript))
        stopping = asyncio.create_task(agent.tell("Stop", transcript_path=str(transcript)))
        await asyncio.sleep(0.2)
        write_transcript(transcript, error=False)
        await stopping
    assert [one["shown"] for one in bodies("denial_contradicted")] == ["transcript"]


def test_a_transcript_that_cannot_be_read_shows_nothing(tmp_path: Path) -> None:
    """One that is not there, a folder, and lines of another kind."""
    assert transcripts.read_results(tmp_path / "none") == {}
    assert transcripts.read_results(tmp_path) == {}
    odd = tmp_path / "odd"
    odd.write_text('"tool_result"\n{"message": 5, "x": "tool_result"}\n')
    assert transcripts.read_results(odd) == {}


async def test_an_event_of_any_name_is_judged(project: Path) -> None:
    """The names of an agent's own events are not known beforehand."""
    async with start("claude", project) as one:
        told = one.hook("guest:anything", name="strict", action="deny", reason="no")
        outcome = await one.guest.external.judge("guest:anything", {"x": 1})
    assert not outcome.allowed
    assert told[0]["x"] == 1
