"""Compares what happened with what happens: two items that should be the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_core.records import (
    HookAnswer,
    InjectedText,
    InjectionAccepted,
    InjectionDropped,
    plain,
)
from amplifier_hooks.trails import (
    Note,
    RecordedApproval,
    RecordedCall,
    RecordedEvent,
)
from amplifier_hooks.trails.gaps import explain_gap, find_masked

_PASSING = frozenset(
    {
        "config_override",
        "delay_ms",
        "duration_ms",
        "judged_again",
        "ms",
        "parent_id",
        "request_id",
        "stats",
        "streamed",
        "timestamp",
    }
)
"""Fields that say when and by whose settings something happened, and not what hooks decided."""
_NOT_COMPARED = ("content_block:", "thinking:", "module:")
"""Events of a reply as it arrives, piece by piece, and of modules that do not load."""
_ANSWER = "given response"
_NO_TOOL = "InvalidToolCall"
_UNREADABLE = frozenset({"invalid", "error"})
"""How a question ended that nobody answered usably: a replay cannot repeat the words."""


@dataclass(frozen=True, slots=True)
class Change:
    """A field that is not what it was; None where there is none."""

    field: str
    then: Any
    now: Any


def is_compared(item: Any) -> bool:
    """Whether an item belongs to what hooks decided, or to what came of it."""
    if isinstance(item, RecordedEvent):
        return not item.event.startswith(_NOT_COMPARED)
    if isinstance(item, RecordedApproval):
        return item.stage in ("requested", "remembered")
    if isinstance(item, RecordedCall):
        return item.stage == "started"
    return find_injection(item) is not None


def find_injection(item: Any) -> InjectedText | None:
    """The text that a hook added to the conversation, or was not allowed to, if an item is one."""
    body = item.body if isinstance(item, Note) else None
    return body if isinstance(body, InjectionAccepted | InjectionDropped) else None


def identify(item: Any) -> tuple[Any, ...]:
    """What two items must share to be compared: what kind of thing it is, and of which call."""
    if isinstance(item, RecordedEvent):
        return "event", item.event, item.again, item.data.get("tool_call_id")
    if isinstance(item, RecordedApproval):
        return "question", item.stage, item.hook, item.event
    if isinstance(item, RecordedCall):
        return "call", item.call_id
    return "injection", item.body.type, item.hook, item.event


def find_changes(then: Any, now: Any) -> list[Change]:
    """The fields that differ, the most telling ones first."""
    old, new = describe(then), describe(now)
    if _ANSWER not in old or _ANSWER not in new:  # written out only where somebody listens
        old.pop(_ANSWER, None)
        new.pop(_ANSWER, None)
    return list(_walk_changes("", old, new))


def _walk_changes(path: str, then: Any, now: Any) -> Iterator[Change]:
    """Go down to the values that differ: whole inputs are hard to compare by eye."""
    if is_like(then, now):
        return
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*then, *now]):
            below = f"{path}.{key}" if path else str(key)
            yield from _walk_changes(below, then.get(key), now.get(key))
    else:
        yield Change(path, then, now)


def describe(item: Any) -> dict[str, Any]:
    """What counts of an item, by the name that a person reads."""
    if isinstance(item, RecordedEvent):
        return _describe_event(item)
    if isinstance(item, RecordedApproval):
        return {"prompt": item.prompt, "tool": item.tool, "input": item.input}
    if isinstance(item, RecordedCall):
        return {"tool": item.tool, "digest": item.digest}
    body = item.body
    return {"role": body.role, "text": body.text, "ephemeral": body.ephemeral, "why": body.why}


def _describe_event(event: RecordedEvent) -> dict[str, Any]:
    spoken = [one for one in event.answers if _spoke(one)]
    described: dict[str, Any] = {"decision": event.action}
    if event.reason and event.action != "continue":
        described["reason"] = event.reason
    for one in spoken:
        described[f"hook {one.hook}"] = _describe_answer(one)
    data = _drop_passing(event.data)
    if event.event.startswith("approval:"):
        data.pop("digest", None)  # of a request to a model, it covers the times of messages
    described |= {f"given {key}": value for key, value in data.items()}
    if event.left is not event.data:
        left = _drop_passing(event.left)
        described |= {
            f"left {key}": value for key, value in left.items() if not is_like(value, data.get(key))
        }
    return described


def _spoke(answer: HookAnswer) -> bool:
    return answer.action != "continue" or answer.error is not None


def _describe_answer(answer: HookAnswer) -> str:
    text = answer.action if answer.error is None else f"{answer.action}, failed: {answer.error}"
    reason = plain(answer.reason)
    return f"{text}: {reason}" if reason else text


def _drop_passing(data: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in data.items() if key not in _PASSING}
    if kept.get("how") in _UNREADABLE:
        kept["how"] = "error"
    error = kept.get("error")
    if isinstance(error, dict) and error.get("type") == _NO_TOOL:
        kept["error"] = _NO_TOOL  # the sentence names all tools, which not every trail does
    return kept


def is_like(then: Any, now: Any) -> bool:
    """Whether two values are the same as far as can be told: what is not there is not compared."""
    if isinstance(then, dict) and isinstance(now, dict) and not explain_gap(then):
        return all(
            is_like(then.get(key), now.get(key)) for key in {*then, *now} if key not in _PASSING
        )
    if isinstance(then, list) and isinstance(now, list):
        return len(then) == len(now) and all(map(is_like, then, now))
    return bool(explain_gap(then)) or then == now


def find_doubts(then: Any) -> list[str]:
    """Why a difference from this item need not be one: values that the trail does not have."""
    if isinstance(then, RecordedEvent):
        paths = {
            path: why for path, why in then.missing.items() if why != "trails do not repeat it"
        }
        paths |= dict.fromkeys((*then.masked, *find_masked(then.left)), "masked")
    else:
        paths = dict.fromkeys(find_masked(describe(then)), "masked")
    return [f"{path} is {why}" for path, why in paths.items()]
