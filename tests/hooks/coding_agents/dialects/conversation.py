"""What a hook is told in a dialect, and what its reply means there."""

from __future__ import annotations

import json
from typing import Any

from amplifier_hooks.coding_agents.dialects import Dialect
from amplifier_hooks.coding_agents.dialects.dialect import Call, Handler, Reply
from amplifier_hooks.external.verdicts import Verdict

Data = dict[str, Any]

TOOL: Data = {
    "tool_name": "Bash",
    "tool_input": {"command": "make"},
    "tool_call_id": "call-1",
    "duration_ms": 7,
    "timestamp": "2026-03-04T05:06:07+00:00",
}
"""A tool call, as our events tell it."""


def make_call(native: str, data: Data | None = None, **more: Any) -> Call:
    """An occurrence of an event in a session of the project folder."""
    return Call("", native, data or {}, "session-1", "/project", **more)


def make_handler(dialect: Dialect, native: str, **fields: Any) -> Handler:
    """A hook of that event; its command is called `hook`."""
    command = None if "url" in fields else "hook"
    return Handler(dialect.name, native, "file", command, **fields)


def read(dialect: Dialect, native: str, printed: Any = "", **fields: Any) -> Verdict:
    """The verdict on a reply: an answer to print, or `code`, `stderr` and the fields of a hook."""
    names = ("code", "stderr", "failure", "timed_out")
    reply = {name: fields.pop(name) for name in names if name in fields}
    text = printed if isinstance(printed, str) else json.dumps(printed)
    call = make_call(native, fields.pop("data", TOOL))
    handler = make_handler(dialect, native, **fields)
    return dialect.read_reply(handler, call, Reply(stdout=text, **reply))
