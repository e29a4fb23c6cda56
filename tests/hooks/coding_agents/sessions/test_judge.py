"""From what a hook was given to what it is to answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import open_log, read_records
from amplifier_core.errors import AmplifierError
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.coding_agents.daemon.protocol import Request, Response
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.sessions.judge import AgentJudge, Repeats, _get_limit
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import Verdict
from tests.hooks.coding_agents.sessions.agents import PAYLOADS, make_project, record


def tell(command: str, session: str = "s") -> Incoming:
    """An agent wants to run a command."""
    data = {"tool_name": "Bash", "tool_input": {"command": command}}
    return Incoming("tool:pre", data, "preToolUse", session)


class Judge:
    """Counts what it judges."""

    def __init__(self, verdict: Verdict | None = None, error: Exception | None = None) -> None:
        self.calls = 0
        self._verdict = verdict or Verdict(
            decision="deny", reason="no", context=("x",), notes=("y",)
        )
        self._error = error

    async def judge(self) -> Verdict:
        self.calls += 1
        await asyncio.sleep(0)
        if self._error is not None:
            raise self._error
        return self._verdict


async def test_the_second_line_gets_the_verdict_without_its_texts() -> None:
    """One after the other, or while the first is still judged; a third question is another call."""
    judge, known = Judge(), Repeats()
    first, second = await asyncio.gather(
        known.judge_once(tell("a"), "copilot", judge.judge),
        known.judge_once(tell("a"), "claude", judge.judge),
    )
    assert judge.calls == 1
    assert (first.decision, first.context, first.notes) == ("deny", ("x",), ("y",))
    assert (second.decision, second.context, second.notes) == ("deny", (), ())
    for line in ("claude", "copilot"):
        await known.judge_once(tell("a"), line, judge.judge)
    assert judge.calls == 2


@pytest.mark.parametrize("other", [tell("b"), tell("a", "t")])
async def test_another_event_is_judged_by_itself(other: Incoming) -> None:
    """Another input, or another session."""
    judge, known = Judge(), Repeats()
    await known.judge_once(tell("a"), "copilot", judge.judge)
    await known.judge_once(other, "claude", judge.judge)
    assert judge.calls == 2


async def test_an_input_that_was_changed_is_known_when_the_next_line_shows_it() -> None:
    """It is not changed once more; the original is, for programs that show that one again."""
    judge = Judge(Verdict(tool_input={"command": "b"}))
    for shown, changed in (("b", None), ("a", {"command": "b"})):
        known = Repeats()
        await known.judge_once(tell("a"), "copilot", judge.judge)
        again = await known.judge_once(tell(shown), "claude", judge.judge)
        assert again.tool_input == changed
    assert judge.calls == 2


async def test_what_failed_is_judged_again() -> None:
    """Nobody is answered from a verdict that there never was."""
    known = Repeats()
    failing: Callable[[], Awaitable[Any]] = Judge(error=RuntimeError("no")).judge
    with pytest.raises(RuntimeError):
        await known.judge_once(tell("a"), "copilot", failing)
    judge = Judge()
    await known.judge_once(tell("a"), "claude", judge.judge)
    assert judge.calls == 1


async def test_an_old_verdict_is_used_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes much later is another event; and only so many are kept."""
    judge, known = Judge(), Repeats()
    await known.judge_once(tell("a"), "copilot", judge.judge)
    monkeypatch.setattr("amplifier_hooks.coding_agents.sessions.judge._LONGEST_GAP", 0.0)
    await known.judge_once(tell("a"), "claude", judge.judge)
    assert judge.calls == 2
    monkeypatch.setattr("amplifier_hooks.coding_agents.sessions.judge._MOST", 2)
    for word in "bcd":
        await known.judge_once(tell(word), "claude", judge.judge)
    assert len(known._events) == 2


SESSION = "one"


@pytest.fixture
async def judge(home: Path) -> AsyncIterator[AgentJudge]:
    """A judge over an empty home."""
    found = AgentJudge()
    yield found
    await found.close()


async def ask(judge: AgentJudge, agent: str, name: str, folder: Path, **changes: Any) -> Response:
    """Fire a recorded event through the judge."""
    payload = json.dumps(record(agent, name, cwd=str(folder), **changes)).encode()
    return await judge.answer(Request(agent, Path(name).name.split(".")[0], payload, 60.0))


async def test_a_guarded_file_is_denied_in_the_agents_own_form(
    judge: AgentJudge, project: Path
) -> None:
    """With the real list of guarded files, for each agent with its own settings."""
    for agent, event, settings in (
        ("claude", "PreToolUse", ".claude/settings.json"),
        ("gemini", "BeforeTool", ".gemini/settings.json"),
    ):
        given = {"command": f"echo > {settings}"}
        response = await ask(judge, agent, event, project, tool_input=given)
        assert response.code == 0
        assert "deny" in response.stdout.decode()
        assert settings in response.stdout.decode()


async def test_our_own_data_is_guarded(judge: AgentJudge, project: Path, home: Path) -> None:
    """The trail, the trust and the state of sessions."""
    given = {"command": f"rm -r {home}/.local/share/amplifier/audit"}
    response = await ask(judge, "claude", "PreToolUse", project, tool_input=given)
    assert b'"deny"' in response.stdout


ASKS = """
hooks:
  - module: hooks-rules
    config:
      rules: [{name: deploys, tool: Bash, command: deploy, action: ask_user, reason: Deploy?}]
"""


@pytest.mark.parametrize(
    ("agent", "marks", "words", "decision"),
    [
        ("claude", {"HEADLESS"}, "claude -p", "deny"),
        ("claude", set(), "claude", "ask"),
        ("claude", {"HEADLESS"}, "claude -p --permission-prompt-tool mcp__x__y", "ask"),
        ("copilot", {"HEADLESS"}, "claude -p", "ask"),
    ],
)
async def test_the_model_reads_that_nobody_can_be_asked(
    judge: AgentJudge,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    agent: str,
    marks: set[str],
    words: str,
    decision: str,
) -> None:
    """`claude -p` would refuse what it is to ask about: the question waits in the store instead."""
    monkeypatch.setattr("amplifier_hooks.coding_agents.sessions.approval.SHORT_WAIT", 0.2)
    read = "amplifier_hooks.coding_agents.sessions.judge.read_host_arguments"
    monkeypatch.setattr(read, lambda client: tuple(words.split()))
    folder = make_project(home / "asking", ASKS)
    native = {"claude": "PreToolUse", "copilot": "preToolUse"}[agent]
    key = {"claude": "tool_input", "copilot": "toolArgs"}[agent]
    given = record(agent, native, cwd=str(folder), **{key: {"command": "deploy now"}})
    asked = Request(
        agent, native, json.dumps(given).encode(), 60.0, marks=frozenset(marks), client=2
    )
    answer = json.loads((await judge.answer(asked)).stdout)
    answer = answer.get("hookSpecificOutput", answer)
    begins = "Refused: nobody can be asked here. " if decision == "deny" else "Deploy?"
    assert answer["permissionDecision"] == decision
    assert answer["permissionDecisionReason"].startswith(begins)
    assert answer["permissionDecisionReason"].endswith("Deploy?")


async def test_a_session_that_goes_on_in_a_terminal_asks_its_person(
    judge: AgentJudge, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was begun by `claude -p` may be resumed by a person, and the other way round."""
    monkeypatch.setattr("amplifier_hooks.coding_agents.sessions.approval.SHORT_WAIT", 0.2)
    folder = make_project(home / "asking", ASKS)
    given = record("claude", "PreToolUse", cwd=str(folder), tool_input={"command": "deploy"})
    said = []
    for number, marks in enumerate([{"HEADLESS"}, set(), {"HTTP"}, {"HEADLESS"}]):
        payload = json.dumps({**given, "tool_use_id": f"c{number}"}).encode()
        asked = Request("claude", "PreToolUse", payload, 60.0, marks=frozenset(marks))
        answer = json.loads((await judge.answer(asked)).stdout)
        said.append(answer["hookSpecificOutput"]["permissionDecision"])
    assert said == ["deny", "ask", "ask", "deny"]


async def test_what_nobody_trusted_denies_at_gates_and_says_so(
    judge: AgentJudge, project: Path
) -> None:
    """Before the tool it is a no; at the start of the session a message."""
    (project / "amplifier.yaml").write_text("name: changed\n")
    response = await ask(judge, "claude", "PreToolUse", project)
    answer = json.loads(response.stdout)["hookSpecificOutput"]
    assert answer["permissionDecision"] == "deny"
    assert "amplifier trust" in answer["permissionDecisionReason"]
    started = await ask(judge, "claude", "SessionStart", project, session_id=SESSION)
    assert "amplifier trust" in json.loads(started.stdout)["systemMessage"]
    again = await ask(judge, "claude", "Stop", project, session_id=SESSION)
    assert again.stdout == b""  # said once: at each end of a turn it would only be noise


@pytest.mark.parametrize("payload", [b"", b"[]", b"{", b'{"session_id": 5}', b"\xff\xfe"])
async def test_rubbish_blocks_at_a_gate_and_is_a_failure_elsewhere(
    judge: AgentJudge, payload: bytes
) -> None:
    """Exit code 2 with a sentence blocks in every agent; at a stop it would do the opposite."""
    gate = await judge.answer(Request("codex", "PreToolUse", payload, 60.0))
    assert (gate.code, gate.stdout) == (2, b"")
    assert gate.stderr.startswith(b"amplifier: codex PreToolUse")
    stop = await judge.answer(Request("codex", "Stop", payload, 60.0))
    assert (stop.code, stop.stdout) == (1, b"")


async def test_an_event_that_the_agent_does_not_have_blocks(judge: AgentJudge) -> None:
    """Nobody knows what it would let through."""
    response = await judge.answer(Request("claude", "NoSuchEvent", b"{}", 60.0))
    assert response.code == 2
    assert b"claude has no event 'NoSuchEvent'" in response.stderr


async def test_an_unexpected_error_is_a_denial(
    judge: AgentJudge, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever raises, the call does not run."""

    async def fail(*args: Any) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(judge, "_judge", fail)
    response = await ask(judge, "claude", "PreToolUse", project)
    assert json.loads(response.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"

    async def refuse(*args: Any) -> None:
        raise AmplifierError("a known one")

    monkeypatch.setattr(judge, "_judge", refuse)
    response = await ask(judge, "gemini", "BeforeTool", project)
    assert "a known one" in json.loads(response.stdout)["reason"]


async def test_the_end_of_a_session_ends_it(judge: AgentJudge, project: Path) -> None:
    """And it is counted no more."""
    await ask(judge, "claude", "PreToolUse", project, session_id="x")
    assert judge.count_sessions() == 1
    await ask(judge, "claude", "SessionEnd", project, session_id="x")
    assert judge.count_sessions() == 0


async def test_an_agent_that_speaks_http_keeps_the_process(
    judge: AgentJudge, project: Path
) -> None:
    """It cannot start another one; its end lets the process go."""
    for event, held in (("PreToolUse", True), ("SessionEnd", False)):
        payload = json.dumps(record("claude", event, cwd=str(project), session_id="x")).encode()
        await judge.answer(Request("claude", event, payload, 60.0, marks=frozenset({"HTTP"})))
        assert judge.holds_open() is held


async def test_a_sub_agent_with_its_own_id_stays_in_the_session(
    judge: AgentJudge, project: Path
) -> None:
    """Also one that a sub-agent has started; none of them ends the session."""
    await ask(judge, "copilot", "preToolUse", project, sessionId="root")
    for agent, parent in (("one", "root"), ("two", "one")):
        ids = {"sessionId": agent, "agentId": agent, "parentAgentId": parent}
        await ask(judge, "copilot", "preToolUse.subagent", project, **ids)
        await ask(judge, "copilot", "sessionEnd", project, sessionId=agent)
    ids = {"sessionId": "of neither", "agentId": "three", "parentAgentId": "two"}
    for event in ("subagentStart", "subagentStop"):
        await ask(judge, "copilot", event, project, **ids)
    assert judge.count_sessions() == 1
    await ask(judge, "copilot", "sessionEnd", project, sessionId="root")
    assert judge.count_sessions() == 0


async def test_where_an_exit_code_blocks_nothing_the_refusal_is_printed(judge: AgentJudge) -> None:
    """Copilot goes on after exit code 2 at a prompt, and obeys what is printed."""
    response = await judge.answer(Request("copilot", "userPromptSubmitted", b"rubbish", 60.0))
    assert response.code == 0
    assert json.loads(response.stdout)["decision"] == "block"


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "copilot"])
async def test_every_recorded_event_is_answered(
    judge: AgentJudge, tmp_path: Path, agent: str
) -> None:
    """Each as its agent would read it: nothing, or one JSON object."""
    folder = make_project(tmp_path / agent)
    commands = folder / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "hi.md").write_text("Say hi.")  # which is expanded in one of them
    for path in sorted((PAYLOADS / agent).glob("[!_]*.json")):
        native = path.stem
        while native not in DIALECTS[agent].events:
            native = native.rpartition(".")[0]
        own = {"cwd": str(folder), DIALECTS[agent].keys.session: "s"}
        payload = {**json.loads(path.read_text()), **own}
        response = await judge.answer(Request(agent, native, json.dumps(payload).encode(), 60.0))
        assert response.code == 0, (path.name, response)
        if response.stdout:
            assert isinstance(json.loads(response.stdout), dict)


async def test_a_call_from_nowhere_is_denied(judge: AgentJudge, project: Path) -> None:
    """Which folder it is decides which rules hold."""
    for cwd in ("", "project"):
        payload = json.dumps(record("claude", "PreToolUse", cwd=cwd)).encode()
        response = await judge.answer(Request("claude", "PreToolUse", payload, 60.0))
        assert b"in which folder it works" in response.stdout
    here = Request("claude", "PreToolUse", payload, 60.0, cwd=str(project.parent))
    assert b"deny" not in (await judge.answer(here)).stdout


async def test_an_agent_that_moves_cannot_reach_its_settings(
    judge: AgentJudge, project: Path
) -> None:
    """Neither from where they are, nor from a session that began below, nor in other projects."""
    (project / ".claude").mkdir()
    for session, cwd, target in (
        ("a", project / ".claude", "settings.local.json"),
        ("a", project / "below", "../.claude/settings.local.json"),
        ("b", project / "below", f"{project}/.claude/settings.local.json"),
        ("b", project / "below", "/elsewhere/.codex/hooks.json"),
    ):
        given = {"command": f"echo > {target}"}
        response = await ask(
            judge, "claude", "PreToolUse", cwd, session_id=session, tool_input=given
        )
        assert b'"deny"' in response.stdout
    server = {"tool_name": "mcp__fs__write_file", "tool_input": {"path": ".gemini/settings.json"}}
    response = await ask(judge, "claude", "PreToolUse", project, **server)
    assert b'"deny"' in response.stdout


@pytest.mark.parametrize("padding", ["true " + "x" * 100_000 + "; ", "sudo " * 9])
async def test_padding_leads_past_no_wall(judge: AgentJudge, project: Path, padding: str) -> None:
    """What nobody can read to its end could end with anything."""
    for command in ("echo > .claude/settings.json", "amplifier trust", "claude --bare -p x"):
        given = {"command": padding + command}
        response = await ask(judge, "claude", "PreToolUse", project, tool_input=given)
        assert b'"deny"' in response.stdout


async def test_an_agent_cannot_write_its_persons_bundle(
    judge: AgentJudge, project: Path, home: Path
) -> None:
    """That one needs no trust, and would govern the next session."""
    own = home / ".config" / "amplifier" / "amplifier.yaml"
    for call in (
        {"tool_name": "Write", "tool_input": {"file_path": str(own), "content": "hooks: []"}},
        {"tool_name": "Bash", "tool_input": {"command": "cp x ~/.config/amplifier/"}},
        {"tool_name": "mcp__fs__move_file", "tool_input": {"source": "x", "destination": str(own)}},
    ):
        response = await ask(judge, "claude", "PreToolUse", project, **call)
        assert b'"deny"' in response.stdout


@pytest.mark.parametrize(("seconds", "limit"), [(590, 588), (7, 5), (6, 3.6), (1, 0.6)])
def test_hooks_have_less_time_than_the_desk(seconds: float, limit: float) -> None:
    """So that a denial that is recorded and worded comes first."""
    assert _get_limit(seconds) == pytest.approx(limit)


async def test_the_end_has_the_reason_that_the_agent_told(judge: AgentJudge, project: Path) -> None:
    """In the trail, in our words."""
    await ask(judge, "claude", "SessionEnd", project, session_id="x", reason="prompt_input_exit")
    records = read_records(open_log(locate_trail({}, "claude-x")))
    ends = [one["body"]["reason"] for one in records if one["type"] == "session_ended"]
    assert ends == ["user_exit"]
