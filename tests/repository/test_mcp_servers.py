"""scripts/mcp-servers: exactly the pinned servers, or a sentence that says what is missing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "mcp-servers"
LOCKS = ROOT / "tests" / "mcp" / "locks"


def test_every_node_package_has_a_version_and_a_hash_and_no_address() -> None:
    """A registry that hands out something else is noticed, and none is named."""
    text = (LOCKS / "package-lock.json").read_text()
    packages = {name: one for name, one in json.loads(text)["packages"].items() if name}
    assert all(one["integrity"].startswith("sha512-") for one in packages.values())
    assert all(re.match(r"\d+\.\d+\.\d+", one["version"]) for one in packages.values())
    assert "://" not in text


def test_the_locks_are_those_of_the_wanted_servers() -> None:
    """No range in the lists, so that nothing changes behind our back."""
    wanted = json.loads((LOCKS / "package.json").read_text())["dependencies"]
    own = json.loads((LOCKS / "package-lock.json").read_text())["packages"][""]
    assert own["dependencies"] == wanted
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", pin) for pin in wanted.values())
    listed = [
        line for line in (LOCKS / "servers.txt").read_text().splitlines() if line[0] not in "#\n"
    ]
    locked = (LOCKS / "servers.lock").read_text()
    assert all(f"{line} \\" in locked for line in listed)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with the programs that the script needs besides npm and node."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "env", "dirname"):
        (folder / name).symlink_to(shutil.which(name) or name)
    return folder


def run_script(tools: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": str(tools), "HOME": str(tools.parent)}
    return subprocess.run([SCRIPT, *words], env=env, capture_output=True, text=True)


def test_without_npm_it_says_so(tools: Path) -> None:
    """With an exit code that makes `make mcp` fail."""
    done = run_script(tools)
    assert (done.returncode, done.stdout) == (1, "")
    assert "npm is missing; install Node.js 20 or later" in done.stderr


def test_an_unknown_word_is_wrong_usage(tools: Path) -> None:
    """Nothing is installed."""
    for name in ("node", "npm"):
        (tools / name).write_text("#!/usr/bin/env bash\nexit 0\n")
        (tools / name).chmod(0o755)
    done = run_script(tools, "--everything")
    assert (done.returncode, done.stderr.strip()) == (2, "Usage: scripts/mcp-servers [--lock]")
