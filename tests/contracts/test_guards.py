"""What every guard promises, whatever it guards."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.modules.installation import name_install_command
from tests.support.harness import Harness, finish

A_RULE = {"name": "r", "tool": "Bash", "action": "deny", "reason": "no"}
LIMIT = {"calls": 1}
GUARDS: dict[str, tuple[dict[str, Any], str, str]] = {
    "production_guard": ({}, "paterns", "patterns"),
    "command_guard": ({}, "alow", "allow"),
    "redaction": ({}, "patern", "patterns"),
    "injection_guard": ({}, "on_lists", "on_list"),
    "rules": ({"rules": [A_RULE]}, "dryrun", "dry_run"),
    "rate_limit": ({"overall": LIMIT}, "overal", "overall"),
    "cost_control": ({"turn": {"tokens": 5}}, "turns", "turn"),
}
each_guard = pytest.mark.parametrize("module", GUARDS)


@each_guard
async def test_cleaning_up_removes_every_registration(module: str, tmp_path: Path) -> None:
    """Clean-up leaves nothing of a module behind, and may be called twice."""
    harness = Harness(tmp_path)
    cleanup = await harness.mount(module, GUARDS[module][0])
    assert any(harness.hooks.list_handlers().values())
    await finish(cleanup)
    await finish(cleanup)
    assert not any(harness.hooks.list_handlers().values())
    text = "password=hunter22"
    assert harness.coordinator.scrub(text) == text


@each_guard
async def test_guards_fail_closed_with_a_time_limit(module: str, tmp_path: Path) -> None:
    """Guards register with `on_error="deny"` and a timeout."""
    harness = Harness(tmp_path)
    await harness.mount(module, {**GUARDS[module][0], "timeout": 3})
    registered = [
        handler
        for event in harness.hooks.list_handlers()
        for handler in harness.hooks.handlers_for(event)
    ]
    assert registered
    assert {handler.on_error for handler in registered} == {"deny"}
    assert {handler.timeout for handler in registered} == {3.0}
    loaded = importlib.import_module(f"amplifier_hooks.guards.{module}")
    assert {handler.name for handler in registered} == {loaded.NAME}


@each_guard
async def test_an_unknown_option_is_named_with_the_nearest_right_one(
    module: str, tmp_path: Path
) -> None:
    """A bad config is one sentence with owner, key and the nearest right key; nothing mounts."""
    config, wrong, right = GUARDS[module]
    harness = Harness(tmp_path)
    with pytest.raises(ModuleLoadError) as refused:
        await harness.mount(module, {**config, wrong: 1})
    message = str(refused.value)
    assert message.startswith(importlib.import_module(f"amplifier_hooks.guards.{module}").NAME)
    assert repr(wrong) in message
    assert f"did you mean {right!r}?" in message
    assert not any(harness.hooks.list_handlers().values())


@each_guard
@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), "soon"])
async def test_a_time_limit_that_is_none_is_refused(
    module: str, timeout: object, tmp_path: Path
) -> None:
    """`timeout` is positive and finite."""
    with pytest.raises(ModuleLoadError, match="timeout"):
        await Harness(tmp_path).mount(module, {**GUARDS[module][0], "timeout": timeout})


@each_guard
async def test_odd_event_data_does_no_harm(module: str, tmp_path: Path) -> None:
    """Whatever an event holds, a guard answers; it never raises into the session."""
    harness = Harness(tmp_path)
    await harness.mount(module, GUARDS[module][0])
    cyclic: dict[str, Any] = {"command": "ls"}
    cyclic["self"] = cyclic
    odd = [None, [], {}, "text", cyclic, {"command": "\udc80"}, {"file_path": 7}, {1: object()}]
    for given in odd:
        for tool in ("Bash", "Write", None, 7):
            data = {"tool_name": tool, "tool_input": given}
            result = await harness.hooks.emit("tool:pre", data)
            assert result.action in {"continue", "deny", "ask_user", "modify"}


MISSING = {
    "command_guard": ("tree_sitter", {}),
    "production_guard": ("tree_sitter_bash", {}),
    "redaction": ("re2", {}),
    "injection_guard": ("re2", {}),
    "rules": ("cel_expr_python", {"rules": [{**A_RULE, "when": "true"}]}),
}


@pytest.mark.parametrize("module", MISSING)
def test_a_missing_dependency_is_a_sentence_what_to_install(module: str, tmp_path: Path) -> None:
    """Policy dependencies are the extra `policy`: a missing one says what to install."""
    package, config = MISSING[module]
    script = f"""
        import asyncio, sys
        sys.modules[{package!r}] = None
        from pathlib import Path
        from amplifier_core.errors import ModuleLoadError
        from tests.support.harness import Harness
        try:
            asyncio.run(Harness(Path(".")).mount({module!r}, {config!r}))
        except ModuleLoadError as refused:
            sys.stdout.write(str(refused))
    """
    code = textwrap.dedent(script)
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=False
    )
    assert package in done.stdout, done.stderr
    assert name_install_command("policy") in done.stdout


@each_guard
def test_importing_a_guard_imports_no_heavy_package(module: str) -> None:
    """No policy dependency is imported before a module that needs it is mounted."""
    code = (
        f"import sys, amplifier_hooks.guards.{module}; "
        "sys.exit(bool({'re2', 'tree_sitter', 'cel_expr_python', 'yaml'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
