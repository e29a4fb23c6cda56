"""The checks of a hook module: it registers, and each hook answers every event it hears."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.events import ALL_EVENTS
from amplifier_core.validation import HookValidator, hook
from tests.support.modules import GOOD_HOOKS, write_module


async def test_a_good_module_passes(tmp_path: Path) -> None:
    """A module that keeps its contract."""
    result = await HookValidator().validate(write_module(tmp_path, GOOD_HOOKS))
    assert result.passed
    assert result.summary().endswith("7 of 7 checks passed")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return data['missing']", "KeyError"),
        ("return 'yes'", "returned str, not a HookResult"),
        ("import asyncio; await asyncio.sleep(60)", "TimeoutError"),
    ],
)
async def test_a_hook_that_does_not_answer_is_named(
    tmp_path: Path, body: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It raises, answers nonsense or hangs: named with the event it failed on."""
    monkeypatch.setattr(hook, "PATIENCE", 0.02)
    text = GOOD_HOOKS.replace('return HookResult(action="continue")', body)
    result = await HookValidator().validate(write_module(tmp_path, text))
    assert [one.name for one in result.errors] == ["ok answers tool:pre"]
    assert message in result.errors[0].message


async def test_a_module_without_hooks_is_no_hook_module(tmp_path: Path) -> None:
    """It may be a tool that was put in the wrong section."""
    path = write_module(tmp_path, "async def mount(coordinator, config): ...")
    result = await HookValidator().validate(path)
    assert [one.name for one in result.errors] == ["registers a hook"]


async def test_a_hook_of_a_pattern_is_tried_with_every_event_it_matches(tmp_path: Path) -> None:
    """Observers of everything get a sample of everything."""
    path = write_module(tmp_path, GOOD_HOOKS.replace('"tool:pre"', '"*"'))
    result = await HookValidator().validate(path)
    assert {f"ok answers {event}" for event in ALL_EVENTS} <= {one.name for one in result.checks}
