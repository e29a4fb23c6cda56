"""Programs that only look, and what is on no list."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from amplifier_hooks.guards.bash import Workspace
from amplifier_hooks.guards.bash.command_pattern import CommandPattern
from amplifier_hooks.guards.bash.harmless import find_unlisted, is_harmless, is_surely_harmless
from amplifier_hooks.guards.bash.unwrap import unwrap_command
from amplifier_hooks.guards.command_guard import Config, Judge
from tests.hooks.guards.bash.generator.script_maker import WRAPPERS, ScriptMaker
from tests.hooks.guards.bash.generator.script_samples import SAMPLES
from tests.hooks.guards.bash.generator.yard import Run, Yard
from tests.hooks.guards.bash.reading import read_command
from tests.support.isolation import require_isolation

ALLOWED = [CommandPattern.read(text) for text in ("env", "bash", "xargs", "make test", "./run.sh")]
MOST_AT_ONCE = 2_000


def list_reasons(source: str) -> list[str]:
    def permits(command: object) -> bool:
        return any(pattern.permits(command) for pattern in ALLOWED)  # type: ignore[arg-type]

    def permits_file(command: object) -> bool:
        return any(p.arguments and p.permits(command) for p in ALLOWED)  # type: ignore[arg-type]

    return [reason for _, reason in find_unlisted(unwrap_command(source), permits, permits_file)]


@pytest.mark.parametrize(
    "source",
    [
        "ls -l | grep x",
        "/bin/ls",
        "x=1; echo $x",
        "env ls",
        "bash -c 'ls; cat f'",
        "xargs cat",
        "make test",
        "./run.sh a",
        "for i in 1 2; do echo $i; done",
        '[ "$x" = y ] && echo z',
        "test -f x",
        "set -- $x",
        "find . -name '*.py'",
        "sort f*",
        "read -r line < f",
    ],
)
def test_what_is_listed_passes(source: str) -> None:
    """Harmless programs, allowed ones, and wrappers around both."""
    assert list_reasons(source) == []


@pytest.mark.parametrize(
    "source",
    [
        "frobnicate",
        "./ls",
        "/tmp/ls",
        "LS",
        "make",
        "make all test",
        "make -f x test",
        "run.sh",
        "/other/run.sh",
        "env frobnicate",
        "bash -c frobnicate",
        "bash script",
        "bash -i <<< ls",
        "bash -lc ls",
        "xargs env",
        "f() { ls; }; f",
        "false && f() { ls; }; f",
        "git status",
        "$x",
        "FOO=1",
        "FOO=1 ls",
        "export FOO=1",
        "read FOO",
        "env FOO=1 ls",
        "http_proxy=x ls",
        "sort *",
        "find *",
        "sort $x",
        "set $x",
        "set *",
        "[ $x ]",
        '[ "$x" "$y" ]',
        '[ "$x" = y -a "$z" ]',
        "test -v 'a[x]'",
        "hash $x",
        "jobs -x ls",
        "less f",
    ],
)
def test_what_is_on_no_list_does_not(source: str) -> None:
    """Nor does a listed name that may stand for something else."""
    assert list_reasons(source) != []


def run_unseen(yard: Yard, scripts: Iterable[str]) -> tuple[int, list[Run]]:
    """How many scripts the strict guard let through, and those that did what it should prevent."""
    config = Config(unlisted="deny", unclear="deny", allow=list(WRAPPERS))
    judge = Judge(config, Workspace(yard.work, yard.home))
    passed = [
        script
        for script in dict.fromkeys(scripts)
        if "\0" not in script and not judge.find_all(script)
    ]
    batches = [passed[at : at + MOST_AT_ONCE] for at in range(0, len(passed), MOST_AT_ONCE)]
    bad = [run for batch in batches for run in yard.run_all(batch) if run.is_bad]
    return len(passed), bad


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    require_isolation()
    return Yard(tmp_path)


def test_a_trap_leaves_its_mark(yard: Yard) -> None:
    """The yard sees what it is there to see, so that an empty list means something."""
    scripts = ["trapa", "ls | ./ls", "echo y > .git/config", "(trapb &)", "x=evil/cat; $x", "ls"]
    runs = yard.run_all(scripts)
    assert [run.is_bad for run in runs] == [True, True, True, True, True, False]
    assert runs[0].traps == ("TRAP-trapa",)
    assert runs[2].changed == (".git/config",)


def test_nothing_unlisted_runs(yard: Yard) -> None:
    """Scripts over the whole grammar: what the strict guard lets through runs only listed names."""
    passed, bad = run_unseen(yard, (ScriptMaker(seed).make() for seed in range(250)))
    assert bad == []
    assert passed > 20


def test_no_script_that_was_thought_of_runs_anything_unlisted(yard: Yard) -> None:
    """Each of them hides a program from somebody who reads less well."""
    _, bad = run_unseen(yard, SAMPLES)
    assert bad == []


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("part", range(10))
def test_nothing_unlisted_runs_in_many_scripts(yard: Yard, part: int) -> None:
    """The same with fifty thousand scripts."""
    first = 1_000_000 + part * 5_000
    _, bad = run_unseen(yard, (ScriptMaker(seed).make() for seed in range(first, first + 5_000)))
    assert bad == []


@pytest.mark.parametrize(
    "source",
    [
        "ls -la $x",
        "/bin/ls",
        "/usr/local/bin/grep x",
        "cat $x",
        "cd x",
        "rg x",
        "sort f",
        "find . -name x",
        "git status",
        "git --no-pager log",
        "git -C sub diff",
        "date +%s",
    ],
)
def test_looking_is_harmless(source: str) -> None:
    """Whatever they look at."""
    assert is_harmless(read_command(source))


@pytest.mark.parametrize(
    "source",
    [
        "rm x",
        "./ls",
        "/tmp/ls",
        "~/bin/ls",
        "$x",
        "LS",
        "rg --pre x y",
        "rg --pr x y",
        "rg $x",
        "sort -o f f",
        "sort --outp=f f",
        "find . -delete",
        "find . $x",
        "xxd -r f",
        "xxd a b",
        "jobs -x ls",
        "hash -p x ls",
        "diff -l a b",
        "tree -R",
        "less f",
        "git push",
        "git",
        "git -c core.pager=x log",
        "git log --output=x",
        "git $x",
        "git -C",
    ],
)
def test_an_option_or_a_place_can_spoil_it(source: str) -> None:
    """Options that write or run, programs from odd places, and words that may be such options."""
    assert not is_harmless(read_command(source))


@pytest.mark.parametrize(
    ("source", "sure"),
    [
        ("ls *", True),
        ("cat $x", True),
        ("sort f*", True),
        ("sort *", False),
        ("sort [a]", False),
        ("find . -name '*'", True),
        ("git status", False),
        ("bat f", False),
        ("set -e", True),
        ("set -- *", True),
        ("set $x", False),
        ("test -n x", True),
        ('test -n "$x"', True),
        ('test "$x"', True),
        ('test "$x" = "$y"', True),
        ('test ! "$x" = y', True),
        ("test $x", False),
        ('test "$x" "$y"', False),
        ("test -v x", True),
        ("test -v 'a[0]'", False),
        ('test -v "$x"', False),
        ('test "$x" -a "$y" -a "$z"', False),
    ],
)
def test_sure_is_what_no_variable_and_no_file_name_can_change(source: str, sure: bool) -> None:
    """A word may become an option or an operator, a setting may name a program."""
    assert is_surely_harmless(read_command(source)) is sure
