"""The plugin for OpenCode, which has no shell hooks: a few lines that start the client."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from amplifier_hooks.coding_agents.installing.agents import Agent, Options
from amplifier_hooks.coding_agents.installing.line import MARK

_FIRST = f"// {MARK.removeprefix('# ')}: written by `amplifier guard opencode`\n"
_TABLE = "const LINES = "


def build_plugin(agent: Agent, options: Options) -> str:
    """The text of the plugin, with the line for each event."""
    lines = {}
    for event, row in agent.list_events(every_event=options.every_event).items():
        limits = agent.get_limits(event)
        line = options.command.build_line(
            agent.name, event, limits.ours, gate=row.gate, bundle=options.bundle
        )
        lines[event] = {"line": line, "gate": row.gate, "seconds": limits.host or limits.ours}
    program = files(__package__).joinpath("plugin.js").read_text()
    return f"{_FIRST}{_TABLE}{json.dumps(lines, indent=2)};\n{program}"


def list_plugin_entries(text: str) -> dict[str, list[Any]]:
    """The lines of a plugin of ours, by event; none if it is not ours."""
    if not text.startswith(_FIRST) or _TABLE not in text:
        return {}
    try:
        found, _ = json.JSONDecoder().raw_decode(text[text.index(_TABLE) + len(_TABLE) :])
    except ValueError:
        return {"?": [{"command": ""}]}
    return {event: [{"command": one["line"]}] for event, one in found.items()}
