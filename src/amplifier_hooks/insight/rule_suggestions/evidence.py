"""The questions that people were asked, and what they said, as recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from amplifier_audit import verify
from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.trails import (
    RecordedApproval,
    read_header,
    read_history,
)
from amplifier_hooks.trails.gaps import find_masked, find_missing

Said = Literal["yes", "no", "not run", "nothing"]
"""What a person said; a rule's or nobody's answer is nothing, and so is one that nobody knows.

Where another program asked its own person: yes if it ran, and `not run` if it did not.
"""


@dataclass(frozen=True, slots=True)
class Question:
    """What a hook asked about one call, and what became of it."""

    hook: str
    event: str
    tool: str
    input: dict[str, Any]
    time: str
    session: str
    folder: str
    said: Said = "nothing"
    by: str = ""
    remembered: int = 0
    """How often an "always" of the same session answered it again."""
    complete: bool = True
    """Whether the trail has all of the input, with nothing masked."""

    @property
    def day(self) -> str:
        return self.time[:10]

    def to_question(self, hook: str | None = None) -> ApprovalQuestion:
        """The question, as an approval system would get it; `hook` is who else might ask it."""
        return ask(self.tool, self.input, self.hook if hook is None else hook, self.event)


def ask(tool: str, tool_input: dict[str, Any], hook: str, event: str) -> ApprovalQuestion:
    """A question about a call."""
    return ApprovalQuestion(
        prompt="Allow it?",
        options=("Allow once", "Deny"),
        timeout=60.0,
        default="deny",
        hook=hook,
        event=event,
        tool_name=tool,
        tool_input=tool_input,
    )


@dataclass(slots=True)
class Evidence:
    """All questions of some sessions."""

    questions: list[Question] = field(default_factory=list)
    trails: list[Path] = field(default_factory=list)
    tampered: list[Path] = field(default_factory=list)
    """Trails that were changed after they were written: what they tell is no evidence."""
    since: str = ""


def read_evidence(trails: Iterable[Path]) -> Evidence:
    """Read what people were asked in recorded sessions."""
    found = Evidence()
    for trail in trails:
        if verify(trail).verdict == "tampered":
            found.tampered.append(trail)
            continue
        header = read_header(trail)
        found.trails.append(trail)
        found.since = min(filter(None, (found.since, header.started)), default="")
        found.questions += _read_trail(trail, header.folder)
    return found


def _read_trail(trail: Path, folder: str) -> Iterator[Question]:
    asked: dict[tuple[str, int | None, str], Question] = {}
    handed: dict[tuple[str, ...], Question] = {}
    done: list[Question] = []
    for item in read_history(trail):
        if not isinstance(item, RecordedApproval):
            continue
        key = (item.session, item.id, item.digest)
        call = (item.session, item.hook, item.call_id, item.digest)
        if item.stage == "requested":
            if key in asked:
                done.append(asked[key])
            # What another program was to ask is put again with its answer.
            asked[key] = handed.pop(call, _begin(item, folder))
        elif item.stage == "outcome":
            handed |= {call: _learn(handed[call], item)} if call in handed else {}
        elif key in asked and item.stage == "handed_over":
            handed[call] = asked.pop(key)
        elif key in asked:
            asked[key] = _go_on(asked[key], item)
    yield from (*done, *handed.values(), *asked.values())


def _begin(item: RecordedApproval, folder: str) -> Question:
    given = item.input if isinstance(item.input, dict) else {}
    whole = isinstance(item.input, dict) and not find_missing("", given)
    return Question(
        item.hook,
        item.event,
        item.tool,
        given,
        item.time,
        item.session,
        folder,
        complete=whole and not any(find_masked(given)),
    )


def _learn(question: Question, item: RecordedApproval) -> Question:
    said: Said = "yes" if item.state == "allowed" else "not run"
    return replace(question, said=said, by=f"the prompt of {item.to}")


def _go_on(question: Question, item: RecordedApproval) -> Question:
    if item.stage == "remembered":
        return replace(question, remembered=question.remembered + 1)
    if item.stage != "decided" or item.how != "person":
        return question
    if item.edited:  # something else ran than what was asked about
        return replace(question, by=item.by)
    return replace(question, said="yes" if item.allowed else "no", by=item.by)
