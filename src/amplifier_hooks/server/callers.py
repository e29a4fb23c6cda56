"""The caller of a request, by its credential, and deciding as that person."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import TYPE_CHECKING, Protocol

from amplifier_hooks.approvals.errors import NotAllowed
from amplifier_hooks.approvals.models import (
    ADMIN,
    ASKING,
    DECIDE,
    Approval,
    Choice,
    Decider,
    Identity,
    Login,
    Via,
)
from amplifier_hooks.approvals.stores.access import derive_cookie
from amplifier_hooks.http_guard import Head, read_bearer

if TYPE_CHECKING:
    from amplifier_hooks.approvals.stores.store import Store

COOKIE = "amplifier_login"
CSRF = "x-amplifier-csrf"


class Access(Protocol):
    """What the store knows of credentials."""

    async def identify_token(self, text: str) -> Identity | None:
        """Whose bearer token it is."""
        ...

    async def identify_login(self, cookie: str) -> Login | None:
        """Whose cookie it is."""
        ...


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody with a credential: `secret` is the token or the cookie."""

    identity: Identity
    via: Via
    secret: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """Who it is."""
        return self.identity.name

    def may(self, scope: str) -> bool:
        """Whether the credential has a scope; the right to decide may be for some hooks only."""
        scopes = self.identity.scopes
        if scope in (DECIDE, ADMIN) and ASKING & scopes:
            return False
        if scope == DECIDE:
            return any(one == DECIDE or one.startswith(f"{DECIDE}:") for one in scopes)
        return scope in scopes

    def as_decider(self) -> Decider:
        """The person, for the store."""
        return Decider(self.name, self.via, self.identity.scopes)

    def proves(self, csrf: str | None) -> bool:
        """Whether a request with this anti-forgery token was sent by our own page."""
        if self.via == "api":
            return True
        return compare_digest(derive_cookie(csrf or "").encode(), self.secret.encode())


async def identify_caller(access: Access, head: Head) -> Caller | None:
    """Who sent a request; a bearer token counts before a cookie."""
    if head.list("authorization"):
        return await identify_token(access, read_bearer(head))
    return await identify_cookie(access, read_cookie(head.list("cookie")))


async def identify_token(access: Access, token: str) -> Caller | None:
    """Whose token it is."""
    identity = await access.identify_token(token) if token else None
    return Caller(identity, "api", token) if identity else None


async def identify_cookie(access: Access, cookie: str) -> Caller | None:
    """Whose cookie it is."""
    login = await access.identify_login(cookie) if cookie else None
    return Caller(login.identity, "web", cookie) if login else None


async def identify_again(access: Access, caller: Caller) -> Caller | None:
    """The same caller, if the credential still holds."""
    identify = identify_token if caller.via == "api" else identify_cookie
    return await identify(access, caller.secret)


def read_cookie(headers: Iterable[str]) -> str:
    """The login cookie; nothing if there are two."""
    pairs = (pair.partition("=") for header in headers for pair in header.split(";"))
    found = [value.strip() for name, _, value in pairs if name.strip() == COOKIE]
    return found[0] if len(found) == 1 and found[0].isascii() and len(found[0]) <= 512 else ""


async def decide(store: Store, caller: Caller, id: str, choice: Choice) -> Approval:
    """Decide as the person whose credential it is."""
    if not caller.may("decide"):
        raise NotAllowed("This needs a credential with the scope 'decide'.")
    return await store.approvals.decide(id, choice, caller.as_decider())
