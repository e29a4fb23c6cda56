"""Comparing an outcome with what is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.insight.cases.case import Expectation, Step
from amplifier_hooks.insight.cases.comparison import show_value
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


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (send("rm x", "deny"), []),
        (send("rm x", "continue"), ["action: expected continue, got deny"]),
        (send("rm x", fields={"reason": "people"}), []),
        (send("rm x", fields={"reason": "/^deleting .* people$/"}), []),
        (
            send("rm x", fields={"reason": "robots"}),
            ['reason: expected a text with "robots", got "deleting is for people"'],
        ),
        (
            send("pwd", fields={"reason": "/x/"}),
            ["reason: expected a match of /x/, got nothing"],
        ),
        (send("pwd", fields={"reason": None}), []),
        (
            send("rm x", fields={"reason": None}),
            ['reason: expected nothing, got "deleting is for people"'],
        ),
        (send("rm x", fields={"user_message": "no rm", "user_message_level": "info"}), []),
        (
            send("rm x", fields={"user_message_level": "error"}),
            ['user_message_level: expected "error", got "info"'],
        ),
        (send("rm x", hook="guard.guard"), []),
        (send("pwd", hook="guard.guard"), ["hook: expected guard.guard, got no hook"]),
        (send("ls", "modify", data={"tool_input.command": "ls -l"}), []),
        (send("ls", data={"tool_input": {"command": "ls -l"}, "tool_name": "Bash"}), []),
        (
            send("ls", data={"tool_input": {"command": "ls"}}),
            ['data.tool_input.command: expected "ls", got "ls -l"'],
        ),
        (
            send("ls", data={"tool_input.x.y": 1}),
            ["data.tool_input.x.y: expected 1, got no such field"],
        ),
        (send("deploy", "ask_user", fields={"approval_prompt": "Run deploy?"}), []),
        (
            send("deploy", fields={"approval_timeout": 300, "approval_options": ["No"]}),
            ['approval_options: expected ["No"], got nothing'],
        ),
    ],
)
def test_what_is_named_is_compared_and_nothing_else(
    tmp_path: Path, step: Step, told: list[str]
) -> None:
    """Texts by a part of them or a regular expression, everything else exactly."""
    found = run(write_hook(tmp_path), step)
    assert [str(one) for one in found.differences] == told
    assert found.passed is not bool(told)


def test_a_hook_that_fails_fails_the_case_although_it_denies(tmp_path: Path) -> None:
    """A guard that crashes denies, and a test of it would pass for the wrong reason."""
    path = write_hook(tmp_path)
    (told,) = run(path, send("fail", "deny")).differences
    failed = "guard.guard failed: LookupError: what a pity (guard.py:16)"
    assert str(told) == f"error: expected no failure, got {failed}"
    assert run(path, send("fail", "deny", error="LookupError")).passed
    (other,) = run(path, send("fail", "deny", error="KeyError")).differences
    assert str(other) == f'error: expected a text with "KeyError", got {failed}'
    (none,) = run(path, send("rm x", "deny", error="/Key/")).differences
    assert str(none) == "error: expected a match of /Key/, got no failure"


def test_lists_are_looked_into_by_number_and_true_is_not_one(tmp_path: Path) -> None:
    """As JSON has it."""
    text = """
from amplifier_core import HookResult

async def on_tool_pre(event, data):
    return HookResult(action="modify", data={**data, "found": [{"n": True}], "pair": (1, 2)})
"""
    wanted = {"found.0.n": True, "pair": [1, 2]}
    path = write_hook(tmp_path, text)
    assert run(path, send("x", data=wanted)).passed
    (wrong,) = run(path, send("x", data={"found.0.n": 1})).differences
    assert str(wrong) == "data.found.0.n: expected 1, got true"
    (beyond,) = run(path, send("x", data={"found.1": 1})).differences
    assert beyond.got == "no such field"


def test_any_value_can_be_shown() -> None:
    """Also what JSON cannot hold."""
    around: list[object] = []
    around.append(around)
    assert show_value({"a": [1, "ü"]}) == '{"a": [1, "ü"]}'
    assert show_value({(1, 2): 3}) == "{(1, 2): 3}"
    assert show_value(around) == "[[...]]"


def test_an_injection_is_a_text(tmp_path: Path) -> None:
    """Of one hook as of several."""
    wanted = Expectation("inject_context", fields={"context_injection": "British"})
    assert run(write_hook(tmp_path), Step("prompt:submit", {}, wanted)).passed
