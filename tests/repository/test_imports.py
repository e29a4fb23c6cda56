"""The rules about imports that the import contracts cannot say completely."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
KERNEL = sorted((SOURCE / "amplifier_core").rglob("*.py"))
FOR_TESTS = {
    "amplifier_core/pytest_plugin.py": {"pytest", "pytest_asyncio"},
    "validation/pytest_marks.py": {"pytest"},
}
ALLOWED = {*sys.stdlib_module_names, "amplifier_core", "pydantic", "pydantic_core"}


def imported_packages(path: Path) -> Iterator[str]:
    """The top-level names a file imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("path", KERNEL, ids=lambda path: path.stem)
def test_the_kernel_needs_the_standard_library_and_pydantic_only(path: Path):
    """Mechanism: the kernel; standard library and pydantic only."""
    place = f"{path.parent.name}/{path.name}"
    assert set(imported_packages(path)) <= ALLOWED | FOR_TESTS.get(place, set())


def test_importing_the_registry_loads_nothing_heavy():
    """The shell-hook protocol starts one process per event; imports are its price."""
    code = "import sys, amplifier_core.hooks; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    packages = {name.partition(".")[0] for name in loaded}
    assert packages.isdisjoint({"yaml", "rich", "click", "anthropic", "openai", "mcp", "fastapi"})


DOTTED = re.compile(r"amplifier_(core|audit|hooks)(\.[a-z_]\w*)+(:\w+)?", re.ASCII)


def list_names_in_texts(tree: ast.AST) -> Iterator[str]:
    """What is imported by its name at run time, where no checker sees that it has moved."""
    for node in ast.walk(tree):
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


def test_a_module_that_a_text_names_is_there():
    """A table of places outlives a move; `amplifier trust` ended with an ImportError over one."""
    files = SOURCE.rglob("*.py")
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    named = {name for tree in trees for name in list_names_in_texts(tree)}
    assert len(named) > 20
    assert [name for name in sorted(named) if not exists(name, SOURCE)] == []
