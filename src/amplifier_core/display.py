"""Messages for the person: the protocol, and logging where no display is."""

from __future__ import annotations

import logging
from typing import Protocol, runtime_checkable

from amplifier_core.models import Level

logger = logging.getLogger(__name__)

_SEVERITY = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


@runtime_checkable
class DisplaySystem(Protocol):
    """Shows a message. `source` is `hook:NAME` for hooks; the method may also be async."""

    def show_message(self, message: str, level: Level, source: str) -> object: ...


class LoggingDisplay:
    """Writes messages to the log: what a session without a display has."""

    def show_message(self, message: str, level: Level, source: str = "hook") -> None:
        """Log at the severity of the message; where no log is set up, so that Python shows it."""
        lowest = logging.NOTSET if logger.hasHandlers() else logging.WARNING
        severity = _SEVERITY.get(level, logging.INFO)
        logger.log(max(severity, lowest), "[%s] %s", source, message)
