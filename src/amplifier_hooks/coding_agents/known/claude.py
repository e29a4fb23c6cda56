"""Claude Code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.known.agent import (
    MOD,
    PLUGIN,
    Entry,
    Extension,
    KnownAgent,
    Mode,
    Place,
    Surroundings,
    find_below_home,
    list_skills,
)

MANAGED_ONLY = "{name!r} allows only the hooks of your administrator"
_SETTINGS = "the hooks in your settings do not run"
_MODES = (
    Mode("claude", "claude -p"),
    Mode("claude", "claude -p --resume"),
    Mode("claude", "claude -p --resume --fork-session"),
    Mode("claude", "claude -p --continue"),
    Mode("claude", "claude -p --input-format stream-json", note="the SDK, and editors through it"),
    Mode("claude", "claude -p --permission-mode plan"),
    Mode("claude", "claude --agents"),
    Mode("claude", "claude, a sub-agent in the background"),
    Mode("claude", "claude, a command in the background"),
    Mode("claude", "claude --plugin-dir"),
    Mode("claude", "claude, a command in a file of its commands", note="`` !`…` ``"),
    Mode("claude", "claude --bare", holds=False, note="no hook runs"),
    Mode("claude", "claude --safe-mode", holds=False, note=_SETTINGS),
    Mode("claude", "claude --restricted", holds=False, note=_SETTINGS),
    Mode("claude", "claude --setting-sources project", holds=False, note=_SETTINGS),
    Mode(
        "claude",
        "claude --settings '{\"disableAllHooks\": true}'",
        holds=False,
        note=_SETTINGS,
    ),
)

_MODS = ("pluginConfigs", "cc-plugin-sec-default@builtin", "options", "allowManagedModsOnly")


def _build_entry(entry: Entry) -> dict[str, Any]:
    closed = {"onFailure": "block"} if entry.gate else {}
    handler = {"type": "command", "command": entry.line, **entry.limit("timeout"), **closed}
    return {"hooks": [handler]}


def find_switches(settings: dict[str, Any]) -> Iterator[str]:
    """What switches hooks off in its settings; Copilot's have the same."""
    if settings.get("disableAllHooks") is True:
        yield "'disableAllHooks' switches every hook off; remove it"
    if settings.get("allowManagedHooksOnly") is True:
        yield MANAGED_ONLY.format(name="allowManagedHooksOnly")


def _list_results(line: Mapping[str, Any]) -> Iterator[str]:
    """A result in the conversation; what names its tool stands beside it."""
    if line.get("type") != "user" or not isinstance(line.get("toolUseResult"), dict):
        return  # of a call that was refused or failed, this is a text
    for part in line["message"]["content"]:
        if part.get("type") == "tool_result" and not part.get("is_error"):
            yield "a tool"


def _list_extensions(around: Surroundings) -> Iterator[Extension]:
    for path in around.settings:
        for name, on in around.read_table(path, "enabledPlugins").items():
            if on:
                yield Extension("plugin", name, path, PLUGIN)
    known = around.home / "plugins" / "installed_plugins.json"
    for name, copies in around.read_table(known, "plugins").items():
        yield Extension("plugin", name, known, PLUGIN)
        for copy in copies if isinstance(copies, list) else [copies]:
            place = copy.get("installPath") if isinstance(copy, dict) else None
            hooks = Path(str(place)) / "hooks" / "hooks.json"
            if isinstance(place, str) and around.read(hooks).get("modules"):
                yield Extension("mod", name, hooks, MOD)
    managed = around.etc / "claude-code" / ".claude"
    yield from list_skills(around.home, around.root / ".claude", managed)


AGENT = KnownAgent(
    "claude",
    "Claude Code",
    # Paths of one machine do not belong into the file that a team shares.
    Place(
        find_below_home(".claude", "CLAUDE_CONFIG_DIR"),
        ("settings.json",),
        (".claude/settings.local.json", ".claude/settings.json"),
        ("claude-code/managed-settings.json", "claude-code/managed-settings.d"),
    ),
    _build_entry,
    _MODES,
    managed_only={("allowManagedHooksOnly",): True, _MODS: True},
    speaks_http=True,
    find_switches=find_switches,
    list_results=_list_results,
    list_extensions=_list_extensions,
)
