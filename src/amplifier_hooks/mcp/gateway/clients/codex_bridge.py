"""Servers with an address, as Codex writes them: tokens and headers by the names of variables."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from amplifier_hooks.mcp.gateway.clients.address import (
    check_server,
    hide_address,
    is_hidden,
    reveal_address,
)
from amplifier_hooks.mcp.gateway.clients.entry import (
    ARGS,
    COMMAND,
    Entry,
    Memo,
    Unbridgeable,
    check_text,
)
from amplifier_hooks.mcp.gateway.clients.line import Line

_URL, _BEARER, _STATIC, _NAMED = "url", "bearer_token_env_var", "http_headers", "env_http_headers"
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
