"""Adapters that fail themselves: nothing gets past hooks that could not be asked."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.external.half_calls import HalfCalls
from amplifier_hooks.external.run import Run
from amplifier_hooks.frameworks import Governor
from tests.adapters.drivers.driver import Driver
from tests.adapters.stage import DONE, Stage, attempt, call, keep_runs, use

PARTS = {
    "begin": ((Governor, "begin"), (Governor, "begin_sync"), (Run, "submit"), (Run, "submit_sync")),
    "request": ((Run, "request"), (Run, "request_sync")),
    "review": ((Run, "review"), (Run, "review_sync")),
    "call": (
        (Run, "call"),
        (Run, "call_sync"),
        (HalfCalls, "before"),
        (HalfCalls, "before_sync"),
    ),
    "answer": ((Run, "answer"), (Run, "answer_sync")),
}
NEEDED = {
    "begin": "prompt:submit",
    "request": "provider:request",
    "review": "provider:response",
    "call": "tool:pre",
    "answer": "prompt:answer",
}


def break_part(part: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have a part of what adapters stand on raise; returns what was called of it."""
    called: list[str] = []

    def fail(*given: Any, **named: Any) -> Any:
        called.append(part)
        raise RuntimeError("broken inside")

    for owner, name in PARTS[part]:
        monkeypatch.setattr(owner, name, fail)
    return called


@pytest.mark.parametrize("part", sorted(PARTS))
async def test_an_adapter_that_fails_lets_nothing_through(
    driver: Driver, stage: Stage, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a tool runs nor an answer goes out that could not be judged; the session ends."""
    if NEEDED[part] not in driver.coverage.events:
        pytest.skip(f"cannot: {NEEDED[part]} is not shown")
    stage.listen("session:start", "session:end", *NEEDED.values())
    called, kept = break_part(part, monkeypatch), keep_runs(driver, monkeypatch)
    hooks = stage.hooks
    ran, error = await attempt(driver.run(hooks, use(call("wipe", path="/tmp/x"))))
    assert called
    if part != "answer":
        assert [one for made in (ran, *kept) for one in made.calls] == []
        assert "wiped" not in "".join(ran.requests)
    if part != "call":
        assert error is not None or DONE not in ran.answer
    if part in ("begin", "request"):
        assert [one for made in (ran, *kept) for one in made.requests] == []
    started, ended = (len(stage.of_type(f"session_{one}")) for one in ("started", "ended"))
    await hooks.close()
    assert ended == started, "the framework was not followed to its end"
