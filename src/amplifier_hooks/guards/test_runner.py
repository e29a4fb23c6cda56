"""hooks-test-runner: run the tests after edits and tell the agent what fails.

Listens to  tool:post, provider:request, orchestrator:complete
Answers     inject_context with a summary of the failures, a message for the user, or continue
Configure   command (required), when, files, tools, timeout, debounce, max_bytes, priority
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.events import ORCHESTRATOR_COMPLETE, PROVIDER_REQUEST, TOOL_POST
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_hooks.guards.policy.paths import match_glob
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS, FilePatterns, find_edited_file
from amplifier_hooks.guards.policy.walls import build_wall
from amplifier_hooks.machine.background import BackgroundTasks
from amplifier_hooks.machine.programs import Command, build_environment, get_program_name
from amplifier_hooks.machine.text import clip_lines, to_one_line
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.registration import get_working_dir, is_own_event, subscribe
from amplifier_hooks.sandbox.process import CommandOutcome, run_command

NAME = "hooks-test-runner"
_CANNOT_RUN = (126, 127)
_FAILURE = re.compile(r"(?:FAILED|ERROR|FAIL|not ok)\b|E  |--- FAIL|\s*[●✕✗×]|.*\b\d+ failed\b")
_MOST_FAILURES = 30
_TAIL = 15


class Config(BaseModel):
    """The options of hooks-test-runner."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: Command
    when: Literal["background", "request", "turn"] = "background"
    files: FilePatterns = ("**",)
    tools: frozenset[str] = EDITING_TOOLS
    timeout: float = Field(120.0, gt=0, le=3600)
    debounce: float = Field(0.5, ge=0, le=60)
    max_bytes: int = Field(3000, ge=200)
    tell_success: bool = True
    priority: int = 55


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run of the tests came to."""

    kind: Literal["passed", "failed", "trouble"]
    summary: str
    seconds: float = 0.0

    def same_as(self, other: RunReport | None) -> bool:
        """Whether it says nothing new."""
        return other is not None and (self.kind, self.summary) == (other.kind, other.summary)


def read_outcome(outcome: CommandOutcome, config: Config) -> RunReport:
    """What a finished command says about the tests."""
    seconds = outcome.duration_ms / 1000
    if outcome.timed_out:
        return RunReport("trouble", f"took longer than {config.timeout:g} s", seconds)
    if outcome.returncode in _CANNOT_RUN and not outcome.stdout.strip():
        return RunReport("trouble", to_one_line(outcome.stderr, 200), seconds)
    if outcome.returncode == 0:
        return RunReport("passed", "", seconds)
    return RunReport("failed", summarize_output(outcome, config.max_bytes), seconds)


def summarize_output(outcome: CommandOutcome, max_bytes: int) -> str:
    """The lines that name failures, or the end of the output where none do."""
    output = [line.rstrip() for line in f"{outcome.stdout}\n{outcome.stderr}".splitlines()]
    lines = [line for line in output if line.strip()]
    failures = list(dict.fromkeys(line for line in lines if _FAILURE.match(line[:500])))
    shown = failures[:_MOST_FAILURES] or lines[-_TAIL:]
    # Times differ from run to run and would make every failure a new one.
    text = re.sub(r"\b(in|after) \d+(\.\d+)? ?m?s\b", "", "\n".join(shown))
    return clip_lines(text, max_bytes) or f"exit code {outcome.returncode}, without output"


class TestRunner:
    """Runs the tests when edits have settled, and says what is new about them."""

    __test__ = False  # pytest would take it for a test

    def __init__(self, coordinator: Host, config: Config) -> None:
        self._coordinator = coordinator
        self._config = config
        self._edited = False
        self._ready: RunReport | None = None
        self._reported: RunReport | None = None
        self._running: asyncio.Task[None] | None = None
        self.tasks = BackgroundTasks(NAME)

    async def on_tool(self, event: str, data: dict[str, Any]) -> HookResult:
        path = find_edited_file(data, self._config.tools, get_working_dir(self._coordinator))
        if path is not None and match_glob(path, self._config.files):
            self._edited = True
            if self._config.when == "background":
                self._restart()
        return HookResult(action="continue")

    def _restart(self) -> None:
        """What an earlier run finds is out of date already."""
        if self._running is not None:
            self._running.cancel()
        self._running = self.tasks.start(self._run_later())

    async def _run_later(self) -> None:
        await asyncio.sleep(self._config.debounce)
        self._ready = await self._run_tests()

    async def _run_tests(self) -> RunReport:
        self._edited = False
        base = get_working_dir(self._coordinator)
        outcome = await run_command(
            self._config.command,
            cwd=base,
            timeout=self._config.timeout,
            env=build_environment(base),
            wall=build_wall(self._coordinator),
            contained=True,
        )
        return read_outcome(outcome, self._config)

    async def on_request(self, event: str, data: dict[str, Any]) -> HookResult:
        if self._config.when == "request" and self._edited:
            self._ready = await self._run_tests()
        return self._report()

    async def on_complete(self, event: str, data: dict[str, Any]) -> HookResult:
        if (
            self._config.when != "background"
            and self._edited
            and is_own_event(self._coordinator, data)
        ):
            self._ready = await self._run_tests()
        return self._report()

    def _report(self) -> HookResult:
        report = self._ready
        self._ready = None
        if report is None:
            return HookResult(action="continue")
        before = self._reported
        self._reported = report
        if report.same_as(before):
            return _report_unchanged(report)
        program = get_program_name(self._config.command)
        if report.kind == "failed":
            return _report_failure(report, program)
        if report.kind == "trouble":
            return HookResult(
                user_message=f"The tests could not run: {report.summary}",
                user_message_level="warning",
                suppress_output=True,
            )
        return _report_success(report, program, before, self._config.tell_success)

    async def close(self) -> None:
        """End the run that is under way."""
        await self.tasks.close()


def _report_unchanged(report: RunReport) -> HookResult:
    """Silence after an edit would read as success."""
    if report.kind != "failed":
        return HookResult(action="continue")
    return HookResult(
        action="inject_context",
        context_injection="The tests still fail in the same way as before.",
        suppress_output=True,
    )


def _report_failure(report: RunReport, program: str) -> HookResult:
    return HookResult(
        action="inject_context",
        context_injection=f"The tests fail after your edits ({program}):\n{report.summary}",
        user_message=f"Tests fail ({program}, {report.seconds:.1f} s)",
        user_message_level="warning",
        suppress_output=True,
    )


def _report_success(
    report: RunReport, program: str, before: RunReport | None, tell: bool
) -> HookResult:
    message = f"Tests pass ({program}, {report.seconds:.1f} s)" if tell else None
    if before is not None and before.kind == "failed":
        return HookResult(
            action="inject_context",
            context_injection="The tests pass again.",
            user_message=message,
            suppress_output=True,
        )
    return HookResult(user_message=message, suppress_output=True)


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to listen; clean-up ends a run of the tests that is under way."""
    settings = await parse_known(coordinator, Config, config, NAME)
    runner = TestRunner(coordinator, settings)
    remove = subscribe(
        coordinator,
        NAME,
        settings.priority,
        [
            (TOOL_POST, runner.on_tool),
            (PROVIDER_REQUEST, runner.on_request),
            (ORCHESTRATOR_COMPLETE, runner.on_complete),
        ],
    )

    async def cleanup() -> None:
        remove()
        await runner.close()

    return cleanup
