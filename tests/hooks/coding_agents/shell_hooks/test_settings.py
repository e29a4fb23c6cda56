"""Hook files of other agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.dialect import Handler
from amplifier_hooks.coding_agents.shell_hooks.settings import (
    Position,
    Settings,
    UnsupportedEntry,
    detect_dialect,
    get_list,
    read_entry,
    read_settings,
    read_settings_file,
)
from tests.hooks.coding_agents.shell_hooks.hook_files import write_file

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


RUN = {"command": "true"}


@pytest.mark.parametrize(
    ("where", "hooks", "expected"),
    [
        ("x/.claude/settings.json", {"PreToolUse": []}, "claude"),
        ("hooks.json", {"PreToolUse": []}, "claude"),
        ("hooks.json", {}, "claude"),
        ("hooks.json", {"BeforeTool": [], "SessionStart": []}, "gemini"),
        ("x/.gemini/settings.json", {"SessionStart": []}, "gemini"),
        ("hooks.json", {"beforeShellExecution": []}, "cursor"),
        (".cursor/hooks.json", {"preToolUse": []}, "cursor"),
        ("hooks.json", {"preToolUse": [{"type": "command", "bash": "true"}]}, "copilot"),
        (".github/hooks/a.json", {"preToolUse": []}, "copilot"),
        ("x/.copilot/hooks/a.json", {"PreToolUse": []}, "copilot"),
        ("hooks.json", {"userPromptSubmitted": [], "agentStop": []}, "copilot"),
        ("hooks.json", {"PreToolUse": [], "agentStop": []}, "copilot"),
        (".codex/hooks.json", {"PreToolUse": []}, "codex"),
        ("config.toml", {"PreToolUse": []}, "codex"),
    ],
)
def test_a_file_is_recognised_by_its_folder_its_keys_or_its_events(
    where: str, hooks: dict[str, Any], expected: str
) -> None:
    """In that order; events that several agents have speak for the more common one."""
    assert detect_dialect(hooks, where) == expected


def test_entries_stand_alone_or_in_groups_that_share_a_matcher() -> None:
    """Both shapes are in use."""
    hooks = {"PreToolUse": [{**RUN, "matcher": "Read"}, {"matcher": "Bash", "hooks": [RUN, RUN]}]}
    handlers = read_settings({"hooks": hooks}, "claude", "f").handlers
    assert [(one.where, one.matcher) for one in handlers] == [
        ("f: PreToolUse[0]", "Read"),
        ("f: PreToolUse[1].hooks[0]", "Bash"),
        ("f: PreToolUse[1].hooks[1]", "Bash"),
    ]


def test_hooks_share_a_lane_by_group_or_by_file() -> None:
    """Gemini orders a group that asks for it; Cursor and Copilot order a whole file."""
    group = {"sequential": True, "hooks": [RUN, RUN]}
    gemini = read_settings({"hooks": {"BeforeTool": [group, RUN]}}, "gemini", "f").handlers
    assert [one.lane for one in gemini] == ["f: BeforeTool[0]", "f: BeforeTool[0]", None]
    cursor = read_settings({"hooks": {"stop": [RUN], "preToolUse": [RUN]}}, "cursor", "f").handlers
    assert [one.lane for one in cursor] == ["f", "f"]


def test_a_copilot_file_may_hold_both_spellings() -> None:
    """Each event in the form that belongs to its spelling."""
    hooks = {"preToolUse": [RUN], "PreToolUse": [RUN]}
    handlers = read_settings({"hooks": hooks}, "copilot", "f").handlers
    assert [one.dialect for one in handlers] == ["copilot", "copilot-claude"]


def test_what_cannot_be_run_is_a_notice_and_the_rest_works() -> None:
    """An unknown event and an unsupported hook stop no other hook."""
    hooks = {
        "PostToolBatch": [RUN],
        "PreToolUse": [{"hooks": [{"type": "prompt"}, RUN]}],
        "enabled": True,
    }
    settings = read_settings({"hooks": hooks}, "claude", "f")
    assert [one.where for one in settings.handlers] == ["f: PreToolUse[0].hooks[1]"]
    first, second = settings.notices
    assert first == "f: event 'PostToolBatch' has no counterpart here; its hooks never run"
    assert second.startswith("f: PreToolUse[0].hooks[0]: a hook of type 'prompt'")


def test_an_event_in_the_spelling_of_another_agent_stands_beside_the_right_one() -> None:
    """A file that several agents read names an event for each; alone, it would be a mistake."""
    hooks = {"PreToolUse": [RUN], "preToolUse": [RUN]}
    settings = read_settings({"hooks": hooks}, "claude", "f")
    assert len(settings.handlers) == len(settings.notices) == 1
    with pytest.raises(ModuleLoadError, match="did you mean 'PreToolUse'"):
        read_settings({"hooks": {"preToolUse": [RUN]}}, "claude", "f")


@pytest.mark.parametrize("switch", ["disableAllHooks", "allowManagedHooksOnly"])
def test_a_file_may_switch_its_hooks_off(switch: str) -> None:
    """Nobody wonders afterwards why nothing runs."""
    content = {"hooks": {"PreToolUse": [RUN]}, switch: True}
    settings = read_settings(content, "claude", "f")
    assert settings == Settings(notices=(f"f: {switch!r} is set, so none of its hooks runs",))
    assert len(read_settings({**content, switch: False}, "claude", "f").handlers) == 1


def test_switches_of_the_file_hold_for_its_entries() -> None:
    """A list of allowed addresses is not for one event only."""
    entry = {"type": "http", "url": "https://b.test/"}
    content = {"hooks": {"PreToolUse": [entry]}, "allowedHttpHookUrls": ["https://a.test/*"]}
    with pytest.raises(ModuleLoadError, match=r"f: PreToolUse\[0\]: url 'https://b\.test/'"):
        read_settings(content, "claude", "f")


def test_a_toml_file_is_read(tmp_path: Path) -> None:
    """Codex keeps its hooks in its config.toml."""
    text = '[[hooks.PreToolUse]]\nmatcher = "Bash"\n[[hooks.PreToolUse.hooks]]\ncommand = "true"\n'
    [handler] = read_settings_file(write_file(tmp_path, "config.toml", text), "auto").handlers
    assert (handler.dialect, handler.matcher, handler.command) == ("codex", "Bash", "true")


@pytest.mark.parametrize("text", ["{}", "\ufeff{}", '{"model": "x"}'])
def test_a_file_without_hooks_has_none(tmp_path: Path, text: str) -> None:
    """Nothing in it, with a byte order mark, or about other things."""
    path = tmp_path / "settings.json"
    path.write_text(text, encoding="utf-8")
    assert read_settings_file(path, "auto") == Settings()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("settings.json", '{\n  "hooks": {,}\n}', "settings.json:2: not valid JSON"),
        ("config.toml", "hooks = ", "config.toml: not valid"),
        ("settings.json", "[]", "settings.json: must be an object with 'hooks'"),
        ("settings.json", '{"hooks": []}', "'hooks' must be an object, event by event"),
        ("settings.json", '{"hooks": null}', "'hooks' must be an object, event by event"),
        ("settings.json", '{"hooks": {"PreToolUse": [7]}}', "PreToolUse[0] must be an object"),
        ("settings.json", "", "settings.json:1: not valid JSON"),
        ("settings.json", "[" * 100_000, "settings.json: not valid"),
        ("settings.json", '{"hook": {}}', "unknown key 'hook'; did you mean 'hooks'?"),
        ("settings.json", '{"Hooks": {}}', "unknown key 'Hooks'; did you mean 'hooks'?"),
        ("settings.json", '{"hooks": {"PreToolUse": {}}}', "PreToolUse must be a list, got {}"),
        (
            "settings.json",
            '{"hooks": {"PreToolUse": [{"hooks": {"command": "x"}}]}}',
            "PreToolUse[0]: 'hooks' must be a list",
        ),
        (
            "settings.json",
            '{"hooks": {"PreToolUes": []}}',
            "unknown event 'PreToolUes'; did you mean 'PreToolUse'?",
        ),
    ],
)
def test_a_broken_file_says_where(tmp_path: Path, name: str, text: str, message: str) -> None:
    """The line where there is one, the place otherwise."""
    with pytest.raises(ModuleLoadError) as caught:
        read_settings_file(write_file(tmp_path, name, text), "auto")
    assert message in str(caught.value)


def test_a_file_that_is_not_text_is_not_valid(tmp_path: Path) -> None:
    """Bytes that are no UTF-8."""
    path = tmp_path / "settings.json"
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(ModuleLoadError, match="not valid"):
        read_settings_file(path, "auto")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """With the reason that the system gives."""
    with pytest.raises(ModuleLoadError, match=r"cannot read settings .*none\.json.*No such file"):
        read_settings_file(tmp_path / "none.json", "auto")


@pytest.mark.parametrize(
    ("dialect", "native", "meant"),
    [
        ("claude", "tool:pre", "PreToolUse"),
        ("claude", "pre_tool", "PreToolUse"),
        ("claude", "BeforeTool", "PreToolUse"),
        ("claude", "on_tool_start", "PreToolUse"),
        ("codex", "tool.execute.before", "PreToolUse"),
        ("gemini", "PreToolUse", "BeforeTool"),
        ("cursor", "BeforeTool", "preToolUse"),
    ],
)
def test_the_name_that_somebody_else_has_for_an_event_is_a_mistake(
    dialect: str, native: str, meant: str
) -> None:
    """Its hooks would never run; one that is only newer than our table is a notice."""
    with pytest.raises(ModuleLoadError, match=f"unknown event '{native}'; did you mean '{meant}'"):
        read_settings({"hooks": {native: [RUN]}}, dialect, "f")
    beside = read_settings({"hooks": {native: [RUN], meant: [RUN]}}, dialect, "f")
    assert len(beside.handlers) == len(beside.notices) == 1
    assert read_settings({"hooks": {"PreToolBatch": [RUN]}}, dialect, "f").notices
