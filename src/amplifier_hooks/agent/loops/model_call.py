"""A turn's calls of the model: what it is sent, with room made for it, and retries.

Hooks see the request and the reply. Anybody may have changed a message since it was validated, so
each is compared with a copy.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator

from amplifier_core.answers import Outcome
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import SessionError
from amplifier_core.events import (
    PROVIDER_ERROR,
    PROVIDER_RESPONSE,
    PROVIDER_RETRY,
)
from amplifier_core.interfaces import ContextManager, Provider, Tool
from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    Message,
    TextBlock,
    ToolSpec,
    Usage,
)
from amplifier_core.payloads import (
    ErrorDetails,
    ProviderErrorData,
    ProviderRequestData,
    ProviderResponseData,
    ProviderRetryData,
    Status,
)
from amplifier_core.utils import is_awaitable
from amplifier_core.utils.calling import list_parameters
from amplifier_core.utils.conversation import arrange_messages
from amplifier_core.utils.copying import NotPlain, freeze, is_equal
from amplifier_core.utils.frozen import FrozenDict
from amplifier_core.utils.retry import RetryConfig, retry_with_backoff
from amplifier_hooks.modules.conversation import explain_cut

SYNONYMS = {"max_iterations": "max_turns", "default_provider": "provider"}
"""What loops of the ecosystem call these options."""


class LoopConfig(BaseModel):
    """Options of the loops."""

    model_config = ConfigDict(extra="forbid")

    max_turns: int = Field(
        default=50, ge=1, description="Requests to the model for one prompt; -1: no limit"
    )
    max_denied: int = Field(default=8, ge=1, description="Rounds in a row with every call denied")
    attempts: int = Field(default=4, ge=1, description="Tries of one request")
    retry_delay: float = Field(default=1.0, ge=0, description="Seconds before the second try")
    max_retry_delay: float = Field(default=60.0, ge=0)
    provider: str | None = Field(default=None, description="Which one; the first if not said")
    system: str | None = Field(default=None, description="Instructions before the conversation")
    parallel_tools: bool = True

    @field_validator("max_turns", mode="before")
    @classmethod
    def _read_no_limit(cls, value: Any) -> Any:
        return sys.maxsize if value == -1 else value


@dataclass
class Turn:
    """The state of one prompt: what it works with, and how far it has come."""

    coordinator: SessionCoordinator
    context: ContextManager
    provider: Provider
    tools: Mapping[str, Tool]
    specs: list[ToolSpec]
    number: int = 1
    """Which turn of the conversation it is."""
    requests: int = 0
    denied_in_a_row: int = 0
    status: Status = "success"
    streamed: bool = False
    """Whether hooks were told of the last reply's text as it arrived."""
    last_message: dict[str, Any] = field(default_factory=dict)
    unfinished: str = ""
    """What has arrived of a reply that was interrupted, without the beginning of a secret."""


@dataclass(frozen=True, slots=True)
class Denial:
    """A hook stopped the turn; `text` is what the user reads instead of a reply."""

    text: str


Plain = dict[str, Any]


class SharedConversation:
    """The last conversation; what has not changed is neither copied nor validated again.

    Hooks see read-only copies, so all hooks of all requests can look at the same ones.
    """

    def __init__(self) -> None:
        self._shown: list[Plain] = []
        self._validated: dict[int, tuple[Plain, Message]] = {}
        """By the identity of the read-only copy, which stands beside the result."""

    def show(self, messages: Sequence[Plain]) -> list[Plain]:
        """The messages of a conversation, as hooks see them."""
        known = self._shown
        if not is_equal(messages[: len(known)], known):  # compacted, or changed by somebody
            pairs = zip(messages, known, strict=False)
            known = [old if is_equal(new, old) else _show(new) for new, old in pairs]
        self._shown = [*known, *map(_show, messages[len(known) :])]
        return [*self._shown]

    def validate(self, messages: Sequence[Plain]) -> list[Message]:
        """The same messages as providers take them, or those that hooks put in their place."""
        if len(self._validated) > 2 * len(messages):
            self._validated.clear()
        return [self._validate(message) for message in messages]

    def _validate(self, message: Plain) -> Message:
        known = self._validated.get(id(message))
        if known is not None and known[0] is message:
            return known[1]
        result = validate(message)
        if type(message) is FrozenDict:
            self._validated[id(message)] = (message, result)
        return result


def _show(message: Plain) -> Plain:
    try:
        shown: Plain = freeze(message)
    except (NotPlain, RecursionError):
        return message  # which the dispatch copies for each request
    return shown


def validate(message: Plain) -> Message:
    """A message as providers take it."""
    if message.get("content") is None:  # some contexts store a reply that only calls tools so
        message = {**message, "content": ""}
    return Message.model_validate(message)


class RequestBuilder:
    """Builds the requests of one loop; a message that was validated before is not again."""

    def __init__(self, system: str | None = None) -> None:
        self._instructions = [Message(role="system", content=system)] if system else []
        self._conversation = SharedConversation()
        self._names: list[str] = []
        self._tools: list[Tool] = []
        self._specs: list[ToolSpec] = []

    def describe_tools(self, tools: Mapping[str, Tool]) -> list[ToolSpec]:
        """What the model is told about the tools."""
        names = list(tools)
        mounted = list(tools.values())
        if names != self._names or mounted != self._tools:
            self._names = names
            self._tools = mounted
            self._specs = [_describe_tool(name, tool) for name, tool in tools.items()]
        return self._specs

    def show(self, messages: Sequence[Plain]) -> list[Plain]:
        """The messages of the next request, as its hooks see them."""
        return self._conversation.show(messages)

    def build(
        self, messages: Sequence[Plain], specs: list[ToolSpec], passing: Passing | None = None
    ) -> ChatRequest:
        """The request for a conversation; the configured instructions come first."""
        results = self._conversation.validate(messages)
        if passing is not None:
            results = [*results[: passing.place], *map(validate, passing.behind)]
        return ChatRequest(messages=[*self._instructions, *results], tools=specs or None)


class Passing(NamedTuple):
    """What one request has in place of the end of the conversation, or behind it."""

    place: int
    behind: list[Plain]


def choose_messages(opened: Outcome, asked: list[Plain]) -> tuple[list[Plain], Passing | None]:
    """What to send: the conversation that hooks were asked about, as far as they left it as it is.

    They judge a copy, and whatever is in a copy would have to be validated again.
    """
    left: list[Plain] = (opened.data or {})["messages"]
    if left is asked or not asked or any(answer.left is not None for answer in opened.answers):
        return left, None
    # What is for this request only stands behind the conversation, or in its last message.
    for place in (len(asked), len(asked) - 1):
        if is_equal(left[:place], asked[:place]):
            behind = left[place:]
            # The list may be the context's own, and have grown since it was judged.
            is_whole = place == len(asked) and not behind
            return asked, None if is_whole else Passing(place, behind)
    return left, None


def _describe_tool(name: str, tool: Tool) -> ToolSpec:
    # Tools of other authors may lack either; a model can call them all the same.
    return ToolSpec(
        name=name,
        description=getattr(tool, "description", None),
        parameters=getattr(tool, "input_schema", None) or {"type": "object"},
    )


Messages = list[dict[str, Any]]


async def read_messages(context: ContextManager, provider: Provider) -> Messages:
    """What to send to the provider; nothing from a context that can only say all that it holds."""
    read = getattr(context, "get_messages_for_request", None)
    if read is None:
        await compact_if_needed(context)
        return []
    messages = list(await _resolve(read(provider=provider)))
    if getattr(context, "keeps_results_with_calls", False) is True:
        return messages
    return arrange_messages(messages)


async def compact_if_needed(context: ContextManager) -> None:
    """Compact the context if it can and wants to; its methods may be plain or async."""
    should_compact = getattr(context, "should_compact", None)
    if should_compact is None:
        return
    if await _resolve(should_compact()):
        await _resolve(context.compact())  # type: ignore[attr-defined]  # goes with should_compact


async def compact_now(context: ContextManager | None) -> bool:
    """Compact the context because a person wants it; False if there was nothing to do.

    A context that knows why it is compacted gets the trigger `manual`.
    """
    compact = getattr(context, "compact", None)
    if compact is None:
        raise SessionError(f"{type(context).__name__} cannot be compacted: it has no compact()")
    known = list_parameters(compact)
    told = {"trigger": "manual"} if known and known & {"trigger", "**"} else {}
    return await _resolve(compact(**told)) is not False


async def _resolve(outcome: Any) -> Any:
    return await outcome if is_awaitable(outcome) else outcome


FetchReply = Callable[[Turn, ChatRequest], Awaitable[ChatResponse]]


class ModelCaller:
    """Asks the model. `fetch` sends one request, whole or as a stream."""

    def __init__(self, config: LoopConfig, requests: RequestBuilder, fetch: FetchReply) -> None:
        self._config = config
        self._requests = requests
        self._fetch = fetch
        self._retries = RetryConfig(
            max_retries=config.attempts - 1,
            initial_delay=config.retry_delay,
            max_delay=config.max_retry_delay,
            jitter=False,
        )

    async def ask(self, turn: Turn) -> ChatResponse | Denial:
        """Send the conversation, and return the reply, unless a hook denies one of them."""
        turn.requests += 1
        messages = self._requests.show(await read_messages(turn.context, turn.provider))
        opened = await turn.coordinator.open_request(_describe_request(turn, messages))
        if not opened.allowed or opened.data is None:
            return Denial(opened.denial)
        messages, passing = choose_messages(opened, messages)
        request = self._requests.build(messages, turn.specs, passing)
        started = time.perf_counter()
        try:
            response = await self._fetch(turn, request)
            if type(response) is not ChatResponse or response.finish_reason is not None:
                _check_reply(response, turn.provider.name)
        except Exception as error:  # noqa: BLE001 - a provider may raise anything
            response = await self._retry(turn, request, error)
        duration = int((time.perf_counter() - started) * 1000)
        if response.usage is not None:
            _count_tokens(turn.coordinator, response.usage)
        if not turn.coordinator.is_observed(PROVIDER_RESPONSE):
            return response  # nor written out
        return await _review(turn, response, duration)

    async def review_unfinished(self, turn: Turn) -> ChatResponse | Denial:
        """Take what there is of an interrupted reply through the hooks that judge replies."""
        said = ChatResponse(
            content=[TextBlock(text=turn.unfinished)], finish_reason="interrupted", usage=None
        )
        return await _review(turn, said, 0)

    async def _retry(self, turn: Turn, request: ChatRequest, error: Exception) -> ChatResponse:
        """Go on after a first try that has failed, if that may pass."""
        failures = [error]

        async def fetch() -> ChatResponse:
            if failures:
                raise failures.pop()
            return await self._fetch(turn, request)

        announce = partial(self._announce_retry, turn)
        try:
            reply = await retry_with_backoff(fetch, self._retries, on_retry=announce)
            return _check_reply(reply, turn.provider.name)
        except Exception as last:  # whatever a provider raises, its call has failed
            failed = ProviderErrorData(provider=turn.provider.name, error=_describe(last))
            await turn.coordinator.notify(PROVIDER_ERROR, failed)
            raise

    async def _announce_retry(
        self, turn: Turn, attempt: int, pause: float, error: Exception
    ) -> None:
        data: ProviderRetryData = {
            "provider": turn.provider.name,
            "attempt": attempt,
            "max_attempts": self._config.attempts,
            "delay_ms": int(pause * 1000),
            "error": _describe(error),
        }
        await turn.coordinator.notify(PROVIDER_RETRY, data)


def _describe_request(turn: Turn, messages: list[dict[str, Any]]) -> ProviderRequestData:
    return {
        "provider": turn.provider.name,
        "model": _get_model(turn),
        # If there are none, the coordinator fills in the conversation.
        "messages": messages,
        # Of the specs: a tool that came since the turn began is not among them.
        "tools": [spec.name for spec in turn.specs],
        "iteration": turn.requests,
    }


def _check_reply(reply: Any, provider: str) -> ChatResponse:
    """A provider of another author may hand back anything, and a model may end before it began."""
    if not isinstance(reply, ChatResponse):
        kind = type(reply).__name__
        raise LLMError(
            f"Provider {provider!r} returned {kind}, not a ChatResponse", provider=provider
        )
    cut = None if reply.finish_reason is None else explain_cut(reply.finish_reason)
    if cut and not (reply.text.strip() or reply.tool_calls):
        raise LLMError(f"The reply of the model is empty: {cut}", provider=provider)
    return reply


async def _review(turn: Turn, response: ChatResponse, duration: int) -> ChatResponse | Denial:
    """Let the hooks see the reply: they may change it or withhold it."""
    coordinator = turn.coordinator
    data = _describe_reply(turn, response, duration)
    if not coordinator.hooks.has_listeners(PROVIDER_RESPONSE):
        data["response"] = response.model_dump(exclude_none=True)
        await coordinator.notify(PROVIDER_RESPONSE, data)
        return response
    original = data["response"] = response.model_dump()
    outcome = await coordinator.judge(PROVIDER_RESPONSE, data)
    if not outcome.allowed:
        return Denial(outcome.denial)
    if not outcome.answers:
        return response
    reviewed = (outcome.data or {}).get("response", original)
    return response if reviewed == original else ChatResponse.model_validate(reviewed)


def _describe_reply(turn: Turn, response: ChatResponse, duration: int) -> ProviderResponseData:
    return {
        "provider": turn.provider.name,
        "model": response.model or _get_model(turn),
        "response": {},  # written out once it is known for whom
        "usage": {} if response.usage is None else response.usage.model_dump(),
        "duration_ms": duration,
    }


def _get_model(turn: Turn) -> str | None:
    return getattr(turn.provider, "model", None)


def _count_tokens(coordinator: SessionCoordinator, usage: Usage) -> None:
    stats = coordinator.get_capability("session.stats")
    if stats is not None:
        stats["total_tokens"] += usage.total_tokens


def _describe(error: Exception) -> ErrorDetails:
    return {
        "type": type(error).__name__,
        "message": str(error),
        "retryable": bool(getattr(error, "retryable", False)),
        "status_code": getattr(error, "status_code", None),
    }
