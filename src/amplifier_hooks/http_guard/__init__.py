"""Checks that every HTTP request to a listener passes first, whichever listener it is.

`guard` decides: a `Door` per listener says which hosts, pages, methods and tokens are accepted and
how large a body may be; the order of the checks and the status of each refusal are the same for all
of them. `server` runs an application behind it, with uvicorn and h11 as the parser; it is imported
where something listens.

    400  not HTTP, or two readers could understand it differently
    421  addressed to a name that the listener does not have (DNS rebinding)
    403  sent by a page of another site
    401  without the token
    405  a method that the listener does not have
    408  the head or the body did not come in time
    413  the body is too large         415  it is not plain JSON
    431  the head is too large         501  a transfer encoding other than chunked
    503  too many connections          505  a version other than 1.0 and 1.1
"""

from amplifier_hooks.http_guard.guard import (
    App,
    Door,
    Head,
    Headers,
    HttpGuard,
    Message,
    Receive,
    Refusal,
    Scope,
    Send,
    bracket,
    list_own_hosts,
    read_bearer,
    read_head,
)

__all__ = [
    "App",
    "Door",
    "Head",
    "Headers",
    "HttpGuard",
    "Message",
    "Receive",
    "Refusal",
    "Scope",
    "Send",
    "bracket",
    "list_own_hosts",
    "read_bearer",
    "read_head",
]

PUBLIC_MODULES = (
    "guard",
    "server",
)
