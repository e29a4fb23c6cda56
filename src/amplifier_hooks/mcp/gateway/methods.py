"""The methods that hooks judge: what they see of each, and what becomes of their changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_hooks.guards.mcp.frames import INVALID_REQUEST, FrameError, check_spelling
from amplifier_hooks.guards.mcp.protocol import (
    CALL,
    ELICIT,
    GET,
    READ,
    SAMPLE,
    explain_odd_name,
    name_method,
    name_tool,
)
from amplifier_hooks.guards.mcp.results import TOOL, WHOLE, Form

TASK_RESULT = "tasks/result"
"""Brings the result of a call that a server runs in the background."""
TASK_GET = "tasks/get"
"""Tells how far such a call is; since 2026-07-28 it brings the result as well."""
TASK_UPDATE = "tasks/update"
"""Answers questions of such a call."""

INVALID_PARAMS = -32602
REJECTED = -1
"""The code with which clients refuse to ask their model."""

Params = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Method:
    """One method, as hooks see it."""

    name: str
    form: Form
    keys: tuple[str, ...]
    """Of its params, those that hooks see."""
    code: int = INVALID_REQUEST
    """Of the error that refuses it, where it is no error result."""

    def name_call(self, server: str, params: Params) -> str:
        """What hooks know it by."""
        if self.name == CALL:
            return name_tool(server, str(params["name"]))
        return name_method(server, self.name)

    def read(self, params: Params) -> dict[str, Any]:
        """What hooks see of the params."""
        if self.name == CALL:
            return dict(params.get("arguments") or {})
        if not self.keys:
            return {name: value for name, value in params.items() if name != "_meta"}
        return {name: params[name] for name in self.keys if name in params}

    def put(self, params: Params, given: dict[str, Any]) -> Params:
        """The params with what hooks left."""
        if self.name == CALL:
            return {**params, "arguments": given}
        kept = {name: value for name, value in params.items() if name not in self._list_own(params)}
        return {**kept, **given}

    def _list_own(self, params: Params) -> set[str]:
        return set(self.keys) if self.keys else set(params) - {"_meta"}

    def check(self, params: Any, id: Any) -> None:
        """FrameError if readers might not agree on what is asked for, or it cannot be judged."""
        if not isinstance(params, dict):
            raise FrameError(f"{self.name} wants an object as params", code=INVALID_PARAMS, id=id)
        known = ("name", "arguments", "uri", "taskId", "_meta", "inputResponses", "requestState")
        check_spelling(params, known, id)
        for name, kind in _KINDS.get(self.name, {}).items():
            value = params.get(name)
            missing = value is None and name in _OPTIONAL
            if not missing and not isinstance(value, kind):
                wanted = "an object" if kind is dict else "a text"
                reason = f"{self.name} wants {wanted} as {name!r}, not {type(value).__name__}"
                raise FrameError(reason, code=INVALID_PARAMS, id=id)
        if self.name in (CALL, GET) and (odd := explain_odd_name(params["name"])):
            reason = f"the name {params['name']!r:.100} {odd}"
            raise FrameError(reason, code=INVALID_PARAMS, id=id)


_OPTIONAL = frozenset({"arguments"})
_KINDS: Mapping[str, Mapping[str, type]] = {
    CALL: {"name": str, "arguments": dict},
    READ: {"uri": str},
    GET: {"name": str, "arguments": dict},
    TASK_RESULT: {"taskId": str},
    TASK_GET: {"taskId": str},
}

_TASK = Method(TASK_RESULT, TOOL, ("taskId",))

FROM_CLIENT: Mapping[str, Method] = {
    CALL: Method(CALL, TOOL, ("arguments",)),
    READ: Method(READ, WHOLE, ("uri",)),
    GET: Method(GET, WHOLE, ("name", "arguments")),
    TASK_RESULT: _TASK,
    TASK_GET: Method(TASK_GET, WHOLE, ("taskId",)),
    TASK_UPDATE: Method(TASK_UPDATE, WHOLE, ("taskId", "inputResponses")),
}
"""What a client asks of a server."""

FROM_SERVER: Mapping[str, Method] = {
    SAMPLE: Method(SAMPLE, WHOLE, (), REJECTED),
    ELICIT: Method(ELICIT, WHOLE, ()),
    TASK_RESULT: Method(TASK_RESULT, WHOLE, ("taskId",)),
}
"""What a server asks of a client."""
