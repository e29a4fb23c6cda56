"""Compares what happened with what happens: two items that should be the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from amplifier_core.records import (
    HookAnswer,
    InjectedText,
    InjectionAccepted,
    InjectionDropped,
    plain,
)
from amplifier_hooks.insight.changes import Change, find_changes
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


def compare_items(then: Any, now: Any) -> list[Change]:
    """The fields that differ, the most telling ones first."""
    old = describe(then)
    new = describe(now)
    if _ANSWER not in old or _ANSWER not in new:  # written out only where somebody listens
        old.pop(_ANSWER, None)
        new.pop(_ANSWER, None)
    return list(find_changes(old, new, is_same=is_like))


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


Kind = Literal["changed", "only then", "only now"]


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that does not happen as it happened."""

    kind: Kind
    what: str
    """What it is, such as `tool:pre of Bash`."""
    session: str
    sequence: int | None
    """The record of what happened, or of what happened next where this did not happen."""
    time: str = ""
    turn: int = 0
    changes: tuple[Change, ...] = ()
    doubts: tuple[str, ...] = ()
    """Values that the trail does not have; with them it might be no difference."""
    expected: str = ""
    """What came next in the recording, where something else happens now."""
    about: Any = None
    """What it was done with: the input of a tool, or a prompt."""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Difference:
        """The reverse of `dataclasses.asdict`."""
        changes = tuple(Change(**one) for one in values["changes"])
        return cls(**{**values, "changes": changes, "doubts": tuple(values["doubts"])})


@dataclass(slots=True)
class Totals:
    """What was compared."""

    events: int = 0
    calls: int = 0
    questions: int = 0
    injections: int = 0
    doubts: dict[int, str] = field(default_factory=dict)
    """The records that could not be compared fully, each with the reason."""

    @property
    def doubtful(self) -> list[str]:
        """The same as sentences, in the order of the recording."""
        return [f"record {number}, {why}" for number, why in sorted(self.doubts.items())]

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Totals:
        """The reverse of `dataclasses.asdict`; JSON has texts for the numbers of records."""
        doubts = {int(number): why for number, why in values["doubts"].items()}
        return cls(**{**values, "doubts": doubts})

    def count(self, item: Any) -> None:
        """Count one item that was compared."""
        if isinstance(item, RecordedEvent):
            self.events += 1
        elif isinstance(item, RecordedCall):
            self.calls += 1
        elif isinstance(item, RecordedApproval):
            self.questions += 1
        else:
            self.injections += 1


def compare(then: Any, now: Any) -> Difference | None:
    """How two counterparts differ; None if they do not."""
    changes = compare_items(then, now)
    if not changes:
        return None
    return _place("changed", then, then, tuple(changes), tuple(find_doubts(then)))


def note_new(now: Any, upcoming: Any, session: str) -> Difference:
    """Something that happens now and did not happen then."""
    changes = tuple(Change(name, None, value) for name, value in describe(now).items())
    expected = "the end of the recording" if upcoming is None else name_item(upcoming)
    if upcoming is None:
        return Difference(
            "only now",
            name_item(now),
            session,
            None,
            changes=changes,
            expected=expected,
            about=_find_subject(now),
        )
    doubts = tuple(find_doubts(upcoming))
    return _place("only now", now, upcoming, changes, doubts, expected)


def note_gone(then: Any) -> Difference:
    """Something that happened then and does not happen now."""
    changes = tuple(Change(name, value, None) for name, value in describe(then).items())
    return _place("only then", then, then, changes, tuple(find_doubts(then)))


def _place(
    kind: Kind,
    item: Any,
    at: Any,
    changes: tuple[Change, ...],
    doubts: tuple[str, ...],
    expected: str = "",
) -> Difference:
    return Difference(
        kind,
        name_item(item),
        at.session,
        at.sequence,
        at.time,
        at.turn,
        changes,
        doubts,
        expected,
        _find_subject(item),
    )


def _find_subject(item: Any) -> Any:
    if isinstance(item, RecordedEvent):
        return item.data.get("tool_input") or item.data.get("prompt")
    return item.input if isinstance(item, RecordedApproval) else None


def name_item(item: Any) -> str:
    """What an item is, in a few words."""
    if isinstance(item, RecordedEvent):
        tool = item.data.get("tool_name")
        again = ", judged again" if item.again else ""
        return f"{item.event} of {tool}{again}" if tool else f"{item.event}{again}"
    if isinstance(item, RecordedApproval):
        remembered = "an answer for always" if item.stage == "remembered" else "a question"
        return f"{remembered} of {item.hook} at {item.event}"
    if isinstance(item, RecordedCall):
        return f"a call of {item.tool}"
    dropped = " that is dropped" if isinstance(item.body, InjectionDropped) else ""
    return f"an injection of {item.hook} at {item.event}{dropped}"


_QUIET = frozenset(
    {
        "session:start",
        "session:resume",
        "session:end",
        "prompt:submit",
        "prompt:answer",
        "prompt:complete",
        "execution:start",
        "execution:complete",
        "orchestrator:complete",
        "provider:request",
    }
)
"""Events that a session tells of when none of its tool calls is under way."""


def is_quiet(item: Any) -> bool:
    """Whether everything before an item is over when it happens."""
    return isinstance(item, RecordedEvent) and item.event in _QUIET


class Matcher:
    """The items of a recorded session, of which each is met once."""

    def __init__(self, items: Sequence[Any]) -> None:
        self._left = [one for one in items if is_compared(one)]

    @property
    def next(self) -> Any:
        """The first item that has not been met; None at the end."""
        return self._left[0] if self._left else None

    @property
    def left(self) -> list[Any]:
        """The items that have not been met."""
        return list(self._left)

    def match(self, now: Any) -> Any:
        """The counterpart of what happens now, which is met by this; None if there is none."""
        if is_quiet(now):
            found = self.next if self._is_like_next(now) else None
        else:
            found = self._choose(now)
        if found is not None:
            self._left.remove(found)
        return found

    def skip_to(self, now: Any) -> list[Any]:
        """Pass over what did not happen again, up to the counterpart of a quiet moment."""
        wanted = identify(now)
        places = [place for place, one in enumerate(self._left) if identify(one) == wanted]
        if not places or not is_quiet(now):
            return []
        skipped = self._left[: places[0]]
        self._left = self._left[places[0] :]
        return skipped

    def _is_like_next(self, now: Any) -> bool:
        return self.next is not None and identify(self.next) == identify(now)

    def _choose(self, now: Any) -> Any:
        wanted = identify(now)
        found = [one for one in self.list_near() if identify(one) == wanted]
        same = (one for one in found if not compare_items(one, now))
        return next(same, found[0] if found else None)

    def list_near(self) -> list[Any]:
        """What may be met next: everything up to the next quiet moment, and that."""
        near: list[Any] = []
        for one in self._left:
            near.append(one)
            if is_quiet(one):
                break
        return near
