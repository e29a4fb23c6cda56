"""Which part of a conversation is kept when it has to be made smaller.

drop-oldest      the newest groups that fit; a tool call and its results stay or go together
shorten-results  what old tool calls returned is left out first, the rest as above if need be
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any

from amplifier_core.utils import timestamp

Message = dict[str, Any]
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
