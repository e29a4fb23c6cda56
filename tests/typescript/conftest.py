"""A trusted project, the real programs in front of it, and programs of Node that they judge."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.trust import trust_project

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"
AMPLIFIER = Path(sys.executable).with_name("amplifier")

# Not even collected by `make test`: it takes Node and a build.
collect_ignore_glob = [] if os.environ.get("AMPLIFIER_TYPESCRIPT") else ["test_*.py"]

BUNDLE = """
name: tried
rules:
  - name: keep-notes
    tool: shell
    regex: {tool_input.command: "^rm "}
    action: deny
    reason: notes stay
  - name: ask-first
    tool: Append
    action: ask_user
    approval_prompt: May it be written?
hooks:
  - module: own
    source: ./own.py
approval: {via: store}
audit: {path: trail}
"""

HOOKS = """
from amplifier_core import HookResult, hook

@hook("tool:post")
async def remind(event, data):
    return HookResult(action="inject_context", context_injection="line 3 is too long")

@hook("tool:pre")
async def change(event, data):
    if data["tool_input"].get("text") != "milk":
        return HookResult()
    changed = {**data, "tool_input": {"text": "oat milk"}}
    return HookResult(action="modify", data=changed, user_message="Oats are better.")
"""


def read_until(process: subprocess.Popen[str], pattern: str) -> re.Match[str]:
    """What a program prints, up to a line that matches."""
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if found := re.search(pattern, line):
            return found
    raise AssertionError(f"it ended without {pattern}: {said}")


@dataclass
class World:
    """A project, and everything that a person starts in it."""

    folder: Path
    env: dict[str, str]
    open: ExitStack = field(default_factory=ExitStack)

    @contextmanager
    def start(self, *command: str, **env: str) -> Iterator[subprocess.Popen[str]]:
        """A program, until the block is left."""
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=30)

    def amplifier(self, *words: str) -> str:
        """What a command of ours prints."""
        done = subprocess.run(
            [AMPLIFIER, *words], cwd=self.folder, env=self.env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def judge(self) -> subprocess.Popen[str]:
        """Start `amplifier judge`, where programs find it."""
        process = self.open.enter_context(self.start(str(AMPLIFIER), "judge", "--port", "0"))
        self.env["AMPLIFIER_JUDGE_URL"] = read_until(process, r"Listening on (\S+)")[1]
        file = read_until(process, r"The token is in (\S+)")[1]
        self.env["AMPLIFIER_JUDGE_TOKEN"] = Path(file).read_text().strip()
        return process

    def serve_models(self, script: str) -> None:
        """Start a model that says what a script says."""
        (self.folder / "script.yaml").write_text(script)
        command = [sys.executable, "-m", "amplifier_hooks.agent.model_server", "script.yaml"]
        process = self.open.enter_context(
            self.start(*command, "--port", "0", "--per-conversation", PYTHONUNBUFFERED="1")
        )
        self.env["OPENAI_BASE_URL"] = read_until(process, r"OpenAI: +(\S+)")[1]
        self.env["OPENAI_API_KEY"] = "none"

    def node(self, program: str | Path, *words: str) -> str:
        """What a program of Node prints; a text is a module that may import the client."""
        file = Path(program)
        if isinstance(program, str):
            file = CLIENT / "dist" / f"tried-{os.getpid()}.mjs"  # finds the package by its name
            file.write_text(program)
        done = subprocess.run(
            ["node", str(file), *words],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A trusted project of a person who has nothing else."""
    folder, home = tmp_path / "project", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    (folder / "amplifier.yaml").write_text(BUNDLE)
    (folder / "own.py").write_text(HOOKS)
    (folder / "notes.txt").write_text("mine\n")
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "AMPLIFIER_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    trust_project(folder)
    made = World(folder, {"PATH": os.environ["PATH"], "HOME": str(home)})
    with made.open:
        yield made


Example = Callable[[str], Path]


@pytest.fixture
def example() -> Example:
    """An example as `make typescript` has built it."""
    return lambda name: CLIENT / "dist" / "examples" / f"{name}.js"
