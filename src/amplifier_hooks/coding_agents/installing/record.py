"""Record of our changes on this machine: for each file the content before, and what we wrote.

Where   $XDG_DATA_HOME/amplifier/guests/backups, by default ~/.local/share/amplifier/...
        for the files of MCP clients, amplifier/mcp/backups: one file may have both in it
Format  <digest of the path>.json, with the old content beside it in <digest of the path>.before
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from amplifier_hooks.machine.files import compute_digest, replace_file
from amplifier_hooks.machine.locations import find_data_home

_PRIVATE = 0o600


@dataclass(frozen=True, slots=True)
class Record:
    """One file with entries of ours in it."""

    path: str
    agent: str
    scope: str
    root: str
    """The project's, or an empty text."""
    written: str
    """The digest of what we wrote: as long as the file has it, nobody else has changed it."""
    existed: bool
    mode: int | None
    folders: tuple[str, ...] = ()
    """That we made."""
    http: bool = False
    version: str = ""
    program: str = ""
    """The version of the agent at that time; empty if it was not known."""


class Records:
    """All of them, in a folder that only the person can read."""

    def __init__(
        self,
        folder: Path | None = None,
        env: Mapping[str, str] | None = None,
        mode: int = _PRIVATE,
    ) -> None:
        home = find_data_home(env) / "amplifier" / "guests"
        self.folder = folder if folder is not None else home / "backups"
        self._mode = mode

    def find(self, path: Path) -> Record | None:
        """That of one file; None if there is none that we can read."""
        return _read(self._get_path(path, ".json"))

    def read_before(self, path: Path) -> bytes | None:
        """What the file held before us; None if it was not there, or that is not known."""
        record = self.find(path)
        if record is None or not record.existed:
            return None
        with contextlib.suppress(OSError):
            return self._get_path(path, ".before").read_bytes()
        return None

    def save(self, record: Record, before: bytes | None) -> None:
        """Remember a file; what it held before first, so that it is never lost."""
        self._make_folder()
        path = Path(record.path)
        if before is not None:
            replace_file(self._get_path(path, ".before"), before, mode=_PRIVATE)
        text = json.dumps(asdict(record), indent=1, sort_keys=True) + "\n"
        replace_file(self._get_path(path, ".json"), text.encode(), mode=self._mode)

    def accept(self, path: Path, content: bytes) -> None:
        """Remember that a person was shown what a file says about our guard, as it is now."""
        self._make_folder()
        replace_file(
            self._get_path(path, ".accepted"), compute_digest(content).encode(), mode=self._mode
        )

    def forget_accepted(self, path: Path) -> None:
        """Remove only that."""
        self.forget(path, ".accepted")

    def find_accepted(self, path: Path) -> str:
        """The digest of what was accepted; empty if nothing was."""
        with contextlib.suppress(OSError):
            return self._get_path(path, ".accepted").read_text()
        return ""

    def forget(self, path: Path, *endings: str) -> None:
        """Remove what is remembered of a file, and the folder with the last of them."""
        for ending in endings or (".json", ".before", ".accepted"):
            self._get_path(path, ending).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    def list(self) -> Iterator[Record]:
        """All that are remembered, in no order."""
        found = self.folder.glob("*.json") if self.folder.is_dir() else ()
        return (one for one in map(_read, found) if one is not None)

    def _make_folder(self) -> None:
        mode = 0o700 if self._mode == _PRIVATE else 0o755
        self.folder.parent.mkdir(parents=True, exist_ok=True, mode=mode)
        self.folder.mkdir(exist_ok=True, mode=mode)

    def _get_path(self, path: Path, ending: str) -> Path:
        return self.folder / (compute_digest(str(path).encode())[:32] + ending)


def open_mcp_records(env: Mapping[str, str] | None = None) -> Records:
    """Those of the files in which MCP clients name their servers."""
    return Records(find_data_home(env) / "amplifier" / "mcp" / "backups")


def _read(path: Path) -> Record | None:
    """A damaged record is none: the file it is about then loses our entries, and nothing else."""
    try:
        data: dict[str, Any] = json.loads(path.read_bytes())
        return Record(**{**data, "folders": tuple(data["folders"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
