"""Sessions in which hooks do everything that hooks can do, several events at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from amplifier_core.approval import ApprovalTimeout
from amplifier_core.hook_counts import HookCounts
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import CONTINUE, HookResult
from amplifier_core.testing import (
    MemoryAudit,
    MemoryContext,
    RecordingDisplay,
    ScriptedApproval,
    TestCoordinator,
)
from amplifier_hooks.trails import Item, read_items

WAYS = ["continue", "deny", "ask_user", "modify", "inject_context", "raise", "hang", "rubbish"]
EVENTS = ["tool:pre", "tool:post", "user:notification", "tool:*"]


@dataclass(frozen=True)
class Wish:
    """A hook that somebody registers."""

    name: str
    event: str
    ways: tuple[str, ...]
    priority: int = 0
    guard: bool = False
    parallel: bool = False
    shadow: bool = False
    in_child: bool = False


@dataclass(frozen=True)
class Step:
    """What happens at once: events here and in the sub-agent, hooks that come and go."""

    events: tuple[tuple[bool, str], ...]
    added: tuple[Wish, ...] = ()
    removed: tuple[int, ...] = ()


@dataclass(frozen=True)
class Script:
    """A session."""

    mode: str
    hooks: tuple[Wish, ...]
    steps: tuple[Step, ...]
    answers: tuple[str, ...]


EVERY_FIGURE = Script(
    "enforce",
    hooks=(
        Wish("a", "tool:pre", ("ask_user", "ask_user", "deny")),
        Wish("b", "tool:post", ("raise", "inject_context")),
        Wish("c", "user:notification", ("hang",)),
    ),
    steps=(
        Step(((False, "tool:pre"),) * 4),
        Step(((False, "tool:post"), (False, "tool:post"), (True, "user:notification"))),
    ),
    answers=("Allow once", "Deny", "late"),
)
"""Few random sessions have one that asks and is heeded; here every figure is more than 0."""


def _list_wishes(least: int, most: int) -> st.SearchStrategy[tuple[Wish, ...]]:
    ways = st.lists(st.sampled_from([*WAYS, "ask_user", "ask_user"]), min_size=1, max_size=3).map(
        tuple
    )
    flags = st.booleans()
    wish = st.builds(
        Wish,
        name=st.sampled_from("abcd"),
        event=st.sampled_from([*EVENTS, "tool:pre"]),
        ways=ways,
        priority=st.integers(0, 2),
        guard=flags,
        parallel=flags,
        shadow=st.sampled_from([False, False, True]),
        in_child=flags,
    )
    return st.lists(wish, min_size=least, max_size=most).map(tuple)


def draw_scripts() -> st.SearchStrategy[Script]:
    """Any such session."""
    told = st.tuples(st.booleans(), st.sampled_from([*EVENTS[:3], "tool:pre"]))
    step = st.builds(
        Step,
        events=st.lists(told, min_size=1, max_size=4).map(tuple),
        added=_list_wishes(0, 2),
        removed=st.lists(st.integers(0, 5), max_size=2).map(tuple),
    )
    return st.builds(
        Script,
        mode=st.sampled_from(["enforce", "enforce", "run_all", "evaluate_only"]),
        hooks=_list_wishes(1, 5),
        steps=st.lists(step, min_size=1, max_size=3).map(tuple),
        answers=st.lists(
            st.sampled_from(["Allow once", "Allow always", "Deny", "late", "gone"]),
            min_size=1,
            max_size=4,
        ).map(tuple),
    )


@dataclass
class RandomSession:
    """Plays a script, and keeps the trail of it."""

    script: Script
    level: Any = "normal"
    removals: list[Callable[[], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.audit = MemoryAudit(self.level)
        mode: Any = self.script.mode
        self.registry = HookRegistry(mode=mode)
        self.child = HookRegistry(self.registry)
        self.agents = [
            TestCoordinator(
                hooks=hooks,
                context=MemoryContext(),
                approval_system=ScriptedApproval(*map(_make_answer, self.script.answers)),
                display_system=RecordingDisplay(),
                audit=self.audit,
                session_id=name,
            )
            for hooks, name in ((self.registry, "outer"), (self.child, "inner"))
        ]

    async def play(self) -> None:
        """From the first hook to the last event."""
        self._add(self.script.hooks)
        for number, step in enumerate(self.script.steps):
            told = (self._tell(one, number + place) for place, one in enumerate(step.events))
            await asyncio.gather(*told, self._change(step))

    async def _tell(self, told: tuple[bool, str], number: int) -> None:
        inner, event = told
        call = {"tool_name": "Write", "tool_input": {"n": number}, "n": number}
        await self.agents[inner].execute_with_hooks(event, call)

    async def _change(self, step: Step) -> None:
        await asyncio.sleep(0)
        self._add(step.added)
        for place in step.removed:
            self.removals[place % len(self.removals)]()
            await asyncio.sleep(0)

    def _add(self, wishes: Iterable[Wish]) -> None:
        for wish in wishes:
            registry = self.child if wish.in_child else self.registry
            remove: Any = registry.register(
                wish.event,
                _make_hook(wish.ways),
                wish.priority,
                wish.name,
                on_error="deny" if wish.guard and not wish.parallel else "continue",
                timeout=0.003 if "hang" in wish.ways else None,
                parallel=wish.parallel,
            )
            remove.args[0].shadow = wish.shadow
            self.removals.append(remove)

    def count(self) -> dict[str, HookCounts]:
        """What the session itself has counted, its sub-agent's own hooks included."""
        found = self.registry.count()
        for name, counts in self.child.count().items():
            found.setdefault(name, HookCounts()).add(counts)
        return found

    def read(self) -> list[Item]:
        """What the trail tells."""
        return list(read_items(self.list_records()))

    def list_records(self) -> list[Any]:
        """The records, as a reader of a log has them."""
        return [{"seq": n, **record} for n, record in enumerate(self.audit.records)]


def _make_answer(said: str) -> Any:
    async def answer(_question: Any) -> Any:
        await asyncio.sleep(0)
        return {"late": ApprovalTimeout("too late"), "gone": OSError("gone")}.get(said, said)

    return answer


def _make_hook(ways: tuple[str, ...]) -> Any:
    async def hook(event: str, data: dict[str, Any]) -> Any:
        way = ways[data.get("n", 0) % len(ways)]
        await asyncio.sleep(10 if way == "hang" else 0)
        if way == "raise":
            raise OSError("no")
        return _ANSWERS[way](data)

    return hook


_ANSWERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "continue": lambda data: CONTINUE,
    "rubbish": lambda data: 42,
    "deny": lambda data: HookResult(action="deny", reason="no"),
    "ask_user": lambda data: HookResult(action="ask_user", approval_prompt="Go on?"),
    "inject_context": lambda data: HookResult(
        action="inject_context", context_injection=f"mind the gap {data.get('n')}"
    ),
    "modify": lambda data: HookResult(action="modify", data={**data, "seen": True}),
}
