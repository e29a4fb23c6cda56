"""Which heads are refused: by target, host, origin, method, and what a browser says of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from amplifier_apps.web.guard.head import Head
from amplifier_apps.web.guard.refusal import Refusal

_METHODS = frozenset({"GET", "HEAD", "POST"})
_FRAMES = frozenset({"iframe", "frame", "embed", "object", "fencedframe"})
_PREFETCH = ("sec-purpose", "purpose", "x-purpose", "x-moz")


@dataclass(frozen=True, slots=True)
class HeadRules:
    """The lists that are compared exactly."""

    hosts: frozenset[str]
    origins: frozenset[str]

    def find_refusal(self, head: Head) -> Refusal | None:
        """Why a head is refused, or None."""
        checks: tuple[Callable[[Head], Refusal | None], ...] = (
            _check_target,
            self._check_host,
            self._check_origin,
            _check_method,
            _check_framing,
            _check_fetch,
            _check_content_type,
        )
        return next((found for check in checks if (found := check(head))), None)

    def _check_host(self, head: Head) -> Refusal | None:
        hosts = head.list("host")
        if len(hosts) == 1 and hosts[0] in self.hosts:
            return None
        return Refusal(
            400, "host", "This server does not answer under that name; see --allow-host."
        )

    def _check_origin(self, head: Head) -> Refusal | None:
        origins = head.list("origin")
        if not origins or (len(origins) == 1 and origins[0] in self.origins):
            return None
        return Refusal(403, "origin", "Requests of other pages are refused; see --allow-origin.")


def _check_target(head: Head) -> Refusal | None:
    if head.path.startswith("/") and not head.path.startswith("//") and "\0" not in head.path:
        return None
    return Refusal(400, "target", "The target must be a path, such as /api/v1/health.")


def _check_method(head: Head) -> Refusal | None:
    if head.method in _METHODS:
        return None
    return Refusal(405, "method", "There are GET, HEAD and POST.")


def _check_framing(head: Head) -> Refusal | None:
    """Two statements about where a body ends are how one request is hidden in another."""
    if len(head.list("content-length")) + len(head.list("transfer-encoding")) <= 1:
        return None
    return Refusal(400, "framing", "The length of the body is stated twice.")


def _check_fetch(head: Head) -> Refusal | None:
    """Refuse what a browser sends for another page, for a frame, or before anybody asked."""
    site = head.get("sec-fetch-site")
    if head.is_api and site not in (None, "same-origin", "none"):
        return Refusal(403, "origin", "Requests of other pages are refused.")
    if head.get("sec-fetch-dest") in _FRAMES:
        return Refusal(403, "frame", "This is not shown inside another page.")
    if head.is_api and any("fetch" in (head.get(name) or "") for name in _PREFETCH):
        return Refusal(403, "prefetch", "Nothing is fetched in advance.")
    return None


def _check_content_type(head: Head) -> Refusal | None:
    if not head.changes:
        return None
    kind = head.get("content-type")
    if (
        kind is None
        and head.get("content-length") in (None, "0")
        and not head.list("transfer-encoding")
    ):
        return None
    if (kind or "").partition(";")[0].strip().lower() == "application/json":
        return None
    return Refusal(415, "content_type", "The body must be JSON: Content-Type: application/json.")
