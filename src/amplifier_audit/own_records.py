"""The bodies of a log's own records, one class each.

Like all lines, they are written once and read for ever. Whoever can write the files can write
anything: a member that is missing, or of another type than its writer gives it, reads as None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOpened:
    """A writer begins a segment, or goes on with one."""

    type: ClassVar = "log_opened"
    name: str | None
    """Whose log it is; logs from before there were names have none."""
    segment: int | None = None
    process: int | None = None
    level: str | None = None
    values: str | None = None
    """Where values are kept: `inline` or `committed`."""
    checkpoint_every: int | None = None
    key: str | None = None
    """The public key that it signs with."""
    previous: Mapping[str, Any] | None = None
    """Where the chain goes on from; none at the beginning of a log."""
    signs_removals: bool = True
    """Whether the writer signs each removal of a segment first, as all do that know of names."""

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the line."""
        body: dict[str, Any] = {
            "name": self.name,
            "segment": self.segment,
            "process": self.process,
            "level": self.level,
            "values": self.values,
            "checkpoint_every": self.checkpoint_every,
            "key": self.key,
        }
        return body if self.previous is None else {**body, "previous": self.previous}

    @classmethod
    def parse(cls, body: Mapping[str, Any]) -> LogOpened:
        """From a line."""
        return cls(
            name=_text(body, "name"),
            segment=_number(body, "segment"),
            process=_number(body, "process"),
            level=_text(body, "level"),
            values=_text(body, "values"),
            checkpoint_every=_number(body, "checkpoint_every"),
            key=_text(body, "key"),
            previous=_mapping(body, "previous"),
            signs_removals="name" in body,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointMade:
    """A signed note about everything before it; `sealed` if it ends a segment."""

    type: ClassVar = "checkpoint"
    note: str
    is_alone: bool = True
    """Whether the record holds nothing but the note."""

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the line."""
        return {"note": self.note}

    @classmethod
    def parse(cls, body: Mapping[str, Any]) -> CheckpointMade:
        """From a line."""
        return cls(note=_text(body, "note") or "", is_alone=len(body) == 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecovered:
    """A writer cut off or set aside what a crash had left."""

    type: ClassVar = "recovered"
    facts: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the line."""
        return dict(self.facts)

    @classmethod
    def parse(cls, body: Mapping[str, Any]) -> LogRecovered:
        """From a line."""
        return cls(facts=body)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogBroken:
    """A writer found the log to be another than the one that it had acknowledged."""

    type: ClassVar = "broken"
    why: str
    expected: Mapping[str, Any] | None = None
    found: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the line."""
        return {"why": self.why, "expected": self.expected, "found": self.found}

    @classmethod
    def parse(cls, body: Mapping[str, Any]) -> LogBroken:
        """From a line."""
        expected = _mapping(body, "expected")
        found = _mapping(body, "found")
        return cls(why=_text(body, "why") or "None", expected=expected, found=found)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRedacted:
    """A value was deleted; what is left of it is the commitment."""

    type: ClassVar = "redacted"
    commitment: str
    by: str
    reason: str

    def to_dict(self) -> dict[str, str]:
        """As it stands in the line."""
        return {"commitment": self.commitment, "by": self.by, "reason": self.reason}

    @classmethod
    def parse(cls, body: Mapping[str, Any]) -> ValueRedacted:
        """From a line."""
        texts = (_text(body, name) or "" for name in ("commitment", "by", "reason"))
        commitment, by, reason = texts
        return cls(commitment=commitment, by=by, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentRemoved:
    """The oldest segment goes, as the settings say."""

    type: ClassVar = "segment_removed"
    segment: int | None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the line."""
        return {"segment": self.segment}

    @classmethod
    def parse(cls, body: Mapping[str, Any]) -> SegmentRemoved:
        """From a line."""
        return cls(segment=_number(body, "segment"))


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterConnected:
    """A separate writer goes on for a client."""

    type: ClassVar = "writer_connected"
    client: str | None
    """A digest: whoever reads it cannot pass for the client."""
    have: int | None
    """How many records of that client stand before this one."""
    peer: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the line."""
        return {"client": self.client, "peer": self.peer, "have": self.have}

    @classmethod
    def parse(cls, body: Mapping[str, Any]) -> WriterConnected:
        """From a line."""
        peer = _mapping(body, "peer")
        return cls(client=_text(body, "client"), have=_number(body, "have"), peer=peer)


OwnBody = (
    LogOpened
    | CheckpointMade
    | LogRecovered
    | LogBroken
    | ValueRedacted
    | SegmentRemoved
    | WriterConnected
)

OWN_BODIES: Mapping[str, Callable[[Mapping[str, Any]], OwnBody]] = {
    "log_opened": LogOpened.parse,
    "checkpoint": CheckpointMade.parse,
    "sealed": CheckpointMade.parse,
    "recovered": LogRecovered.parse,
    "broken": LogBroken.parse,
    "redacted": ValueRedacted.parse,
    "segment_removed": SegmentRemoved.parse,
    "writer_connected": WriterConnected.parse,
}
"""What reads a body, by the type of its record."""

OWN_TYPES = frozenset(OWN_BODIES)
"""The types by which the log speaks of itself; a caller of `append` cannot forge them."""


def parse_own(type: str, body: Mapping[str, Any]) -> OwnBody:
    """What a record of the log itself says."""
    return OWN_BODIES[type](body)


def mark_foreign(type: Any) -> Any:
    """The type as it is recorded: what the log says of itself, only the log can say."""
    return f"x_{type}" if isinstance(type, str) and type in OWN_TYPES else type


def _text(body: Mapping[str, Any], name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) else None


def _number(body: Mapping[str, Any], name: str) -> int | None:
    value = body.get(name)
    return value if isinstance(value, int) else None


def _mapping(body: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    value = body.get(name)
    return value if isinstance(value, dict) else None
