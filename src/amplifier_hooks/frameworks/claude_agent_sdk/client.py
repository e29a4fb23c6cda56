"""A client with hooks: its options, and what they and the program say to each other."""

from __future__ import annotations

import asyncio
import atexit
import json
import threading
import weakref
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    Message,
    ResultMessage,
    TextBlock,
    Transport,
    UserMessage,
    query,
)
from claude_agent_sdk.types import (
    HookCallback,
    HookContext,
    HookEvent,
    HookInput,
    HookJSONOutput,
    StreamEvent,
)

from amplifier_core.errors import SessionDenied
from amplifier_core.payloads import EndReason
from amplifier_core.utils import describe_error
from amplifier_hooks.coding_agents.dialects.claude import DIALECT
from amplifier_hooks.coding_agents.dialects.dialect import Reply
from amplifier_hooks.coding_agents.dialects.reading import read_payload
from amplifier_hooks.coding_agents.dialects.writing import write_reply
from amplifier_hooks.coverage import CLAUDE_AGENT_SDK, CLAUDE_AGENT_SDK_BY_OPTIONS, Coverage
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.loops import start_own_loop
from amplifier_hooks.external.verdicts import TextVerdict, Verdict
from amplifier_hooks.frameworks.claude_agent_sdk.session import (
    LONGEST,
    Asks,
    Session,
    Settings,
    choose,
)
from amplifier_hooks.frameworks.governing import Governable, govern

if TYPE_CHECKING:
    from _collections_abc import dict_items


_PATIENCE = 10.0


class Connection:
    """Answers the callbacks of one connection."""

    def __init__(
        self,
        governor: Governor,
        settings: Settings,
        coverage: Coverage = CLAUDE_AGENT_SDK_BY_OPTIONS,
    ) -> None:
        self.sessions: dict[str, Session] = {}
        self._governor = governor
        self._settings = settings
        self._coverage = coverage
        self._early: Session | None = None

    def open_early(self) -> Session:
        """The session that the program will begin; which id it has is not known yet."""
        if self._early is None and not self.sessions:
            self._early = self._make_session()
        return self._early or next(reversed(self.sessions.values()))

    def find_session(self, session_id: str) -> Session:
        """The session of an event."""
        if session_id not in self.sessions:
            self.sessions[session_id] = self._early or self._make_session()
            self._early = None
        return self.sessions[session_id]

    def _make_session(self) -> Session:
        return Session(self._governor, self._coverage, self._settings.asks)

    async def end(self, reason: EndReason) -> None:
        """End every session, for a program that tells when the connection is over."""
        if self._early is not None:
            await self._early.end(reason)
        for session in list(self.sessions.values()):
            await session.end(reason)

    def listen(self, native: str) -> HookCallback:
        """The callback of one event of the program."""

        async def call(payload: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
            given = cast(Mapping[str, Any], payload)
            try:
                return cast(HookJSONOutput, await self._answer(native, given))
            except Exception as error:  # noqa: BLE001 - whatever it was, nobody has judged this
                return cast(HookJSONOutput, refuse(native, given, describe_error(error)))

        return call

    async def _answer(self, native: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        incoming = self._name(read_payload(DIALECT, native, json.dumps(payload)))
        verdict = await self._judge(incoming)
        if verdict.decision == "defer":
            return defer(native, verdict)
        return read_answer(native, write_reply(DIALECT, incoming, verdict))

    async def _judge(self, incoming: Incoming) -> Verdict:
        session = self.find_session(incoming.session_id)
        try:
            async with asyncio.timeout(self._settings.seconds) as limit:
                return await session.handle(incoming)
        except TimeoutError:
            if not limit.expired():
                raise
            return await session.deny_late(incoming, self._settings.seconds)
        except SessionDenied as error:
            return Verdict(decision="deny", reason=str(error))

    def _name(self, incoming: Incoming) -> Incoming:
        """Name the tools of some servers as they name them themselves."""
        name = str(incoming.data.get("tool_name") or "")
        for prefix in self._settings.prefixes:
            if name.startswith(prefix):
                data = {**incoming.data, "tool_name": name.removeprefix(prefix)}
                return replace(incoming, data=data)
        return incoming


def defer(native: str, verdict: Verdict) -> dict[str, Any]:
    """The run ends here, and the call is judged again when the session is resumed."""
    decided = {"permissionDecision": "defer", "permissionDecisionReason": verdict.reason}
    return {"hookSpecificOutput": {"hookEventName": native, **decided}}


def read_answer(native: str, reply: Reply) -> dict[str, Any]:
    """What was written for standard output and exit codes, as the object of a callback."""
    if reply.code:
        return refuse(native, {}, reply.stderr)
    answer: dict[str, Any] = json.loads(reply.stdout) if reply.stdout else {}
    return answer


def refuse(native: str, payload: Mapping[str, Any], why: str) -> dict[str, Any]:
    """The answer to what nobody has judged: it does not happen, or is withheld."""
    reason = f"amplifier: this was not judged, so it is not allowed: {why}"
    if native == "PreToolUse":
        decided = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        return {"hookSpecificOutput": {"hookEventName": native, **decided}}
    if native in ("UserPromptSubmit", "PreCompact"):
        return {"decision": "block", "reason": reason}
    if native == "PostToolUse":
        incoming = Incoming("tool:post", {}, native, "", payload=payload)
        return read_answer(native, write_reply(DIALECT, incoming, Verdict(output=reason)))
    return {}


_ending: set[Future[None]] = set()


def end_soon(sessions: dict[str, Session]) -> None:
    """End the sessions of a connection that is over; called by whichever thread noticed.

    The program may stop its loop at this very moment, so this is done on the loop of the process.
    """
    for session in sessions.values():
        if session.leave_loop():
            ending = asyncio.run_coroutine_threadsafe(session.end(), start_own_loop())
            _ending.add(ending)
            ending.add_done_callback(_ending.discard)


def wait_for_ends() -> None:
    """A program that exits waits for what it has begun to end."""
    wait(tuple(_ending), timeout=_PATIENCE)


# Before the governors end what is open, and with the pools of threads still there: see there.
getattr(threading, "_register_atexit", atexit.register)(wait_for_ends)


NATIVE: tuple[HookEvent, ...] = (
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "Notification",
    "Stop",
)

OwnHooks = Mapping[HookEvent, Sequence[HookMatcher]]


def amplifier_options(
    hooks: Governable | None = None,
    *,
    also: OwnHooks | None = None,
    timeout: float = LONGEST,
    plain_servers: Sequence[str] = (),
    asks: Asks = "inline",
) -> dict[str, Any]:
    """What to give ClaudeAgentOptions: `ClaudeAgentOptions(**amplifier_options(hooks), …)`."""
    settings = choose(timeout, plain_servers, asks)
    return {"hooks": Hooks(govern(hooks), dict(also or {}), settings)}


def amplifier_hooks(
    hooks: Governable | None = None,
    *,
    also: OwnHooks | None = None,
    timeout: float = LONGEST,
    plain_servers: Sequence[str] = (),
    asks: Asks = "inline",
) -> dict[HookEvent, list[HookMatcher]]:
    """The same for a program that builds its options in another way.

    `also` has hooks of the program's own. What is not judged within `timeout` seconds is denied.
    Hooks see the tools of `plain_servers`, MCP servers, by their own names: `note`, where the
    program says `mcp__<server>__note`. People are asked while the call waits, or with `Questions`
    after the program has deferred it.
    """
    return Hooks(govern(hooks), dict(also or {}), choose(timeout, plain_servers, asks))


class Hooks(dict[HookEvent, list[HookMatcher]]):
    """Matchers of callbacks, new ones for each connection that the SDK makes with these options.

    The SDK tells nobody that a connection is over. Its callbacks are of no use to anybody by then,
    so that is when its sessions end. Who copies this into another dict has callbacks that all
    connections share, and sessions that end with the governor.
    """

    def __init__(self, governor: Governor, also: OwnHooks, settings: Settings) -> None:
        self._made_of = governor, also, settings
        super().__init__(self._connect())

    def items(self) -> dict_items[HookEvent, list[HookMatcher]]:
        """For a new connection."""
        return self._connect().items()

    def _connect(self) -> dict[HookEvent, list[HookMatcher]]:
        governor, also, settings = self._made_of
        connection = Connection(governor, settings)
        # At exit, the governor ends what is open.
        weakref.finalize(connection, end_soon, connection.sessions).atexit = False
        return match_events(connection, settings.timeout, also)


def match_events(
    connection: Connection, timeout: float, also: OwnHooks
) -> dict[HookEvent, list[HookMatcher]]:
    """The callbacks of a connection, and those of the program's own."""
    made: dict[HookEvent, list[HookMatcher]] = {
        native: [
            HookMatcher(hooks=[connection.listen(native)], timeout=timeout, on_failure="block")
        ]
        for native in NATIVE
    }
    for native, matchers in also.items():
        made.setdefault(native, []).extend(matchers)
    return made


async def judge_answers(
    messages: AsyncIterator[Message], connection: Connection
) -> AsyncIterator[Message]:
    """Pass everything on; what may be the answer is held back until the result says so."""
    held: list[Message] = []
    streamed = False
    async for message in messages:
        streamed = streamed or isinstance(message, StreamEvent)
        if isinstance(message, ResultMessage):
            held = await _judge(held, message, connection, streamed=streamed)
            streamed = False
        elif not streamed and _may_be_answer(message, held):
            held.append(message)
            continue
        else:
            held.append(message)
        for one in held:
            yield one
        held = []
    for one in held:
        yield one


def _may_be_answer(message: Message, held: Sequence[Message]) -> bool:
    """Whether the result may follow next: text of the agent itself, or what comes after it."""
    if isinstance(message, AssistantMessage):
        own = message.parent_tool_use_id is None
        return own and all(isinstance(one, TextBlock) for one in message.content)
    return bool(held) and not isinstance(message, UserMessage)


async def _judge(
    held: list[Message], result: ResultMessage, connection: Connection, *, streamed: bool
) -> list[Message]:
    if not result.result or result.is_error or result.num_turns == 0:
        return [*held, result]
    session = connection.find_session(result.session_id)
    verdict = await session.answer(result.result, streamed=streamed)
    if verdict.allowed and not verdict.changed:
        return [*held, result]
    return [*_replace_text(held, verdict.text), _replace_result(result, verdict)]


def _replace_text(held: Sequence[Message], text: str) -> list[Message]:
    """The same messages with this text once, and with nothing of what it replaces."""
    kept: list[Message] = []
    said = False
    for message in held:
        if not isinstance(message, AssistantMessage):
            kept.append(message)
        elif not said:
            said = True
            kept.append(replace(message, content=[TextBlock(text=text)]))
    return kept


def _replace_result(result: ResultMessage, verdict: TextVerdict) -> ResultMessage:
    """What a hook has refused is in no other form there, either."""
    structured = result.structured_output if verdict.allowed else None
    return replace(result, result=verdict.text, structured_output=structured)


Prompt = str | AsyncIterable[dict[str, Any]]


async def amplified_query(
    hooks: Governable | None = None,
    *,
    prompt: Prompt,
    options: ClaudeAgentOptions | None = None,
    transport: Transport | None = None,
    timeout: float = LONGEST,
    plain_servers: Sequence[str] = (),
    asks: Asks = "inline",
) -> AsyncIterator[Message]:
    """The SDK's `query`, with hooks; the last three parameters are those of `amplifier_hooks`."""
    connection = Connection(govern(hooks), choose(timeout, plain_servers, asks), CLAUDE_AGENT_SDK)
    governed = _add_hooks(options or ClaudeAgentOptions(), connection, timeout)
    reason: EndReason = "complete"
    try:
        sent = await _judge_prompt(prompt, connection)
        messages = query(prompt=sent, options=governed, transport=transport)
        async with aclosing(cast(Any, judge_answers(messages, connection))) as judged:
            async for message in judged:
                yield message
    except (asyncio.CancelledError, GeneratorExit):
        reason = "user_exit"
        raise
    except BaseException:
        reason = "error"
        raise
    finally:
        await connection.end(reason)


class AmplifiedClient(ClaudeSDKClient):
    """The SDK's client, with hooks: one session of ours from `connect` to `disconnect`."""

    def __init__(
        self,
        hooks: Governable | None = None,
        options: ClaudeAgentOptions | None = None,
        transport: Transport | None = None,
        *,
        timeout: float = LONGEST,
        plain_servers: Sequence[str] = (),
        asks: Asks = "inline",
    ) -> None:
        self._plain_options = options or ClaudeAgentOptions()
        super().__init__(self._plain_options, transport)
        self._governor = govern(hooks)
        self._settings = choose(timeout, plain_servers, asks)
        self._connection = self._open()

    def _open(self) -> Connection:
        made = Connection(self._governor, self._settings, CLAUDE_AGENT_SDK)
        self.options = _add_hooks(self._plain_options, made, self._settings.timeout)
        return made

    async def connect(self, prompt: Prompt | None = None) -> None:
        """Connect to the program; the session begins."""
        self._connection = self._open()
        await super().connect(prompt and await _judge_prompt(prompt, self._connection))

    async def query(self, prompt: Prompt, session_id: str = "default") -> None:
        """Send a prompt as hooks leave it; the program is told to refuse one they refuse."""
        await super().query(await _judge_prompt(prompt, self._connection), session_id)

    async def receive_messages(self) -> AsyncIterator[Message]:
        """All messages; an answer after hooks have judged it."""
        async for message in judge_answers(super().receive_messages(), self._connection):
            yield message

    async def disconnect(self) -> None:
        """Disconnect from the program; the session ends."""
        try:
            await super().disconnect()
        finally:
            await self._connection.end("complete")


def _add_hooks(
    options: ClaudeAgentOptions, connection: Connection, timeout: float
) -> ClaudeAgentOptions:
    return replace(options, hooks=match_events(connection, timeout, options.hooks or {}))


async def _judge_prompt(prompt: Prompt, connection: Connection) -> Prompt:
    if isinstance(prompt, str):
        return await connection.open_early().submit(prompt)
    return _judge_each(prompt, connection)


async def _judge_each(
    prompts: AsyncIterable[dict[str, Any]], connection: Connection
) -> AsyncIterator[dict[str, Any]]:
    """Prompts of blocks, such as pictures, are judged when the program tells of them."""
    async for message in prompts:
        inner = message.get("message")
        if isinstance(inner, dict) and isinstance(inner.get("content"), str):
            text = await connection.open_early().submit(inner["content"])
            yield {**message, "message": {**inner, "content": text}}
        else:
            yield message
