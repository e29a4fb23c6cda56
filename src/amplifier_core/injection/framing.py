"""In what form injected text reaches the conversation: plain, or framed with each hook's name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from amplifier_core.injection.budget import Injection
from amplifier_core.utils import timestamp
from amplifier_core.utils.lookalike import read_as_a_person

_HEADING = "Hook feedback:"
_LINE_ENDS = re.compile("([\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029])")
_FRAME = re.compile(
    r"[\W_]*(hook[\W_]*feedback[\W_]*:|from\b.*\(\s*\d+\s*bytes?\s*\)\s*:)", re.IGNORECASE
)
_CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]+")


def indent_forged_frames(text: str) -> str:
    """The text with lines that look like the frame of a hook's feedback indented."""
    pieces = _LINE_ENDS.split(text)
    return "".join(f"    {piece}" if _looks_like_frame(piece) else piece for piece in pieces)


def _looks_like_frame(line: str) -> bool:
    return _FRAME.match(read_as_a_person(line)) is not None


def build_messages(injections: Iterable[Injection]) -> list[dict[str, Any]]:
    """One message per role: a hook alone speaks plainly, several are framed with their names."""
    by_role: dict[str, list[Injection]] = {}
    for injection in injections:
        by_role.setdefault(injection.role, []).append(injection)
    return [_build_message(role, group) for role, group in by_role.items()]


def _build_message(role: str, group: list[Injection]) -> dict[str, Any]:
    names = [injection.hook for injection in group]
    return {
        "role": role,
        "content": indent_forged_frames(group[0].text) if len(group) == 1 else _frame_all(group),
        "metadata": {
            "source": "hook",
            "hook_name": ", ".join(names),
            "hooks": names,
            "event": group[0].event,
            "timestamp": timestamp(),
            **({"ephemeral": True} if group[0].ephemeral else {}),
        },
    }


def _frame_all(group: Iterable[Injection]) -> str:
    frames = (
        f"From {_CONTROL.sub(' ', one.hook)} ({one.size} bytes):\n{indent_forged_frames(one.text)}"
        for one in group
    )
    return "\n\n".join([_HEADING, *frames])


def add_ephemeral(
    history: list[dict[str, Any]], injections: Iterable[Injection]
) -> list[dict[str, Any]]:
    """The messages of one request: the history, which stays as it is, and what is for now only."""
    result, behind = list(history), []
    for injection in injections:
        last = result[-1] if result else {}
        if injection.append_to_last_tool_result and last.get("role") == "tool":
            result[-1] = {**last, "content": _append_text(last.get("content"), injection)}
        else:
            behind.append(injection)
    result += [message for one in behind for message in build_messages([one])]
    return result


def _append_text(content: Any, injection: Injection) -> Any:
    text = indent_forged_frames(injection.text)
    if isinstance(content, list):
        return [*content, {"type": "text", "text": text}]
    return f"{content or ''}\n\n{text}"
