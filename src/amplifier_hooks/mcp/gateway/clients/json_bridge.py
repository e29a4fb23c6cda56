"""Servers with an address, as clients write them in JSON: Claude Code, Cursor, VS Code, Gemini."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amplifier_hooks.mcp.gateway.clients.address import (
    OLD,
    check_server,
    hide_address,
    reveal_address,
)
from amplifier_hooks.mcp.gateway.clients.entry import ARGS, COMMAND, Entry, Memo, Unbridgeable
from amplifier_hooks.mcp.gateway.clients.line import Line

_HTTP = frozenset({"http", "streamable-http", "streamableHttp", "streamable_http"})
_TYPE, _HEADERS, _ENV = "type", "headers", "env"


@dataclass(frozen=True, slots=True)
class JsonBridge:
    """The keys of a client."""

    addresses: tuple[str, ...] = ("url",)
    """Under which an address may stand."""
    names_type: bool = True
    """Whether an entry with a command may say that its type is stdio."""

    def find(self, entry: Entry) -> str:
        """The key with the address."""
        return next((key for key in self.addresses if key in entry), "")

    def wrap(self, entry: Entry, memo: Memo, *, is_open: bool) -> tuple[Entry, list[str]]:
        """The entry without its address, and the words for the gateway."""
        key, headers = self.find(entry), entry.get(_HEADERS, {})
        if ARGS in entry or sum(one in entry for one in self.addresses) > 1:
            raise Unbridgeable("it has an address, and another one or arguments beside it")
        env, words = hide_address(entry[key], headers, entry.get(_ENV, {}))
        self._remember(entry, key, memo)
        check_server(entry[key], headers, is_open=is_open)
        changed = {name: value for name, value in entry.items() if name not in (key, _HEADERS)}
        if _TYPE in changed:
            changed = _set(changed, _TYPE, "stdio" if self.names_type else None)
        return _set(changed, _ENV, env), words

    def unwrap(self, entry: Entry, line: Line) -> Entry:
        """The entry with its address."""
        memo, env = line.memo, entry.get(_ENV)
        url, headers, left = reveal_address(env, line)
        plain = {key: value for key, value in entry.items() if key not in (COMMAND, ARGS, _TYPE)}
        if isinstance(env, dict):
            plain = _set(plain, _ENV, left if left or _ENV in memo else None)
        plain[memo.get("url", "url")] = url
        if memo.get(_TYPE):
            plain[_TYPE] = memo[_TYPE]
        if headers or _HEADERS in memo:
            plain[_HEADERS] = headers
        return plain

    def _remember(self, entry: Entry, key: str, memo: Memo) -> None:
        memo |= {"http": "", "url": key}
        kind = entry.get(_TYPE)
        if _TYPE in entry:
            if kind not in _HTTP:
                raise Unbridgeable(OLD if kind == "sse" else f"its type {kind!r} is new to us")
            memo[_TYPE] = str(kind)
        memo |= {name: "" for name in (_HEADERS, _ENV) if name in entry}


def _set(entry: Entry, key: str, value: Any) -> Entry:
    """The entry with another value in the same place, or without the key."""
    if value is None:
        return {name: one for name, one in entry.items() if name != key}
    return {**entry, key: value}
