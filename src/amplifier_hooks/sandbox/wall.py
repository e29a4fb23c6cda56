"""The wall around one command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["landlock", "bubblewrap", "seatbelt"]
Network = Literal["allow", "deny"]


@dataclass(frozen=True, slots=True)
class Wall:
    """What a command may do; all paths are absolute and real.

    Below `writable` and in `temporary`, its private folder, it may write; `hidden` places it can
    neither read nor write, also where they lie in a writable one. `sealed` ones keep their content:
    they are put back when the command has ended. `granted` are the writable places that a person
    allowed to this one command; a sealed one among them may change.
    """

    writable: tuple[Path, ...]
    hidden: tuple[Path, ...]
    sealed: tuple[Path, ...]
    temporary: Path
    network: Network = "allow"
    unix_sockets: bool = False
    granted: tuple[Path, ...] = ()
    kind: Kind = "landlock"
