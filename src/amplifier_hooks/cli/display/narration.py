"""The lines that an event or a message is worth: pure, so that all displays show the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from amplifier_core import events
from amplifier_core.message_models import TextBlock
from amplifier_hooks.cli.display.run_state import format_duration
from amplifier_hooks.cli.text.escape import escape, get_first_line, make_readable
from amplifier_hooks.cli.text.fragments import Fragment, Line
from amplifier_hooks.cli.text.words import explain_how

Data = Mapping[str, Any]

RESULT_LINES = 20
FAILURE_LINES = 5
OWN = "amplifier"
"""The source of what the command itself has to say."""

UNEXPLAINED = "it gave no reason"

_LEVEL_SIGNS = {"info": ("note", "·"), "warning": ("warn", "!"), "error": ("bad", "✗")}
_GOOD, _BAD, _DONE = ("good", "✓"), ("bad", "✗"), ("good", "●")

# The field that says most about a call, by what our tools and those of the ecosystem call it.
_MAIN_FIELDS = (
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


def describe_message(message: str, level: str, source: str) -> list[Line]:
    """A hook's message by severity; further lines stand under the first."""
    style, sign = _LEVEL_SIGNS.get(level, _LEVEL_SIGNS["info"])
    who = "" if source == OWN else f"{escape(source.removeprefix('hook:'))}: "
    first, *rest = make_readable(message).split("\n")
    lines: list[Line] = [((style, f"{sign} "), ("dim", who), (style, first))]
    return [*lines, *(((style, f"  {text}"),) for text in rest)]


def describe_event(event: str, data: Data, *, verbose: bool = False) -> list[Line]:
    """The lines an event is worth; most are worth none."""
    if event == events.TOOL_POST:
        return _describe_result(data, verbose)
    describe = _DESCRIBERS.get(event)
    return describe(data) if describe else []


def get_reply_text(data: Data) -> str:
    """The text of a reply that was not streamed."""
    return join_blocks((data.get("response") or {}).get("content"))


def calls_tools(data: Data) -> bool:
    """Whether a reply is a step on the way and not the answer yet."""
    response = data.get("response") or {}
    content = response.get("content")
    blocks = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else ()
    return bool(response.get("tool_calls")) or any(one.get("type") == "tool_call" for one in blocks)


def join_blocks(content: Any) -> str:
    """The text of a message: its content, or the text of its blocks, as models or as data."""
    if isinstance(content, str):
        return content
    return "".join(map(_get_block_text, content)) if isinstance(content, list) else ""


def _get_block_text(block: Any) -> str:
    if isinstance(block, TextBlock):
        return block.text
    return str(block.get("text", "")) if isinstance(block, Mapping) else ""


def summarize_call(tool_input: Any) -> str:
    """What a call is about, in one line."""
    if not isinstance(tool_input, Mapping):
        return ""
    found = next((tool_input[key] for key in _MAIN_FIELDS if key in tool_input), None)
    if found is None:
        found = next((value for value in tool_input.values() if isinstance(value, str)), "")
    return get_first_line(str(found))


def _describe_call(data: Data, sign: Fragment, after: str = "") -> Line:
    style, mark = sign
    about = summarize_call(data.get("tool_input"))
    return (
        (style, f"{mark} "),
        ("tool", escape(str(data.get("tool_name", "?")))),
        ("", f"  {about}" if about else ""),
        ("dim", f"  {after}" if after else ""),
    )


def _describe_result(data: Data, verbose: bool) -> list[Line]:
    result = data.get("tool_result")
    if not isinstance(result, Mapping):  # loops of the ecosystem may tell of the output only
        result = {"output": result}
    took = _format_milliseconds(data.get("duration_ms"))
    output = result.get("output")
    text = make_readable(
        output if isinstance(output, str) else "" if output is None else str(output)
    )
    if not data.get("success", True):
        error = _get_error(result)
        last = _fold_end(text, error, RESULT_LINES if verbose else FAILURE_LINES)
        return [_describe_call(data, _BAD, took), *last, (("bad", f"  {error}"),)]
    count = text.count("\n") + (not text.endswith("\n")) if text else 0
    size = f"{count} lines · " if count > 1 else ""
    lines = [_describe_call(data, _DONE, f"{size}{took}")]
    return lines + (_fold(text) if verbose else [])


def _format_milliseconds(value: Any) -> str:
    return format_duration(float(value or 0) / 1000)


def _fold(text: str) -> list[Line]:
    """The first lines of a result, and how many follow."""
    rows = text.rstrip("\n").split("\n")
    shown: list[Line] = [(("dim", f"  │ {row}"),) for row in rows[:RESULT_LINES]]
    more = len(rows) - RESULT_LINES
    return [*shown, (("dim", f"  │ … {more} more lines"),)] if more > 0 else shown


def _fold_end(text: str, error: str, most: int) -> list[Line]:
    """The last lines of what failed, which mostly say why; without the error itself."""
    rows = text.rstrip("\n").split("\n") if text.strip() else []
    if rows and rows[-1].strip("[]") == error:
        rows.pop()
    return [(("dim", f"  │ {row}"),) for row in rows[-most:] if row != error]


def _describe_tool_error(data: Data) -> list[Line]:
    return [_describe_call(data, _BAD), (("bad", f"  {_get_error(data)}"),)]


def _get_error(data: Data) -> str:
    error = data.get("error")
    message = error.get("message") if isinstance(error, Mapping) else error
    return get_first_line(str(message or error or "it failed"))


def _describe_violation(data: Data) -> list[Line]:
    if data.get("refused_by_person"):
        return []
    called = "tool_name" in data
    what = "" if called else f" ({escape(str(data.get('event')))})"
    who = escape(str(data.get("hook", "?")))
    reason = get_first_line(str(data.get("reason") or ""))
    call: list[Line] = [_describe_call(data, _BAD)] if called else []
    denial = f"{'  ' if called else '✗ '}denied by {who}{what}: "
    return [*call, (("bad", denial), ("", reason or UNEXPLAINED))]


def _describe_grant(data: Data) -> list[Line]:
    return _describe_decision(data, _GOOD, "allowed")


def _describe_refusal(data: Data) -> list[Line]:
    return _describe_decision(data, _BAD, "refused")


def _describe_decision(data: Data, sign: Fragment, word: str) -> list[Line]:
    style, mark = sign
    by = f" by {escape(str(data['by']))}" if data.get("by") else ""
    reason = explain_how(data.get("how"))
    option = f" · {escape(str(data['decision']))}" if data.get("decision") and not reason else ""
    why = f" · {reason}" if reason else ""
    hook, prompt = escape(str(data.get("hook", ""))), get_first_line(str(data.get("prompt", "")))
    line: Line = ((style, f"{mark} {word}{by}{option}{why}"), ("dim", f"  {hook}: {prompt}"))
    return [line, *_describe_comment(str(data.get("comment") or ""))]


def _describe_comment(comment: str) -> list[Line]:
    """What the person told the agent with a decision."""
    if not comment:
        return []
    first, *rest = make_readable(comment).split("\n")
    return [(("comment", f"  said: {first}"),), *((("comment", f"        {one}"),) for one in rest)]


def _describe_retry(data: Data) -> list[Line]:
    wait = _format_milliseconds(data.get("delay_ms"))
    attempt = f"{data.get('attempt')} of {data.get('max_attempts')}"
    retry = ("warn", f"! trying again in {wait} (attempt {attempt})")
    return [(retry, ("dim", f"  {_get_error(data)}"))]


def _describe_provider_error(data: Data) -> list[Line]:
    who, why = escape(str(data.get("provider", "provider"))), _get_error(data)
    # The errors of our providers begin with their name.
    return [(("bad", f"✗ {why}" if why.startswith(who) else f"✗ {who}: {why}"),)]


def _describe_spawn(data: Data) -> list[Line]:
    name = escape(str(data.get("agent_name", "?")))
    return [(("tool", f"◆ {name}"), ("", f"  {get_first_line(str(data.get('task', '')))}"))]


def _describe_agent_end(data: Data) -> list[Line]:
    name, status = escape(str(data.get("agent_name", "?"))), escape(str(data.get("status", "")))
    took = _format_milliseconds(data.get("duration_ms"))
    return [(("tool", f"◇ {name}"), ("dim", f"  {status} · {took}"))]


def _describe_compaction(data: Data) -> list[Line]:
    before, after = data.get("messages_before"), data.get("messages_after")
    return [(("dim", f"· the conversation was shortened: {before} messages to {after}"),)]


_DESCRIBERS: dict[str, Callable[[Data], list[Line]]] = {
    events.TOOL_ERROR: _describe_tool_error,
    events.POLICY_VIOLATION: _describe_violation,
    events.APPROVAL_GRANTED: _describe_grant,
    events.APPROVAL_DENIED: _describe_refusal,
    events.PROVIDER_RETRY: _describe_retry,
    events.PROVIDER_ERROR: _describe_provider_error,
    events.AGENT_SPAWN: _describe_spawn,
    events.AGENT_COMPLETE: _describe_agent_end,
    events.CONTEXT_POST_COMPACT: _describe_compaction,
}
