"""Requests and handshakes that must all be refused, as the bytes that go over the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.hooks.server.world import make_request

API = "/api/v1"
EVIL_ORIGINS = (
    "https://evil.test",
    "null",
    "http://localhost.evil.test:{port}",
    "http://127.0.0.1:{other}",
    "http://127.0.0.1",
    "HTTP://127.0.0.1:{port}",
    "http://127.0.0.1:{port}/",
    "http://127.0.0.1:{port}/path",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1:{port}, https://evil.test",
    "http://127.0.0.1.:{port}",
    "file://",
)
EVIL_HOSTS = (
    "rebind.test",
    "rebind.test:{port}",
    "127.0.0.1.nip.test:{port}",
    "127.0.0.1.:{port}",
    "localhost.:{port}",
    "127.0.0.1:{other}",
    "127.0.0.1",
    "LOCALHOST:{port}",
    "127.1:{port}",
    "0.0.0.0:{port}",
    "[::ffff:127.0.0.1]:{port}",
    "user@127.0.0.1:{port}",
    "127.0.0.1:{port}, evil.test",
    "",
)
POST_ROUTES = (
    "/login",
    "/logout",
    "/approvals/{id}/decision",
    "/approvals/refusals",
    "/rules/{id}/revocation",
    "/tokens",
    "/tokens/{id}/revocation",
    "/codes",
    "/agent/approvals",
    "/agent/claims",
    "/agent/sessions",
)


@dataclass(frozen=True)
class Target:
    """What an attacker knows: more than any attacker should."""

    port: int
    approval: str
    nonce: str
    decided: str
    foreign: str
    """An approval that another agent asked for."""
    csrf: str
    cookie: str
    secrets: dict[str, str] = field(default_factory=dict)
    """Tokens by what they are: person, viewer, agent, expired, revoked, narrow."""

    @property
    def host(self) -> str:
        """The right value."""
        return f"127.0.0.1:{self.port}"

    @property
    def origin(self) -> str:
        """The right value."""
        return f"http://{self.host}"

    def fill(self, text: str) -> str:
        """A text with the ports in it."""
        return text.replace("{port}", str(self.port)).replace("{other}", str(self.port + 1))

    def decision(self, **changes: Any) -> dict[str, Any]:
        """A decision that would allow."""
        return {"option": 1, "nonce": self.nonce, "key": "attack", **changes}


@dataclass(frozen=True)
class Attack:
    """A name for the report, and what is sent."""

    name: str
    content: bytes


def write(
    method: str,
    path: str,
    headers: list[tuple[str, str]],
    body: bytes | dict[str, Any] | None = None,
) -> bytes:
    """One request."""
    content = json.dumps(body).encode() if isinstance(body, dict) else body or b""
    sent = list(headers)
    if body is not None and not any(name.lower() == "content-length" for name, _ in sent):
        sent.append(("Content-Length", str(len(content))))
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + content


def list_attacks(target: Target) -> Iterator[Attack]:
    """All of them."""
    yield from _list_addresses(target)
    yield from _list_cross_site(target)
    yield from _list_methods(target)
    yield from _list_bodies(target)
    yield from _list_callers(target)
    yield from _list_handshakes(target)


def _bearer(target: Target, who: str = "person") -> tuple[str, str]:
    return ("Authorization", f"Bearer {target.secrets[who]}")


def _browser(target: Target) -> list[tuple[str, str]]:
    return [
        ("Host", target.host),
        ("Cookie", f"amplifier_login={target.cookie}"),
        ("Content-Type", "application/json"),
    ]


def _decide(target: Target, headers: list[tuple[str, str]], **changes: Any) -> bytes:
    path = f"{API}/approvals/{target.approval}/decision"
    return write("POST", path, headers, target.decision(**changes))


def _list_addresses(target: Target) -> Iterator[Attack]:
    json_type = ("Content-Type", "application/json")
    for host in EVIL_HOSTS:
        value = target.fill(host)
        yield Attack(
            f"Host {value}", _decide(target, [("Host", value), _bearer(target), json_type])
        )
    right, evil = ("Host", target.host), ("Host", "evil.test")
    for name, hosts in (
        ("right first", [right, evil]),
        ("evil first", [evil, right]),
        ("none", []),
    ):
        yield Attack(f"Hosts: {name}", _decide(target, [*hosts, _bearer(target), json_type]))
    path = f"/approvals/{target.approval}/decision"
    for form in (
        f"http://{target.host}{API}{path}",
        f"http://evil.test{API}{path}",
        f"//evil.test{API}{path}",
    ):
        headers = [right, _bearer(target), json_type]
        yield Attack(f"target {form[:25]}", write("POST", form, headers, target.decision()))


def _list_cross_site(target: Target) -> Iterator[Attack]:
    csrf = ("X-Amplifier-CSRF", target.csrf)
    for origin in EVIL_ORIGINS:
        value = target.fill(origin)
        yield Attack(
            f"Origin {value}", _decide(target, [*_browser(target), csrf, ("Origin", value)])
        )
    own = ("Origin", target.origin)
    yield Attack("no Origin", _decide(target, [*_browser(target), csrf]))
    yield Attack("two Origins", _decide(target, [*_browser(target), csrf, own, own]))
    yield Attack("no csrf", _decide(target, [*_browser(target), own]))
    yield Attack(
        "wrong csrf", _decide(target, [*_browser(target), own, ("X-Amplifier-CSRF", "0" * 64)])
    )
    for name, value in (
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
        ("Sec-Fetch-Dest", "iframe"),
        ("Sec-Fetch-Dest", "object"),
        ("Sec-Purpose", "prefetch"),
        ("Purpose", "prefetch"),
        ("X-Moz", "prefetch"),
    ):
        yield Attack(
            f"{name}: {value}", _decide(target, [*_browser(target), own, csrf, (name, value)])
        )
    yield Attack(
        "two cookies",
        _decide(target, [*_browser(target), own, csrf, ("Cookie", "amplifier_login=other")]),
    )
    yield Attack(
        "framed page", write("GET", "/", [_browser(target)[0], ("Sec-Fetch-Dest", "iframe")])
    )


def _list_methods(target: Target) -> Iterator[Attack]:
    headers = [("Host", target.host), _bearer(target)]
    for route in POST_ROUTES:
        path = f"{API}{route.replace('{id}', target.approval)}"
        # GET of a list or of one thing is a reading; of an action there is none.
        if route not in ("/tokens", "/agent/approvals", "/approvals/refusals"):
            yield Attack(f"GET {route}", write("GET", path, headers))
        yield Attack(f"HEAD {route}", write("HEAD", path, headers))
    path = f"{API}/approvals/{target.approval}/decision"
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"):
        yield Attack(method, write(method, path, headers, target.decision()))
    override = [*headers, ("X-HTTP-Method-Override", "POST")]
    yield Attack("method override", write("GET", path, override))


def _list_bodies(target: Target) -> Iterator[Attack]:
    head = [("Host", target.host), _bearer(target)]
    as_json = [*head, ("Content-Type", "application/json")]
    path = f"{API}/approvals/{target.approval}/decision"
    text = json.dumps(target.decision()).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        yield Attack(kind, write("POST", path, [*head, ("Content-Type", kind)], text))
    yield Attack("no type", write("POST", path, head, text))
    for name, body in {
        "not JSON": b"option=1",
        "NaN": text.replace(b": 1,", b": NaN,"),
        "huge number": text.replace(b": 1,", b": 1e999,"),
        "deep nesting": b"[" * 100_000,
        "not UTF-8": b'{"option": "\xff"}',
        "list": b"[]",
        "empty": b"",
        "over 2 MiB": b'{"comment": "' + b"x" * (2 * 1024 * 1024) + b'"}',
    }.items():
        yield Attack(name, write("POST", path, as_json, body))
    chunks = b"200000\r\n" + b"x" * 0x200000 + b"\r\n10\r\n" + b"x" * 16 + b"\r\n0\r\n\r\n"
    chunked = write("POST", path, [*as_json, ("Transfer-Encoding", "chunked")])
    yield Attack("2 MiB in chunks", chunked + chunks)
    yield Attack(
        "length and chunks",
        write("POST", path, [*as_json, ("Transfer-Encoding", "chunked")], text),
    )
    yield Attack(
        "two lengths",
        write("POST", path, [*as_json, ("Content-Length", "5"), ("Content-Length", "6")], text),
    )
    wrong: dict[str, dict[str, Any]] = {
        "decided_by": {"decided_by": "ann"},
        "status": {"status": "approved"},
        "option true": {"option": True},
        "option as text": {"option": "1"},
        "option by label": {"option": "Allow once"},
        "option null": {"option": None},
        "option list": {"option": [1]},
        "option not offered": {"option": 7},
        "option negative": {"option": -1},
        "option of 1 MB": {"option": "x" * 1_000_000},
        "wrong nonce": {"nonce": "0" * 22},
        "no nonce": {"nonce": ""},
        "nonce of 1 MB": {"nonce": "x" * 1_000_000},
        "NUL in key": {"key": "\0"},
        "half a pair in comment": {"comment": "\ud800"},
        "comment of 1 MB": {"comment": "x" * 1_000_000},
        "edited where nobody may": {"edited_input": {"command": "rm"}},
        "rule for another scope": {"standing": {"scope": "below:/"}},
        "rule for ever": {"standing": {"scope": "exact", "seconds": 1e12}},
    }
    for name, changes in wrong.items():
        yield Attack(name, _decide(target, as_json, **changes))


def _list_callers(target: Target) -> Iterator[Attack]:
    head = [("Host", target.host), ("Content-Type", "application/json")]
    for who in ("viewer", "agent", "expired", "revoked", "narrow"):
        yield Attack(f"{who} decides", _decide(target, [*head, _bearer(target, who)]))
    for name, value in (
        ("no credential", None),
        ("made-up token", "Bearer amp_made_up"),
        ("empty token", "Bearer "),
        ("Basic", "Basic YW5uOmFubg=="),
        ("token of 1 KB", "Bearer " + "x" * 1024),
    ):
        headers = head if value is None else [*head, ("Authorization", value)]
        yield Attack(name, _decide(target, headers))
    token = target.secrets["person"]
    yield Attack(
        "token in the address",
        write("GET", f"{API}/approvals?token={token}&access_token={token}", [head[0]]),
    )
    yield Attack("two tokens", _decide(target, [*head, _bearer(target), _bearer(target, "viewer")]))
    yield from _list_wrong_objects(target, head)


def _list_wrong_objects(target: Target, head: list[tuple[str, str]]) -> Iterator[Attack]:
    person, agent = [*head, _bearer(target)], [*head, _bearer(target, "agent")]
    request = {**_plain_request(), "session_id": "session-of-another"}
    for name, path, headers, body in (
        (
            "decision for an unknown id",
            f"/approvals/{'0' * 32}/decision",
            person,
            target.decision(),
        ),
        (
            "replay on another approval",
            f"/approvals/{target.foreign}/decision",
            person,
            target.decision(),
        ),
        (
            "decision after the end",
            f"/approvals/{target.decided}/decision",
            person,
            target.decision(),
        ),
        ("approval made up by a person", "/agent/approvals", person, _plain_request()),
        ("approval in another's session", "/agent/approvals", agent, request),
        ("another agent's withdrawal", f"/agent/approvals/{target.foreign}/withdrawal", agent, {}),
        (
            "another agent's claim",
            "/agent/claims",
            agent,
            {"session_id": "session-of-another", "tool_call_id": "call", "digest": "d", "lease": 5},
        ),
        (
            "another agent's result",
            "/agent/claims/1/result",
            agent,
            {"approvals": [target.foreign], "outcome": "executed"},
        ),
        ("another agent's session", "/agent/sessions", agent, {"id": "session-of-another"}),
        (
            "another agent's records",
            "/agent/sessions/session-of-another/records",
            agent,
            {"records": [{"number": 1, "time": 1.0, "type": "x"}]},
        ),
        ("an agent makes a token", "/tokens", agent, {"name": "x", "scopes": ["decide"]}),
        (
            "an agent refuses",
            "/approvals/refusals",
            agent,
            {"approvals": [{"id": target.approval, "nonce": target.nonce}], "key": "k"},
        ),
        ("a viewer makes a code", "/codes", [*head, _bearer(target, "viewer")], {"name": "x"}),
        (
            "a token that asks and decides",
            "/tokens",
            person,
            {"name": "x", "scopes": ["agent", "decide"]},
        ),
        ("a wrong code", "/login", head, {"code": "AAAA-AAAA-AAAA"}),
        ("a code of 5 KB", "/login", head, {"code": "A" * 5000}),
    ):
        yield Attack(name, write("POST", f"{API}{path}", headers, body))
    for name, path in (
        ("another agent's approval", f"/agent/approvals/{target.foreign}"),
        ("the list for an agent", "/approvals"),
        ("the rules for an agent", "/rules"),
        ("the stream for an agent", "/approvals/stream"),
        ("tokens for an agent", "/tokens"),
    ):
        yield Attack(name, write("GET", f"{API}{path}", agent))
    for path in (
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
    ):
        yield Attack(f"file {path}", write("GET", path, [head[0]]))


def _plain_request() -> dict[str, Any]:

    plain: dict[str, Any] = make_request(key="made-up").model_dump(mode="json")
    return plain


def _list_handshakes(target: Target) -> Iterator[Attack]:
    upgrade = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="),
    ]
    host = ("Host", target.host)
    cookie = ("Cookie", f"amplifier_login={target.cookie}")
    for origin in EVIL_ORIGINS:
        value = target.fill(origin)
        yield Attack(
            f"WebSocket from {value}",
            write("GET", f"{API}/live", [host, *upgrade, cookie, ("Origin", value)]),
        )
    for evil in EVIL_HOSTS:
        headers = [("Host", target.fill(evil)), *upgrade, cookie, ("Origin", target.origin)]
        yield Attack(f"WebSocket at {evil}", write("GET", f"{API}/live", headers))
    for name, headers in (
        ("without Origin, with a cookie", [host, cookie]),
        ("without a credential", [host, ("Origin", target.origin)]),
        ("with an agent's token", [host, _bearer(target, "agent")]),
        ("with an expired token", [host, _bearer(target, "expired")]),
        ("with a token, from elsewhere", [host, _bearer(target), ("Origin", "https://evil.test")]),
        ("with two Hosts", [host, host, _bearer(target)]),
    ):
        yield Attack(f"WebSocket {name}", write("GET", f"{API}/live", [*headers, *upgrade]))
    token = target.secrets["person"]
    yield Attack(
        "WebSocket with the token in the address",
        write("GET", f"{API}/live?token={token}", [host, *upgrade]),
    )
    yield Attack(
        "WebSocket at a whole address",
        write("GET", f"http://evil.test{API}/live", [host, *upgrade, _bearer(target)]),
    )
    yield Attack("WebSocket elsewhere", write("GET", "/live", [host, *upgrade, _bearer(target)]))
