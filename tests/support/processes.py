"""Whether a process that a command started still runs."""

from __future__ import annotations

import signal
from pathlib import Path


def is_running(marker: Path) -> bool:
    """Whether the process whose id stands in the file runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{int(marker.read_text())}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def is_written(marker: Path) -> bool:
    """Whether the file is there and holds something."""
    return marker.exists() and bool(marker.read_text().strip())


def heed_interrupts() -> None:
    """For `preexec_fn`: a shell's background jobs, as half of our tests are, ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
