"""Attaching hooks to agents of the Claude Agent SDK: by its options."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from claude_agent_sdk import HookMatcher
from claude_agent_sdk.types import HookEvent

from amplifier_hooks.external.governor import Governor
from amplifier_hooks.frameworks.claude_agent_sdk.connection import Connection, end_soon
from amplifier_hooks.frameworks.claude_agent_sdk.session import LONGEST, Asks, Settings, choose
from amplifier_hooks.frameworks.governing import Governable, govern

if TYPE_CHECKING:
    from _collections_abc import dict_items

NATIVE: tuple[HookEvent, ...] = (
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "Notification",
    "Stop",
)

OwnHooks = Mapping[HookEvent, Sequence[HookMatcher]]


def amplifier_options(
    hooks: Governable | None = None,
    *,
    also: OwnHooks | None = None,
    timeout: float = LONGEST,
    plain_servers: Sequence[str] = (),
    asks: Asks = "inline",
) -> dict[str, Any]:
    """What to give ClaudeAgentOptions: `ClaudeAgentOptions(**amplifier_options(hooks), …)`."""
    settings = choose(timeout, plain_servers, asks)
    return {"hooks": Hooks(govern(hooks), dict(also or {}), settings)}


def amplifier_hooks(
    hooks: Governable | None = None,
    *,
    also: OwnHooks | None = None,
    timeout: float = LONGEST,
    plain_servers: Sequence[str] = (),
    asks: Asks = "inline",
) -> dict[HookEvent, list[HookMatcher]]:
    """The same for a program that builds its options in another way.

    `also` has hooks of the program's own. What is not judged within `timeout` seconds is denied.
    Hooks see the tools of `plain_servers`, MCP servers, by their own names: `note`, where the
    program says `mcp__<server>__note`. People are asked while the call waits, or with `Questions`
    after the program has deferred it.
    """
    return Hooks(govern(hooks), dict(also or {}), choose(timeout, plain_servers, asks))


class Hooks(dict[HookEvent, list[HookMatcher]]):
    """Matchers of callbacks, new ones for each connection that the SDK makes with these options.

    The SDK tells nobody that a connection is over. Its callbacks are of no use to anybody by then,
    so that is when its sessions end. Who copies this into another dict has callbacks that all
    connections share, and sessions that end with the governor.
    """

    def __init__(self, governor: Governor, also: OwnHooks, settings: Settings) -> None:
        self._made_of = governor, also, settings
        super().__init__(self._connect())

    def items(self) -> dict_items[HookEvent, list[HookMatcher]]:
        """For a new connection."""
        return self._connect().items()

    def _connect(self) -> dict[HookEvent, list[HookMatcher]]:
        governor, also, settings = self._made_of
        connection = Connection(governor, settings)
        # At exit, the governor ends what is open.
        weakref.finalize(connection, end_soon, connection.sessions).atexit = False
        return match_events(connection, settings.timeout, also)


def match_events(
    connection: Connection, timeout: float, also: OwnHooks
) -> dict[HookEvent, list[HookMatcher]]:
    """The callbacks of a connection, and those of the program's own."""
    made: dict[HookEvent, list[HookMatcher]] = {
        native: [
            HookMatcher(hooks=[connection.listen(native)], timeout=timeout, on_failure="block")
        ]
        for native in NATIVE
    }
    for native, matchers in also.items():
        made.setdefault(native, []).extend(matchers)
    return made
