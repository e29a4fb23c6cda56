"""Where the grammar and a shell may read a script differently."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.script import parse_script


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
