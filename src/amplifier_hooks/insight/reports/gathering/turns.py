"""Puts the records of a turn together: its prompt, its answer, and what models took for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_hooks.insight.reports.figures.day import Day
from amplifier_hooks.insight.reports.figures.excerpt import cut_text, join_blocks, to_text
from amplifier_hooks.insight.reports.figures.kept import Open, count_named
from amplifier_hooks.insight.reports.figures.session import (
    MOST_NAMES,
    MOST_OPEN,
    NAME_LENGTH,
    SessionFigures,
)
from amplifier_hooks.insight.reports.figures.step import Said, Turn
from amplifier_hooks.trails import RecordedCall, RecordedEvent


class Turns:
    """The turns of a session and of its sub-agents."""

    def __init__(self, figures: SessionFigures) -> None:
        self._figures = figures
        self._turns: Open[str, Turn] = Open(MOST_OPEN)
        self._requests: Open[str, str] = Open(MOST_OPEN)
        self._names: Open[str, str] = Open(MOST_OPEN)

    def name_agent(self, item: RecordedEvent) -> None:
        """Learn the name of a sub-agent."""
        self._names[to_text(item.data.get("child_id"))] = to_text(item.data.get("agent_name"))

    def submit(self, item: RecordedEvent, day: Day) -> None:
        """A turn begins."""
        if item.again:
            return
        self._end(item.session)
        turn = self._begin(item)
        turn.prompt = cut_text(to_text(item.left.get("prompt")))
        if item.action == "deny":
            turn.status = "denied"

    def find(self, item: RecordedEvent | RecordedCall) -> Turn:
        """The turn of a record; what happened outside of one gets one without a prompt."""
        turn = self._turns.get(item.session)
        if turn is None or item.turn > turn.number:
            self._end(item.session)
            turn = self._begin(item)
        turn.ended = item.time
        return turn

    def _begin(self, item: RecordedEvent | RecordedCall) -> Turn:
        agent = self._names.get(item.session, "")
        if not agent and item.session != self._figures.header.session:
            agent = "sub-agent"
        turn = Turn(item.session, item.turn, item.time, agent)
        self._turns[turn.session] = turn
        self._figures.turns.add(turn)
        if agent:
            count_named(self._figures.agents, agent, MOST_NAMES)
        return turn

    def _end(self, session: str) -> None:
        turn = self._turns.pop(session, None)
        if turn is not None and not turn.agent:
            self._figures.working.add(turn.started, turn.ended or turn.started)

    def answer(self, item: RecordedEvent, day: Day) -> None:
        """The answer, as it was handed over."""
        turn = self.find(item)
        if item.action == "deny" and item.event == "prompt:answer":
            turn.status = "withheld"
        if text := join_blocks(item.left.get("response")):
            turn.answer = cut_text(text)

    def conclude(self, item: RecordedEvent, day: Day) -> None:
        """The loop has ended, with a message and a status."""
        turn = self.find(item)
        status = to_text(item.left.get("status"))
        if status and status != "success":
            turn.status = status[:NAME_LENGTH]
        message = item.left.get("final_message")
        if isinstance(message, Mapping) and (text := join_blocks(message.get("content"))):
            turn.answer = cut_text(text)

    def request(self, item: RecordedEvent, day: Day) -> None:
        """A model is asked."""
        self._requests[item.session] = item.time

    def respond(self, item: RecordedEvent, day: Day) -> None:
        """A model has replied."""
        if item.again:
            return
        if started := self._requests.pop(item.session, ""):
            self._figures.thinking.add(started, item.time)
        turn, data = self.find(item), item.left
        model = to_text(data.get("model") or data.get("provider"))[:NAME_LENGTH]
        if usage := _find_usage(data):
            spent = self._figures.spending.take(model, usage)
            turn.tokens += spent.tokens
            day.tokens += spent.tokens
            if not spent.unpriced:
                turn.money = (turn.money or 0.0) + spent.money
        if text := join_blocks(data.get("response")).strip():
            turn.steps.add(Said(item.time, cut_text(text)))

    def finish(self) -> None:
        """End the turns whose end the trail does not tell."""
        for session in [*self._turns]:
            self._end(session)


def _find_usage(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The usage of the event, or of the response inside it."""
    response = data.get("response")
    inner = response.get("usage") if isinstance(response, Mapping) else None
    usage = data.get("usage") or inner
    return usage if isinstance(usage, Mapping) and "$commitment" not in usage else {}
