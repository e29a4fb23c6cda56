"""Hooks that are asked over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.dialect import Handler, Reply
from amplifier_hooks.coding_agents.shell_hooks.runner import explain_refusal, post
from tests.hooks.coding_agents.shell_hooks.hook_files import configure, specific
from tests.support.harness import Harness
from tests.support.http_server import receiver

DENIAL = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="remote")


def make_handler(url: str, **fields: Any) -> Handler:
    return Handler(dialect="claude", native="PreToolUse", where="x", url=url, **fields)


async def test_a_server_is_asked_and_answers_as_a_command_does(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets the payload as a document; headers take only the variables that were allowed."""
    monkeypatch.setenv("HOOK_TOKEN", "t0ken")
    monkeypatch.setenv("OTHER_SECRET", "hidden")
    with receiver(body=json.dumps(DENIAL).encode()) as server:
        handler = {
            "type": "http",
            "url": f"{server.url}/hook?x=1",
            "headers": {"Authorization": "Bearer $HOOK_TOKEN", "X-Other": "${OTHER_SECRET}"},
            "allowedEnvVars": ["HOOK_TOKEN"],
        }
        async with harness.mounted("shell", configure("PreToolUse", handler)):
            result = await harness.pre("Bash", command="ls")
    assert (result.action, result.reason) == ("deny", "remote")
    [(path, headers, body)] = server.requests
    assert path == "/hook?x=1"
    assert (headers["Authorization"], headers.get("X-Other")) == ("Bearer t0ken", "")
    assert json.loads(body)["hook_event_name"] == "PreToolUse"


@pytest.mark.parametrize("on_failure", [None, "block"])
async def test_a_server_that_fails_is_an_open_gate_unless_the_hook_says_otherwise(
    harness: Harness, on_failure: str | None
) -> None:
    """The status stands in the warning or in the denial."""
    with receiver(500, body=b"broken") as server:
        handler = {"type": "http", "url": server.url, "onFailure": on_failure}
        async with harness.mounted("shell", configure("PreToolUse", handler)):
            result = await harness.pre("Bash", command="ls")
    assert result.action == ("deny" if on_failure else "continue")
    told = str(result.reason) if on_failure else harness.shown[0][0]
    assert "answered with status 500" in told


async def test_what_a_server_says_is_read_as_if_it_had_been_printed() -> None:
    """A success is exit code 0."""
    with receiver(body=b'{"decision": "block"}') as server:
        assert await post(make_handler(server.url), b"{}") == Reply(stdout='{"decision": "block"}')


async def test_a_server_that_takes_too_long_is_a_timeout() -> None:
    """The hook's own limit holds for the whole exchange."""
    with receiver(delay=1) as server:
        reply = await post(make_handler(server.url, timeout=0.1), b"{}")
    assert reply.timed_out
    assert reply.failure == f"Hook {server.url!r} did not answer within 0.1 s"


async def test_a_server_that_is_not_there_is_named() -> None:
    """Nobody listens on this port any more."""
    with receiver() as server:
        url = server.url
    reply = await post(make_handler(url), b"{}")
    assert not reply.timed_out
    assert reply.failure.startswith(f"Hook {url!r} cannot be reached: ")


async def test_a_header_cannot_smuggle_another_or_change_how_the_document_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Line ends are dropped, and names that are ours or are no names are left out."""
    monkeypatch.setenv("EVIL", "a\r\nX-Evil: 1")
    headers = {"X-A": "$EVIL", "Content-Length": "0", "Host": "other", "bad name": "x"}
    with receiver() as server:
        handler = make_handler(server.url, headers=headers, header_vars=frozenset({"EVIL"}))
        await post(handler, b'{"a": 1}')
    [(_, sent, body)] = server.requests
    assert sent["X-A"] == "aX-Evil: 1"
    assert "X-Evil" not in sent
    assert "bad name" not in sent
    assert (sent["Content-Length"], body) == ("8", b'{"a": 1}')
    assert sent["Host"] != "other"


@pytest.mark.parametrize(
    "url",
    [
        "http://example.test/hook",
        "http://127.0.0.1.evil.test/",
        "http://localhost.evil.test/",
        "ftp://127.0.0.1/",
        "http:///x",
        "http://127.0.0.1:99999/",
        "https://x.test/\nHost: y",
        "file:///etc/passwd",
    ],
)
def test_hooks_are_asked_on_this_machine_or_over_tls(url: str) -> None:
    """The payload holds what the agent does; it does not go over the network in the open."""
    assert explain_refusal(url) is not None


@pytest.mark.parametrize("url", ["http://[::1]:80/", "http://127.0.0.1/", "https://a.test/x"])
def test_an_address_that_is_private_is_not_refused(url: str) -> None:
    """Loopback in both spellings, and anything encrypted."""
    assert explain_refusal(url) is None


def test_addresses_can_be_limited_by_the_settings() -> None:
    """A list of patterns; without a list, every private address will do."""
    assert explain_refusal("https://a.test/x", ["https://a.test/*"]) is None
    assert "allowedHttpHookUrls" in str(explain_refusal("https://b.test/x", ["https://a.test/*"]))
    assert "allowedHttpHookUrls" in str(explain_refusal("https://b.test/x", []))
