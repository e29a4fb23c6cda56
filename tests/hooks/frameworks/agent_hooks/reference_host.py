"""The contract's own reference host, with our hooks as its interceptor."""

from __future__ import annotations

from typing import Any

from agent_hooks import (
    ApprovalOutcome,
    ApprovalRequest,
    ApprovalResolution,
    EnforcementMode,
    Verdict,
)
from agent_hooks.ctk import RunRecord, Scenario
from agent_hooks.ctk.reference import ReferenceHarness

from amplifier_hooks.frameworks.agent_hooks import AmplifierInterceptor

WRITE = {"path": "notes.txt", "text": "hello"}


def make_scenario(answer: str = "done", **args: Any) -> Scenario:
    """A prompt, one call of `write`, and an answer."""
    call = {"id": "c1", "name": "write", "args": {**WRITE, **args}}
    replies = [
        {"content": None, "tool_calls": [call], "finish_reason": "tool_calls"},
        {"content": answer, "tool_calls": [], "finish_reason": "stop"},
    ]
    return Scenario.from_wire(
        {
            "input": {"content": "go", "role": "user"},
            "tools": [{"name": "write", "behavior": [{"return": "the PIN is 4711"}]}],
            "model_script": [{"respond": one} for one in replies],
        }
    )


class Resolver:
    """Somebody who lifts every denial, or none."""

    def __init__(self, outcome: ApprovalOutcome = ApprovalOutcome.APPROVE) -> None:
        self.requests: list[ApprovalRequest] = []
        self._outcome = outcome

    def resolve(self, request: ApprovalRequest, /) -> ApprovalResolution:
        self.requests.append(request)
        verdict = Verdict.deny(reason="test:no")
        if self._outcome is ApprovalOutcome.APPROVE:
            verdict = Verdict.allow()
        return ApprovalResolution(self._outcome, request.context_identity, verdict)


class Watched:
    """An interceptor whose contexts and verdicts are kept."""

    def __init__(self, interceptor: AmplifierInterceptor) -> None:
        self._interceptor = interceptor
        self.contexts: list[dict[str, Any]] = []
        self.verdicts: list[tuple[str, Verdict]] = []

    async def intercept(self, context: dict[str, Any], /) -> Verdict:
        self.contexts.append(context)
        verdict = await self._interceptor.intercept(context)
        self.verdicts.append((context["interception_point"], verdict))
        return verdict

    def at(self, point: str) -> list[Verdict]:
        """The verdicts at one point."""
        return [verdict for name, verdict in self.verdicts if name == point]


async def run_reference(
    interceptor: AmplifierInterceptor,
    scenario: Scenario | None = None,
    resolver: Resolver | None = None,
) -> tuple[RunRecord, Watched]:
    """One run of the reference host."""
    harness, watched = ReferenceHarness(), Watched(interceptor)
    judges: list[Any] = [watched]
    harness.setup(scenario or make_scenario(), judges, resolver, EnforcementMode.ENFORCE)
    return await harness.run(), watched
