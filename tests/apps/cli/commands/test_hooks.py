"""amplifier hooks and modules validate: what is in place, and what it would answer."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from amplifier_apps.cli.main import cli
from tests.apps.cli.conftest import Project
from tests.apps.cli.pty_program import PtyProgram

HOOKS = """
from amplifier_core.models import HookResult

async def on_tool_pre(event, data):
    if "bad" in str(data["tool_input"]):
        return HookResult(action="deny", reason="it is bad")
    if "odd" in str(data["tool_input"]):
        changed = {**data, "tool_input": {"command": "even"}}
        return HookResult(action="modify", data=changed)
    if "boom" in str(data["tool_input"]):
        raise RuntimeError("it broke")

async def on_prompt_submit(event, data):
    return HookResult(action="inject_context", context_injection="mind\\nthe gap")
"""


@pytest.fixture
def bundle(project: Project, home: Path) -> Path:
    (home / "mine.py").write_text(HOOKS)
    hooks = [{"module": "./mine.py", "priority": 7}]
    session = {"orchestrator": "loop-basic", "context": "context-simple"}
    return project({"text": "x"}, hooks=hooks, session=session, inherit=False)


def call(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def test_list_shows_order_priority_source_failure_and_limit(bundle: Path) -> None:
    """Effective order per event, priority, source, on_error, timeout."""
    output = call("hooks", "list").output
    assert "tool:pre" in output
    told = json.loads(call("hooks", "list", "--json", "--event", "tool:pre").output)
    (row,) = told["hooks"]
    assert (row["order"], row["priority"], row["hook"]) == (1, 7, "on_tool_pre")
    assert (row["on_error"], row["timeout"]) == ("continue", None)
    assert row["source"].endswith("mine.py")


def test_the_default_bundle_has_its_guards_fail_closed(home: Path) -> None:
    """Guards register with on_error deny."""
    told = json.loads(call("hooks", "list", "--json", "--event", "tool:pre").output)
    kinds = {row["hook"]: row["on_error"] for row in told["hooks"]}
    assert kinds["hooks-production-guard"] == kinds["hooks-command-guard"] == "deny"
    assert told["failures"] == []


def test_a_module_that_does_not_load_is_named(bundle: Path, home: Path) -> None:
    """Exit code 3, with the reason."""
    (home / "mine.py").write_text("import nothing_of_that_name\n")
    result = CliRunner().invoke(cli, ["hooks", "list"], standalone_mode=False)
    assert result.return_value == 3
    assert "nothing_of_that_name" in result.output


@pytest.mark.parametrize(
    ("command", "action", "words"),
    [
        ("bad", "deny", "it would not happen: it is bad"),
        ("odd", "continue", '"command": "even"'),
        ("fine", "continue", "it happens"),
        ("boom", "continue", "failed: RuntimeError: it broke"),
    ],
)
def test_trace_shows_each_answer_and_the_fold(
    bundle: Path, command: str, action: str, words: str
) -> None:
    """One synthetic event through the effective hooks: each answer, duration and the fold."""
    given = ["hooks", "trace", "--tool", "Bash", "--input", json.dumps({"command": command})]
    result = call(*given)
    assert words in result.output
    assert " ms" in result.output
    told = json.loads(call(*given, "--json").output)
    assert told["fold"].get("action", "continue") == action
    assert told["answers"][0]["hook"] == "on_tool_pre"


def test_trace_of_a_prompt(bundle: Path) -> None:
    """One prompt through the effective hooks."""
    output = call("hooks", "trace", "hello").output
    assert "inject_context" in output
    assert "injects: mind" in output


def test_trace_tells_which_hooks_were_not_reached(home: Path) -> None:
    """A deny stops the chain."""
    command = json.dumps({"command": "rm -rf /"})
    told = json.loads(call("hooks", "trace", "--tool", "Bash", "--input", command, "--json").output)
    assert told["fold"]["action"] == "deny"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--tool", "Bash", "--input", "{"],
        ["--tool", "Bash", "--input", "[]"],
        ["--event", "x:y", "--data", "7"],
    ],
)
def test_wrong_input_is_wrong_usage(bundle: Path, arguments: list[str]) -> None:
    """Bad input gets a clear sentence."""
    assert call("hooks", "trace", *arguments).exit_code == 2


@pytest.mark.parametrize("event", ["tool:post", "session:start", "my:event", "execution:end"])
def test_any_event_can_be_sent(home: Path, event: str) -> None:
    """One synthetic event, of the reference or one's own."""
    assert call("hooks", "trace", "--event", event).exit_code == 0


def test_validate_a_hook_of_ones_own(bundle: Path, home: Path) -> None:
    """modules validate: by path, with the promise that was not kept."""
    good = CliRunner().invoke(cli, ["modules", "validate", "./mine.py"], standalone_mode=False)
    assert good.return_value == 0, good.output
    (home / "broken.py").write_text("x = 1\n")
    bad = CliRunner().invoke(cli, ["modules", "validate", "./broken.py"], standalone_mode=False)
    assert bad.return_value == 3
    assert "✗" in bad.output


def test_validate_an_installed_module_as_json(home: Path) -> None:
    """By id, for machines."""
    told = json.loads(call("modules", "validate", "tool-todo", "--json").output)
    assert told["passed"] is True


@pytest.mark.parametrize("no_color", ["", "1"])
def test_list_and_trace_fit_the_terminal(home: Path, no_color: str) -> None:
    """Honours NO_COLOR and width: the end of a source stays in view, sentences go on below."""
    tool_input = json.dumps({"file_path": "production/app.conf", "content": "x"})
    commands = [
        ["list", "--event", "tool:pre"],
        ["trace", "--tool", "Write", "--input", tool_input],
    ]
    for command in commands:
        program = PtyProgram(
            [sys.executable, "-m", "amplifier_apps.cli.main", "hooks", *command],
            80,
            40,
            {"NO_COLOR": no_color},
            home,
        )
        try:
            assert program.wait_end(30) == 0
            lines = [line for line in program.lines() if line.strip()]
        finally:
            program.child.close(force=True)
        assert all(line.startswith("  ") for line in lines[1:]), lines
        if command[0] == "list":
            assert all(line.rstrip().endswith(":mount") for line in lines[1:])
