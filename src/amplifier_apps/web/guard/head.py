"""The head of a request, as the guard reads it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from amplifier_apps.web.guard.refusal import Scope

API = "/api/v1/"
METRICS = "/metrics"


@dataclass(frozen=True, slots=True)
class Head:
    """Method, path and headers; every value of a header is kept."""

    kind: str
    method: str
    path: str
    peer: str
    headers: tuple[tuple[str, str], ...]

    def list(self, name: str) -> list[str]:
        """All values of a header."""
        return [value for key, value in self.headers if key == name]

    def get(self, name: str) -> str | None:
        """The value of a header; several are joined, which no exact comparison accepts."""
        found = self.list(name)
        return ", ".join(found) if found else None

    @property
    def is_api(self) -> bool:
        """Whether it is for the API or for figures, not for a file of the page."""
        return self.path.startswith("/api/") or self.path in ("/api", METRICS)

    @property
    def changes(self) -> bool:
        """Whether it may change something."""
        return self.kind == "http" and self.method == "POST"


def read_head(scope: Scope, *, behind_proxy: bool = False) -> Head:
    """The head of a request or handshake."""
    headers = tuple(_decode(scope["headers"]))
    head = Head(
        kind=scope["type"],
        method=scope.get("method", "GET"),
        path=scope["path"],
        peer=(scope.get("client") or ("",))[0],
        headers=headers,
    )
    if behind_proxy and (forwarded := head.list("x-forwarded-for")):
        # The last entry is what our proxy saw; whatever stands before it, anybody can write.
        peer = forwarded[-1].rpartition(",")[2].strip()
        return Head(head.kind, head.method, head.path, peer, headers)
    return head


def _decode(headers: Iterable[tuple[bytes, bytes]]) -> Iterable[tuple[str, str]]:
    return ((key.decode("latin-1").lower(), value.decode("latin-1")) for key, value in headers)
