"""A position that a verification has reached, for the next one to go on from."""

from __future__ import annotations

import json
import os
from pathlib import Path

from amplifier_audit.errors import AuditError
from amplifier_audit.files.state import State
from amplifier_audit.regular import read_regular

_MOST = 1024 * 1024


def save_position(path: str | os.PathLike[str], position: State) -> None:
    """Write it to a file, as JSON."""
    try:
        Path(path).write_text(json.dumps(position.to_dict()) + "\n", "utf-8")
    except OSError as error:
        raise AuditError(f"Cannot write {path}: {error.strerror}") from error


def load_position(path: str | os.PathLike[str]) -> State:
    """A position that an earlier verification saved."""
    try:
        return State.from_dict(json.loads(read_regular(Path(path), _MOST)))
    except OSError as error:
        raise AuditError(f"Cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise AuditError(f"{path} is not a saved position of a log") from error
