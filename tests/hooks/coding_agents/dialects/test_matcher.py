"""Which events a matcher and an `if` rule let through."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.dialects.matcher import (
    matches_listed,
    matches_regex,
    matches_whole,
    passes_rule,
    search,
    split_commands,
)


@pytest.mark.parametrize(
    ("matcher", "name", "expected"),
    [
        ("Bash", "Bash", True),
        ("Ba", "Bash", False),
        ("bash", "Bash", False),
        ("Edit|Write", "Write", True),
        ("Bash, Edit", "Edit", True),
        ("Ba.*", "Bash", True),
        ("^Bash", "Bash", True),
        ("as.", "Bash", True),
        ("^(?!Bash).*", "Bash", False),
        ("^(?!Bash).*", "Read", True),
        ("mcp__.*__write", "mcp__fs__write", True),
        ("(((", "Bash", False),
    ],
)
def test_a_list_holds_whole_names_and_anything_else_is_an_expression(
    matcher: str, name: str, expected: bool
) -> None:
    """Letters, commas and bars make a list; any other sign makes a regular expression."""
    assert matches_listed(matcher, [name]) is expected


@pytest.mark.parametrize("matches", [matches_listed, matches_regex, matches_whole])
@pytest.mark.parametrize("matcher", [None, "", "  ", "*"])
def test_no_matcher_or_a_star_matches_everything(matches: Any, matcher: str | None) -> None:
    """A hook without a matcher hears every occurrence."""
    assert matches(matcher, ["anything"])
    assert matches(matcher, [])


def test_an_unanchored_expression_matches_anywhere() -> None:
    """One of the values is enough."""
    assert matches_regex("shell", ["Bash", "run_shell_command"])
    assert not matches_regex("^shell", ["Bash", "run_shell_command"])


def test_an_anchored_expression_matches_the_whole_value() -> None:
    """Alternatives are anchored as a group, not one by one."""
    assert matches_whole("bash|view", ["view"])
    assert not matches_whole("bash|view", ["bash2"])
    assert not matches_whole("a|b", ["ab"])


def test_what_does_not_compile_matches_its_own_text_only() -> None:
    """A mistake in a matcher breaks nothing."""
    assert search("(((", "(((")
    assert not search("(((", "((((")


def test_no_matcher_can_stall_the_session() -> None:
    """An expression that only the slower engine knows gets short text."""
    started = time.process_time()
    assert search("(?<!x)a{3}", "b" * 10_000) is False
    assert search("(a+)+$", "a" * 100_000 + "!") is False
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("rule", "tool", "tool_input", "expected"),
    [
        (None, "Bash", {"command": "ls"}, True),
        ("", "Bash", {"command": "ls"}, True),
        ("Bash(git *)", "Bash", {"command": "git push"}, True),
        ("Bash(git *)", "Bash", {"command": "git"}, True),
        ("Bash(git *)", "Bash", {"command": "gitk"}, False),
        ("Bash(git *)", "Bash", {"command": "cd x && git push"}, True),
        ("Bash(git *)", "Bash", {"command": "echo $(git push)"}, True),
        ("Bash(git *)", "Bash", {"command": "A=1 git push"}, True),
        ("Bash(npm run test:*)", "Bash", {"command": "npm run test"}, True),
        ("Bash(npm run test:*)", "Bash", {"command": "npm run test --all"}, True),
        ("Bash(npm run test:*)", "Bash", {"command": "npm run testing"}, False),
        ("Bash(git *)", "Read", {"file_path": "git x"}, False),
        ("Edit(*.ts)", "Edit", {"file_path": "src/a.ts"}, True),
        ("Edit(src/**)", "Edit", {"file_path": "src/deep/a.py"}, True),
        ("Edit(src/**)", "Edit", {"file_path": "docs/a.py"}, False),
        ("Edit(//etc/**)", "Edit", {"file_path": "/etc/x/y"}, True),
        ("Grep(/src/*)", "Grep", {"path": "src/a"}, True),
        ("Read", "Read", {"file_path": "x"}, True),
        ("Read(*)", "Read", {"file_path": "x"}, True),
        ("mcp__*", "mcp__fs__write", {}, True),
        ("WebFetch(domain:a.test)", "WebFetch", {"url": "https://a.test/x"}, True),
        ("WebFetch(domain:a.test)", "WebFetch", {"url": "https://a.test.evil/x"}, False),
        ("Delegate(critic)", "Delegate", {"agent_name": "critic"}, True),
        ("Delegate(critic)", "Delegate", {"agent_name": "writer"}, False),
        ("???", "Bash", {"command": "ls"}, True),
    ],
)
def test_a_rule_names_a_tool_and_what_it_is_used_for(
    rule: str | None, tool: str, tool_input: dict[str, Any], expected: bool
) -> None:
    """Commands, paths, domains and other values each by their own pattern."""
    assert passes_rule(rule, [tool], tool_input, "/project") is expected


def test_a_path_below_the_home_folder_is_named_with_a_tilde(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both the rule and the path may be written with it."""
    monkeypatch.setenv("HOME", "/home/me")
    rule = "Read(~/notes/*)"
    assert passes_rule(rule, ["Read"], {"file_path": "/home/me/notes/a"}, "/project")
    assert passes_rule(rule, ["Read"], {"file_path": "~/notes/a"}, "/project")
    assert not passes_rule(rule, ["Read"], {"file_path": "notes/a"}, "/project")


def test_a_tool_may_be_named_in_either_language() -> None:
    """Ours or that of the agent the file was written for."""
    assert passes_rule("Task", ["Delegate", "Task"], {}, "/")
    assert passes_rule("Delegate", ["Delegate", "Task"], {}, "/")


def test_every_command_of_a_line_is_looked_at() -> None:
    """Without the variables that are set for it, and each piece once."""
    line = "A=1 make; (cd x && B=2 rm y) | tee log"
    pieces = split_commands(line)
    assert pieces[0] == line.removeprefix("A=1 ")
    assert {"make", "cd x", "rm y", "tee log"} <= set(pieces)
    assert split_commands("ls") == ["ls"]


@given(st.text(max_size=40))
def test_no_line_breaks_the_splitter(line: str) -> None:
    """The whole line is among its pieces, unless it is blank."""
    assert bool(split_commands(line)) == bool(line.strip())
