"""In what form injected text reaches the conversation: plain, or framed with each hook's name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from amplifier_core.injection.limits import Injection
from amplifier_core.utils import timestamp

_HEADING = "Hook feedback:"
_LINE_ENDS = re.compile("([\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029])")
_FRAME = re.compile(
    r"[\W_]*(hook[\W_]*feedback[\W_]*:|from\b.*\(\s*\d+\s*bytes?\s*\)\s*:)", re.IGNORECASE
)
_UNSEEN = frozenset(("Cc", "Cf", "Me", "Mn"))
_BLANK = dict.fromkeys((0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0), " ")
_LOOKALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0441\u0443\u043a\u043c\u0442\u04bb\u0455\u0501\u03bf\u03ba"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0421\u0422\u0423\u0405"
    "\u0391\u0392\u0395\u0397\u039a\u039c\u039f\u03a4\u03a5\u03dc",
    "aeocykmthsdokABEKMHOCTYSABEHKMOTYF",
)
"""Cyrillic and Greek letters that look like those of the frame."""
_CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]+")


def indent_forged_frames(text: str) -> str:
    """The text with lines that look like the frame of a hook's feedback indented."""
    pieces = _LINE_ENDS.split(text)
    return "".join(f"    {piece}" if _looks_like_frame(piece) else piece for piece in pieces)


def _looks_like_frame(line: str) -> bool:
    """As a reader sees it: lookalikes are letters, what cannot be seen is not there."""
    if not line.isascii() or not line.isprintable():
        plain = unicodedata.normalize("NFKC", line.translate(_BLANK)).translate(_LOOKALIKE)
        line = "".join(
            one for one in plain if one.isspace() or unicodedata.category(one) not in _UNSEEN
        )
    return _FRAME.match(line) is not None


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
    return [*result, *(message for one in behind for message in build_messages([one]))]


def _append_text(content: Any, injection: Injection) -> Any:
    text = indent_forged_frames(injection.text)
    if isinstance(content, list):
        return [*content, {"type": "text", "text": text}]
    return f"{content or ''}\n\n{text}"
