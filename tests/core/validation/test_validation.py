"""The checks for authors find what is wrong with a module, and say it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core import events
from amplifier_core.validation import (
    ContextValidator,
    HookValidator,
    MountPlanValidator,
    OrchestratorValidator,
    ProviderValidator,
    ToolValidator,
    sample_payload,
)
from amplifier_core.validation.behavioral import HookBehaviorTests
from amplifier_core.validation.structural import HookStructuralTests

GOOD = """
from amplifier_core.models import HookResult
async def ok(event, data): return HookResult(action="continue")
async def mount(coordinator, config):
    return coordinator.hooks.register("tool:pre", ok)
"""


def module(folder: Path, text: str) -> Path:
    file = folder / "sample_module.py"
    file.write_text(text)
    return file


async def test_a_good_module_passes(tmp_path: Path) -> None:
    """A module that keeps its contract."""
    result = await HookValidator().validate(module(tmp_path, GOOD))
    assert result.passed
    assert result.summary().endswith("7 of 7 checks passed")


@pytest.mark.parametrize(
    ("text", "check", "message"),
    [
        ("x = 1", "can be found and imported", "has no mount"),
        ("async def mount(): ...", "mount takes (coordinator, config)", "too many positional"),
        ("def mount(c, k): ...", "mount is async", "write `async def mount`"),
        ("async def mount(c, k): raise OSError('no')", "mounts", "OSError: no"),
        ("async def mount(c, k): return 3", "returns a clean-up or None", "returned int"),
        ("async def mount(c, k): ...", "registers a hook", "nothing was registered"),
        (
            GOOD.replace('HookResult(action="continue")', "data['missing']"),
            "ok answers tool:pre",
            "KeyError",
        ),
        (
            GOOD.replace("return coordinator", "coordinator") + "    return lambda: None\n",
            "its clean-up removes every hook",
            "still registered",
        ),
        (
            GOOD + "    def undo(): raise OSError('undo')\n",
            "its clean-up works",
            "OSError: undo",
        ),
    ],
)
async def test_each_broken_promise_is_named(
    tmp_path: Path, text: str, check: str, message: str
) -> None:
    """What is wrong, and what would do."""
    if "def undo" in text:
        text = text.replace("    return coordinator", "    coordinator") + "    return undo\n"
    result = await HookValidator().validate(module(tmp_path, text))
    assert check in [one.name for one in result.errors]
    assert message in result.summary()


PARTS = """
async def mount(coordinator, config):
    class Thing:
        name = "thing"
        def add_message(self, *a, **k): ...
        def get_messages(self): return []
        def set_messages(self, m): ...
        def clear(self): ...
    for point in ("tools", "providers", "context", "orchestrator"):
        await coordinator.mount(point, Thing(), "t" if point.endswith("s") else None)
    async def undo(): ...
    return undo
"""
NOTHING = """
async def mount(coordinator, config):
    await coordinator.unmount("context")
"""


@pytest.mark.parametrize(
    ("validator", "half", "none"),
    [
        (ToolValidator, "t is a Tool", "mounts a tool"),
        (ProviderValidator, "t is a Provider", "mounts a provider"),
        (ContextValidator, "keeps messages", "mounts a context"),
        (OrchestratorValidator, "mounts a loop", "mounts a loop"),
    ],
)
async def test_parts_that_lack_something_are_named(
    tmp_path: Path, validator: Any, half: str, none: str
) -> None:
    """Tools, providers, contexts and loops: what their protocols ask for."""
    result = await validator().validate(module(tmp_path, PARTS))
    assert half in [one.name for one in result.errors]
    result = await validator().validate(module(tmp_path, NOTHING))
    assert none in [one.name for one in result.errors]


@pytest.mark.parametrize(
    ("plan", "errors"),
    [
        ({"session": {"orchestrator": "a", "context": "b"}, "tools": ["x", {"module": "y"}]}, []),
        ([], ["is a mapping"]),
        ({}, ["session.orchestrator is named", "session.context is named"]),
        (
            {"session": {"orchestrator": "a", "context": "b"}, "hooks": {}, "tools": [{}]},
            ["tools 1 names its module", "hooks is a list"],
        ),
    ],
)
def test_a_plan_is_looked_at(plan: Any, errors: list[str]) -> None:
    """MountPlanValidator."""
    assert [one.name for one in MountPlanValidator().validate(plan).errors] == errors


@pytest.mark.parametrize("event", events.ALL_EVENTS)
def test_there_is_a_sample_of_every_event(event: str) -> None:
    """Every field of an event, with a value."""
    sample = sample_payload(event, extra=1)
    assert sample["session_id"] == "sample-session"
    assert sample["extra"] == 1
    assert None not in sample.values()


def test_an_event_of_a_modules_own_has_the_common_fields_only() -> None:
    """Modules can define and emit custom events."""
    assert set(sample_payload("my:event")) == {"session_id", "timestamp"}


async def test_the_base_classes_for_authors_test_a_module(tmp_path: Path) -> None:
    """HookBehaviorTests and HookStructuralTests."""
    good, bad = module(tmp_path, GOOD), tmp_path / "bad.py"
    bad.write_text("def mount(c, k): ...")

    class Behaves(HookBehaviorTests):
        module = good

    class Looks(HookStructuralTests):
        module = good

    await Behaves().test_the_module_keeps_the_contract_of_hooks()
    Looks().test_the_module_has_an_async_mount()
    Behaves.module = Looks.module = bad
    with pytest.raises(AssertionError, match="mount is async"):
        await Behaves().test_the_module_keeps_the_contract_of_hooks()
    with pytest.raises(AssertionError, match="async def mount"):
        Looks().test_the_module_has_an_async_mount()
