"""Who may come in: no page that a browser shows, nobody under a foreign name, nobody without token.

A page can make a browser send requests to this machine, also under the page's own name (DNS
rebinding). Programs send no `Origin`, and name this machine as they were told to.
"""

from __future__ import annotations

import hmac
import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from amplifier_foundation.gateway.http.incoming.head import Head
from amplifier_foundation.gateway.http.incoming.pages import is_question
from amplifier_foundation.gateway.http.incoming.refusal import Refusal
from amplifier_foundation.gateway.http.incoming.settings import ListenSettings

PATH = "/mcp"
_METHODS = frozenset({"GET", "POST", "DELETE"})


@dataclass(frozen=True, slots=True)
class Admission:
    """The rules of one address."""

    settings: ListenSettings

    def check(self, head: Head) -> None:
        """Refusal if the request goes no further."""
        self._check_host(head)
        self._check_origin(head)
        if is_question(head) and head.get("origin") in self.settings.origins:
            return
        self._check_token(head)
        if head.path != PATH:
            raise Refusal(404, f"There is nothing at this path; the gateway is at {PATH}.")
        if head.method not in _METHODS:
            raise Refusal(405, "There are GET, POST and DELETE.")
        if head.method == "POST":
            _check_body(head)

    def _check_host(self, head: Head) -> None:
        host = _read_host(head.get("host") or "")
        known = {"localhost", self.settings.host.lower(), *map(str.lower, self.settings.hosts)}
        if host is None or not (host in known or _is_ip(host)):  # nobody rebinds a number
            raise Refusal(421, "The gateway does not answer under that name; see --allow-host.")

    def _check_origin(self, head: Head) -> None:
        origin, host = head.get("origin"), head.get("host")
        own = {f"http://{host}", f"https://{host}"}
        if origin is not None and origin not in own | self.settings.origins:
            raise Refusal(403, "Pages of others are refused; see --allow-origin.")
        site = head.get("sec-fetch-site")
        if origin is None and site not in (None, "same-origin", "none"):
            raise Refusal(403, "Pages of others are refused.")

    def _check_token(self, head: Head) -> None:
        if not self.settings.token:
            return
        kind, _, given = (head.get("authorization") or "").partition(" ")
        expected = self.settings.token.encode()
        is_equal = hmac.compare_digest(given.strip().encode("latin-1", "replace"), expected)
        if kind.lower() != "bearer" or not is_equal:
            raise Refusal(401, "The gateway wants its token: Authorization: Bearer TOKEN.")


def _check_body(head: Head) -> None:
    kind = (head.get("content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal(415, "A message is JSON: Content-Type: application/json.")
    if head.get("content-length") is not None and head.get("transfer-encoding") is not None:
        raise Refusal(400, "The length of the body is stated twice.")
    if head.get("content-encoding") not in (None, "identity"):
        raise Refusal(415, "A message must not be compressed.")
    if not (head.accepts("application/json") or head.accepts("text/event-stream")):
        raise Refusal(406, "Answers are application/json or text/event-stream; accept both.")


def _read_host(host: str) -> str | None:
    try:
        parts = urlsplit(f"//{host}")
        is_plain = parts.netloc == host and "@" not in host and parts.port != 0
    except ValueError:
        return None
    return parts.hostname if is_plain else None


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
