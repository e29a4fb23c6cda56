"""Servers that are reached by an address: which of them the gateway can reach as the client did."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.clients.entry import Unbridgeable, check_text
from amplifier_hooks.mcp.gateway.clients.line import Line
from amplifier_hooks.mcp.gateway.clients.steering import HEADER_VARIABLE, URL_VARIABLE
from amplifier_hooks.modules.installation import name_install_command

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
    hidden, words = {URL_VARIABLE: url}, ["--http-env", URL_VARIABLE]
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
    from amplifier_hooks.mcp.gateway.http.outgoing.address import check_address

    try:
        check_address(url, dict.fromkeys(headers, "value"))
    except ChannelError as error:
        raise Unbridgeable(f"the gateway cannot send to it: {error}") from error
