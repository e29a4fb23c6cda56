"""scripts/agents: exactly the pinned programs, or a sentence that says what is missing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "agents"
PINNED = ROOT / "tests" / "agents"


def test_every_package_has_a_version_and_a_hash_and_no_address() -> None:
    """A registry that hands out something else is noticed, and none is named."""
    text = (PINNED / "package-lock.json").read_text()
    packages = {name: one for name, one in json.loads(text)["packages"].items() if name}
    assert all(one["integrity"].startswith("sha512-") for one in packages.values())
    assert all(re.match(r"\d+\.\d+\.\d+", one["version"]) for one in packages.values())
    assert "://" not in text


def test_the_lock_is_that_of_the_wanted_packages() -> None:
    """No range in the list, so that nothing changes behind our back."""
    wanted = json.loads((PINNED / "package.json").read_text())
    own = json.loads((PINNED / "package-lock.json").read_text())["packages"][""]
    for section in ("dependencies", "optionalDependencies"):
        assert own[section] == wanted[section]
        assert all(re.search(r"(^|@)\d+\.\d+\.\d+", pin) for pin in wanted[section].values())


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with the programs that the script needs besides npm and node."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "env", "dirname", "uname", "cmp", "mkdir", "rm", "cp"):
        (folder / name).symlink_to(shutil.which(name) or name)
    return folder


def add_tool(folder: Path, name: str, line: str) -> None:
    (folder / name).write_text(f"#!/usr/bin/env bash\n{line}\n")
    (folder / name).chmod(0o755)


def run_script(tools: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": str(tools), "HOME": str(tools.parent)}
    return subprocess.run([SCRIPT, *words], env=env, capture_output=True, text=True)


def test_without_npm_it_says_so(tools: Path) -> None:
    """With an exit code that makes `make agents` fail."""
    done = run_script(tools)
    assert (done.returncode, done.stdout) == (1, "")
    assert "npm is missing; install Node.js 20 or later" in done.stderr


def test_with_an_old_node_it_says_so(tools: Path) -> None:
    """Gemini CLI would fail later, and less clearly."""
    add_tool(tools, "npm", "exit 0")
    add_tool(tools, "node", '[ "$1" = --version ] && echo v18.0.0 || exit 1')
    done = run_script(tools)
    assert done.returncode == 1
    assert "needs Node.js 20 or later, and this is v18.0.0" in done.stderr


def test_it_installs_what_is_locked_once_and_prints_where(tools: Path) -> None:
    """Without install scripts, in the user's cache; a failure is not taken for a success."""
    calls = tools.parent / "calls"
    add_tool(tools, "node", "exit 0")
    add_tool(tools, "npm", f'echo "$@" >> {calls}; exit 1')
    assert run_script(tools).returncode == 1
    add_tool(tools, "npm", f'echo "$@" >> {calls}')
    folder = tools.parent / ".cache" / "amplifier" / "agents"
    for _ in range(2):
        done = run_script(tools)
        assert (done.returncode, done.stdout.strip()) == (0, str(folder))
    assert len(calls.read_text().splitlines()) == 2
    assert all("ci --ignore-scripts" in line for line in calls.read_text().splitlines())
    assert (folder / "package.json").read_bytes() == (PINNED / "package.json").read_bytes()


def test_an_unknown_word_is_wrong_usage(tools: Path) -> None:
    """Nothing is installed."""
    for name in ("node", "npm"):
        add_tool(tools, name, "exit 0")
    done = run_script(tools, "--everything")
    assert (done.returncode, done.stderr.strip()) == (2, "Usage: scripts/agents [--lock]")
