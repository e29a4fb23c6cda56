"""Copilot CLI, which also runs what is in the settings of Claude Code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    list_folder,
    list_skills,
)
from amplifier_hooks.coding_agents.known.claude import find_switches

_MODES = (
    Mode("copilot", "copilot -p"),
    Mode("copilot", "copilot -p --continue"),
    Mode("copilot", "copilot --acp", note="editors"),
    Mode("copilot", "copilot -p --autopilot"),
    Mode("copilot", "copilot -p --fleet"),
    Mode("copilot", "copilot -p --no-custom-instructions"),
)


def _build_entry(entry: Entry) -> dict[str, Any]:
    return {"type": "command", "bash": entry.line, **entry.limit("timeoutSec")}


def _list_results(line: Mapping[str, Any]) -> Iterator[str]:
    if line.get("type") == "tool.execution_complete" and line["data"].get("success") is True:
        yield str(line["data"].get("toolName") or "a tool")


def _list_extensions(around: Surroundings) -> Iterator[Extension]:
    yield from list_folder("plugin", around.home / "installed-plugins", "*/*/", PLUGIN)
    for folder in (around.home, around.root / ".github"):
        yield from list_folder("extension", folder / "extensions", "*", MOD)
        yield from list_skills(folder)


AGENT = KnownAgent(
    "copilot",
    "Copilot CLI",
    Place(
        find_below_home(".copilot", "COPILOT_HOME"),
        ("hooks/amplifier.json", "config.json", "settings.json"),
        (
            ".github/hooks/amplifier.json",
            ".github/copilot/settings.json",
            ".github/copilot/settings.local.json",
        ),
        ("github-copilot/policy.d/amplifier.json", "github-copilot/managed-settings.json"),
    ),
    _build_entry,
    _MODES,
    grouped=False,
    versioned=True,
    also_reads=("claude",),
    looks_up=False,
    find_switches=find_switches,
    list_results=_list_results,
    list_extensions=_list_extensions,
)
