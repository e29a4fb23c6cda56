"""What hooks did about events, and what people decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amplifier_hooks.insight.reports.figures.day import Day
from amplifier_hooks.insight.reports.figures.excerpt import SHORT, summarize, to_text
from amplifier_hooks.insight.reports.figures.intervention import Field, Intervention, Kind, compare
from amplifier_hooks.insight.reports.figures.kept import Open
from amplifier_hooks.insight.reports.figures.session import MOST_OPEN, REASON_LENGTH, SessionFigures
from amplifier_hooks.trails import (
    Note,
    RecordedAnswer,
    RecordedApproval,
    RecordedEvent,
)
from amplifier_hooks.trails.reading import read_answer

KERNEL = "(the kernel)"


_WITHOUT_EFFECT = {
    "injection_dropped": "its text was not taken",
    "injection_unused": "its text was lost",
    "answer_ignored": "",
}
"""Records of what hooks said to no effect, in words."""


class Judgements:
    """Keeps each time that a hook mattered."""

    def __init__(self, figures: SessionFigures) -> None:
        self._figures = figures
        self._shadows: Open[tuple[str, str], Intervention] = Open(MOST_OPEN)

    def take_event(self, item: RecordedEvent, day: Day) -> None:
        """Take the answers to an event."""
        self._figures.gaps.take(item)
        for answer in item.answers:
            if answer.action != "continue" or answer.error is not None or answer.shadowed:
                self._judge(item, answer, day)

    def _judge(self, item: RecordedEvent, answer: RecordedAnswer, day: Day) -> None:
        if answer.shadowed:
            self._keep_shadow(item, answer)
        elif answer.unheeded:
            return
        if answer.error is not None:
            self._add("failure", item, answer, answer.error)
        if answer.action == "deny":
            self._add("denial", item, answer, answer.reason or item.reason)
            self._figures.denying.add(item.time, item.time)
            day.denied += 1
        elif answer.action == "modify" and not item.again:
            self._add("change", item, answer, answer.reason, compare(item.data, item.left))
            day.changed += 1

    def _keep_shadow(self, item: RecordedEvent, answer: RecordedAnswer) -> None:
        """Keep what shadow mode withheld until the record comes that says it in words."""
        key = (item.session, answer.hook)
        if (before := self._shadows.pop(key, None)) is not None:
            self._figures.interventions["shadow"].add(before)
        words = f"would have answered {answer.shadowed}"
        self._shadows[key] = _describe(item, "shadow", answer, words)

    def finish(self) -> None:
        """Take what no record said in words."""
        for one in self._shadows.values():
            self._figures.interventions["shadow"].add(one)

    def _add(
        self,
        kind: Kind,
        item: RecordedEvent,
        answer: RecordedAnswer,
        reason: str,
        fields: tuple[Field, ...] = (),
    ) -> None:
        self._figures.interventions[kind].add(_describe(item, kind, answer, reason, fields))

    # Questions

    def take_approval(self, item: RecordedApproval, day: Day) -> None:
        """Take a step of a question."""
        self._figures.questions.take(item)
        day.asked += item.stage == "requested" and not item.again

    # Records of their own

    def take_note(self, item: Note, day: Day) -> None:
        """Take what only records of their own tell: injections, and answers without events."""
        body = item.body
        if item.type == "action_resolved":
            self._take_resolved(item, day)
        elif item.type == "injection_accepted":
            self._note("injection", item, to_text(body.get("text")))
        elif item.type in _WITHOUT_EFFECT:
            self._take_without_effect(item)
        elif item.type == "shadowed":
            self._take_shadow(item)
        elif item.type == "user_message":
            self._note("message", item, to_text(body.get("text")))
        elif item.type == "digest_mismatch":
            self._note("denial", item, "what would have run is not what was approved")
            day.denied += 1

    def _take_without_effect(self, item: Note) -> None:
        """What a hook said that reached nobody, or that nothing obeyed."""
        body = item.body
        if item.type == "injection_unused" and not body.get("fault"):
            return
        words = _WITHOUT_EFFECT[item.type] or f"{to_text(body.get('action'))} had no effect"
        self._note("failure", item, f"{words}: {to_text(body.get('why'))}")

    def _take_resolved(self, item: Note, day: Day) -> None:
        """An answer in a trail that has decisions alone."""
        answer = read_answer({"hook": item.hook, **item.body})
        event = RecordedEvent(
            sequence=item.sequence,
            time=item.time,
            session=item.session,
            turn=item.turn,
            event=item.event,
            data={},
            left={},
        )
        self._judge(event, answer, day)

    def _take_shadow(self, item: Note) -> None:
        known = self._shadows.pop((item.session, item.hook), None)
        words = to_text(item.body.get("would"))[:REASON_LENGTH]
        if known is None:
            self._note("shadow", item, words)
        else:
            self._figures.interventions["shadow"].add(replace(known, reason=words))

    def _note(self, kind: Kind, item: Note, text: str) -> None:
        about = Intervention(
            kind, item.time, item.turn, item.hook or KERNEL, item.event, reason=text[:REASON_LENGTH]
        )
        self._figures.interventions[kind].add(about)


def _describe(
    item: RecordedEvent,
    kind: Kind,
    answer: RecordedAnswer,
    reason: str,
    fields: tuple[Field, ...] = (),
) -> Intervention:
    return Intervention(
        kind,
        item.time,
        item.turn,
        answer.hook,
        item.event,
        _describe_subject(item.event, item.data),
        reason[:REASON_LENGTH],
        fields,
        answer.timed_out,
    )


def _describe_subject(event: str, data: Mapping[str, Any]) -> str:
    """What an event was about, in one line."""
    if "tool_name" in data:
        return f"{to_text(data['tool_name'])} {summarize(data.get('tool_input'))}"[:SHORT].strip()
    found = data.get("prompt") or data.get("path") or data.get("model") or ""
    return summarize({"task": found})
