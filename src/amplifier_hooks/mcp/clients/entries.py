"""One server in the settings of a client: with the gateway before it, and as it was without."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from amplifier_hooks.mcp.clients.command_line import Gateway, Line, read_line, read_own_line
from amplifier_hooks.mcp.clients.steering import (
    HEADER_VARIABLE,
    URL_VARIABLE,
    find_address,
    find_steering,
)
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.modules.installation import name_install_command

Entry = dict[str, Any]
Memo = dict[str, str]

COMMAND = "command"
ARGS = "args"


class Unbridgeable(Exception):
    """The gateway cannot stand before this server; the text says why."""


@dataclass(frozen=True, slots=True)
class GatewayOptions:
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

    def find_obstacle(self, entry: Entry) -> str:
        """Why no gateway can stand before a server with such keys; empty if one can."""
        return next((why for key, why in self.hindrances.items() if entry.get(key)), "")

    def wrap(self, name: str, entry: Any, options: GatewayOptions) -> Entry:
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
            changed, words = self.bridge.wrap(plain, memo, is_open=name in options.open_servers)
        if find_address(changed):
            raise Unbridgeable(f"it has another address ({find_address(changed)!r})")
        if "cwd" in plain and options.folder is not None:
            words = ["--folder", str(options.folder), *words]  # else that of its own folder judges
        changed = self._pass_variables(changed, memo)
        command, *args = options.gateway.build(name, memo, words)
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
        hindrance = self.find_obstacle(entry)
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
        known = entry.get("env_vars")
        count = memo.get("passed", "")
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


_LOOPBACK = re.compile(r"localhost|127(?:\.\d+){3}|::1")
OLD = (
    "it speaks the old transport (SSE), which the gateway does not; use the server's streamable "
    "HTTP address, if it has one"
)
LOGIN = "the client logs in by itself (OAuth), which the gateway cannot do for it"


def check_server(url: Any, headers: Collection[str], *, is_open: bool) -> str:
    """The address, if the gateway can reach the server with these headers; else Unbridgeable."""
    text = check_text(url, "its address")
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
    except ValueError as error:
        raise Unbridgeable(f"its address cannot be read: {error}") from error
    if parts.path.rstrip("/").endswith("/sse"):
        raise Unbridgeable(OLD)
    if find_spec("httpx2") is None:
        needed = name_install_command("mcp")
        raise Unbridgeable(f"the gateway needs the package 'httpx2' to reach it: {needed}")
    if "$" not in text:  # what the client fills in, nobody knows here
        _check_sending(text, headers)
    if not headers and not is_open and not _LOOPBACK.fullmatch(host):
        raise Unbridgeable(
            "it has no headers, so the client may have to log in by itself (OAuth), which the "
            "gateway cannot do for it; if the server needs no login, name it with --open"
        )
    return text


def hide_address(url: str, headers: Any, env: Any) -> tuple[dict[str, Any], list[str]]:
    """The environment with the address and the headers' values in it, and the words for them.

    A command line can be read by everybody on the machine, and any part of an address can be a
    secret.
    """
    if not isinstance(headers, Mapping) or not isinstance(env, Mapping):
        raise Unbridgeable("its headers or its environment are not an object")
    hidden = {URL_VARIABLE: url}
    words = ["--http-env", URL_VARIABLE]
    for number, (name, value) in enumerate(headers.items(), 1):
        variable = f"{HEADER_VARIABLE}{number}"
        hidden[variable] = check_text(value, f"its header {name!r}")
        if not value.strip():
            raise Unbridgeable(f"its header {name!r} is empty")
        words += ["--header-env", f"{name}={variable}"]
    taken = next((one for one in hidden if one in env), "")
    if taken:
        raise Unbridgeable(f"its environment has the variable {taken}, which is ours")
    return {**env, **hidden}, words


def reveal_address(env: Any, line: Line) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The address, the headers, and the environment without what was hidden in it."""
    values = env if isinstance(env, Mapping) else {}
    url = str(values.get(line.variable, "")) if line.variable else line.url
    pairs = [one for one in line.headers if is_hidden(one[1]) and one[1] in values]
    ours = {line.variable, *(variable for _, variable in line.headers if is_hidden(variable))}
    left = {key: value for key, value in values.items() if key not in ours}
    return url, {name: values[variable] for name, variable in pairs}, left


def is_hidden(variable: str) -> bool:
    """Whether a variable is one that we made for the value of a header."""
    return variable.startswith(HEADER_VARIABLE)


def _check_sending(url: str, headers: Collection[str]) -> None:
    # Only a server elsewhere needs what speaks HTTP.
    from amplifier_hooks.mcp.gateway.http.connection import check_address

    try:
        check_address(url, dict.fromkeys(headers, "value"))
    except ChannelError as error:
        raise Unbridgeable(f"the gateway cannot send to it: {error}") from error


_HTTP = frozenset({"http", "streamable-http", "streamableHttp", "streamable_http"})
_TYPE = "type"
_HEADERS = "headers"
_ENV = "env"


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
        key = self.find(entry)
        headers = entry.get(_HEADERS, {})
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
        memo = line.memo
        env = entry.get(_ENV)
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


_URL = "url"
_BEARER = "bearer_token_env_var"
_STATIC = "http_headers"
_NAMED = "env_http_headers"
_VARIABLES = "env_vars"
_TOKEN = "Authorization=Bearer "
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OF_HTTP = (_URL, _BEARER, _STATIC, _NAMED)


@dataclass(frozen=True, slots=True)
class CodexBridge:
    """Codex refuses keys of the one kind of server in the other."""

    def find(self, entry: Entry) -> str:
        """The key with the address."""
        return _URL if _URL in entry else ""

    def wrap(self, entry: Entry, memo: Memo, *, is_open: bool) -> tuple[Entry, list[str]]:
        """The entry without its address, and the words for the gateway."""
        if not {ARGS, "env", _VARIABLES, "cwd"}.isdisjoint(entry):
            raise Unbridgeable("it has an address, and what belongs to a command beside it")
        env, words = hide_address(entry[_URL], entry.get(_STATIC, {}), {})
        named = _read_named(entry.get(_NAMED, {}))
        for name, variable in named.items():
            words += ["--header-env", f"{name}={variable}"]
        bearer = check_text(entry.get(_BEARER, ""), "the name of its token's variable")
        bearer = _check_variable(bearer) if bearer else ""
        words += ["--header-env", f"{_TOKEN}{bearer}"] if bearer else []
        headers = [*entry.get(_STATIC, {}), *named, *(["Authorization"] if bearer else [])]
        check_server(entry[_URL], headers, is_open=is_open)
        memo["http"] = ""
        memo |= {key: "" for key in (_BEARER, _STATIC, _NAMED) if key in entry}
        changed = {key: value for key, value in entry.items() if key not in _OF_HTTP}
        changed["env"] = env
        needed = list(dict.fromkeys([*named.values(), *filter(None, [bearer])]))
        if needed:
            changed[_VARIABLES] = needed
        return changed, words

    def unwrap(self, entry: Entry, line: Line) -> Entry:
        """The entry with its address."""
        gone: Collection[str] = (COMMAND, ARGS, "env", _VARIABLES)
        plain = {key: value for key, value in entry.items() if key not in gone}
        url, static, _ = reveal_address(entry.get("env"), line)
        pairs = [(name, value) for name, value in line.headers if not is_hidden(value)]
        named = {name: variable for name, variable in pairs if " " not in variable}
        bearer = next((value.partition(" ")[2] for _, value in pairs if " " in value), "")
        plain[_URL] = url
        if bearer or _BEARER in line.memo:
            plain[_BEARER] = bearer
        if static or _STATIC in line.memo:
            plain[_STATIC] = static
        if named or _NAMED in line.memo:
            plain[_NAMED] = named
        return plain


def _read_named(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise Unbridgeable(f"its {_NAMED!r} are not a table")
    found = {name: check_text(one, f"its header {name!r}") for name, one in value.items()}
    return {name: _check_variable(one) for name, one in found.items()}


def _check_variable(name: str) -> str:
    if not _VARIABLE.fullmatch(name):
        raise Unbridgeable(f"{name!r} is no name for a variable")
    return name


_HELPER = "a program of its own makes its headers, which the gateway cannot run for the client"
_SANDBOX = "it runs in a sandbox of the client, in which the gateway could record nothing"
_EXTENSION = "it has settings of an extension, which may steer the gateway"
_REMOTE = "it runs on another machine than the client"
# Codex hands on to its servers only some variables, and those that are named.
_NEEDED = (
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    *("AMPLIFIER_SERVER", "AMPLIFIER_STORE", "AMPLIFIER_TOKEN_FILE"),
)

DIALECTS: Mapping[str, Dialect] = {
    "claude": Dialect(JsonBridge(), hindrances={"oauth": LOGIN, "headersHelper": _HELPER}),
    "codex": Dialect(
        CodexBridge(),
        _NEEDED,
        {
            **dict.fromkeys(("oauth", "auth", "oauth_client_id", "oauth_resource"), LOGIN),
            **dict.fromkeys(("scopes",), LOGIN),
            "http_headers_helper": _HELPER,
            "experimental_environment": _REMOTE,
        },
        switch="enabled",
    ),
    "cursor": Dialect(JsonBridge(("url", "serverUrl")), hindrances={"auth": LOGIN, "oauth": LOGIN}),
    "vscode": Dialect(
        JsonBridge(), hindrances={"oauth": LOGIN, "auth": LOGIN, "sandboxEnabled": _SANDBOX}
    ),
    "gemini": Dialect(
        JsonBridge(("httpUrl", "url"), names_type=False),
        hindrances={"oauth": LOGIN, "authProviderType": LOGIN, "extension": _EXTENSION},
    ),
}
