"""The files by which agents are guarded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import amplifier_hooks
from amplifier_hooks.coding_agents.installing.record import Record, Records, open_mcp_records
from amplifier_hooks.coding_agents.protection import _list_code, list_protected_files

RECORD = Record("/o/hooks.json", "codex", "user", "", "", existed=False, mode=None)


def test_settings_of_every_project_and_all_that_we_keep_are_guarded(
    home: Path, tmp_path: Path
) -> None:
    """At any depth, and for the folder of the session by their full paths."""
    found = list_protected_files(tmp_path)
    assert Path(".claude/settings.local.json") in found
    assert tmp_path / ".gemini" / "settings.json" in found
    assert home / ".claude" / "settings.json" in found
    assert home / ".local" / "share" / "amplifier" / "**" in found
    assert home / ".config" / "amplifier" / "**" in found


def test_our_own_programs_are_guarded_except_from_who_develops_them(
    home: Path, tmp_path: Path
) -> None:
    """What is installed elsewhere is none of an agent's business."""
    package = Path(amplifier_hooks.__file__).parent
    assert package / "**" in list_protected_files(tmp_path)
    assert package / "**" not in list_protected_files(package.parent)
    installed = tmp_path / ".venv" / "lib" / "site-packages"
    assert installed / "amplifier_core" / "**" in _list_code(tmp_path, installed)


def test_settings_that_a_variable_has_moved_are_guarded(home: Path, tmp_path: Path) -> None:
    """The resident process does not have the variable; the installation wrote down where."""
    Records().save(RECORD, None)
    Records().save(replace(RECORD, path="/p/.codex/hooks.json", scope="project"), None)
    found = list_protected_files(tmp_path)
    assert Path("/o/hooks.json") in found
    assert Path("/o/config.toml") in found
    assert Path("/p/config.toml") not in found


def test_files_that_name_the_servers_behind_a_gateway_are_guarded(
    home: Path, tmp_path: Path
) -> None:
    """Those of the project, those of the person, and those that a variable has moved."""
    open_mcp_records().save(replace(RECORD, path="/o/.claude.json", scope="mcp"), None)
    found = list_protected_files(tmp_path)
    assert tmp_path / ".mcp.json" in found
    assert home / ".claude.json" in found
    assert Path("/o/.claude.json") in found
