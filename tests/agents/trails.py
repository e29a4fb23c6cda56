"""What the trails say about the sessions of an agent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.agents.world import World

_SOUND = (0, 3)  # proven to an anchor, or consistent: nothing signs or keeps these elsewhere
_RECOVERED = 4


@dataclass(frozen=True)
class Trail:
    """The records of one session."""

    id: str
    records: list[dict[str, Any]]

    def list_types(self) -> list[str]:
        """What each record is."""
        return [record["type"] for record in self.records]

    def list_events(self, name: str) -> list[dict[str, Any]]:
        """What went through the hooks at one event."""
        return [
            record["body"]
            for record in self.records
            if record["type"] == "dispatch" and record["event"] == name
        ]

    def list_calls(self) -> list[tuple[str, str]]:
        """Each shell command that was judged, and the verdict."""
        return [
            (str(body["data"]["tool_input"]["command"]), body["action"])
            for body in self.list_events("tool:pre")
            if "command" in body["data"]["tool_input"]
        ]


def read_trails(world: World, *, recovered: bool = False) -> list[Trail]:
    """The trails of all sessions in this project, each verified."""
    listed = json.loads(world.amplifier("audit", "list", "--json"))
    return [_read_trail(world, str(one["id"]), recovered) for one in listed]


def read_trail(world: World, *, recovered: bool = False) -> Trail:
    """The only one."""
    (trail,) = read_trails(world, recovered=recovered)
    return trail


def _read_trail(world: World, id: str, recovered: bool) -> Trail:
    codes = (*_SOUND, _RECOVERED) if recovered else _SOUND
    world.amplifier("audit", "verify", id, "--session", id, codes=codes)
    lines = world.amplifier("audit", "show", id, "--all", "--json").splitlines()
    return Trail(id, [json.loads(line) for line in lines])
