"""What all sources keep to that neither a linter nor an import contract can say: what the kernel
imports, names of modules in texts, lists in messages, and how a Python is started.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"


@dataclass(frozen=True)
class Source:
    """A file, read and parsed once for all tests here."""

    name: str
    text: str
    nodes: tuple[ast.AST, ...]


def parse(text: str, name: str = "") -> Source:
    """A file of that text."""
    return Source(name, text, tuple(ast.walk(ast.parse(text))))


@cache
def read_sources() -> tuple[Source, ...]:
    """Every file."""
    found = sorted(SRC.rglob("*.py"))
    return tuple(parse(path.read_text("utf-8"), path.relative_to(SRC).as_posix()) for path in found)


# Imports


FOR_TESTS = {
    "amplifier_core/pytest_plugin.py": {"pytest", "pytest_asyncio"},
    "amplifier_core/validation/pytest_marks.py": {"pytest"},
}
ALLOWED = {*sys.stdlib_module_names, "amplifier_core", "pydantic", "pydantic_core"}


def list_imported_packages(source: Source) -> Iterator[str]:
    """The top-level names a file imports, wherever in it the import stands."""
    for node in source.nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_the_kernel_needs_the_standard_library_and_pydantic_only() -> None:
    """Mechanism: the kernel; standard library and pydantic only."""
    kernel = [one for one in read_sources() if one.name.startswith("amplifier_core/")]
    assert len(kernel) > 20
    wrong = {
        one.name: more
        for one in kernel
        if (more := set(list_imported_packages(one)) - ALLOWED - FOR_TESTS.get(one.name, set()))
    }
    assert wrong == {}


def test_importing_the_registry_loads_nothing_heavy() -> None:
    """The shell-hook protocol starts one process per event; imports are its price."""
    code = "import sys, amplifier_core.hooks; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    packages = {name.partition(".")[0] for name in loaded}
    assert packages.isdisjoint({"yaml", "rich", "click", "anthropic", "openai", "mcp", "fastapi"})


DOTTED = re.compile(r"amplifier_(core|audit|hooks)(\.[a-z_]\w*)+(:\w+)?", re.ASCII)


def list_names_in_texts(source: Source) -> Iterator[str]:
    """What is imported by its name at run time, where no checker sees that it has moved."""
    for node in source.nodes:
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and DOTTED.fullmatch(text):
            yield text


def exists(dotted: str, source: Path) -> bool:
    """Whether there is such a module, and in it what stands behind the colon."""
    name, _, attribute = dotted.partition(":")
    place = source.joinpath(*name.split("."))
    files = [place / "__init__.py", place.with_suffix(".py")]  # folders outlive a move, too
    found = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
    return bool(found) and attribute in found[0]


def test_a_module_that_a_text_names_is_there() -> None:
    """A table of places outlives a move; `amplifier trust` ended with an ImportError over one."""
    named = {name for source in read_sources() for name in list_names_in_texts(source)}
    assert len(named) > 20
    assert [name for name in sorted(named) if not exists(name, SRC)] == []


# Messages are written for people: a list in one is words with commas


MAKERS = {"sorted", "list", "tuple", "set", "frozenset"}
LITERALS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp)


def find_lists(source: Source) -> Iterator[int]:
    """The lines of f-strings that would show a list as Python writes it."""
    for node in source.nodes:
        if not isinstance(node, ast.FormattedValue):
            continue
        value = node.value
        called = isinstance(value, ast.Call) and isinstance(value.func, ast.Name)
        if isinstance(value, LITERALS) or (called and value.func.id in MAKERS):  # type: ignore[attr-defined]
            yield node.lineno


def test_no_text_shows_a_list_as_python_writes_it() -> None:
    """`have a, b`, not `have ['a', 'b']`."""
    found = [f"{one.name}:{line}" for one in read_sources() for line in find_lists(one)]
    assert found == []


@pytest.mark.parametrize("text", ['f"{sorted(x)}"', 'f"{[1]}"', 'f"{list(x)!r}"', 'f"{(a, b)}"'])
def test_such_a_text_is_found(text: str) -> None:
    """Whether it is made there or written there."""
    assert list(find_lists(parse(text))) == [1]


def test_names_with_commas_are_fine() -> None:
    """So is a number or a name."""
    assert list(find_lists(parse("""f"{', '.join(sorted(x))} {len(x)} {x}" """))) == []


# Every Python that this program starts imports nothing from the folder where it is started


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


def find_unsafe(source: Source) -> Iterator[int]:
    """The lines in which a command line of an interpreter has no isolation behind it."""
    for node in source.nodes:
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


def count_other_uses(source: Source) -> int:
    """How often the interpreter is named, and is not the first word of a command line."""
    every = sum(isinstance(one, ast.Attribute) and is_interpreter(one) for one in source.nodes)
    first = sum(
        isinstance(one, ast.List)
        and bool(one.elts)
        and isinstance(one.elts[0], ast.Attribute)
        and is_interpreter(one.elts[0])
        for one in source.nodes
    )
    return every - first


PRINTED = "amplifier_hooks/insight/reports/sections/proof.py"
"""Prints commands for auditors."""


def test_every_command_line_of_an_interpreter_is_isolated() -> None:
    """`-P` keeps the current folder off the path, `-I` the environment as well."""
    found = [
        f"{one.name}:{line}"
        for one in read_sources()
        if one.name != PRINTED
        for line in find_unsafe(one)
    ]
    assert found == []


def test_every_other_use_of_the_interpreter_is_known() -> None:
    """A new one is looked at, and gets its reason here."""
    spawning = {
        "amplifier_hooks/sandbox/client.py",  # posix_spawn names it twice
        "amplifier_audit/parallel.py",  # whether there is one
    }
    naming = [one for one in read_sources() if "sys.executable" in one.text]
    found = {one.name for one in naming if count_other_uses(one)}
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
    assert list(find_unsafe(parse(text))) == [1]
