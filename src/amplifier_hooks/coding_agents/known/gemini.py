"""Gemini CLI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.known.agent import (
    LABEL,
    PLUGIN,
    Entry,
    Extension,
    KnownAgent,
    Mode,
    Place,
    Surroundings,
    list_folder,
    list_skills,
)

_UNASKED = "it runs tools without asking any hook, so every prompt is refused"
_MODES = (
    Mode("gemini", "gemini -p"),
    Mode("gemini", "gemini -p --resume"),
    Mode("gemini", "gemini --acp", holds=False, options=frozenset({"acp"}), note=_UNASKED),
    Mode(
        "gemini",
        "gemini --experimental-acp",
        holds=False,
        options=frozenset({"experimental-acp"}),
        note=_UNASKED,
    ),
    Mode(
        "gemini",
        "gemini, a command in a file of its commands",
        holds=False,
        note="`!{…}` runs before any hook is asked",
    ),
)


def _find_home(env: Mapping[str, str]) -> Path:
    # Unlike the others, its variable names what stands for the home.
    return Path(env.get("GEMINI_CLI_HOME") or env.get("HOME") or Path.home()) / ".gemini"


def _build_entry(entry: Entry) -> dict[str, Any]:
    matcher = {"matcher": "*"} if entry.matches_tools else {}
    handler = {"type": "command", "name": entry.label, "command": entry.line}
    return {**matcher, "hooks": [{**handler, **entry.limit("timeout")}]}


def _find_switches(settings: dict[str, Any]) -> Iterator[str]:
    config = settings.get("hooksConfig")
    if not isinstance(config, dict):
        return
    if config.get("enabled") is False:
        yield "'hooksConfig.enabled' is false, which switches every hook off"
    disabled = config.get("disabled")
    for name in disabled if isinstance(disabled, list) else ():
        if isinstance(name, str) and name.startswith(LABEL):
            yield f"'hooksConfig.disabled' names {name!r}, which is our hook; remove it"


def _list_results(line: Mapping[str, Any]) -> Iterator[str]:
    for call in line.get("toolCalls") or ():
        if call.get("status") == "success":
            yield str(call["name"])


def _list_extensions(around: Surroundings) -> Iterator[Extension]:
    for folder in (around.home, around.root / ".gemini"):
        manifest = "*/gemini-extension.json"
        yield from list_folder("extension", folder / "extensions", manifest, PLUGIN)
        yield from list_skills(folder)


AGENT = KnownAgent(
    "gemini",
    "Gemini CLI",
    Place(
        _find_home,
        ("settings.json",),
        (".gemini/settings.json",),
        ("gemini-cli/settings.json", "gemini-cli/system-defaults.json"),
    ),
    _build_entry,
    _MODES,
    comments=True,
    looks_up=False,
    keeps_on={("hooksConfig", "enabled"): True},
    find_switches=_find_switches,
    list_results=_list_results,
    list_extensions=_list_extensions,
)
