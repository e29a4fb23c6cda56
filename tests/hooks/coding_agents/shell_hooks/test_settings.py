"""Hook files of other agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.coding_agents.shell_hooks.settings import (
    Settings,
    detect_dialect,
    read_settings,
    read_settings_file,
)
from tests.hooks.coding_agents.shell_hooks.hook_files import write_file

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
