"""One entry of a hook file."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.dialect import Handler
from amplifier_hooks.coding_agents.shell_hooks.entry import (
    Position,
    UnsupportedEntry,
    get_list,
    read_entry,
)

Data = dict[str, Any]


def make_position(dialect: str = "claude", native: str = "PreToolUse") -> Position:
    return Position("file.json: here", DIALECTS[dialect], native, "lane-1")


def read(entry: Any, matcher: Any = None, settings: Data | None = None) -> Handler:
    return read_entry(make_position(), entry, matcher, settings)


def test_a_handler_knows_where_it_was_written() -> None:
    """File, event, dialect and lane come from the position; the matcher from the group."""
    handler = read({"command": "true"}, "Bash")
    assert handler == Handler(
        dialect="claude",
        native="PreToolUse",
        where="file.json: here",
        command="true",
        matcher="Bash",
        timeout=600.0,
        lane="lane-1",
    )


@pytest.mark.parametrize(
    ("entry", "field", "expected"),
    [
        ({"if": "Bash(git *)"}, "condition", "Bash(git *)"),
        ({"if": ""}, "condition", None),
        ({"onFailure": "block"}, "fail_closed", True),
        ({"onFailure": "allow"}, "fail_closed", False),
        ({"failClosed": True}, "fail_closed", True),
        ({"async": True}, "background", True),
        ({"asyncRewake": True}, "background", True),
        ({"async": "yes"}, "background", False),
        ({"once": True}, "once", True),
        ({"loop_limit": 3}, "loop_limit", 3),
        ({"loop_limit": 0}, "loop_limit", 0),
        ({"loop_limit": -1}, "loop_limit", 8),
        ({"loop_limit": "many"}, "loop_limit", 8),
    ],
)
def test_every_switch_of_an_entry_is_understood(entry: Data, field: str, expected: Any) -> None:
    """What is no proper value of a switch leaves it where it was."""
    assert getattr(read({"command": "true", **entry}), field) == expected


@pytest.mark.parametrize(
    ("entry", "args"),
    [
        ({"command": "guard"}, None),
        ({"bash": "guard"}, None),
        ({"command": "guard", "args": []}, ("guard",)),
        ({"command": "guard", "args": ["-n", 1]}, ("guard", "-n", "1")),
        ({"exec": "guard"}, ("guard",)),
        ({"exec": "guard", "args": ["-n"]}, ("guard", "-n")),
        (
            {"command": "guard", "shell": "powershell"},
            ("pwsh", "-NoProfile", "-Command", "guard"),
        ),
    ],
)
def test_a_command_is_a_line_of_bash_or_a_program_with_arguments(
    entry: Data, args: tuple[str, ...] | None
) -> None:
    """`args` and `exec` go without a shell."""
    handler = read(entry)
    assert (handler.command, handler.args) == ("guard", args)


def test_the_environment_of_an_entry_may_name_other_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are filled in when the file is read."""
    monkeypatch.setenv("STAGE", "test")
    handler = read({"command": "x", "env": {"A": "$STAGE-1", "B": 2}, "cwd": "sub"})
    assert (handler.env, handler.cwd) == ({"A": "test-1", "B": "2"}, "sub")
    assert read({"command": "x"}).env == {}


@pytest.mark.parametrize(
    ("dialect", "native", "entry", "seconds"),
    [
        ("claude", "PreToolUse", {}, 600),
        ("claude", "UserPromptSubmit", {}, 30),
        ("claude", "SessionEnd", {}, 1.5),
        ("codex", "UserPromptSubmit", {}, 600),
        ("codex", "SessionEnd", {}, 1),
        ("gemini", "BeforeTool", {}, 60),
        ("cursor", "preToolUse", {}, 60),
        ("copilot", "preToolUse", {}, 30),
        ("copilot-claude", "PreToolUse", {}, 30),
        ("claude", "PreToolUse", {"timeout": 5}, 5),
        ("gemini", "BeforeTool", {"timeout": 5000}, 5),
        ("gemini", "BeforeTool", {"timeoutSec": 5}, 5),
        ("copilot", "preToolUse", {"timeoutSec": 0.5}, 0.5),
    ],
)
def test_a_time_limit_is_in_the_units_of_its_agent(
    dialect: str, native: str, entry: Data, seconds: float
) -> None:
    """Where none is written, the agent's own default holds."""
    position = make_position(dialect, native)
    assert read_entry(position, {"command": "true", **entry}).timeout == seconds


def test_a_request_has_headers_and_variables_for_them() -> None:
    """A variable must be allowed by the entry, and by the file if that has a list."""
    entry = {
        "type": "http",
        "url": "https://hooks.test/x",
        "headers": {"X-Token": "$A"},
        "allowedEnvVars": ["A", "B"],
    }
    handler = read(entry)
    assert (handler.url, handler.command) == ("https://hooks.test/x", None)
    assert handler.headers == {"X-Token": "$A"}
    assert handler.header_vars == {"A", "B"}
    assert read(entry, settings={"httpHookAllowedEnvVars": ["B", "C"]}).header_vars == {"B"}


@pytest.mark.parametrize("kind", ["prompt", "agent", "mcp_tool"])
def test_a_hook_that_cannot_run_here_says_why(kind: str) -> None:
    """It is written rightly, so it is no error."""
    with pytest.raises(UnsupportedEntry, match=f"here: a hook of type '{kind}' is not supported"):
        read({"type": kind})


def test_a_hook_for_powershell_alone_does_not_run() -> None:
    """One that has a line for bash as well does."""
    with pytest.raises(UnsupportedEntry, match="PowerShell only"):
        read({"powershell": "Write-Host"})
    assert read({"powershell": "Write-Host", "bash": "echo"}).command == "echo"


@pytest.mark.parametrize(
    ("entry", "matcher", "message"),
    [
        ("true", None, "file.json: here must be an object, got 'true'"),
        ({}, None, "file.json: here: 'command' is missing or empty"),
        ({"command": "  "}, None, "'command' is missing or empty"),
        ({"command": 7}, None, "'command' is missing or empty"),
        ({"command": "x", "type": "shell"}, None, "unknown type 'shell'; have command, http"),
        ({"command": "x"}, 5, "'matcher' must be a text, got 5"),
        ({"command": "x", "timeout": "5"}, None, "'timeout' must be a number, got '5'"),
        ({"command": "x", "timeout": True}, None, "'timeout' must be a number, got True"),
        ({"command": "x", "timeout": 0}, None, "'timeout' must be positive, got 0"),
        ({"command": "x", "timeout": float("nan")}, None, "'timeout' must be positive"),
        ({"command": "x", "cwd": 7}, None, "'cwd' must be a text, got 7"),
        ({"command": "x", "args": "a b"}, None, "'args' must be a list, got 'a b'"),
        ({"command": "x", "env": ["A=1"]}, None, "'env' must be an object, got ['A=1']"),
        ({"command": "x", "failClosed": "true"}, None, "'failClosed' must be true or false"),
        ({"command": "x", "failclosed": True}, None, "did you mean 'failClosed'?"),
        ({"command": "x", "onFailure": "blok"}, None, "'onFailure': unknown value 'blok'"),
        ({"command": "x", "onfailure": "block"}, None, "did you mean 'onFailure'?"),
        ({"type": "http"}, None, "'url' is missing"),
        ({"type": "http", "url": "http://x.test"}, None, "use https"),
    ],
)
def test_a_wrong_entry_is_an_error_that_names_its_place(
    entry: Any, matcher: Any, message: str
) -> None:
    """Whoever wrote the file finds the spot."""
    with pytest.raises(ModuleLoadError, match="hooks-shell") as caught:
        read(entry, matcher)
    assert message in str(caught.value)


def test_a_request_to_an_address_that_the_file_does_not_allow_is_an_error() -> None:
    """`allowedHttpHookUrls` holds for every entry of its file."""
    entry = {"type": "http", "url": "https://b.test/"}
    with pytest.raises(ModuleLoadError, match="allowedHttpHookUrls"):
        read(entry, settings={"allowedHttpHookUrls": ["https://a.test/*"]})


def test_what_is_no_list_is_an_empty_one() -> None:
    """Files are written by hand."""
    assert get_list([1]) == [1]
    assert get_list("ab") == get_list(None) == get_list({"a": 1}) == []
