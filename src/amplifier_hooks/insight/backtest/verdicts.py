"""Verdicts of hooks on an event, now and then, and the difference."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Literal, get_args

from amplifier_core.dispatch import Answer, Dispatch
from amplifier_core.events import is_notification, payload_type
from amplifier_core.precedence import strongest
from amplifier_core.utils import describe_error
from amplifier_core.utils.nested import iterate_parts
from amplifier_core.utils.text import locate_failure
from amplifier_hooks.insight.changes import find_changes
from amplifier_hooks.trails import RecordedApproval, RecordedEvent

_MACHINERY = frozenset(
    {
        "amplifier_core.dispatch",
        "amplifier_core.hooks",
        "amplifier_core.utils.copying",
        "amplifier_core.registration",
    }
)
"""What copies and compares the data of events for every hook."""
_ASKED = [
    "bool",
    "len",
    "iter",
    "next",
    "getitem",
    "setitem",
    "delitem",
    "contains",
    "reversed",
    "call",
    "int",
    "float",
    "complex",
    "index",
    "bytes",
    "fspath",
    "enter",
    "exit",
    "lt",
    "le",
    "gt",
    "ge",
    "add",
    "radd",
    "iadd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "truediv",
    "mod",
    "rmod",
    "and",
    "or",
    "rand",
    "ror",
    "xor",
    "neg",
    "abs",
    "round",
    "format",
    "length_hint",
]


class MissingValue(Exception):
    """A hook looked at a value that the trail does not have."""


@dataclass(frozen=True, slots=True)
class GapAccess:
    """Which hook looked at which missing field, and why that is missing."""

    hook: str
    field: str
    why: str


@dataclass(slots=True)
class GapAccesses:
    """Who looked at gaps while an event was judged; `hook` is the one that runs."""

    hook: str = ""
    seen: list[GapAccess] = field(default_factory=list)

    def pop_all(self) -> tuple[GapAccess, ...]:
        """What was noted since the last time."""
        if not self.seen:
            return ()
        seen = self.seen
        self.seen = []
        return tuple(dict.fromkeys(seen))


class Gap:
    """One missing value."""

    __slots__ = ("_field", "_looks", "_why")

    def __init__(self, field: str, why: str, looks: GapAccesses) -> None:
        self._field = field
        self._why = why
        self._looks = looks

    def _note(self) -> MissingValue:
        if self._looks.hook:
            self._looks.seen.append(GapAccess(self._looks.hook, self._field, self._why))
        return MissingValue(f"the trail does not have {self._field}: {self._why}")

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance asks for this
        if self._looks.hook and not _is_machinery(sys._getframe(1)):
            self._note()
        return Gap

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # such as what tells records from other objects
            raise AttributeError(name)
        raise self._note()

    def __eq__(self, other: object) -> bool:
        if self._looks.hook and self is not other:
            raise self._note()
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        if self._looks.hook:
            raise self._note()
        return id(self)

    def __repr__(self) -> str:
        if self._looks.hook:
            raise self._note()
        return f"[not in the trail: {self._why}]"

    __str__ = __repr__

    def __copy__(self) -> Gap:
        return self

    def __deepcopy__(self, _memo: Any) -> Gap:
        return self


def _is_machinery(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_globals.get("__name__") == "abc":
        frame = frame.f_back  # `isinstance` of an abstract class asks from there
    name = "" if frame is None else str(frame.f_globals.get("__name__"))
    return name in _MACHINERY or name.startswith(("pydantic", "amplifier_core.models"))


def _refuse(self: Gap, *_: Any) -> Any:
    raise self._note()


for _asked in _ASKED:
    setattr(Gap, f"__{_asked}__", _refuse)


def fill_gaps(
    data: Mapping[str, Any], left: Mapping[str, Any], missing: Mapping[str, str], looks: GapAccesses
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The data of an event, and what was left of it, with the same gaps in both."""
    gaps = {path: Gap(path, why, looks) for path, why in missing.items()}
    given = {name: gaps[name] for name in missing if name not in data and _is_name(name)}
    shown = {key: _fill(value, key, gaps) for key, value in data.items()} | given
    kept = {
        key: shown[key] if key in data and value == data[key] else _fill(value, key, gaps)
        for key, value in left.items()
    }
    return shown, given | kept


def make_gaps(event: str, why: str, looks: GapAccesses) -> dict[str, Any]:
    """The data of an event of which the trail has nothing: a gap for each field that it had."""
    payload = payload_type(event)
    fields = {} if payload is None else payload.__annotations__
    return {name: Gap(name, why, looks) for name in fields}


def _is_name(path: str) -> bool:
    return "." not in path and "[" not in path


def _fill(value: Any, path: str, gaps: Mapping[str, Gap]) -> Any:
    if path in gaps:
        return gaps[path]
    if isinstance(value, dict):
        return {key: _fill(one, f"{path}.{key}", gaps) for key, one in value.items()}
    if isinstance(value, list):
        return [_fill(one, f"{path}[{index}]", gaps) for index, one in enumerate(value)]
    return value


_CONTINUES = ("continue", "modify")


@dataclass(frozen=True, slots=True)
class Failure:
    """A hook that failed, with the reason and the line."""

    hook: str
    error: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Asking:
    """A hook that wants a person asked, and what it would ask."""

    hook: str
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of an event, and by whose answers; `left` is empty where nothing can change."""

    action: str
    left: dict[str, Any]
    hook: str = ""
    """Whose answer decided; empty if nobody said more than continue."""
    reason: str = ""
    asking: tuple[Asking, ...] = ()
    injecting: tuple[str, ...] = ()
    changing: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    looks: tuple[GapAccess, ...] = ()
    """Who looked at values that the trail does not have."""
    doubt: str = ""
    """Why a difference from this verdict says nothing."""


def read_recorded(event: RecordedEvent, left: dict[str, Any]) -> Verdict:
    """What became of an event then."""
    heeded = [one for one in event.answers if not one.unheeded]
    by_action = {
        action: tuple(one.hook for one in heeded if one.action == action)
        for action in ("deny", "ask_user", "inject_context", "modify")
    }
    action = _weigh(event.event, event.action)
    left = {} if is_notification(event.event) else left
    decided = next((hooks[0] for hooks in by_action.values() if hooks), "")
    return Verdict(
        action=action,
        left=left,
        hook=decided,
        reason=event.reason,
        asking=tuple(Asking(hook) for hook in by_action["ask_user"]) if action != "deny" else (),
        injecting=by_action["inject_context"],
        changing=by_action["modify"],
        failures=tuple(
            Failure(one.hook, str(one.error)) for one in heeded if one.error is not None
        ),
    )


def read_dispatch(run: Dispatch, looks: tuple[GapAccess, ...], doubt: str = "") -> Verdict:
    """What hooks made of an event just now."""
    spoken = run.answers
    left = {} if is_notification(run.event) else run.data
    if not spoken:
        return Verdict("continue", left, looks=looks, doubt=doubt)
    first = strongest(spoken)
    assert first is not None
    action = _weigh(run.event, first.result.action)
    return Verdict(
        action=action,
        left=left,
        hook=first.hook if first.result.action != "continue" else "",
        reason=str(first.result.reason or ""),
        asking=tuple(_read_asking(one) for one in run.asking) if action != "deny" else (),
        injecting=_name(spoken, "inject_context"),
        changing=_name(spoken, "modify"),
        failures=tuple(_read_failure(one) for one in spoken if one.error is not None),
        looks=looks,
        doubt=doubt,
    )


def _weigh(event: str, action: str) -> str:
    """What an action does to an event: one that only tells of something cannot be stopped."""
    if action in _CONTINUES or (action != "inject_context" and is_notification(event)):
        return "continue"
    return action


def _name(spoken: list[Answer], action: str) -> tuple[str, ...]:
    return tuple(one.hook for one in spoken if one.result.action == action)


def _read_asking(answer: Answer) -> Asking:
    return Asking(answer.hook, str(answer.result.approval_prompt or ""))


def _read_failure(answer: Answer) -> Failure:
    error = answer.error
    assert error is not None
    place = locate_failure(error, answer.handler.handler)
    return Failure(answer.hook, describe_error(error), place)


Kind = Literal[
    "newly_denied",
    "no_longer_denied",
    "newly_asked",
    "no_longer_asked",
    "changed_input",
    "newly_injected",
    "no_longer_injected",
    "error",
    "cannot_tell",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The ways in which two verdicts differ; an event counts for the first that fits."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs, by whose doing, and why it cannot be told if it cannot."""

    kind: Kind
    hook: str
    failure: Failure | None = None
    looks: tuple[GapAccess, ...] = ()
    doubt: str = ""


def compare(
    was: Verdict, would: Verdict, scrub: Callable[[Any], Any] = lambda value: value
) -> Difference | None:
    """What differs between what happened and what would; None if it is the same.

    A trail has texts as the session's scrubbers left them; `scrub` does the same to those of now.
    """
    looks = would.looks or was.looks
    if looks:
        return Difference("cannot_tell", looks[0].hook, looks=looks)
    if failure := _find_new_failure(was, would):
        return Difference("error", failure.hook, failure)
    kind, hook = _find_kind(was, would)
    doubt = would.doubt or was.doubt
    if kind == "changed_input":
        now = _make_plain(would.left)
        if was.left in (now, scrub(now)):
            return None
        if _is_cut(was.left):
            doubt = "what hooks left of it then is not in the trail as a whole"
    if kind is None:
        return None
    return Difference("cannot_tell" if doubt else kind, hook, doubt=doubt)


def _find_new_failure(was: Verdict, would: Verdict) -> Failure | None:
    known = {one.hook for one in was.failures}
    return next((one for one in would.failures if one.hook not in known), None)


def _find_kind(was: Verdict, would: Verdict) -> tuple[Kind | None, str]:
    if would.action == was.action == "deny":
        return None, ""
    if would.action == "deny":
        return "newly_denied", would.hook
    if was.action == "deny":
        return "no_longer_denied", was.hook
    if would.action != was.action and "ask_user" in (would.action, was.action):
        newly = would.action == "ask_user"
        return ("newly_asked", would.hook) if newly else ("no_longer_asked", was.hook)
    if was.left != would.left:
        return "changed_input", (*would.changing, *was.changing, "")[0]
    if bool(was.injecting) != bool(would.injecting):
        newly = bool(would.injecting)
        who = would.injecting if newly else was.injecting
        return "newly_injected" if newly else "no_longer_injected", who[0]
    return None, ""


def _make_plain(value: Any) -> Any:
    """The value as a trail would have it: its containers are dicts and lists."""
    if type(value) is dict:
        return {str(key): _make_plain(one) for key, one in value.items()}
    return [_make_plain(one) for one in value] if type(value) in (list, tuple) else value


def _is_cut(value: Any) -> bool:
    """Whether some part of a recorded value is not there."""
    return any(
        isinstance(part, dict) and ("$cut" in part or "$commitment" in part)
        for _, part in iterate_parts(value)
    )


LONGEST = 400
"""Characters of a value that are kept."""
_SUBJECTS = ("tool_input", "tool_result", "prompt", "response", "task", "plan")


def describe_difference(
    trail: Path, event: RecordedEvent, was: Verdict, would: Verdict, difference: Difference
) -> dict[str, Any]:
    """A difference in plain values."""
    described: dict[str, Any] = {
        "trail": str(trail),
        "session": event.session,
        "sequence": event.sequence,
        "time": event.time,
        "event": event.event,
        "tool": event.data.get("tool_name"),
        "about": _describe_subject(event.data),
        "hook": difference.hook,
        "was": _describe_verdict(was),
        "would": _describe_verdict(would),
        "person": None,
    }
    if difference.kind == "changed_input":
        described["changes"] = list_changes(was.left, would.left)
    if difference.failure is not None:
        described["error"] = difference.failure.error
        described["at"] = difference.failure.place
    return described


def describe_person(step: RecordedApproval) -> dict[str, Any]:
    """What a person said then, or what is known of it."""
    state = name_state(step)
    return {
        "state": state,
        "allowed": state == "allowed",
        "to": step.to,
        "by": step.by,
        "how": step.how,
        "decision": step.decision,
        "comment": step.comment,
        "time": step.time,
    }


def name_state(step: RecordedApproval) -> str:
    """What came of a question: `allowed`, `refused`, `not_run` or `not_known`."""
    if step.stage == "handed_over":
        return "not_known"
    if step.stage == "outcome":
        return step.state
    return "allowed" if step.allowed else "refused"


def list_changes(was: Any, would: Any) -> list[dict[str, str]]:
    """The fields that differ, as texts."""
    changes = find_changes(was, would, missing=_NOTHING)
    return [
        {"field": one.field, "was": shorten(one.then), "would": shorten(one.now)} for one in changes
    ]


class _Nothing:
    def __repr__(self) -> str:
        return ""


_NOTHING = _Nothing()


def shorten(value: Any) -> str:
    """A value as a text of bounded length."""
    if isinstance(value, str | _Nothing | Gap):
        text = str(value)
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _describe_subject(data: dict[str, Any]) -> str:
    return next((shorten(data[name]) for name in _SUBJECTS if data.get(name) is not None), "")


def _describe_verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "action": verdict.action,
        "hook": verdict.hook,
        "reason": shorten(verdict.reason),
        "asks": [shorten(one.prompt) for one in verdict.asking if one.prompt],
    }
