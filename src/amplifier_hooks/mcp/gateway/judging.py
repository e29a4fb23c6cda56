"""The session behind a connection, and the requests that go through its hooks."""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.models import Level, ToolResult
from amplifier_core.mount_plan import read_entry
from amplifier_core.payloads import EndReason
from amplifier_core.utils.copying import is_same
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.assembly import open_session
from amplifier_hooks.agent.session.reload import ChangePolicy
from amplifier_hooks.agent.session.remote_approval import reach_people
from amplifier_hooks.coding_agents.protection import list_protected_files, protect_guard
from amplifier_hooks.external.calling import LoopSeat, Wanted
from amplifier_hooks.external.conversation import EventContext, current_event
from amplifier_hooks.external.plan import TrustedPlan, adapt_to_program, load_trusted_plan
from amplifier_hooks.external.session import ExternalSession
from amplifier_hooks.external.verdicts import Called
from amplifier_hooks.guards.mcp.definitions import DefinitionGuard
from amplifier_hooks.guards.mcp.frames import Frame, answer, refuse, write_frame
from amplifier_hooks.guards.mcp.path_guard import register_path_guard
from amplifier_hooks.guards.mcp.protocol import CALL, ELICIT
from amplifier_hooks.guards.mcp.results import TOOL, WHOLE, Form, Wire, add_texts, make_error
from amplifier_hooks.machine.files import normalize
from amplifier_hooks.mcp.gateway.requests import Method, Pending

_RELOAD_EVERY = 2.0
_BY_TURN = frozenset({"hooks-progress-monitor", "hooks-todo-display"})

Say = Callable[[str], None]
"""Tells the person who reads the diagnostics of the gateway."""


class GatewaySession:
    """A session with the hooks of a bundle, and what they add for the client's model."""

    def __init__(self, external: ExternalSession, session: AssembledSession) -> None:
        self.external = external
        self._session = session
        self._waiting: list[str] = []
        self._under_way = 0
        self._checked = time.monotonic()

    @property
    def coordinator(self) -> SessionCoordinator:
        """Of the session behind it."""
        return self.external.coordinator

    def take_texts(self, event: EventContext) -> list[str]:
        """What hooks have injected since the last time, for the model to read with a result."""
        texts = [*self._waiting, *self.external.take_texts(event.texts)]
        self._waiting = []
        return texts

    def keep_texts(self, event: EventContext) -> None:
        """Keep what a result without a place for it cannot carry for the next one that can."""
        self._waiting += event.texts

    @contextlib.asynccontextmanager
    async def judge_one(self) -> AsyncIterator[EventContext]:
        """Collects what hooks add to one request.

        Before the first of several, changed files are used if a person has trusted them.
        """
        event = EventContext(frozenset({"inject"}))
        token = current_event.set(event)
        self._under_way += 1
        try:
            if self._under_way == 1 and time.monotonic() - self._checked > _RELOAD_EVERY:
                self._checked = time.monotonic()
                await self._session.check_files()
            self.coordinator.reset_turn()  # nothing tells where a turn of the agent begins
            yield event
        finally:
            self._under_way -= 1
            current_event.reset(token)

    async def end(self, reason: EndReason) -> None:
        """The connection is over."""
        await self.external.end(reason)


class _Display:
    """Shows messages where a client keeps the diagnostics of its servers."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def show_message(self, message: str, level: Level, source: str = "hook") -> None:
        self._say(message if level == "info" else f"{level}: {message}")


def load_gateway_plan(start: Path, named: str = "") -> tuple[TrustedPlan, Sequence[Path]]:
    """The plan of what governs there, and the files by which agents are guarded.

    Untrusted if no person has allowed exactly that.
    """
    folder = normalize(start)
    guarded = list_protected_files(folder)
    return load_trusted_plan(folder, named, lambda whole: _adapt(whole, guarded)), guarded


def _adapt(whole: dict[str, Any], guarded: Sequence[Path]) -> dict[str, Any]:
    """The plan for a client whose turns nobody sees: it may ask for the same thing often."""
    plan = adapt_to_program(whole, guarded, can_ask=False)
    hooks = [one for one in plan["hooks"] if read_entry("hooks", one).module not in _BY_TURN]
    return {**plan, "hooks": hooks}


async def open_gateway_session(start: Path, named: str, say: Say) -> GatewaySession:
    """Start the session; people are asked through the store, unless the bundle says where."""
    plan, guarded = await asyncio.to_thread(load_gateway_plan, start, named)
    session = await open_session(
        plan.bundle,
        session_id=f"mcp-{uuid.uuid4()}",
        display_system=_Display(say),
        working_dir=plan.folder,
        material=plan.material,
        changes=ChangePolicy(accepts=plan.accepts),
        elsewhere=await reach_people(plan.bundle.mount_plan["approval"], plan.folder),
    )
    external = await ExternalSession.attach(session, "mcp")
    protect_guard(session.coordinator, plan.folder, guarded)
    register_path_guard(session.coordinator, normalize(start), guarded, others=[Path.cwd()])
    return GatewaySession(external, session)


_ALLOWED = "The user allowed this and said: "
"""As the kernel begins a result with what a person said: no place for it in the protocol."""
_OF_TOOL = frozenset({"content", "structuredContent", "isError", "_meta", "resultType"})

Forward = Callable[[dict[str, Any]], Awaitable[Frame]]
"""Hands a call on with what hooks left of its input, and waits for the response."""


class DefinitionChanged(Exception):
    """The server has changed the tool while somebody decided about a call of it."""


@dataclass(slots=True)
class Judge:
    """Takes calls through the hooks of one session."""

    session: GatewaySession
    server: str
    guard: DefinitionGuard
    _numbers: Iterator[int] = field(default_factory=partial(count, 1))
    """Both ends choose ids, and may choose the same ones: people are asked about a number."""

    async def call(self, pending: Pending, method: Method, forward: Forward) -> Frame:
        """The response to a request that hooks judge."""
        params = pending.frame.params
        name = method.name_call(self.server, params)
        asked = method.read(params)
        wanted_digest = self.guard.get_digest(name)

        async def handle(given: dict[str, Any]) -> Frame:
            if wanted_digest not in (None, self.guard.get_digest(name)):
                raise DefinitionChanged(
                    f"{name} was changed by its server meanwhile; call it again"
                )
            return await forward(given)

        call_id = f"{self.server}:{pending.id}:{next(self._numbers)}"
        wanted = Wanted(name, asked, call_id, handle, _read_response)
        seat = LoopSeat(asyncio.get_running_loop())
        async with self.session.judge_one() as event:
            try:
                called = await self.session.external.call(wanted, seat)
            except DefinitionChanged as error:
                called = Called(ToolResult.refused(str(error)))
        return self._finish(pending, method, called, event)

    def _finish(
        self, pending: Pending, method: Method, called: Called, event: EventContext
    ) -> Frame:
        comment = _find_comment(called)
        if comment:  # it goes with the result, which is as the other end sent it
            called = replace(called, changed=False)
            event.texts.append(comment)
        response = _write_response(pending, method, called)
        if method.name != CALL or "result" not in response.message:
            self.session.keep_texts(event)
            return response
        texts = self.session.take_texts(event)
        if not texts:
            return response
        return answer(pending.id, add_texts(response.message["result"], texts))


def build_forwarded(pending: Pending, method: Method, given: dict[str, Any]) -> Frame:
    """The request as it goes on: the very bytes, unless hooks changed its input."""
    params = pending.frame.params
    if is_same(given, method.read(params)):
        return pending.frame
    return write_frame({**pending.frame.message, "params": method.replace(params, given)})


def _choose_form(result: Wire) -> Form:
    """As a value if it is no more than that; hooks see all of a result that says more."""
    return TOOL if isinstance(result.get("content"), list) and set(result) <= _OF_TOOL else WHOLE


def _read_response(response: Frame) -> ToolResult:
    """What hooks see: a result, or an error in words, which a model reads as well."""
    error = response.message.get("error")
    if error is not None:
        more = {k: v for k, v in error.items() if k != "code"} if isinstance(error, dict) else {}
        said = str(more.get("message") if isinstance(error, dict) else error)
        output: Any = {**more, "message": said} if set(more) - {"message"} else said
        return ToolResult(success=False, output=output, error=said)
    result = response.message.get("result")
    if not isinstance(result, dict):
        return ToolResult(output=result)
    return _choose_form(result).read(result)


def _find_comment(called: Called) -> str:
    """What a person said when allowing the call, if nothing else was done to its result."""
    output = called.result.output
    if not called.ran or called.result.denied or not isinstance(output, str):
        return ""
    plain = f"\n\n{_read_response(called.value).get_serialized_output()}"
    is_comment = output.startswith(_ALLOWED) and output.endswith(plain)
    return output.removesuffix(plain) if is_comment else ""


def _write_response(pending: Pending, method: Method, called: Called) -> Frame:
    """The response of the other end, or what hooks made of it."""
    id = pending.id
    if called.untouched:
        response: Frame = called.value
        return response
    if called.result.denied or not called.ran:
        return write_refusal(pending, method, called.text)
    before = called.value.message.get("result")
    if not isinstance(before, dict):
        error = called.value.message.get("error")
        code = error.get("code") if isinstance(error, dict) else None
        return refuse(id, code if isinstance(code, int) else method.code, called.text)
    try:
        return answer(id, _choose_form(before).write(before, called.result))
    except TypeError as error:
        return write_refusal(pending, method, str(error))


def write_refusal(pending: Pending, method: Method, why: str) -> Frame:
    """The response to what was not carried out: words for the model, where there is a place."""
    if method.name == CALL:
        return answer(pending.id, make_error(why, modern=pending.is_modern))
    if method.name == ELICIT:
        return answer(pending.id, {"action": "decline"})
    return refuse(pending.id, method.code, why)
