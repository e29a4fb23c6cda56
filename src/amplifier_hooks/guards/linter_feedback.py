"""hooks-linter-feedback: run a linter after each edit and report its findings to the agent.

Listens to  tool:post
Answers     inject_context with the findings and a warning for the user, or continue
Configure   linters (ruff, mypy, eslint or any command, by file pattern), tools, max_bytes, priority
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from amplifier_core.events import TOOL_POST
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_hooks.guards.policy.paths import match_glob
from amplifier_hooks.guards.policy.tool_calls import (
    EDITING_TOOLS,
    FilePatterns,
    find_edited_file,
    format_path,
)
from amplifier_hooks.guards.policy.walls import build_wall
from amplifier_hooks.machine.programs import (
    Command,
    build_environment,
    fill_command,
    find_program,
)
from amplifier_hooks.machine.text import clip_lines, count_noun, to_one_line
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.registration import get_working_dir, subscribe

if TYPE_CHECKING:
    from amplifier_hooks.sandbox.process import CommandOutcome

NAME = "hooks-linter-feedback"
_CANNOT_RUN = (126, 127)
_REMEMBERED_FILES = 1000
_PLACE = re.compile(r"^(?:\S.{0,500}?:\d+|\s+\d+:\d+\s)", re.MULTILINE)


class Linter(BaseModel):
    """One command that checks files of a kind; `{file}` in it is the edited file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=60)
    files: FilePatterns
    command: Command
    timeout: float = Field(30.0, gt=0, le=600)
    finding_codes: frozenset[int] | None = None


PRESETS = {
    "ruff": Linter(
        name="ruff",
        files=("*.py", "*.pyi"),
        command=(
            "ruff",
            "check",
            "--quiet",
            "--no-fix",
            "--no-cache",
            "--force-exclude",
            "--output-format=concise",
            "{file}",
        ),
        finding_codes=frozenset({1}),
    ),
    "mypy": Linter(
        name="mypy",
        files=("*.py", "*.pyi"),
        command=(
            "mypy",
            "--no-error-summary",
            "--no-color-output",
            "--no-pretty",
            "--follow-imports=silent",
            "{file}",
        ),
        timeout=60,
        finding_codes=frozenset({1}),
    ),
    "eslint": Linter(
        name="eslint",
        files=("*.{js,jsx,mjs,cjs,ts,tsx}",),
        command=("eslint", "--no-color", "{file}"),
        finding_codes=frozenset({1}),
    ),
}


class Config(BaseModel):
    """The options of hooks-linter-feedback. A bare name among the linters is a preset."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    linters: tuple[Linter, ...] | None = None
    tools: frozenset[str] = EDITING_TOOLS
    max_bytes: int = Field(4000, ge=200)
    max_file_bytes: int = Field(1_000_000, ge=1)
    priority: int = 50

    @field_validator("linters", mode="before")
    @classmethod
    def _fill_presets(cls, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return value
        return [_get_preset(entry) if isinstance(entry, str) else entry for entry in value]


def _get_preset(name: str) -> Linter:
    if name not in PRESETS:
        raise ValueError(
            f"unknown linter {name!r}; have {', '.join(sorted(PRESETS))}; "
            "or give name, files and command"
        )
    return PRESETS[name]


@dataclass(frozen=True, slots=True)
class Report:
    """What one linter said about one file."""

    linter: str
    findings: str = ""
    trouble: str = ""

    @property
    def count(self) -> int:
        """Lines that name a place; a linter that names none is counted by its lines."""
        return len(_PLACE.findall(self.findings)) or len(self.findings.splitlines())


def read_outcome(linter: Linter, outcome: CommandOutcome) -> Report:
    """Findings, trouble with the linter itself, or neither."""
    if outcome.timed_out:
        return Report(linter.name, trouble=f"took longer than {linter.timeout:g} s")
    code = outcome.returncode
    output = outcome.stdout.strip() or outcome.stderr.strip()
    if code == 0:
        return Report(linter.name)
    known = linter.finding_codes
    if code < 0 or (code in _CANNOT_RUN if known is None else code not in known):
        return Report(
            linter.name, trouble=to_one_line(outcome.stderr or output, 200) or f"exit {code}"
        )
    return Report(linter.name, findings=output or f"exit code {code}, without output")


def build_answer(reports: Sequence[Report], file: str, max_bytes: int) -> HookResult:
    """One answer for all that the linters found in a file."""
    telling = [report for report in reports if report.findings or report.trouble]
    if not telling:
        return HookResult(action="continue")
    message = "\n".join(_format_for_user(report, file) for report in telling)
    found = [report for report in telling if report.findings]
    if not found:
        return HookResult(user_message=message, user_message_level="warning", suppress_output=True)
    share = max_bytes // len(found)
    return HookResult(
        action="inject_context",
        context_injection="\n\n".join(_format_for_agent(one, file, share) for one in found),
        user_message=message,
        user_message_level="warning",
        suppress_output=True,
    )


def _format_for_agent(report: Report, file: str, max_bytes: int) -> str:
    head = f"{report.linter} found {count_noun(report.count, 'issue')} in {file}:"
    return f"{head}\n{clip_lines(report.findings, max_bytes)}"


def _format_for_user(report: Report, file: str) -> str:
    if report.trouble:
        return f"{report.linter} could not check {file}: {report.trouble}"
    return f"{report.linter}: {count_noun(report.count, 'issue')} in {file}"


class LinterFeedback:
    """Runs what fits an edited file, and says nothing twice."""

    def __init__(self, coordinator: Host, config: Config) -> None:
        self._coordinator = coordinator
        self._config = config
        self._reported: dict[tuple[Path, str], tuple[str, Report]] = {}

    def _get_linters(self, base: str) -> tuple[Linter, ...]:
        """Without configuration: ruff, where there is one."""
        if self._config.linters is not None:
            return self._config.linters
        return (PRESETS["ruff"],) if find_program("ruff", base) else ()

    async def on_tool(self, event: str, data: dict[str, Any]) -> HookResult:
        base = get_working_dir(self._coordinator)
        path = find_edited_file(data, self._config.tools, base)
        if path is None:
            return HookResult(action="continue")
        linters = [one for one in self._get_linters(base) if match_glob(path, one.files)]
        state = await asyncio.to_thread(compute_digest, path, self._config.max_file_bytes)
        if not linters or state is None:
            return HookResult(action="continue")
        reports = await asyncio.gather(*(self._lint(one, path, base) for one in linters))
        news = [report for report in reports if self._is_news(path, state, report)]
        return build_answer(news, format_path(path, base), self._config.max_bytes)

    async def _lint(self, linter: Linter, path: Path, base: str) -> Report:
        from amplifier_hooks.sandbox.process import run_command

        outcome = await run_command(
            fill_command(linter.command, file=str(path)),
            cwd=base,
            timeout=linter.timeout,
            env=build_environment(base),
            wall=build_wall(self._coordinator),
            contained=True,
        )
        return read_outcome(linter, outcome)

    def _is_news(self, path: Path, state: str, report: Report) -> bool:
        """A linter's own trouble is told once, findings once per state of the file."""
        key = (Path(), report.linter) if report.trouble else (path, report.linter)
        known = self._reported.get(key)
        self._reported.pop(key, None)
        self._reported[key] = (state, report)
        if len(self._reported) > _REMEMBERED_FILES:
            self._reported.pop(next(iter(self._reported)))
        if known is None:
            return True
        return known[1] != report if report.trouble else known != (state, report)


def compute_digest(path: Path, limit: int) -> str | None:
    """A digest of the file; None if there is none, or it is too large to check. Blocks."""
    try:
        if not path.is_file() or path.stat().st_size > limit:
            return None
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to listen."""
    settings = await parse_known(coordinator, Config, config, NAME)
    feedback = LinterFeedback(coordinator, settings)
    return subscribe(coordinator, NAME, settings.priority, [(TOOL_POST, feedback.on_tool)])
