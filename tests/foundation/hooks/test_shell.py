"""hooks-shell: hook scripts and settings files of coding agents work here unchanged."""

from __future__ import annotations

import asyncio
import json
import stat
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ModuleLoadError
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_foundation.hooks.shell import mount
from amplifier_foundation.hooks.shell.dialects import DIALECTS
from amplifier_foundation.hooks.shell.effect import results
from amplifier_foundation.hooks.shell.handler import Call, Handler, Reply
from amplifier_foundation.hooks.shell.http import explain_refusal
from amplifier_foundation.hooks.shell.matcher import allowed_by_rule, matches_listed
from amplifier_foundation.hooks.shell.run import encoded
from amplifier_foundation.hooks.shell.settings import read_settings, read_settings_file
from amplifier_foundation.hooks.shell.verdict import Verdict, combined


class Conversation:
    """A context: what was said."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def add_message(self, role: str, content: str, metadata: Any = None) -> None:
        self.messages.append({"role": role, "content": content, "metadata": metadata})

    def get_messages(self) -> list[dict[str, Any]]:
        return list(self.messages)

    def set_messages(self, messages: list[dict[str, Any]]) -> None:
        self.messages = list(messages)

    def clear(self) -> None:
        self.messages.clear()


class Desk:
    """A real coordinator, a screen and a person who always gives the same answer."""

    def __init__(self, folder: Path, answer: str = "Deny") -> None:
        self.folder = folder
        self.shown: list[tuple[str, str]] = []
        self.asked: list[str] = []
        self.answer = answer
        self.context = Conversation()
        hooks = HookRegistry()
        hooks.set_default_fields(session_id="session-1")
        self.coordinator = SessionCoordinator(
            hooks, self.context, self, self, session_id="session-1"
        )
        self.coordinator.register_capability("session.working_dir", str(folder))

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: str
    ) -> str:
        self.asked.append(prompt)
        return self.answer

    def show_message(self, message: str, level: str, source: str) -> None:
        self.shown.append((level, message))

    @property
    def told(self) -> str:
        """Everything that was injected for the agent."""
        return "\n".join(str(message["content"]) for message in self.context.messages)

    def script(self, name: str, body: str) -> str:
        """A real shell script; returns the command that runs it."""
        path = self.folder / name
        path.write_text(f"#!/usr/bin/env bash\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    async def run(self, event: str, **data: Any) -> HookResult:
        return await self.coordinator.execute_with_hooks(event, data)

    async def pre(self, tool: str = "Bash", **tool_input: Any) -> HookResult:
        call = {"tool_name": tool, "tool_input": tool_input, "tool_call_id": "call-1"}
        return await self.run("tool:pre", **call)

    async def post(self, tool: str = "Bash", output: Any = "out", **more: Any) -> HookResult:
        result = {"success": True, "output": output, "error": None}
        call = {"tool_name": tool, "tool_input": more.pop("tool_input", {}), "tool_call_id": "c"}
        more = {"success": True, "duration_ms": 5, "tool_result": result, **more}
        return await self.run("tool:post", **call, **more)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@asynccontextmanager
async def mounted(desk: Desk, config: dict[str, Any]) -> AsyncIterator[Desk]:
    cleanup = await mount(desk.coordinator, config)
    try:
        yield desk
    finally:
        await cleanup()


def claude(event: str, *handlers: dict[str, Any] | str, matcher: str | None = None) -> Any:
    """Inline hooks of one event in Claude's shape."""
    entries = [h if isinstance(h, dict) else {"type": "command", "command": h} for h in handlers]
    group: dict[str, Any] = {"hooks": entries}
    if matcher is not None:
        group["matcher"] = matcher
    return {"hooks": {event: [group]}, "dialect": "claude"}


def says(answer: dict[str, Any]) -> str:
    """A command that prints a JSON answer."""
    return f"cat >/dev/null; printf '%s' '{json.dumps(answer)}'"


def specific(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


# Exit codes


async def test_exit_2_blocks_and_stderr_is_what_the_agent_reads(desk: Desk) -> None:
    """Exit code 2, PreToolUse: blocks; stderr is the tool error the model reads."""
    command = desk.script("guard.sh", "cat >/dev/null; echo 'no force pushes' >&2; exit 2")
    async with mounted(desk, claude("PreToolUse", command, matcher="Bash")):
        result = await desk.pre(command="git push --force")
    assert (result.action, result.reason) == ("deny", "no force pushes")


async def test_a_real_script_reads_its_stdin_and_decides_by_it(desk: Desk) -> None:
    """JSON over stdin: existing hook scripts work here unchanged."""
    command = desk.script(
        "guard.sh",
        'input=$(cat)\ncase "$input" in *"rm -rf"*) echo "refused: rm -rf" >&2; exit 2;; esac',
    )
    async with mounted(desk, claude("PreToolUse", command)):
        assert (await desk.pre(command="rm -rf /")).reason == "refused: rm -rf"
        assert (await desk.pre(command="ls")).action == "continue"


@pytest.mark.parametrize("code", [1, 3, 127])
async def test_other_codes_let_the_call_go_ahead_and_tell_the_person(desk: Desk, code: int) -> None:
    """Other, timeout, missing program: the call goes ahead, reported to the user only."""
    async with mounted(desk, claude("PreToolUse", f"echo oops >&2; exit {code}")):
        result = await desk.pre(command="ls")
    assert result.action == "continue"
    [(level, message)] = desk.shown
    assert level == "warning"
    assert f"exited with {code}: oops" in message


@pytest.mark.parametrize(
    "handler",
    [
        {"command": "exit 1"},
        {"command": "sleep 30", "timeout": 0.2},
        {"command": "/no/such/program", "args": []},
        {"command": says({"hookSpecificOutput": {"permissionDecision": "maybe"}})},
        {"command": says({"decision": "perhaps"})},
        {"command": says(specific("PostToolUse", permissionDecision="allow"))},
    ],
    ids=["exit 1", "timeout", "missing", "wrong enum", "wrong decision", "wrong event"],
)
async def test_on_failure_block_turns_every_failure_into_a_block(
    desk: Desk, handler: dict[str, Any]
) -> None:
    """With `onFailure: "block"` blocked; without it the call goes ahead."""
    async with mounted(desk, claude("PreToolUse", {"type": "command", **handler})):
        assert (await desk.pre(command="ls")).action == "continue"
    blocking = {"type": "command", "onFailure": "block", **handler}
    async with mounted(desk, claude("PreToolUse", blocking)):
        result = await desk.pre(command="ls")
    assert result.action == "deny"
    assert "it blocks when it fails" in str(result.reason)


async def test_a_hook_that_blocks_on_failure_is_registered_as_a_guard(desk: Desk) -> None:
    """`on_error="deny"` for handlers that block on failure."""
    handler = {"type": "command", "command": "true", "onFailure": "block"}
    async with mounted(desk, claude("PreToolUse", handler)):
        assert {h.on_error for h in desk.coordinator.hooks.handlers_for("tool:pre")} == {"deny"}
    async with mounted(desk, claude("PreToolUse", "true")):
        handlers = desk.coordinator.hooks.handlers_for("tool:pre")
        assert {h.on_error for h in handlers} == {"continue"}


async def test_a_timeout_ends_the_command_and_its_children(desk: Desk) -> None:
    """Nothing hangs: the hook's own limit holds."""
    marker = desk.folder / "late"
    handler = {"type": "command", "command": f"(sleep 2; touch {marker}) & wait", "timeout": 0.2}
    started = time.monotonic()
    async with mounted(desk, claude("PreToolUse", handler)):
        await desk.pre(command="ls")
    assert time.monotonic() - started < 5
    assert "ran longer than 0.2 s" in desk.shown[0][1]
    await asyncio.sleep(2.2)
    assert not marker.exists()


async def test_a_prompt_hook_that_blocks_keeps_the_prompt_from_being_processed(
    desk: Desk,
) -> None:
    """Exit 2, UserPromptSubmit: block and erase prompt."""
    async with mounted(desk, claude("UserPromptSubmit", "echo 'no secrets' >&2; exit 2")):
        result = await desk.run("prompt:submit", prompt="my password is x", metadata={})
    assert (result.action, result.reason) == ("deny", "no secrets")


@pytest.mark.parametrize(
    ("event", "ours", "data"),
    [
        ("UserPromptSubmit", "prompt:submit", {"prompt": "hi", "metadata": {}}),
        ("SessionStart", "session:start", {"source": "startup", "mount_plan": {}}),
    ],
)
async def test_plain_output_becomes_context_where_it_does_for_claude(
    desk: Desk, event: str, ours: str, data: dict[str, Any]
) -> None:
    """Exit 0: UserPromptSubmit, SessionStart: plain stdout becomes context."""
    async with mounted(desk, claude(event, "echo 'branch: main'")):
        await desk.run(ours, **data)
    assert "branch: main" in desk.told


async def test_plain_output_of_a_tool_hook_is_not_shown(desk: Desk) -> None:
    """Exit 0, PreToolUse: plain stdout not shown."""
    async with mounted(desk, claude("PreToolUse", "echo checked")):
        result = await desk.pre(command="ls")
    assert (result.action, desk.told, desk.shown) == ("continue", "", [])


async def test_exit_2_after_a_tool_is_feedback_for_the_model(desk: Desk) -> None:
    """Exit 2, PostToolUse: stderr to model."""
    async with mounted(desk, claude("PostToolUse", "echo 'line too long' >&2; exit 2")):
        result = await desk.post("Write")
    assert result.action == "continue"
    assert "line too long" in desk.told


async def test_exit_2_at_session_start_is_told_to_the_person(desk: Desk) -> None:
    """Exit 2, SessionStart, SubagentStart: stderr to user."""
    async with mounted(desk, claude("SessionStart", "echo 'no network' >&2; exit 2")):
        result = await desk.run("session:start", source="startup", mount_plan={})
    assert result.action == "continue"
    assert desk.shown == [("info", "no network")]


# JSON answers


async def test_a_denial_in_json_has_its_reason(desk: Desk) -> None:
    """permissionDecision deny, permissionDecisionReason."""
    answer = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="not now")
    async with mounted(desk, claude("PreToolUse", says(answer))):
        result = await desk.pre(command="ls")
    assert (result.action, result.reason) == ("deny", "not now")


async def test_the_old_block_still_blocks(desk: Desk) -> None:
    """Top level: `decision` ("block"), `reason`."""
    async with mounted(desk, claude("PreToolUse", says({"decision": "block", "reason": "old"}))):
        result = await desk.pre(command="ls")
    assert (result.action, result.reason) == ("deny", "old")


async def test_updated_input_is_what_runs(desk: Desk) -> None:
    """modify ↔ updatedInput."""
    answer = specific("PreToolUse", permissionDecision="allow", updatedInput={"command": "ls -l"})
    async with mounted(desk, claude("PreToolUse", says(answer))):
        result = await desk.pre(command="ls")
    assert result.data is not None
    assert result.data["tool_input"] == {"command": "ls -l"}


async def test_ask_is_put_to_the_person_with_the_final_input(desk: Desk) -> None:
    """ask_user ↔ ask; what was approved is what runs."""
    answer = specific(
        "PreToolUse",
        permissionDecision="ask",
        permissionDecisionReason="touches production",
        updatedInput={"command": "deploy --dry-run"},
        additionalContext="the deploy guard looked at this",
    )
    desk.answer = "Allow"
    async with mounted(desk, claude("PreToolUse", says(answer))):
        result = await desk.pre(command="deploy")
    assert result.data is not None
    assert result.data["tool_input"] == {"command": "deploy --dry-run"}
    assert desk.asked == ['touches production\nBash: {"command": "deploy --dry-run"}']
    assert "the deploy guard looked at this" in desk.told


async def test_a_guard_that_asks_is_asked_once(desk: Desk) -> None:
    """The kernel asks a guard once more after a person allowed; the person is not asked again."""
    answer = specific("PreToolUse", permissionDecision="ask", updatedInput={"command": "x"})
    handler = {"type": "command", "command": says(answer), "onFailure": "block"}
    desk.answer = "Allow"
    async with mounted(desk, claude("PreToolUse", handler)):
        result = await desk.pre(command="deploy")
    assert (result.action, len(desk.asked)) == ("continue", 1)


async def test_a_refused_question_is_a_denial(desk: Desk) -> None:
    """ask_user: refused is deny."""
    answer = specific("PreToolUse", permissionDecision="ask")
    async with mounted(desk, claude("PreToolUse", says(answer))):
        assert (await desk.pre(command="deploy")).action == "deny"


async def test_updated_output_is_what_the_agent_sees(desk: Desk) -> None:
    """modify ↔ updatedToolOutput; additionalContext beside it is not lost."""
    answer = specific("PostToolUse", updatedToolOutput="[redacted]", additionalContext="cleaned")
    async with mounted(desk, claude("PostToolUse", says(answer))):
        result = await desk.post(output="secret")
    assert result.data is not None
    assert result.data["tool_result"]["output"] == "[redacted]"
    assert "cleaned" in desk.told


async def test_system_messages_reach_the_person_whatever_is_decided(desk: Desk) -> None:
    """user_message ↔ systemMessage."""
    answer = {"systemMessage": "look at this", "decision": "block", "reason": "r"}
    async with mounted(desk, claude("PreToolUse", says(answer))):
        await desk.pre(command="ls")
    assert ("info", "look at this") in desk.shown


async def test_continue_false_stops_the_run(desk: Desk) -> None:
    """`continue` false stops everything; `stopReason` says why."""
    answer = {"continue": False, "stopReason": "budget is spent"}
    async with mounted(desk, claude("PreToolUse", says(answer))):
        result = await desk.pre(command="ls")
    assert (result.action, result.reason) == ("deny", "budget is spent")
    assert desk.coordinator.cancellation.is_cancelled


async def test_a_stop_hook_keeps_the_agent_working_up_to_eight_times(desk: Desk) -> None:
    """Stop: continue working; blocks are capped at eight in a row; stop_hook_active is set."""
    log = desk.folder / "log"
    command = f"cat >> {log}; echo 'run the tests first' >&2; exit 2"
    async with mounted(desk, claude("Stop", command)):
        for _ in range(9):
            await desk.run("orchestrator:complete", final_message={"content": "done"})
    seen = [json.loads(line) for line in log.read_text().splitlines()]
    assert [one["stop_hook_active"] for one in seen] == [False] + [True] * 8
    assert seen[0]["last_assistant_message"] == "done"
    assert len([m for m in desk.context.messages if "run the tests" in m["content"]]) == 8
    assert "blocked 8 times in a row" in desk.shown[-1][1]


# Payload and environment


async def test_stdin_has_the_fields_of_a_tool_event(desk: Desk) -> None:
    """Common stdin fields, and tool_name, tool_input, tool_use_id."""
    log = desk.folder / "log"
    async with mounted(desk, claude("PreToolUse", f"cat > {log}")):
        await desk.pre("Write", file_path="a.py", content="x")
    assert json.loads(log.read_text()) == {
        "session_id": "session-1",
        "transcript_path": "",
        "cwd": str(desk.folder),
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
        "tool_name": "Write",
        "tool_input": {"file_path": "a.py", "content": "x"},
        "tool_use_id": "call-1",
    }


async def test_every_mapped_event_reaches_its_hooks_with_its_fields(desk: Desk) -> None:
    """The event mapping, one by one."""
    log = desk.folder / "log"
    occurrences: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
        (
            "SessionStart",
            "session:start",
            {"source": "resume", "mount_plan": {}},
            {"source": "resume"},
        ),
        ("UserPromptSubmit", "prompt:submit", {"prompt": "hi"}, {"prompt": "hi"}),
        (
            "PostToolUseFailure",
            "tool:error",
            {"tool_name": "Bash", "tool_input": {}, "error": {"type": "E", "message": "boom"}},
            {"error": "boom", "tool_name": "Bash"},
        ),
        (
            "SubagentStart",
            "agent:spawn",
            {"agent_name": "critic", "task": "t"},
            {"agent_type": "critic"},
        ),
        (
            "SubagentStop",
            "agent:complete",
            {"agent_name": "critic", "result": {"output": "fine"}},
            {"agent_type": "critic", "last_assistant_message": "fine"},
        ),
        ("PreCompact", "context:pre_compact", {"trigger": "auto"}, {"trigger": "auto"}),
        ("PostCompact", "context:post_compact", {"trigger": "manual"}, {"trigger": "manual"}),
        (
            "Notification",
            "user:notification",
            {"notification_type": "approval_required", "message": "m"},
            {"notification_type": "permission_prompt", "message": "m"},
        ),
        (
            "SessionEnd",
            "session:end",
            {"reason": "user_exit"},
            {"reason": "prompt_input_exit"},
        ),
        ("Stop", "orchestrator:complete", {"final_message": {}}, {"stop_hook_active": False}),
    ]
    hooks = {
        native: [{"hooks": [{"type": "command", "command": f"cat > {log}"}]}]
        for native, _, _, _ in occurrences
    }
    async with mounted(desk, {"hooks": hooks}):
        for native, event, data, expected in occurrences:
            log.write_text("{}")
            await desk.run(event, **data)
            got = json.loads(log.read_text())
            assert got.get("hook_event_name") == native, event
            assert {key: got.get(key) for key in expected} == expected


async def test_a_failed_tool_is_a_failure_and_not_a_use(desk: Desk) -> None:
    """PostToolUse after success, PostToolUseFailure after failure; one occurrence, one hook."""
    log = desk.folder / "log"
    hooks = {
        name: [{"hooks": [{"type": "command", "command": f"cat >/dev/null; echo {name} >> {log}"}]}]
        for name in ("PostToolUse", "PostToolUseFailure")
    }
    async with mounted(desk, {"hooks": hooks}):
        await desk.post()
        result = {"success": False, "output": None, "error": "no such file"}
        await desk.post(tool_result=result, success=False)
    assert log.read_text().split() == ["PostToolUse", "PostToolUseFailure"]


async def test_scripts_find_their_environment(desk: Desk) -> None:
    """CLAUDE_PROJECT_DIR, CLAUDE_ENV_FILE, CLAUDE_CODE_SESSION_ID, CLAUDECODE."""
    log = desk.folder / "log"
    names = "$CLAUDE_PROJECT_DIR|$CLAUDE_CODE_SESSION_ID|$CLAUDECODE|$PWD"
    command = f'cat >/dev/null; test -f "$CLAUDE_ENV_FILE" && echo "{names}" > {log}'
    async with mounted(desk, claude("PreToolUse", command)):
        await desk.pre(command="ls")
    folder = str(desk.folder)
    assert log.read_text().strip() == f"{folder}|session-1|1|{folder}"


async def test_args_run_without_a_shell(desk: Desk) -> None:
    """`args` (no shell)."""
    program = desk.script("say.sh", 'cat >/dev/null; echo "$1" >&2; exit 2')
    handler = {"type": "command", "command": program, "args": ["$HOME; echo x"]}
    async with mounted(desk, claude("PreToolUse", handler)):
        assert (await desk.pre(command="ls")).reason == "$HOME; echo x"


async def test_odd_data_still_reaches_a_guard(desk: Desk) -> None:
    """Lone surrogates, NaN and objects must not keep a guard from being asked."""
    handler = {"type": "command", "command": "cat >/dev/null; exit 2", "onFailure": "block"}
    async with mounted(desk, claude("PreToolUse", handler)):
        result = await desk.pre(command="\ud800", number=float("nan"), thing=object())
    assert (result.action, result.reason) == ("deny", "Blocked by a hook.")


# Matchers, conditions, order


@pytest.mark.parametrize(
    ("matcher", "name", "expected"),
    [
        (None, "Bash", True),
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("Ba", "Bash", False),
        ("bash", "Bash", False),
        ("Edit|Write", "Write", True),
        ("Bash, Edit", "Edit", True),
        ("Ba.*", "Bash", True),
        ("^Bash", "Bash", True),
        ("as.", "Bash", True),
        ("^(?!Bash).*", "Bash", False),
        ("^(?!Bash).*", "Read", True),
        ("mcp__.*__write", "mcp__fs__write", True),
        ("(((", "Bash", False),
    ],
)
def test_matchers(matcher: str | None, name: str, expected: bool) -> None:
    """matcher: all, exact name or list, else an unanchored, case-sensitive regex."""
    assert matches_listed(matcher, [name]) is expected


@pytest.mark.parametrize(
    ("rule", "tool", "tool_input", "expected"),
    [
        (None, "Bash", {"command": "ls"}, True),
        ("Bash(git *)", "Bash", {"command": "git push"}, True),
        ("Bash(git *)", "Bash", {"command": "git"}, True),
        ("Bash(git *)", "Bash", {"command": "gitk"}, False),
        ("Bash(git *)", "Bash", {"command": "cd x && git push"}, True),
        ("Bash(git *)", "Bash", {"command": "echo $(git push)"}, True),
        ("Bash(git *)", "Bash", {"command": "A=1 git push"}, True),
        ("Bash(npm run test:*)", "Bash", {"command": "npm run test"}, True),
        ("Bash(npm run test:*)", "Bash", {"command": "npm run testing"}, False),
        ("Bash(git *)", "Read", {"file_path": "git x"}, False),
        ("Edit(*.ts)", "Edit", {"file_path": "src/a.ts"}, True),
        ("Edit(src/**)", "Edit", {"file_path": "src/deep/a.py"}, True),
        ("Edit(src/**)", "Edit", {"file_path": "docs/a.py"}, False),
        ("Edit(//etc/**)", "Edit", {"file_path": "/etc/x/y"}, True),
        ("Read", "Read", {"file_path": "x"}, True),
        ("???", "Bash", {"command": "ls"}, True),
    ],
)
def test_if_rules(rule: str | None, tool: str, tool_input: dict[str, Any], expected: bool) -> None:
    """`if`: permission-rule syntax such as `Bash(git *)`."""
    assert allowed_by_rule(rule, [tool], tool_input, "/project") is expected


async def test_an_if_rule_avoids_spawning(desk: Desk) -> None:
    """`if` avoids spawning."""
    log = desk.folder / "log"
    handler = {"type": "command", "command": f"cat >> {log}", "if": "Bash(git *)"}
    async with mounted(desk, claude("PreToolUse", handler)):
        await desk.pre(command="ls")
        assert not log.exists()
        await desk.pre(command="git status")
    assert log.exists()


async def test_claudes_names_of_our_tools_match(desk: Desk) -> None:
    """Existing settings name TodoWrite and Task; here they are Todo and Delegate."""
    async with mounted(desk, claude("PreToolUse", "exit 2", matcher="TodoWrite|Task")):
        assert (await desk.pre("Todo")).action == "deny"
        assert (await desk.pre("Delegate")).action == "deny"
        assert (await desk.pre("Read")).action == "continue"


async def test_all_matching_hooks_run_at_once_and_deny_wins(desk: Desk) -> None:
    """All matching hooks in parallel; deny wins; each sees the original input."""
    log = desk.folder / "log"
    slow = f"cat >> {log}; sleep 0.4; echo stop >&2; exit 2"
    allow = says(specific("PreToolUse", permissionDecision="allow", updatedInput={"command": "x"}))
    started = time.monotonic()
    async with mounted(desk, claude("PreToolUse", slow, f"sleep 0.4; {allow}", f"cat >> {log}")):
        result = await desk.pre(command="ls")
    assert time.monotonic() - started < 1.1
    assert (result.action, result.reason) == ("deny", "stop")
    inputs = [json.loads(line)["tool_input"] for line in log.read_text().splitlines()]
    assert inputs == [{"command": "ls"}] * 2


async def test_among_rewrites_the_last_to_finish_wins(desk: Desk) -> None:
    """Among rewrites the last to finish wins."""

    def rewrite(to: str, after: float) -> str:
        answer = specific("PreToolUse", permissionDecision="allow", updatedInput={"command": to})
        return f"sleep {after}; {says(answer)}"

    async with mounted(desk, claude("PreToolUse", rewrite("slow", 0.5), rewrite("fast", 0))):
        result = await desk.pre(command="ls")
    assert result.data is not None
    assert result.data["tool_input"] == {"command": "slow"}


decisions = st.sampled_from([None, "allow", "ask", "defer", "deny"])


@given(st.lists(decisions))
def test_precedence_of_decisions(said: list[Any]) -> None:
    """deny > defer > ask > allow."""
    order = ["deny", "defer", "ask", "allow"]
    expected = next((one for one in order if one in said), None)
    assert combined(Verdict(decision=one) for one in said).decision == expected


async def test_once_is_once(desk: Desk) -> None:
    """`once`."""
    handler = {"type": "command", "command": "exit 2", "once": True}
    async with mounted(desk, claude("PreToolUse", handler)):
        assert (await desk.pre(command="ls")).action == "deny"
        assert (await desk.pre(command="ls")).action == "continue"


async def test_an_asynchronous_hook_delays_nothing_and_is_heard_later(desk: Desk) -> None:
    """`async`: runs beside the agent; what it says is told at the next occasion."""
    answer = specific("PostToolUse", additionalContext="build is broken")
    handler = {"type": "command", "command": f"sleep 0.5; {says(answer)}", "async": True}
    async with mounted(desk, claude("PostToolUse", handler)):
        started = time.monotonic()
        await desk.post()
        assert time.monotonic() - started < 0.4
        await asyncio.sleep(1)
        await desk.run("prompt:submit", prompt="next", metadata={})
    assert "build is broken" in desk.told


async def test_a_sub_agents_events_carry_its_id_and_its_own_start_is_no_session_start(
    desk: Desk,
) -> None:
    """agent_id in stdin; SessionStart, Stop and prompts belong to the session itself."""
    log = desk.folder / "log"
    hooks = {
        name: [{"hooks": [{"type": "command", "command": f"cat >> {log}"}]}]
        for name in ("PreToolUse", "SessionStart", "Stop")
    }
    async with mounted(desk, {"hooks": hooks}):
        child = {"session_id": "child-7"}
        await desk.run("session:start", source="startup", mount_plan={}, **child)
        await desk.run("tool:pre", tool_name="Bash", tool_input={}, **child)
        await desk.run("orchestrator:complete", final_message={}, **child)
    [seen] = [json.loads(line) for line in log.read_text().splitlines()]
    assert (seen["session_id"], seen["agent_id"]) == ("session-1", "child-7")


async def test_a_permission_hook_answers_what_a_shell_hook_asked(desk: Desk) -> None:
    """PermissionRequest: decision {behavior allow} or {behavior deny, message}."""
    ask = says(specific("PreToolUse", permissionDecision="ask"))
    deny = says(specific("PermissionRequest", decision={"behavior": "deny", "message": "never"}))
    allow = says(specific("PermissionRequest", decision={"behavior": "allow"}))
    for answer, action in ((deny, "deny"), (allow, "continue")):
        hooks = {
            **claude("PreToolUse", ask)["hooks"],
            **claude("PermissionRequest", answer)["hooks"],
        }
        async with mounted(desk, {"hooks": hooks}):
            assert (await desk.pre(command="x")).action == action
    assert desk.asked == []


async def test_a_permission_hook_cannot_answer_for_another_hook(desk: Desk) -> None:
    """Hooks can ask for approval; they cannot reach what grants it."""

    async def gate(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="ask_user", approval_prompt="really?")

    log = desk.folder / "log"
    allow = says(specific("PermissionRequest", decision={"behavior": "allow"}))
    async with mounted(desk, claude("PermissionRequest", f"tee {log} | {allow}")):
        desk.coordinator.hooks.register("tool:pre", gate, name="gate")
        result = await desk.pre(command="deploy")
    assert (result.action, desk.asked) == ("deny", ["really?"])
    assert json.loads(log.read_text())["tool_input"] == {"command": "deploy"}
    assert any("gate asks a person" in message for _, message in desk.shown)


# HTTP


class _Server(BaseHTTPRequestHandler):
    answer: tuple[int, bytes] = (200, b"")
    seen: list[tuple[dict[str, str], dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append((dict(self.headers), json.loads(body)))
        status, content = self.answer
        self.send_response(status)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet."""


@pytest.fixture
def server() -> Any:
    kind = type("OneServer", (_Server,), {"seen": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as running:
        thread = Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running, kind
        running.shutdown()
        thread.join()


async def test_an_http_hook_gets_the_same_json_and_answers_the_same_way(
    desk: Desk, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """http: POSTs the stdin JSON; headers take $VAR only from allowedEnvVars."""
    running, kind = server
    monkeypatch.setenv("HOOK_TOKEN", "t0ken")
    monkeypatch.setenv("OTHER_SECRET", "hidden")
    answer = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="remote")
    kind.answer = (200, json.dumps(answer).encode())
    handler = {
        "type": "http",
        "url": f"http://127.0.0.1:{running.server_port}/hook?x=1",
        "headers": {"Authorization": "Bearer $HOOK_TOKEN", "X-Other": "${OTHER_SECRET}"},
        "allowedEnvVars": ["HOOK_TOKEN"],
    }
    async with mounted(desk, claude("PreToolUse", handler)):
        result = await desk.pre(command="ls")
    assert (result.action, result.reason) == ("deny", "remote")
    [(headers, body)] = kind.seen
    assert (headers["Authorization"], headers.get("X-Other")) == ("Bearer t0ken", "")
    assert body["hook_event_name"] == "PreToolUse"


@pytest.mark.parametrize("on_failure", [None, "block"])
async def test_an_http_hook_that_fails_is_open_unless_told_otherwise(
    desk: Desk, server: Any, on_failure: str | None
) -> None:
    """http: onFailure."""
    running, kind = server
    kind.answer = (500, b"broken")
    handler = {
        "type": "http",
        "url": f"http://localhost:{running.server_port}/",
        "onFailure": on_failure,
    }
    async with mounted(desk, claude("PreToolUse", handler)):
        result = await desk.pre(command="ls")
    assert result.action == ("deny" if on_failure else "continue")
    told = str(result.reason) if on_failure else desk.shown[0][1]
    assert "answered with status 500" in told


@pytest.mark.parametrize(
    "url",
    [
        "http://example.test/hook",
        "http://127.0.0.1.evil.test/",
        "http://localhost.evil.test/",
        "ftp://127.0.0.1/",
        "http:///x",
        "http://127.0.0.1:99999/",
        "https://x.test/\nHost: y",
        "file:///etc/passwd",
    ],
)
def test_http_hooks_go_to_this_machine_or_over_tls(url: str) -> None:
    """http handlers to loopback or https."""
    assert explain_refusal(url) is not None


def test_urls_can_be_limited_by_the_settings() -> None:
    """allowedHttpHookUrls."""
    assert explain_refusal("https://a.test/x", ["https://a.test/*"]) is None
    assert "allowedHttpHookUrls" in str(explain_refusal("https://b.test/x", ["https://a.test/*"]))
    assert explain_refusal("http://[::1]:80/") is None


# Hostile hooks

words = st.text(max_size=10)
fields = st.sampled_from(
    [
        "continue",
        "stopReason",
        "decision",
        "reason",
        "hookSpecificOutput",
        "permissionDecision",
        "updatedInput",
        "hookEventName",
        "additionalContext",
        "permission",
        "user_message",
        "updated_input",
        "modifiedArgs",
        "behavior",
        "tool_input",
        "llm_request",
        "systemMessage",
        "suppressOutput",
        "async",
    ]
)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | words
leaves |= st.sampled_from(["deny", "allow", "ask", "block", "PreToolUse"])
answers = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(fields, inner, max_size=4),
    max_leaves=8,
)
natives = [(d.name, native) for d in DIALECTS.values() for native in d.events]


@given(st.sampled_from(natives), st.dictionaries(fields, answers, max_size=5), st.integers(0, 3))
def test_no_answer_of_a_hook_can_break_its_dialect(
    where: tuple[str, str], answer: dict[str, Any], code: int
) -> None:
    """Wrong values in JSON are failures, never crashes; what comes out can be carried out."""
    dialect = DIALECTS[where[0]]
    handler = Handler(dialect=where[0], native=where[1], where="x", command="x")
    data = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_result": {"output": "x"}}
    for occasion in dialect.events[where[1]]:
        call = Call(occasion.event, where[1], data, "s", "/")
        reply = Reply(code, json.dumps(answer), "why")
        verdict = dialect.answer(handler, call, reply)
        assert all(isinstance(one, HookResult) for one in results(occasion.event, data, verdict))


@given(st.sampled_from(natives), st.dictionaries(words, answers, max_size=4), answers)
def test_no_event_can_break_a_payload(
    where: tuple[str, str], data: dict[str, Any], odd: Any
) -> None:
    """Whatever an event carries, the hook is asked."""
    dialect = DIALECTS[where[0]]
    names = [
        "tool_name",
        "tool_input",
        "tool_result",
        "error",
        "result",
        "messages",
        "response",
        "final_message",
    ]
    for occasion in dialect.events[where[1]]:
        call = Call(occasion.event, where[1], {**data, **dict.fromkeys(names, odd)}, "s", "/")
        assert json.loads(encoded(dialect.payload(call)))
        dialect.matched(call)


@pytest.mark.parametrize(
    "command",
    [
        "yes '{\"decision\":' | head -c 3000000",
        "head -c 2000000 /dev/zero",
        'printf \'{"decision": "block"\'',
        "printf '\\xff\\xfe'; kill -9 $$",
        'python3 -c \'print("{\\"a\\":" * 100000)\'',
    ],
    ids=["endless", "zeros", "cut off", "killed", "deep"],
)
async def test_nonsense_is_never_taken_for_an_answer(desk: Desk, command: str) -> None:
    """A hook that blocks on failure blocks, others are shown or ignored; nothing hangs."""
    async with mounted(desk, claude("PreToolUse", command)):
        assert (await desk.pre(command="ls")).action == "continue"
    if "zero" in command:
        return  # plain output is allowed to be anything
    async with mounted(desk, claude("PreToolUse", {"command": command, "onFailure": "block"})):
        assert (await desk.pre(command="ls")).action == "deny"


async def test_a_hook_that_does_not_read_its_input_is_no_failure(desk: Desk) -> None:
    """A megabyte of input for a script that ignores it."""
    async with mounted(desk, claude("PreToolUse", "exit 2")):
        result = await desk.pre(command="x" * 1_000_000)
    assert (result.action, desk.shown) == ("deny", [])


async def test_hooks_do_not_hold_up_the_loop(desk: Desk) -> None:
    """Commands run asynchronously."""
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    async with mounted(desk, claude("PreToolUse", "sleep 0.5")):
        await desk.pre(command="ls")
    ticking.cancel()
    assert ticks > 15


# Settings files


def _write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


async def test_a_settings_file_of_claude_works_unchanged(desk: Desk) -> None:
    """Existing hook scripts and settings files work here unchanged."""
    script = '#!/usr/bin/env bash\ncat >/dev/null\necho "no" >&2\nexit 2\n'
    path = _write(desk.folder, ".claude/hooks/guard.sh", script)
    path.chmod(0o755)
    _write(
        desk.folder,
        ".claude/settings.json",
        {
            "permissions": {"allow": ["Bash(ls)"]},
            "hooks": {
                "PreToolUse": [
                    {
                        "matcher": "Bash|Write",
                        "hooks": [
                            {
                                "type": "command",
                                "command": '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh',
                                "timeout": 10,
                            }
                        ],
                    }
                ]
            },
        },
    )
    async with mounted(desk, {"settings": [".claude/settings.json", ".claude/none*.json"]}):
        assert (await desk.pre(command="ls")).reason == "no"
        assert (await desk.pre("Read", file_path="x")).action == "continue"


async def test_what_cannot_be_run_is_told_once_with_its_reason(desk: Desk) -> None:
    """mcp_tool, prompt, agent handlers: reported once as not supported, with their reason."""
    hooks = {
        "PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "is this safe? $ARGUMENTS"}]}],
        "PostToolBatch": [{"hooks": [{"type": "command", "command": "true"}]}],
    }
    async with mounted(desk, {"hooks": hooks, "dialect": "claude"}):
        for _ in range(2):
            await desk.run("session:start", source="startup", mount_plan={})
    [(level, message)] = desk.shown
    assert level == "warning"
    assert "a hook of type 'prompt' is not supported: it asks a model" in message
    assert "event 'PostToolBatch' has no counterpart here" in message


async def test_disabled_hooks_do_not_run(desk: Desk) -> None:
    """Switches: disableAllHooks."""
    content = {**claude("PreToolUse", "exit 2"), "disableAllHooks": True}
    _write(desk.folder, "settings.json", content)
    async with mounted(desk, {"settings": ["settings.json"]}):
        assert (await desk.pre(command="ls")).action == "continue"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "hooks-shell: give 'settings' (files) or 'hooks' (written here)"),
        ({"setings": []}, "did you mean 'settings'?"),
        ({"settings": ["none.json"]}, "cannot read settings"),
        (claude("PreToolUse", {"type": "command"}), "'command' is missing or empty"),
        (claude("PreToolUse", {"type": "shell", "command": "x"}), "unknown type 'shell'; have"),
        (claude("PreToolUse", {"command": "x", "timeout": -1}), "'timeout' must be positive"),
        (claude("PreToolUse", {"command": "x", "timeout": "5"}), "'timeout' must be a number"),
        (claude("PreToolUse", {"type": "http", "url": "http://x.test"}), "use https"),
        ({"hooks": {"PreToolUse": ["x"]}}, "PreToolUse[0] must be an object"),
    ],
)
async def test_wrong_settings_are_told_when_they_are_read(
    desk: Desk, config: dict[str, Any], message: str
) -> None:
    """Bad input gets a clear sentence."""
    with pytest.raises(ModuleLoadError) as caught:
        await mount(desk.coordinator, config)
    assert message in str(caught.value)


def test_broken_json_names_its_line(tmp_path: Path) -> None:
    """Bad input gets a clear sentence."""
    path = _write(tmp_path, "settings.json", '{\n  "hooks": {,}\n}')
    with pytest.raises(ModuleLoadError, match=r"settings\.json:2: not valid JSON"):
        read_settings_file(path, "auto")


async def test_cleanup_leaves_nothing_behind(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """`mount` returns what undoes it."""
    folder = desk.folder / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    async with mounted(desk, claude("PreToolUse", "exit 2")):
        assert list(folder.iterdir())
    assert (await desk.pre(command="ls")).action == "continue"
    assert not list(folder.iterdir())


# Other agents


@pytest.mark.parametrize(
    ("where", "hooks", "expected"),
    [
        ("x/.claude/settings.json", {"PreToolUse": []}, "claude"),
        ("hooks.json", {"PreToolUse": []}, "claude"),
        ("hooks.json", {"BeforeTool": [], "SessionStart": []}, "gemini"),
        ("hooks.json", {"beforeShellExecution": []}, "cursor"),
        (".cursor/hooks.json", {"preToolUse": []}, "cursor"),
        ("hooks.json", {"preToolUse": [{"type": "command", "bash": "true"}]}, "copilot"),
        (".github/hooks/a.json", {"preToolUse": []}, "copilot"),
        ("hooks.json", {"userPromptSubmitted": [], "agentStop": []}, "copilot"),
        (".codex/hooks.json", {"PreToolUse": []}, "codex"),
    ],
)
def test_the_dialect_is_recognised(where: str, hooks: dict[str, Any], expected: str) -> None:
    """`dialect: auto`."""
    from amplifier_foundation.hooks.shell.settings import detect

    assert detect(hooks, {"hooks": hooks}, where) == expected


async def test_gemini_settings_work_unchanged(desk: Desk) -> None:
    """Gemini: BeforeTool, its tool names, milliseconds, `decision`, merged `tool_input`."""
    log = desk.folder / "log"
    answer = {"hookSpecificOutput": {"tool_input": {"timeout": 5}}}
    handler = {
        "type": "command",
        "command": f"tee {log} >/dev/null; printf '%s' '{json.dumps(answer)}'",
        "timeout": 5000,
    }
    content = {"hooks": {"BeforeTool": [{"matcher": "run_shell_.*", "hooks": [handler]}]}}
    path = _write(desk.folder, ".gemini/settings.json", content)
    assert read_settings_file(path, "auto").handlers[0].timeout == 5.0
    async with mounted(desk, {"settings": [str(path)]}):
        result = await desk.pre(command="ls")
        await desk.pre("Read", file_path="x")
    assert result.data is not None
    assert result.data["tool_input"] == {"command": "ls", "timeout": 5}
    assert json.loads(log.read_text())["tool_name"] == "run_shell_command"


async def test_a_sequential_group_of_gemini_hands_rewrites_on(desk: Desk) -> None:
    """Gemini: parallel or `sequential: true`."""
    log = desk.folder / "log"
    first = says({"hookSpecificOutput": {"tool_input": {"command": "second sees this"}}})
    group = {"sequential": True, "hooks": [{"command": first}, {"command": f"cat > {log}"}]}
    async with mounted(desk, {"hooks": {"BeforeTool": [group]}}):
        await desk.pre(command="ls")
    assert json.loads(log.read_text())["tool_input"] == {"command": "second sees this"}


async def test_gemini_withholds_a_denied_result(desk: Desk) -> None:
    """Gemini: AfterTool deny with reason hides the output."""
    deny = says({"decision": "deny", "reason": "contains keys"})
    async with mounted(desk, {"hooks": {"AfterTool": [{"hooks": [{"command": deny}]}]}}):
        result = await desk.post()
    assert (result.action, result.reason) == ("deny", "contains keys")


async def test_cursor_hooks_work_unchanged(desk: Desk) -> None:
    """Cursor: `{command, failClosed}` lists, permission, user_message, agent_message."""
    log = desk.folder / "log"
    answer = {"permission": "deny", "user_message": "for you", "agent_message": "for the agent"}
    content = {
        "version": 1,
        "hooks": {
            "beforeShellExecution": [
                {"command": f"tee {log} >/dev/null; printf '%s' '{json.dumps(answer)}'"}
            ],
            "preToolUse": [{"command": "exit 1", "matcher": "Read", "failClosed": True}],
        },
    }
    path = _write(desk.folder, ".cursor/hooks.json", content)
    async with mounted(desk, {"settings": [str(path)]}):
        result = await desk.pre(command="curl x")
        read = await desk.pre("Read", file_path="x")
        write = await desk.pre("Write", file_path="x")
    assert (result.action, result.reason) == ("deny", "for the agent")
    assert ("info", "for you") in desk.shown
    assert (read.action, write.action) == ("deny", "continue")
    seen = json.loads(log.read_text())
    assert (seen["command"], seen["workspace_roots"]) == ("curl x", [str(desk.folder)])


async def test_copilot_hooks_work_unchanged_and_their_gate_fails_closed(desk: Desk) -> None:
    """Copilot: bash, timeoutSec, env, toolArgs, modifiedArgs; preToolUse command: closed."""
    log = desk.folder / "log"
    rewrite = """printf '{"modifiedArgs":{"command":"%s"}}' "$WHAT\""""
    content = {
        "version": 1,
        "hooks": {
            "preToolUse": [
                {
                    "type": "command",
                    "bash": f"tee {log} >/dev/null; {rewrite}",
                    "env": {"WHAT": "safe"},
                    "timeoutSec": 5,
                    "matcher": "bash",
                },
                {"type": "command", "bash": "exit 1", "matcher": "view"},
                {"type": "command", "bash": "sleep 9", "matcher": "create", "timeoutSec": 0.2},
            ]
        },
    }
    _write(desk.folder, ".github/hooks/a.json", content)
    async with mounted(desk, {"settings": [".github/hooks/*.json"]}):
        result = await desk.pre(command="ls")
        read = await desk.pre("Read", file_path="x")
        slow = await desk.pre("Write", file_path="x")
    assert result.data is not None
    assert result.data["tool_input"] == {"command": "safe"}
    seen = json.loads(log.read_text())
    assert (seen["toolName"], json.loads(seen["toolArgs"])) == ("bash", {"command": "ls"})
    assert (read.action, slow.action) == ("deny", "continue")


async def test_copilot_events_in_claudes_spelling_get_claudes_fields(desk: Desk) -> None:
    """Copilot: snake_case when the event is written in PascalCase, then Claude's matcher rules."""
    log = desk.folder / "log"
    content = {"hooks": {"PreToolUse": [{"bash": f"cat > {log}", "matcher": "Bash|Edit"}]}}
    async with mounted(desk, {"hooks": content, "dialect": "copilot"}):
        await desk.pre(command="ls")
    assert json.loads(log.read_text())["tool_name"] == "Bash"


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        (specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="x"), "deny"),
        (specific("PreToolUse", permissionDecision="deny"), "continue"),
        (specific("PreToolUse", permissionDecision="ask"), "continue"),
        (specific("PreToolUse", permissionDecision="allow"), "continue"),
        ({"continue": False}, "continue"),
        ({"decision": "approve"}, "continue"),
        ({"suppressOutput": True}, "continue"),
        ({"decision": "block", "reason": "x"}, "deny"),
    ],
)
async def test_codex_accepts_little_and_goes_ahead_otherwise(
    desk: Desk, answer: dict[str, Any], action: str
) -> None:
    """Codex: only deny with a reason, or allow together with updatedInput; the rest is invalid."""
    config = {**claude("PreToolUse", says(answer)), "dialect": "codex"}
    async with mounted(desk, config):
        result = await desk.pre(command="ls")
    assert result.action == action
    assert not desk.asked


def test_a_codex_config_in_toml_is_read(tmp_path: Path) -> None:
    """Codex: `[hooks]` in config.toml."""
    text = '[[hooks.PreToolUse]]\nmatcher = "Bash"\n[[hooks.PreToolUse.hooks]]\ncommand = "true"\n'
    [handler] = read_settings_file(_write(tmp_path, "config.toml", text), "auto").handlers
    assert (handler.dialect, handler.matcher, handler.command) == ("codex", "Bash", "true")


def test_default_timeouts_are_those_of_each_agent() -> None:
    """600 s, 30 s for prompts; Gemini 60 s; Copilot 30 s; Codex SessionEnd 1 s."""

    def timeout(dialect: str, native: str) -> float:
        hooks = {"hooks": {native: [{"command": "true"}]}}
        return read_settings(hooks, dialect, "x").handlers[0].timeout

    assert timeout("claude", "PreToolUse") == 600
    assert timeout("claude", "UserPromptSubmit") == 30
    assert timeout("gemini", "BeforeTool") == 60
    assert timeout("copilot", "preToolUse") == 30
    assert timeout("codex", "SessionEnd") == 1
