"""What became of one event."""

from __future__ import annotations

from pathlib import Path

from tests.hooks.insight.cases.hook_files import run, send, write_hook


def test_the_strongest_answer_counts_and_its_hook_is_named(tmp_path: Path) -> None:
    """A change alone is `modify`, as the hook said."""
    path = write_hook(tmp_path)
    found = {one: run(path, send(one)).outcomes[0] for one in ("rm x", "ls", "pwd")}
    assert (found["rm x"].action, found["rm x"].hook) == ("deny", "guard.guard")
    assert found["rm x"].messages == ("no rm",)
    assert found["ls"].action == "modify"
    assert found["ls"].left["tool_input"]["command"] == "ls -l"
    assert found["ls"].sent["tool_input"]["command"] == "ls"
    assert (found["pwd"].action, found["pwd"].hook) == ("continue", "")


def test_a_failure_is_told_with_its_line(tmp_path: Path) -> None:
    """The one in the hook's file, not in ours or in a library's."""
    text = """
import json

async def on_tool_pre(event, data):
    json.loads("{")
"""
    (failure,) = run(write_hook(tmp_path, text), send("x")).outcomes[0].failures
    assert str(failure).startswith("guard.on_tool_pre failed: JSONDecodeError: ")
    assert failure.place == "guard.py:5"


def test_what_a_hook_does_to_no_effect_is_advice(tmp_path: Path) -> None:
    """Its author should know it."""
    text = "async def on_tool_pre(event, data):\n    data['tool_name'] = 'x'\n"
    (advice,) = run(write_hook(tmp_path, text), send("x", "continue")).outcomes[0].advice
    assert advice.startswith("guard.on_tool_pre ")
