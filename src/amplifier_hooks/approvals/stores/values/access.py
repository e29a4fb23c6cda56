"""Who may do what: tokens, one-time codes, and the logins that came of them."""

from __future__ import annotations

from dataclasses import dataclass, field

READ = "read"
DECIDE = "decide"
AGENT = "agent"
"""May ask, and report its sessions; can never decide."""
ADMIN = "admin"
SCOPES = frozenset({READ, DECIDE, AGENT, "run", ADMIN})
"""`run` starts sessions on the server, `admin` makes tokens and codes.

`decide:hook=GLOB` and `decide:tool=GLOB` limit who decides; any other word is a name that an
approval's requirement may ask for.
"""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a request comes from, as its credential says."""

    name: str
    scopes: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer token; only its digest is kept."""

    id: str
    name: str
    scopes: frozenset[str]
    created: float
    expires: float | None = None
    revoked: float | None = None
    last_used: float | None = None


@dataclass(frozen=True, slots=True)
class Login:
    """A browser that exchanged a one-time code."""

    identity: Identity
    csrf: str
    """What our page must send with the cookie; known only when the code is exchanged."""
    expires: float
