"""The head of a client's request."""

from __future__ import annotations

from dataclasses import dataclass

from amplifier_foundation.gateway.http.incoming.refusal import Scope


@dataclass(frozen=True, slots=True)
class Head:
    """Method, path and headers."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str | None:
        """The value of a header; several are joined, which no exact comparison accepts."""
        found = [value for key, value in self.headers if key == name.lower()]
        return ", ".join(found) if found else None

    def accepts(self, kind: str) -> bool:
        """Whether the client takes an answer of this kind; all kinds, if it does not say."""
        wanted = self.get("accept")
        if wanted is None:
            return True
        named = {one.partition(";")[0].strip().lower() for one in wanted.split(",")}
        return bool(named & {kind, "*/*", f"{kind.partition('/')[0]}/*"})


def read_head(scope: Scope) -> Head:
    """The head of a request."""
    headers = tuple(
        (key.decode("latin-1").lower(), value.decode("latin-1")) for key, value in scope["headers"]
    )
    return Head(scope["method"], scope["path"], headers)
