"""The position that a writer has acknowledged, in a file of two slots that are written in turn.

It is written after each sync of the log and before anybody is told, so it is never ahead of the
disk; a slot that was torn fails its checksum, and the other one still stands.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_audit.record import Head
from amplifier_audit.regular import read_regular

SLOT = 8192
_MOST = 1024 * 1024


@dataclass(frozen=True, slots=True)
class State:
    """The acknowledged end of a log: so many records, up to this byte of this segment."""

    log: str
    segment: int
    offset: int
    head: Head
    checkpoint: str | None = None
    name: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        data = {
            "log": self.log,
            "segment": self.segment,
            "offset": self.offset,
            "head": self.head.to_dict(),
            "checkpoint": self.checkpoint,
        }
        return data if self.name is None else {**data, "name": self.name}

    @classmethod
    def from_dict(cls, data: Any) -> State:
        """From JSON; ValueError for anything else."""
        try:
            return cls(
                str(data["log"]),
                int(data["segment"]),
                int(data["offset"]),
                Head.from_dict(data["head"]),
                data.get("checkpoint"),
                data.get("name"),
            )
        except (KeyError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError("Not the saved position of a log") from error


class StateFile:
    """The open file of a writer."""

    def __init__(self, path: Path) -> None:
        self._counter = max((counter for counter, _ in _read_slots(path)), default=0)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)

    @property
    def descriptor(self) -> int:
        """Of the open file."""
        return self._file

    def write(self, state: State) -> None:
        """Into the slot that is older; survives the end of the process, not yet of the machine."""
        self._counter += 1
        text = json.dumps({"counter": self._counter, **state.to_dict()}).encode()
        slot = hashlib.sha256(text).hexdigest().encode() + b" " + text + b"\n"
        os.pwrite(self._file, slot.ljust(SLOT, b"\0"), self._counter % 2 * SLOT)

    def sync(self) -> None:
        """Make it survive the end of the machine as well."""
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def read_state(path: Path) -> State | None:
    """The newest state that is whole, or None."""
    slots = _read_slots(path)
    return max(slots, key=lambda slot: slot[0])[1] if slots else None


def _read_slots(path: Path) -> list[tuple[int, State]]:
    try:
        content = read_regular(path, _MOST)
    except OSError:
        return []
    found = [_parse_slot(content[start : start + SLOT]) for start in (0, SLOT)]
    return [slot for slot in found if slot]


def _parse_slot(content: bytes) -> tuple[int, State] | None:
    checksum, _, rest = content.partition(b" ")
    text = rest.rstrip(b"\0").removesuffix(b"\n")
    if checksum != hashlib.sha256(text).hexdigest().encode():
        return None
    try:
        data = json.loads(text)
        return int(data["counter"]), State.from_dict(data)
    except (ValueError, KeyError, TypeError, OverflowError):
        return None
