"""Each guard in a real session: a bundle in, an agent that tries, a person who decides."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_core.message_models import ChatRequest, ChatResponse
from amplifier_core.testing import RecordingDisplay, ScriptedApproval
from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.assembly import open_session


class Watched:
    """Stands before the provider and keeps what the model was sent."""

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self.requests: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)

    async def complete(self, request: ChatRequest, **more: Any) -> ChatResponse:
        self.requests.append(request.model_dump_json())
        answer: ChatResponse = await self._provider.complete(request, **more)
        return answer


class Journey:
    """A session, and everything its person, its model and its trail saw."""

    def __init__(self, session: AssembledSession, directory: Path) -> None:
        self.session = session
        self.directory = directory
        self.display = RecordingDisplay()
        self.model = Watched(session.coordinator.get("providers", "scripted"))
        self.reply = ""

    @property
    def messages(self) -> str:
        return json.dumps(list(self.session.context.get_messages()), default=str)

    def trail(self) -> str:
        files = [path for path in (self.directory / "trail").rglob("*") if path.is_file()]
        assert files
        return "\n".join(path.read_bytes().decode(errors="replace") for path in files)


def call(tool: str, **given: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": tool, "input": given}]}


@asynccontextmanager
async def journey(
    directory: Path,
    hooks: dict[str, dict[str, Any]],
    script: list[dict[str, Any]],
    approval: Any = None,
) -> AsyncIterator[Journey]:
    """A session from a bundle file with these hooks, one prompt said, and the session ended."""
    project = directory / "project"
    project.mkdir(exist_ok=True)
    plan: dict[str, Any] = {
        "name": "journey",
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "providers": [{"module": "provider-scripted", "config": {"script": script}}],
        "tools": ["tool-filesystem", "tool-bash"],
        "hooks": [{"module": module, "config": config} for module, config in hooks.items()],
        "audit": {"enabled": True, "path": str(directory / "trail")},
    }
    (directory / "bundle.yaml").write_text(yaml.safe_dump(plan))
    display = RecordingDisplay()
    session = await open_session(
        load_bundle(directory / "bundle.yaml", user=False, defaults=False),
        working_dir=project,
        display_system=display,
        approval_system=approval,
    )
    run = Journey(session, directory)
    run.display = display
    session.coordinator.mount_points["providers"]["scripted"] = run.model
    try:
        assert session.failures == []
        yield run
    finally:
        await session.cleanup()
        assert not any(session.coordinator.hooks.list_handlers().values())


async def test_production_guard_asks_where_a_symlink_leads(tmp_path: Path) -> None:
    """The person reads the real path; a refusal leaves no file, a permission writes it."""
    project = tmp_path / "project"
    (project / "production").mkdir(parents=True)
    (project / "staging").symlink_to("production")
    approval = ScriptedApproval("Deny", "Allow once")
    script = [
        call("Write", file_path="staging/a.txt", content="x"),
        call("Write", file_path="production/b.txt", content="x"),
        call("Write", file_path="free.txt", content="x"),
        {"text": "done"},
    ]
    async with journey(tmp_path, {"hooks-production-guard": {}}, script, approval) as run:
        assert await run.session.execute("go") == "done"
        told = run.messages
    assert not (project / "production" / "a.txt").exists()
    assert (project / "production" / "b.txt").read_text() == "x"
    assert (project / "free.txt").exists()
    asked = [question.prompt for question in approval.questions]
    assert len(asked) == 2
    assert str(project / "production" / "a.txt") in asked[0]
    assert "given as 'staging/a.txt'" in asked[0]
    assert "Operation denied by hooks-production-guard" in told


async def test_command_guard_denies_asks_and_lets_pass(tmp_path: Path) -> None:
    """A denied command never runs, an unclear one runs if allowed, an everyday one just runs."""
    approval = ScriptedApproval("Allow")
    script = [
        call("Bash", command="touch ran-1; echo $(rm -rf ~/*)"),
        call("Bash", command="x=ran-2; touch $x; $SHELL -c 'touch ran-2b'"),
        call("Bash", command="touch ran-3"),
        {"text": "done"},
    ]
    options = {"approval_options": ["Allow", "Deny"]}
    async with journey(tmp_path, {"hooks-command-guard": options}, script, approval) as run:
        assert await run.session.execute("go") == "done"
        told = run.messages
    project = tmp_path / "project"
    assert not (project / "ran-1").exists()
    assert (project / "ran-2").exists()
    assert (project / "ran-3").exists()
    assert len(approval.questions) == 1
    assert "$SHELL -c 'touch ran-2b'" in approval.questions[0].prompt
    assert "it deletes ~/* and everything below [recursive-delete]" in told


async def test_without_anybody_to_ask_the_answer_is_no(tmp_path: Path) -> None:
    """No approval system at all: deny."""
    script = [call("Bash", command="$SHELL -c 'touch ran'"), {"text": "done"}]
    async with journey(tmp_path, {"hooks-command-guard": {}}, script) as run:
        assert await run.session.execute("go") == "done"
    assert not (tmp_path / "project" / "ran").exists()


SECRETS = {
    "github-token": "ghp_" + "Zz9" * 12,
    "anthropic-key": "sk-ant-api03-" + "Zz9" * 12,
    "aws-access-key": "AKIAZZZZ2222YYYY3333",
    "env-line": "DB_PASSWORD=correct-horse-77",
}


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(SECRETS)), st.integers(0, 3))
async def test_redaction_leaves_no_secret_anywhere(
    tmp_path_factory: Any, name: str, depth: int
) -> None:
    """None in request, transcript, screen or trail; of what is written only tokens are taken."""
    directory = tmp_path_factory.mktemp("redaction")
    secret = SECRETS[name]
    project = directory / "project"
    project.mkdir()
    text = "[" * depth + f'before "{secret}" behind' + "]" * depth
    (project / "config.txt").write_text(text)
    script = [
        call("Read", file_path="config.txt"),
        call("Bash", command=f"echo '{secret}' > written.txt; cat config.txt"),
        call("Write", file_path="note.txt", content=f"a {secret} b"),
        {"text": f"The secret is {secret} indeed."},
    ]
    options = {"notify": True, "on_write": "tell-and-redact"}
    async with journey(directory, {"hooks-redaction": options}, script) as run:
        reply = await run.session.execute(f"Use {secret} please")
        told, shown = run.messages, repr(run.display.messages)
        state = json.dumps(await run.session.state(), default=str)
    hidden = secret.partition("=")[2] or secret
    assert hidden not in reply
    assert hidden not in told
    assert hidden not in shown
    assert hidden not in state
    assert all(hidden not in request for request in run.model.requests)
    assert hidden not in run.trail()
    for name_of_file in ("written.txt", "note.txt"):
        # A guess is no reason to change what is written.
        assert (hidden in (project / name_of_file).read_text()) is (name == "env-line")
    assert (project / "config.txt").read_text() == text
    assert f"[REDACTED:{name}]" in told
    assert "A secret was replaced in prompt" in shown


RULES = """
- name: no-push
  tool: Bash
  command: "git push"
  action: deny
  reason: "Nothing is published from here."
- name: lock-files
  tool: Write
  path: "*.lock"
  action: ask_user
  approval_prompt: "Let {tool_name} write {path}?"
- name: polite
  tool: Write
  regex: {tool_input.file_path: 'greeting'}
  action: modify
  data: {tool_input: {content: "Good day"}}
- name: sql
  event: tool:post
  when: 'tool_name == "Write" && tool_input.file_path.endsWith(".sql")'
  action: inject_context
  context_injection: "Keywords of SQL are in capitals, see {tool_input.file_path}."
- name: watch
  tool: "*"
  action: continue
  user_message: "{tool_name} is called"
"""


async def test_rules_of_every_action_work_together(tmp_path: Path) -> None:
    """Deny, ask, modify, inject and tell, from a file of rules."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "rules.yaml").write_text(RULES)
    approval = ScriptedApproval("Deny")
    script = [
        call("Bash", command="cd . && git push origin main"),
        call("Write", file_path="x.lock", content="x"),
        call("Write", file_path="greeting.txt", content="Yo"),
        call("Write", file_path="q.sql", content="select 1"),
        {"text": "done"},
    ]
    hooks = {"hooks-rules": {"file": "rules.yaml"}}
    async with journey(tmp_path, hooks, script, approval) as run:
        assert await run.session.execute("go") == "done"
        told = run.messages
    project = tmp_path / "project"
    assert "Nothing is published from here." in told
    assert [question.prompt for question in approval.questions] == [
        f"Let Write write {project / 'x.lock'}?"
    ]
    assert not (project / "x.lock").exists()
    assert (project / "greeting.txt").read_text() == "Good day"
    assert "Keywords of SQL are in capitals, see q.sql." in run.model.requests[-1]
    shown = [message for message, _, _ in run.display.messages]
    assert shown.count("Write is called") == 3


async def test_rules_on_trial_only_report(tmp_path: Path) -> None:
    """A dry run changes nothing and says what it would have done."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "rules.yaml").write_text(RULES)
    script = [call("Write", file_path="greeting.lock", content="Yo"), {"text": "done"}]
    hooks = {"hooks-rules": {"file": "rules.yaml", "dry_run": True}}
    async with journey(tmp_path, hooks, script) as run:
        assert await run.session.execute("go") == "done"
    assert (tmp_path / "project" / "greeting.lock").read_text() == "Yo"
    shown = "\n".join(message for message, _, _ in run.display.messages)
    assert "'lock-files' would have answered ask_user" in shown
    assert "'polite' would have answered modify" in shown


async def test_rate_limit_stops_a_runaway_agent(tmp_path: Path) -> None:
    """Over the limit the agent is told how long to wait, and nothing runs."""
    script = [*[call("Bash", command=f"touch f{n}") for n in range(5)], {"text": "done"}]
    hooks = {"hooks-rate-limit": {"tools": {"Bash": {"calls": 2, "seconds": 600}}}}
    async with journey(tmp_path, hooks, script) as run:
        assert await run.session.execute("go") == "done"
        told = run.messages
    assert sorted(path.name for path in (tmp_path / "project").glob("f*")) == ["f0", "f1"]
    assert told.count("2 calls in 600 seconds; try again in") == 3


async def test_cost_control_warns_asks_and_ends_the_turn(tmp_path: Path) -> None:
    """A warning on the way, a question at the limit, and no further call when it is refused."""
    spent = {"usage": {"input_tokens": 300, "output_tokens": 100}}
    script = [{**call("Bash", command="true"), **spent} for _ in range(5)]
    approval = ScriptedApproval("Allow once", "Deny")
    hooks = {
        "hooks-cost-control": {
            "turn": {"tokens": 1_000, "over": "ask_user", "warn_at": 0.5},
            "day": {"tokens": 1_000_000},
        }
    }
    async with journey(tmp_path, hooks, script, approval) as run:
        await run.session.execute("go")
        state = run.session.coordinator.session_state["hooks-cost-control"]
    assert len(run.model.requests) == 4
    assert state["tokens"] == 1_600
    assert [q.prompt for q in approval.questions] == [
        "This turn has used 1,200 of 1,000 tokens. Continue anyway?",
        "This turn has used 1,600 of 1,000 tokens. Continue anyway?",
    ]
    shown = [message for message, _, _ in run.display.messages]
    assert "This turn has used 800 of 1,000 tokens" in shown
    day = json.loads((tmp_path / "project" / ".amplifier" / "cost.json").read_text())
    assert day["tokens"] == 1_600


async def test_all_guards_together_let_honest_work_through(tmp_path: Path) -> None:
    """Six guards, their defaults, an everyday task: nobody is bothered."""
    script = [
        call("Write", file_path="src/app.py", content="print('hello')\n"),
        call("Bash", command="ls -la && python3 src/app.py | tee out.log"),
        call("Edit", file_path="src/app.py", old_string="hello", new_string="world"),
        call("Bash", command="rm -rf build && git status || true"),
        {"text": "done"},
    ]
    hooks: dict[str, dict[str, Any]] = {
        "hooks-production-guard": {},
        "hooks-command-guard": {},
        "hooks-redaction": {},
        "hooks-rules": {"rules": []},
        "hooks-rate-limit": {"overall": {"calls": 100}},
        "hooks-cost-control": {"session": {"tokens": 1_000_000}},
    }
    approval = ScriptedApproval("Deny")
    async with journey(tmp_path, hooks, script, approval) as run:
        assert await run.session.execute("go") == "done"
    assert approval.questions == []
    assert (tmp_path / "project" / "out.log").read_text() == "hello\n"
    assert (tmp_path / "project" / "src" / "app.py").read_text() == "print('world')\n"
