"""Values as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from amplifier_hooks.approvals import models
from amplifier_hooks.approvals.models import Approval
from amplifier_hooks.approvals.stores.scopes import describe_scopes


def encode(value: Any) -> str:
    """JSON text; what UTF-8 cannot hold is escaped."""
    text = json.dumps(to_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(text), allow_nan=False, separators=(",", ":"))
    return text


def to_plain(value: Any) -> Any:
    """Objects, arrays and scalars, from values of any kind."""
    if isinstance(value, Approval):
        return describe_approval(value)
    if isinstance(value, Mapping):
        return {key: to_plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(one) for one in value]
    return models.to_plain(value)


def describe_approval(approval: Approval) -> dict[str, Any]:
    """An approval for clients; while it is pending, with the scopes that a person may choose."""
    described: dict[str, Any] = models.to_plain(approval)
    if approval.status == "pending":
        described["scopes"] = models.to_plain(describe_scopes(approval))
    return described


def hide_nonce(approval: Approval) -> Approval:
    """Without what a decision must name: who asks has no use for it."""
    return replace(approval, nonce="")


def answer(value: Any, status: int = 200) -> Response:
    """A JSON answer."""
    return Response(encode(value), status, media_type="application/json")
