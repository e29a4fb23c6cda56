"""Mounting hooks-shell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from tests.hooks.coding_agents.shell_hooks.hook_files import configure, write_file, write_script
from tests.support.harness import Harness
from tests.support.project import Project


async def test_a_settings_file_works_unchanged(harness: Harness, tmp_path: Path) -> None:
    """With its script, its matcher and whatever else stands in it; a pattern may find nothing."""
    script = '#!/usr/bin/env bash\ncat >/dev/null\necho "no" >&2\nexit 2\n'
    write_file(tmp_path, ".claude/hooks/guard.sh", script).chmod(0o755)
    command = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'
    group = {
        "matcher": "Bash|Write",
        "hooks": [{"type": "command", "command": command, "timeout": 10}],
    }
    content = {"permissions": {"allow": ["Bash(ls)"]}, "hooks": {"PreToolUse": [group]}}
    write_file(tmp_path, ".claude/settings.json", content)
    files = [".claude/settings.json", ".claude/none*.json"]
    async with harness.mounted("shell", {"settings": files}):
        assert (await harness.pre("Bash", command="ls")).reason == "no"
        assert (await harness.pre("Read", file_path="x")).action == "continue"


async def test_hooks_come_from_every_file_and_from_the_bundle(
    harness: Harness, tmp_path: Path
) -> None:
    """Files of different agents may stand side by side."""
    group = {"hooks": [{"command": "echo gemini >&2; exit 2"}]}
    write_file(tmp_path, ".gemini/settings.json", {"hooks": {"BeforeTool": [group]}})
    cursor = {"hooks": {"preToolUse": [{"command": "echo cursor >&2; exit 2"}]}}
    write_file(tmp_path, ".cursor/hooks.json", cursor)
    config = {
        "settings": [".gemini/settings.json", ".cursor/*.json"],
        "hooks": {"PreToolUse": [{"command": "echo bundle >&2; exit 2"}]},
    }
    async with harness.mounted("shell", config):
        reason = (await harness.pre("Bash", command="ls")).reason
    assert set(reason.split()) == {"gemini", "cursor", "bundle"}


async def test_a_whole_settings_object_may_stand_in_the_bundle(harness: Harness) -> None:
    """As well as its events alone."""
    content = {"disableAllHooks": True, "hooks": {"PreToolUse": [{"command": "exit 2"}]}}
    async with harness.mounted("shell", {"hooks": content}):
        assert (await harness.pre("Bash", command="ls")).action == "continue"
    async with harness.mounted("shell", {"hooks": content["hooks"]}):
        assert (await harness.pre("Bash", command="ls")).action == "deny"


async def test_paths_begin_at_the_project(harness: Harness, tmp_path: Path) -> None:
    """Which may be another folder than the one the session works in."""
    content = {"hooks": {"PreToolUse": [{"command": "pwd >&2; exit 2"}]}}
    write_file(tmp_path, "other/settings.json", content)
    config = {"settings": ["settings.json"], "project_dir": str(tmp_path / "other")}
    async with harness.mounted("shell", config):
        assert (await harness.pre("Bash", command="ls")).reason == str(tmp_path / "other")


async def test_scripts_find_their_environment(harness: Harness, tmp_path: Path) -> None:
    """The project, the session, the mark of the agent, and a file for variables."""
    log = tmp_path / "log"
    names = "$CLAUDE_PROJECT_DIR|$CLAUDE_CODE_SESSION_ID|$CLAUDECODE|$PWD"
    command = f'cat >/dev/null; test -f "$CLAUDE_ENV_FILE" && echo "{names}" > {log}'
    async with harness.mounted("shell", configure("PreToolUse", command)):
        await harness.pre("Bash", command="ls")
    assert log.read_text().strip() == f"{tmp_path}|test-session|1|{tmp_path}"


@pytest.mark.parametrize(
    ("handler", "config", "on_error"),
    [
        ({"command": "true"}, {}, "continue"),
        ({"command": "true", "onFailure": "block"}, {}, "deny"),
        ({"command": "true"}, {"fail_closed": True}, "deny"),
    ],
)
async def test_a_hook_that_blocks_on_failure_is_registered_as_a_guard(
    harness: Harness, handler: dict[str, Any], config: dict[str, Any], on_error: str
) -> None:
    """So that our own failure blocks, too."""
    config = {**configure("PreToolUse", handler), **config, "priority": 7}
    async with harness.mounted("shell", config):
        registered = harness.hooks.handlers_for("tool:pre")
        assert {one.on_error for one in registered} == {on_error}
        assert {(one.name, one.priority) for one in registered} == {("hooks-shell", 7)}


async def test_cleaning_up_leaves_nothing_behind(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No registration and no temporary file; a second time does no harm."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    cleanup = await harness.mount("shell", configure("PreToolUse", "exit 2"))
    assert list(folder.iterdir())
    for _ in range(2):
        await cleanup()
        assert (await harness.pre("Bash", command="ls")).action == "continue"
        assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "hooks-shell: give 'settings' (files) or 'hooks' (written here)"),
        ({"setings": []}, "did you mean 'settings'?"),
        ({"settings": ["none.json"]}, "cannot read settings"),
        (configure("PreToolUse", {}), "'command' is missing or empty"),
        (configure("PreToolUse", {"type": "shell", "command": "x"}), "unknown type 'shell'; have"),
        (configure("PreToolUse", {"command": "x", "timeout": -1}), "'timeout' must be positive"),
        (configure("PreToolUse", {"command": "x", "timeout": "5"}), "'timeout' must be a number"),
        (configure("PreToolUse", {"type": "http", "url": "http://x.test"}), "use https"),
        ({"hooks": {"PreToolUse": ["x"]}}, "PreToolUse[0] must be an object"),
        (
            {**configure("PreToolUse", {"type": "prompt"}), "fail_closed": True},
            "'fail_closed' is set, and not every hook runs: config: PreToolUse[0]",
        ),
    ],
)
async def test_what_is_wrong_is_said_when_the_session_is_built(
    harness: Harness, config: dict[str, Any], message: str
) -> None:
    """Not in the middle of the work."""
    with pytest.raises(ModuleLoadError) as caught:
        await harness.mount("shell", config)
    assert message in str(caught.value)


@pytest.mark.parametrize("writable", [True, False])
async def test_trusted_scripts_are_copied_to_where_no_tool_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writable: bool
) -> None:
    """And taken away with the session; where our data cannot be kept, hooks run all the same."""
    data = tmp_path / "data"
    monkeypatch.setenv("XDG_DATA_HOME", str(data))
    if not writable:
        data.write_text("in the way")
    project = Project(tmp_path)
    command = write_script(project.folder, "hooks/say.sh", 'echo "$0" >&2; exit 2')
    hook = {"module": "hooks-shell", "config": configure("UserPromptSubmit", command)}
    async with project.session(project.bundle(hooks=[hook])) as session:
        reply = await session.execute("go")
        assert "denied by hooks-shell: /" in reply
        assert str(project.folder / "hooks") not in reply.split("scripts", 1)[0]
        assert (str(data) in reply) is writable
    assert not list(data.glob("amplifier/run/*"))
