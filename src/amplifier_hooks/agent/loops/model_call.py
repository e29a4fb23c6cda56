"""The call of the model, with retries; hooks see the request and the reply."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import (
    PROVIDER_ERROR,
    PROVIDER_RESPONSE,
    PROVIDER_RETRY,
)
from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, Usage
from amplifier_core.payloads import (
    ErrorDetails,
    ProviderErrorData,
    ProviderRequestData,
    ProviderResponseData,
    ProviderRetryData,
)
from amplifier_core.utils.retry import RetryConfig, retry_with_backoff
from amplifier_hooks.agent.loops.compaction import read_messages
from amplifier_hooks.agent.loops.request import RequestBuilder, choose_messages
from amplifier_hooks.agent.loops.turn import Denial, LoopConfig, Turn
from amplifier_hooks.modules.conversation import explain_cut

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
        messages = await read_messages(turn.context, turn.provider)
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
        if not turn.coordinator.reaches_anybody(PROVIDER_RESPONSE):
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
