"""What hooks did about events, and what people decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amplifier_core.records import (
    AnswerIgnored,
    AnswerShadowed,
    DigestMismatch,
    HookAnswer,
    InjectionAccepted,
    InjectionDropped,
    InjectionUnused,
    UserMessage,
    plain,
)
from amplifier_hooks.insight.reports.figures.day import Day
from amplifier_hooks.insight.reports.figures.excerpt import SHORT, summarize, to_text
from amplifier_hooks.insight.reports.figures.intervention import Field, Intervention, Kind, compare
from amplifier_hooks.insight.reports.figures.kept import Open
from amplifier_hooks.insight.reports.figures.session import MOST_OPEN, REASON_LENGTH, SessionFigures
from amplifier_hooks.trails import (
    Note,
    RecordedApproval,
    RecordedEvent,
)

KERNEL = "(the kernel)"


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

    def _judge(self, item: RecordedEvent, answer: HookAnswer, day: Day) -> None:
        if answer.shadowed:
            self._keep_shadow(item, answer)
        elif answer.unheeded:
            return
        if answer.error is not None:
            self._add("failure", item, answer, str(answer.error))
        if answer.action == "deny":
            self._add("denial", item, answer, plain(answer.reason) or item.reason)
            self._figures.denying.add(item.time, item.time)
            day.denied += 1
        elif answer.action == "modify" and not item.again:
            self._add("change", item, answer, plain(answer.reason), compare(item.data, item.left))
            day.changed += 1

    def _keep_shadow(self, item: RecordedEvent, answer: HookAnswer) -> None:
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
        answer: HookAnswer,
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
        match item.body:
            case HookAnswer() as answer:
                self._take_resolved(item, answer, day)
            case InjectionAccepted(text=text):
                self._note("injection", item, to_text(text))
            case InjectionDropped() | InjectionUnused() | AnswerIgnored() as body:
                self._take_without_effect(item, body)
            case AnswerShadowed(would=would):
                self._take_shadow(item, to_text(would)[:REASON_LENGTH])
            case UserMessage(text=text):
                self._note("message", item, to_text(text))
            case DigestMismatch():
                self._note("denial", item, "what would have run is not what was approved")
                day.denied += 1

    def _take_without_effect(
        self, item: Note, body: InjectionDropped | InjectionUnused | AnswerIgnored
    ) -> None:
        """What a hook said that reached nobody, or that nothing obeyed."""
        why = to_text(body.why)
        if isinstance(body, AnswerIgnored):
            self._note("failure", item, f"{body.action} had no effect: {why}")
        elif isinstance(body, InjectionDropped):
            self._note("failure", item, f"its text was not taken: {why}")
        elif body.fault:
            self._note("failure", item, f"its text was lost: {why}")

    def _take_resolved(self, item: Note, answer: HookAnswer, day: Day) -> None:
        """An answer in a trail that has decisions alone."""
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

    def _take_shadow(self, item: Note, words: str) -> None:
        known = self._shadows.pop((item.session, item.hook), None)
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
    answer: HookAnswer,
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
        answer.timed_out is True,
    )


def _describe_subject(event: str, data: Mapping[str, Any]) -> str:
    """What an event was about, in one line."""
    if "tool_name" in data:
        return f"{to_text(data['tool_name'])} {summarize(data.get('tool_input'))}"[:SHORT].strip()
    found = data.get("prompt") or data.get("path") or data.get("model") or ""
    return summarize({"task": found})
