"""Connections that a session and its sub-agents share: one process for each server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakValueDictionary

from amplifier_core.interfaces import Host
from amplifier_hooks.agent.tools.mcp.connection import Connection


@dataclass(slots=True)
class _Shared:
    connection: Connection
    users: int = 0


class Family:
    """The connections in use, by what they lead to."""

    def __init__(self) -> None:
        self._shared: dict[str, _Shared] = {}

    def take(self, key: str, make: Callable[[], Connection]) -> Connection:
        """The connection for a key; made if nobody in the family has one."""
        if key not in self._shared:
            self._shared[key] = _Shared(make())
        self._shared[key].users += 1
        return self._shared[key].connection

    async def give_back(self, key: str) -> None:
        """The last one who gives it back ends the server."""
        shared = self._shared.get(key)
        if shared is None:
            return
        shared.users -= 1
        if shared.users <= 0:
            del self._shared[key]
            await shared.connection.close()


_families: WeakValueDictionary[tuple[asyncio.AbstractEventLoop, str], Family] = (
    WeakValueDictionary()
)


def find_family(host: Host) -> Family:
    """The family of a session: its parent's, if that uses servers too. Keep what you get."""
    loop = asyncio.get_running_loop()
    names = [one for one in (host.session_id, host.parent_id) if one]
    found = next((known for one in names if (known := _families.get((loop, one)))), None)
    family = found or Family()
    if host.session_id:
        _families[loop, host.session_id] = family
    return family
