"""Where a replay first goes another way than the recording: both ways, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from amplifier_core.records import InjectionDropped
from amplifier_hooks.insight.replay.comparison import (
    Change,
    describe,
    find_changes,
    find_doubts,
)
from amplifier_hooks.trails import RecordedApproval, RecordedCall, RecordedEvent

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
    changes = find_changes(then, now)
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
