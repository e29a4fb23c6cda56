"""Two ends and what passes between them: who asked what, who has to answer, and what is offered."""

from __future__ import annotations

import asyncio
import json
import re
from functools import partial
from typing import Any, Literal

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.utils import cancel_and_wait, describe_error
from amplifier_core.utils.copying import is_same
from amplifier_hooks.guards.mcp.definitions import DefinitionGuard
from amplifier_hooks.guards.mcp.frames import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    Frame,
    FrameError,
    answer,
    read_frames,
    refuse,
    write_frame,
)
from amplifier_hooks.guards.mcp.protocol import LIST, ListData
from amplifier_hooks.guards.mcp.results import drop_lookalikes
from amplifier_hooks.mcp.gateway.channel import Channel, ChannelError, ChannelNote
from amplifier_hooks.mcp.gateway.judging import Judge, Say, build_forwarded, write_refusal
from amplifier_hooks.mcp.gateway.requests import (
    FROM_CLIENT,
    FROM_SERVER,
    Kind,
    Method,
    Pending,
    Progress,
    Side,
)
from amplifier_hooks.mcp.gateway.rounds import (
    Rounds,
    carries_questions,
    continues,
    refuse_questions,
)

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
    "initialize": "",
    "server/discover": "",
}
"""The methods by which a server says what it offers, and the key of its items."""


class Lists:
    """Shows one server's lists to hooks, and keeps its tools to what was allowed."""

    def __init__(
        self, coordinator: SessionCoordinator, server: str, guard: DefinitionGuard
    ) -> None:
        self._coordinator = coordinator
        self._server = server
        self._guard = guard

    async def show(self, pending: Pending, response: Frame) -> Frame:
        """The response that the client gets: the very bytes, unless something in it changed."""
        result = response.message.get("result")
        method = pending.frame.method
        if not isinstance(result, dict):
            return response
        if carries_questions(response):
            return refuse_questions(pending.id)
        left = dict(result)
        if method == "tools/list":
            left["tools"] = await self._keep_to_allowed(result.get("tools"))
        outcome = await self._judge(method, left)
        if outcome is not None:
            return refuse(pending.id, INTERNAL_ERROR, outcome)
        return response if is_same(left, result) else answer(pending.id, left)

    async def _keep_to_allowed(self, tools: Any) -> list[Any]:
        if not isinstance(tools, list) or any(not isinstance(one, dict) for one in tools):
            raise TypeError("the server lists tools in a form that cannot be judged")
        return list(await self._guard.review(tools))

    async def _judge(self, method: str, left: dict[str, Any]) -> str | None:
        """Have hooks change what is left, or returns why nothing is."""
        key = LISTS[method]
        items = left.get(key) if key else _list_info(left)
        instructions = left.get("instructions")
        if not isinstance(items, list) or not (items or instructions):
            return None
        if not self._coordinator.is_observed(LIST):
            return None
        data = ListData(server=self._server, method=method, items=items)
        if isinstance(instructions, str):
            data["instructions"] = instructions
        outcome = await self._coordinator.judge(LIST, data)
        if not outcome.allowed and key:
            return outcome.denial
        seen = outcome.data or {} if outcome.allowed else {}
        if key:
            left[key] = _check_items(seen.get("items", items))
        elif items:
            unseen = {"name": self._server, "version": "unknown"}
            left["serverInfo"] = next(iter(_check_items(seen.get("items", []))), unseen)
        if instructions is not None and not is_same(seen.get("instructions"), instructions):
            left["instructions"] = str(seen.get("instructions") or "")
        return None


def _list_info(result: dict[str, Any]) -> list[Any]:
    """What a server calls itself, and says of itself."""
    info = result.get("serverInfo")
    return [info] if info else []


def _check_items(items: Any) -> list[Any]:
    if not isinstance(items, list) or any(not isinstance(one, dict) for one in items):
        raise TypeError("a hook left a list in a form that clients would not read")
    return items


End = Literal["client", "server"]
"""Who left first."""

MOST_OPEN = 10_000
"""Requests under way in one direction; more than these are refused."""

CANCELLED = "notifications/cancelled"
TASKS = "notifications/tasks"
# What only the other end asks for, where hooks judge it. Both may ask about tasks.
_OF_CLIENTS = frozenset(name for name in FROM_CLIENT if not name.startswith("tasks/"))
_OF_SERVERS = frozenset(name for name in FROM_SERVER if not name.startswith("tasks/"))
_UNJUDGED = frozenset({"result", "error", "inputRequests"})
UNKNOWN_ROUND = (
    "this goes on with a call that the gateway does not know, or with other arguments; "
    "call the tool again"
)
_PATIENCE = 5.0
_ID = re.compile(rb'"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")')


class ServerGone(ChannelError):
    """The server has ended; what it was asked is not answered."""


class Relay:
    """One client and one server."""

    def __init__(self, client: Channel, server: Channel, judge: Judge, say: Say) -> None:
        self._client = Side("client", client)
        self._server = Side("server", server)
        self._judge = judge
        self._say = say
        self._lists = Lists(judge.session.coordinator, judge.server, judge.guard)
        exchange = partial(self._exchange, self._server)
        self._rounds = Rounds(judge, exchange, self._send_questions)
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(self) -> End:
        """Pass messages on until one of the two has gone; returns which."""
        ends: dict[asyncio.Task[None], End] = {
            asyncio.create_task(self._pump(self._client, self._server)): "client",
            asyncio.create_task(self._pump(self._server, self._client)): "server",
        }
        try:
            done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            end: End = "client" if any(ends[one] == "client" for one in done) else "server"
            for one in done:
                one.result()
            if end == "server":
                await self._answer_for_server()
        finally:
            for task in (*ends, *self._tasks):
                task.cancel()
            for task in (*ends, *self._tasks):
                await cancel_and_wait(task)
        return end

    async def _pump(self, side: Side, other: Side) -> None:
        while True:
            try:
                raw = await side.channel.receive()
            except ChannelNote as note:
                self._say(f"warning: {note}")
                continue
            except ChannelError as error:
                await self._refuse_unreadable(side, getattr(error, "start", b""), str(error))
                continue
            if raw is None:
                return
            try:
                frames = read_frames(raw)
            except FrameError as error:
                await self._refuse_unreadable(side, raw, str(error), error.code)
                continue
            for frame in frames:
                if not await self._handle(side, other, frame):
                    return

    async def _refuse_unreadable(
        self, side: Side, raw: bytes, why: str, code: int = INVALID_REQUEST
    ) -> None:
        """Answer what cannot be passed on, as far as it is known what it was."""
        self._say(f"warning: something that the {side.name} sent was not passed on: {why}")
        id = guess_id(raw)
        pending = None if id is None else side.find(id)
        if pending is not None and pending.is_forwarded:  # it may have been the answer to this
            reason = f"the answer of the {side.name} was not passed on: {why}"
            await self._handle_response(side, self._get_other(side), refuse(id, code, reason))
        elif side is self._client:
            await self._send(side, refuse(id, code, f"not passed on: {why}"))

    def _get_other(self, side: Side) -> Side:
        return self._server if side is self._client else self._client

    async def _handle(self, side: Side, other: Side, frame: Frame) -> bool:
        """Handle one message; False if nobody is there for it any more."""
        if frame.is_response:
            return await self._handle_response(side, other, frame)
        if frame.is_request:
            if frame.method in (_OF_SERVERS if side is self._client else _OF_CLIENTS):
                why = f"a {side.name} does not ask for {frame.method}"
                return await self._send(side, refuse(frame.message["id"], INVALID_REQUEST, why))
            return await self._handle_request(side, other, frame)
        if frame.method == CANCELLED:
            return await self._cancel(other, frame)
        if frame.method in FROM_CLIENT or frame.method in FROM_SERVER:
            self._say(f"warning: the {side.name} sent {frame.method} without an id; not passed on")
            return True
        if frame.method.startswith(TASKS) and not _UNJUDGED.isdisjoint(frame.params):
            return True  # the client asks for it, and that is judged
        return await self._send(other, frame)

    # Requests

    def _find_kind(self, side: Side, frame: Frame, method: Method | None) -> Kind:
        if method is not None:
            return "judged"
        return "listing" if side is self._client and frame.method in LISTS else "passing"

    async def _handle_request(self, side: Side, other: Side, frame: Frame) -> bool:
        table = FROM_CLIENT if side is self._client else FROM_SERVER
        method = table.get(frame.method)
        id = frame.message["id"]
        if method is not None:
            try:
                method.check(frame.message.get("params", {}), id)
            except FrameError as error:
                return await self._send(side, refuse(id, error.code, str(error)))
            frame = _clean(frame, "params")
            if side is self._client and continues(frame):
                return await self._go_on(frame)
        kind = self._find_kind(side, frame, method)
        pending = Pending(frame, kind, method)
        if len(other.asked) >= MOST_OPEN:
            why = f"{MOST_OPEN:,} requests are under way already"
            return await self._send(side, refuse(id, INTERNAL_ERROR, why))
        if not other.add(pending):
            why = "another request with this id is under way, or was cancelled"
            return await self._send(side, refuse(id, INVALID_REQUEST, why))
        if kind == "passing":
            pending.is_forwarded = True
            return await self._send(other, frame)
        if method is not None:
            self._start(pending, self._serve(side, other, pending, method))
        else:
            self._start(pending, self._serve_list(other, pending))
        return True

    async def _go_on(self, frame: Frame) -> bool:
        """The client asks again, with answers to what the server wanted to know."""
        id = frame.message["id"]
        if not self._server.is_free(id):  # its answer would be taken for that of another
            why = "another request with this id is under way, or was cancelled"
            return await self._send(self._client, refuse(id, INVALID_REQUEST, why))
        pending = self._rounds.find(frame)
        if pending is None:
            method = FROM_CLIENT[frame.method]
            refusal = write_refusal(Pending(frame, "judged", method), method, UNKNOWN_ROUND)
            return await self._send(self._client, refusal)
        pending.frame = frame
        pending.is_forwarded = False
        pending.response = None
        self._server.add(pending)
        return True

    def _start(self, pending: Pending, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.create_task(work)
        pending.task = task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, side: Side, other: Side, pending: Pending, method: Method) -> None:
        """Take a request through hooks to the other end, and its answer back."""

        async def forward(given: dict[str, Any]) -> Frame:
            frame = build_forwarded(pending, method, given)
            response = await self._exchange(other, pending, frame)
            return await self._rounds.finish(pending, given, response)

        name = method.name_call(self._judge.server, pending.frame.params)
        progress = Progress(pending, name, lambda frame: self._send_later(side, frame))
        progress.start()
        try:
            reply = await self._judge.call(pending, method, forward)
        except ServerGone as error:
            reply = refuse(pending.id, INTERNAL_ERROR, str(error))
        except Exception as error:  # noqa: BLE001 - what was not judged does not pass
            why = f"it could not be judged: {describe_error(error)}"
            reply = write_refusal(pending, method, why)
        finally:
            progress.stop()
            other.remove(pending)
        await self._send(side, reply)

    async def _serve_list(self, other: Side, pending: Pending) -> None:
        """Have hooks look through the answer to a request."""
        try:
            response = await self._exchange(other, pending, pending.frame)
            reply = await self._lists.show(pending, response)
        except ServerGone as error:
            reply = refuse(pending.id, INTERNAL_ERROR, str(error))
        except Exception as error:  # noqa: BLE001 - what was not judged does not pass
            why = f"the list could not be judged: {describe_error(error)}"
            reply = refuse(pending.id, INTERNAL_ERROR, why)
        finally:
            other.remove(pending)
        await self._send(self._client, reply)

    async def _send_questions(self, pending: Pending, frame: Frame) -> None:
        """Answer a request for now; the client comes back with another one."""
        self._server.remove(pending)
        await self._send(self._client, frame)

    async def _exchange(self, other: Side, pending: Pending, frame: Frame) -> Frame:
        """Send a request on, and wait for its response."""
        pending.response = asyncio.get_running_loop().create_future()
        pending.is_forwarded = True
        try:
            await other.channel.send(frame)
        except ChannelError as error:
            raise ServerGone(f"the {other.name} is gone: {error}") from error
        return await pending.response

    # Responses

    async def _handle_response(self, side: Side, other: Side, frame: Frame) -> bool:
        pending = None if frame.message.get("id") is None else side.find(frame.message["id"])
        if pending is None or not pending.is_forwarded:
            id = json.dumps(frame.message.get("id"))[:60]
            self._say(f"warning: the {side.name} answered {id}, which it was not asked; dropped")
            return True
        if pending.kind == "passing":
            side.remove(pending)
            is_unjudged = side is self._server and carries_questions(frame)
            return await self._send(other, refuse_questions(pending.id) if is_unjudged else frame)
        pending.mark_answered(_clean(frame, "error" if "error" in frame.message else "result"))
        return True

    async def _cancel(self, other: Side, frame: Frame) -> bool:
        """Who asked does not want it any more: stop judging, and tell who works on it."""
        id = frame.params.get("requestId")
        pending = other.find(id) if isinstance(id, str | int) else None
        if pending is None:  # answered, with questions perhaps, or never asked
            if other is self._server:
                self._rounds.give_up(id)
            return True
        other.give_up(pending)
        if pending.task is not None:
            pending.task.cancel()
        return await self._send(other, frame) if pending.is_forwarded else True

    # Ends

    async def _answer_for_server(self) -> None:
        """Tell the client of every request that the server left unanswered."""
        describe = getattr(self._server.channel, "describe_end", None)
        why = describe() if describe is not None else "the server has gone"
        self._say(f"error: {why}")
        for pending in list(self._server.asked.values()):
            if pending.kind == "passing":
                await self._send(self._client, refuse(pending.id, INTERNAL_ERROR, why))
            elif pending.is_forwarded:
                pending.fail(ServerGone(why))
            elif pending.task is not None:  # it waits for a person, in vain
                pending.task.cancel()
                await self._send(self._client, refuse(pending.id, INTERNAL_ERROR, why))
        waiting = [one for one in self._tasks if not one.cancelling()]
        if waiting:
            await asyncio.wait(waiting, timeout=_PATIENCE)

    async def _send(self, side: Side, frame: Frame) -> bool:
        try:
            await side.channel.send(frame)
        except ChannelError as error:
            self._say(f"warning: the {side.name} takes no more messages: {error}")
            return False
        return True

    def _send_later(self, side: Side, frame: Frame) -> None:
        task = asyncio.create_task(self._send(side, frame))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def guess_id(raw: bytes) -> Any:
    """The id of a message that cannot be read as a whole, as far as one can tell."""
    try:
        found = json.loads(raw.decode())  # of bytes, it would take more than UTF-8
        id = found.get("id") if isinstance(found, dict) else None
    except (ValueError, RecursionError):
        id = _find_id(raw[:4096])
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None


def _find_id(start: bytes) -> Any:
    match = _ID.search(start)
    try:
        return None if match is None else json.loads(match[1].decode())
    except ValueError:
        return None


def _clean(frame: Frame, key: str) -> Frame:
    """The same without what readers might take for something else than hooks see."""
    value = frame.message.get(key)
    left = drop_lookalikes(value)
    return frame if left is value else write_frame({**frame.message, key: left})
