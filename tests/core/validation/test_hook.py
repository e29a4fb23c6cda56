"""The checks of a hook module: it mounts, and each hook answers every event it hears."""

from __future__ import annotations

from pathlib import Path
from typing import get_type_hints

import pytest

from amplifier_core import events
from amplifier_core.events import ALL_EVENTS
from amplifier_core.validation import HookValidator, hook, sample_payload
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


def test_there_is_a_sample_of_every_event() -> None:
    """Hooks are tried with every field that they may read."""
    absent = {"parent_id", "judged_again", "denied_by"}
    for event in events.ALL_EVENTS:
        payload = events.payload_type(event)
        assert payload is not None, event
        sample = sample_payload(event, extra=1)
        assert set(get_type_hints(payload)) - absent <= sample.keys(), event
        assert sample["session_id"] == "sample-session"
        assert sample["extra"] == 1
        assert None not in sample.values(), event


def test_known_fields_are_taken_as_they_are() -> None:
    """An author tries a hook with a call of their own."""
    sample = sample_payload("tool:pre", tool_name="Bash", tool_input={"command": "ls"})
    assert (sample["tool_name"], sample["tool_input"]) == ("Bash", {"command": "ls"})


def test_an_event_of_a_modules_own_has_the_common_fields_only() -> None:
    """Nobody knows what else is in it."""
    assert set(sample_payload("my:event")) == {"session_id", "timestamp"}
