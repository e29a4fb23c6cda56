"""All checks together: what is denied, however it is wrapped."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.bash import (
    LISTED,
    RULES,
    CommandPattern,
    Finding,
    ListedCommand,
    Place,
    find_dangers,
    unwrap_command,
)
from tests.hooks.guards.bash.commands import DENIED, LET_PASS

WORK = Path("/project")


def judge(command: str, work: Path = WORK, off: frozenset[str] = frozenset()) -> list[Finding]:
    script = unwrap_command(command)
    place = Place(work, Path("/home/me"))
    return [finding for _, finding in find_dangers(script, place, LISTED, off)]


def denies(command: str) -> bool:
    return any(finding.action == "deny" for finding in judge(command))


@pytest.mark.parametrize("command", DENIED)
def test_what_is_known_to_ruin_things_is_denied(command: str) -> None:
    """Deleting the system, formatting, downloaded code, forced pushes, however wrapped."""
    assert denies(command), judge(command)


@pytest.mark.parametrize("command", LET_PASS)
def test_nothing_speaks_against_everyday_commands(command: str, tmp_path: Path) -> None:
    """Neither a finding nor a doubt: otherwise people would be asked all day."""
    assert judge(command, tmp_path) == []
    assert unwrap_command(command).unclear == ()


WRAPPERS = [
    "sudo {}", "env {}", "env A=1 {}", "nohup {}", "timeout 5 {}", "time {}", "command {}",
    "nice -n 3 {}", "setsid {}", "exec {}", "(  {} )", "{{ {}; }}", "if true; then {}; fi",
    "for i in 1; do {}; done", "while true; do {}; done", "f() {{ {}; }}", "echo $({})",
    "echo `{}`", "ls; {}", "ls && {}", "ls || {}", "ls | {}", "! {}", "{} &", "{} # comment",
    "x=$({})", "cat <({})", "case a in a) {};; esac", "bash <<EOF\n{}\nEOF\n", "find . -exec {} +",
    "echo 1 | xargs {}", "coproc {}", "stdbuf -oL {}", "\n\n{}\n", "ls\n{}", "eval '{}'",
    "bash -c '{}'", "sh -c \"{}\"", "trap '{}' EXIT", "busybox {}",
]  # fmt: skip


@given(
    st.lists(st.sampled_from(WRAPPERS), max_size=4), st.sampled_from(["rm -rf /", "mkfs /dev/sda"])
)
def test_no_stack_of_wrappings_lets_a_denied_command_pass(wrappers: list[str], core: str) -> None:
    """Wrapped in whatever runs or contains commands, a denied one is denied or in doubt."""
    command = core
    for wrapper in wrappers:
        quoted = "'" in wrapper or '"' in wrapper
        if quoted and any(sign in command for sign in "'\"`$\\"):
            continue
        if "`" in wrapper and "`" in command:
            continue  # unescaped, the inner one would end the outer one
        if "$({})" in wrapper and command.startswith("("):
            continue  # together they would begin an arithmetic expression, which runs nothing
        command = wrapper.format(command)
    doubted = bool(wrappers) and bool(unwrap_command(command).unclear or judge(command))
    assert denies(command) or doubted, command


@given(st.text(max_size=200))
def test_any_text_can_be_judged(command: str) -> None:
    """No text makes a check raise, and every finding names a rule that can be switched off."""
    assert {finding.rule for finding in judge(command)} <= RULES


@pytest.mark.parametrize(
    "command",
    ["rm -rf " + "a " * 4_000, "cd a; " * 200 + "rm -rf " + "a " * 200, "tee " + "a " * 1_000],
    ids=["words", "directories", "targets"],
)
def test_too_many_words_are_asked_about_at_once(command: str) -> None:
    """A command of thousands of words costs neither seconds nor an answer."""
    start = time.perf_counter()
    assert {finding.action for finding in judge(command)} == {"ask"}
    assert time.perf_counter() - start < 5


def test_a_rule_that_is_off_finds_nothing() -> None:
    """Both kinds of rules, checks and lists, are switched off by name."""
    rules = ["recursive-delete", "protected-write"]
    assert [finding.rule for finding in judge("rm -rf /")] == rules
    assert judge("rm -rf /", off=frozenset(rules)) == []
    assert judge("mkfs x", off=frozenset({"format"})) == []


def test_findings_come_in_the_order_of_the_commands() -> None:
    """Each finding has the text of the command it is about."""
    found = judge("sudo ls; git reset --hard")
    assert [(one.rule, one.command) for one in found] == [
        ("privileges", "sudo ls"),
        ("git-reset", "git reset --hard"),
    ]


def test_lists_of_ones_own_are_looked_at_too() -> None:
    """The caller hands in the list, so that it can be longer than the built-in one."""
    own = ListedCommand("deny", "own", CommandPattern.read("deploy prod"), "not on a Friday")
    place = Place(WORK, Path("/home/me"))
    script = unwrap_command("sudo deploy prod")
    found = [finding for _, finding in find_dangers(script, place, (own,), frozenset())]
    assert ("deny", "not on a Friday") in [(one.action, one.reason) for one in found]
