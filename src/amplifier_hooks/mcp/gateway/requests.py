"""The requests under way, and the methods of which hooks judge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from amplifier_hooks.guards.mcp.frames import (
    INVALID_REQUEST,
    Frame,
    FrameError,
    check_spelling,
    make_key,
    write_frame,
)
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
from amplifier_hooks.mcp.gateway.channel import Channel

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

    def replace(self, params: Params, given: dict[str, Any]) -> Params:
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


Kind = Literal["judged", "listing", "passing"]
"""Judged by hooks before it goes on; only its answer is shown to hooks; or none of it."""

MOST_GIVEN_UP = 100_000
"""Ids that are not used again."""

PROTOCOL = "io.modelcontextprotocol/protocolVersion"
"""In `_meta` of a request: by it, the newer protocol tells itself from the older ones."""


@dataclass(slots=True, eq=False)
class Pending:
    """One request."""

    frame: Frame
    kind: Kind
    method: Method | None = None
    is_forwarded: bool = False
    """Whether the other end has got it, and so may answer it."""
    response: asyncio.Future[Frame] | None = None
    task: asyncio.Task[None] | None = None

    @property
    def id(self) -> Any:
        return self.frame.message["id"]

    @property
    def is_modern(self) -> bool:
        """Whether it is asked in the protocol of 2026-07-28 or a later one."""
        meta = self.frame.params.get("_meta")
        return isinstance(meta, dict) and PROTOCOL in meta

    def mark_answered(self, response: Frame) -> None:
        """The other end has answered."""
        if self.response is not None and not self.response.done():
            self.response.set_result(response)

    def fail(self, error: Exception) -> None:
        """The other end will not answer."""
        if self.response is not None and not self.response.done():
            self.response.set_exception(error)


class Side:
    """One end, with the requests that it has to answer."""

    def __init__(self, name: str, channel: Channel) -> None:
        self.name = name
        self.channel = channel
        self.asked: dict[str, Pending] = {}
        """By key: requests from the other end, until they are answered."""
        self._given_up: dict[str, None] = {}

    def add(self, pending: Pending) -> bool:
        """Note a request for this end; False if another one with its id may still be answered."""
        if not self.is_free(pending.id):
            return False
        self.asked[make_key(pending.id)] = pending
        return True

    def is_free(self, id: Any) -> bool:
        """Whether no answer to another request with this id may come."""
        key = make_key(id)
        return key not in self.asked and key not in self._given_up

    def find(self, id: Any) -> Pending | None:
        return self.asked.get(make_key(id))

    def give_up(self, pending: Pending) -> None:
        """Forget a request that was cancelled. Its answer may come all the same, and must not be
        taken for that of a later one."""
        self.remove(pending)
        if pending.is_forwarded:
            self._given_up[make_key(pending.id)] = None
            if len(self._given_up) > MOST_GIVEN_UP:
                del self._given_up[next(iter(self._given_up))]

    def remove(self, pending: Pending) -> None:
        """Forget a request; a later one may have its id."""
        key = make_key(pending.id)
        if self.asked.get(key) is pending:
            del self.asked[key]


FIRST = 2.0
EVERY = 5.0
"""Seconds until the client is told, and then until the next time."""

_STEP = 1e-6
"""Progress has to grow, and the server's own begins at nothing."""


class Progress:
    """One request of a client that asked to be told how far it is."""

    def __init__(self, pending: Pending, name: str, send: Callable[[Frame], None]) -> None:
        self._pending = pending
        self._name = name
        self._send = send
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None
        self._token = _find_token(pending.frame)

    def start(self) -> None:
        """Tell the client from now on, as long as it waits for hooks or for a person."""
        if self._token is not None:
            self._timer = asyncio.get_running_loop().call_later(FIRST, self._send_progress)

    def stop(self) -> None:
        """The request is answered."""
        if self._timer is not None:
            self._timer.cancel()

    def _send_progress(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(EVERY, self._send_progress)
        if self._pending.is_forwarded and not _has_answer(self._pending):
            return  # now it is for the server to say
        self._count += 1
        params = {
            "progressToken": self._token,
            "progress": self._count * _STEP,
            "message": f"Waiting for approval of {self._name}: see `amplifier approvals`",
        }
        self._send(
            write_frame({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        )


def _has_answer(pending: Pending) -> bool:
    return pending.response is not None and pending.response.done()


def _find_token(frame: Frame) -> Any:
    meta = frame.params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if isinstance(token, str | int) else None
