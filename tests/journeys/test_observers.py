"""Each observing hook in a real session: a bundle in, an agent that works, a person who watches."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from amplifier_core.message_models import ChatRequest, ChatResponse
from amplifier_core.testing import RecordingDisplay, ScriptedApproval
from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.assembly import open_session
from tests.hooks.guards.otel.collector import collector
from tests.support.http_server import receiver
from tests.support.waiting import wait_until

pytestmark = pytest.mark.filterwarnings("error")


class Seen:
    """Stands before the provider and keeps what the model was sent."""

    answers_side_calls = True

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self.requests: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)

    async def complete(self, request: ChatRequest, **more: Any) -> ChatResponse:
        self.requests.append("\n".join(str(message.content) for message in request.messages))
        answer: ChatResponse = await self._provider.complete(request, **more)
        return answer


class Journey:
    """A session, and everything its user and its model saw."""

    def __init__(self, session: AssembledSession, display: RecordingDisplay, model: Seen) -> None:
        self.session = session
        self.display = display
        self.model = model

    async def say(self, prompt: str = "Do the work") -> str:
        return await self.session.execute(prompt)

    def shown(self, module: str) -> list[tuple[str, str]]:
        return [(text, level) for text, level, who in self.display.messages if module in who]


def left_over(session: AssembledSession) -> set[str]:
    """The hook modules that still listen; the assembly's own registrations are its own matter."""
    heard = session.coordinator.hooks.list_handlers().values()
    return {name for names in heard for name in names if name.startswith("hooks-")}


def call(tool: str, **given: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": tool, "input": given}]}


def say(text: str) -> dict[str, Any]:
    return {"text": text}


@asynccontextmanager
async def journey(
    directory: Path,
    module: str,
    config: dict[str, Any] | None = None,
    script: tuple[dict[str, Any], ...] = (),
    approval: Any = None,
    agents: dict[str, Any] | None = None,
    also: tuple[Any, ...] = (),
) -> AsyncIterator[Journey]:
    """A session from a bundle file that enables one observing hook, and others beside it."""
    plan: dict[str, Any] = {
        "name": "journey",
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "providers": [{"module": "provider-scripted", "config": {"script": list(script)}}],
        "tools": ["tool-filesystem", "tool-bash", "tool-todo", "tool-delegate"],
        "hooks": [{"module": module, "config": config or {}}, *also],
        "audit": {"enabled": False},
    }
    if agents:
        plan["agents"] = agents
    bundle = directory.parent / f"{directory.name}.yaml"
    bundle.write_text(yaml.safe_dump(plan))
    display = RecordingDisplay()
    session = await open_session(
        load_bundle(bundle, user=False, defaults=False),
        working_dir=directory,
        display_system=display,
        approval_system=approval,
    )
    providers = session.coordinator.mount_points["providers"]
    model = Seen(providers["scripted"])
    providers["scripted"] = model
    try:
        assert session.failures == []
        yield Journey(session, display, model)
    finally:
        await session.cleanup()
        assert left_over(session) == set()


async def test_progress_monitor_nudges_and_at_last_asks(tmp_path: Path) -> None:
    """An agent that repeats itself is nudged, then the person is asked; the refusal ends it."""
    again = call("Bash", command="echo same")
    approval = ScriptedApproval("Deny")
    script = (*[again] * 7, say("I give up."))
    async with journey(tmp_path, "hooks-progress-monitor", {}, script, approval) as run:
        assert await run.say() == "I give up."
        seen = run.model.requests
    assert "Note: the same call was made 3 times" not in seen[2]
    assert "Note: the same call was made 3 times" in seen[3]
    assert "Stop and think: the same call was made 5 times" in seen[5]
    assert "Operation denied by hooks-progress-monitor" in seen[7]
    assert [question.hook for question in approval.questions] == ["hooks-progress-monitor"]
    assert run.shown("hooks-progress-monitor")[0][1] == "warning"


async def test_session_naming_names_the_session_it_saves(tmp_path: Path) -> None:
    """The session's own model names it, beside the turn; the name is in the saved state."""
    title = say("Name: Login repair\nDescription: Repairs the login.")
    async with journey(tmp_path, "hooks-session-naming", {}, (say("Done."), title)) as run:
        assert await run.say("Please fix the login bug in src/login.py.") == "Done."
        await wait_until(lambda: run.session.coordinator.session_state.get("name"))
        state = await run.session.state()
    assert state["session_state"]["name"] == "Login repair"
    assert state["session_state"]["description"] == "Repairs the login."
    assert "fix the login bug" in run.model.requests[1]
    assert "Login repair" not in json.dumps(state["messages"])


async def test_session_naming_works_without_a_model(tmp_path: Path) -> None:
    """One prompt, one answer, good-bye: the prompt has named the session."""
    config = {"use_model": False}
    async with journey(tmp_path, "hooks-session-naming", config, (say("Done."),)) as run:
        await run.say("Please fix the login bug in src/login.py. It is urgent.")
        session = run.session
    assert session.coordinator.session_state["name"] == "Fix the login bug in login.py"


async def test_todo_display_reminds_the_agent_and_shows_the_user(tmp_path: Path) -> None:
    """Reminders are seen by the model and never stored."""
    todos = [
        {"content": "Find it", "status": "completed", "activeForm": "Finding it"},
        {"content": "Fix it", "status": "in_progress", "activeForm": "Fixing it"},
    ]
    script = (call("Todo", todos=todos), say("Working on it."))
    async with journey(tmp_path, "hooks-todo-display", {}, script) as run:
        await run.say()
        history = json.dumps((await run.session.state())["messages"])
    assert "[>] Fixing it" in run.model.requests[1]
    assert "[>] Fixing it" not in history
    assert run.shown("hooks-todo-display")[0][0].startswith("Todo █████░░░░░ 1/2")


async def test_logging_writes_the_whole_session(tmp_path: Path) -> None:
    """From session:start to session:end, one JSON line each, in order."""
    script = (call("Bash", command="echo hi"), say("Done."))
    async with journey(
        tmp_path, "hooks-logging", {"path": "log-{session_id}.jsonl"}, script
    ) as run:
        await run.say()
        name = run.session.session_id
    lines = [json.loads(line) for line in (tmp_path / f"log-{name}.jsonl").read_text().splitlines()]
    events = [line["event"] for line in lines]
    wanted = ["session:start", "prompt:submit", "provider:request", "tool:pre", "tool:post"]
    wanted += ["orchestrator:complete", "prompt:complete", "session:end"]
    positions = [events.index(event) for event in wanted]
    assert positions == sorted(positions)
    assert {line["session_id"] for line in lines} == {name}


async def test_logging_knows_what_guards_refused_and_keeps_no_secret(tmp_path: Path) -> None:
    """A refused call is on record with its input; what redaction hides stays hidden."""
    key = "sk-ant-api03-" + "Ab1_" * 24
    script = (call("Write", file_path="production/a.txt", content=f"key = {key}"), say("Pity."))
    config = {"path": "log.jsonl"}
    guards = ("hooks-production-guard", "hooks-redaction")
    async with journey(
        tmp_path, "hooks-logging", config, script, ScriptedApproval("Deny"), also=guards
    ) as run:
        await run.say()
    text = (tmp_path / "log.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    refused = next(line for line in lines if line["event"] == "tool:pre")
    assert refused["data"]["tool_input"]["file_path"] == "production/a.txt"
    assert {"approval:denied", "policy:violation"} <= {line["event"] for line in lines}
    assert not (tmp_path / "production").exists()
    assert key not in text


async def test_notify_calls_back_through_a_webhook(tmp_path: Path) -> None:
    """A turn that took its time is reported, with the agent's last word."""
    script = (say("All tests pass."),)
    with receiver() as server:
        hook = {"desktop": False, "min_turn_seconds": 0, "webhooks": [{"url": server.url}]}
        async with journey(tmp_path, "hooks-notify", hook, script) as run:
            await run.say()
            await wait_until(lambda: bool(server.requests))
    sent = [json.loads(body) for _, _, body in server.requests]
    assert [(one["event"], one["message"]) for one in sent] == [
        ("orchestrator:complete", "All tests pass.")
    ]


async def test_git_status_is_the_first_thing_the_agent_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Injected at session start, seen in the first request."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    subprocess.run(["git", "init", "-q", "-b", "trunk"], cwd=tmp_path, check=True)
    (tmp_path / "new.txt").write_text("new")
    async with journey(tmp_path, "hooks-git-status", {}, (say("I see."),)) as run:
        await run.say()
    assert "No commits yet on trunk" in run.model.requests[0]
    assert "?? new.txt" in run.model.requests[0]


async def test_datetime_is_seen_and_not_kept(tmp_path: Path) -> None:
    """Ephemeral: in the request, not in the history."""
    async with journey(tmp_path, "hooks-datetime", {}, (say("Sunday."),)) as run:
        await run.say("What day is it?")
        history = json.dumps((await run.session.state())["messages"])
    assert "Current date and time: " in run.model.requests[0]
    assert "Current date and time" not in history


async def test_linter_feedback_lets_the_agent_repair_its_code_in_the_same_turn(
    tmp_path: Path,
) -> None:
    """The agent writes bad code, the hook injects, the agent fixes it; real ruff."""
    bad, good = "import os\n\nprint('hi')\n", "print('hi')\n"
    script = (
        call("Write", file_path="app.py", content=bad),
        call("Write", file_path="app.py", content=good),
        say("Fixed."),
    )
    async with journey(tmp_path, "hooks-linter-feedback", {}, script) as run:
        assert await run.say() == "Fixed."
    assert "F401" not in run.model.requests[0]
    assert "ruff found 1 issue in app.py" in run.model.requests[1]
    assert "F401" in run.model.requests[1]
    assert run.shown("hooks-linter-feedback") == [("ruff: 1 issue in app.py", "warning")]
    assert (tmp_path / "app.py").read_text() == good


async def test_test_runner_tells_of_failures_and_of_their_end(tmp_path: Path) -> None:
    """A real test command, run between the edit and the next request."""
    check = "from app import double\nassert double(2) == 4, 'FAILED: double(2)'\n"
    (tmp_path / "check.py").write_text(check)
    script = (
        call("Write", file_path="app.py", content="def double(n):\n    return n + 1\n"),
        call("Write", file_path="app.py", content="def double(n):\n    return n + n\n"),
        say("Passed."),
    )
    config = {"command": [sys.executable, "-B", "check.py"], "when": "request"}
    async with journey(tmp_path, "hooks-test-runner", config, script) as run:
        assert await run.say() == "Passed."
    assert "The tests fail after your edits" in run.model.requests[1]
    assert "double(2)" in run.model.requests[1]
    assert "The tests pass again." in run.model.requests[2]
    assert [level for _, level in run.shown("hooks-test-runner")] == ["warning", "info"]


async def test_otel_exports_the_session_with_its_sub_agent(tmp_path: Path) -> None:
    """One trace: session → turn → chat / execute_tool → the sub-agent's turn."""
    agents = {"finder": {"description": "Finds", "instructions": "Find.", "tools": ["Read"]}}
    script = (
        call("Bash", command="echo hi"),
        call("Delegate", agent_name="finder", task="look"),
        say("Found."),
        say("Done."),
    )
    with collector() as kept:
        config = {"endpoint": kept.url}
        async with journey(tmp_path, "hooks-otel", config, script, agents=agents) as run:
            await run.say()
    spans = kept.spans
    names = {span.span_id: span.name for span in spans}
    tree = {(span.name, names.get(span.parent_id, "")) for span in spans}
    assert ("invoke_agent amplifier", "invoke_workflow amplifier session") in tree
    assert ("chat scripted", "invoke_agent amplifier") in tree
    assert ("execute_tool Bash", "invoke_agent amplifier") in tree
    assert ("invoke_agent finder", "execute_tool Delegate") in tree
    assert len({span.trace_id for span in spans}) == 1
    assert {span.status for span in spans} == {"UNSET"}
    assert kept.metric("gen_ai.client.operation.duration")


async def test_otel_shows_which_of_two_parallel_calls_was_refused_and_by_whom(
    tmp_path: Path,
) -> None:
    """Hook decisions and approvals are events of the call that they are about."""
    both = {
        "tool_calls": [
            {"name": "Write", "input": {"file_path": "production/a.txt", "content": "x"}},
            {"name": "Bash", "input": {"command": "sleep 0.1"}},
        ]
    }
    with collector() as kept:
        async with journey(
            tmp_path,
            "hooks-otel",
            {"endpoint": kept.url},
            (both, say("Done.")),
            ScriptedApproval("Deny"),
            also=("hooks-production-guard",),
        ) as run:
            await run.say()
    refused, ran = kept.named("execute_tool Write"), kept.named("execute_tool Bash")
    assert (refused.status, refused.attributes["error.type"]) == ("ERROR", "denied")
    assert [name for name, _ in refused.events] == [
        "amplifier.approval.required",
        "amplifier.approval.denied",
        "amplifier.hook.denied",
    ]
    assert (ran.status, ran.events) == ("UNSET", [])
    ((who, count),) = kept.metric("amplifier.hook.denials")
    assert (who["amplifier.hook.name"], count) == ("hooks-production-guard", 1)


async def test_notify_tells_that_a_person_is_needed(tmp_path: Path) -> None:
    """A question that waits reaches the person who has looked away."""
    script = (call("Write", file_path="production/a.txt", content="x"), say("Done."))
    with receiver() as server:
        hook = {"desktop": False, "webhooks": [{"url": server.url}]}
        async with journey(
            tmp_path,
            "hooks-notify",
            hook,
            script,
            ScriptedApproval("Deny"),
            also=("hooks-production-guard",),
        ) as run:
            await run.say()
            await wait_until(lambda: bool(server.requests))
    assert json.loads(server.requests[0][2])["title"] == "Amplifier: approval required"


async def test_what_redaction_hides_leaves_the_session_neither_by_webhook_nor_by_span(
    tmp_path: Path,
) -> None:
    """Scrubbers run over everything that an observer sends away."""
    key = "sk-ant-api03-" + "Ab1_" * 24
    script = (call("Bash", command=f"echo {key}"), say(f"The key is {key}"))
    with collector() as kept, receiver() as server:
        hook = {
            "module": "hooks-notify",
            "config": {
                "desktop": False,
                "min_turn_seconds": 0,
                "include_data": True,
                "events": ["*"],
                "webhooks": [{"url": server.url}],
            },
        }
        config = {"endpoint": kept.url, "capture_content": True}
        async with journey(
            tmp_path,
            "hooks-otel",
            config,
            script,
            ScriptedApproval("Allow once"),
            also=("hooks-redaction", hook),
        ) as run:
            await run.say()
            await wait_until(lambda: len(server.requests) > 5)
    assert "gen_ai.tool.call.arguments" in kept.named("execute_tool Bash").attributes
    assert key not in kept.text()
    assert not [body for _, _, body in server.requests if key.encode() in body]


async def test_all_observers_together_leave_nothing_behind(tmp_path: Path) -> None:
    """Ten observers at once: the agent does its work, and the session ends clean."""
    before = asyncio.all_tasks()
    modules: list[Any] = [
        "hooks-progress-monitor",
        "hooks-session-naming",
        "hooks-todo-display",
        "hooks-linter-feedback",
        {"module": "hooks-test-runner", "config": {"command": "true"}},
        {"module": "hooks-logging", "config": {"path": "log.jsonl"}},
        {"module": "hooks-notify", "config": {"desktop": False}},
        "hooks-git-status",
        "hooks-datetime",
        "hooks-otel",
    ]
    script = [call("Write", file_path="app.py", content="x = 1\n"), say("Done.")]
    plan = {
        "name": "all",
        "session": {"orchestrator": "loop-streaming", "context": "context-simple"},
        "providers": [{"module": "provider-scripted", "config": {"script": script}}],
        "tools": ["tool-filesystem"],
        "hooks": modules,
        "audit": {"enabled": False},
    }
    bundle = tmp_path.parent / f"{tmp_path.name}.yaml"
    bundle.write_text(yaml.safe_dump(plan))
    session = await open_session(
        load_bundle(bundle, user=False, defaults=False), working_dir=tmp_path
    )
    assert session.failures == []
    assert await session.execute("Write it") == "Done."
    await session.cleanup()
    assert left_over(session) == set()
    assert asyncio.all_tasks() == before
    assert (tmp_path / "log.jsonl").read_text().count("\n") > 8
