"""The log lines of this package, with the secrets in them replaced."""

from __future__ import annotations

import logging
from collections.abc import Callable

_OWN = "amplifier_"


class SecretFilter(logging.Filter):
    """Rewrites the records of our loggers; those of the application around us stay as they are."""

    def __init__(self, redact_text: Callable[[str], str]) -> None:
        super().__init__()
        self._redact_text = redact_text

    def filter(self, record: logging.LogRecord) -> bool:
        """Replace what is secret in the message and in the traceback; every record passes."""
        if not record.name.startswith(_OWN):
            return True
        try:
            message = record.getMessage()
            clean = self._redact_text(message)
            if clean is not message:
                record.msg, record.args = clean, None
            if record.exc_info and not record.exc_text:
                record.exc_text = logging.Formatter().formatException(record.exc_info)
            if record.exc_text:
                record.exc_text = self._redact_text(record.exc_text)
        except Exception as error:  # noqa: BLE001 - a log line must not stop what it tells of
            record.msg, record.args = f"[withheld: {type(error).__name__}]", None
            record.exc_info = record.exc_text = None
        return True


def watch_logs(redact_text: Callable[[str], str]) -> Callable[[], None]:
    """Filter what every handler of the root logger writes; the returned call ends it."""
    found = SecretFilter(redact_text)
    handlers = list(logging.getLogger().handlers)
    for handler in handlers:
        handler.addFilter(found)

    def end() -> None:
        for handler in handlers:
            handler.removeFilter(found)

    return end
