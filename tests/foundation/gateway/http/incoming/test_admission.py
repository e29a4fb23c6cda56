"""Who may come in."""

from __future__ import annotations

import pytest

from amplifier_foundation.gateway.http.incoming.admission import Admission
from amplifier_foundation.gateway.http.incoming.head import Head
from amplifier_foundation.gateway.http.incoming.refusal import Refusal
from amplifier_foundation.gateway.http.incoming.settings import ListenSettings

GOOD = {"host": "127.0.0.1:8080", "content-type": "application/json"}
TOKEN = "a-token-of-sixteen"


def _check(settings: ListenSettings | None = None, /, **changes: str | None) -> int:
    """The status of the refusal, 0 if there is none."""
    method, path = changes.pop("method", "POST") or "", changes.pop("path", "/mcp") or ""
    named = {name.replace("_", "-"): value for name, value in changes.items()}
    headers = {name: value for name, value in {**GOOD, **named}.items() if value is not None}
    try:
        Admission(settings or ListenSettings()).check(Head(method, path, tuple(headers.items())))
    except Refusal as refusal:
        return refusal.status
    return 0


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8080", "localhost", "LocalHost:1", "[::1]:8080", "10.0.0.5"]
)
def test_numbers_and_this_machine_are_names_of_ours(host: str):
    """No page can make a browser use these names for its own."""
    assert _check(host=host) == 0


@pytest.mark.parametrize(
    "host",
    [
        *(None, "", "evil.example", "evil.example:8080", "localhost.evil.example", "[::1"),
        *("localhost, evil", "localhost@evil", "evil/127.0.0.1", "127.0.0.1.evil.example"),
        "localhost:port",
    ],
)
def test_a_foreign_name_is_refused(host: str | None):
    """A page whose name suddenly means this machine gets nothing (DNS rebinding)."""
    assert _check(host=host) == 421


def test_further_names_can_be_allowed():
    """And the one that is listened on."""
    settings = ListenSettings("mcp.example.com", token=TOKEN, hosts=frozenset({"Tools"}))
    for host in ("tools:8080", "mcp.example.com"):
        assert _check(settings, host=host, authorization=f"Bearer {TOKEN}") == 0


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://127.0.0.1:8080"}, 0),
        ({"origin": "http://localhost:5173"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"sec_fetch_site": "none"}, 0),
        ({"method": "GET", "sec_fetch_site": "cross-site"}, 403),
    ],
)
def test_pages_of_others_are_refused(headers: dict[str, str], status: int):
    """Whatever a browser says of where a request comes from."""
    assert _check(**headers) == status


def test_a_page_can_be_allowed():
    """By its exact origin."""
    settings = ListenSettings(origins=frozenset({"http://localhost:5173"}))
    assert _check(settings, origin="http://localhost:5173", sec_fetch_site="cross-site") == 0
    assert _check(settings, origin="http://localhost:5174") == 403


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, 0),
        ({"origin": "http://localhost:5174"}, 403),
        ({"origin": None}, 401),
        ({"host": "evil.example"}, 421),
        ({"access_control_request_method": None}, 401),
        ({"method": "POST"}, 401),
    ],
)
def test_a_browser_may_ask_for_an_allowed_page_without_the_token(
    changes: dict[str, str | None], status: int
):
    """It sends none with the question; everything else needs it."""
    page = "http://localhost:5173"
    settings = ListenSettings(origins=frozenset({page}), token=TOKEN)
    asked: dict[str, str | None] = {
        "method": "OPTIONS",
        "origin": page,
        "access_control_request_method": "POST",
    }
    assert _check(settings, **{**asked, **changes}) == status


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (f"Bearer {TOKEN}", 0),
        (f"bearer  {TOKEN}", 0),
        (None, 401),
        ("", 401),
        (TOKEN, 401),
        (f"Basic {TOKEN}", 401),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN}, Bearer {TOKEN}", 401),
        ("Bearer é", 401),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PUT"])
def test_the_token_must_be_exact(given: str | None, status: int, method: str):
    """For every method, before anything else is looked at."""
    settings = ListenSettings(token=TOKEN)
    found = _check(settings, authorization=given, method=method)
    assert found == (405 if method == "PUT" and not status else status)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"path": "/"}, 404),
        ({"path": "/mcp/"}, 404),
        ({"method": "OPTIONS"}, 405),
        ({"method": "PUT"}, 405),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": None}, 415),
        ({"content_type": "application/json; charset=utf-8"}, 0),
        ({"content_encoding": "gzip"}, 415),
        ({"content_length": "3", "transfer_encoding": "chunked"}, 400),
        ({"content_length": "3"}, 0),
        ({"transfer_encoding": "chunked"}, 0),
        ({"accept": "text/html"}, 406),
        ({"accept": "application/json"}, 0),
        ({"method": "GET", "content_type": None}, 0),
    ],
)
def test_what_is_no_message_is_refused(changes: dict[str, str | None], status: int):
    """With the status that says why."""
    assert _check(**changes) == status
