"""What servers stay away from, whatever their tools call a path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.testing import TestCoordinator
from amplifier_hooks.guards.mcp.path_guard import register_path_guard

OURS = ".local/share/amplifier/mcp/x.json"
SETTINGS = ".claude/settings.json"


class World:
    """A home, a project in it, and the walls around it."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root, root / "project"
        self.ours, self.settings = root / OURS, root / SETTINGS
        self.ours.parent.mkdir(parents=True)
        self.project.mkdir()
        (self.project / "link").symlink_to(self.ours.parent)
        self.coordinator = TestCoordinator()
        guarded = [self.settings, root / ".local/share/amplifier/**", self.project / ".mcp.json"]
        register_path_guard(self.coordinator, self.project, guarded, others=[root / ".local"])

    async def allows(self, tool: str = "write", **given: Any) -> bool:
        data = {"tool_name": f"mcp__fs__{tool}", "tool_input": given, "tool_call_id": "1"}
        return (await self.coordinator.judge("tool:pre", data)).allowed  # type: ignore[arg-type]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return World(tmp_path)


@pytest.mark.parametrize(
    "path",
    [
        "{home}/" + OURS,
        "{home}/.local/share/x/../amplifier/mcp/x.json",
        "~/" + OURS,
        "$HOME/" + OURS,
        "${{HOME}}/" + OURS,
        "../" + OURS,
        "link/x.json",
        "share/amplifier/mcp/x.json",
        "file://{home}/" + OURS,
        "FILE://{home}/.local/share/amplifier/%6dcp/x.json",
        " {home}/" + OURS,
    ],
)
async def test_what_people_allowed_cannot_be_named(world: World, path: str) -> None:
    """Under any key and at any depth, by tools that read as well."""
    named = path.format(home=world.home)
    assert not await world.allows(anything=named)
    assert not await world.allows(steps=[{"where": [named]}])
    assert not await world.allows("resources/read", uri=named)


async def test_settings_may_be_read_but_not_written(world: World) -> None:
    """A tool that only looks is known by its name."""
    assert not await world.allows(to=str(world.settings))
    assert not await world.allows(to="~/.config/amplifier/amplifier.yaml")
    assert await world.allows("read_file", path=str(world.settings))
    assert not await world.allows(target=".mcp.json")
    assert await world.allows("search_files", pattern=".mcp.json")


async def test_nobody_takes_a_folder_away_with_what_is_in_it(world: World) -> None:
    """Other tools may name it."""
    above = str(world.home / ".local")
    assert not await world.allows("move_file", source=above, destination="/elsewhere")
    assert not await world.allows("delete_directory", path=above)
    assert await world.allows("list_directory", path=above)


@pytest.mark.parametrize(
    "text",
    ["https://example.com/" + OURS, "see ~/" + OURS + "\nfor more", "src/main.py", "x/" * 4000],
)
async def test_everything_else_passes(world: World, text: str) -> None:
    """Addresses, texts and other files."""
    assert await world.allows(text=text)


async def test_our_own_tools_have_walls_of_their_own(world: World) -> None:
    """They are held by the roots of a session, and by its sandbox."""
    data = {"tool_name": "Read", "tool_input": {"file_path": str(world.ours)}, "tool_call_id": "1"}
    assert (await world.coordinator.judge("tool:pre", data)).allowed  # type: ignore[arg-type]
