"""How many questions people were put each day, and how many a policy would put to them."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

from amplifier_core.approval.options import read_option
from amplifier_hooks.insight.backtest.verdict import Asking, Verdict
from amplifier_hooks.trails import RecordedApproval, RecordedEvent

MOST_OPEN = 1_000
"""Operations that are remembered until the trail tells what a person said about them."""

ValueT = TypeVar("ValueT")
KeyT = TypeVar("KeyT")


class Questions:
    """Counts what was asked and what would be; an answer for always is asked for once.

    What was asked is what the trail says, or, if it is not `recorded`, what another policy says.
    """

    def __init__(self, *, recorded: bool = True) -> None:
        self._recorded = recorded
        self.days: dict[str, list[int]] = {}
        """By day: questions of then, and questions of now."""
        # By session, event, call and hook: what is asked now as it was then.
        self._both: OrderedDict[tuple[str, ...], None] = OrderedDict()
        # By session, hook and digest: whether it is asked now as well, the tool and the prompt.
        self._open: OrderedDict[tuple[str, ...], tuple[bool, str, str]] = OrderedDict()
        self._always: set[tuple[str, str, str]] = set()

    def take_verdicts(self, event: RecordedEvent, was: Verdict, would: Verdict) -> None:
        """An event was judged; whether a question was really put, the trail says later."""
        asked = {one.hook for one in was.asking} if self._recorded else set()
        for one in would.asking:
            key = (event.session, event.event, _read_call(event), one.hook)
            if one.hook in asked:
                _remember(self._both, key, None)
            else:
                self._count_new(event, one, 1)
        for one in () if self._recorded else was.asking:
            self._count_new(event, one, 0)

    def _count_new(self, event: RecordedEvent, asking: Asking, column: int) -> None:
        tool = str(event.data.get("tool_name") or "")
        if (asking.hook, tool, asking.prompt) not in self._always:
            self._count(event.time, column)

    def take_approval(self, step: RecordedApproval) -> None:
        """A step of a question of then."""
        key = (step.session, step.hook, step.digest)
        if step.stage == "requested":
            if step.again:  # the same question, which another program asks
                return
            both = (step.session, step.event, step.call_id, step.hook) in self._both
            self._count(step.time, 0, int(self._recorded))
            self._count(step.time, 1, both)
            _remember(self._open, key, (both, step.tool, step.prompt))
        elif step.stage == "decided" and key in self._open:
            both, tool, prompt = self._open.pop(key)
            if step.how == "rule":  # nobody was disturbed
                self._count(step.time, 0, -int(self._recorded))
                self._count(step.time, 1, -both)
            elif read_option(step.decision).remembered:
                self._always.add((step.hook, tool, prompt))

    def _count(self, time: str, column: int, number: int = 1) -> None:
        self.days.setdefault(time[:10], [0, 0])[column] += number


def _read_call(event: RecordedEvent) -> str:
    return str(event.data.get("tool_call_id") or "")


def _remember(kept: OrderedDict[KeyT, ValueT], key: KeyT, value: ValueT) -> None:
    kept[key] = value
    while len(kept) > MOST_OPEN:
        kept.popitem(last=False)
