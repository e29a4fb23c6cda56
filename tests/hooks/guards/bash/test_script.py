"""A script read into its commands, and why it may have been misread."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.script import (
    MAX_LENGTH,
    Script,
    join_scripts,
    parse_script,
    separate_backquotes,
)
from tests.hooks.guards.bash.reading import list_values


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("echo 'unclosed", "does not parse"),
        ("if true", "does not parse"),
        ("a\u200bb", "U+200B"),
        ("a\u202eb", "U+202E"),
        ("rm\rls", "U+000D"),
        ("r\\\nm", "joins two halves"),
        ("[[ 'a[$(id)]' -eq 0 ]]", "substitution that is quoted"),
        ("[[ 'a[`id`]' -eq 0 ]]", "substitution that is quoted"),
        ("echo ${x@P}", "expanded as a prompt"),
        ("echo ${x@E}", "expanded as a prompt"),
        ("ls\n\\rm -rf /", "ends of its lines"),
        ("x=\\\tls", "overlooks a part"),
        ("[[ a =~ `id` ]]", "overlooks a substitution"),
        ("echo `echo \\`id\\``", "inside backquotes"),
        ("trap echo'\n'\\id EXIT", "one word for two"),
        ("ls \"${x:-'$(id)'}\"", "do not quote"),
        ("echo ${x:-$((y))}", "arithmetic for a command"),
        ("[ a && id ]", "reads as commands"),
        ("[ a || id ]", "reads as commands"),
        ("[ a > f ]", "reads as commands"),
        ("[\n-n ]", "reads as commands"),
        ("[f]", "reads as commands"),
        ("ls >&'a[$(id)]'", "expanded twice"),
        ("x=\\\n\nid", "ends of its lines"),
        ("bash 0<f", "directly before a redirection"),
        ("exec {x}>f", "directly before a redirection"),
    ],
)
def test_what_may_be_read_differently_is_said(source: str, sentence: str) -> None:
    """Each doubt has a sentence for the person who is asked."""
    assert any(sentence in doubt for doubt in parse_script(source).unclear)


@pytest.mark.parametrize(
    "source",
    [
        "ls",
        "ls \\\n  -l",
        "echo 'a\nb'",
        "[[ -f 'a' ]]",
        "[[ $(id) == x ]]",
        "echo ${x@Q}",
        "echo ü\tb",
        "cat <<E\na\nE",
        "# only a comment",
        "git commit -F - <<'E'\nit's $x\nE",
        "echo hi>f 2>&1",
        "[ -f a ] && [ ! -d b ] || ls",
        '[ "$(ls | wc -l)" -gt 3 ]',
        "[[ a && b ]]",
        "ls >& f",
        "ls >&2 2>&-",
        "ls > log -l 2>&1 x",
        "{ ls; }>f",
        'echo "a">f',
        "",
    ],
)
def test_an_ordinary_script_raises_no_doubt(source: str) -> None:
    """Otherwise a guard would ask all day."""
    assert parse_script(source).unclear == ()


def programs(source: str) -> list[str | None]:
    return [command.program for command in parse_script(source).commands]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("a; b && c || d | e & f", ["a", "b", "c", "d", "e", "f"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("for i in 1; do a; done", ["a", ":"]),
        ("while a; do b; done", ["a", "b"]),
        ("case x in y) a;; *) b;; esac", ["a", "b"]),
        ("f() { a; }; f", ["a", "f"]),
        ("echo $(a) `b`", ["echo", "a", "b"]),
        ("echo ${x:-$(a)}", ["echo", "a"]),
        ("cat <(a) > >(b)", ["cat", "a", "b"]),
        ("(a; { b; })", ["a", "b"]),
        ("! a", ["a"]),
        ("# a\nb", ["b"]),
        ("'a' $b", ["a"]),
        ("$a b", [None]),
        ("", []),
    ],
)
def test_every_command_is_found_wherever_it_stands(source: str, names: list[str | None]) -> None:
    """In the order in which they are written."""
    assert programs(source) == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("cat <<E\n$(a)\nE", {"cat", "a", ":"}),
        ("cat <<E\n`a`\nE", {"cat", "a", ":"}),
        ("cat <<-E\n\t$(a)\n\tE", {"cat", "a", ":"}),
        ("cat <<'E'\n$(a)\nE", {"cat"}),
        ("cat <<E\na\nE", {"cat"}),
    ],
)
def test_substitutions_in_here_documents_run(source: str, names: set[str]) -> None:
    """Unless the word behind `<<` is quoted."""
    assert set(programs(source)) == names


@pytest.mark.parametrize(
    ("source", "program", "assigns"),
    [
        ("A=1 ls", "ls", ("A",)),
        ("A=1 B=2 ls", "ls", ("A", "B")),
        ("A=1", ":", ("A",)),
        ("a[1]=x", ":", ("a",)),
        ("export A=1", "export", ("A",)),
        ("declare -x A=1 B=2", "declare", ("A", "B")),
        ("> file", ":", ()),
    ],
)
def test_assignments_are_known(source: str, program: str, assigns: tuple[str, ...]) -> None:
    """Before a command, by themselves, or by a builtin."""
    [command] = parse_script(source).commands
    assert (command.program, command.assigns) == (program, assigns)


def test_a_command_has_its_words_and_its_text() -> None:
    """As they are written, and as a shell reads them."""
    [command] = parse_script("git  commit -m 'a b' \"$x\"").commands
    assert command.text == "git  commit -m 'a b' \"$x\""
    assert list_values(command.words) == ["commit", "-m", "a b", None]


def test_functions_are_known_by_name() -> None:
    """Calling one is not calling a program."""
    assert parse_script("f() { a; }; function g { b; }").functions == {"f", "g"}


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        ("f() { ls; }; f", True),
        ("function f { ls; }\n(f)", True),
        ("f() { f; }", True),
        ("f() { ls; }; f() { cat; }; f", True),
        ("f; f() { ls; }", False),
        ("f() { ls; } & f", False),
        ("(f() { ls; }); f", False),
        ("false && f() { ls; }; f", False),
        ("f() { ls; } | cat; f", False),
        ("if x; then f() { ls; }; fi; f", False),
        ("f() { ls; }; ./f", False),
        ("f() { ls; }; $f", False),
        ("f", False),
    ],
)
def test_a_function_is_called_only_where_it_is_surely_defined(source: str, calls: bool) -> None:
    """Before that, and elsewhere, the name is that of a program."""
    commands = parse_script(source).commands
    assert any(command.calls_function for command in commands) is calls
    assert not any(command.calls_function for command in commands if command.program != "f")


def test_a_script_that_is_too_long_is_not_read() -> None:
    """It is in doubt, and that costs no time."""
    script = parse_script("a" * (MAX_LENGTH + 1))
    assert (script.commands, len(script.unclear)) == ((), 1)
    assert parse_script("a" * MAX_LENGTH).unclear == ()


def test_scripts_can_be_joined() -> None:
    """Commands, doubts and functions in their order."""
    one = Script((Command("a"),), ("x",), frozenset({"f"}))
    other = Script((Command("b"),), ("y",), frozenset({"g"}))
    assert join_scripts([one, other]) == Script(
        (Command("a"), Command("b")), ("x", "y"), frozenset({"f", "g"})
    )
    assert join_scripts([]) == Script(())


@given(st.text(st.sampled_from("ab $`'\"(){}[]|&;<>\n\\#!=~*?-"), max_size=60))
def test_no_text_makes_it_raise(source: str) -> None:
    """What cannot be read is in doubt; every command has a text of the script."""
    script = parse_script(source)
    assert all(isinstance(reason, str) for reason in script.unclear)
    assert all(isinstance(command.text, str) for command in script.commands)


PARTS = ["`a`", "`b a`", "`ab`", "a", " ", "'", '"', "$(b)", "`", ";", "a b", "(", "<", "\\"]


@given(st.lists(st.sampled_from(PARTS), min_size=2, max_size=9).map("".join))
def test_backquotes_are_separated_as_a_shell_reads_them(source: str) -> None:
    """What a shell would run is run by the separated text as well, and nothing else is."""
    separated = separate_backquotes(source)
    if separated == source:
        return
    assert "`" not in separated
    assert run_quietly(source) == run_quietly(separated)


def run_quietly(source: str) -> tuple[int, str]:
    """What bash says of a text in which every command is a harmless function."""
    prelude = 'a() { echo "[a $*]"; }; b() { echo "[b $*]"; }; ab() { echo ab; }\nPATH=\n'
    done = subprocess.run(
        ["/bin/bash", "--norc", "-rc", prelude + source],
        capture_output=True,
        text=True,
        check=False,
        env={},
        timeout=10,
    )
    return done.returncode, done.stdout
