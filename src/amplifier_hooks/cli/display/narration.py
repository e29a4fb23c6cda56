"""The state of a run and the lines that an event is worth: pure, so all displays show the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_core import events
from amplifier_core.message_models import TextBlock
from amplifier_hooks.cli.text.fragments import Fragment, Line
from amplifier_hooks.cli.text.output import explain_how
from amplifier_hooks.text.escape import escape, get_first_line, make_readable


@dataclass(slots=True)
class RunState:
    """Time, tokens, cost, failed hooks, and what the run is doing right now."""

    clock: Callable[[], float] = time.monotonic
    started: float = 0.0
    tokens: int = 0
    cost: float | None = None
    ended: float | None = None
    doing: str = "starting"
    running: list[str] = field(default_factory=list)
    """The tools that run right now, in the order they were called."""
    stopping: bool = False
    hook_failures: int = 0

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def elapsed(self) -> float:
        """Seconds since the run began, until it ended."""
        return (self.clock() if self.ended is None else self.ended) - self.started

    def end(self) -> None:
        """Stop the clock."""
        self.ended = self.clock()

    def count(self, event: str, data: Mapping[str, Any]) -> None:
        """Count one event."""
        note = _NOTES.get(event)
        if note is not None:
            note(self, data)
        if self.stopping:
            self.doing = "stopping"

    def stop(self) -> None:
        """The person wants the run to stop; until it has, that is what it is doing."""
        self.stopping = True
        self.doing = "stopping"

    def summarize(self) -> str:
        """Time, tokens and cost, as far as they are known."""
        parts = [format_duration(self.elapsed)]
        if self.tokens:
            parts.append(f"{self.tokens:,} tokens")
        if self.cost is not None:
            parts.append(f"${self.cost:.4f}" if self.cost < 1 else f"${self.cost:.2f}")
        if self.hook_failures:
            parts.append(f"{self.hook_failures} hook failure{'s' * (self.hook_failures != 1)}")
        return " · ".join(parts)


def format_duration(seconds: float) -> str:
    """Seconds, or minutes and seconds."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def _note_request(state: RunState, data: Mapping[str, Any]) -> None:
    state.running.clear()
    state.doing = "thinking"


def _note_delta(state: RunState, data: Mapping[str, Any]) -> None:
    state.doing = "answering"


def _note_response(state: RunState, data: Mapping[str, Any]) -> None:
    usage = data.get("usage") or {}
    total = usage.get("total_tokens")
    state.tokens += total or _get_number(usage, "input_tokens") + _get_number(
        usage, "output_tokens"
    )
    cost = usage.get("cost", usage.get("cost_usd"))
    if not isinstance(cost, int | float):
        cost = _compute_price(data.get("model"), dict(usage))
    if cost:
        state.cost = (state.cost or 0.0) + cost


def _compute_price(model: Any, usage: dict[str, Any]) -> float:
    """What the tokens cost by the price list; nothing where the model has no price."""
    if not isinstance(model, str) or not usage:
        return 0.0
    from amplifier_hooks.guards.cost_control import compute_cost, find_price

    _, money = compute_cost(usage, find_price(model, {}, None))
    return money


def _get_number(usage: Mapping[str, Any], key: str) -> int:
    value = usage.get(key)
    return value if isinstance(value, int) else 0


def _note_call(state: RunState, data: Mapping[str, Any]) -> None:
    state.running.append(str(data.get("tool_name", "a tool")))
    _note_tools(state)


def _note_result(state: RunState, data: Mapping[str, Any]) -> None:
    name = str(data.get("tool_name", "a tool"))
    if name in state.running:
        state.running.remove(name)
    _note_tools(state)


def _note_violation(state: RunState, data: Mapping[str, Any]) -> None:
    if data.get("event") == events.TOOL_PRE:
        _note_result(state, data)


def _note_tools(state: RunState) -> None:
    """Name each tool once, with the number of its calls."""
    counted = {name: state.running.count(name) for name in state.running}
    names = [f"{count} × {name}" if count > 1 else name for name, count in counted.items()]
    state.doing = f"running {', '.join(names)}" if names else "thinking"


def _note_question(state: RunState, data: Mapping[str, Any]) -> None:
    state.doing = "waiting for a decision"


_NOTES: dict[str, Callable[[RunState, Mapping[str, Any]], None]] = {
    events.PROVIDER_REQUEST: _note_request,
    events.CONTENT_BLOCK_DELTA: _note_delta,
    events.PROVIDER_RESPONSE: _note_response,
    events.TOOL_PRE: _note_call,
    events.TOOL_POST: _note_result,
    events.TOOL_ERROR: _note_result,
    events.POLICY_VIOLATION: _note_violation,
    events.APPROVAL_REQUIRED: _note_question,
}


Data = Mapping[str, Any]

RESULT_LINES = 20
FAILURE_LINES = 5
OWN = "amplifier"
"""The source of what the command itself has to say."""

UNEXPLAINED = "it gave no reason"

_LEVEL_SIGNS = {"info": ("note", "·"), "warning": ("warn", "!"), "error": ("bad", "✗")}
_GOOD = ("good", "✓")
_BAD = ("bad", "✗")
_DONE = ("good", "●")

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
    text = make_readable("" if output is None else str(output))
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
    hook = escape(str(data.get("hook", "")))
    prompt = get_first_line(str(data.get("prompt", "")))
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
    who = escape(str(data.get("provider", "provider")))
    why = _get_error(data)
    # The errors of our providers begin with their name.
    return [(("bad", f"✗ {why}" if why.startswith(who) else f"✗ {who}: {why}"),)]


def _describe_spawn(data: Data) -> list[Line]:
    name = escape(str(data.get("agent_name", "?")))
    return [(("tool", f"◆ {name}"), ("", f"  {get_first_line(str(data.get('task', '')))}"))]


def _describe_agent_end(data: Data) -> list[Line]:
    name = escape(str(data.get("agent_name", "?")))
    status = escape(str(data.get("status", "")))
    took = _format_milliseconds(data.get("duration_ms"))
    return [(("tool", f"◇ {name}"), ("dim", f"  {status} · {took}"))]


def _describe_compaction(data: Data) -> list[Line]:
    before = data.get("messages_before")
    after = data.get("messages_after")
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
