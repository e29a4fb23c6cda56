"""Asking a person: the protocol, the question, the answer, and the gate that judges it."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from amplifier_core.approval.meaning import read_option
from amplifier_core.errors import ApprovalError, ApprovalTimeout, ApprovalTimeoutError
from amplifier_core.models import DEFAULT_APPROVAL_OPTIONS, Decision
from amplifier_core.utils import describe_error, run_with_timeout, safe_repr

logger = logging.getLogger(__name__)

LONGEST_WAIT = 30 * 24 * 3600.0
"""Seconds; whatever a hook asks for, no question stays open longer."""

How = Literal["person", "cache", "timeout", "error", "nobody", "invalid"]

__all__ = [
    "ApprovalAnswer",
    "ApprovalGate",
    "ApprovalQuestion",
    "ApprovalSystem",
    "ApprovalTimeout",
    "ApprovalTimeoutError",
    "DecidingApprovalSystem",
    "Verdict",
    "allows",
    "find_unclear_options",
    "resolve_options",
]


@runtime_checkable
class ApprovalSystem(Protocol):
    """Puts a question to a person. Raises ApprovalTimeout when nobody decides in time."""

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Decision
    ) -> str: ...


@dataclass(frozen=True, slots=True)
class ApprovalQuestion:
    """Everything a person should see before deciding."""

    prompt: str
    options: tuple[str, ...]
    timeout: float
    default: Decision
    hook: str
    event: str = ""
    reason: str | None = None
    tool_name: str | None = None
    tool_input: dict[str, Any] = field(default_factory=dict)
    digest: str = ""
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """A decision, who made it, and what they want the agent to know or to run instead."""

    option: str
    by: str | None = None
    comment: str | None = None
    edited_input: dict[str, Any] | None = None


@runtime_checkable
class DecidingApprovalSystem(Protocol):
    """An approval system that takes the whole question instead of its prompt alone."""

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer | str: ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a gate ended, with the reason that the record and the agent get."""

    allowed: bool
    how: How
    decision: str | None = None
    by: str | None = None
    comment: str | None = None
    edited_input: dict[str, Any] | None = None
    detail: str = ""

    @property
    def remembered(self) -> bool:
        """Whether the person wants the same answer for the rest of the session."""
        return self.how == "person" and read_option(self.decision or "").remembered


def allows(option: str) -> bool:
    """Whether an option means yes: by its first word, everything else is a no."""
    return read_option(option).allows


def find_unclear_options(options: Sequence[str]) -> list[str]:
    """Options that are neither a yes nor a plain no; they count as a no."""
    meanings = ((one, read_option(one)) for one in options)
    return [one for one, meaning in meanings if not meaning.allows and not meaning.refuses]


def resolve_options(offered: Sequence[str] | None) -> tuple[str, ...]:
    """The choices of a question; a hook that offers none gets the usual two."""
    return tuple(offered) if offered else DEFAULT_APPROVAL_OPTIONS


CacheKey = tuple[int, str | None, str]


class ApprovalGate:
    """Puts questions to the approval system and decides what its answers mean.

    The approval system may raise, hang or talk nonsense: the gate has its own deadline, and
    everything that is not clearly a yes is a no.
    """

    def __init__(self, system: Any = None) -> None:
        self.system = system
        self._cache: dict[CacheKey, tuple[Verdict, Any]] = {}

    def cached(
        self, registration: int, question: ApprovalQuestion, tool: Any = None
    ) -> Verdict | None:
        """What the person said about exactly this hook, tool and prompt, if it was for always."""
        key = (registration, question.tool_name, question.prompt)
        kept, its_tool = self._cache.get(key, (None, None))
        if kept is None or its_tool is not tool:
            return None
        return Verdict(kept.allowed, "cache", kept.decision, kept.by)

    def remember(
        self, registration: int, question: ApprovalQuestion, verdict: Verdict, tool: Any = None
    ) -> bool:
        """Keep an answer that ends in "always"; True if it is one."""
        if verdict.remembered:
            self._cache[registration, question.tool_name, question.prompt] = (verdict, tool)
        return verdict.remembered

    def clear(self) -> int:
        """Forget all of it; returns how many answers that were."""
        forgotten = len(self._cache)
        self._cache.clear()
        return forgotten

    async def ask(self, question: ApprovalQuestion) -> Verdict:
        """Ask, wait no longer than the question allows, and judge."""
        refused = self._refused(question)
        if refused is not None:
            return refused
        seconds, started = min(question.timeout, LONGEST_WAIT), time.monotonic()
        try:
            answer = await run_with_timeout(self._put(question), seconds)
        except Exception as error:  # noqa: BLE001 - the front end may raise anything
            answer = error
        if time.monotonic() - started >= seconds:
            return _by_default(question, "timeout", f"nobody decided within {seconds:g} s")
        return _failed(question, answer) or _judged(question, answer)

    def _refused(self, question: ApprovalQuestion) -> Verdict | None:
        if self.system is None:
            return Verdict(False, "nobody", detail="there is no approval system")
        seconds = question.timeout
        if not isinstance(seconds, int | float) or math.isnan(seconds) or seconds < 0:
            return Verdict(False, "invalid", detail=f"approval_timeout of {seconds!r} seconds")
        return None

    async def _put(self, question: ApprovalQuestion) -> Any:
        if isinstance(self.system, DecidingApprovalSystem):
            return await self.system.decide(question)
        return await self.system.request_approval(
            question.prompt, list(question.options), question.timeout, question.default
        )


def _failed(question: ApprovalQuestion, error: Any) -> Verdict | None:
    if isinstance(error, ApprovalTimeout):
        return _by_default(question, "timeout", str(error) or "nobody decided in time")
    if isinstance(error, Exception):
        logger.error("The approval system failed: %s", describe_error(error), exc_info=error)
        # An approval system's own error is a sentence; any other needs its name.
        said = isinstance(error, ApprovalError) and str(error)
        why = said or f"the approval system failed: {describe_error(error)}"
        return _by_default(question, "error", why)
    return None


def _by_default(question: ApprovalQuestion, how: How, detail: str) -> Verdict:
    return Verdict(question.default == "allow", how, detail=detail)


def _judged(question: ApprovalQuestion, answer: Any) -> Verdict:
    if isinstance(answer, str):
        answer = ApprovalAnswer(answer)
    if not isinstance(answer, ApprovalAnswer) or type(answer.option) is not str:
        return Verdict(False, "invalid", detail=f"an answer of type {type(answer).__name__}")
    if answer.option not in question.options:
        shown = answer.option[:80]
        return Verdict(False, "invalid", detail=f"{shown!r} is not one of {list(question.options)}")
    by, comment, edited = answer.by, answer.comment, answer.edited_input
    if edited is not None and not isinstance(edited, dict):
        # Somebody wanted another input to run; not the one that was shown.
        return Verdict(False, "invalid", detail=f"an edited input of type {type(edited).__name__}")
    return Verdict(
        allows(answer.option), "person", answer.option, _text(by), _text(comment), edited
    )


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else safe_repr(value)
