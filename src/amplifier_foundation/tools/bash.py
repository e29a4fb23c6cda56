"""tool-bash: run a command in bash, with a time limit and nothing left behind.

Configure   timeout, max_timeout, output_limit, working_dir, hide_env
"""

from __future__ import annotations

import fnmatch
import os
from typing import Any, ClassVar

from pydantic import BaseModel, Field, PositiveFloat, PositiveInt

from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import ToolResult
from amplifier_foundation.machine.process import CommandOutcome, run_command
from amplifier_foundation.modules.options import parse_known
from amplifier_foundation.tools.base import InputTool, Refused, mount_tools
from amplifier_foundation.tools.roots import get_working_dir

NAME = "tool-bash"


class BashConfig(BaseModel):
    """Options of tool-bash. Times are seconds."""

    timeout: PositiveFloat = 120.0
    max_timeout: PositiveFloat = 600.0
    output_limit: PositiveInt = 30_000
    working_dir: str | None = None
    hide_env: list[str] = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]


class BashInput(BaseModel):
    """What Bash is told."""

    command: str = Field(min_length=1, description="The command line, as for `bash -c`")
    timeout: float | None = Field(None, gt=0, description="Time limit in seconds")
    description: str | None = Field(None, description="What the command does, in a few words")


class Bash(InputTool[BashInput]):
    """Runs a command."""

    name = "Bash"
    input_model: ClassVar[type[BaseModel]] = BashInput

    def __init__(self, host: Host, config: BashConfig) -> None:
        self._host = host
        self._config = config
        self.description = (
            "Run a command in bash, in the working directory, and get what it printed. Every call "
            "is a new shell: `cd` and variables do not last. Standard input is empty, so nothing "
            "can ask back. Background processes end with the command. The limit is "
            f"{config.timeout:g} seconds unless `timeout` says otherwise (at most "
            f"{config.max_timeout:g}). Of long output only the beginning and the end are kept. To"
            " read, write or search files prefer Read, Write, Edit, Glob and Grep."
        )

    async def run(self, given: BashInput) -> ToolResult:
        """Run the command in the session's working directory."""
        limit = self._choose_limit(given.timeout)
        outcome = await run_command(
            given.command,
            cwd=get_working_dir(self._host, self._config.working_dir),
            timeout=limit,
            env=self._build_environment(),
            output_limit=self._config.output_limit,
        )
        return _build_result(outcome, limit)

    def _choose_limit(self, asked: float | None) -> float:
        if asked is None:
            return min(self._config.timeout, self._config.max_timeout)
        if asked > self._config.max_timeout:
            raise Refused(
                f"timeout {asked:g} is too long; it is in seconds and at most "
                f"{self._config.max_timeout:g}"
            )
        return asked

    def _build_environment(self) -> dict[str, str]:
        """Without the keys of the agent itself, which its commands have no use for."""
        return {
            name: value
            for name, value in os.environ.items()
            if not any(fnmatch.fnmatchcase(name, hidden) for hidden in self._config.hide_env)
        }


def _build_result(outcome: CommandOutcome, limit: float) -> ToolResult:
    printed = [outcome.stdout.rstrip("\n")]
    if outcome.stderr.strip():
        printed.append("[stderr]\n" + outcome.stderr.rstrip("\n"))
    problem = _describe_problem(outcome, limit)
    if problem is not None:
        printed.append(f"[{problem}]")
    text = "\n".join(part for part in printed if part)
    return ToolResult(success=problem is None, output=text or "(no output)", error=problem)


def _describe_problem(outcome: CommandOutcome, limit: float) -> str | None:
    if outcome.timed_out:
        return f"ended after the time limit of {limit:g} seconds"
    if outcome.returncode < 0:
        return f"ended by signal {-outcome.returncode}"
    return f"exit code {outcome.returncode}" if outcome.returncode else None


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Mount Bash."""
    options = await parse_known(coordinator, BashConfig, config, NAME)
    return await mount_tools(coordinator, [Bash(coordinator, options)], None, NAME)
