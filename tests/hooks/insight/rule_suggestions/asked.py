"""Questions that people answered, for tests about what they suggest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from amplifier_hooks.insight.rule_suggestions.drafts import Question, Said

GUARD = "hooks-production-guard"
FOLDER = "/home/ann/project"


def make_question(tool: str, given: dict[str, Any], **changes: Any) -> Question:
    """A question about a call, answered with yes."""
    facts: dict[str, Any] = {
        "hook": GUARD,
        "event": "tool:pre",
        "tool": tool,
        "input": given,
        "time": "2026-11-01T10:00:00Z",
        "session": "s1",
        "folder": FOLDER,
        "said": "yes",
        "by": "ann",
    }
    return Question(**{**facts, **changes})


def make_several(
    calls: list[tuple[str, dict[str, Any]]], folder: Path, said: Said = "yes", **changes: Any
) -> list[Question]:
    """Questions about calls, each in a session and on a day of its own."""
    return [
        make_question(
            tool,
            given,
            session=f"s{at}",
            time=f"2026-11-{at + 1:02}T10:00:00Z",
            folder=str(folder),
            said=said,
            **changes,
        )
        for at, (tool, given) in enumerate(calls)
    ]
