"""hooks-git-status: tell the agent the state of the Git repository at the start.

Listens to  session:start
Answers     inject_context, or continue outside a repository
Configure   recent_commits, max_changes, max_bytes, timeout, working_dir, priority
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.events import SESSION_START
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_hooks.guards.policy.walls import build_wall
from amplifier_hooks.machine.text import clip_lines, count_noun
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.registration import get_working_dir, subscribe
from amplifier_hooks.sandbox.process import CommandOutcome, run_command

NAME = "hooks-git-status"

# A repository's own configuration may name a monitor program, which `status` would run.
_GIT = (
    "git",
    "--no-optional-locks",
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "core.quotePath=false",
    "-c",
    "color.ui=never",
)
_STATUS = (*_GIT, "status", "--porcelain=v1", "--branch", "--untracked-files=normal")


class Config(BaseModel):
    """The options of hooks-git-status."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recent_commits: int = Field(5, ge=0, le=100)
    max_changes: int = Field(30, ge=0)
    max_bytes: int = Field(4000, ge=200)
    timeout: float = Field(3.0, gt=0, le=60)
    working_dir: str | None = None
    priority: int = 20


def describe_repository(status: str, log: str, max_changes: int) -> str:
    """The sentence of the branch, the changes and the commits, from what git printed."""
    head, *changes = status.splitlines()
    parts = [f"Branch: {head.removeprefix('## ')}", _describe_changes(changes, max_changes)]
    if log.strip():
        parts.append(f"Recent commits:\n{log.strip()}")
    return "\n".join(parts)


def _describe_changes(changes: list[str], limit: int) -> str:
    if not changes:
        return "Working tree: clean"
    shown = [f"  {change}" for change in changes[:limit]]
    if len(changes) > limit:
        shown.append(f"  … {len(changes) - limit} more")
    return "\n".join([f"Working tree: {count_noun(len(changes), 'change')}", *shown])


def _build_environment() -> dict[str, str]:
    """Ours, without what would point git to another repository or make it ask a person."""
    elsewhere = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}
    kept = {key: value for key, value in os.environ.items() if key not in elsewhere}
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}


class GitStatus:
    """Asks git once per session start."""

    def __init__(self, coordinator: Host, config: Config) -> None:
        self._coordinator = coordinator
        self._config = config

    async def on_session_start(self, event: str, data: dict[str, Any]) -> HookResult:
        status, log = await asyncio.gather(self._run(_STATUS), self._read_log())
        if status.returncode != 0 or not status.stdout.strip():
            return HookResult(action="continue")
        commits = log.stdout if log is not None and log.returncode == 0 else ""
        text = describe_repository(status.stdout, commits, self._config.max_changes)
        return HookResult(
            action="inject_context",
            context_injection=clip_lines(
                f"Git status at the start of the session (it will not be updated):\n{text}",
                self._config.max_bytes,
            ),
            suppress_output=True,
        )

    async def _read_log(self) -> CommandOutcome | None:
        count = self._config.recent_commits
        if not count:
            return None
        return await self._run((*_GIT, "log", f"--max-count={count}", "--format=%h %s"))

    async def _run(self, command: tuple[str, ...]) -> CommandOutcome:
        return await run_command(
            command,
            cwd=self._config.working_dir or get_working_dir(self._coordinator),
            timeout=self._config.timeout,
            env=_build_environment(),
            wall=build_wall(self._coordinator),
            contained=True,
        )


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to listen."""
    settings = await parse_known(coordinator, Config, config, NAME)
    status = GitStatus(coordinator, settings)
    return subscribe(
        coordinator, NAME, settings.priority, [(SESSION_START, status.on_session_start)]
    )
