"""Requests, byte for byte, and the status that every listener must give to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.hostile.http_doors import Door

SERVED = 200
"""By a listener that would serve the request without the peculiarity."""

Pairs = Sequence[tuple[str, str | bytes]]


@dataclass(frozen=True)
class Sent:
    """What is sent, and the status that must come back; 0: the connection is closed without one."""

    name: str
    content: bytes
    status: int | tuple[int, ...]


def write(
    door: Door,
    *more: tuple[str, str | bytes],
    method: str = "POST",
    target: str | None = None,
    version: str = "HTTP/1.1",
    body: bytes | None = None,
    length: str | None = "",
    without: Sequence[str] = (),
) -> bytes:
    """A request that would be served, but for what is added, replaced or left out."""
    content = door.body if body is None else body
    headers: list[tuple[str, str | bytes]] = [
        ("Host", door.host),
        ("Authorization", f"Bearer {door.token}"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ]
    if length is not None:
        headers.append(("Content-Length", length or str(len(content))))
    kept = [pair for pair in headers if pair[0] not in without]
    lines = [f"{method} {target or door.path} {version}".encode("latin-1")]
    for name, value in [*kept, *more]:
        raw = value if isinstance(value, bytes) else value.encode("latin-1")
        lines.append(name.encode("latin-1") + b": " + raw)
    return b"\r\n".join([*lines, b"", b""]) + content


def write_lines(door: Door, *lines: bytes, body: bytes | None = None) -> bytes:
    """The same with lines as they are, before the empty one."""
    whole = write(door, body=body)
    head, _, rest = whole.partition(b"\r\n\r\n")
    return b"\r\n".join([head, *lines]) + b"\r\n\r\n" + rest


def chunk(body: bytes, size: bytes | None = None, end: bytes = b"\r\n") -> bytes:
    """A body in one chunk."""
    stated = b"%x" % len(body) if size is None else size
    return stated + b"\r\n" + body + end + b"0\r\n\r\n"


def list_requests(door: Door) -> Iterator[Sent]:
    """All of them."""
    yield Sent("as it should be", write(door), SERVED)
    yield from _list_lengths(door)
    yield from _list_chunks(door)
    yield from _list_lines(door)
    yield from _list_sizes(door)
    yield from _list_versions(door)
    yield from _list_hosts(door)
    yield from _list_targets(door)
    yield from _list_methods(door)
    yield from _list_pages(door)
    yield from _list_tokens(door)
    yield from _list_contents(door)


def _list_lengths(door: Door) -> Iterator[Sent]:
    size = len(door.body)
    for value in ("1_0", "+10", "-1", "0x10", "1e1", "ten", "1 0", "١٠".encode().decode("latin-1")):
        yield Sent(f"length {value!r}", write(door, length=value), 400)
    yield Sent("empty length", write(door, ("Content-Length", ""), length=None), 400)
    yield Sent("the same length in a list", write(door, length=f"{size} , {size}"), SERVED)
    yield Sent("two lengths in a list", write(door, length=f"{size}, {size + 1}"), 400)
    other = ("Content-Length", str(size + 1))
    yield Sent("two lengths", write(door, other), 400)
    yield Sent("two lengths, the smaller last", write(door, ("Content-Length", "1")), 400)
    chunked = ("Transfer-Encoding", "chunked")
    yield Sent("length and chunks", write(door, chunked, body=chunk(door.body)), 400)
    yield Sent(
        "chunks and length",
        write(door, chunked, ("Content-Length", "5"), length=None, body=chunk(door.body)),
        400,
    )
    yield Sent("length of 100 GB", write(door, length="99999999999"), 413)
    yield Sent("length of 21 digits", write(door, length="9" * 21), (400, 413))
    yield Sent("length with zeros", write(door, length=f"000{size}"), SERVED)


def _list_chunks(door: Door) -> Iterator[Sent]:
    chunked = ("Transfer-Encoding", "chunked")

    def send(body: bytes, *more: tuple[str, str | bytes]) -> bytes:
        return write(door, *(more or (chunked,)), length=None, body=body)

    size = b"%x" % len(door.body)
    yield Sent("chunks", send(chunk(door.body)), SERVED)
    yield Sent("chunk extension", send(chunk(door.body, size + b";a=b")), SERVED)
    for bad in (b"zz", b"-5", b"+5", b"0x5", b"5_0", b"", b" 5", b"F" * 30):
        yield Sent(f"chunk size {bad!r}", send(chunk(door.body, bad)), 400)
    yield Sent("chunk without its end", send(chunk(door.body, end=b"xx")), 400)
    yield Sent("chunk shorter than it says", send(chunk(door.body, b"%x" % 3)), 400)
    yield Sent("endless chunk extension", send(size + b";" + b"a" * 40_000), (400, 431))
    for other in ("gzip", "gzip, chunked", "identity", "chunked, chunked", "xchunked", "chunked,"):
        yield Sent(f"encoding {other}", send(chunk(door.body), ("Transfer-Encoding", other)), 501)
    twice = send(chunk(door.body), chunked, chunked)
    yield Sent("encoding twice", twice, (400, 501))
    old = write(door, chunked, length=None, body=chunk(door.body), version="HTTP/1.0")
    yield Sent("chunks in HTTP/1.0", old, 400)


def _list_lines(door: Door) -> Iterator[Sent]:
    for name, line in (
        ("no colon", b"Nonsense"),
        ("blank before the colon", b"X-A : b"),
        ("blank in the name", b"X A: b"),
        ("no name", b": b"),
        ("control in the name", b"X\x01: b"),
        ("not ASCII in the name", b"X\xe9: b"),
        ("NUL in the value", b"X-A: b\x00c"),
        ("control in the value", b"X-A: b\x01c"),
        ("DEL in the value", b"X-A: b\x7fc"),
        ("bare CR in the value", b"X-A: b\rc"),
        ("bare CR before a header", b"X-A: b\rHost: evil.test"),
        ("hidden length", b"X-A: b\rContent-Length: 0"),
    ):
        yield Sent(name, write_lines(door, line), 400)
    yield Sent("folded header", write_lines(door, b"X-A: b", b" c"), SERVED)
    folded = write_lines(door, b"Transfer-Encoding:", b" chunked")
    yield Sent("folded transfer encoding", folded, 400)
    first = write(door).replace(b"\r\nHost", b"\r\n Host", 1)
    yield Sent("fold before the first header", first, 400)
    head, _, body = write(door).partition(b"\r\n\r\n")
    yield Sent("bare LF", head.replace(b"\r\n", b"\n") + b"\n\n" + body, SERVED)
    yield Sent("empty lines first", b"\r\n\r\n" + write(door), (400, SERVED))
    yield Sent("a blank before the method", b" " + write(door), 400)
    yield Sent("no HTTP at all", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400)
    yield Sent("two blanks", write(door).replace(b" /", b"  /", 1), 400)
    yield Sent("tab", write(door).replace(b" /", b"\t/", 1), 400)


def _list_sizes(door: Door) -> Iterator[Sent]:
    many = [(f"X-{number}", "a") for number in range(101)]
    yield Sent("101 headers", write(door, *many), 431)
    yield Sent("a long header", write(door, ("X-Long", "a" * 40_000)), 431)
    yield Sent("a long name", write(door, ("X" * 40_000, "a")), 431)
    yield Sent("a long target", write(door, target=f"{door.path}?{'a' * 40_000}"), 431)
    yield Sent("a long method", write(door, method="A" * 40_000), (405, 431))
    yield Sent("a line without end", b"POST " + b"/" * 400_000, 431)
    yield Sent("headers without end", write(door)[:30] + b"\r\nX: " + b"a\r\nX: " * 80_000, 431)


def _list_versions(door: Door) -> Iterator[Sent]:
    yield Sent("HTTP/0.9", b"GET /\r\n\r\n", 400)
    yield Sent("HTTP/1.0", write(door, version="HTTP/1.0"), SERVED)
    yield Sent("HTTP/1.0, no Host", write(door, version="HTTP/1.0", without=["Host"]), 400)
    for version in ("HTTP/2.0", "HTTP/1.2", "HTTP/1", "http/1.1", "HTTP/1.1x", "HTTP/11.1"):
        yield Sent(version, write(door, version=version), (400, 505))
    yield Sent("preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 505))


def _list_hosts(door: Door) -> Iterator[Sent]:
    port = door.port
    for host in (
        "rebind.test",
        f"rebind.test:{port}",
        f"127.0.0.1.nip.test:{port}",
        f"127.0.0.1.:{port}",
        f"localhost.:{port}",
        f"localhost.evil.test:{port}",
        f"127.0.0.1:{port + 1}",
        "127.0.0.1",
        f"LOCALHOST:{port}",
        f"127.1:{port}",
        f"2130706433:{port}",
        f"0.0.0.0:{port}",
        f"10.0.0.5:{port}",
        f"[::]:{port}",
        f"[::ffff:127.0.0.1]:{port}",
        f"[0:0:0:0:0:0:0:1]:{port}",
        f"user@127.0.0.1:{port}",
        f"127.0.0.1:{port}@evil.test",
        f"127.0.0.1:{port}, evil.test",
        f"evil.test, 127.0.0.1:{port}",
        f"127.0.0.1:{port}/",
        f"http://127.0.0.1:{port}",
        f"127.0.0.1:0{port}",
        "",
    ):
        yield Sent(f"Host {host!r}", write(door, ("Host", host), without=["Host"]), 421)
    for host in (f"localhost:{port}", f"[::1]:{port}"):
        yield Sent(f"Host {host!r}", write(door, ("Host", host), without=["Host"]), SERVED)
    yield Sent("no Host", write(door, without=["Host"]), 400)
    yield Sent("two Hosts", write(door, ("Host", "evil.test")), 400)
    yield Sent("the same Host twice", write(door, ("Host", door.host)), 400)
    forwarded = [("X-Forwarded-Host", door.host), ("Forwarded", f"host={door.host}")]
    evil = write(door, ("Host", "evil.test"), *forwarded, without=["Host"])
    yield Sent("forwarded Host", evil, 421)


def _list_targets(door: Door) -> Iterator[Sent]:
    for target in (
        f"http://{door.host}{door.path}",
        f"http://evil.test{door.path}",
        f"//evil.test{door.path}",
        f"/{door.path}",
        "*",
        door.host,
        door.path[1:],
        f"{door.path}%00",
    ):
        yield Sent(f"target {target}", write(door, target=target), 400)
    for target in (
        f"{door.path}/../x",
        f"/%2e%2e{door.path}",
        f"/..{door.path}",
        f"{door.path}%2f",
    ):
        yield Sent(f"target {target}", write(door, target=target), (404, 405))
    yield Sent("blank in the target", write(door, target=f"{door.path} /x"), 400)
    yield Sent("not ASCII in the target", write(door, target=f"{door.path}\xe9"), 400)


def _list_methods(door: Door) -> Iterator[Sent]:
    for method in ("PUT", "PATCH", "TRACE", "PROPFIND", "post", "POSTX", "OPTIONS"):
        yield Sent(method, write(door, method=method), 405)
    yield Sent("CONNECT", write(door, method="CONNECT", target="evil.test:443"), 400)
    yield Sent("OPTIONS *", write(door, method="OPTIONS", target="*"), 400)
    override = [("X-HTTP-Method-Override", "POST"), ("X-HTTP-Method", "POST"), ("X-Method", "POST")]
    yield Sent("method override", write(door, *override, method="PUT"), 405)
    yield Sent("method that is none", write(door, method="PO(ST"), 400)
    upgrade = [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c")]
    yield Sent(
        "upgrade to h2c without token", write(door, *upgrade, without=["Authorization"]), 401
    )


def _list_pages(door: Door) -> Iterator[Sent]:
    for origin in (
        "null",
        "",
        "https://evil.test",
        f"http://evil.test:{door.port}",
        f"http://localhost.evil.test:{door.port}",
        f"http://127.0.0.1:{door.port + 1}",
        "http://127.0.0.1",
        f"HTTP://{door.host}",
        f"http://{door.host}/",
        f"https://{door.host}",
        f"ws://{door.host}",
        f"http://{door.host}, https://evil.test",
        "file://",
        "chrome-extension://abc",
    ):
        yield Sent(f"Origin {origin!r}", write(door, ("Origin", origin)), 403)
    own = ("Origin", f"http://{door.host}")
    yield Sent("two Origins", write(door, own, own), 400)
    for site in ("cross-site", "same-site", "SAME-ORIGIN", ""):
        yield Sent(f"Sec-Fetch-Site {site!r}", write(door, ("Sec-Fetch-Site", site)), 403)
    yield Sent("in a frame", write(door, ("Sec-Fetch-Dest", "iframe")), 403)
    yield Sent("in advance", write(door, ("Sec-Purpose", "prefetch")), 403)
    asked = [("Origin", "https://evil.test"), ("Access-Control-Request-Method", "POST")]
    page = write(door, *asked, method="OPTIONS", without=["Authorization"])
    yield Sent("a page asks whether it may", page, 403)


def _list_tokens(door: Door) -> Iterator[Sent]:
    token = door.token
    for value in (
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"Bearer {token}x",
        f"Bearer {token[:-1]}",
        f"Bearer {token} {token}",
        f"Bearer {token}, Bearer {token}",
        f"Bearer\t{token}",
        f"Basic {token}",
        token,
        f'Bearer "{token}"',
        f"Bearer {token.upper()}",
        "Bearer \xe9",
        f"Bearer {'a' * 5000}",
        "Bearer null",
    ):
        wrong = write(door, ("Authorization", value), without=["Authorization"])
        yield Sent(f"Authorization {value[:60]!r}", wrong, 401)
    yield Sent("no Authorization", write(door, without=["Authorization"]), 401)
    query = write(
        door, target=f"{door.path}?token={token}&access_token={token}", without=["Authorization"]
    )
    yield Sent("token in the target", query, 401)
    cookie = ("Cookie", f"token={token}; Authorization=Bearer {token}; amplifier_login={token}")
    yield Sent("token in a cookie", write(door, cookie, without=["Authorization"]), 401)
    yield Sent(
        "token in X-Authorization",
        write(door, ("X-Authorization", f"Bearer {token}"), without=["Authorization"]),
        401,
    )
    yield Sent("Authorization twice", write(door, ("Authorization", f"Bearer {token}")), 400)
    yield Sent("Authorization, then another", write(door, ("Authorization", "Basic x")), 400)
    small = write(door, ("authorization", f"bearer {token}"), without=["Authorization"])
    yield Sent("bearer in small letters", small, SERVED)
    yield Sent("a cookie besides", write(door, ("Cookie", "a=b; ; =; c")), SERVED)


def _list_contents(door: Door) -> Iterator[Sent]:
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "",
        "json",
    ):
        yield Sent(
            f"type {kind!r}", write(door, ("Content-Type", kind), without=["Content-Type"]), 415
        )
    yield Sent("no type", write(door, without=["Content-Type"]), 415)
    yield Sent("two types", write(door, ("Content-Type", "application/json")), 400)
    for coding in ("gzip", "deflate", "br", "identity, gzip"):
        yield Sent(f"coding {coding}", write(door, ("Content-Encoding", coding)), 415)
    detailed = ("Content-Type", "application/json; charset=utf-8")
    yield Sent("type with a parameter", write(door, detailed, without=["Content-Type"]), SERVED)
