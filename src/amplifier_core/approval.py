"""Asking a person: the question, what an option means, and the gate with its deadline."""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, Protocol, runtime_checkable

from amplifier_core import only_kernel as only_kernel
from amplifier_core.errors import ApprovalError
from amplifier_core.errors import ApprovalTimeout as ApprovalTimeout
from amplifier_core.errors import ApprovalTimeoutError as ApprovalTimeoutError
from amplifier_core.events import is_unique
from amplifier_core.models import DEFAULT_APPROVAL_OPTIONS, Decision
from amplifier_core.utils import describe_error, run_with_timeout, safe_repr


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
    tool_call_id: str = ""
    agent_id: str = ""
    """Of the sub-agent of another program that wants it; empty for the agent itself."""


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """A decision, who made it, and what they want the agent to know or to run instead."""

    option: str
    by: str | None = None
    comment: str | None = None
    edited_input: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class HandedOver:
    """In the place of an answer: another program puts the question to its own person.

    Nothing is decided by that. With `goes_on`, the operation goes on to that program, which asks
    before it runs anything; else it is denied until the answer has come back.
    """

    to: str
    """The program."""

    goes_on: bool = False


AnyAnswer = ApprovalAnswer | HandedOver | str
"""An answer, an option by itself, or that another program asks."""


@runtime_checkable
class ApprovalSystem(Protocol):
    """Puts a question to a person. Raises ApprovalTimeout when nobody decides in time."""

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Decision
    ) -> str: ...


@runtime_checkable
class DecidingApprovalSystem(Protocol):
    """An approval system that takes the whole question instead of its prompt alone."""

    async def decide(self, question: ApprovalQuestion) -> AnyAnswer: ...


@runtime_checkable
class RecallingApprovalSystem(Protocol):
    """An approval system that may know that exactly this was allowed before: nobody is asked."""

    def recall(self, question: ApprovalQuestion) -> ApprovalAnswer | None: ...


AnyApprovalSystem = ApprovalSystem | DecidingApprovalSystem


ALLOWING = frozenset(
    {"allow", "yes", "approve", "accept", "ok", "proceed", "continue", "run", "confirm"}
)
REFUSING = frozenset(
    {"deny", "no", "reject", "refuse", "decline", "block", "cancel", "stop", "abort", "never"}
)


_USUAL = frozenset({"Allow", "Allow once", "Allow always"})


@dataclass(frozen=True, slots=True)
class OptionMeaning:
    """What happens when a person chooses an option."""

    allows: bool
    """Everything that does not clearly allow is a no."""
    refuses: bool
    """Whether it is a plain no, and not something unclear that counts as one."""
    remembered: bool
    """Whether the same question gets the same answer for the rest of the session."""
    scoped: bool = False
    """Whether its words say for what: the prompt is the scope, and not the exact input."""


def read_option(option: str) -> OptionMeaning:
    """What an option means: its first word allows or refuses, a last word "always" remembers.

    "Always for …" remembers as well, for what the words say.
    """
    words = re.findall(r"[^\W_]+", option.lower())
    first = words[:1]
    scoped = ("always", "for") in pairwise(words[:-1])
    return OptionMeaning(
        allows=not ALLOWING.isdisjoint(first),
        refuses=not REFUSING.isdisjoint(first),
        remembered=scoped or words[-1:] == ["always"],
        scoped=scoped,
    )


def allows(option: str) -> bool:
    """Whether an option means yes."""
    return read_option(option).allows


def allows_unoffered(answer: str, offered: Sequence[str]) -> bool:
    """Whether an answer that was not offered is a yes all the same, for this once.

    Front ends that keep their own "always" answer so, in words of their own.
    """
    return answer in _USUAL and any(allows(option) for option in offered)


def find_unclear_options(options: Sequence[str]) -> list[str]:
    """Options that are neither a yes nor a plain no; they count as a no."""
    meanings = ((option, read_option(option)) for option in options)
    return [option for option, meaning in meanings if not (meaning.allows or meaning.refuses)]


def resolve_options(offered: Sequence[str] | None) -> tuple[str, ...]:
    """The options of a question; a hook that offers none gets the usual two."""
    if offered:
        return tuple(offered)
    return DEFAULT_APPROVAL_OPTIONS


logger = logging.getLogger(__name__)

# Seconds; whatever a hook asks for, no question stays open longer.
LONGEST_WAIT = 30 * 24 * 3600.0

How = Literal["person", "rule", "cache", "timeout", "error", "nobody", "invalid", "handed_over"]


@dataclass(frozen=True, slots=True)
class GateDecision:
    """How a gate ended, with the reason that the record and the agent get."""

    allowed: bool
    how: How
    decision: str | None = None
    by: str | None = None
    comment: str | None = None
    edited_input: dict[str, Any] | None = None
    detail: str = ""
    handed_to: str = ""
    """The program that asks its own person; `allowed` says then whether the operation goes on."""

    @property
    def remembered(self) -> bool:
        """Whether a person wants the same answer for the rest of the session."""
        return self.how == "person" and read_option(self.decision or "").remembered


# Registration, tool, prompt, and the digest of the operation; none for a scope in words.
CacheKey = tuple[int, str | None, str, str]


class ApprovalGate:
    """Puts questions to the approval system and decides what its answers mean.

    The approval system may raise, hang or talk nonsense: the gate has its own deadline, the only
    one there is, and everything that is not clearly a yes is a no. `limit` is the longest that a
    session lets any question wait, in seconds.
    """

    def __init__(self, system: AnyApprovalSystem | None = None, limit: float | None = None) -> None:
        self.system = system
        self.limit = LONGEST_WAIT if limit is None else min(limit, LONGEST_WAIT)
        self._remembered: dict[CacheKey, tuple[GateDecision, Any]] = {}

    def recall(
        self, registration: int, question: ApprovalQuestion, tool: Any = None
    ) -> GateDecision | None:
        """What the person said for always about exactly this, or for a scope that it is in."""
        keys = (_build_key(registration, question, scoped) for scoped in (False, True))
        found = [self._remembered[key] for key in keys if key in self._remembered]
        said = [decision for decision, its_tool in found if its_tool is tool]
        if not said:
            return self._recall_elsewhere(question)
        kept = min(said, key=lambda one: one.allowed)  # a no is stronger
        return GateDecision(kept.allowed, "cache", kept.decision, kept.by)

    def _recall_elsewhere(self, question: ApprovalQuestion) -> GateDecision | None:
        """What the approval system knows of an earlier answer; it names a rule as its author."""
        if not isinstance(self.system, RecallingApprovalSystem):
            return None
        answer = self.system.recall(question)
        if answer is None or not read_option(answer.option).allows:
            return None
        return GateDecision(True, "cache", answer.option, answer.by)

    def remember(
        self, registration: int, question: ApprovalQuestion, decision: GateDecision, tool: Any
    ) -> bool:
        """Keep a decision that is for always; True if it is one."""
        if decision.remembered:
            scoped = read_option(decision.decision or "").scoped
            self._remembered[_build_key(registration, question, scoped)] = (decision, tool)
        return decision.remembered

    def forget(self) -> int:
        """Forget all decisions; returns how many there were."""
        forgotten = len(self._remembered)
        self._remembered.clear()
        return forgotten

    async def ask(self, question: ApprovalQuestion) -> GateDecision:
        """Ask, wait no longer than the question and the session allow, and judge the answer."""
        refused = self._refuse(question)
        if refused is not None:
            return refused
        seconds = min(question.timeout, self.limit)
        started = time.monotonic()
        if seconds < question.timeout:
            question = replace(question, timeout=seconds)
        try:
            answer = await run_with_timeout(self._ask(question), seconds)
        except Exception as error:  # noqa: BLE001 - the front end may raise anything
            answer = error
        # By the clock, whatever came back: an answer after the deadline is no answer.
        if time.monotonic() - started >= seconds:
            return _apply_default(question, "timeout", f"nobody decided within {seconds:g} s")
        if isinstance(answer, Exception):
            return _judge_failure(question, answer)
        return _judge_answer(question, answer)

    def _refuse(self, question: ApprovalQuestion) -> GateDecision | None:
        if self.system is None:
            return GateDecision(False, "nobody", detail="No approval system")
        seconds = question.timeout
        if not isinstance(seconds, int | float) or math.isnan(seconds) or seconds < 0:
            return GateDecision(False, "invalid", detail=f"approval_timeout of {seconds!r} seconds")
        return None

    async def _ask(self, question: ApprovalQuestion) -> Any:
        system: Any = self.system
        if isinstance(system, DecidingApprovalSystem):
            return await system.decide(question)
        return await system.request_approval(
            question.prompt, list(question.options), question.timeout, question.default
        )


def _build_key(registration: int, question: ApprovalQuestion, scoped: bool) -> CacheKey:
    about = "" if scoped or is_unique(question.event) else question.digest
    return registration, question.tool_name, question.prompt, about


def _judge_failure(question: ApprovalQuestion, error: Exception) -> GateDecision:
    if isinstance(error, ApprovalTimeout):
        return _apply_default(question, "timeout", str(error) or "nobody decided in time")
    # An approval system's own error is a sentence about what happens, such as that there is no
    # terminal; any other needs its name, and the place where it was raised.
    if isinstance(error, ApprovalError) and str(error):
        logger.warning("Nobody decided about %s: %s", question.tool_name or question.event, error)
        return _apply_default(question, "error", str(error))
    logger.error("The approval system failed: %s", describe_error(error), exc_info=error)
    detail = f"the approval system failed: {describe_error(error)}"
    return _apply_default(question, "error", detail)


def _apply_default(question: ApprovalQuestion, how: How, detail: str) -> GateDecision:
    return GateDecision(question.default == "allow", how, detail=detail)


def _judge_answer(question: ApprovalQuestion, answer: Any) -> GateDecision:
    if isinstance(answer, HandedOver):
        to = _read_text(answer.to) or "another program"
        detail = f"handed over to {to}, which has not answered yet"
        return GateDecision(answer.goes_on is True, "handed_over", detail=detail, handed_to=to)
    if isinstance(answer, str):
        answer = ApprovalAnswer(answer)
    if not isinstance(answer, ApprovalAnswer) or type(answer.option) is not str:
        return _refuse_answer(f"an answer of type {type(answer).__name__}")
    offered = answer.option in question.options
    if not offered and not allows_unoffered(answer.option, question.options):
        shown = answer.option[:80]
        return _refuse_answer(f"{shown!r} is not one of {', '.join(question.options)}")
    edited = answer.edited_input
    if edited is not None and not isinstance(edited, dict):
        # The person wanted another input to run; not the one that was shown.
        return _refuse_answer(f"an edited input of type {type(edited).__name__}")
    by = _read_text(answer.by)
    return GateDecision(
        read_option(answer.option).allows,
        "rule" if by and by.startswith("rule:") else "person",
        answer.option if offered else "Allow once",
        by,
        _read_text(answer.comment),
        edited,
    )


def _refuse_answer(detail: str) -> GateDecision:
    return GateDecision(False, "invalid", detail=detail)


def _read_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return safe_repr(value)
