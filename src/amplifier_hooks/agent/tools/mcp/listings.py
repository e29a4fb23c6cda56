"""What a server offers, on its way past the hooks before a model reads it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from amplifier_core.interfaces import Host
from amplifier_core.utils import describe_error
from amplifier_hooks.guards.mcp.protocol import LIST, ListData

logger = logging.getLogger(__name__)

Item = dict[str, Any]


class Withheld(Exception):
    """A hook keeps a list from the model, and why."""


async def judge_list(host: Host, server: str, method: str, items: Sequence[Item]) -> list[Item]:
    """What the hooks leave of a list; Withheld if they leave nothing, or cannot judge it."""
    given: ListData = {"server": server, "method": method, "items": [dict(one) for one in items]}
    # A coordinator of the ecosystem can only emit, and puts no question to a person.
    judge: Any = getattr(host, "execute_with_hooks", host.hooks.emit)
    try:
        answer = await judge(LIST, given)
    except Exception as error:
        raise Withheld(f"the hooks could not judge it: {describe_error(error)}") from error
    if answer.action in ("deny", "ask_user"):
        raise Withheld(str(answer.reason or "a hook denied it"))
    left = (answer.data or given).get("items")
    if not isinstance(left, list) or not all(isinstance(one, dict) for one in left):
        raise Withheld("a hook left no usable list")
    return left
