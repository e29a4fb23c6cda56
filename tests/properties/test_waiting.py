"""While a person thinks anything may change: what runs then is what was shown, or nothing.

Random hooks ask, forbid, change and look on; while a question waits others come and go and the
world moves; calls run beside one another. Each time the tool runs, a model of a few lines says
what today's hooks make of the call, and who of them must have been answered with yes.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.message_models import ToolCall
from amplifier_core.models import HookResult
from amplifier_core.testing import MockTool
from amplifier_core.tool_call import call_tool
from tests.support.hooks import PRE, Data

OPTIONS = ["Allow", "Allow always", "Deny"]
MOST_HOOKS = 12
LINKS = st.integers(0, 2)


@dataclass(frozen=True)
class Spec:
    """A hook: what it says follows from the call and from where the link leads."""

    kind: Literal["ask", "look", "forbid", "set", "follow", "observe"]
    priority: int
    number: int
    guard: bool

    @property
    def is_guard(self) -> bool:
        """Who judges by more than the call is a guard, or would not be heard again."""
        return self.guard or self.kind in ("forbid", "follow")

    def speak(self, name: str, given: Data, link: int) -> HookResult:
        if self.kind in ("ask", "look"):
            prompt = f"{name}?" if self.kind == "ask" else f"{name} sees {link}?"
            return HookResult(
                action="ask_user", approval_prompt=prompt, approval_options=list(OPTIONS)
            )
        if self.kind == "forbid" and link == self.number:
            return HookResult(action="deny", reason=name)
        if self.kind in ("set", "follow"):
            value = self.number if self.kind == "set" else link
            changed = {**given["tool_input"], self.kind: value}
            return HookResult(action="modify", data={**given, "tool_input": changed})
        return HookResult()


@dataclass(frozen=True)
class Reply:
    """What a person answers, and what happens until they do."""

    option: Literal["Allow", "Allow always", "Deny"]
    edit: int | None
    steps: int
    comes: Spec | None
    goes: int | None
    link: int | None


SPECS = st.builds(
    Spec,
    st.sampled_from(["ask", "look", "forbid", "set", "follow", "observe"]),
    st.integers(-2, 2),
    st.integers(0, 2),
    st.booleans(),
)
REPLIES = st.builds(
    Reply,
    st.sampled_from(["Allow", "Allow", "Allow", "Allow always", "Deny"]),
    st.none() | st.none() | st.integers(0, 2),
    st.integers(0, 3),
    st.none() | SPECS,
    st.none() | st.integers(0, 9),
    st.none() | LINKS,
)


@dataclass
class Call:
    """What was said in one call."""

    base: Data
    yes: list[tuple[str, str, Data]] = field(default_factory=list)
    edited: Data | None = None
    refused: bool = False
    ran: int = 0
    observed: dict[str, Data] = field(default_factory=dict)


current: ContextVar[Call] = ContextVar("current")
"""The call that the running code is part of; calls may be alike in all that they say."""


class House:
    """A coordinator, its hooks, the person and the tool; the tool checks each run."""

    def __init__(self, replies: list[Reply], limit: int) -> None:
        self.replies = replies
        self.asked = count()
        self.names = count()
        self.link = 0
        self.specs: dict[str, Spec] = {}
        self.violations: list[str] = []
        self.remembered: list[tuple[str, str, Data]] = []
        limits = {"session": {"limits": {"tool_calls_at_once": limit}}}
        self.coordinator = SessionCoordinator(approval_system=self, config=limits)
        self.hooks = self.coordinator.hooks

    def register(self, spec: Spec) -> None:
        name = f"h{next(self.names)}"
        self.specs[name] = spec

        async def handler(event: str, data: Data) -> HookResult:
            if spec.kind == "observe" and not spec.guard:
                observed = current.get().observed
                if observed.get(name) == data["tool_input"]:
                    self.violations.append(f"{name} was told again of what it had just been told")
                observed[name] = data["tool_input"]
            return spec.speak(name, data, self.link)

        on_error: Any = "deny" if spec.is_guard else "continue"
        self.hooks.register(PRE, handler, spec.priority, name, on_error=on_error)

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """The person: things happen, then they answer."""
        reply = self.replies[next(self.asked) % len(self.replies)]
        for _ in range(reply.steps):
            await asyncio.sleep(0)
        registered = self.hooks.handlers_for(PRE)
        if reply.goes is not None and registered:
            self.hooks.remove(registered[reply.goes % len(registered)])
        if reply.comes is not None and len(self.specs) < MOST_HOOKS:
            self.register(reply.comes)
        self.link = self.link if reply.link is None else reply.link
        return self.answer(reply, question)

    def answer(self, reply: Reply, question: ApprovalQuestion) -> ApprovalAnswer:
        shown, call = question.tool_input, current.get()
        if reply.option == "Deny":
            call.refused = True
            return ApprovalAnswer("Deny")
        call.yes.append((question.hook, question.prompt, shown))
        if reply.option == "Allow always":
            self.remembered.append((question.hook, question.prompt, shown))
        edited = None if reply.edit is None else {**shown, "edit": reply.edit}
        if edited is not None:
            call.base = call.edited = edited
        return ApprovalAnswer(reply.option, edited_input=edited)

    def run(self, executed: Data) -> str:
        """The tool runs: is it what today's hooks leave of the call, with all their questions?"""
        call = current.get()
        call.ran += 1
        data: Data = {"tool_name": "Write", "tool_input": call.base}
        for hook in self.hooks.handlers_for(PRE):
            said = self.specs[hook.name].speak(hook.name, data, self.link)
            assert said.action != "deny", f"{hook.name} would deny this now"
            data = said.data if said.action == "modify" and said.data else data
        assert executed == data["tool_input"], "something runs that today's hooks would not leave"
        for hook in self.hooks.handlers_for(PRE):
            said = self.specs[hook.name].speak(hook.name, data, self.link)
            if said.action == "ask_user":
                self.check_answered(call, hook.name, str(said.approval_prompt), executed)
        if call.yes:
            seen = [shown for _, _, shown in (*call.yes, *self.remembered)]
            assert executed in [*seen, call.edited], "a person was asked, and not about this"
        assert not call.refused
        return "done"

    def check_answered(self, call: Call, hook: str, prompt: str, executed: Data) -> None:
        about = [shown for who, what, shown in call.yes if (who, what) == (hook, prompt)]
        # A gate that was answered before a person edited the input is not asked again.
        answered = executed in about or (about and call.edited == executed)
        assert answered or (hook, prompt, executed) in self.remembered, f"{prompt} was not asked"


async def play(specs: list[Spec], replies: list[Reply], calls: int, limit: int) -> None:
    """Calls beside one another, twice, so that what was remembered counts."""
    house = House(replies, limit)
    for spec in specs:
        house.register(spec)
    await house.coordinator.mount("tools", MockTool("Write", house.run))

    async def call(number: int) -> None:
        said = Call({"path": "/a", "number": number % 2})
        current.set(said)
        made = ToolCall(id=f"c{number}", name="Write", arguments=dict(said.base))
        result = await call_tool(house.coordinator, made)
        assert result.success or result.denied, result.error
        assert said.ran == int(result.success)

    for _ in range(2):
        async with asyncio.timeout(30):
            await asyncio.gather(*(call(number) for number in range(calls)))
    assert house.violations == []
    assert house.coordinator.slots.free == limit


WORLDS = (
    st.lists(SPECS, min_size=1, max_size=6),
    st.lists(REPLIES, min_size=1, max_size=6),
    st.integers(1, 4),
    st.integers(1, 3),
)


@given(*WORLDS)
@settings(max_examples=120, deadline=None)
def test_what_runs_was_shown_and_is_what_the_hooks_leave_of_it_now(
    specs: list[Spec], replies: list[Reply], calls: int, limit: int
) -> None:
    """Hooks register, leave and change while questions wait: the model holds at every run."""
    asyncio.run(play(specs, replies, calls, limit))


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@given(*WORLDS)
@settings(max_examples=20_000, deadline=None)
def test_the_same_for_many_more_worlds(
    specs: list[Spec], replies: list[Reply], calls: int, limit: int
) -> None:
    """The long form."""
    asyncio.run(play(specs, replies, calls, limit))
