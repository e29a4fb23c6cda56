"""Commands inside commands, laid open."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.bash.script import MAX_LENGTH, Script, parse_script
from amplifier_hooks.guards.bash.unwrap import (
    MAX_COMMANDS,
    MAX_DEPTH,
    SHELLS,
    find_script_run,
    list_all_commands,
    unwrap_command,
    unwrap_shell,
)


def unwrap(source: str) -> Script:
    [shell] = [one for one in parse_script(source).commands if one.name in SHELLS]
    return unwrap_shell(shell, "test")


@pytest.mark.parametrize("shell", sorted(SHELLS))
def test_the_text_behind_c_is_run(shell: str) -> None:
    """By every shell."""
    assert [one.name for one in unwrap(f"{shell} -c 'rm x'").commands] == ["rm"]


@pytest.mark.parametrize(
    "source",
    [
        "bash -lc 'rm x'",
        "bash --norc -c 'rm x'",
        "bash -o errexit -c 'rm x'",
        "bash -euo pipefail -c 'rm x'",
        "bash -oc errexit 'rm x'",
        "bash -norc +O extglob -c -- 'rm x' ls",
        "bash -eo pipefail -uc 'rm x'",
        "bash <<< 'rm x'",
        "bash <<E\nrm x\nE",
        "bash -s a <<E\nrm x\nE",
        "bash - <<E\nrm x\nE",
        "bash /dev/stdin <<E\nrm x\nE",
        "cat <<E | bash\nrm x\nE",
    ],
)
def test_a_script_is_found_wherever_it_comes_from(source: str) -> None:
    """As an argument, a here-document or a here-string, also through `cat`."""
    assert [one.name for one in unwrap(source).commands] == ["rm"]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ('bash -c "$x"', "may be an option"),
        ('bash -c "ls $x"', "is not literal"),
        ("bash $x", "may be an option"),
        ("bash <(f)", "is not literal"),
        ("f | bash", "runs what a pipe brings it (from f)"),
        ("$f | bash", "(from ?)"),
        ("bash < f", "which is not in sight"),
        ("bash", "which is not in sight"),
        ("exec < f; bash -s", "which is not in sight"),
        ("{ bash; } <<E\nls\nE", "which is not in sight"),
        ("bash --rcfile f -c ls", "start-up file"),
        ("bash --frobnicate ls", "--frobnicate is not known"),
        ("bash -Zc ls", "-Zc is not known"),
    ],
)
def test_what_only_running_would_tell_is_in_doubt(source: str, sentence: str) -> None:
    """With a sentence that says why."""
    assert any(sentence in reason for reason in unwrap(source).unclear)


def test_a_here_document_that_is_changed_on_the_way_is_not_trusted() -> None:
    """What `sed` makes of it is another script."""
    script = unwrap("cat <<E | sed s/a/b/ | bash\nls\nE")
    assert script.commands == ()
    assert script.unclear != ()


@pytest.mark.parametrize("source", ["bash --version", "bash run.sh", "bash -x run.sh a"])
def test_a_script_file_is_a_program_like_any_other(source: str) -> None:
    """Nothing to open, nothing in doubt."""
    assert unwrap(source) == Script(())


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("bash deploy.sh eu", "deploy.sh eu"),
        ("sh -ex -o pipefail ./deploy.sh", "./deploy.sh"),
        ("zsh -- deploy.sh", "deploy.sh"),
        (". deploy.sh eu", "deploy.sh eu"),
        ("source -- deploy.sh", "deploy.sh"),
        ("source", None),
        ("bash", None),
        ("bash -c deploy.sh", None),
        ("bash -s deploy.sh", None),
        ("bash /dev/stdin deploy.sh", None),
        ("python deploy.sh", None),
    ],
)
def test_the_script_that_a_shell_runs_is_a_command_of_its_own(
    source: str, text: str | None
) -> None:
    """With its arguments, and without those of the shell."""
    [command] = parse_script(source).commands
    script = find_script_run(command)
    assert (None if script is None else script.text) == text


def names(source: str) -> list[str | None]:
    return [command.name for command in unwrap_command(source).commands]


def test_outer_commands_come_first() -> None:
    """Each with the commands that run it."""
    script = unwrap_command("sudo env A=1 bash -c 'ls; rm x'")
    assert [command.name for command in script.commands] == ["sudo", "env", "bash", "ls", "rm"]
    assert [command.via for command in script.commands] == [
        (),
        ("sudo",),
        ("sudo", "env"),
        ("sudo", "env", "bash"),
        ("sudo", "env", "bash"),
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("ls", ["ls"]),
        ("$x ls", [None]),
        ("find . -exec rm {} +", ["find", "rm"]),
        ("eval 'a; b'", ["eval", "a", "b"]),
        ("trap a EXIT", ["trap", "a"]),
        ("ssh host a b", ["ssh", "a"]),
        ("uv run pytest", ["uv", "pytest"]),
        ("/usr/lib/git-core/git-push -f", ["git-push", "git"]),
        ("echo bash -c ls", ["echo"]),
    ],
)
def test_each_kind_is_laid_open(source: str, expected: list[str | None]) -> None:
    """And only what is run, not what is named."""
    assert names(source) == expected


def test_doubts_and_functions_inside_count() -> None:
    """What is in doubt inside is in doubt outside, and is said once."""
    script = unwrap_command("bash -c 'f() { a; }; f'; bash -c $x; bash -c $x")
    assert script.functions == {"f"}
    assert len(script.unclear) == 1


@pytest.mark.parametrize(("depth", "clear"), [(MAX_DEPTH, True), (MAX_DEPTH + 1, False)])
def test_depth_has_a_limit(depth: int, clear: bool) -> None:
    """Beyond it the command is in doubt."""
    assert (unwrap_command("sudo " * (depth - 1) + "ls").unclear == ()) is clear


def test_the_number_of_commands_has_a_limit() -> None:
    """Beyond it the command is in doubt."""
    assert unwrap_command("ls;" * (MAX_COMMANDS + 1)).unclear != ()


@pytest.mark.parametrize(
    "command",
    [
        "echo " + "a" * 200_000,
        "(" * 5_000 + "ls" + ")" * 5_000,
        "; ".join(["ls"] * 5_000),
        "echo " + "$(echo " * 300 + ")" * 300,
        "a | " * 2_000 + "b",
        "cat <<A\n" * 500,
        "sudo " * 3_000 + "rm -rf /",
    ],
    ids=["long", "deep", "many", "nested", "pipes", "heredocs", "prefixes"],
)
def test_hostile_sizes_are_in_doubt_after_bounded_time(command: str) -> None:
    """Nothing stalls: size and depth have limits."""
    start = time.perf_counter()
    assert unwrap_command(command).unclear != ()
    assert time.perf_counter() - start < 5


@given(st.text(max_size=200))
def test_no_text_makes_it_raise(source: str) -> None:
    """Of any text there is a script."""
    script = unwrap_command(source)
    assert len(script.commands) <= MAX_COMMANDS + 1


@pytest.mark.parametrize(
    "source",
    [
        "true " + "x" * MAX_LENGTH + "; rm y",
        "true " + "x " * 20_000 + "; rm y",
        ":;" * (MAX_COMMANDS + 1) + "rm y",
        "sudo " * (MAX_DEPTH + 1) + "rm y",
        f"bash -c {'x' * (MAX_LENGTH + 1)!r}",
    ],
    ids=["long", "wide", "many", "deep", "inner"],
)
def test_what_is_not_read_to_its_end_is_not_whole(source: str) -> None:
    """Whoever has to see every command is told that some are missing."""
    assert not unwrap_command(source).whole
    with pytest.raises(ValueError, match="too"):
        list_all_commands(source)


def test_a_command_that_is_only_unclear_is_whole() -> None:
    """All commands are there, though not all words are known."""
    script = unwrap_command("rm $(cat x) 'y")
    assert script.whole
    assert list_all_commands("rm $(cat x) 'y") == script.commands
