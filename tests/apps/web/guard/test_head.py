"""The head of a request."""

from __future__ import annotations

from typing import Any

from amplifier_apps.web.guard.head import read_head


def make(*headers: tuple[str, str], **more: Any):
    return {
        "type": "http",
        "method": "POST",
        "path": "/api/v1/me",
        "client": ("10.0.0.9", 5),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
        **more,
    }


def test_every_value_of_a_header_is_kept():
    """Two Hosts are not one."""
    head = read_head(make(("Host", "a"), ("host", "b")))
    assert head.list("host") == ["a", "b"]
    assert head.get("host") == "a, b"
    assert head.get("origin") is None


def test_what_may_change_something_is_told_from_the_rest():
    """GET never changes state; a handshake is none of both."""
    assert read_head(make()).changes
    assert not read_head(make(method="GET")).changes
    assert not read_head(make(type="websocket")).changes
    assert read_head(make()).is_api
    assert not read_head(make(path="/apis")).is_api


def test_the_peer_is_who_is_connected_whatever_a_header_says():
    """Anybody can write X-Forwarded-For."""
    forwarded = make(("X-Forwarded-For", "1.2.3.4"))
    assert read_head(forwarded).peer == "10.0.0.9"


def test_behind_a_proxy_the_peer_is_what_the_proxy_added_last():
    """Whatever stands before it came from outside."""
    forwarded = make(("X-Forwarded-For", "6.6.6.6, 1.2.3.4"))
    assert read_head(forwarded, behind_proxy=True).peer == "1.2.3.4"
    assert read_head(make(), behind_proxy=True).peer == "10.0.0.9"


def test_a_socket_without_a_peer_has_a_name_all_the_same():
    """Unix sockets have no address."""
    assert read_head(make(client=None)).peer == ""
