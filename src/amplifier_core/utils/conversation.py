"""The messages of a conversation: their order, and how a context is read and written."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from amplifier_core.utils.calling import DONE, PATIENCE, list_parameters, resolve
from amplifier_core.utils.time import timestamp

NO_RESULT = "There is no result: the call was interrupted."
"""What a call is given as its result if it has none."""

NO_CALL = "Result of a tool call that is no longer shown:"
"""What stands before a result whose call is gone."""

_CALLS = frozenset({"tool_call", "tool_use"})
_RESULTS = ("tool_call_id", "tool_use_id")
_ADDED = frozenset({"system", "developer"})


def list_calls(message: Any) -> list[str]:
    """The ids of the calls in a message, whether it keeps them apart or among its blocks."""
    if _get(message, "role") != "assistant":
        return []
    apart = _list_parts(message, "tool_calls")
    among = [one for one in _list_parts(message, "content") if _get(one, "type") in _CALLS]
    return list(dict.fromkeys(str(found) for one in (*apart, *among) if (found := _get(one, "id"))))


def list_results(message: Any) -> list[str]:
    """The ids of the calls whose results a message has."""
    if _is_result(message):
        found = _get(message, "tool_call_id")
        if found:
            return [str(found)]
        return []
    blocks = [one for one in _list_parts(message, "content") if _get(one, "type") == "tool_result"]
    return [str(call) for one in blocks for key in _RESULTS if (call := _get(one, key))]


def list_open_ids(messages: Sequence[Any]) -> list[str]:
    """The calls at the end of a conversation that still wait for results."""
    nameless = 0
    answered = set()
    for message in reversed(messages):
        if calls := list_calls(message):
            return [call for call in calls if call not in answered][nameless:]
        found = list_results(message)
        answered.update(found)
        if not found and _is_result(message):
            nameless += 1
        elif not found and not _is_added(message):
            return []
    return []


def arrange_messages(
    messages: Sequence[Any], leave_open: Collection[str] = (), *, keep_strays: bool = False
) -> list[Any]:
    """The conversation in an order that models accept; the very list if it is in one already.

    A result stands directly behind its call, what came between them behind it. A call without a
    result is given one that says so, unless it is to be left open. A result without a call becomes
    a text of the user's, unless it is to be kept.
    """
    rounds, by_call = _gather_rounds(messages, keep_strays)
    open_calls = {(by_call[call][-1], call) for call in leave_open if call in by_call}
    arranged = [one for each in rounds for one in each.list_messages(open_calls)]
    if isinstance(messages, list) and _is_same(arranged, messages):
        return messages
    return arranged


class _Round:
    """One message; if it calls tools, with their results."""

    def __init__(self, message: Any, calls: Iterable[str] = ()) -> None:
        self._message = message
        self._results: dict[str, Any] = {}
        self._calls = list(calls)

    def add_result(self, result: Any, ids: Collection[str]) -> bool:
        """Take a result in; False if there is one already, other than one that was made up."""
        if any(call in self._results and not _is_made_up(self._results[call]) for call in ids):
            return False
        self._results.update(dict.fromkeys(ids, result))
        return True

    def find_open(self) -> str | None:
        """The first call that has no result."""
        return next((call for call in self._calls if call not in self._results), None)

    def list_messages(self, leave_open: Collection[tuple[_Round, str]]) -> list[Any]:
        unanswered = (one for one in self._calls if one not in self._results)
        missing = [one for one in unanswered if (self, one) not in leave_open]
        distinct = {id(one): one for one in self._results.values()}
        return [self._message, *distinct.values(), *map(_make_up_result, missing)]


def _gather_rounds(
    messages: Iterable[Any], keep_strays: bool
) -> tuple[list[_Round], dict[str, list[_Round]]]:
    """The conversation as rounds, and the rounds that called under each id, oldest first."""
    rounds: list[_Round] = []
    by_call: dict[str, list[_Round]] = {}
    last: _Round | None = None
    for message in messages:
        if calls := list_calls(message):
            last = _Round(message, calls)
            for call in calls:
                by_call.setdefault(call, []).append(last)
            rounds.append(last)
            continue
        ids = list_results(message)
        if (
            not ids
            and last is not None
            and _is_result(message)
            and (unanswered := last.find_open())
        ):
            # Of a loop that does not say whose result it is: they come in the order of the calls.
            message = {**dict(message), "tool_call_id": unanswered}
            ids = [unanswered]
        called = [call for call in ids if call in by_call]
        # Some loops use ids again: a result belongs to the newest call that still lacks one.
        owners = reversed(by_call[called[0]]) if called else ()
        if not any(owner.add_result(message, called) for owner in owners):
            is_stray = _is_result(message) and not keep_strays
            rounds.append(_Round(_describe_stray(message) if is_stray else message))
    return rounds, by_call


def _is_same(arranged: Sequence[Any], messages: Sequence[Any]) -> bool:
    if len(arranged) != len(messages):
        return False
    return all(new is old for new, old in zip(arranged, messages, strict=True))


def _is_result(message: Any) -> bool:
    return _get(message, "role") in ("tool", "function")


def _is_added(message: Any) -> bool:
    """Whether a hook or the program around the agent may have added it, and nobody has gone on."""
    return _get(message, "role") in _ADDED or _get(_get(message, "metadata"), "source") == "hook"


def _make_up_result(call: str) -> dict[str, Any]:
    return {
        "role": "tool",
        "content": NO_RESULT,
        "tool_call_id": call,
        "metadata": {"source": "context", "success": False, "made_up": True},
        "timestamp": timestamp(),
    }


def _is_made_up(message: Any) -> bool:
    return bool(_get(_get(message, "metadata"), "made_up"))


def _describe_stray(message: Any) -> dict[str, Any]:
    said = _get(message, "content")
    note = {"type": "text", "text": NO_CALL}
    return {
        "role": "user",
        "content": [note, *said] if isinstance(said, list) else f"{NO_CALL}\n{said or ''}",
        "metadata": {**(_get(message, "metadata") or {}), "source": "context"},
    }


def _list_parts(message: Any, key: str) -> Sequence[Any]:
    parts = _get(message, key)
    if isinstance(parts, (list, tuple)):
        return parts
    return ()


def _get(value: Any, key: str) -> Any:
    if type(value) is dict or isinstance(value, Mapping):
        return value.get(key)
    return getattr(value, key, None)


# Whatever else a loop keeps with a message may repeat its text: thoughts, blocks, the raw reply.
_KEPT = ("role", "timestamp", "metadata")


def replace_last_answer(
    messages: Sequence[Any], said: Collection[str], instead: str
) -> list[Any] | None:
    """The messages with another text in place of the last answer; None if it said none of those.

    A message that called tools keeps its calls: without it, their results would belong to no call.
    """
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if _is_answer(message):
            if read_text(message.get("content")) not in said:
                return None
            kept = {key: message[key] for key in (*_KEPT, "tool_calls") if key in message}
            return [*messages[:place], {**kept, "content": instead}, *messages[place + 1 :]]
    return None


def _is_answer(message: Any) -> bool:
    """Whether the agent said it; hooks may inject in its name."""
    if not isinstance(message, Mapping) or message.get("role") != "assistant":
        return False
    metadata = message.get("metadata")
    return not (isinstance(metadata, Mapping) and metadata.get("source") == "hook")


def read_text(content: Any) -> str | None:
    """The text of a message, whether it is kept as one or in blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return None
    blocks = [one for one in content if isinstance(one, Mapping) and one.get("type") == "text"]
    return "".join(str(one.get("text") or "") for one in blocks)


async def add_message(context: Any, message: dict[str, Any]) -> None:
    """Add a message to a context of either form: one dict, or role, content and metadata."""
    if (pending := start_adding(context, message)) is not None:
        await pending


def start_adding(context: Any, message: dict[str, Any]) -> Awaitable[Any] | None:
    """The same; what is returned, if anything, has to be awaited."""
    add = context.add_message
    known = _list_message_parts(getattr(add, "__func__", add))
    if known is None:
        outcome = add(message)
    else:
        extra = {
            key: value
            for key, value in message.items()
            if key not in ("role", "content") and ("**" in known or key in known)
        }
        outcome = add(message["role"], message["content"], **extra)
    if outcome is None or outcome is DONE:
        return None
    return resolve(outcome, PATIENCE)


@lru_cache(maxsize=64)
def _list_message_parts(add: Any) -> frozenset[str] | None:
    """Which parts of a message a context takes one by one; None if it takes the message."""
    known = list_parameters(add)
    takes_whole = known is None or "message" in known or not {"role", "content"} & known
    if takes_whole:
        return None
    return known
