"""Code that comes from elsewhere, or that is not read here."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.bash.code_rules import (
    check_downloaded_code,
    check_fork_bomb,
    check_hidden_substitution,
    check_opaque_code,
    check_sourced_file,
    check_written_then_run,
    is_risky_awk,
    is_risky_sed,
    only_filters,
)
from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.script import parse_script
from tests.hooks.guards.bash.judging import ask


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


def read(source: str) -> Command:
    return parse_script(source).commands[0]


@pytest.mark.parametrize(
    ("source", "risky"),
    [
        ("awk '{print $1}' f", False),
        ("awk 'BEGIN{system(\"x\")}'", True),
        ("gawk '{print | \"sh\"}' f", True),
        ("mawk '{print > \"f\"}'", True),
        ("nawk '\"date\" | getline'", True),
        ("gawk '@load \"filefuncs\"'", True),
        ('awk "$program"', True),
        ("gawk -i inplace '{print}' f", True),
        ("gawk -l ext '{print}'", True),
        ("gawk 'BEGIN{f=\"x\"; @f()}'", True),
        ("grep system f", False),
    ],
)
def test_awk(source: str, risky: bool) -> None:
    """It has pipes, files and a shell; a program that is not literal may use them all."""
    assert is_risky_awk(read(source)) is risky


@pytest.mark.parametrize(
    ("source", "risky"),
    [
        ("sed 's/a/b/' f", False),
        ("sed -i 's/a/b/gI' f", False),
        ("sed -n '1,20p' f", False),
        ("sed 's/a/b/e' f", True),
        ("sed 's|a|b|w out' f", True),
        ("sed 's,a,b,ge' f", True),
        ("sed '1e id' f", True),
        ("sed '/x/e id' f", True),
        ("sed '/x/I!w out' f", True),
        ("sed -e p -e 'w out' f", True),
        ("sed 'p;e id' f", True),
        ("sed '1{e id\n}' f", True),
        ("sed 's/a/we/' f", False),
        ("sed -e1eid f", True),
        ("sed -ne '1e id' f", True),
        ("sed --expression='1e id' f", True),
        ("sed --expr=p f", False),
        ("sed -f script f", True),
        ("sed -E -i.bak 's/a+/b/' f", False),
        ("sed p w e", False),
        ('sed p "$f"', True),
        ("sed p *", False),
        ("sed p ./w", False),
        ("sed p /e", False),
        ('sed "$script" f', True),
        ("gsed '1e id' f", True),
        ("ssed '1e id' f", False),
    ],
)
def test_sed(source: str, risky: bool) -> None:
    """GNU sed runs commands and writes files from inside its script."""
    assert is_risky_sed(read(source)) is risky


@pytest.mark.parametrize(
    "script",
    [
        "s/a/b/",
        "s/a/b/g",
        "s,a/b,c,2p",
        "s|[0-9]*|x|",
        r"s/\(a\)/\1/g",
        "s/[^ ]*$//",
        "1,20p",
        "$d",
        "/x/d",
        "/x/,/y/!d",
        "/x/I,+3p",
        "2~3p",
        "1s/a/b/;3d",
        "1{s/a/b/;p}",
        "/x/{n;d}",
        "y/abc/xyz/",
        "a\\\nwe",
        "i\\ text; e id",
        "10q",
        ":x;N;$!bx",
        "# w out",
        "$!N;P;D",
        "p;",
        "s/a/b/ ;\n",
        " ",
        "",
    ],
)
def test_what_changes_only_the_text(script: str) -> None:
    """Deleting, printing, replacing, adding."""
    assert only_filters(script)


@pytest.mark.parametrize(
    "script",
    [
        "e",
        "e id",
        "eid",
        "1eid",
        "1e id",
        "w out",
        "wout",
        "W out",
        "$w out",
        "p;w out",
        "p\ne id",
        "s/a/b/e",
        "s/a/b/w out",
        "s/a/b/gw out",
        "s,a,b,ge",
        "saabae",
        "sabaebaw out",
        "/x/e id",
        "/x/I!w out",
        "/x/,/y/w out",
        "\\cxce id",
        "1{e id\n}",
        "{p;w out\n}",
        "y/a/b/;e",
        "a\\\ntext\ne id",
        "s/a/b",
        "1!e id",
        "p e id",
        "0~2e id",
        "s/[/]/b/w out/",
        "s/\\//b/w out",
        "M",
        "s",
        "y",
        "pp",
        "p d",
        "s/a/b/ d",
    ],
)
def test_what_runs_or_writes_or_is_not_understood(script: str) -> None:
    """In each of the places where sed takes such a command."""
    assert not only_filters(script)


@given(st.text(alphabet="swe/[]\\;{}pa1,$!\n I#", max_size=20))
def test_any_script_gets_an_answer(script: str) -> None:
    """And one without these letters never runs or writes anything."""
    if not set(script) & {"w", "e", "W"}:
        return
    if only_filters(script):
        assert not script.lstrip(" \n;0123456789,$!{}").startswith(("w", "e"))
