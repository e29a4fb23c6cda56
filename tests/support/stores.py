"""Stores for tests: a clock that only the test moves, and requests that need few words."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalRequest,
    Choice,
    Decider,
    Option,
    Requirement,
)
from amplifier_hooks.approvals.stores.store import Store

ALLOW, DENY, ALWAYS = 0, 1, 2
OPTIONS = (
    Option(id=ALLOW, label="Allow once", allows=True),
    Option(id=DENY, label="Deny", allows=False),
    Option(id=ALWAYS, label="Allow always", allows=True, remembered=True),
)
ANN = Decider("ann", "web")
BOB = Decider("bob", "cli")

_numbers = count(1)


class ManualClock:
    """Stands still until the test moves it."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


def make_request(**changes: Any) -> ApprovalRequest:
    """A request that nobody has made yet."""
    number = next(_numbers)
    facts: dict[str, Any] = {
        "key": f"key-{number}",
        "session_id": f"session-{number}",
        "prompt": "Write to production?",
        "options": OPTIONS,
        "timeout": 60.0,
        "digest": "digest-1",
        "hook": "production-guard",
        "event": "tool:pre",
        "tool_name": "Write",
        "tool_call_id": "call-1",
        "tool_input": {"file_path": "notes/a.txt", "content": "new"},
        "working_dir": "/home/ann/project",
        "machine": "laptop",
        "requester": "agent-1",
    }
    return ApprovalRequest(**{**facts, **changes})


def require(**changes: Any) -> Requirement:
    """What is required of those who allow it."""
    return Requirement(**changes)


async def ask(store: Store, **changes: Any) -> Approval:
    """A pending approval."""
    return await store.approvals.request(make_request(**changes))


def choose(approval: Approval, option: Any = ALLOW, key: str = "", **more: Any) -> Choice:
    """A choice about an approval, with a key of its own."""
    return Choice(
        option=option, nonce=approval.nonce, key=key or f"decision-{next(_numbers)}", **more
    )


async def decide(
    store: Store, approval: Approval, option: Any = ALLOW, by: Decider = ANN, **more: Any
) -> Approval:
    """Somebody's decision."""
    return await store.approvals.decide(approval.id, choose(approval, option, **more), by)


async def approve(store: Store, **changes: Any) -> Approval:
    """An approval that somebody has allowed."""
    return await decide(store, await ask(store, **changes))


def read_call(approval: Approval) -> Mapping[str, Any]:
    """The arguments of a claim that name its call."""
    request = approval.request
    return {
        "session_id": request.session_id,
        "tool_call_id": request.tool_call_id,
        "digest": request.digest,
    }
