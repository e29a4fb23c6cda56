"""An empty home in which coding agents can be guarded, and a Codex that is only a script."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_OF_AGENTS = (
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME"),
    *("GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_CLI_TRUSTED_FOLDERS_PATH"),
)
_MARKS = ("CLAUDECODE", "GEMINI_CLI", "COPILOT_CLI", "CURSOR_AGENT", "OPENCODE", "CODEX_SANDBOX")

_CODEX = Path(__file__).with_name("codex_program.py")


@contextmanager
def empty_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A person with nothing but a home, where the current folder is.

    Its path is short: else the guests of this machine's real user would be met.
    """
    for name in (*_OF_AGENTS, *_MARKS, "AMPLIFIER_COMMAND_ID", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    home = Path(tempfile.mkdtemp(prefix="g", dir="/tmp"))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("PATH", f"{home}/bin:/usr/bin:/bin")
    (home / "bin").mkdir()
    monkeypatch.chdir(home)
    try:
        yield home
    finally:
        shutil.rmtree(home)


def install_codex(home: Path) -> str:
    """Put a Codex on the PATH that speaks the part of its protocol that we use."""
    program = home / "bin" / "codex"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -IS '{_CODEX}' \"$@\"\n")
    program.chmod(0o755)
    return str(program)


def list_left(home: Path) -> list[str]:
    """The files in a home, without the programs."""
    found = sorted(one for one in home.rglob("*") if one.is_file())
    return [str(one.relative_to(home)) for one in found if home / "bin" not in one.parents]
