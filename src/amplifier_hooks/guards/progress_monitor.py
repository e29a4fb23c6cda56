"""hooks-progress-monitor: show progress, and step in when the agent goes in circles.

Listens to  prompt:submit, tool:pre, tool:post, tool:error, provider:request,
            orchestrator:complete, session:end
Answers     user messages; inject_context for a nudge; ask_user or deny as the last resort
Configure   show, interval, repeats, cycles, reads, reading_tools, last_resort, ephemeral, priority
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from amplifier_core.events import (
    ORCHESTRATOR_COMPLETE,
    PROMPT_SUBMIT,
    PROVIDER_REQUEST,
    SESSION_END,
    TOOL_ERROR,
    TOOL_POST,
    TOOL_PRE,
)
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_core.utils import digest
from amplifier_hooks.guards.policy.tool_calls import read_success
from amplifier_hooks.machine.text import count_noun, to_one_line
from amplifier_hooks.modules.clock import find_clock
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.registration import get_session_id, is_own_event, subscribe


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call; two are the same when tool and input are."""

    tool: str
    fingerprint: int | str
    shown: str = field(compare=False)


def read_call(data: dict[str, Any]) -> Call:
    """The call of an event, whatever its input is made of."""
    return Call(
        get_tool_name(data), compute_fingerprint(data.get("tool_input")), describe_call(data)
    )


def compute_fingerprint(value: Any) -> int | str:
    """Equal for equal inputs; for a megabyte of text far cheaper than a digest."""
    try:
        return hash(_freeze(value))
    except (TypeError, RecursionError):
        return digest(value)


def _freeze(value: Any) -> Any:
    if isinstance(value, dict):
        return frozenset((key, _freeze(entry)) for key, entry in value.items())
    return tuple(map(_freeze, value)) if isinstance(value, list) else value


def identify_call(data: dict[str, Any]) -> tuple[str, Any]:
    """By which a result is known to be of a call; other hooks may have changed its input."""
    return get_tool_name(data), data.get("tool_call_id")


def get_tool_name(data: dict[str, Any]) -> str:
    """The name of the tool that an event is about, on one line."""
    return to_one_line(data.get("tool_name") or "unknown", 60)


def describe_call(data: dict[str, Any]) -> str:
    """The tool and the argument by which people know the call."""
    return f"{get_tool_name(data)}({_find_main_argument(data.get('tool_input'))})"


def _find_main_argument(given: Any) -> str:
    """The part of an input by which people know a call."""
    if not isinstance(given, dict):
        return ""
    for key in ("file_path", "path", "command", "pattern", "url", "query", "task"):
        if isinstance(given.get(key), str):
            return to_one_line(given[key], 60)
    return ""


NAME = "hooks-progress-monitor"
Steps = tuple[int, int, int]
LONGEST_CYCLE = 4
_MOST = 200


class Config(BaseModel):
    """The options of hooks-progress-monitor.

    `repeats`, `cycles` and `reads` are the counts at which the agent is nudged gently, nudged
    firmly, and stopped; an empty list turns that check off.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    show: bool = True
    interval: float = Field(10.0, ge=0)
    repeats: Steps | tuple[()] = (3, 5, 7)
    cycles: Steps | tuple[()] = (2, 3, 4)
    reads: Steps | tuple[()] = (20, 40, 100)
    reading_tools: frozenset[str] = frozenset({"Read", "Glob", "Grep", "LS"})
    last_resort: Literal["ask_user", "deny", "none"] = "ask_user"
    approval_timeout: float = Field(300.0, gt=0)
    ephemeral: bool = False
    priority: int = -50

    @field_validator("repeats", "cycles", "reads")
    @classmethod
    def _check_steps(cls, value: Steps | tuple[()]) -> Steps | tuple[()]:
        if value and not 2 <= value[0] < value[1] < value[2] <= _MOST:
            raise ValueError(f"must be three rising numbers from 2 to {_MOST}, such as [3, 5, 7]")
        return value

    @property
    def history(self) -> int:
        """How many calls have to be remembered for the checks to see what they look for."""
        repeats, cycles, reads = (
            max(s, default=1) for s in (self.repeats, self.cycles, self.reads)
        )
        return max(repeats, cycles * LONGEST_CYCLE, reads)


Kind = Literal["repeats", "cycles", "reads"]


@dataclass(frozen=True, slots=True)
class Concern:
    """What the agent seems to be caught in, and how strongly: 1 gentle, 2 firm, 3 last."""

    kind: Kind
    count: int
    stage: int
    shown: str


def count_repeats(calls: Sequence[Call]) -> int:
    """How often the last call was made in a row."""
    return _count_periods(calls, 1)


def find_cycle(calls: Sequence[Call]) -> tuple[int, int]:
    """The length and the number of rounds of the cycle that the calls end in; (0, 1) if none."""
    sizes = [size for size in range(2, LONGEST_CYCLE + 1) if len(set(calls[-size:])) > 1]
    rounds = [(_count_periods(calls, size), -size) for size in sizes]
    best, size = max(rounds, default=(1, 0))
    return (-size, best) if best > 1 else (0, 1)


def _count_periods(calls: Sequence[Call], size: int) -> int:
    """How many whole times the last `size` calls occur in a row at the end."""
    same = 0
    for at in range(len(calls) - size - 1, -1, -1):
        if calls[at] != calls[at + size]:
            break
        same += 1
    return same // size + 1 if len(calls) >= size else 0


def count_reads(calls: Sequence[Call], reading_tools: frozenset[str]) -> int:
    """How many calls at the end only read."""
    count = 0
    for call in reversed(calls):
        if call.tool not in reading_tools:
            break
        count += 1
    return count


def find_concern(calls: Sequence[Call], config: Config) -> Concern | None:
    """The strongest thing to be worried about, or None."""
    if not calls:
        return None
    size, rounds = find_cycle(calls)
    counts: list[tuple[Kind, int, Steps | tuple[()], str]] = [
        ("repeats", count_repeats(calls), config.repeats, calls[-1].shown),
        ("cycles", rounds, config.cycles, " → ".join(call.shown for call in calls[-size:])),
        ("reads", count_reads(calls, config.reading_tools), config.reads, calls[-1].shown),
    ]
    found = [Concern(kind, n, _find_stage(n, steps), shown) for kind, n, steps, shown in counts]
    return max((one for one in found if one.stage), key=lambda one: one.stage, default=None)


def _find_stage(count: int, steps: Sequence[int]) -> int:
    return sum(count >= step for step in steps)


def describe_concern(concern: Concern) -> str:
    """What the agent does, as half a sentence."""
    if concern.kind == "repeats":
        return f"the same call was made {concern.count} times in a row: {concern.shown}"
    if concern.kind == "cycles":
        return f"the same calls went round {concern.count} times: {concern.shown}"
    return f"the last {concern.count} calls only read, and nothing was changed"


ADVICE: dict[Kind, str] = {
    "repeats": "Its answer is already in the conversation. Use it, or try something different.",
    "cycles": "Another round will give the same answers. Say what blocks you and change course.",
    "reads": "You probably know enough. Begin the work, or say what is missing.",
}


def write_nudge(concern: Concern) -> str:
    """What the agent reads."""
    tone = "Note" if concern.stage == 1 else "Stop and think"
    text = f"{tone}: {describe_concern(concern)}. {ADVICE[concern.kind]}"
    if concern.stage > 1:
        text += " If you cannot go on, tell the user what you found and ask."
    return text


_LAST = 3


@dataclass(slots=True)
class Run:
    """What is known of the turn under way in one session."""

    started: float
    shown_at: float
    calls: deque[Call]
    tools: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    warned: dict[Kind, int] = field(default_factory=dict)
    pending: Concern | None = None
    asked: tuple[str, Any] | None = None

    def forgive(self) -> None:
        """A person allowed it: begin to count anew."""
        self.calls.clear()
        self.warned.clear()
        self.pending = self.asked = None

    def settle(self, concern: Concern | None) -> None:
        """Remember what to say next; a worry that is over may come back as gently as before."""
        if concern is None:
            self.warned.clear()
        elif concern.stage > self.warned.get(concern.kind, 0):
            self.warned[concern.kind] = concern.stage
            self.pending = concern


class ProgressMonitor:
    """Follows the turns of a session and of its sub-agents, each for itself."""

    def __init__(
        self, coordinator: Host, config: Config, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._coordinator = coordinator
        self._config = config
        self._clock = clock
        self._runs: dict[str, Run] = {}

    def _get_run(self, data: dict[str, Any]) -> Run:
        session = get_session_id(self._coordinator, data)
        run = self._runs.get(session)
        return run if run is not None else self._begin(session)

    def _begin(self, session: str) -> Run:
        now = self._clock()
        calls: deque[Call] = deque(maxlen=self._config.history)
        self._runs[session] = run = Run(now, now, calls)
        return run

    async def on_prompt(self, event: str, data: dict[str, Any]) -> HookResult:
        self._begin(get_session_id(self._coordinator, data))
        return HookResult(action="continue")

    async def on_end(self, event: str, data: dict[str, Any]) -> HookResult:
        self._runs.pop(get_session_id(self._coordinator, data), None)
        return HookResult(action="continue")

    async def on_call(self, event: str, data: dict[str, Any]) -> HookResult:
        run = self._get_run(data)
        call = read_call(data)
        concern = find_concern([*run.calls, call], self._config)
        if concern is not None and concern.stage >= _LAST and self._config.last_resort != "none":
            return self._stop(run, data, concern)
        run.calls.append(call)
        run.settle(concern)
        return HookResult(action="continue")

    def _stop(self, run: Run, data: dict[str, Any], concern: Concern) -> HookResult:
        """The call is not remembered, so this stays the last stage until the agent does another."""
        reason = f"{describe_concern(concern)}. {ADVICE[concern.kind]}"
        message = f"The agent seems to be stuck: {describe_concern(concern)}."
        if self._config.last_resort == "deny":
            return HookResult(
                action="deny", reason=reason, user_message=message, user_message_level="warning"
            )
        run.asked = identify_call(data)
        return HookResult(
            action="ask_user",
            reason=reason,
            approval_prompt=f"{message} Let it go on?",
            approval_timeout=self._config.approval_timeout,
            approval_default="deny",
        )

    async def on_result(self, event: str, data: dict[str, Any]) -> HookResult:
        run = self._get_run(data)
        if run.asked is not None and run.asked == identify_call(data):
            run.forgive()
        run.tools[get_tool_name(data)] += 1
        run.failed += read_success(data) is False
        return self._answer(run, self._describe_progress(run, data))

    async def on_request(self, event: str, data: dict[str, Any]) -> HookResult:
        return self._answer(self._get_run(data), None)

    def _answer(self, run: Run, progress: str | None) -> HookResult:
        """The nudge that is due, and the progress line that is due."""
        concern = run.pending
        run.pending = None
        if concern is None:
            return HookResult(user_message=progress) if progress else HookResult()
        warning = progress
        if concern.stage > 1:
            warning = f"The agent may be stuck: {describe_concern(concern)}."
        return HookResult(
            action="inject_context",
            context_injection=write_nudge(concern),
            ephemeral=self._config.ephemeral,
            user_message=warning,
            user_message_level="warning" if concern.stage > 1 else "info",
        )

    def _describe_progress(self, run: Run, data: dict[str, Any]) -> str | None:
        now = self._clock()
        if not self._config.show or now - run.shown_at < self._config.interval:
            return None
        run.shown_at = now
        return f"{summarize_run(run, now)}; last {describe_call(data)}"

    async def on_complete(self, event: str, data: dict[str, Any]) -> HookResult:
        run = self._get_run(data)
        now = self._clock()
        self._runs.pop(get_session_id(self._coordinator, data), None)
        brief = now - run.started < self._config.interval
        shown = self._config.show and is_own_event(self._coordinator, data)
        if not shown or brief or not run.tools:
            return HookResult(action="continue")
        return HookResult(user_message=f"Finished: {summarize_run(run, now)}")


def summarize_run(run: Run, now: float) -> str:
    """`12 tool calls in 42 s (7 Read, 5 Edit), 1 failed`."""
    kinds = ", ".join(f"{count} {tool}" for tool, count in run.tools.most_common(5))
    text = f"{count_noun(run.tools.total(), 'tool call')} in {now - run.started:.0f} s ({kinds})"
    return f"{text}, {run.failed} failed" if run.failed else text


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to listen."""
    settings = await parse_known(coordinator, Config, config, NAME)
    monitor = ProgressMonitor(coordinator, settings, find_clock(coordinator))
    handlers = [
        (PROMPT_SUBMIT, monitor.on_prompt),
        (TOOL_PRE, monitor.on_call),
        (TOOL_POST, monitor.on_result),
        (TOOL_ERROR, monitor.on_result),
        (PROVIDER_REQUEST, monitor.on_request),
        (ORCHESTRATOR_COMPLETE, monitor.on_complete),
        (SESSION_END, monitor.on_end),
    ]
    return subscribe(coordinator, NAME, settings.priority, handlers)
