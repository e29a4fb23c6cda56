"""hooks-injection-guard, mounted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.guards.injection_guard.scanner import Scanner
from tests.hooks.guards.injection_guard.attacks import ORDER
from tests.support.harness import Harness


async def test_it_hears_results_errors_lists_and_requests(tmp_path: Path) -> None:
    """All of them as a guard."""
    harness = Harness(tmp_path)
    await harness.mount("injection_guard")
    heard = harness.hooks.list_handlers()
    assert set(heard) == {"tool:pre", "tool:post", "tool:error", "mcp:list"}


@pytest.mark.parametrize(
    ("event", "data"),
    [
        ("tool:post", {"tool_name": "Read", "tool_result": {"output": "x"}}),
        ("mcp:list", {"server": "x", "method": "tools/list", "items": [{"name": "a"}]}),
    ],
)
async def test_what_cannot_be_looked_through_is_withheld(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, event: str, data: dict[str, Any]
) -> None:
    """A guard that fails denies."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(Scanner, "scan", fail)
    harness = Harness(tmp_path)
    await harness.mount("injection_guard")
    assert not (await harness.judge(event, **data)).allowed


async def test_it_judges_what_other_hooks_have_left(tmp_path: Path) -> None:
    """A hook that fetches more into a result runs before it."""
    harness = Harness(tmp_path)
    await harness.mount("injection_guard", {"on_result": "withhold"})

    def add(event: str, data: dict[str, Any]) -> dict[str, Any]:
        return {"action": "modify", "data": {**data, "tool_result": {"output": ORDER}}}

    harness.hooks.register("tool:post", add, name="adder")
    outcome = await harness.judge("tool:post", tool_name="Read", tool_result={"output": "x"})
    assert not outcome.allowed
