"""Hooks of a user's own that fail or miss their mark, as the command line tells of them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.hooks.cli.program import invoke, run_amplifier
from tests.support.sessions import calls
from tests.support.trust import trust_project

OBSERVER = """
from amplifier_core import HookResult
from amplifier_core.interfaces import hook

@hook("tool:pre")
async def look(event, data):
    return HookResult(action="deny" if data["tool_input"]["path"] else "continue")

@hook("tool:prre")
async def never(event, data): ...

@hook("tool:pre")
async def forget(event, data):
    data["tool_input"] = {}
"""

GUARD = """
from amplifier_core import HookResult
from amplifier_core.interfaces import hook

@hook("tool:pre", on_error="deny")
async def guard(event, data):
    return HookResult(actoin="continue")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that is empty but for a bundle with two calls of Bash and one hook file."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    script = [calls("Bash", command="echo one"), calls("Bash", command="echo two"), {"text": "ok"}]
    bundle = {
        "inherit": False,
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "providers": [{"module": "provider-scripted", "config": {"script": script}}],
        "tools": [{"module": "tool-bash"}],
        "hooks": ["mine.py"],
        "audit": {"enabled": True, "level": "decisions"},
    }
    (tmp_path / "amplifier.yaml").write_text(yaml.safe_dump(bundle))
    return tmp_path


def test_a_hook_that_fails_is_told_once_with_its_line(folder: Path) -> None:
    """So is one that listens to a misspelled event, and one whose change has no effect."""
    (folder / "mine.py").write_text(OBSERVER)
    trust_project(folder)
    done = run_amplifier("run", "go")
    assert (done.code, done.stdout) == (0, "ok\n")
    told = [line for line in done.stderr.splitlines() if "mine." in line]
    assert told == [
        "! mine.never: may never run: no event 'tool:prre' is known; did you mean 'tool:pre'?",
        "✗ mine.look: failed on tool:pre: KeyError: 'path' (mine.py:7); the call was not stopped",
        "! mine.forget: changed its data in place; the change is dropped. Return "
        "HookResult(action='modify', data=...) to make it count",
    ]
    shown = invoke("audit", "show").stdout
    assert shown.count("mine.look failed on tool:pre: KeyError: 'path' (mine.py:7)") == 2


def test_a_guard_with_a_misspelled_answer_denies(folder: Path) -> None:
    """And says which field was meant."""
    (folder / "mine.py").write_text(GUARD)
    trust_project(folder)
    done = run_amplifier("run", "go")
    [told] = [line for line in done.stderr.splitlines() if line.startswith("✗ mine.guard")]
    assert "did you mean 'action'?" in told
    assert told.endswith("(mine.py:7); the call was denied")
