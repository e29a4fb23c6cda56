"""Random loops over the public API: whatever they do, what they send is in an order models accept.

Two kinds: loops that somebody writes, with a coordinator and a context of any form, and sessions of
ours, with a provider that refuses what OpenAI and Anthropic refuse. Hooks inject at any event, in
any form. Loops forget results, add them late or twice, and go on regardless.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from amplifier_core.message_models import ChatRequest, ChatResponse, ToolCall
from amplifier_core.models import HookResult
from amplifier_core.session import AmplifierSession
from amplifier_core.testing import MemoryContext, MockTool, RecordingDisplay
from amplifier_core.tool_call import call_tool
from amplifier_core.utils import resolve
from amplifier_core.utils.conversation import add_message
from amplifier_hooks.agent.contexts.simple import SimpleContext, SimpleContextConfig
from tests.support.harness import Harness
from tests.support.hooks import POST, PRE, Data
from tests.support.message_rules import check_history, check_request

EVENTS = ["prompt:submit", "provider:request", "provider:response", PRE, POST, "tool:error"]
ROLES = ["system", "user", "assistant"]
WAYS = ["call_tool", "events", "emit"]


class Dicts:
    """A context of somebody else's: it keeps what it is given, where it is given it."""

    def __init__(self) -> None:
        self.kept: list[Data] = []

    def add_message(self, message: Data) -> None:
        self.kept.append(message)

    def get_messages(self) -> list[Data]:
        return self.kept


class AsyncRoles(Dicts):
    async def add_message(self, role: str, content: Any, **more: Any) -> None:  # type: ignore[override]
        self.kept.append({"role": role, "content": content, **more})

    async def get_messages(self) -> list[Data]:  # type: ignore[override]
        return list(self.kept)


def small_context() -> SimpleContext:
    return SimpleContext(SimpleContextConfig(max_tokens=120, keep_last=2))


CONTEXTS: dict[str, Any] = {
    "simple": SimpleContext,
    "small": small_context,
    "memory": MemoryContext,
    "dicts": Dicts,
    "roles": AsyncRoles,
}
OURS = {"simple", "small", "memory"}

INJECTIONS = st.fixed_dictionaries(
    {
        "context_injection_role": st.sampled_from(ROLES),
        "ephemeral": st.booleans(),
        "append_to_last_tool_result": st.booleans(),
    }
)


def build_hook(text: str, fields: Data) -> Any:
    async def hook(event: str, data: Data) -> HookResult:
        return HookResult(action="inject_context", context_injection=text, **fields)

    return hook


class LoopMachine(RuleBasedStateMachine):
    """One loop: prompts, replies, calls in any order and way, results now, later or never."""

    @initialize(kind=st.sampled_from(sorted(CONTEXTS)))
    def begin(self, kind: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.kind = kind
        self.harness = Harness(context=CONTEXTS[kind](), injection_budget_per_turn=None)
        self.context = self.harness.context
        self.names = 0
        self.open: list[str] = []
        self.lost: list[str] = []
        self.abandons = False
        self.add({"role": "user", "content": "go"})

    def run(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    def add(self, message: Data) -> None:
        self.run(add_message(self.context, message))

    def read(self) -> list[Data]:
        return list(self.run(resolve(self.context.get_messages())))

    @rule(event=st.sampled_from(EVENTS), fields=INJECTIONS)
    def register(self, event: str, fields: Data) -> None:
        self.names += 1
        text = f"text {self.names}"
        self.harness.hooks.register(event, build_hook(text, fields), name=f"hook-{self.names}")

    @rule(count=st.integers(0, 3), repeat=st.booleans())
    @precondition(lambda self: not self.open)
    def reply(self, count: int, repeat: bool) -> None:
        """The model answers, perhaps with calls; ids of a simple loop come again."""
        self.run(self.harness.run("provider:response", response={}))
        start = 0 if repeat else self.names * 10
        self.open = [f"c{start + n}" for n in range(count)]
        asked = [{"id": call, "name": "Write", "arguments": {}} for call in self.open]
        said = {"role": "assistant", "content": "" if asked else "done"}
        self.add({**said, "tool_calls": asked} if asked else said)
        self.names += 1

    async def perform(self, call: str, way: str) -> None:
        if way == "call_tool":
            wanted = ToolCall(id=call, name="Write", arguments={})
            await call_tool(self.harness.coordinator, wanted, {"Write": MockTool("Write")})
            return
        for event in (PRE, POST):
            data = {"tool_name": "Write", "tool_input": {}, "tool_call_id": call}
            if way == "events":
                await self.harness.run(event, **data)
            else:
                answer = await self.harness.hooks.emit(event, data)
                await self.harness.coordinator.process_hook_result(answer, event)

    @rule(way=st.sampled_from(WAYS), at_once=st.booleans(), order=st.randoms(use_true_random=False))
    @precondition(lambda self: self.open)
    def work(self, way: str, at_once: bool, order: random.Random) -> None:
        """Run the calls, side by side or one by one, and add the results in any order."""
        calls = list(self.open)
        order.shuffle(calls)

        async def one(call: str) -> None:
            await asyncio.sleep(0)
            await self.perform(call, way)
            if at_once:
                await add_message(self.context, self.result(call))

        async def side_by_side() -> None:
            await asyncio.gather(*map(one, calls))

        self.run(side_by_side())
        for call in () if at_once else calls:
            self.add(self.result(call))
        self.open = []

    @rule(way=st.sampled_from(WAYS))
    @precondition(lambda self: self.open)
    def work_at_one(self, way: str) -> None:
        call = self.open.pop()
        self.run(self.perform(call, way))
        self.add(self.result(call))

    @staticmethod
    def result(call: str) -> Data:
        return {"role": "tool", "content": "ok", "tool_call_id": call}

    @rule()
    @precondition(lambda self: self.open)
    def abandon(self) -> None:
        """The person goes on although calls have no results."""
        self.lost += self.open
        self.open, self.abandons = [], True
        self.prompt()

    @rule()
    @precondition(lambda self: self.lost and not self.open)
    def add_late(self) -> None:
        self.add(self.result(self.lost.pop()))

    @rule()
    @precondition(lambda self: not self.open)
    def prompt(self) -> None:
        self.harness.coordinator.reset_turn()
        self.run(self.harness.run("prompt:submit", prompt="more"))
        self.add({"role": "user", "content": "more"})

    @rule()
    @precondition(lambda self: not self.open)
    def ask(self) -> None:
        """A request as embedding.md builds one."""
        outcome = self.run(self.harness.coordinator.open_request({"provider": "mine"}))  # type: ignore[typeddict-item]
        check_request(outcome.data["messages"])

    @rule()
    @precondition(lambda self: not self.open and (self.kind in OURS or not self.abandons))
    def ask_plainly(self) -> None:
        """A request of a loop that reads the context itself, after telling of it or not."""
        if self.kind not in OURS:
            self.run(self.harness.run("provider:request"))
        check_request(self.drop_strays(self.read()))
        if self.kind in OURS:
            check_request(self.run(resolve(self.context.get_messages_for_request())))

    def drop_strays(self, messages: list[Data]) -> list[Data]:
        """Without results whose calls were compacted away before they came."""
        called = Counter(call["id"] for one in messages for call in one.get("tool_calls") or ())
        kept = []
        for message in messages:
            if call := message.get("tool_call_id"):
                called[call] -= 1
                if called[call] < 0:
                    continue
            kept.append(message)
        return kept

    @rule()
    @precondition(lambda self: self.kind in {"simple", "small"})
    def compact(self) -> None:
        self.run(self.context.compact("manual"))

    @invariant()
    @precondition(lambda self: getattr(self, "kind", None) in OURS)
    def look(self) -> None:
        """Also in the middle of calls: what a request would have, and what is kept."""
        check_request(self.run(resolve(self.context.get_messages_for_request())))
        if not self.abandons:
            check_history(self.read())

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.run(self.harness.coordinator.cleanup())
            self.loop.close()


TestLoops = LoopMachine.TestCase
TestLoops.settings = settings(max_examples=80, stateful_step_count=25, deadline=None)


class StrictModel:
    """A model that refuses what the real ones refuse, and else asks for tools, or does not."""

    name = "strict"

    def __init__(self, plays: list[int]) -> None:
        self.plays = plays
        self.requests = 0

    def get_info(self) -> Any:
        return None

    async def complete(self, request: ChatRequest, **_: Any) -> ChatResponse:
        self.requests += 1
        check_request([one.model_dump(exclude_none=True) for one in request.messages])
        count = self.plays.pop(0) if self.plays else 0
        asked = [
            ToolCall(id=f"r{self.requests}-{n}", name="Write", arguments={}) for n in range(count)
        ]
        return ChatResponse(content=[], tool_calls=asked or None)

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        return list(response.tool_calls or ())


@given(
    plays=st.lists(st.integers(0, 3), max_size=6),
    hooks=st.lists(st.tuples(st.sampled_from(EVENTS), INJECTIONS), max_size=4),
    kind=st.sampled_from(sorted(CONTEXTS)),
    cut=st.integers(0, 12),
)
@settings(max_examples=80, deadline=None)
def test_a_session_sends_what_models_accept(
    plays: list[int], hooks: list[tuple[str, Data]], kind: str, cut: int
) -> None:
    """Also one that goes on with what another process left, wherever that was cut off."""

    async def play(state: Data | None) -> list[Data]:
        plan = {"session": {"orchestrator": "loop-basic", "context": "context-simple"}}
        session = AmplifierSession(plan, display_system=RecordingDisplay(), state=state)
        await session.initialize()
        if state is None:
            session.coordinator.context = CONTEXTS[kind]()
        await session.coordinator.mount("providers", StrictModel(list(plays)), "strict")
        await session.coordinator.mount("tools", MockTool("Write"))
        for number, (event, fields) in enumerate(hooks):
            session.coordinator.hooks.register(event, build_hook(f"text {number}", fields))
        await session.execute("first")
        await session.execute("second")
        kept = (await session.state())["messages"]
        await session.cleanup()
        return list(kept)

    async def play_twice() -> None:
        kept = await play(None)
        await play({"version": 1, "messages": kept[: min(cut, len(kept))]})

    asyncio.run(play_twice())
