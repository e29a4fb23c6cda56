"""The checks of a hook module: it mounts, and each hook answers every event it hears."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.events import ALL_EVENTS
from amplifier_core.validation import HookValidator, hook
from tests.support.modules import GOOD_HOOKS, write_module

NO_HOOKS = "async def mount(coordinator, config): ..."


async def test_a_good_module_passes(tmp_path: Path) -> None:
    """A module that keeps its contract, at a glance and thoroughly."""
    path = write_module(tmp_path, GOOD_HOOKS)
    result = await HookValidator().validate(path)
    assert result.summary() == "PASSED: 4/4 checks passed (0 errors, 0 warnings)"
    thorough = await HookValidator(thorough=True).validate(path)
    assert thorough.passed, thorough.describe_errors()
    assert {"hook_registered", "hook_answers"} <= {one.name for one in thorough.checks}


async def test_a_module_passes_whatever_it_registers(tmp_path: Path) -> None:
    """A module may register later, and its clean-up may do nothing."""
    idle = GOOD_HOOKS.replace("return coord", "coord") + "    return lambda: None\n"
    for text in (NO_HOOKS, idle):
        assert (await HookValidator().validate(write_module(tmp_path, text))).passed


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
    path = write_module(tmp_path, text)
    result = await HookValidator(thorough=True).validate(path)
    assert [one.name for one in result.errors] == ["hook_answers"]
    assert "ok, tool:pre" in result.errors[0].message
    assert message in result.errors[0].message
    assert (await HookValidator().validate(path)).passed


async def test_a_module_without_hooks_is_hardly_a_hook_module(tmp_path: Path) -> None:
    """It may be a tool that was put in the wrong section: a thorough check says so."""
    result = await HookValidator(thorough=True).validate(write_module(tmp_path, NO_HOOKS))
    assert [one.name for one in result.errors] == ["hook_registered"]


async def test_a_hook_of_a_pattern_is_tried_with_every_event_it_matches(tmp_path: Path) -> None:
    """Observers of everything get a sample of everything."""
    path = write_module(tmp_path, GOOD_HOOKS.replace('"tool:pre"', '"*"'))
    result = await HookValidator(thorough=True).validate(path)
    said = {one.message for one in result.checks}
    assert {f"ok answers {event}" for event in ALL_EVENTS} <= said
