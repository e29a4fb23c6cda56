"""Turns, injections, budgets, approvals, cache and cancellation in any order."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from amplifier_core.models import HookResult
from tests.support.harness import Harness
from tests.support.hooks import PRE, Data

BUDGET = 60
OPTIONS = ["Allow once", "Allow always", "Deny", "Deny always"]
SPOKEN = {"inject", "ephemeral", "ask", "deny", "modify", "message", "raise"}


class Chooser:
    """A person who answers as the machine says, and may never answer."""

    def __init__(self) -> None:
        self.choice: str | None = "Deny"
        self.asked: list[str] = []

    async def request_approval(self, prompt: str, *question: Any) -> str:
        self.asked.append(prompt)
        if self.choice is None:
            await asyncio.get_running_loop().create_future()
        return self.choice


class Machine(RuleBasedStateMachine):
    """A coordinator, and the little that a model has to remember of it."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.person = Chooser()
        self.harness = Harness(approval=self.person, injection_budget_per_turn=BUDGET)
        self.kinds: dict[str, tuple[str, int]] = {}
        self.cache: dict[str, bool] = {}
        self.used = 0
        self.ran: list[str] = []
        self.dispatches = 0

    def teardown(self) -> None:
        self.loop.run_until_complete(self.harness.coordinator.cleanup())
        self.loop.close()

    def hook(self, name: str, kind: str, size: int) -> Any:
        answers: dict[str, Any] = {
            "inject": {"action": "inject_context", "context_injection": "x" * size * 4},
            "ephemeral": {
                "action": "inject_context", "context_injection": "y" * size * 4, "ephemeral": True
            },
            "ask": {
                "action": "ask_user", "approval_prompt": f"{name}?", "approval_options": OPTIONS
            },
            "deny": {"action": "deny", "reason": name},
            "message": {"user_message": name},
        }  # fmt: skip

        async def handler(event: str, data: Data) -> HookResult:
            self.ran.append(name)
            if kind == "raise":
                raise ValueError(name)
            if kind == "modify":
                return HookResult(action="modify", data={**data, "value": data["value"] + 1})
            return HookResult(**answers.get(kind, {}))

        return handler

    @rule(
        kind=st.sampled_from([*sorted(SPOKEN), "quiet"]),
        priority=st.integers(-2, 2),
        size=st.integers(1, 40),
        guard=st.booleans(),
    )
    def register(self, kind: str, priority: int, size: int, guard: bool) -> None:
        name = f"h{len(self.kinds)}"
        self.kinds[name] = (kind, size)
        self.harness.hooks.register(
            PRE,
            self.hook(name, kind, size),
            priority=priority,
            name=name,
            on_error="deny" if guard else "continue",
        )

    @rule(data=st.data())
    def unregister(self, data: Any) -> None:
        names = self.harness.hooks.list_handlers(PRE)[PRE]
        if names:
            self.harness.hooks.unregister(data.draw(st.sampled_from(names)))

    @rule()
    def new_turn(self) -> None:
        self.harness.coordinator.reset_turn()
        self.used = 0

    @rule(choice=st.sampled_from(OPTIONS))
    def call(self, choice: str) -> None:
        self.person.choice = choice
        self.person.asked.clear()
        self.ran.clear()
        order = self.harness.hooks.handlers_for(PRE)
        result = self.loop.run_until_complete(
            self.harness.coordinator.execute_with_hooks(PRE, {"tool_name": "Write", "value": 0})
        )
        self.dispatches += 1
        self.check(order, result, choice)

    def check(self, order: list[Any], result: HookResult, choice: str) -> None:
        stop = next((i for i, one in enumerate(order) if self.denies(one)), None)
        reached = [one.name for one in order[: len(order) if stop is None else stop + 1]]
        # nothing runs after a deny; after a wait those that asked and all guards are heard again
        assert self.ran[: len(reached)] == reached
        gates = [name for name in reached if self.kinds[name][0] == "ask"]
        guards = {one.name for one in order if one.is_guard}
        again = self.ran[len(reached) :]
        assert set(again) <= ({*gates} | guards if gates else set())
        if self.person.asked and result.action == "continue":
            assert guards <= set(again)
        expected = "deny" if stop is not None else self.pass_gates(gates, choice)
        assert result.action == expected
        if expected == "continue":
            changes = sum(self.kinds[name][0] == "modify" for name in reached)
            assert result.data["value"] == changes
        for name in reached:
            self.spend(name)

    def denies(self, handler: Any) -> bool:
        kind = self.kinds[handler.name][0]
        return kind == "deny" or (kind == "raise" and handler.on_error == "deny")

    def pass_gates(self, gates: list[str], choice: str) -> str:
        """No gate is skipped, and an answer for always is not asked for again."""
        asked = []
        verdict = "continue"
        for name in gates:
            if name not in self.cache:
                asked.append(f"{name}?")
                allowed = choice.startswith("Allow")
                if choice.endswith("always"):
                    self.cache[name] = allowed
            else:
                allowed = self.cache[name]
            if not allowed:
                verdict = "deny"
                break
        assert self.person.asked == asked
        return verdict

    def spend(self, name: str) -> None:
        kind, size = self.kinds[name]
        if kind in ("inject", "ephemeral") and self.used + size <= BUDGET:
            self.used += size

    @rule()
    def cancelled_call(self) -> None:
        """An agent that stops waiting leaves no task and no half answer."""
        self.person.choice = None
        self.ran.clear()

        async def waiting() -> None:
            task = asyncio.ensure_future(
                self.harness.coordinator.execute_with_hooks(PRE, {"tool_name": "Write", "value": 0})
            )
            for _ in range(100):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        asked = len(self.harness.bodies("approval_requested"))
        self.loop.run_until_complete(waiting())
        self.dispatches += 1
        if len(self.harness.bodies("approval_requested")) > asked:
            assert self.harness.trail.records[-1]["type"] == "approval_cancelled"
        else:
            for name in self.ran:
                self.spend(name)

    @rule()
    def request(self) -> None:
        data = self.loop.run_until_complete(self.harness.coordinator.open_request({})).data
        assert all(not m["content"].startswith("y") for m in self.harness.context.messages)
        again = self.loop.run_until_complete(self.harness.coordinator.open_request({})).data
        assert all("ephemeral" not in m.get("metadata", {}) for m in again["messages"])
        assert len(data["messages"]) >= len(again["messages"])

    @rule()
    def end(self) -> None:
        self.loop.run_until_complete(self.harness.coordinator.cleanup())
        self.cache.clear()

    @invariant()
    def the_budget_is_never_exceeded(self) -> None:
        assert self.harness.coordinator.injection_budget == self.used <= BUDGET

    @invariant()
    def no_task_is_left(self) -> None:
        assert asyncio.all_tasks(self.loop) == set()

    @invariant()
    def every_answer_has_left_a_trace(self) -> None:
        bodies = [
            record["body"] for record in self.harness.trail.of_type("dispatch")
            if record["event"] == PRE
        ]  # fmt: skip
        assert len(bodies) >= self.dispatches
        if self.ran and bodies:
            # What was judged again has a record of its own, with those that were heard again.
            first = max(i for i, body in enumerate(bodies) if not body.get("judged_again"))
            told = {one["hook"] for body in bodies[first:] for one in body["hooks"]}
            assert told == set(self.ran)

    @invariant()
    def every_injection_went_in_or_was_dropped(self) -> None:
        accepted = self.harness.bodies("injection_accepted")
        lasting = sum(not body["ephemeral"] for body in accepted)
        stored = sum(len(m["metadata"]["hooks"]) for m in self.harness.context.messages)
        assert lasting == stored


TestSession = Machine.TestCase
TestSession.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
