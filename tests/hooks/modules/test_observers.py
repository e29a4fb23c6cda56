"""Which hooks a session can do without."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.loader import ModuleLoader
from amplifier_core.mount_plan import MountPlan, read_entry
from amplifier_hooks.modules.observers import (
    OBSERVERS,
    may_guard,
    require_guard,
    require_guards,
)
from tests.support.harness import Harness, finish

BUILT_IN = sorted(one for one in ModuleLoader().known() if one.startswith("hooks-"))

RULE = {"name": "no", "event": "tool:pre", "action": "deny", "reason": "No."}
BLOCKS = {"type": "command", "command": "true", "onFailure": "block"}

NEEDED: dict[str, dict[str, Any]] = {
    "hooks-rules": {"rules": [RULE]},
    "hooks-shell": {"hooks": {"PreToolUse": [BLOCKS]}},
    "hooks-model-judge": {"scope": "reading files below the project"},
    "hooks-cost-control": {"session": {"tokens": 1000}},
    "hooks-rate-limit": {"overall": {"calls": 1}},
    "hooks-test-runner": {"command": "true"},
}
"""Options of the modules that do nothing without."""


@pytest.mark.parametrize("module", BUILT_IN)
async def test_the_list_of_observers_is_right(module: str, tmp_path: Any) -> None:
    """Exactly those of our modules that register no guard are observers."""
    harness = Harness(tmp_path)
    config = NEEDED.get(module, {})
    cleanup = await ModuleLoader().find(module).bind(config)(harness.coordinator)
    names = harness.hooks.list_handlers()
    handlers = [one for event in names for one in harness.hooks.handlers_for(event)]
    guards = [one for one in handlers if one.is_guard]
    await finish(cleanup)
    assert bool(guards) == (module not in OBSERVERS)


def test_every_observer_is_one_of_our_modules() -> None:
    """A name that is misspelt in the list would make nothing an observer."""
    assert set(BUILT_IN) >= OBSERVERS


@pytest.mark.parametrize(
    ("entry", "guards"),
    [
        ("hooks-logging", False),
        ("hooks-command-guard", True),
        ("hooks-loging", True),
        ("somebody-elses-hook", True),
        ({"module": "hooks-logging", "source": "./mine.py"}, True),
        ({"module": "mine", "source": "./mine.py"}, True),
    ],
)
def test_whatever_is_not_known_to_observe_may_guard(entry: Any, guards: bool) -> None:
    """An id says nothing of a file that somebody wrote."""
    assert may_guard(read_entry("hooks", entry)) is guards


@pytest.mark.parametrize("said", [True, False])
def test_an_entry_that_says_whether_it_is_required_has_the_last_word(said: bool) -> None:
    """Both for guards and for observers."""
    for module in ("hooks-rules", "hooks-logging"):
        entry = read_entry("hooks", {"module": module, "required": said})
        assert require_guard(entry).required is said


def test_only_hooks_are_required() -> None:
    """A tool that is missing does nothing; an observer neither."""
    plan = MountPlan.parse(
        {
            "session": {"orchestrator": "loop-basic", "context": "context-simple"},
            "tools": ["tool-nonsense"],
            "hooks": ["hooks-rules", "hooks-logging"],
        }
    )
    found = require_guards(plan)
    assert [one.required for one in (*found.tools, *found.hooks)] == [False, True, False]
