"""context-simple: keep the conversation in memory, within a token budget.

Emits       decision:context_resolution, context:pre_compact, context:post_compact
Configure   max_tokens: when to compact (null: never); compact_threshold: from which share of it
            on; target: the share to keep;
            keep_last: messages at the end that always stay
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import (
    CONTEXT_POST_COMPACT,
    CONTEXT_PRE_COMPACT,
    DECISION_CONTEXT_RESOLUTION,
)
from amplifier_core.interfaces import Cleanup
from amplifier_core.payloads import (
    ContextPostCompactData,
    ContextPreCompactData,
    DecisionContextResolutionData,
)
from amplifier_core.utils import DONE, Done, timestamp
from amplifier_core.utils.conversation import (
    arrange_messages,
    list_calls,
    list_open_ids,
    list_results,
)
from amplifier_core.utils.copying import detach
from amplifier_core.utils.text import estimate_tokens
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.recommendations import choose_name

Message = dict[str, Any]


class MessageList(list[Message]):
    """The conversation. Callers may use it directly or await it: existing loops do either."""

    def __await__(self) -> Generator[Any, None, MessageList]:
        return self
        yield  # a generator that returns at once


Measure = Callable[[Message], int]
Strategy = Callable[[Sequence[Message], int, int, Measure], list[Message]]

DROP_OLDEST = "drop-oldest"
LEFT_OUT = "[This result was left out to fit the context; call the tool again if you need it.]"


def drop_oldest(
    messages: Sequence[Message], target: int, keep_last: int, measure: Measure
) -> list[Message]:
    """The newest groups that fit into so many tokens, and what must stay."""
    groups = group_messages(messages)
    task = _find_current_task(groups)
    newest_first: list[list[Message]] = []
    total = count = dropped = 0
    for index, group in reversed(list(enumerate(groups))):
        # What comes before something that did not fit is left out, whatever its size.
        size = 0 if dropped else sum(map(measure, group))
        fits = not dropped and total + size <= target
        if count < keep_last or fits or index == task or _is_instruction(group, index):
            newest_first.append(group)
            total += size
            count += len(group)
        else:
            dropped += len(group)
    return list(chain.from_iterable(_add_note(newest_first[::-1], dropped)))


def shorten_results(
    messages: Sequence[Message], target: int, keep_last: int, measure: Measure
) -> list[Message]:
    """The conversation without what old tool calls returned, and no more of it than fits."""
    kept = list(messages)
    total = sum(map(measure, kept))
    for place, message in enumerate(kept[:-keep_last]):
        if total <= target:
            return kept
        short = {**message, "content": LEFT_OUT}
        if message["role"] == "tool" and measure(short) < measure(message):
            total += measure(short) - measure(message)
            kept[place] = short
    return kept if total <= target else drop_oldest(kept, target, keep_last, measure)


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {DROP_OLDEST: drop_oldest, "shorten-results": shorten_results}
)


def group_messages(messages: Sequence[Message]) -> list[list[Message]]:
    """The messages in groups that must stay together: a tool call and all its results are one."""
    groups: list[list[Message]] = []
    open_calls: set[str] = set()
    for message in messages:
        calls = {call["id"] for call in message.get("tool_calls") or () if call.get("id")}
        if groups and (message["role"] == "tool" or open_calls):
            groups[-1].append(message)
        else:
            groups.append([message])
        open_calls = (open_calls | calls) - {str(message.get("tool_call_id"))}
    return groups


def _is_instruction(group: list[Message], index: int) -> bool:
    first = group[0]
    return index == 0 and first["role"] == "system" and not first["metadata"].get("source")


def _find_current_task(groups: list[list[Message]]) -> int:
    """The group with a person's last prompt; without it the agent forgets what it is doing."""
    prompts = (
        index
        for index, group in reversed(list(enumerate(groups)))
        if group[0]["role"] == "user" and group[0]["metadata"].get("source") != "hook"
    )
    return next(prompts, -1)


def _add_note(kept: list[list[Message]], dropped: int) -> list[list[Message]]:
    if not dropped:
        return kept
    note = {
        "role": "system",
        "content": f"{dropped} earlier messages were left out to fit the context.",
        "metadata": {"source": "context"},
        "timestamp": timestamp(),
    }
    place = 1 if kept and _is_instruction(kept[0], 0) else 0
    return [*kept[:place], [note], *kept[place:]]


logger = logging.getLogger(__name__)

Trigger = Literal["auto", "manual"]

_PICTURE = 1_600
"""Tokens of a picture, about: models do not read its base64."""

_AROUND = 4
"""Tokens of what surrounds the text of a message."""


class SimpleContextConfig(BaseModel):
    """Options of context-simple."""

    model_config = ConfigDict(extra="forbid")

    max_tokens: int | None = Field(default=150_000, gt=0)
    compact_threshold: float = Field(default=1.0, gt=0, le=1)
    target: float = Field(default=0.5, gt=0, lt=1)
    keep_last: int = Field(default=6, ge=1)


class SimpleContext:
    """Holds messages, in an order that models accept, and keeps them within the budget.

    What hooks add while tools run stands behind the results, and a call that nobody waits for any
    more has a result that says so. Only calls that still run have none; a request has one for them.
    """

    keeps_results_with_calls = True

    def __init__(
        self,
        config: SimpleContextConfig | None = None,
        coordinator: SessionCoordinator | None = None,
    ) -> None:
        self.config = config or SimpleContextConfig()
        self._messages = MessageList()
        self._open: set[str] = set()
        """Calls that may still run: nothing but their results and texts of hooks is behind them."""
        self._is_in_order = True
        self._is_shared = self._has_strays = False
        self._count: Callable[[str], int] = estimate_tokens
        self._size: int | None = 0
        self._coordinator = coordinator
        self._compacting = asyncio.Lock()

    @property
    def messages(self) -> MessageList:
        """The very list; whoever holds it may change it."""
        self._is_shared = True
        self._is_in_order = False
        return self._messages

    @messages.setter
    def messages(self, messages: Iterable[Message]) -> None:
        self._messages = MessageList(messages)
        self._size = None
        self._is_shared = self._is_in_order = False

    def add_message(
        self,
        message: str | Message | None = None,
        content: Any = None,
        metadata: dict[str, Any] | None = None,
        *,
        role: str | None = None,
        **more: Any,
    ) -> Done:
        """Add one message, given as one dict or as role, content and metadata."""
        if type(message) is dict and role is None:
            given = message
        else:
            given = _read_parts(message, role, {"content": content, **more})
        said: Any = given.get("content")
        is_text = type(said) is str
        if not is_text or type(given.get("role")) is not str:
            given = _take_unusual(given)
        kept = {"timestamp": timestamp(), **given, "metadata": {}}
        if origin := given.get("metadata") or metadata:
            kept["metadata"] = {**origin}
            if origin.get("source") == "hook":
                logger.debug("Message from hook %s", origin.get("hook_name"))
        self._messages.append(kept)
        if (size := self._size) is not None:
            if is_text and "tool_calls" not in given:
                self._size = size + self._count(said) + _AROUND
            else:
                self._size = size + self._measure(given)
        if self._open or not is_text or given["role"] == "tool" or "tool_calls" in given:
            self._note_order(kept)
        return DONE

    def _note_order(self, message: Message) -> None:
        """Follow which calls are open; whatever is unusual is put in order when it is asked for."""
        results = list_results(message)
        if results and self._open.issuperset(results):
            self._open.difference_update(results)
        elif self._open or message["role"] == "tool":
            self._is_in_order = False
        else:
            self._open.update(list_calls(message))

    def _keep_order(self) -> None:
        """Put results behind their calls, and give one to each call that nobody waits for."""
        messages = self._messages
        open_calls = list_open_ids(messages)
        arranged = arrange_messages(messages, open_calls, keep_strays=True)
        if arranged is not messages:
            if len(arranged) != len(messages):
                self._size = None
            messages[:] = arranged
        self._open = set(open_calls)
        self._has_strays = arrange_messages(messages, open_calls) is not messages
        self._is_in_order = not self._is_shared

    def get_messages(self) -> MessageList:
        """A copy of the list, with the very messages that the context holds."""
        if not self._is_in_order:
            self._keep_order()
        return MessageList(self._messages)

    async def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> list[Message]:
        """What to send to a model, compacted before if it is over the budget.

        That is the given budget, else the configured one or what the provider can read, if less.
        """
        limit = self._choose_limit(provider) if token_budget is None else token_budget
        if self._is_over(limit):
            await self.compact(limit=limit)
        if not self._is_in_order:
            self._keep_order()
        if self._open or self._has_strays:
            return list(arrange_messages(self._messages))
        return list(self._messages)

    def _choose_limit(self, provider: Any) -> int | None:
        limit = self.config.max_tokens
        room = _find_room(getattr(provider, "get_info", None))
        return limit if limit is None or room is None else min(limit, room)

    def set_messages(self, messages: list[Message]) -> Done:
        """Replace the conversation."""
        self.clear()
        for message in messages:
            self.add_message(message)
        return DONE

    def clear(self) -> Done:
        """Forget the conversation."""
        self._messages = MessageList()
        self._size = 0
        self._open.clear()
        self._is_in_order = True
        self._is_shared = False
        self._has_strays = False
        return DONE

    def count_tokens_with(self, count: Callable[[str], int]) -> None:
        """Count tokens as the provider does, instead of estimating them."""
        self._count = count
        self._size = None

    def token_count(self) -> int:
        """The estimated size of the conversation; kept up to date, so asking costs nothing."""
        if self._size is None:
            self._size = sum(self._measure(message) for message in self._messages)
        return self._size

    def _measure(self, message: Message) -> int:
        """The tokens of one message."""
        calls = message.get("tool_calls")
        text = message.get("content") or ""
        pictures = 0
        if isinstance(text, list):
            parts = [one for one in text if not _is_picture(one)]
            text, pictures = str(parts), len(text) - len(parts)
        tokens = self._count(f"{text}{_write(calls) if calls else ''}")
        return tokens + pictures * _PICTURE + _AROUND

    def should_compact(self) -> bool:
        """Whether the budget is used up."""
        return self._is_over(self.config.max_tokens)

    def _is_over(self, limit: int | None) -> bool:
        return limit is not None and self.token_count() > limit * self.config.compact_threshold

    async def compact(self, trigger: Trigger = "auto", limit: int | None = None) -> bool:
        """Make it smaller, as the hooks want it; False if one denies it or nothing can go."""
        async with self._compacting:
            before = self.token_count()
            full = limit or self.config.max_tokens or before
            if trigger == "manual":  # whoever asks for it wants less than there is
                full = min(full, before)
            target = int(full * self.config.target)
            if self._keeps_all(self._select(DROP_OLDEST, target)):
                return False
            way = await self._ask_hooks(trigger, before, target)
            if way is None:
                return False
            # Selected anew, because a hook may have added to it while it was asked.
            count = len(self._messages)
            kept = self._select(*way)
            if self._keeps_all(kept):
                return False
            self.messages = MessageList(kept)
            await self._report(trigger, before, count)
            return True

    def _select(self, strategy: str, target: int) -> list[Message]:
        if not self._is_in_order:
            self._keep_order()
        return STRATEGIES[strategy](self._messages, target, self.config.keep_last, self._measure)

    def _keeps_all(self, kept: list[Message]) -> bool:
        """Whether nothing is left out; the note that something was may be a new one."""
        if len(kept) != len(self._messages):
            return False
        pairs = zip(kept, self._messages, strict=True)
        return all(new is old or new["role"] == "system" for new, old in pairs)

    async def _ask_hooks(
        self, trigger: Trigger, before: int, target: int
    ) -> tuple[str, int] | None:
        """The strategy and the tokens to keep, as the hooks leave them; None if one denies it."""
        if self._coordinator is None:
            return DROP_OLDEST, target
        decision: DecisionContextResolutionData = {
            "available_strategies": list(STRATEGIES),
            "strategy": DROP_OLDEST,
            "reason": f"{before} tokens, wanted {target}",
        }
        decided = await self._coordinator.judge(DECISION_CONTEXT_RESOLUTION, decision)
        data: ContextPreCompactData = {
            "trigger": trigger,
            "current_tokens": before,
            "target_tokens": target,
            "messages_count": len(self._messages),
        }
        if not decided.allowed:
            return None
        outcome = await self._coordinator.judge(CONTEXT_PRE_COMPACT, data)
        if not outcome.allowed:
            return None
        strategy = choose_name(decided, "strategy", "strategy", DROP_OLDEST, STRATEGIES)
        return strategy, _read_target(outcome.data or {}, target)

    async def _report(self, trigger: Trigger, before: int, count: int) -> None:
        if self._coordinator is None:
            return
        data: ContextPostCompactData = {
            "trigger": trigger,
            "tokens_before": before,
            "tokens_after": self.token_count(),
            "messages_before": count,
            "messages_after": len(self._messages),
        }
        await self._coordinator.notify(CONTEXT_POST_COMPACT, data)


def _read_parts(message: Any, role: str | None, more: Message) -> Message:
    """A message that was given as role and content, or as a dict of another class."""
    if message is not None and role is not None:
        raise TypeError(f"A message has one role, got {message!r} and role={role!r}")
    if isinstance(message, dict):
        return message
    return {"role": role if message is None else message, **more}


def _take_unusual(given: Message) -> Message:
    """A message that may be no text; whoever added its blocks may still change them."""
    if not isinstance(given.get("role"), str):
        raise TypeError(f"A message needs a role such as 'user', got {given.get('role')!r}")
    said = given.get("content")
    return given if said is None or isinstance(said, str) else detach(given)


def _read_target(left: Mapping[str, Any], target: int) -> int:
    wanted = left.get("target_tokens")
    if type(wanted) is int and wanted > 0:
        return wanted
    logger.warning("A hook left target_tokens as %r; %d tokens are kept", wanted, target)
    return target


def _write(calls: Any) -> str:
    """Calls, about as a model reads them."""
    try:
        return to_json(calls).decode()
    except Exception:  # noqa: BLE001 - whatever a message of somebody else holds, it has a size
        return str(calls)


def _is_picture(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "image"


def _find_room(get_info: Any) -> int | None:
    """The tokens that a provider's model reads, with those left over that it may write."""
    if not callable(get_info):
        return None
    defaults = getattr(get_info(), "defaults", None)
    if not isinstance(defaults, Mapping):
        return None
    window = defaults.get("context_window")
    output = defaults.get("max_output_tokens")
    if not isinstance(window, int) or window <= 0:
        return None
    room = window - output if isinstance(output, int) else window
    return room if room > 0 else window


async def mount(
    coordinator: SessionCoordinator, config: dict[str, Any] | None = None
) -> Cleanup | None:
    """Mount the context."""
    options = await parse_known(coordinator, SimpleContextConfig, config, "context-simple")
    await coordinator.mount("context", SimpleContext(options, coordinator))
    return None
