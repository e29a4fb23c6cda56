"""Brings injections into the conversation: at once, behind a tool's result, or for one request."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable
from functools import lru_cache
from types import CoroutineType
from typing import Any

from amplifier_core.errors import InjectionError, InjectionTooLarge
from amplifier_core.injection.limits import Injection, InjectionBudget, messages, with_ephemeral
from amplifier_core.trail import Trail
from amplifier_core.utils import DONE, describe_error, run_with_timeout

logger = logging.getLogger(__name__)

PATIENCE = 10.0
"""Seconds that a context may take for one message."""


class Injector:
    """Keeps the budget, the parked and the ephemeral injections of one session."""

    def __init__(self, context: Callable[[], Any], budget: InjectionBudget, trail: Trail) -> None:
        self._context = context
        self.budget = budget
        self._trail = trail
        self._calls_under_way = 0
        self._parked: list[list[Injection]] = []
        self._ephemeral: list[Injection] = []

    def refusal(self, injection: Injection, tokens: int) -> str | None:
        """Why an injection is dropped, or None once its tokens are counted."""
        try:
            self.budget.check_size(injection)
        except InjectionTooLarge as error:
            return str(error)
        if self.budget.spend(tokens):
            if self.budget.exceeded():
                logger.warning("Hooks have injected %d tokens this turn", self.budget.used)
            return None
        return (
            f"Context injection of hook '{injection.hook}' is over the turn's budget: {tokens} "
            f"tokens wanted, {self.budget.used} of {self.budget.limits.budget} used"
        )

    async def place(self, wanted: Iterable[Injection]) -> list[tuple[Injection, str]]:
        """Inject what one event brought; returns what did not go in, and why."""
        dropped, lasting = [], []
        for one in wanted:
            tokens = self.budget.tokens(one.text)
            why = self.refusal(one, tokens)
            self._note(one, tokens, why)
            if why is not None:
                dropped.append((one, why))
            elif one.ephemeral:
                self._ephemeral.append(one)
            else:
                lasting.append(one)
        if self._calls_under_way and lasting:
            self._parked.append(lasting)
            return dropped
        return dropped + await self._store(lasting)

    def _note(self, one: Injection, tokens: int, why: str | None) -> None:
        if why is not None:
            logger.warning("%s; dropped", why)
        body = {
            "role": one.role,
            "bytes": one.size,
            "tokens": tokens,
            "ephemeral": one.ephemeral,
            "text": one.text,
            **({"why": why} if why else {}),
        }
        kind = "injection_dropped" if why else "injection_accepted"
        self._trail.write(kind, body, event=one.event, hook=one.hook)

    async def _store(self, lasting: list[Injection]) -> list[tuple[Injection, str]]:
        if not lasting:
            return []
        try:
            await self._add(messages(lasting))
        except Exception as error:
            logger.exception("Context injection failed")
            why = f"Context injection failed: {describe_error(error)}"
            for one in lasting:
                body = {"why": why, "text": one.text}
                self._trail.write("error", body, event=one.event, hook=one.hook)
            return [(one, why) for one in lasting]
        return []

    async def _add(self, found: list[dict[str, Any]]) -> None:
        context = self._context()
        if context is None:
            raise InjectionError("there is no context to inject into")
        for message in found:
            await add_message(context, message)

    def begin_calls(self) -> None:
        """Tool calls are under way: nothing may stand between them and their results."""
        self._calls_under_way += 1

    async def end_calls(self) -> list[tuple[Injection, str]]:
        """Their results are in the history; what was parked goes behind them."""
        self._calls_under_way -= 1
        if self._calls_under_way or not self._parked:
            return []
        parked, self._parked = self._parked, []
        return [drop for group in parked for drop in await self._store(group)]

    async def history(self) -> list[dict[str, Any]]:
        """The messages of the context, or none if it cannot say."""
        context = self._context()
        if context is None:
            return []
        try:
            found = context.get_messages()
            if not isinstance(found, list):
                found = list(await run_with_timeout(found, PATIENCE) if _waits(found) else found)
        except Exception as error:
            logger.exception("The context could not say what it holds")
            self._trail.write("error", {"what": "context", "error": describe_error(error)})
            return []
        return list(found)  # a plain one: a subclass would cost the slow copy in every dispatch

    def for_one_request(self, history: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The history with the ephemeral injections, which are used up by this."""
        if not self._ephemeral:
            return history
        waiting, self._ephemeral = self._ephemeral, []
        return with_ephemeral(history, waiting)

    def forget(self) -> None:
        """The session is over: nobody will ask for what still waits."""
        self._parked.clear()
        self._ephemeral.clear()


async def add_message(context: Any, message: dict[str, Any]) -> None:
    """Add a message to a context of either form: one dict, or role, content and metadata."""
    add = context.add_message
    known = _parameters(getattr(add, "__func__", add))
    if known is None or "message" in known or not {"role", "content"} & known:
        outcome = add(message)
    else:
        extra = {
            key: value
            for key, value in message.items()
            if key not in ("role", "content") and ("**" in known or key in known)
        }
        outcome = add(message["role"], message["content"], **extra)
    if outcome is not None and outcome is not DONE and _waits(outcome):
        await run_with_timeout(outcome, PATIENCE)


def _waits(outcome: Any) -> bool:
    return type(outcome) is CoroutineType or inspect.isawaitable(outcome)


@lru_cache(maxsize=256)
def _parameters(add: Any) -> frozenset[str] | None:
    """The names of the parameters, `**` for any; None if it keeps them to itself."""
    try:
        found = inspect.signature(add).parameters.values()
    except (TypeError, ValueError):
        return None
    names = {one.name for one in found}
    return frozenset(names | {"**" for one in found if one.kind is one.VAR_KEYWORD})
