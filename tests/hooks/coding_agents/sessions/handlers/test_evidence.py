"""What an agent's events show of its calls."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import open_log, read_records
from amplifier_core.events import TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.reading import read_payload
from amplifier_hooks.coding_agents.dialects.verdict import Verdict
from amplifier_hooks.coding_agents.sessions import transcripts
from amplifier_hooks.coding_agents.sessions.handlers import evidence
from tests.hooks.coding_agents.sessions.agents import PAYLOADS, Agent, read, start

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


async def test_a_stop_of_a_sub_agent_that_has_no_name_shows_nothing(project: Path) -> None:
    """The agent itself may still ask its person."""
    async with start("claude", project) as one:
        asks(one)
        await one.tell("PreToolUse", tool_use_id="c1")
        await one.tell("SubagentStop", agent_id="")
        assert outcomes() == []


async def test_an_agent_that_starts_anew_shows_nothing_of_what_was_before(project: Path) -> None:
    """Whether it died at its prompt or while the tool ran, nobody knows."""
    async with start("claude", project) as one:
        asks(one)
        await one.tell("PreToolUse", tool_use_id="c1")
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
    assert evidence.is_refusal({"type": "denied", "message": ""})
    assert not evidence.is_refusal({"type": "ToolError", "message": "denied"})
    assert not evidence.is_refusal(None)


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
