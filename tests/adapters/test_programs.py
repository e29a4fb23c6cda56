"""The programs in docs/adapters: quoted as they are, and they do what the pages say."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs" / "adapters"
PROGRAMS = sorted((DOCS / "programs").glob("*.py"))
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def name_adapter(program: Path) -> str:
    """The adapter that a program tries; it cannot have its name, or it would import itself."""
    return program.stem.removeprefix("try_")


PAGES = {"langgraph": "langchain"}
"""Programs that belong to the page of another name."""


def find_page(program: Path) -> Path:
    """The page that a program belongs to."""
    name = PAGES.get(name_adapter(program), name_adapter(program))
    return DOCS / f"{name.replace('_', '-')}.md"


def find_quote(program: Path) -> tuple[str, str]:
    """The program as its page quotes it, and the output that stands behind it."""
    blocks = BLOCK.findall(find_page(program).read_text(encoding="utf-8"))
    first = program.read_text(encoding="utf-8").splitlines()[0]
    for number, (kind, text) in enumerate(blocks):
        if kind == "python" and text.startswith(first):
            follows = blocks[number + 1] if number + 1 < len(blocks) else ("", "")
            return text, follows[1] if follows[0] == "text" else ""
    return "", ""


def is_installed(program: Path) -> bool:
    """Whether everything that the program imports is here."""
    tree = ast.parse(program.read_text(encoding="utf-8"))
    names = {one.module for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)}
    names |= {
        name.name for one in ast.walk(tree) if isinstance(one, ast.Import) for name in one.names
    }
    ours = {name for name in names if name and name.startswith("amplifier_")}
    adapter = {f"amplifier_hooks.frameworks.{name_adapter(program)}"} & ours
    roots = {name.split(".")[0] for name in names - ours if name}
    missing = [name for name in roots if importlib.util.find_spec(name) is None]
    if adapter and not missing:
        try:
            importlib.import_module(adapter.pop())
        except ModuleNotFoundError as error:
            missing.append(error.name or "")
    return not missing


@pytest.mark.parametrize("program", PROGRAMS, ids=name_adapter)
def test_the_page_quotes_the_program_that_runs(program: Path) -> None:
    """Word for word, with its output."""
    quoted, output = find_quote(program)
    assert quoted == program.read_text(encoding="utf-8")
    assert output, f"{find_page(program).name} does not show what {program.name} prints"


@pytest.mark.parametrize("program", PROGRAMS, ids=name_adapter)
def test_a_program_prints_what_the_page_shows(program: Path, tmp_path: Path) -> None:
    """Offline, in an empty folder, as a reader would run it."""
    if not is_installed(program):
        pytest.skip("its framework is not installed here")
    env = {**os.environ, "HOME": str(tmp_path), "PYTHONWARNINGS": "ignore"}
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        env.pop(name, None)
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == find_quote(program)[1]
