"""One server in the settings of a client: with the gateway before it, and as it was without.

Both directions are pure functions: `unwrap(wrap(entry))` is the entry again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from amplifier_hooks.mcp.gateway.clients.line import Gateway, Line, read_line, read_own_line
from amplifier_hooks.mcp.gateway.clients.steering import (
    URL_VARIABLE,
    find_address,
    find_steering,
)

Entry = dict[str, Any]
Memo = dict[str, str]

COMMAND, ARGS = "command", "args"


class Unbridgeable(Exception):
    """The gateway cannot stand before this server; the text says why."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to stand before the servers."""

    gateway: Gateway
    open_servers: frozenset[str] = frozenset()
    """Servers elsewhere of which a person has said that they need no login."""
    folder: Path | None = None
    """Of the project that the servers are for, if they are for one."""


class Bridge(Protocol):
    """Servers with an address in the form of one client: how one becomes a command, and back."""

    def find(self, entry: Entry) -> str:
        """The key with the address; empty if the entry has none."""
        ...

    def wrap(self, entry: Entry, memo: Memo, *, is_open: bool) -> tuple[Entry, list[str]]:
        """The entry without its address, and the words for the gateway. Fills the memo."""
        ...

    def unwrap(self, entry: Entry, line: Line) -> Entry:
        """The entry with its address."""
        ...


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one client writes its servers."""

    bridge: Bridge
    passed: Sequence[str] = ()
    """Variables that the gateway needs, where the client hands on only those that are named."""
    hindrances: Mapping[str, str] = field(default_factory=dict)
    """Keys of a server before which no gateway can stand, and why."""
    switch: str = ""
    """The key that switches a server off if it is false, where the client is known to have one."""

    def is_off(self, entry: Any) -> bool:
        """Whether the client starts no such server. In doubt, it does."""
        return bool(self.switch) and isinstance(entry, dict) and entry.get(self.switch) is False

    def find_hindrance(self, entry: Entry) -> str:
        """Why no gateway can stand before a server with such keys; empty if one can."""
        return next((why for key, why in self.hindrances.items() if entry.get(key)), "")

    def wrap(self, name: str, entry: Any, wish: Wish) -> Entry:
        """The entry with the gateway before it; Unbridgeable if that cannot be.

        One that has it already gets the gateway that is wanted now.
        """
        plain = self.unwrap(entry)
        if find_own_line(plain) is not None:
            return dict(plain)
        self._check(plain)
        memo: Memo = {}
        if COMMAND in plain:
            changed, words = _wrap_command(plain, memo)
        else:
            changed, words = self.bridge.wrap(plain, memo, is_open=name in wish.open_servers)
        if find_address(changed):
            raise Unbridgeable(f"it has another address ({find_address(changed)!r})")
        if "cwd" in plain and wish.folder is not None:
            words = ["--folder", str(wish.folder), *words]  # else that of its own folder judges
        changed = self._pass_variables(changed, memo)
        command, *args = wish.gateway.build(name, memo, words)
        return {**changed, COMMAND: command, ARGS: args}

    def unwrap(self, entry: Any) -> Any:
        """The entry without the gateway; as it is, if ours is not before it."""
        line = find_line(entry)
        if line is None:
            return entry
        plain = self._withhold_variables(entry, line.memo)
        return _unwrap_command(plain, line) if line.server else self.bridge.unwrap(plain, line)

    def _check(self, entry: Any) -> None:
        if not isinstance(entry, dict):
            raise Unbridgeable("it is not an object")
        hindrance = self.find_hindrance(entry)
        if hindrance:
            raise Unbridgeable(hindrance)
        wrong = find_steering(entry)
        if wrong:
            raise Unbridgeable(f"it {wrong}, which would steer the gateway")
        beside = find_address(entry)
        if COMMAND in entry and beside:
            raise Unbridgeable(f"it has both a command and an address ({beside!r})")
        if COMMAND not in entry and not self.bridge.find(entry):
            raise Unbridgeable("it has neither a command nor an address")

    def _pass_variables(self, entry: Entry, memo: Memo) -> Entry:
        if not self.passed:
            return entry
        known = entry.get("env_vars", [])
        if not isinstance(known, list):
            raise Unbridgeable("its 'env_vars' are not a list")
        named = {one.get("name") if isinstance(one, dict) else one for one in known}
        new = [one for one in self.passed if one not in named]
        if "env_vars" in entry:
            memo["env_vars"] = ""
        memo["passed"] = str(len(new))
        return {**entry, "env_vars": [*known, *new]}

    def _withhold_variables(self, entry: Entry, memo: Mapping[str, str]) -> Entry:
        known, count = entry.get("env_vars"), memo.get("passed", "")
        if not isinstance(known, list) or not count.isdigit():
            return entry
        left = known[: max(len(known) - int(count), 0)]
        plain = {key: value for key, value in entry.items() if key != "env_vars"}
        return {**plain, "env_vars": left} if left or "env_vars" in memo else plain


def find_line(entry: Any) -> Line | None:
    """Our command in an entry, if it has one that a client would start."""
    if not isinstance(entry, dict) or find_address(entry):
        return None
    line = read_line(entry.get(COMMAND), entry.get(ARGS))
    if line is None or not line.variable:
        return line
    env = entry.get("env")
    is_there = isinstance(env, dict) and isinstance(env.get(URL_VARIABLE), str)
    return line if is_there and line.variable == URL_VARIABLE else None


def find_own_line(entry: Any) -> Line | None:
    """The command with which a person starts the gateway in an entry, if it has one."""
    if not isinstance(entry, dict) or find_address(entry):
        return None
    return read_own_line(entry.get(COMMAND), entry.get(ARGS))


def check_text(value: Any, what: str) -> str:
    """A text that can be a word of a command; Unbridgeable if it cannot."""
    if not isinstance(value, str):
        raise Unbridgeable(f"{what} is not a text")
    if any(one == "\0" or 0xD800 <= ord(one) < 0xE000 for one in value):
        raise Unbridgeable(f"{what} holds characters that no command can carry")
    return value


def _wrap_command(entry: Entry, memo: Memo) -> tuple[Entry, list[str]]:
    memo["stdio"] = ""
    command = check_text(entry[COMMAND], "its command")
    if not command:
        raise Unbridgeable("its command is empty")
    args = entry.get(ARGS, [])
    if not isinstance(args, list):
        raise Unbridgeable("its arguments are not a list")
    if ARGS in entry:
        memo[ARGS] = ""
    return entry, ["--", command, *(check_text(one, "an argument of it") for one in args)]


def _unwrap_command(entry: Entry, line: Line) -> Entry:
    command, *args = line.server
    plain = {**entry, COMMAND: command, ARGS: args}
    if not args and ARGS not in line.memo:
        del plain[ARGS]
    return plain
