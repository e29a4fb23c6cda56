"""The log of the server: one line for each entry, with the id of the request.

Text of others stands in it with everything escaped that could begin a line, and without tokens.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import MutableMapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, TextIO

from amplifier_hooks.text.escape import escape

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that is answered; empty outside of requests."""

_OURS = ("amplifier_hooks", "amplifier_audit", "amplifier_core", "amplifier_hooks")
_TOKEN = re.compile(r"amp_[\w-]+", re.ASCII)


def set_up_logging(level: str, form: str, stream: TextIO | None = None) -> None:
    """Write what this server has to say to the standard error stream, in place of all before.

    Libraries are heard from `warning` on only: their details contain headers, and so credentials.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in _OURS:
        logging.getLogger(name).setLevel(level.upper())


class TextFormatter(logging.Formatter):
    """Time, level, the part of the program, the id of the request, and what happened."""

    def format(self, record: logging.LogRecord) -> str:
        request = f" [{REQUEST_ID.get()}]" if REQUEST_ID.get() else ""
        text = f"{record.name}{request}: {record.getMessage()}"
        if record.exc_info:
            text += f" | {self.formatException(record.exc_info)}"
        return f"{_format_time(record)} {record.levelname} {clean(text)}"


class JsonFormatter(logging.Formatter):
    """The same as a JSON object; what is known of the request has fields of its own."""

    def format(self, record: logging.LogRecord) -> str:
        facts: dict[str, Any] = {
            "time": _format_time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": mask(record.getMessage()),
        }
        if REQUEST_ID.get():
            facts["request_id"] = REQUEST_ID.get()
        facts |= {key: _mask_value(one) for key, one in getattr(record, "facts", {}).items()}
        if record.exc_info:
            facts["traceback"] = mask(self.formatException(record.exc_info))
        return json.dumps(facts, default=str)


def clean(text: str) -> str:
    """A text as one line of characters that can be seen, without tokens."""
    return escape(mask(text).replace("\n", "\\n"))


def mask(text: str) -> str:
    """The text without tokens for the API, which somebody may have put anywhere."""
    return _TOKEN.sub("amp_[REDACTED]", text)


def make_error(code: str, message: str) -> dict[str, str]:
    """An error as clients read it; within a request, with the id under which the log has it."""
    error = {"code": code, "message": message}
    return {**error, "request_id": REQUEST_ID.get()} if REQUEST_ID.get() else error


def note_problem(scope: MutableMapping[str, Any], status: int, code: str, message: str) -> None:
    """Keep for the log why a request fails. Refusals have a code there: words may be others'."""
    problem = f"{code}: {message}" if status >= 500 else code
    scope.setdefault("state", {})["problem"] = problem


def _mask_value(value: Any) -> Any:
    return mask(value) if isinstance(value, str) else value


def _format_time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
