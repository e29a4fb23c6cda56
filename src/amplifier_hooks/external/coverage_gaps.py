"""Gaps of a framework: hooks that are not called, and agents that a tool starts."""

from __future__ import annotations

from typing import Literal, get_args

from amplifier_core import events
from amplifier_core.answers import describe_denial
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import SessionError
from amplifier_core.operation import KERNEL
from amplifier_core.records import ErrorNoted, UserMessage
from amplifier_hooks.coverage import Coverage
from amplifier_hooks.external.run import Run

Ungoverned = Literal["warn", "deny"]
"""What happens to such an agent: `session.ungoverned` of a bundle, `ungoverned` of `govern`."""


def read_ungoverned(coordinator: SessionCoordinator) -> Ungoverned:
    """What the bundle or the program wants; ValueError if it is neither."""
    wanted = (coordinator.config.get("session") or {}).get("ungoverned", "warn")
    return check_ungoverned(wanted)


def check_ungoverned(wanted: object) -> Ungoverned:
    """The value; ValueError if it is none."""
    for known in get_args(Ungoverned):
        if wanted == known:
            found: Ungoverned = known
            return found
    raise ValueError(f"session.ungoverned: 'warn' or 'deny', got {wanted!r}")


def check_start(coordinator: SessionCoordinator, coverage: Coverage) -> None:
    """SessionError if such agents are to be refused where nothing notices them."""
    policy = read_ungoverned(coordinator)
    if policy == "deny" and coverage.inner_agents is None:
        raise SessionError(
            f"session.ungoverned: deny cannot be held with {coverage.framework}: nothing there "
            "shows an agent without hooks that a tool starts. Take it out, and give each agent "
            f"the hooks: {coverage.attach}"
        )


def handle_ungoverned_agent(run: Run, agent: str, cure: str) -> str | None:
    """An agent without hooks starts inside a tool call of this run: why it must not go on, if so.

    `cure` says what would give it hooks. Nobody waits: the tool may hold the loop of the run.
    """
    if read_ungoverned(run.coordinator) == "deny":
        why = f"the agent {agent!r} has no hooks, and session.ungoverned is deny: {cure}"
        run.home.start(run.coordinator.deny(events.AGENT_SPAWN, KERNEL, why))
        return describe_denial(KERNEL, why)
    if agent not in run.met_ungoverned:
        run.met_ungoverned.add(agent)
        text = f"The agent {agent!r} was started by a tool without hooks: {cure}"
        run.home.start(_say(run.coordinator, text))
    return None


async def _say(coordinator: SessionCoordinator, text: str) -> None:
    coordinator.trail.write(UserMessage(text=text, level="warning"))
    await coordinator.show(text, "warning", "session")


_OF_A_TURN = frozenset({"prompt", "provider", "tool"})
JUDGED = tuple(one for one in events.effects if one.partition(":")[0] in _OF_A_TURN)
"""Where hooks decide in each turn; of other events they only hear."""


async def report_uncovered_hooks(coordinator: SessionCoordinator, coverage: Coverage) -> None:
    """Show and record which hooks wait for something that this framework does not show."""
    reasons = [
        f"{event} ({coverage.explain(event, 'deny')}): {', '.join(names)}"
        for event in JUDGED
        if event not in coverage.events and (names := _list_listeners(coordinator, event))
    ]
    if reasons:
        text = (
            f"{coverage.framework} does not show everything; these hooks will not be called at "
            + "; ".join(reasons)
        )
        coordinator.trail.write(ErrorNoted(what="coverage", error=text))
        await coordinator.show(text, "warning", "session")


def _list_listeners(coordinator: SessionCoordinator, event: str) -> list[str]:
    """Who waits for exactly this; who listens to everything misses nothing in particular."""
    found = coordinator.hooks.handlers_for(event)
    return list(dict.fromkeys(one.name for one in found if one.event == event))
