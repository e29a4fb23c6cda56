"""One event to the hooks that want it, and their verdict back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.models import HookResult
from amplifier_core.testing import ScriptedApproval
from amplifier_hooks.coding_agents.dialects.dialect import Handler
from amplifier_hooks.coding_agents.shell_hooks.config import Config
from amplifier_hooks.coding_agents.shell_hooks.module import Dispatcher
from tests.hooks.coding_agents.shell_hooks.hook_files import (
    configure,
    make_command,
    read_log,
    specific,
)
from tests.support.harness import Harness
from tests.support.hooks import asks

DONE = {"final_message": {"content": "done"}, "status": "success"}
ASK = make_command(specific("PreToolUse", permissionDecision="ask"))


def make_dispatcher(harness: Harness, *handlers: Handler, **more: Any) -> Dispatcher:
    return Dispatcher(harness.coordinator, Config(), handlers, **more)


def make_handler(native: str, command: str = "true", **fields: Any) -> Handler:
    return Handler("claude", native, fields.pop("where", native), command=command, **fields)


def permit(behavior: str, **fields: Any) -> str:
    """A command that answers a permission request."""
    decision = {"behavior": behavior, **fields}
    return make_command(specific("PermissionRequest", decision=decision))


# What it listens to


def test_it_listens_to_the_events_of_its_hooks_and_knows_which_must_block(
    harness: Harness,
) -> None:
    """One hook that blocks on failure is enough for its event."""
    dispatcher = make_dispatcher(
        harness,
        make_handler("PreToolUse"),
        make_handler("PreToolUse", where="b", fail_closed=True),
        make_handler("SessionEnd"),
    )
    assert dispatcher.events == {"tool:pre": True, "session:end": False}


def test_some_hooks_need_an_event_that_is_not_theirs(harness: Harness) -> None:
    """Questions need the input before them, notices the start, late answers the next prompt."""
    assert set(make_dispatcher(harness, make_handler("PermissionRequest")).events) == {
        "approval:required",
        "tool:pre",
    }
    late = make_dispatcher(harness, make_handler("PostToolUse", background=True))
    assert set(late.events) == {"tool:post", "prompt:submit"}
    assert make_dispatcher(harness, notices=["odd"]).events == {"session:start": False}


async def test_every_event_reaches_its_hooks_with_its_fields(
    harness: Harness, tmp_path: Path
) -> None:
    """From our event to the payload on standard input, one by one."""
    log = tmp_path / "log"
    failure = {"tool_name": "Bash", "tool_input": {}, "error": {"type": "E", "message": "boom"}}
    sub_agent = {"agent_name": "critic", "task": "t"}
    notification = {"notification_type": "approval_required", "message": "m"}
    occurrences: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
        ("SessionStart", "session:start", {"source": "resume"}, {"source": "resume"}),
        ("UserPromptSubmit", "prompt:submit", {"prompt": "hi"}, {"prompt": "hi"}),
        ("PostToolUseFailure", "tool:error", failure, {"error": "boom", "tool_name": "Bash"}),
        ("SubagentStart", "agent:spawn", sub_agent, {"agent_type": "critic"}),
        (
            "SubagentStop",
            "agent:complete",
            {**sub_agent, "result": {"output": "fine"}},
            {"agent_type": "critic", "last_assistant_message": "fine"},
        ),
        ("PreCompact", "context:pre_compact", {"trigger": "auto"}, {"trigger": "auto"}),
        ("PostCompact", "context:post_compact", {"trigger": "manual"}, {"trigger": "manual"}),
        (
            "Notification",
            "user:notification",
            notification,
            {"notification_type": "permission_prompt", "message": "m"},
        ),
        ("SessionEnd", "session:end", {"reason": "user_exit"}, {"reason": "prompt_input_exit"}),
        ("Stop", "orchestrator:complete", {"final_message": {}}, {"stop_hook_active": False}),
    ]
    hooks = {native: [{"command": f"cat >> {log}"}] for native, *_ in occurrences}
    async with harness.mounted("shell", {"hooks": hooks}):
        for _, event, data, _ in occurrences:
            await harness.run(event, **data)
    seen = read_log(log)
    assert [one["hook_event_name"] for one in seen] == [native for native, *_ in occurrences]
    for payload, (*_, expected) in zip(seen, occurrences, strict=True):
        assert {key: payload[key] for key in expected} == expected


# What it answers


async def test_one_answer_goes_out_at_once_and_the_others_follow(harness: Harness) -> None:
    """Asked again about the same call, each gives the same answer; about another call, none."""
    answer = specific("PreToolUse", updatedInput={"command": "pwd"}, additionalContext="c")
    dispatcher = make_dispatcher(harness, make_handler("PreToolUse", make_command(answer)))
    call = {"tool_name": "Bash", "tool_input": {}, "tool_call_id": "1", "session_id": "s"}
    first = await dispatcher.on_event("tool:pre", call)
    second, third = dispatcher.make_follower(0), dispatcher.make_follower(1)
    assert first.action == "modify"
    for _ in range(2):
        assert (await second("tool:pre", call)).context_injection == "c"
    assert (await third("tool:pre", call)).action == "continue"
    assert (await second("tool:pre", {**call, "tool_call_id": "2"})).action == "continue"


async def test_both_spellings_of_an_event_are_one(harness: Harness) -> None:
    """An event with a hyphen finds the hooks of the one with an underscore."""
    dispatcher = make_dispatcher(harness, make_handler("PreCompact", "exit 2"))
    answer = await dispatcher.on_event("context:pre-compact", {"trigger": "auto"})
    assert answer.action == "deny"


async def test_what_is_wrong_in_the_files_is_told_once_when_the_session_starts(
    harness: Harness,
) -> None:
    """A hook that cannot run here and an event that does not exist here."""
    hooks = {
        "PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "is this safe? $ARGUMENTS"}]}],
        "PostToolBatch": [{"hooks": [{"type": "command", "command": "true"}]}],
    }
    async with harness.mounted("shell", {"hooks": hooks, "dialect": "claude"}):
        for _ in range(2):
            await harness.run("session:start", source="startup", mount_plan={})
    [(message, level, _)] = harness.shown
    assert level == "warning"
    assert "a hook of type 'prompt' is not supported: it asks a model" in message
    assert "event 'PostToolBatch' has no counterpart here" in message


async def test_a_hook_can_name_the_session(harness: Harness) -> None:
    """If the session can be renamed; otherwise the name is lost."""
    named: list[tuple[str, str]] = []
    answer = make_command(specific("UserPromptSubmit", sessionTitle="Fix the build"))
    dispatcher = make_dispatcher(harness, make_handler("UserPromptSubmit", answer))
    await dispatcher.on_event("prompt:submit", {"prompt": "x"})
    harness.coordinator.register_capability("session.rename", lambda *args: named.append(args))
    await dispatcher.on_event("prompt:submit", {"prompt": "x"})
    assert named == [("Fix the build", "")]


# Sub-agents


async def test_a_sub_agents_start_and_stop_are_not_those_of_the_session(
    harness: Harness, tmp_path: Path
) -> None:
    """Its tool calls are told, with its id beside that of the session."""
    log = tmp_path / "log"
    hooks = {
        name: [{"command": f"cat >> {log}"}] for name in ("PreToolUse", "SessionStart", "Stop")
    }
    async with harness.mounted("shell", {"hooks": hooks}):
        child = {"session_id": "child-7"}
        await harness.run("session:start", source="startup", mount_plan={}, **child)
        await harness.run("tool:pre", tool_name="Bash", tool_input={}, **child)
        await harness.run("orchestrator:complete", **DONE, **child)
    [seen] = read_log(log)
    assert (seen["session_id"], seen["agent_id"]) == ("test-session", "child-7")


# Questions


@pytest.mark.parametrize(
    ("answer", "action"),
    [(permit("deny", message="never"), "deny"), (permit("allow"), "continue")],
)
async def test_a_permission_hook_answers_what_a_shell_hook_asked(
    tmp_path: Path, answer: str, action: str
) -> None:
    """No person is asked any more."""
    person = ScriptedApproval("Deny")
    harness = Harness(tmp_path, approval=person)
    hooks = {"PreToolUse": [{"command": ASK}], "PermissionRequest": [{"command": answer}]}
    async with harness.mounted("shell", {"hooks": hooks}):
        assert (await harness.pre("Bash", command="x")).action == action
    assert person.prompts == []


async def test_a_permission_hook_without_an_opinion_leaves_the_question_open(
    tmp_path: Path,
) -> None:
    """Then a person decides, after all."""
    person = ScriptedApproval("Allow")
    harness = Harness(tmp_path, approval=person)
    hooks = {"PreToolUse": [{"command": ASK}], "PermissionRequest": [{"command": "true"}]}
    async with harness.mounted("shell", {"hooks": hooks}):
        assert (await harness.pre("Bash", command="x")).action == "continue"
    assert len(person.prompts) == 1


async def test_a_permission_hook_cannot_answer_for_another_hook(tmp_path: Path) -> None:
    """It only learns of that question, with the input it is about, and the person reads both."""
    person = ScriptedApproval("Deny")
    harness = Harness(tmp_path, approval=person)
    log = tmp_path / "log"
    command = f"tee {log} | {permit('allow')}"
    async with harness.mounted("shell", configure("PermissionRequest", command)):
        harness.hooks.register("tool:pre", asks("really?"), name="gate")
        result = await harness.pre("Bash", command="deploy")
    assert (result.action, person.prompts) == ("deny", ["really?"])
    assert json.loads(log.read_text())["tool_input"] == {"command": "deploy"}
    assert any("gate asks a person" in message for message, *_ in harness.shown)


# Blocked stops


async def test_a_stop_can_be_blocked_eight_times_in_a_row(harness: Harness, tmp_path: Path) -> None:
    """The hook learns from the second time on that it did so before; the ninth is let go."""
    log = tmp_path / "log"
    command = f"cat >> {log}; echo 'run the tests first' >&2; exit 2"
    async with harness.mounted("shell", configure("Stop", command)):
        for _ in range(9):
            await harness.run("orchestrator:complete", **DONE)
    seen = read_log(log)
    assert [one["stop_hook_active"] for one in seen] == [False] + [True] * 8
    assert seen[0]["last_assistant_message"] == "done"
    assert sum("run the tests first" in text for text in harness.texts) == 8
    assert "blocked 8 times in a row" in harness.shown[-1][0]


async def test_a_stop_that_is_not_blocked_starts_the_count_again(harness: Harness) -> None:
    """Only stops in a row count."""
    dispatcher = make_dispatcher(harness, make_handler("Stop", "exit 2", loop_limit=1))
    free = make_dispatcher(harness, make_handler("Stop", 'grep -q "go on"', loop_limit=1))
    actions = [(await dispatcher.on_event("orchestrator:complete", DONE)).action for _ in range(3)]
    assert actions == ["inject_context", "continue", "inject_context"]
    assert (await free.on_event("orchestrator:complete", DONE)).context_injection is None


async def test_a_session_that_can_go_on_by_itself_gets_the_reason_as_its_next_task(
    harness: Harness,
) -> None:
    """The prompt that comes of it is not told to prompt hooks."""
    tasks: list[str] = []
    harness.coordinator.register_capability(
        "session.keep_working", lambda reason, event: tasks.append(reason)
    )
    dispatcher = make_dispatcher(
        harness,
        make_handler("Stop", "echo 'run the tests' >&2; exit 2"),
        make_handler("UserPromptSubmit", "exit 2"),
    )
    answer = await dispatcher.on_event("orchestrator:complete", DONE)
    assert (answer.action, tasks) == ("continue", ["run the tests"])
    prompt: dict[str, Any] = {"prompt": "run the tests", "metadata": {"source": "stop_hook"}}
    assert await dispatcher.on_event("prompt:submit", prompt) == HookResult(action="continue")
    assert (await dispatcher.on_event("prompt:submit", {"prompt": "hi"})).action == "deny"
