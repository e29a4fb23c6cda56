"""The text that a command reads from its input."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.script import parse_script
from amplifier_hooks.guards.bash.word import Word


def read_stdin_of(program: str, source: str) -> Word | None:
    [command] = [one for one in parse_script(source).commands if one.name == program]
    return command.stdin


@pytest.mark.parametrize(
    ("source", "stdin"),
    [
        ("bash <<E\nls\nE", "ls\n"),
        ("bash <<'E'\n$x\nE", "$x\n"),
        ("bash <<< 'ls -l'", "ls -l"),
        ("true && bash <<E\nls\nE", "ls\n"),
        ("cat <<E | bash\nls\nE", "ls\n"),
    ],
)
def test_the_text_that_a_command_reads(source: str, stdin: str) -> None:
    """A here-document or here-string, also through `cat`."""
    word = read_stdin_of("bash", source)
    assert word is not None
    assert word.value == stdin


@pytest.mark.parametrize(
    "source",
    ["bash <<E\n$x\nE", "bash <<E\na\\\nb\nE", "bash <<E\n`x`\nE", 'bash <<< "$x"'],
)
def test_a_text_that_is_expanded_is_not_literal(source: str) -> None:
    """What a shell makes of a dollar or a backslash is another script."""
    word = read_stdin_of("bash", source)
    assert word is not None
    assert word.value is None


@pytest.mark.parametrize(
    "source",
    [
        "bash",
        "bash < file",
        "bash <<< ls < file",
        "bash <<< ls <<< id",
        "bash <<< ls <&3",
        "bash 3<<E\nls\nE",
        "{ read a; bash; } <<E\nls\nE",
        "for i in 1 2; do bash; done <<E\nls\nE",
        "cat x - <<E | bash\nls\nE",
        "cat <<E | sed s/a/b/ | bash\nls\nE",
        "cat x | bash",
    ],
)
def test_an_input_that_is_shared_changed_or_elsewhere_is_not_in_sight(source: str) -> None:
    """The last of several counts, and who reads before takes a part."""
    assert read_stdin_of("bash", source) is None
