"""The records of a session: one class for the body of each type, which declares it.

    trail.write(ToolStarted(tool="Bash", id="c1", digest=found, gated=False), event=TOOL_PRE)
    match parse_body(record["type"], record["body"]):
        case ToolStarted(gated=True) as start: ...

Lines are written once and read for ever. A field without a default stands in every line; one with a
default is left out where it has that value, so that new ones can be added without a change of any
line. Who reads gets every field with a value of its type, whatever a line holds: what is missing,
or is of another type because it was forged or written by another version, reads as the default, or
as the empty value of its type. Unknown fields are passed over. How older versions put things is
said at the class whose body has changed. Nobody changes a body; the classes are not frozen, because
that makes a record of five answers take ten microseconds longer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Self, get_args, get_origin, get_type_hints

LONGEST = 1e12
"""Milliseconds or seconds that anything may have taken; what claims to be longer is forged."""

HANDED_OVER_TO = "rule:handed over to "
"""In older records, who "decided" a question that was only handed over to another program."""

Text = str | Mapping[str, Any]
"""A text; or what stands in its place, if it was cut (`$cut`) or kept apart (`$commitment`)."""

UNNAMED = "(unnamed)"
"""The hook of an answer without one; no session writes such answers."""

_READS_AS = "reads_as"


def plain(text: Text | None) -> str:
    """A text that is there; else nothing."""
    if isinstance(text, str):
        return text
    return ""


class Body:
    """What a record says, by its type."""

    type: str

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the line."""
        kind: Any = self.__class__
        body: dict[str, Any] = {}
        for name, default in _list_written(kind):
            value = getattr(self, name)
            if default is MISSING or (value is not default and value != default):
                body[name] = _to_list(value) if isinstance(value, tuple) else value
        return body

    @classmethod
    def parse(cls, members: Mapping[str, Any]) -> Self:
        """From a line, whichever version wrote it."""
        kind: Any = cls
        readers, empty = _list_read(kind)
        values = dict(empty)
        for name, value in members.items():
            read = readers.get(name)
            if read is not None and (found := read(value)) is not None:
                values[name] = found
        return cls(**values)


# Events and the answers to them


@dataclass(slots=True)
class HookAnswer(Body):
    """What one hook answered: a part of `dispatch`; a record of its own in a trail of decisions."""

    type = "action_resolved"
    hook: str = field(metadata={_READS_AS: UNNAMED})
    id: int
    """Its registration."""
    action: str = field(metadata={_READS_AS: "continue"})
    ms: float | None = None
    shadowed: str = ""
    """The action that shadow mode kept from happening; `action` is then `continue`."""
    unheeded: bool = False
    """Whether it stood behind a denial and had no effect."""
    reason: Text = ""
    error: Text | None = None
    timed_out: bool | None = None
    """Of a failure: whether it took too long."""


@dataclass(slots=True, kw_only=True)
class DispatchRecorded(Body):
    """An event, as the last hook left it, and what each hook that was called answered."""

    type = "dispatch"
    action: str = field(metadata={_READS_AS: "continue"})
    """What all answers together came to."""
    hooks: tuple[HookAnswer, ...]
    data: Mapping[str, Any] | None
    """Without the histories that it is about."""
    before: Mapping[str, Any] | None = None
    """The fields that hooks changed, as they were; null for one that they added."""
    judged_again: bool = False
    reason: Text = ""


@dataclass(slots=True, kw_only=True)
class HookStarted(Body):
    """A hook was called; in a full trail only."""

    type = "hook_started"


@dataclass(slots=True, kw_only=True)
class HookFinished(Body):
    """It came to an end."""

    type = "hook_finished"
    ms: float | None


@dataclass(slots=True, kw_only=True)
class HookFailed(Body):
    """A hook did not come to an answer. Older trails have the failure in its answer only."""

    type = "hook_failed"
    error: Text
    at: Text
    """Where, if that is known."""
    denied: bool


@dataclass(slots=True, kw_only=True)
class AnswerShadowed(Body):
    """What an answer would have done, had it not been for shadow mode."""

    type = "shadowed"
    action: str
    reason: Text | None
    would: Text


@dataclass(slots=True, kw_only=True)
class AnswerIgnored(Body):
    """An answer, or a message, that nothing could carry out."""

    type = "answer_ignored"
    action: str
    reason: Text | None
    why: Text


@dataclass(slots=True, kw_only=True)
class Registration(Body):
    """A hook and its settings. Older trails do not say which module it is from."""

    priority: int
    on_error: str = field(metadata={_READS_AS: "continue"})
    timeout: float | None
    kind: str | None = None
    """What its module was mounted as: `hooks`, `tools` and so on."""
    module: str | None = None
    shadow: bool = False


class HookRegistered(Registration):
    """A hook was added."""

    type = "hook_registered"


class HookUnregistered(Registration):
    """A hook was removed."""

    type = "hook_unregistered"


# What hooks show and tell


@dataclass(slots=True, kw_only=True)
class UserMessage(Body):
    """A message for the person."""

    type = "user_message"
    text: Text
    level: str


@dataclass(slots=True, kw_only=True)
class OutputShown(Body):
    """What a hook printed."""

    type = "output_shown"
    text: Text


@dataclass(slots=True, kw_only=True)
class OutputSuppressed(Body):
    """What a hook printed and hid."""

    type = "output_suppressed"
    text: Text


@dataclass(slots=True, kw_only=True)
class InjectedText(Body):
    """A text that a hook adds to the conversation; `why` says the reason if it came to nothing."""

    role: str
    bytes: int
    tokens: int
    ephemeral: bool
    text: Text
    why: Text | None = None


class InjectionAccepted(InjectedText):
    """It is in the conversation, or waits for the next request."""

    type = "injection_accepted"


class InjectionDropped(InjectedText):
    """It was refused."""

    type = "injection_dropped"


@dataclass(slots=True, kw_only=True)
class InjectionUnused(InjectedText):
    """It was accepted, and no request had it."""

    type = "injection_unused"
    fault: bool
    """Whether somebody should have asked for it."""


# Approval


@dataclass(slots=True, kw_only=True)
class ApprovalRequested(Body):
    """What a person is asked."""

    type = "approval_requested"
    prompt: Text
    options: tuple[str, ...]
    timeout: str
    default: str
    reason: Text | None
    tool: str | None
    id: str
    input: Any
    digest: str
    """Of what would run: the same in all records of one question."""
    again: bool = False
    """Whether it was put before, and handed over."""


@dataclass(slots=True, kw_only=True)
class ApprovalShown(Body):
    """A front end was given the question."""

    type = "approval_shown"
    digest: str


@dataclass(slots=True, kw_only=True)
class ApprovalCancelled(Body):
    """It was withdrawn before anybody decided."""

    type = "approval_cancelled"
    digest: str


@dataclass(slots=True, kw_only=True)
class Decision(Body):
    """What was decided, by whom; or why nobody decided, in `detail`."""

    allowed: bool
    how: str
    decision: Text | None
    by: str | None
    detail: Text
    comment: Text | None
    edited: bool
    digest: str
    settles: str | None = None
    """What was known of a handed-over question until now: `not_known` or `not_run`."""
    id: str | None = None
    handed_over_at: str | None = None


class ApprovalDecided(Decision):
    """There is an answer. In older trails it may say that the question was handed over."""

    type = "approval_decided"

    @property
    def handed_over_to(self) -> str:
        """In a trail from before there was `approval_handed_over`: the program that asks."""
        by = self.by or ""
        if by.startswith(HANDED_OVER_TO):
            return by.removeprefix(HANDED_OVER_TO)
        return ""


class ApprovalExpired(Decision):
    """Nobody decided in time."""

    type = "approval_expired"


@dataclass(slots=True, kw_only=True)
class ApprovalHandedOver(Body):
    """Another program asks its own person: what comes of it is not known yet."""

    type = "approval_handed_over"
    to: str
    goes_on: bool
    """Whether what was asked about went on to that program, or waits for the answer."""
    tool: str | None
    id: str
    digest: str
    again: bool = False


@dataclass(slots=True, kw_only=True)
class ApprovalOutcome(Body):
    """What came of such a question, and what shows it."""

    type = "approval_outcome"
    state: str
    """`allowed`, as it ran, or `not_run`."""
    evidence: str
    settles: str
    id: str
    handed_over_at: str
    to: str
    tool: str | None
    digest: str


@dataclass(slots=True, kw_only=True)
class KeptDecision(Body):
    """A decision that stands for later answers."""

    prompt: Text
    decision: Text | None
    digest: str
    by: str = ""
    """By which rule it stands, if not by what a person said for always."""


class ApprovalKept(KeptDecision):
    """It is kept from now on."""

    type = "approval_cache_stored"


class ApprovalRemembered(KeptDecision):
    """It stood for an answer."""

    type = "approval_cache_hit"


@dataclass(slots=True, kw_only=True)
class ApprovalsForgotten(Body):
    """The session is over, and the decisions that it kept are forgotten."""

    type = "approval_cache_cleared"
    answers: int


# Tools


@dataclass(slots=True, kw_only=True)
class ToolStarted(Body):
    """A tool is about to run."""

    type = "tool_started"
    tool: str | None
    id: str | None
    digest: str
    gated: bool
    """Whether a person had to allow it."""


@dataclass(slots=True, kw_only=True)
class ToolFinished(Body):
    """How it ended: `returned`, `raised`, `cancelled`, `unknown` and others."""

    type = "tool_finished"
    tool: str | None = ""
    id: str | None
    outcome: str
    success: bool | None = None
    digest: str | None = None
    """Of what it returned."""
    ms: float | None = None


@dataclass(slots=True, kw_only=True)
class DenialContradicted(Body):
    """Another program shows the result of a call that was denied here."""

    type = "denial_contradicted"
    tool: str
    id: str
    input: Any
    agent: str
    reason: Text
    shown: str
    success: bool


@dataclass(slots=True, kw_only=True)
class DigestMismatch(Body):
    """What would have run, or has run, is not what was approved or judged."""

    type = "digest_mismatch"
    approved: str
    found: str
    id: str | None = None


# Sessions


@dataclass(slots=True, kw_only=True)
class SessionStarted(Body):
    """A process begins to work on a session."""

    type = "session_started"
    resumed: bool
    parent: str | None
    shadow: bool


@dataclass(slots=True, kw_only=True)
class SessionSuspended(Body):
    """Another process will go on with it."""

    type = "session_suspended"


@dataclass(slots=True, kw_only=True)
class SessionEnded(Body):
    """It is over, with what it counted."""

    type = "session_ended"
    reason: str
    stats: Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class ConfigurationChanged(Body):
    """Settings were replaced, or were to be: then `refused` is true, or says why not."""

    type = "configuration_changed"
    what: str
    refused: bool | Text | None = None
    before: str | None = None
    after: str | None = None
    files: str | None = None
    mounted: tuple[str, ...] | None = None
    unmounted: tuple[str, ...] | None = None


@dataclass(slots=True, kw_only=True)
class ErrorNoted(Body):
    """Something failed that is no hook's."""

    type = "error"
    what: str | None = None
    framework: str | None = None
    error: Text | None = None
    why: Text | None = None
    """The same, of a text that could not be injected."""
    text: Text | None = None


@dataclass(slots=True, kw_only=True)
class Other(Body):
    """A record of a type that is declared elsewhere, or nowhere."""

    type: str
    members: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the line."""
        return dict(self.members)


def list_types(*bodies: type[Body]) -> dict[str, type[Body]]:
    """Classes of bodies by the type of their records."""
    return {one.type: one for one in bodies}


TYPES: Mapping[str, type[Body]] = list_types(
    HookAnswer, DispatchRecorded, HookStarted, HookFinished, HookFailed, AnswerShadowed,
    AnswerIgnored, HookRegistered, HookUnregistered, UserMessage, OutputShown, OutputSuppressed,
    InjectionAccepted, InjectionDropped, InjectionUnused, ApprovalRequested, ApprovalShown,
    ApprovalCancelled, ApprovalDecided, ApprovalExpired, ApprovalHandedOver, ApprovalOutcome,
    ApprovalRemembered, ApprovalKept, ApprovalsForgotten, ToolStarted, ToolFinished,
    DenialContradicted, DigestMismatch, SessionStarted, SessionSuspended, SessionEnded,
    ConfigurationChanged, ErrorNoted,
)  # fmt: skip
"""The types that sessions write."""


def parse_body(
    type: str, members: Mapping[str, Any], types: Mapping[str, type[Body]] = TYPES
) -> Body:
    """What a record says."""
    known = types.get(type)
    if known is None:
        return Other(type=type, members=members)
    return known.parse(members)


# From fields to lines and back

_Reader = Callable[[Any], Any]
"""Returns a value if it is of a type, and None if it is not."""


def _to_list(values: tuple[Any, ...]) -> list[Any]:
    return [one.to_dict() if isinstance(one, Body) else one for one in values]


@cache
def _list_written(body: Any) -> tuple[tuple[str, Any], ...]:
    """The fields of a class, each with the value that is left out."""
    return tuple((one.name, one.default) for one in fields(body))


@cache
def _list_read(body: Any) -> tuple[dict[str, _Reader], dict[str, Any]]:
    """What reads the fields of a class, and what they are if that finds nothing."""
    hints = get_type_hints(body)
    readers = {one.name: _find_reader(hints[one.name]) for one in fields(body)}
    return readers, {one.name: _find_empty(one, hints[one.name]) for one in fields(body)}


def _find_empty(field: Field[Any], hint: Any) -> Any:
    if field.default is not MISSING:
        return field.default
    if hint is Any or NoneType in get_args(hint):
        return None
    kind = get_args(hint)[0] if isinstance(hint, UnionType) else get_origin(hint) or hint
    return field.metadata.get(_READS_AS, _EMPTY[kind])


def _find_reader(hint: Any) -> _Reader:
    kind = get_origin(hint) or hint
    if kind is UnionType:
        readers = [_find_reader(one) for one in get_args(hint) if one is not NoneType]
        return readers[0] if len(readers) == 1 else lambda value: _read_any_of(value, readers)
    if kind is tuple:
        read_part = _find_reader(get_args(hint)[0])
        return lambda value: _read_list(value, read_part)
    if isinstance(kind, type) and issubclass(kind, Body):
        return lambda value: kind.parse(value) if isinstance(value, dict) else None
    return _READERS[kind]


def _read_any_of(value: Any, readers: list[_Reader]) -> Any:
    return next((found for read in readers if (found := read(value)) is not None), None)


def _read_list(value: Any, read_part: _Reader) -> tuple[Any, ...] | None:
    if not isinstance(value, list):
        return None
    return tuple(part for one in value if (part := read_part(one)) is not None)


def _read_duration(value: Any) -> float | None:
    # `type`, not `isinstance`: True is an int as well.
    fits = type(value) in (int, float) and 0 <= value <= LONGEST
    if fits:
        return float(value)
    return None


_EMPTY: Mapping[Any, Any] = {str: "", bool: False, int: 0, tuple: (), Mapping: {}}
_READERS: Mapping[Any, _Reader] = {
    Any: lambda value: value,
    str: lambda value: value if isinstance(value, str) else None,
    bool: lambda value: value if isinstance(value, bool) else None,
    int: lambda value: value if type(value) is int else None,
    float: _read_duration,
    Mapping: lambda value: value if isinstance(value, dict) else None,
}
