"""The kickoffs under way, and which of them something belongs to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from amplifier_core.payloads import EndReason
from amplifier_hooks.coverage import CREWAI
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.half_calls import HalfCalls
from amplifier_hooks.external.loops import find_running_loop
from amplifier_hooks.external.run import Run, inside


class KickoffEnded(RuntimeError):
    """What is left of a crew that nobody waits for any more wants to go on."""


@dataclass(eq=False)
class Kickoff:
    """One kickoff, or what a coworker does inside of it: a run of ours."""

    calls: HalfCalls
    crew: Any
    """Kept, so that nobody else gets its identity as long as this is known."""
    before: Kickoff | None = None
    """What ran in the context where it was started."""
    inners: list[Kickoff] = field(default_factory=list)
    """Those of coworkers that work now."""
    descriptions: list[tuple[Any, str]] = field(default_factory=list)
    """Tasks whose description a hook has changed, with the one that they had."""

    @property
    def run(self) -> Run:
        """The run behind it."""
        return self.calls.run

    def restore(self) -> None:
        """Give each task the description back that its program gave it."""
        while self.descriptions:
            task, description = self.descriptions.pop()
            task.description = description

    def end(self, reason: EndReason) -> None:
        """Nothing of it goes on."""
        self.calls.abandon()
        for one in tuple(self.inners):
            one.end(reason)
        self.restore()
        self.run.end_sync(reason)


_current: ContextVar[Mapping[int, Kickoff]] = ContextVar("amplifier_kickoff")
"""By the identity of the Kickoffs: what runs in this context."""


class Kickoffs:
    """Those of the crews that one governor governs."""

    def __init__(self, governor: Governor) -> None:
        self.governor = governor
        self.has_ended = False
        self._open: dict[int, Kickoff] = {}

    def begin(self, crew: Any) -> Kickoff:
        """A kickoff starts; SessionDenied if a hook refuses it."""
        kickoff = self._open_for(crew)
        kickoff.before = self.enter(kickoff)
        self._watch(kickoff)
        return kickoff

    def _open_for(self, holder: Any) -> Kickoff:
        self._check()
        name = str(getattr(holder, "name", None) or getattr(holder, "role", None) or "crew")
        kickoff = Kickoff(HalfCalls(self.governor.open_sync(CREWAI, name)), holder)
        self._open[id(holder)] = kickoff
        return kickoff

    def begin_inner(self, outer: Kickoff, agent: str) -> Kickoff:
        """A coworker starts to work, inside a tool call."""
        token = inside.set(outer.run)
        try:
            run = self.governor.open_sync(CREWAI, agent)
        finally:
            inside.reset(token)
        inner = Kickoff(HalfCalls(run), outer.crew)
        outer.inners.append(inner)
        return inner

    def find(self, *holders: Any) -> Kickoff:
        """The kickoff of a task, an agent or a crew; an agent without a crew has one by itself."""
        self._check()
        found = self.find_open(*holders)
        # Of an agent without a crew nobody hears that it starts, or that it is done.
        return found or self._open_for(next((one for one in holders if one is not None), self))

    def find_open(self, *holders: Any) -> Kickoff | None:
        """The same, if there is one."""
        here = _current.get({}).get(id(self))
        if here is not None and not here.run.has_ended:
            return here
        for one in holders:
            for held in (one, getattr(one, "crew", None)):
                if held is not None and id(held) in self._open:
                    return self._open[id(held)]
        return here

    def enter(self, kickoff: Kickoff | None) -> Kickoff | None:
        """What runs in this context from here on; returns what did before."""
        known = dict(_current.get({}))
        before = known.pop(id(self), None)
        if kickoff is not None:
            known[id(self)] = kickoff
        _current.set(known)
        return before

    def end(self, crew: Any, reason: EndReason) -> None:
        """A kickoff is over."""
        kickoff = self._open.pop(id(crew), None)
        if kickoff is not None:
            self.enter(kickoff.before)
            kickoff.end(reason)

    def close(self, reason: EndReason) -> None:
        """All of them are over, and no other one starts."""
        self.has_ended = True
        for kickoff in list(self._open.values()):
            self.end(kickoff.crew, reason)

    def _check(self) -> None:
        if self.has_ended:
            raise KickoffEnded("the block that governed this crew is over, so nothing goes on")

    def _watch(self, kickoff: Kickoff) -> None:
        """End a kickoff whose task was cancelled: CrewAI does not tell of that."""
        if find_running_loop() is None:
            return
        task = asyncio.current_task()
        if task is not None:
            task.add_done_callback(lambda _: self._end_if_open(kickoff))

    def _end_if_open(self, kickoff: Kickoff) -> None:
        if self._open.get(id(kickoff.crew)) is kickoff:
            self.end(kickoff.crew, "user_exit")
