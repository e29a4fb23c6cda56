"""Codex."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amplifier_hooks.coding_agents.known.agent import (
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
from amplifier_hooks.coding_agents.known.claude import MANAGED_ONLY

_MODES = (
    Mode("codex", "codex exec"),
    Mode("codex", "codex exec resume"),
    Mode("codex", "codex review"),
    Mode("codex", "codex app-server", note="editors"),
    Mode("codex", "codex --disable hooks", holds=False, note="no hook runs"),
    Mode("codex", "codex exec --ignore-user-config", holds=False, note="no hook is trusted"),
)

_RESULTS = ("CommandExecution", "FileChange", "McpToolCall")


def build_entry(entry: Entry) -> dict[str, Any]:
    """An entry of ours in its settings."""
    handler = {"type": "command", "command": entry.line, **entry.limit("timeout")}
    return {"hooks": [handler]}


def _find_switches(settings: dict[str, Any]) -> Iterator[str]:
    yield from _find_feature(settings, "")
    profiles = settings.get("profiles")
    for name, one in profiles.items() if isinstance(profiles, dict) else ():
        if isinstance(one, dict):
            yield from _find_feature(one, f"profiles.{name}.")
    if settings.get("allow_managed_hooks_only") is True:
        yield MANAGED_ONLY.format(name="allow_managed_hooks_only")


def _find_feature(settings: dict[str, Any], where: str) -> Iterator[str]:
    features = settings.get("features")
    for name in ("hooks", "codex_hooks"):  # the second is an older name
        if isinstance(features, dict) and features.get(name) is False:
            yield f"'{where}features.{name}' is false, which switches every hook off"


def _list_results(line: Mapping[str, Any]) -> Iterator[str]:
    told = line.get("payload") if line.get("type") == "event_msg" else None
    if told and told.get("type") == "item_completed" and told["item"].get("type") in _RESULTS:
        yield str(told["item"]["type"])


def _list_extensions(around: Surroundings) -> Iterator[Extension]:
    for config in (around.home / "config.toml", around.root / ".codex" / "config.toml"):
        for name, one in around.read_table(config, "plugins").items():
            if isinstance(one, dict) and one.get("enabled", True) is True:
                yield Extension("plugin", name, config, PLUGIN)
    inside = (around.root / ".codex", around.root / ".agents")
    yield from list_skills(around.home, *inside, around.etc / "codex")


AGENT = KnownAgent(
    "codex",
    "Codex",
    Place(
        find_below_home(".codex", "CODEX_HOME"),
        ("hooks.json", "config.toml"),
        (".codex/hooks.json", ".codex/config.toml"),
        (
            "codex/requirements.toml",
            "codex/config.toml",
            "codex/hooks.json",
            "codex/managed_config.toml",
        ),
    ),
    build_entry,
    _MODES,
    keeps_on={("features", "hooks"): True},
    managed_only={("allow_managed_hooks_only",): True},
    takes_typing=True,
    find_switches=_find_switches,
    list_results=_list_results,
    list_extensions=_list_extensions,
)
