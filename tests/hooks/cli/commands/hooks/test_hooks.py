"""amplifier hooks: what is in place, and what it would answer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from amplifier_hooks.agent.tools.bash import Bash
from amplifier_hooks.agent.tools.delegate import Delegate
from amplifier_hooks.agent.tools.filesystem import Edit, MultiEdit, Read, Write
from amplifier_hooks.agent.tools.search import Glob, Grep
from amplifier_hooks.agent.tools.todo import Todo
from amplifier_hooks.cli.commands.hooks import find_meant_tool
from amplifier_hooks.guards.policy import tool_calls
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import invoke, run_at_terminal
from tests.support.trust import trust_project

TOOLS = (
    Bash,
    Delegate,
    Edit,
    Glob,
    Grep,
    MultiEdit,
    Read,
    Todo,
    Write,
)


def test_every_tool_that_comes_along_is_known() -> None:
    """By the name that the model calls it."""
    assert {tool.name for tool in TOOLS} <= tool_calls.TOOLS


@pytest.mark.parametrize(
    ("name", "meant"),
    [("Bsh", "Bash"), ("bash", "Bash"), ("wirte", "Write"), ("Bash", None), ("deploy", None)],
)
def test_a_slip_is_told_from_a_name_of_its_own(name: str, meant: str | None) -> None:
    """A letter too many, missing, wrong or swapped, and the case of letters."""
    assert find_meant_tool(name) == meant


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
    """A bundle with one hook module of one's own, and nothing else."""
    (home / "mine.py").write_text(HOOKS)
    hooks = [{"module": "./mine.py", "priority": 7}]
    session = {"orchestrator": "loop-basic", "context": "context-simple"}
    return project({"text": "x"}, hooks=hooks, session=session, inherit=False)


def test_list_shows_order_priority_source_failure_and_limit(bundle: Path) -> None:
    """For one event, in its order; for machines with the same facts."""
    shown = invoke("hooks", "list", "--event", "tool:pre").stdout
    assert "\ntool:pre\n  1.  7  mine.on_tool_pre  observer  no limit  " in shown
    told = json.loads(invoke("hooks", "list", "--json").stdout)
    events = [row["event"] for row in told["hooks"]]
    assert events.index("prompt:submit") < events.index("tool:pre")
    told = json.loads(invoke("hooks", "list", "--json", "--event", "tool:pre").stdout)
    (row,) = told["hooks"]
    assert (row["order"], row["priority"], row["hook"]) == (1, 7, "mine.on_tool_pre")
    assert (row["on_error"], row["timeout"]) == ("continue", None)
    assert row["source"].endswith("mine.py")


def test_a_list_begins_with_the_persons_own_hooks_and_fits_a_screen(
    project: Project, home: Path
) -> None:
    """Each hook once: who looks whether the own hook is in use finds it on top."""
    (home / "mine.py").write_text(
        "from amplifier_core.interfaces import hook\n\n\n"
        "@hook('tool:pre', 'tool:post', priority=2000)\n"
        "async def look(event, data):\n    return None\n"
    )
    project({"text": "x"}, hooks=[{"module": "./mine.py"}])
    shown = invoke("hooks", "list").stdout.splitlines()
    assert shown[1] == "Yours"
    assert re.match(
        r"  mine\.look +observer +no limit +tool:pre, tool:post +\S+mine\.py$", shown[2]
    )
    assert shown[4] == "Built in"
    assert sum("hooks-redaction" in line for line in shown) == 1
    assert len(shown) < 24
    assert shown[-1] == "The order at one event: amplifier hooks list --event tool:pre"


def test_list_says_where_the_bundles_priority_replaces_the_files(bundle: Path) -> None:
    """Whoever reads only the file would be wrong about the order."""
    shown = invoke("hooks", "list", "--event", "tool:pre").stdout
    assert "      mine.on_tool_pre: the bundle's priority 7 replaces its own, 0\n" in shown
    told = json.loads(invoke("hooks", "list", "--json", "--event", "tool:pre").stdout)
    assert told["hooks"][0]["own_priority"] == 0
    assert "replaces" not in invoke("hooks", "list", "--event", "session:start").stdout


def test_the_default_bundle_has_its_guards_fail_closed(home: Path) -> None:
    """A guard whose own failure let things pass would be none."""
    told = json.loads(invoke("hooks", "list", "--json", "--event", "tool:pre").stdout)
    kinds = {row["hook"]: row["on_error"] for row in told["hooks"]}
    assert kinds["hooks-production-guard"] == kinds["hooks-command-guard"] == "deny"
    assert told["failures"] == []


def test_an_event_without_hooks_is_a_sentence(bundle: Path) -> None:
    """Its name is shown harmless."""
    assert invoke("hooks", "list", "--event", "a\x1bb").stdout == (
        "No hook listens to a\\u{1B}b.\n"
    )


def test_a_module_that_does_not_load_is_named(bundle: Path, home: Path) -> None:
    """With the reason, and exit code 3, in a list and in a trace."""
    (home / "mine.py").write_text("import nothing_of_that_name\n")
    trust_project(home)
    for command in (["list"], ["trace", "hello"]):
        done = invoke("hooks", *command)
        assert done.code == 3
        assert "nothing_of_that_name" in done.stdout


@pytest.mark.parametrize(
    ("command", "action", "words"),
    [
        ("bad", "deny", "it would not happen: it is bad"),
        ("odd", "continue", 'tool_input.command: "odd" → "even"'),
        ("fine", "continue", "it happens"),
        ("boom", "continue", "failed: RuntimeError: it broke"),
    ],
)
def test_trace_shows_each_answer_and_the_fold(
    bundle: Path, command: str, action: str, words: str
) -> None:
    """A tool call that never happens, through the hooks that would judge it."""
    given = ["hooks", "trace", "--tool", "Bash", "--input", json.dumps({"command": command})]
    done = invoke(*given)
    assert words in done.stdout
    assert " ms" in done.stdout
    told = json.loads(invoke(*given, "--json").stdout)
    assert told["fold"].get("action", "continue") == action
    assert told["answers"][0]["hook"] == "mine.on_tool_pre"


def test_trace_of_a_prompt(bundle: Path) -> None:
    """What a person might type."""
    shown = invoke("hooks", "trace", "hello").stdout
    assert "inject_context" in shown
    assert "injects: mind" in shown


def test_trace_takes_another_bundle_and_more_data(bundle: Path, home: Path) -> None:
    """A file by its path; fields that the event would have."""
    other = home / "other.yaml"
    other.write_text(bundle.read_text())
    bundle.unlink()
    trust_project(home, other)
    given = ["--event", "tool:pre", "--data", '{"tool_input": {"x": "bad"}}']
    done = invoke("hooks", "trace", *given, "--bundle", other, "--json")
    assert json.loads(done.stdout)["fold"]["reason"] == "it is bad"


def test_a_dangerous_command_is_denied_by_the_default_bundle(home: Path) -> None:
    """As anybody would try first."""
    command = json.dumps({"command": "rm -rf /"})
    done = invoke("hooks", "trace", "--tool", "Bash", "--input", command, "--json")
    assert json.loads(done.stdout)["fold"]["action"] == "deny"


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
    """Exit code 2, and a sentence."""
    done = invoke("hooks", "trace", *arguments)
    assert done.code == 2
    assert "Error: " in done.stderr


@pytest.mark.parametrize("command", ["list", "trace"])
def test_a_misspelled_event_is_wrong_usage(bundle: Path, command: str) -> None:
    """It would seem as if nothing guarded the event that was meant."""
    done = invoke("hooks", command, "--event", "tool:prr")
    assert done.code == 2
    assert "No event 'tool:prr'. Did you mean 'tool:pre'?" in done.stderr


@pytest.mark.parametrize(("tool", "is_told"), [("Bsh", True), ("bash", True), ("Bash", False)])
def test_trace_says_that_a_tools_name_is_misspelled(bundle: Path, tool: str, is_told: bool) -> None:
    """Its guards let pass what they do not know, and the fold alone would mislead."""
    done = invoke("hooks", "trace", "--tool", tool, "--input", '{"command": "fine"}')
    assert done.code == 0
    assert ("did you mean 'Bash'?" in done.stdout) == is_told


@pytest.mark.parametrize("event", ["tool:post", "session:start", "my:event", "execution:end"])
def test_any_event_can_be_sent(home: Path, event: str) -> None:
    """One of the reference or one's own, with data that it might have."""
    done = invoke("hooks", "trace", "--event", event)
    assert done.code == 0
    assert "⇒ continue" in done.stdout


@pytest.mark.parametrize("no_color", ["", "1"])
def test_list_and_trace_fit_the_terminal(home: Path, no_color: str) -> None:
    """The end of a source stays in view, sentences go on below; colours where they are wanted."""
    tool_input = json.dumps({"file_path": "production/app.conf", "content": "x"})
    commands = [
        ["list", "--event", "tool:pre"],
        ["trace", "--tool", "Write", "--input", tool_input],
    ]
    for command in commands:
        with run_at_terminal("hooks", *command, rows=40, env={"NO_COLOR": no_color}) as program:
            assert program.wait_end(30) == 0
            lines = [line for line in program.lines() if line.strip()]
        assert all(line.startswith("  ") for line in lines[1:]), lines
        assert (b"\x1b[1;36m" in program.raw) == (not no_color)
        if command[0] == "list":
            assert all(line.rstrip().endswith(":mount") for line in lines[1:])


def test_list_shows_every_hook_that_does_not_load(project: Project, home: Path) -> None:
    """Also one that is required: with its line, its reason, and whether a session would start."""
    (home / "mine.py").write_text("import nothing_of_this_name\n")
    hooks = [
        {"module": "./mine.py", "required": True},
        {"module": "hooks-shell", "config": {"settings": ["gone.json"]}},
        {"module": "hooks-datetime", "config": {"timezone": "Nowhere"}},
        {"module": "hooks-rate-limit", "config": {"overall": {"calls": 3}}},
    ]
    bundle = project({"text": "x"}, hooks=hooks)
    shown = invoke("hooks", "list")
    assert shown.code == 3
    assert "hooks-rate-limit" in shown.stdout
    told = [line for line in shown.stdout.splitlines() if line.startswith(f"✗ {bundle}:")]
    mine, shell, observer = told
    assert "nothing_of_this_name' (mine.py, line 1) — no session starts without it" in mine
    assert "gone.json" in shell
    assert shell.endswith(" — no session starts without it")
    assert observer.endswith(" — sessions start without it")
