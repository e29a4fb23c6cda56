"""Judging calls as the default bundle does for a guest of Claude Code; nothing is ever run.

Everything happens in an empty home and folder that are removed afterwards.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal

from amplifier_core.events import TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.trust.material import collect_material
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.protection import list_protected_files
from amplifier_hooks.coding_agents.sessions.open_sessions import open_agent_session

Place = Literal["plain", "project", "guarded"]
"""An empty folder, a repository with the usual files, or one that a guard was installed in."""

_ENVIRONMENT = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "AMPLIFIER_STORE")
_FILES = {
    "package.json": '{"name": "app", "version": "1.0.0", "scripts": {"test": "vitest"}}',
    "pyproject.toml": '[project]\nname = "app"\nversion = "1.0.0"\n',
    "requirements.txt": "flask\n",
    "Makefile": "all:\n\ttrue\n",
    "README.md": "# App\n",
    ".env": "TOKEN=x\n",
    ".env.example": "TOKEN=\n",
    "src/app.py": "def parse() -> None: ...\n",
    "src/a.js": "export {}\n",
    "scripts/test.sh": "true\n",
    ".venv/bin/activate": "true\n",
}


@contextmanager
def _empty_home() -> Iterator[Path]:
    before = {name: os.environ.pop(name, None) for name in _ENVIRONMENT}
    with tempfile.TemporaryDirectory(prefix="bench-security-") as folder:
        home = Path(folder).resolve() / "home"
        home.mkdir()
        os.environ["HOME"] = str(home)
        try:
            yield home
        finally:
            os.environ.update({name: value for name, value in before.items() if value is not None})
            if before["HOME"] is None:
                del os.environ["HOME"]


def _make_folder(home: Path, place: Place) -> Path:
    folder = home / "work" / "app"
    folder.mkdir(parents=True)
    if place != "plain":
        for name, text in _FILES.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        _make_repository(folder)
    settings = folder if place == "guarded" else home
    (settings / ".claude").mkdir()
    (settings / ".claude" / "settings.json").write_text('{"hooks": {}}')
    return folder


def _make_repository(folder: Path) -> None:
    for words in (
        ["init", "-q", "-b", "main"],
        ["remote", "add", "origin", "https://github.com/owner/app.git"],
        ["add", "README.md", "src"],
        ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "Begin"],
    ):
        subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


class Judge:
    """Asks the hooks of one session about calls."""

    def __init__(self, session: Any, folder: Path) -> None:
        self._session = session
        self.folder = folder
        """Where the agent works."""

    async def judge(self, tool: str, given: dict[str, Any]) -> HookResult:
        """What the guards say before the call, as one answer."""
        data = {"tool_name": tool, "tool_input": given}
        answer: HookResult = await self._session.coordinator.hooks.emit(TOOL_PRE, data)
        return answer

    async def judge_command(self, command: str) -> HookResult:
        """The same for a shell command."""
        return await self.judge("Bash", {"command": command})


@contextmanager
def make_project(place: Place = "project") -> Iterator[Path]:
    """The folder that the commands are about, in an empty home, until the end."""
    with _empty_home() as home:
        yield _make_folder(home, place)


@asynccontextmanager
async def open_judge(place: Place = "project", bundle: str = "") -> AsyncIterator[Judge]:
    """A session of the default bundle, or of a project's bundle, behind one of Claude Code."""
    with make_project(place) as folder:
        if bundle:
            _write_bundle(folder, bundle)
        guarded = list_protected_files(folder)
        agent = await open_agent_session(DIALECTS["claude"], "bench", folder, guarded=guarded)
        try:
            yield Judge(agent.session, folder)
        finally:
            await agent.session.cleanup()


def _write_bundle(folder: Path, bundle: str) -> None:
    (folder / "amplifier.yaml").write_text(bundle)
    TrustStore().trust(collect_material(load_bundle(project_dir=folder), folder), "benchmark")


def judge_commands(
    commands: Sequence[str], place: Place = "project", bundle: str = ""
) -> list[HookResult]:
    """What the guards say about each command."""

    async def judge_all() -> list[HookResult]:
        async with open_judge(place, bundle) as judge:
            return [await judge.judge_command(command) for command in commands]

    return asyncio.run(judge_all())
