"""Calls for which a server wants to know more first: asked and continued, in several rounds.

In the protocol of 2026-07-28 a server answers such a call with questions for the client, and the
client asks again with the answers. For hooks it is one call, with the questions inside of it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from amplifier_core.utils import cancel_and_wait, digest
from amplifier_hooks.guards.mcp.frames import (
    INTERNAL_ERROR,
    Frame,
    answer,
    make_key,
    refuse,
    write_frame,
)
from amplifier_hooks.guards.mcp.protocol import ELICIT
from amplifier_hooks.guards.mcp.results import make_error
from amplifier_hooks.mcp.gateway.judging import Judge
from amplifier_hooks.mcp.gateway.requests import FROM_SERVER, Method, Pending

MOST_OPEN = 256
"""Calls whose client has not come back; the oldest are given up beyond that."""

LONGEST_WAIT = 3600.0
"""Seconds until a client is taken not to come back."""

MOST_ROUNDS = 100
"""In one call: where hooks answer instead of the client, a server could ask for ever."""

_URL_REQUIRED = -32042

_INTERIM = ("resultType", "_meta")
"""What goes out with questions: anything else could be taken for a result that nobody judged."""

_STATE = "requestState"
"""What a client repeats when it comes back. The server's own may be guessed, or missing: ours tells
who was asked, since several clients may share a relay."""

Exchange = Callable[[Pending, Frame], Awaitable[Frame]]
"""Sends a request on, and waits for its response."""


def wants_input(response: Frame) -> bool:
    """Whether a server answers with questions."""
    result = response.message.get("result")
    return isinstance(result, dict) and result.get("resultType") == "input_required"


def carries_questions(response: Frame) -> bool:
    """Whether an answer has questions in it, at whatever place a client might find them."""
    result = response.message.get("result")
    has_requests = isinstance(result, dict) and "inputRequests" in result
    return wants_input(response) or has_requests or bool(_list_links(response))


def refuse_questions(id: Any) -> Frame:
    """The answer in place of one whose questions nobody can judge."""
    return refuse(
        id,
        INTERNAL_ERROR,
        "the questions in the server's answer are not allowed, or cannot be judged",
    )


def continues(frame: Frame) -> bool:
    """Whether a client asks again, with answers."""
    return not {"inputResponses", _STATE}.isdisjoint(frame.params)


class _Question:
    """One question of a server inside of a call, judged like one that it asks by itself."""

    def __init__(self, judge: Judge, method: Method, id: str, params: dict[str, Any]) -> None:
        loop = asyncio.get_running_loop()
        message = {"jsonrpc": "2.0", "id": id, "method": method.name, "params": params}
        self._pending = Pending(write_frame(message), "judged", method)
        self._asked: asyncio.Future[dict[str, Any]] = loop.create_future()
        self._answered: asyncio.Future[Any] = loop.create_future()
        self._method = method
        self._task = asyncio.create_task(judge.call(self._pending, method, self._ask))

    async def _ask(self, given: dict[str, Any]) -> Frame:
        self._asked.set_result(given)
        return answer(self._pending.id, await self._answered)

    async def judge(self) -> dict[str, Any] | None:
        """The params to ask the client with; None if hooks do not allow the question."""
        first: set[asyncio.Future[Any]] = {self._asked, self._task}
        await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        if not self._asked.done():
            return None
        params = self._pending.frame.params
        return self._method.replace(params, self._asked.result())

    async def read_answer(self, response: Any) -> Frame:
        """What the server may know of the client's answer."""
        if not self._answered.done():
            self._answered.set_result(response if isinstance(response, dict) else {})
        return await self._task

    async def get_refusal(self) -> Frame:
        """Why the question was not allowed, in the form of an answer to it."""
        return await self._task

    async def close(self) -> None:
        await cancel_and_wait(self._task)


@dataclass(slots=True)
class _Round:
    """A call that waits for its client to come back with answers."""

    key: str
    pending: Pending
    again: asyncio.Future[Frame]
    asked: set[str] = field(default_factory=set)
    """The keys of what the client is asked; it answers nothing else."""
    questions: dict[str, _Question] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)
    """Answers that hooks gave instead of the client."""


class Rounds:
    """The calls of one client that are in the middle of something."""

    def __init__(
        self,
        judge: Judge,
        exchange: Exchange,
        reply: Callable[[Pending, Frame], Awaitable[None]],
    ) -> None:
        self._judge = judge
        self._exchange = exchange
        self._reply = reply
        self._open: list[_Round] = []

    def find(self, frame: Frame) -> Pending | None:
        """The call that a request of the client goes on with, if there is one."""
        key = _make_key(frame)
        for one in self._open:
            if one.key == key and not one.again.done():
                one.again.set_result(frame)
                return one.pending
        return None

    def give_up(self, id: Any) -> None:
        """The client does not want a call any more for which it was asked something."""
        for one in self._open:
            if make_key(one.pending.id) == make_key(id) and one.pending.task is not None:
                one.pending.task.cancel()

    async def finish(self, pending: Pending, given: dict[str, Any], response: Frame) -> Frame:
        """The last response to a call, whose server has answered with questions."""
        for _ in range(MOST_ROUNDS):
            if not wants_input(response):
                break
            response = await self._go_round(pending, given, response)
        links = _list_links(response)
        if links and await self._allows(pending, links):
            return response
        return refuse_questions(pending.id) if carries_questions(response) else response

    async def _allows(self, pending: Pending, links: list[Any]) -> bool:
        """Whether hooks let a client show a person all of these pages."""
        for number, link in enumerate(links):
            known = link if isinstance(link, dict) else {"elicitation": link}
            id = f"{pending.id}/{number}"
            question = _Question(self._judge, FROM_SERVER[ELICIT], id, known)
            try:
                if await question.judge() != known:
                    return False
                await question.read_answer({"action": "accept"})
            finally:
                await question.close()
        return True

    async def _go_round(self, pending: Pending, given: dict[str, Any], response: Frame) -> Frame:
        again: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        one = _Round("", pending, again)
        try:
            return await self._ask_and_send(one, given, response.message["result"])
        finally:
            for question in one.questions.values():
                await question.close()
            if one in self._open:
                self._open.remove(one)

    async def _ask_and_send(
        self, one: _Round, given: dict[str, Any], result: dict[str, Any]
    ) -> Frame:
        wanted, refusal = await self._judge_questions(one, result)
        if refusal is not None:
            return answer(one.pending.id, make_error(refusal, modern=True))
        request = one.pending.frame
        if wanted or not one.own:
            mark = secrets.token_urlsafe(16)
            interim = {name: result[name] for name in _INTERIM if name in result}
            interim[_STATE] = mark
            interim |= {"inputRequests": wanted} if "inputRequests" in result else {}
            one.asked = set(wanted)
            one.key = _make_key(request, mark)
            self._keep(one)
            await self._reply(one.pending, answer(one.pending.id, interim))
            request = await _wait(one)
        return await self._send_answers(one, given, _restore_state(request, result))

    async def _judge_questions(
        self, one: _Round, result: dict[str, Any]
    ) -> tuple[dict[str, Any], str | None]:
        """The questions that the client may be asked, or why the call ends here."""
        requests = result.get("inputRequests")
        wanted: dict[str, Any] = {}
        for key, request in requests.items() if isinstance(requests, dict) else ():
            method = FROM_SERVER.get(str(_get(request, "method")))
            params = _get(request, "params")
            if method is None:
                wanted[key] = request  # nothing that hooks judge
                continue
            id = f"{one.pending.id}/{key}"
            known = params if isinstance(params, dict) else {}
            question = one.questions[key] = _Question(self._judge, method, id, known)
            left = await question.judge()
            if left is not None:
                wanted[key] = {**request, "params": left}
                continue
            refusal = (await one.questions.pop(key).get_refusal()).message
            if method.name != ELICIT:
                return {}, str(refusal["error"]["message"])
            one.own[key] = refusal["result"]
        return wanted, None

    def _keep(self, one: _Round) -> None:
        self._open.append(one)
        for old in self._open[:-MOST_OPEN]:
            if old.pending.task is not None:
                old.pending.task.cancel()

    async def _send_answers(self, one: _Round, given: dict[str, Any], request: Frame) -> Frame:
        """Ask the server again, with what hooks left of the answers."""
        responses = request.params.get("inputResponses")
        given_now = responses if isinstance(responses, dict) else {}
        answers = {key: given_now[key] for key in given_now if key in one.asked}
        for key in [key for key in answers if key in one.questions]:
            left = (await one.questions[key].read_answer(answers[key])).message
            if "result" not in left:
                why = str(left["error"]["message"])
                return answer(one.pending.id, make_error(why, modern=True))
            answers[key] = left["result"]
        params = {**request.params, "inputResponses": {**answers, **one.own}}
        method = one.pending.method
        assert method is not None
        frame = write_frame({**request.message, "params": method.replace(params, given)})
        return await self._exchange(one.pending, frame)


async def _wait(one: _Round) -> Frame:
    """The request with which the client comes back; one that does not is given up in the end."""
    task = one.pending.task
    loop = asyncio.get_running_loop()
    timer = None if task is None else loop.call_later(LONGEST_WAIT, task.cancel)
    try:
        return await one.again
    finally:
        if timer is not None:
            timer.cancel()


def _restore_state(request: Frame, result: dict[str, Any]) -> Frame:
    """The request with the server's own state in place of our mark."""
    kept = {name: value for name, value in request.params.items() if name != _STATE}
    state = {_STATE: result[_STATE]} if _STATE in result else {}
    return write_frame({**request.message, "params": {**kept, **state}})


def _make_key(frame: Frame, state: Any = None) -> str:
    """What a request and the one that goes on with it have in common."""
    params = frame.params
    about = [frame.method, params.get("name"), params.get("uri"), params.get("arguments") or {}]
    return digest([*about, params.get(_STATE) if state is None else state])


def _list_links(response: Frame) -> list[Any]:
    """The pages that a client is to open before it asks again: in 2025-11-25, in an error."""
    error = response.message.get("error")
    if _get(error, "code") != _URL_REQUIRED:
        return []
    found = _get(_get(error, "data"), "elicitations")
    return found if isinstance(found, list) and found else [error]


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
