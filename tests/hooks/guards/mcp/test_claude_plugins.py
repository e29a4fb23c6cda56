"""Servers of Claude Code's plugins, as it lays them out itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from amplifier_hooks.guards.mcp.claude_plugins import list_plugin_tables

SERVERS = {"s": {"command": "x"}}


def _write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def _install(home: Path, name: str, **more: str) -> Path:
    """A plugin, beside those that are there; its folder."""
    folder = home / "plugins" / "cache" / name
    register = home / "plugins" / "installed_plugins.json"
    plugins = json.loads(register.read_text())["plugins"] if register.exists() else {}
    plugins[name] = [{"scope": "user", "installPath": str(folder), **more}]
    _write(register, {"version": 2, "plugins": plugins})
    return folder


def test_servers_are_in_a_file_of_their_own_or_in_the_manifest(tmp_path: Path) -> None:
    """In each of the forms that Claude Code reads."""
    one, two = _install(tmp_path, "one@m"), _install(tmp_path, "two@m")
    three = _install(tmp_path, "three@m")
    with_key = _write(one / ".mcp.json", {"mcpServers": SERVERS})
    without = _write(two / ".mcp.json", SERVERS)
    manifest = _write(three / ".claude-plugin/plugin.json", {"mcpServers": SERVERS})
    _write(one / ".claude-plugin/plugin.json", {"mcpServers": ["./more.json", "./missing.json"]})
    named = _write(one / "more.json", {"mcpServers": SERVERS})
    assert list(list_plugin_tables(tmp_path, [])) == [
        ("one@m", with_key, ("mcpServers",)),
        ("one@m", named, ("mcpServers",)),
        ("two@m", without, ()),
        ("three@m", manifest, ("mcpServers",)),
    ]


def test_servers_of_a_plugin_may_be_in_its_marketplace_or_in_a_list(tmp_path: Path) -> None:
    """Claude Code starts those, too."""
    one, two = _install(tmp_path, "one@m"), _install(tmp_path, "two@m")
    market = {"m": {"installLocation": str(tmp_path / "m")}}
    _write(tmp_path / "plugins/known_marketplaces.json", market)
    offers = [1, {"name": "one", "mcpServers": ["./a.json", SERVERS]}, {"name": "two"}]
    path = _write(tmp_path / "m/.claude-plugin/marketplace.json", {"plugins": offers})
    named = _write(one / "a.json", SERVERS)
    manifest = _write(two / ".claude-plugin/plugin.json", {"mcpServers": [SERVERS, "b.mcpb"]})
    packed = two / "b.mcpb"
    packed.write_bytes(b"PK")
    assert list(list_plugin_tables(tmp_path, [])) == [
        ("one@m", path, ("plugins", "1", "mcpServers", "1")),
        ("one@m", named, ()),
        ("two@m", manifest, ("mcpServers", "0")),
        ("two@m", packed, ()),
    ]


def test_a_plugin_of_another_project_or_that_is_off_is_left_out(tmp_path: Path) -> None:
    """A project may switch on what the person has switched off."""
    home, project = tmp_path / "home", tmp_path / "project"
    _write(_install(home, "here@m", projectPath=str(project)) / ".mcp.json", SERVERS)
    _write(_install(home, "there@m", projectPath="/elsewhere") / ".mcp.json", SERVERS)
    _write(_install(home, "off@m") / ".mcp.json", SERVERS)
    _write(_install(home, "on@m") / ".mcp.json", SERVERS)
    _write(home / "settings.json", {"enabledPlugins": {"off@m": False, "on@m": False}})
    _write(project / ".claude/settings.json", {"enabledPlugins": {"on@m": True}})
    names = [name for name, _, _ in list_plugin_tables(home, [project])]
    assert names == ["here@m", "on@m"]
    above = [project / "inner", project]
    _write(project / ".claude/settings.json", {"enabledPlugins": {"here@m": False}})
    assert [name for name, _, _ in list_plugin_tables(home, above)] == ["here@m"]


def test_what_cannot_be_read_names_no_servers(tmp_path: Path) -> None:
    """Claude Code does not run it either."""
    assert list(list_plugin_tables(tmp_path, [])) == []
    values: list[Any] = [[], {"plugins": []}, {"plugins": {"a": 1}}, {"plugins": {"a": [1, {}]}}]
    for value in values:
        _write(tmp_path / "plugins/installed_plugins.json", value)
        assert list(list_plugin_tables(tmp_path, [])) == []
    (_install(tmp_path, "a@m") / ".mcp.json").parent.mkdir(parents=True)
    (tmp_path / "plugins/cache/a@m/.mcp.json").write_text("{")
    assert list(list_plugin_tables(tmp_path, [])) == []
