"""Files of checkpoints that were kept outside a log."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from amplifier_audit.errors import BadCheckpoint
from amplifier_audit.files.lines import read_first_record
from amplifier_audit.files.log_files import LogFiles
from amplifier_audit.format.checkpoint import Note, parse_notes


def read_checkpoints(path: str | os.PathLike[str]) -> list[Note]:
    """All checkpoints of a file, at least one."""
    try:
        notes = parse_notes(Path(path).read_text("utf-8"))
    except OSError as error:
        raise BadCheckpoint(f"Cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadCheckpoint(f"{path} holds no checkpoint: it is not text") from error
    if not notes:
        raise BadCheckpoint(f"{path} holds no checkpoint")
    return notes


def read_anchors(paths: Iterable[str | os.PathLike[str]], log: LogFiles) -> list[Note]:
    """The checkpoints of files that may serve several logs: those of this log, if there are any.

    If there are none, all of them are returned, so that the verifier names the wrong log.
    """
    notes = [note for path in paths for note in read_checkpoints(path)]
    first = read_first_record(log.paths[0]) or {"log": None}
    return [note for note in notes if note.checkpoint.log == first["log"]] or notes
