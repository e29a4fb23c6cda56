"""One event that comes by several lines is judged once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from amplifier_hooks.coding_agents.sessions import repeats
from amplifier_hooks.coding_agents.sessions.repeats import Repeats
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import Verdict


def tell(command: str, session: str = "s") -> Incoming:
    """An agent wants to run a command."""
    data = {"tool_name": "Bash", "tool_input": {"command": command}}
    return Incoming("tool:pre", data, "preToolUse", session)


class Judge:
    """Counts what it judges."""

    def __init__(self, verdict: Verdict | None = None, error: Exception | None = None) -> None:
        self.calls = 0
        self._verdict = verdict or Verdict(
            decision="deny", reason="no", context=("x",), notes=("y",)
        )
        self._error = error

    async def judge(self) -> Verdict:
        self.calls += 1
        await asyncio.sleep(0)
        if self._error is not None:
            raise self._error
        return self._verdict


async def test_the_second_line_gets_the_verdict_without_its_texts() -> None:
    """One after the other, or while the first is still judged; a third question is another call."""
    judge, known = Judge(), Repeats()
    first, second = await asyncio.gather(
        known.judge_once(tell("a"), "copilot", judge.judge),
        known.judge_once(tell("a"), "claude", judge.judge),
    )
    assert judge.calls == 1
    assert (first.decision, first.context, first.notes) == ("deny", ("x",), ("y",))
    assert (second.decision, second.context, second.notes) == ("deny", (), ())
    for line in ("claude", "copilot"):
        await known.judge_once(tell("a"), line, judge.judge)
    assert judge.calls == 2


@pytest.mark.parametrize("other", [tell("b"), tell("a", "t")])
async def test_another_event_is_judged_by_itself(other: Incoming) -> None:
    """Another input, or another session."""
    judge, known = Judge(), Repeats()
    await known.judge_once(tell("a"), "copilot", judge.judge)
    await known.judge_once(other, "claude", judge.judge)
    assert judge.calls == 2


async def test_an_input_that_was_changed_is_known_when_the_next_line_shows_it() -> None:
    """It is not changed once more; the original is, for programs that show that one again."""
    judge = Judge(Verdict(tool_input={"command": "b"}))
    for shown, changed in (("b", None), ("a", {"command": "b"})):
        known = Repeats()
        await known.judge_once(tell("a"), "copilot", judge.judge)
        again = await known.judge_once(tell(shown), "claude", judge.judge)
        assert again.tool_input == changed
    assert judge.calls == 2


async def test_what_failed_is_judged_again() -> None:
    """Nobody is answered from a verdict that there never was."""
    known = Repeats()
    failing: Callable[[], Awaitable[Any]] = Judge(error=RuntimeError("no")).judge
    with pytest.raises(RuntimeError):
        await known.judge_once(tell("a"), "copilot", failing)
    judge = Judge()
    await known.judge_once(tell("a"), "claude", judge.judge)
    assert judge.calls == 1


async def test_an_old_verdict_is_used_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes much later is another event; and only so many are kept."""
    judge, known = Judge(), Repeats()
    await known.judge_once(tell("a"), "copilot", judge.judge)
    monkeypatch.setattr(repeats, "_LONGEST_GAP", 0.0)
    await known.judge_once(tell("a"), "claude", judge.judge)
    assert judge.calls == 2
    monkeypatch.setattr(repeats, "_MOST", 2)
    for word in "bcd":
        await known.judge_once(tell(word), "claude", judge.judge)
    assert len(known._events) == 2
