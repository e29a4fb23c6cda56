"""One place in a text that reads like an instruction to the model, or that hides something."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

KINDS: Mapping[str, str] = {
    "override": "tells the model to drop its instructions",
    "new-role": "gives the model another role, task or rank of orders",
    "secrecy": "tells the model to keep something from the user",
    "markup": "imitates the markup of a conversation or of a tool call",
    "data-demand": "asks for files, secrets or the conversation to be handed over",
    "other-tools": "says how tools of somebody else are to be used",
    "hidden-text": "has characters that people do not see",
    "hidden-order": "speaks to the model in a place that people do not see",
    "outlet": "has a link or picture that would carry data away",
}
"""What is looked for, by the names that `off` takes, and what is said of it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Where it stands in the text, and its kind."""

    start: int
    end: int
    kind: str


def join_findings(found: Iterable[Finding]) -> list[Finding]:
    """In the order of the text; those that overlap are one, under the kind of the first."""
    joined: list[Finding] = []
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        if joined and one.start < joined[-1].end:
            last = joined.pop()
            one = Finding(last.start, max(last.end, one.end), last.kind)
        joined.append(one)
    return joined
