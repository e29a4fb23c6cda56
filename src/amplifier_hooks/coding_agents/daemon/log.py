"""The log of the resident process: what it writes to standard error, and never too much of it."""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import sys

LONGEST = 1_000_000


class BoundedHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to a file that is emptied when it has grown too long."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        trim_log()
        super().emit(record)


def set_up_log() -> None:
    """Log warnings, and when the process started and ended, to standard error."""
    logging.raiseExceptions = False  # on a full disk there is nowhere to complain
    handler = BoundedHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("amplifier_hooks.coding_agents").setLevel(logging.INFO)


def trim_log(descriptor: int = 2, longest: int = LONGEST) -> None:
    """Empty the file behind a descriptor, if it is a file and longer than it may be."""
    with contextlib.suppress(OSError):
        facts = os.fstat(descriptor)
        if stat.S_ISREG(facts.st_mode) and facts.st_size > longest:
            os.ftruncate(descriptor, 0)
