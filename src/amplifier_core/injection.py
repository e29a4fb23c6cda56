"""Text of hooks on its way into the conversation: what it may cost, its form, and its place."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from amplifier_core.dispatch import Answer
from amplifier_core.errors import InjectionError, InjectionTooLarge
from amplifier_core.hook_counts import HookCounts
from amplifier_core.models import HookResult, Role
from amplifier_core.mount_plan import InjectionLimits
from amplifier_core.precedence import list_injections
from amplifier_core.records import (
    ErrorNoted,
    InjectionAccepted,
    InjectionDropped,
    InjectionUnused,
)
from amplifier_core.trail import Trail
from amplifier_core.utils import PATIENCE, describe_error, resolve, timestamp
from amplifier_core.utils.conversation import add_message, arrange_messages, list_open_ids
from amplifier_core.utils.text import estimate_tokens


@dataclass(frozen=True, slots=True)
class Injection:
    """What a hook adds to the conversation, and how."""

    hook: str
    event: str
    text: str
    role: Role = "system"
    ephemeral: bool = False
    append_to_last_tool_result: bool = False
    user_message: str | None = None  # what the person reads if it cannot be injected
    counts: HookCounts | None = field(default=None, repr=False, compare=False)
    """The figures of that hook."""

    @property
    def size(self) -> int:
        return len(self.text.encode("utf-8", "surrogatepass"))


logger = logging.getLogger(__name__)


class InjectionBudget:
    """The tokens that hooks injected in the running turn."""

    def __init__(self, limits: InjectionLimits, count: Callable[[str], int] | None = None) -> None:
        self.limits = limits
        self.used = 0
        self.count = count or estimate_tokens

    def count_tokens(self, text: str) -> int:
        """What a text costs; a counter that fails or talks nonsense is not asked again."""
        try:
            found: Any = self.count(text)
        except Exception as error:  # noqa: BLE001 - a provider's code
            found = error
        if type(found) is int and found >= 0:
            return found
        logger.error("A token count of %r; from now on four characters are one", found)
        self.count = estimate_tokens
        return estimate_tokens(text)

    def check_size(self, injection: Injection) -> None:
        """Raise when one injection is over the size limit."""
        limit = self.limits.size
        if limit is not None and injection.size > limit:
            raise InjectionTooLarge(
                f"Context injection of hook '{injection.hook}' exceeds {limit} bytes: "
                f"it has {injection.size}"
            )

    def spend(self, tokens: int) -> bool:
        """Count tokens; False, and nothing counted, if they do not fit and must be dropped."""
        limit = self.limits.budget
        fits = limit is None or self.used + tokens <= limit
        if not fits and self.limits.over_budget == "drop":
            return False
        self.used += tokens
        return True

    def is_exceeded(self) -> bool:
        """Whether the soft limit has been passed."""
        return self.limits.budget is not None and self.used > self.limits.budget


_UNSEEN = frozenset(("Cc", "Cf", "Me", "Mn"))
_BLANK = dict.fromkeys((0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0), " ")
_LOOKALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0441\u0443\u043a\u043c\u0442\u04bb\u0455\u0501\u03bf\u03ba"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0421\u0422\u0423\u0405"
    "\u0391\u0392\u0395\u0397\u039a\u039c\u039f\u03a4\u03a5\u03dc",
    "aeocykmthsdokABEKMHOCTYSABEHKMOTYF",
)
"""Cyrillic and Greek letters that look like Latin ones."""


def normalize_lookalikes(line: str) -> str:
    """The line with lookalikes as the letters they look like, and without what cannot be seen."""
    if line.isascii() and line.isprintable():
        return line
    plain = unicodedata.normalize("NFKC", line.translate(_BLANK)).translate(_LOOKALIKE)
    return "".join(
        one for one in plain if one.isspace() or unicodedata.category(one) not in _UNSEEN
    )


_HEADING = "Hook feedback:"
_LINE_ENDS = re.compile("([\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029])")
_FRAME = re.compile(
    r"[\W_]*(hook[\W_]*feedback[\W_]*:|from\b.*\(\s*\d+\s*bytes?\s*\)\s*:)", re.IGNORECASE
)
_CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]+")


def indent_forged_frames(text: str) -> str:
    """The text with lines that look like the frame of a hook's feedback indented."""
    pieces = _LINE_ENDS.split(text)
    return "".join(f"    {piece}" if _looks_like_frame(piece) else piece for piece in pieces)


def _looks_like_frame(line: str) -> bool:
    return _FRAME.match(normalize_lookalikes(line)) is not None


def build_messages(injections: Iterable[Injection]) -> list[dict[str, Any]]:
    """One message per role: a hook alone speaks plainly, several are framed with their names."""
    by_role: dict[str, list[Injection]] = {}
    for injection in injections:
        by_role.setdefault(injection.role, []).append(injection)
    return [_build_message(role, group) for role, group in by_role.items()]


def _build_message(role: str, group: list[Injection]) -> dict[str, Any]:
    names = [injection.hook for injection in group]
    return {
        "role": role,
        "content": indent_forged_frames(group[0].text) if len(group) == 1 else _frame_all(group),
        "metadata": {
            "source": "hook",
            "hook_name": ", ".join(names),
            "hooks": names,
            "event": group[0].event,
            "timestamp": timestamp(),
            **({"ephemeral": True} if group[0].ephemeral else {}),
        },
    }


def _frame_all(group: Iterable[Injection]) -> str:
    frames = (
        f"From {_CONTROL.sub(' ', one.hook)} ({one.size} bytes):\n{indent_forged_frames(one.text)}"
        for one in group
    )
    return "\n\n".join([_HEADING, *frames])


def add_ephemeral(
    history: list[dict[str, Any]], injections: Iterable[Injection]
) -> list[dict[str, Any]]:
    """The messages of one request: the history, which stays as it is, and what is for now only."""
    result = list(history)
    behind = []
    for injection in injections:
        last = result[-1] if result else {}
        if injection.append_to_last_tool_result and last.get("role") == "tool":
            result[-1] = {**last, "content": _append_text(last.get("content"), injection)}
        else:
            behind.append(injection)
    result += [message for one in behind for message in build_messages([one])]
    return result


def _append_text(content: Any, injection: Injection) -> Any:
    text = indent_forged_frames(injection.text)
    if isinstance(content, list):
        return [*content, {"type": "text", "text": text}]
    return f"{content or ''}\n\n{text}"


# Ephemeral injections that are kept for review.
REVIEWED = 200

UNFETCHED = (
    "it is for the next request only, and the loop took it for none; build requests with "
    "open_request(), or add what take_ephemeral() returns"
)
UNPLACED = "the conversation ends with a tool call that has no result"
UNSENT = "no request to the model came after it"

# The name of the hook where a loop hands over a result without one.
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Drop:
    """An injection that did not get into the conversation."""

    injection: Injection
    why: str
    failed: bool = False
    """Whether the context refused it; else it was over a limit."""


Report = Callable[[list[Drop]], Awaitable[None]]


class ToolCalls:
    """Those under way: `async with` them, what hooks inject waits for the results at the end."""

    def __init__(
        self,
        store: Callable[[list[Injection]], Awaitable[list[Drop]]],
        report: Report,
        awaits_results: Callable[[], Awaitable[bool]],
    ) -> None:
        self._store = store
        self._report = report
        self._awaits_results = awaits_results
        self.under_way = 0
        self.parked: list[list[Injection]] = []

    def begin(self) -> None:
        """Nothing may stand between a call and its result from now on."""
        self.under_way += 1

    def end(self) -> bool:
        """The results are in the history; True if what was parked has to go behind them."""
        self.under_way -= 1
        return bool(self.parked) and not self.under_way

    async def place_parked(self) -> None:
        """Put what was parked into the conversation, and report what that did not take.

        It stays where it is while results are missing: a loop that runs tools adds them later.
        """
        if not self.parked or self.under_way or await self._awaits_results():
            return
        parked = self.parked
        self.parked = []
        if dropped := [drop for group in parked for drop in await self._store(group)]:
            await self._report(dropped)

    async def __aenter__(self) -> None:
        self.begin()

    async def __aexit__(self, *_: object) -> None:
        if self.end():
            await self.place_parked()


class Injector:
    """Keeps the budget, the parked and the ephemeral injections of one session."""

    def __init__(
        self, points: Mapping[str, Any], budget: InjectionBudget, trail: Trail, report: Report
    ) -> None:
        self._points = points
        self.budget = budget
        self._trail = trail
        self.calls = ToolCalls(self._store, report, self.awaits_results)
        self._complained = False
        self.ephemeral: list[Injection] = []
        """What the next request gets besides the conversation."""
        # How many of these have waited since the last turn.
        self._old = 0
        self.is_fetched = False
        """Whether the loop takes them at all."""
        self.reviewed: deque[dict[str, Any]] = deque(maxlen=REVIEWED)
        """The last ephemeral injections, which no conversation keeps."""

    async def place(
        self, wanted: Iterable[Injection], keep_ephemeral: bool = True
    ) -> tuple[list[Injection], list[Drop]]:
        """Inject what one event brought; returns what was accepted and what was dropped.

        Ephemeral ones wait for the next request, unless the caller sees to them.
        """
        accepted: list[Injection] = []
        dropped: list[Drop] = []
        for one in wanted:
            scrubbed = replace(one, text=self._trail.scrub(one.text))
            tokens = self.budget.count_tokens(scrubbed.text)
            why = self._refuse(scrubbed, tokens)
            self._record(scrubbed, tokens, why)
            if why is None:
                accepted.append(scrubbed)
            else:
                dropped.append(Drop(scrubbed, why))
        failed = await self._keep(accepted, keep_ephemeral)
        gone = {id(drop.injection) for drop in failed}
        return [one for one in accepted if id(one) not in gone], dropped + failed

    def _refuse(self, injection: Injection, tokens: int) -> str | None:
        """Why an injection is dropped, or None once its tokens are counted."""
        try:
            self.budget.check_size(injection)
        except InjectionTooLarge as error:
            return str(error)
        if self.budget.spend(tokens):
            if self.budget.is_exceeded():
                logger.warning("Hooks have injected %d tokens this turn", self.budget.used)
            return None
        return (
            f"Context injection of hook '{injection.hook}' is over the turn's budget: {tokens} "
            f"tokens wanted, {self.budget.used} of {self.budget.limits.budget} used"
        )

    def _record(self, one: Injection, tokens: int, why: str | None) -> None:
        if why is not None:
            logger.warning("%s; dropped", why)
        elif one.counts is not None:
            one.counts.injected_tokens += tokens
        kind = InjectionDropped if why else InjectionAccepted
        body = kind(
            role=one.role,
            bytes=one.size,
            tokens=tokens,
            ephemeral=one.ephemeral,
            text=one.text,
            why=why,
        )
        self._trail.write(body, event=one.event, hook=one.hook)

    async def _keep(self, accepted: list[Injection], keep_ephemeral: bool) -> list[Drop]:
        lasting = [one for one in accepted if not one.ephemeral]
        passing = [one for one in accepted if one.ephemeral]
        self.ephemeral += passing if keep_ephemeral else ()
        for one in passing:
            self.reviewed.extend(build_messages([one]))
        # Models refuse a message between a tool call and its result.
        if lasting and (self.calls.under_way or await self.awaits_results()):
            self.calls.parked.append(lasting)
            return []
        if lasting:
            await self.calls.place_parked()  # it came before
        return await self._store(lasting)

    async def awaits_results(self) -> bool:
        """Whether the conversation ends with calls that have no results yet.

        A context that puts results in their place itself is not asked, and one that cannot say
        what it holds is complained of, once.
        """
        context = self._points["context"]
        if context is None or getattr(context, "keeps_results_with_calls", False) is True:
            return False
        if not hasattr(context, "get_messages"):
            if not self._complained:
                self._complained = True
                logger.warning(
                    "%s has no get_messages(), so nobody can say whether a text that a hook adds "
                    "to it would stand between a tool call and its result",
                    type(context).__name__,
                )
            return False
        return bool(list_open_ids(await self.read_history()))

    async def _store(self, lasting: list[Injection]) -> list[Drop]:
        if not lasting:
            return []
        try:
            context = self._require_context()
            for message in build_messages(lasting):
                await add_message(context, message)
        except Exception as error:
            logger.exception("Context injection failed")
            why = f"Context injection failed: {describe_error(error)}"
            for one in lasting:
                body = ErrorNoted(why=why, text=one.text)
                self._trail.write(body, event=one.event, hook=one.hook)
            return [Drop(one, why, failed=True) for one in lasting]
        return []

    def _require_context(self) -> Any:
        if self._points["context"] is None:
            raise InjectionError("there is no context to inject into")
        return self._points["context"]

    async def read_history(self) -> list[dict[str, Any]]:
        """The messages of the context, or none if it cannot say."""
        context = self._points["context"]
        if context is None:
            return []
        try:
            found = context.get_messages()
            if not isinstance(found, list):
                found = list(await resolve(found, PATIENCE))
        except Exception as error:
            logger.exception("The context could not say what it holds")
            self._trail.write(ErrorNoted(what="context", error=describe_error(error)))
            return []
        return list(found)  # a plain one: a subclass would cost the slow copy in every dispatch

    async def complete_history(self, given: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What was given, with what waited for results; without any, the conversation, in order."""
        kept = list(given)
        stored = len(await self.read_history())
        await self.calls.place_parked()
        history = await self.read_history()
        if kept:
            return [*kept, *history[stored:]]
        return arrange_messages(history)

    def use_ephemeral(self, history: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The history with the ephemeral injections, which are used up by this."""
        self.is_fetched = True
        if not self.ephemeral:
            return history
        waiting = self.ephemeral
        self.ephemeral = []
        self._old = 0
        return add_ephemeral(history, waiting)

    def drop_old(self) -> list[Drop]:
        """A turn begins: what waited all through the last one is for no request any more."""
        lost = self.ephemeral[: self._old]
        self.ephemeral = self.ephemeral[self._old :]
        self._old = len(self.ephemeral)
        return self._record_unused(lost, UNFETCHED)

    async def close(self) -> list[Drop]:
        """Drop what still waits, because the session is over; returns what should be reported."""
        self.calls.under_way = 0
        await self.calls.place_parked()
        parked = [one for group in self.calls.parked for one in group]
        passing = self.ephemeral
        self.calls.parked = []
        self.ephemeral = []
        dropped = self._record_unused(parked, UNPLACED)
        return dropped + self._record_unused(passing, UNSENT if self.is_fetched else UNFETCHED)

    def _record_unused(self, unused: list[Injection], why: str) -> list[Drop]:
        # An agent that was done made no request any more: nothing is wrong then.
        fault = why is not UNSENT
        for one in unused:
            body = InjectionUnused(
                role=one.role,
                bytes=one.size,
                tokens=self.budget.count_tokens(one.text),
                ephemeral=one.ephemeral,
                text=one.text,
                why=why,
                fault=fault,
            )
            self._trail.write(body, event=one.event, hook=one.hook)
        lost = unused if fault else []
        return [Drop(one, f"A text of hook '{one.hook}' was lost: {why}") for one in lost]


def read_injections(result: HookResult, hook: str, event: str) -> list[Injection]:
    """What one answer wants injected."""
    return [
        Injection(
            # Under its own name, whatever it says of itself; a caller may not know it.
            hook=hook if hook != UNKNOWN else one.hook_name or hook,
            event=event or one.event or "",
            text=one.content,
            role=one.role,
            ephemeral=one.ephemeral,
            append_to_last_tool_result=one.append_to_last_tool_result,
            user_message=result.user_message,
        )
        for one in list_injections(result)
    ]


def gather_injections(event: str, answers: Iterable[Answer]) -> list[Injection]:
    """What the answers to one event want injected, in order."""
    return [
        replace(injection, counts=answer.handler.counts)
        for answer in answers
        if answer.result.action == "inject_context"
        for injection in read_injections(answer.result, answer.hook, event)
    ]
