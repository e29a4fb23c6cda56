"""Servers that are reached by an address: which of them the gateway can reach as the client did."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from amplifier_foundation.gateway.channel import ChannelError
from amplifier_foundation.gateway.clients.entry import HEADER_VARIABLE, Unbridgeable, check_text
from amplifier_foundation.modules.installation import name_install_command

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
        needed = name_install_command("http")
        raise Unbridgeable(f"the gateway needs the package 'httpx2' to reach it: {needed}")
    if "$" not in text:  # what the client fills in, nobody knows here
        _check_sending(text, headers)
    if not headers and not is_open and not _LOOPBACK.fullmatch(host):
        raise Unbridgeable(
            "it has no headers, so the client may have to log in by itself (OAuth), which the "
            "gateway cannot do for it; if the server needs no login, name it with --open"
        )
    return text


def hide_headers(headers: Any, env: Any) -> tuple[dict[str, Any], list[str]]:
    """The environment with the headers' values in it, and the words that name them."""
    if not isinstance(headers, Mapping) or not isinstance(env, Mapping):
        raise Unbridgeable("its headers or its environment are not an object")
    values, words = dict(env), list[str]()
    for number, (name, value) in enumerate(headers.items(), 1):
        variable = f"{HEADER_VARIABLE}{number}"
        if variable in env:
            raise Unbridgeable(f"its environment has the variable {variable}, which is ours")
        values[variable] = check_text(value, f"its header {name!r}")
        if not value.strip():
            raise Unbridgeable(f"its header {name!r} is empty")
        words += ["--header-env", f"{name}={variable}"]
    return values, words


def reveal_headers(
    env: Mapping[str, Any], headers: Collection[tuple[str, str]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The environment without the headers' values, and the headers."""
    found = dict(_list_hidden(env, headers))
    ours = {variable for _, variable in headers if is_hidden(variable)}
    return {key: value for key, value in env.items() if key not in ours}, found


def is_hidden(variable: str) -> bool:
    """Whether a variable is one that we made for the value of a header."""
    return variable.startswith(HEADER_VARIABLE)


def _list_hidden(
    env: Mapping[str, Any], headers: Collection[tuple[str, str]]
) -> Iterator[tuple[str, Any]]:
    for name, variable in headers:
        if is_hidden(variable) and variable in env:
            yield name, env[variable]


def _check_sending(url: str, headers: Collection[str]) -> None:
    # Only a server elsewhere needs what speaks HTTP.
    from amplifier_foundation.gateway.http.outgoing.address import check_address

    try:
        check_address(url, dict.fromkeys(headers, "value"))
    except ChannelError as error:
        raise Unbridgeable(f"the gateway cannot send to it: {error}") from error
