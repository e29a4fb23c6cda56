"""Files of checkpoints that were kept outside a log."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from amplifier_audit.checkpoint import ORIGIN, Note, parse_note
from amplifier_audit.errors import BadCheckpoint
from amplifier_audit.log_directory import LogFiles, read_first_record
from amplifier_audit.record import name_log
from amplifier_audit.regular import read_regular

# Bytes of an Ed25519 signature; others are longer.
SIGNATURE = 64
_MOST = 256 * 1024 * 1024
"""Bytes: the checkpoints of years."""


def read_checkpoints(path: str | os.PathLike[str]) -> list[Note]:
    """All checkpoints of a file, at least one; what a crash left of one is passed over."""
    try:
        content = read_regular(Path(path), _MOST)
    except OSError as error:
        raise BadCheckpoint(f"Cannot read {path}: {error.strerror}") from error
    text = content.decode("utf-8", "replace")
    start = text.lstrip()
    if "\ufffd" in text and not start.startswith(ORIGIN):
        raise BadCheckpoint(f"{path} holds no checkpoint: it is not text")
    if start and not start.startswith(ORIGIN) and not ORIGIN.startswith(start.split("\n")[0]):
        raise BadCheckpoint(f"Not a file of checkpoints: it begins with {start[:40]!r}")
    *blocks, last = _list_blocks(text) or [""]
    whole = [*(_read_whole(block) for block in blocks), _read_whole(last, last=True)]
    notes = _drop_unsigned([note for note in whole if note])
    if not notes:
        raise BadCheckpoint(f"{path} holds no checkpoint")
    return notes


def _list_blocks(text: str) -> list[str]:
    """Each from one origin to the next, with all its line breaks."""
    parts = re.split(f"^(?={re.escape(ORIGIN)})", text, flags=re.MULTILINE)
    return [part for part in parts if part.startswith(ORIGIN)]


def _read_whole(block: str, *, last: bool = False) -> Note | None:
    """The checkpoint at the start of a block; None if its writer was killed within it."""
    body, blank, rest = block.partition("\n\n")
    signed = rest.partition("\n\n")[0].removesuffix("\n") if rest.startswith("—") else ""
    text = body.removesuffix("\n") + "\n" + (f"\n{signed}\n" if signed else "")
    try:
        note = parse_note(text)
    except BadCheckpoint:
        return None
    # Half a name is a name as well: it is whole when a blank line or the end comes after its line.
    ended = bool(signed or blank) or note.checkpoint.name is None or (last and body[-1:] == "\n")
    long = all(len(one.signature) >= SIGNATURE for one in note.signatures)
    return note if ended and long else None


def _drop_unsigned(notes: list[Note]) -> list[Note]:
    """A writer signs all or none: one without a signature, among others, has lost it."""
    signing = {note.checkpoint.log for note in notes if note.signatures}
    return [note for note in notes if note.signatures or note.checkpoint.log not in signing]


def read_anchors(
    paths: Iterable[str | os.PathLike[str]], log: LogFiles, name: str | None = None
) -> list[Note]:
    """The checkpoints of files that may serve several logs: those of this log, if there are any.

    Those of other logs of the same name are kept, so that the verifier can say that one is gone,
    and those of logs without a name, one of which this may be. If there is nothing of this log, all
    are kept, so that it names the wrong log.
    """
    return select_anchors([note for path in paths for note in read_checkpoints(path)], log, name)


def select_anchors(notes: list[Note], log: LogFiles, name: str | None = None) -> list[Note]:
    """Of checkpoints that may be of several logs, those that speak of this one."""
    own = find_log_id(log)
    if not any(note.checkpoint.log == own for note in notes):
        return notes
    names = {name_log(one) for one in (log.name, name) if one is not None}
    return [n for n in notes if n.checkpoint.log == own or n.checkpoint.name in {*names, None}]


def split_anchors(
    notes: Collection[Note], log: LogFiles, names: Collection[str]
) -> tuple[list[Note], list[Note], list[Note]]:
    """The anchors to check, those of earlier logs of the same name, and those of nameless others.

    Without any of this log all are to be checked: then it is not the log that they speak of.
    """
    own = find_log_id(log)
    if not any(note.checkpoint.log == own for note in notes):
        return list(notes), [], []
    others = [note for note in notes if note.checkpoint.log != own]
    earlier = [note for note in others if note.checkpoint.name in names]
    nameless = [note for note in others if note.checkpoint.name is None]
    return [note for note in notes if note not in (*earlier, *nameless)], earlier, nameless


def find_log_id(log: LogFiles) -> str | None:
    """Which log it is, as its first record or its writer's state says."""
    first = read_first_record(log.paths[0]) if log.paths else None
    if first is not None:
        return str(first["log"])
    return log.state.log if log.state else None
