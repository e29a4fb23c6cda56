"""An event told in a line or two: pure, so that every display tells the same story."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from amplifier_apps.cli.display.run_state import duration
from amplifier_apps.cli.text.escape import escape
from amplifier_apps.cli.text.fragments import Line
from amplifier_core import events
from amplifier_core.message_models import TextBlock, extract_text

RESULT_LINES = 20
SHORT = 400
OWN = "amplifier"
"""The source of what the command itself has to say."""

LEVEL_SIGNS = {"info": ("note", "·"), "warning": ("warn", "!"), "error": ("bad", "✗")}

# The field that says most about a call, by what our tools and those of the ecosystem call it.
_TELLING = (
    "command",
    "file_path",
    "path",
    "pattern",
    "agent",
    "agent_name",
    "query",
    "url",
    "task",
)


def readable(text: str) -> str:
    """Foreign text for reading, not for approving: harmless, with tabs and emoji as expected."""
    return escape(
        text.replace("\r\n", "\n").replace("\t", "    ").replace("\ufe0f", ""), lines=True
    )


def first_line(text: str, limit: int = SHORT) -> str:
    """The first line, cut."""
    line = readable(text).strip().split("\n", 1)[0]
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def message_lines(message: str, level: str, source: str) -> list[Line]:
    """A hook's message by severity; further lines stand under the first."""
    style, sign = LEVEL_SIGNS.get(level, LEVEL_SIGNS["info"])
    who = "" if source == OWN else f"{escape(source.removeprefix('hook:'))}: "
    first, *rest = readable(message).split("\n")
    lines: list[Line] = [((style, f"{sign} "), ("dim", who), (style, first))]
    return [*lines, *((((style, f"  {text}"),)) for text in rest)]


def narrate(event: str, data: Mapping[str, Any], *, verbose: bool = False) -> list[Line]:
    """The lines an event is worth; most are worth none."""
    if event == events.TOOL_POST:
        return _tool_post(data, verbose)
    teller = _TELLERS.get(event)
    return teller(data) if teller else []


def reply_text(data: Mapping[str, Any]) -> str:
    """The text of a reply that was not streamed."""
    content = (data.get("response") or {}).get("content")
    if not isinstance(content, list):
        return extract_text(content) if isinstance(content, str) else ""
    blocks = [_text_block(block) for block in content]
    return "".join(block for block in blocks if block)


def _text_block(block: Any) -> str:
    if isinstance(block, TextBlock):
        return block.text
    return str(block.get("text", "")) if isinstance(block, Mapping) else ""


def call_summary(tool_input: Any) -> str:
    """What a call is about, in one line."""
    if not isinstance(tool_input, Mapping):
        return ""
    telling = next((tool_input[key] for key in _TELLING if key in tool_input), None)
    if telling is None:
        telling = next((value for value in tool_input.values() if isinstance(value, str)), "")
    return first_line(str(telling))


def _tool_line(data: Mapping[str, Any], sign: tuple[str, str], after: str) -> Line:
    about = call_summary(data.get("tool_input"))
    return (
        (sign[0], f"{sign[1]} "),
        ("tool", escape(str(data.get("tool_name", "?")))),
        ("", f"  {about}" if about else ""),
        ("dim", f"  {after}" if after else ""),
    )


def _tool_post(data: Mapping[str, Any], verbose: bool) -> list[Line]:
    result = data.get("tool_result") or {}
    took = duration(float(data.get("duration_ms") or 0) / 1000)
    if not data.get("success", True):
        why = first_line(str(result.get("error") or "it failed"))
        return [_tool_line(data, ("bad", "✗"), took), (("bad", f"  {why}"),)]
    output = result.get("output")
    text = readable(output if isinstance(output, str) else "" if output is None else str(output))
    count = text.count("\n") + (not text.endswith("\n")) if text else 0
    size = f"{count} line{'s' * (count != 1)} · " if count > 1 else ""
    lines = [_tool_line(data, ("good", "●"), f"{size}{took}")]
    return lines + (_folded(text) if verbose else [])


def _folded(text: str) -> list[Line]:
    rows = text.rstrip("\n").split("\n")
    shown: list[Line] = [(("dim", f"  │ {row}"),) for row in rows[:RESULT_LINES]]
    more = len(rows) - RESULT_LINES
    return [*shown, (("dim", f"  │ … {more} more lines"),)] if more > 0 else shown


def _tool_error(data: Mapping[str, Any]) -> list[Line]:
    return [_tool_line(data, ("bad", "✗"), ""), (("bad", f"  {_error(data)}"),)]


def _error(data: Mapping[str, Any]) -> str:
    error = data.get("error") or {}
    return first_line(str(error.get("message") if isinstance(error, Mapping) else error))


def _violation(data: Mapping[str, Any]) -> list[Line]:
    if data.get("refused_by_person"):
        return []
    called = "tool_name" in data
    what = "" if called else f" ({escape(str(data.get('event')))})"
    who = escape(str(data.get("hook", "?")))
    reason = first_line(str(data.get("reason") or ""))
    call: list[Line] = [_tool_line(data, ("bad", "✗"), "")] if called else []
    return [*call, (("bad", f"{'  ' if called else '✗ '}denied by {who}{what}: "), ("", reason))]


def _granted(data: Mapping[str, Any]) -> list[Line]:
    return [_decision(data, ("good", "✓"), "allowed")]


def _refused(data: Mapping[str, Any]) -> list[Line]:
    return [_decision(data, ("bad", "✗"), "refused")]


_HOW = {
    "timeout": "nobody decided in time",
    "nobody": "there was nobody to ask",
    "error": "the question could not be asked",
    "invalid": "the answer was none of the options",
    "cache": "as decided before in this session",
}


def _decision(data: Mapping[str, Any], sign: tuple[str, str], word: str) -> Line:
    by = f" by {escape(str(data['by']))}" if data.get("by") else ""
    how = _HOW.get(str(data.get("how")), "")
    option = f" · {escape(str(data['decision']))}" if data.get("decision") and not how else ""
    why = f" · {how}" if how else ""
    return (
        (sign[0], f"{sign[1]} {word}{by}{option}{why}"),
        (
            "dim",
            f"  {escape(str(data.get('hook', '')))}: {first_line(str(data.get('prompt', '')))}",
        ),
    )


def _retry(data: Mapping[str, Any]) -> list[Line]:
    wait = duration(float(data.get("delay_ms") or 0) / 1000)
    attempt = f"{data.get('attempt')} of {data.get('max_attempts')}"
    return [
        (("warn", f"! trying again in {wait} (attempt {attempt})"), ("dim", f"  {_error(data)}"))
    ]


def _provider_error(data: Mapping[str, Any]) -> list[Line]:
    who, why = escape(str(data.get("provider", "provider"))), _error(data)
    # The errors of our providers begin with their name.
    return [(("bad", f"✗ {why}" if why.startswith(who) else f"✗ {who}: {why}"),)]


def _spawn(data: Mapping[str, Any]) -> list[Line]:
    name = escape(str(data.get("agent_name", "?")))
    return [(("tool", f"◆ {name}"), ("", f"  {first_line(str(data.get('task', '')))}"))]


def _agent_done(data: Mapping[str, Any]) -> list[Line]:
    name = escape(str(data.get("agent_name", "?")))
    took = duration(float(data.get("duration_ms") or 0) / 1000)
    return [(("tool", f"◇ {name}"), ("dim", f"  {escape(str(data.get('status', '')))} · {took}"))]


def _compacted(data: Mapping[str, Any]) -> list[Line]:
    before, after = data.get("messages_before"), data.get("messages_after")
    return [(("dim", f"· the conversation was shortened: {before} messages to {after}"),)]


_TELLERS: dict[str, Callable[[Mapping[str, Any]], list[Line]]] = {
    events.TOOL_ERROR: _tool_error,
    events.POLICY_VIOLATION: _violation,
    events.APPROVAL_GRANTED: _granted,
    events.APPROVAL_DENIED: _refused,
    events.PROVIDER_RETRY: _retry,
    events.PROVIDER_ERROR: _provider_error,
    events.AGENT_SPAWN: _spawn,
    events.AGENT_COMPLETE: _agent_done,
    events.CONTEXT_POST_COMPACT: _compacted,
}
