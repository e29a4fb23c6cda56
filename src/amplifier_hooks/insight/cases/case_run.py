"""The run of a case: its events, one after another, and whether the answers are as expected."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_core.errors import AmplifierError
from amplifier_core.hooks import HookRegistry
from amplifier_core.registration import HookHandler
from amplifier_hooks.insight.cases.case import TIME_LIMIT, Case, Step
from amplifier_hooks.insight.cases.comparison import Difference, find_differences
from amplifier_hooks.insight.cases.completion import complete_data
from amplifier_hooks.insight.cases.outcome import Outcome, read_outcome
from amplifier_hooks.insight.cases.samples import list_heard
from amplifier_hooks.insight.cases.subject import Subject
from amplifier_hooks.insight.cases.threads import own_threads
from amplifier_hooks.insight.cases.time_limit import Blocked, limit_time


@dataclass(slots=True)
class CaseRun:
    """What became of a case."""

    case: Case
    outcomes: list[Outcome] = field(default_factory=list)
    """Of each event that was sent, as often as it was."""
    differences: list[Difference] = field(default_factory=list)
    """What was not as expected of the last one."""
    step: int = 0
    """The step that the case came to, counted from 0."""
    problem: str = ""
    """Why no answer could be had."""
    is_stuck: bool = False
    """Whether something did not end in time, and may still be running."""

    @property
    def passed(self) -> bool:
        """Whether everything was as expected."""
        return not self.differences and not self.problem

    def list_reasons(self) -> list[str]:
        """Why it did not pass, a line each."""
        told = [self.problem] if self.problem else [str(one) for one in self.differences]
        if len(self.case.steps) > 1:
            where = f"step {self.step + 1}, {self.case.steps[self.step].event}"
            told = [f"{where}: {line}" for line in told]
        return told

    @property
    def has_failed_hook(self) -> bool:
        """Whether a hook raised or took too long, expected or not."""
        return self.is_stuck or any(one.failures for one in self.outcomes)


@dataclass(slots=True)
class _Turn:
    """Whose turn it is: the last hook that has begun; none while no event is under way."""

    hook: str = ""

    def begin(self, handler: HookHandler) -> None:
        self.hook = handler.name

    def end(self, handler: HookHandler) -> None:
        """Part of Watch; it also comes when a hook was cut off."""


def run_case(
    case: Case,
    subject: Subject,
    config: Mapping[str, Any] | None = None,
    limit: float = TIME_LIMIT,
) -> CaseRun:
    """Run a case in an event loop of its own; the hooks may take `limit` seconds for each event."""
    run, turn = CaseRun(case), _Turn()
    try:
        with _enter_folder(case.files) as folder:
            asyncio.run(_run(run, subject, {**(config or {}), **case.config}, folder, limit, turn))
    except (TimeoutError, Blocked):
        who = f"{turn.hook} did not answer" if turn.hook else f"{subject.name} was not ready"
        run.problem, run.is_stuck = f"{who} within {limit:g} s", True
    except SystemExit as error:
        run.problem = f"{turn.hook or subject.name} ended the program with exit code {error.code}"
    except (AmplifierError, OSError) as error:
        run.problem = str(error)
    return run


@contextlib.contextmanager
def _enter_folder(files: Mapping[str, str]) -> Iterator[Path]:
    """The current folder, or a new one with the files, which then is the current one."""
    if not files:
        yield Path.cwd()
        return
    with tempfile.TemporaryDirectory(prefix="amplifier-case-") as name, contextlib.chdir(name):
        for file, text in files.items():
            path = Path(name, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        yield Path(name)


async def _run(
    run: CaseRun,
    subject: Subject,
    config: Mapping[str, Any],
    folder: Path,
    limit: float,
    turn: _Turn,
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(own_threads())
        async with limit_time(limit):
            hooks = await stack.enter_async_context(subject.mount(config, folder))
        for place, step in enumerate(run.case.steps):
            run.step = place
            _require_listener(hooks, step.event, subject)
            for _ in range(step.times):
                outcome = await _send(hooks, step, limit, turn)
                run.outcomes.append(outcome)
                run.differences += find_differences(step.expect, outcome)
                if run.differences:
                    return


async def _send(hooks: HookRegistry, step: Step, limit: float, turn: _Turn) -> Outcome:
    data = complete_data(step.event, step.data) if step.complete else dict(step.data)
    async with limit_time(limit):
        started = time.perf_counter()
        done = await hooks.dispatch(step.event, data, turn)
        ms = (time.perf_counter() - started) * 1000
    turn.hook = ""
    return read_outcome(done, data, ms)


def _require_listener(hooks: HookRegistry, event: str, subject: Subject) -> None:
    """Refuse an event that nobody hears: whatever is expected of it would prove nothing."""
    if not hooks.has_listeners(event):
        heard = ", ".join(list_heard(hooks)) or "nothing"
        message = f"no hook of {subject.name} listens to {event}; they listen to {heard}"
        raise AmplifierError(message)


def find_events(
    subject: Subject, config: Mapping[str, Any], limit: float = TIME_LIMIT
) -> list[str]:
    """The events that the hooks listen to; raises if they cannot be mounted in time."""

    async def find() -> list[str]:
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(own_threads())
            async with limit_time(limit):
                hooks = await stack.enter_async_context(subject.mount(config, Path.cwd()))
            return list_heard(hooks)

    try:
        return asyncio.run(find())
    except (TimeoutError, Blocked):
        raise AmplifierError(f"{subject.name} was not ready within {limit:g} s") from None
