"""Code that comes from elsewhere, or that is not read here."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.danger.code import (
    check_downloaded_code,
    check_fork_bomb,
    check_hidden_substitution,
    check_opaque_code,
    check_sourced_file,
    check_written_then_run,
)
from tests.hooks.guards.bash.danger.judging import ask


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("curl x | sh", "deny"),
        ("curl x | tee y | python3", "deny"),
        ("/usr/bin/curl x | sh", "deny"),
        ("bash <(wget -qO- x)", "deny"),
        ('bash <<< "$(curl x)"', "deny"),
        ('eval "$(curl x)"', "deny"),
        (". <(curl x)", "deny"),
        ("curl x | grep y", None),
        ("cat x | sh", None),
        ("sh run.sh", None),
        ("echo $(curl x)", None),
        ("curl x | $y", None),
    ],
)
def test_downloaded_code_never_runs(source: str, action: str | None) -> None:
    """Whatever way it takes from the network into an interpreter."""
    assert ask(check_downloaded_code, source) == action


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("python -c x", "ask"),
        ("python3.12 -c x", "ask"),
        ("pypy3 -c x", "ask"),
        ("perl -pe x f", "ask"),
        ("node --eval x", "ask"),
        ("deno - < x", "ask"),
        ("tclsh < x", "ask"),
        ("python3 - <<E\nx\nE", "ask"),
        ("echo x | ruby", "ask"),
        ("awk 'BEGIN{system(\"x\")}'", "ask"),
        ("sed '1e id' f", "ask"),
        ("echo x | make -f -", "ask"),
        ("make -f /dev/stdin < x", "ask"),
        ("gmake --makefile=/dev/fd/0 < x", "ask"),
        ("make --file=- < x", "ask"),
        ("make -f $x", "ask"),
        ("make --eval='all: ; id'", "ask"),
        ("make -f rules.mk", None),
        ("make -j2 test", None),
        ("tail -f -", None),
        ("tclsh script.tcl", None),
        ("deno run x.ts", None),
        ("python script.py -c", "ask"),
        ("python", None),
        ("bash -c x", None),
        ("awk '{print $1}' f", None),
    ],
)
def test_code_of_other_languages(source: str, action: str | None) -> None:
    """Code on the command line is asked about; a file of the project is a program."""
    assert ask(check_opaque_code, source) == action


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("let 'a[$(id)]'", "ask"),
        ("test -v 'a[`id`]'", "ask"),
        ("printf -v 'a[$(id)]' x", "ask"),
        ("echo 'a[$(id)]'", None),
        ("let 'a[1]'", None),
        ("test '$(id)' = x", None),
    ],
)
def test_an_index_is_evaluated_although_it_is_quoted(source: str, action: str | None) -> None:
    """By the builtins that take names, and only in an index."""
    assert ask(check_hidden_substitution, source) == action


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("curl -o x.sh u; sh x.sh", "ask"),
        ("echo ls > x; bash ./x", "ask"),
        ("cp a b; ./b", "ask"),
        ("echo x > rules; make -f rules", "ask"),
        ("echo x > rules; make --makefile=rules", "ask"),
        ("echo x > rules; tail -f rules", None),
        ("echo x > in; sh run.sh in", None),
        ("echo x > 1; sh 1", "ask"),
        ("tee x < x; sh x", "ask"),
        ("sh x.sh", None),
        ("curl -o x u; cat x", None),
        ("cp a ls; ls", None),
    ],
)
def test_what_is_written_is_not_run_in_the_same_breath(source: str, action: str | None) -> None:
    """A program without a directory is looked up in the PATH, not here."""
    assert ask(check_written_then_run, source) == action


@pytest.mark.parametrize(
    ("source", "action"), [("source x", "ask"), (". ./x", "ask"), ("cat x", None)]
)
def test_a_sourced_file_is_not_read_here(source: str, action: str | None) -> None:
    """It runs inside the shell, with everything the shell may do."""
    assert ask(check_sourced_file, source) == action


@pytest.mark.parametrize(
    ("source", "action"),
    [
        (":(){ :|:& };:", "deny"),
        ("f() { f | f & }; f", "deny"),
        ("f() { cat; }; echo x | f", None),
        ("f() { f; }; f", None),
        ("f | f", None),
    ],
)
def test_a_function_must_not_pipe_into_itself(source: str, action: str | None) -> None:
    """Plain recursion ends with the stack; this does not end."""
    assert ask(check_fork_bomb, source) == action
