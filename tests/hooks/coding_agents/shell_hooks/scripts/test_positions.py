"""The words of a command line that are run as files."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.shell_hooks.scripts import (
    find_script_words,
    find_scripts,
)

FOLDER = Path("/project")
KNOWN = {FOLDER / name for name in ("x.sh", "x.py", "x.ts", ".claude/x.sh", "sub/x.sh")}


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("./x.sh", ["x.sh"]),
        ("./x.sh --flag x.py", ["x.sh"]),
        ("bash x.sh", ["x.sh"]),
        ("bash -euo pipefail x.sh", ["x.sh"]),
        ("python3 -W ignore x.py x.sh", ["x.py"]),
        ("deno run -A x.ts", ["x.ts"]),
        ("uv run x.py", []),
        ("uv run ./x.py", ["x.py"]),
        ("python3 -c 'print(1)' x.py", []),
        ("FOO=1 timeout 5s nice -n 5 ./x.sh", ["x.sh"]),
        ("cat in | ./x.sh && . x.sh; source x.sh", ["x.sh", "x.sh", "x.sh"]),
        ("if true; then ./x.sh; else bash x.sh; fi", ["x.sh", "x.sh"]),
        ("echo $(./x.sh)", ["x.sh"]),
        ('"$CLAUDE_PROJECT_DIR"/.claude/x.sh', [".claude/x.sh"]),
        ("${CLAUDE_PROJECT_DIR}/x.sh", ["x.sh"]),
        ("'./x.sh'", ["x.sh"]),
        ("./missing.sh", ["missing.sh"]),
        ("bash missing.sh", []),
        ("/usr/bin/env bash x.sh", []),
        ("jq . x.sh", []),
        ("./.venv/bin/ruff check", []),
        ("node_modules/.bin/eslint .", []),
        ("cd sub && ./x.sh", []),
        ("cd sub && $CLAUDE_PROJECT_DIR/x.sh", ["x.sh"]),
        ("`./x.sh`", []),
        ("$UNKNOWN/x.sh", []),
        ("", []),
    ],
)
def test_a_program_and_what_an_interpreter_is_given_are_run(command: str, found: list[str]) -> None:
    """Of what has no slash only what is known; nothing relative behind `cd`."""
    words = list(find_scripts(command, FOLDER, KNOWN.__contains__))
    assert [str(word.path.relative_to(FOLDER)) for word in words] == found
    for word in words:
        assert word.path.name in command[word.start : word.end]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("./x.sh", "./x.sh"), [0]),
        (("bash", "x.sh"), [1]),
        (("python3", "-c", "x.py"), []),
        (("env", "A=1", "./it's.sh"), [2]),
        (("/usr/bin/true",), []),
    ],
)
def test_words_that_no_shell_reads_are_taken_as_they_are(
    words: tuple[str, ...], found: list[int]
) -> None:
    """A quote in them is a part of the name."""
    assert list(find_script_words(words, FOLDER, KNOWN.__contains__)) == found
