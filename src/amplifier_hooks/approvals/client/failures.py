"""What a server's refusal means: the same errors as the store's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_hooks.approvals.stores.errors import (
    BadRequest,
    Conflict,
    NotAllowed,
    NotFound,
    StoreError,
    StoreUnavailable,
    TooMany,
)
from amplifier_hooks.approvals.stores.values.plain import read_approval

_KINDS: Mapping[int, type[StoreError]] = {
    400: BadRequest,
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    413: BadRequest,
    415: BadRequest,
    422: BadRequest,
    429: TooMany,
}
_CONFLICT = 409
_SERVER_ERROR = 500
_LONGEST = 2000


def read_failure(host: str, status: int, body: Any) -> StoreError:
    """The error for an answer that is none; `body` is its JSON, if it has any."""
    given = body if isinstance(body, dict) else {}
    error = given.get("error")
    said = str(error.get("message", ""))[:_LONGEST] if isinstance(error, dict) else ""
    if status == _CONFLICT:
        return Conflict(said or f"{host} answered 409", _read_approval(given))
    if kind := _KINDS.get(status):
        return kind(f"{host}: {said}" if said else f"{host} answered {status}")
    if status < _SERVER_ERROR:
        return StoreUnavailable(
            f"{host} answered {status}; check that the address is that of `amplifier serve`"
        )
    return StoreUnavailable(f"{host}: {said}" if said else f"{host} answered {status}")


def _read_approval(body: Mapping[str, Any]) -> Any:
    try:
        return read_approval(body["approval"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
