"""Files of checkpoints that were kept outside a log."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path

from amplifier_audit.errors import BadCheckpoint
from amplifier_audit.files.lines import read_first_record
from amplifier_audit.files.log_files import LogFiles
from amplifier_audit.format.checkpoint import ORIGIN, Note, parse_notes


def read_checkpoints(path: str | os.PathLike[str]) -> list[Note]:
    """All checkpoints of a file, at least one; one that a crash tore is passed over."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise BadCheckpoint(f"Cannot read {path}: {error.strerror}") from error
    text = content.decode("utf-8", "replace")
    if not text.lstrip().startswith(ORIGIN) and "\ufffd" in text:
        raise BadCheckpoint(f"{path} holds no checkpoint: it is not text")
    notes = parse_notes(text, skip_torn=True)
    if not notes:
        raise BadCheckpoint(f"{path} holds no checkpoint")
    return notes


def read_anchors(
    paths: Iterable[str | os.PathLike[str]], log: LogFiles, name: str | None = None
) -> list[Note]:
    """The checkpoints of files that may serve several logs: those of this log, if there are any.

    Those of other logs of the same name are kept, so that the verifier can say that one is gone;
    if there is nothing of this log, all are, so that it names the wrong log.
    """
    notes = [note for path in paths for note in read_checkpoints(path)]
    own = _find_id(log)
    if not any(note.checkpoint.log == own for note in notes):
        return notes
    names = {log.name, name} - {None}
    return [n for n in notes if n.checkpoint.log == own or n.checkpoint.name in names]


def split_anchors(
    notes: Collection[Note], log: LogFiles, names: Collection[str]
) -> tuple[list[Note], list[Note]]:
    """The anchors to check, and those of earlier logs of the same name.

    Without any of this log all are to be checked: then it is not the log that they speak of.
    """
    own = _find_id(log)
    if not any(note.checkpoint.log == own for note in notes):
        return list(notes), []
    earlier = [n for n in notes if n.checkpoint.log != own and n.checkpoint.name in names]
    return [note for note in notes if note not in earlier], earlier


def _find_id(log: LogFiles) -> str | None:
    first = read_first_record(log.paths[0]) if log.paths else None
    if first is not None:
        return str(first["log"])
    return log.state.log if log.state else None
