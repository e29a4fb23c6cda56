"""Every Python that this program starts imports nothing from the folder where it is started."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import amplifier_hooks

SRC = Path(amplifier_hooks.__file__).parents[1]
ISOLATED = {"-P", "-I"}
NOT_STARTED = {
    "amplifier_core/only_kernel.py": "prints a command for people",
    "amplifier_hooks/installation_check.py": "prints a command for people",
    "amplifier_hooks/cli/program_name.py": "looks beside it, and prints a command for people",
    "amplifier_hooks/cli/commands/doctor.py": "looks beside it",
    "amplifier_hooks/cli/commands/demo/session.py": "looks beside it",
    "amplifier_hooks/modules/installation.py": "prints a command for people",
    "amplifier_hooks/mcp/clients/command_line.py": "compares, and hands it to line.py: -I",
    "amplifier_hooks/machine/programs.py": "looks beside it",
    "amplifier_hooks/coding_agents/installing/system.py": "checks whose file it is",
    "amplifier_hooks/coding_agents/installing/line.py": "hands it to build_line: -I -S",
    "amplifier_audit/keys.py": "prints a command for people",
}
"""Where the interpreter is named besides, and why nothing is started there without isolation."""


def is_interpreter(node: ast.AST) -> bool:
    """`sys.executable`, or a word that is a Python."""
    if isinstance(node, ast.Attribute):
        return ast.unparse(node) == "sys.executable"
    is_word = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_word and Path(ast.literal_eval(node)).name in ("python", "python3")


def find_unsafe(text: str) -> Iterator[int]:
    """The lines in which a command line of an interpreter has no isolation behind it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.List | ast.Tuple) and node.elts and is_interpreter(node.elts[0]):
            second = node.elts[1] if len(node.elts) > 1 else None
            if isinstance(node.elts[0], ast.Constant) and not is_argument(second):
                continue  # a table of names
            if not (isinstance(second, ast.Constant) and second.value in ISOLATED):
                yield node.lineno


def is_argument(node: ast.expr | None) -> bool:
    """Whether a word can follow an interpreter in a command line."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.startswith("-") or node.value.endswith(".py")
    return isinstance(node, ast.Starred)


def count_other_uses(text: str) -> int:
    """How often the interpreter is named, and is not the first word of a command line."""
    tree = ast.parse(text)
    every = sum(isinstance(one, ast.Attribute) and is_interpreter(one) for one in ast.walk(tree))
    first = sum(
        isinstance(one, ast.List) and bool(one.elts) and ast.unparse(one.elts[0]) in NAMES
        for one in ast.walk(tree)
    )
    return every - first


NAMES = {"sys.executable"}
FILES = sorted(path.relative_to(SRC).as_posix() for path in SRC.rglob("*.py"))
PRINTED = "amplifier_hooks/insight/reports/sections/proof.py"
"""Prints commands for auditors."""


def test_every_command_line_of_an_interpreter_is_isolated() -> None:
    """`-P` keeps the current folder off the path, `-I` the environment as well."""
    found = [
        f"{name}:{line}"
        for name in FILES
        if name != PRINTED
        for line in find_unsafe((SRC / name).read_text())
    ]
    assert found == []


def test_every_other_use_of_the_interpreter_is_known() -> None:
    """A new one is looked at, and gets its reason here."""
    spawning = {
        "amplifier_hooks/sandbox/client.py",  # posix_spawn names it twice
        "amplifier_audit/parallel.py",  # whether there is one
    }
    found = {name for name in FILES if count_other_uses((SRC / name).read_text())}
    assert found - spawning == NOT_STARTED.keys()


@pytest.mark.parametrize(
    "text",
    [
        'run([sys.executable, "-m", "x"])',
        'run((sys.executable, "x.py"))',
        'run(["python3", "-c", "x"])',
        'run(["/usr/bin/python", *more])',
        "run([sys.executable])",
    ],
)
def test_what_is_not_isolated_is_found(text: str) -> None:
    """Whatever follows."""
    assert list(find_unsafe(text)) == [1]
