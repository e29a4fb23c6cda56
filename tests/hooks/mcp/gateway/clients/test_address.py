"""Which servers elsewhere the gateway can reach, and where their headers go."""

from __future__ import annotations

import pytest

from amplifier_hooks.mcp.gateway.clients import address
from amplifier_hooks.mcp.gateway.clients.address import (
    check_server,
    hide_address,
    is_hidden,
    reveal_address,
)
from amplifier_hooks.mcp.gateway.clients.entry import Unbridgeable
from amplifier_hooks.mcp.gateway.clients.line import Line


@pytest.mark.parametrize(
    ("url", "headers", "is_open"),
    [
        ("https://x.test/mcp", ["Authorization"], False),
        ("https://x.test/mcp", [], True),
        ("http://127.0.0.1:8000/mcp", [], False),
        ("http://localhost/mcp", ["X-Key"], False),
        ("http://[::1]/mcp", [], False),
        ("${URL}", ["X-Key"], False),
        ("https://x.test/${PATH}/mcp", ["X-Key"], False),
    ],
)
def test_a_server_with_a_way_in_can_be_reached(url: str, headers: list[str], is_open: bool) -> None:
    """With headers, on this machine, or if a person says so."""
    assert check_server(url, headers, is_open=is_open) == url


@pytest.mark.parametrize(
    ("url", "headers", "why"),
    [
        ("https://x.test/mcp", [], "no headers.*OAuth.*--open"),
        ("https://x.test/sse/", ["A"], "old transport"),
        ("ftp://x.test/", ["A"], "cannot send"),
        ("http://x.test/mcp", ["A"], "cannot send"),
        ("https://u:p@x.test/mcp", ["A"], "cannot send"),
        ("https://x.test/mcp", ["a b"], "cannot send"),
        ("https://[x/mcp", ["A"], "cannot be read"),
        (7, ["A"], "not a text"),
    ],
)
def test_a_server_that_the_gateway_could_not_reach_is_refused(
    url: object, headers: list[str], why: str
) -> None:
    """Before the client finds out."""
    with pytest.raises(Unbridgeable, match=why):
        check_server(url, headers, is_open=False)


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gateway would not start."""
    monkeypatch.setattr(address, "find_spec", lambda name: None)
    with pytest.raises(Unbridgeable, match=r"'httpx2' to reach it: .*\[mcp\]"):
        check_server("https://x.test/mcp", ["A"], is_open=False)


def test_an_address_and_the_values_of_headers_are_in_the_environment_only() -> None:
    """Nobody reads them in the list of processes, and the client still fills in its variables."""
    url, headers = "https://x.test/k3y/mcp?key=s3cret", {"Authorization": "Bearer ${T}", "X": "k"}
    env, words = hide_address(url, headers, {"A": "b"})
    assert env["A"] == "b"
    assert {url, "Bearer ${T}", "k"} <= set(env.values())
    assert not any("k3y" in one or "s3cret" in one or "Bearer" in one for one in words)
    pairs = tuple((*one.split("="),) for one in words[3::2])
    assert all(is_hidden(variable) for _, variable in pairs)
    line = Line("p", {}, None, variable=words[1], headers=pairs)  # type: ignore[arg-type]
    assert reveal_address(env, line) == (url, headers, {"A": "b"})


def test_an_address_of_an_older_command_is_read_from_it() -> None:
    """It stood on the command line once."""
    line = Line("p", {}, None, url="https://x.test/mcp")
    assert reveal_address({"A": "b"}, line) == ("https://x.test/mcp", {}, {"A": "b"})


@pytest.mark.parametrize(
    ("headers", "env"),
    [
        (None, {}),
        ({}, "x"),
        ({"A": 1}, {}),
        ({"A": ""}, {}),
        ({"A": "b"}, {"AMPLIFIER_MCP_HEADER_1": "mine"}),
        ({}, {"AMPLIFIER_MCP_URL": "mine"}),
    ],
)
def test_headers_that_cannot_be_hidden_are_refused(headers: object, env: object) -> None:
    """Also where a variable of ours is there already."""
    with pytest.raises(Unbridgeable):
        hide_address("https://x.test/mcp", headers, env)
