"""The tests that the architecture document writes down, run as they stand there.

Changed are only the path of the file that is written, and one space too many in a class name.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.session import AmplifierSession
from tests.docs.blocks import Block
from tests.specification.preamble import preamble
from tests.specification.test_examples import BLOCKS


def block_with(text: str) -> Block:
    (found,) = [one for one in BLOCKS.values() if f"def {text}" in one.source]
    return found


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[AmplifierSession]:
    plan = {
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "tools": [{"module": "tool-filesystem"}],
    }
    made = AmplifierSession(plan)
    made.coordinator.register_capability("session.working_dir", str(tmp_path))
    yield made
    await made.cleanup()


async def linter_feedback_hook(event: str, data: dict[str, Any]) -> HookResult:
    """The hook that the document describes. ruff lets a line of one word pass, so it counts."""
    lines = await asyncio.to_thread(Path(data["tool_input"]["file_path"]).read_text)
    long = [line for line in lines.splitlines() if len(line) > 100]
    if not long:
        return HookResult()
    return HookResult(action="inject_context", context_injection=f"{len(long)} line too long")


def approval_of(session: AmplifierSession) -> type:
    """`MockApprovalSystem(default_decision=…)`, which is the session's as soon as it is made."""

    class Requested:
        def __init__(self, decision: str) -> None:
            self.called = False
            self.decision = decision

        async def __call__(
            self, prompt: str, options: list[str], timeout: float, default: str
        ) -> str:
            self.called = True
            return self.decision

    class MockApprovalSystem:
        def __init__(self, default_decision: str) -> None:
            self.request_approval = Requested(default_decision)
            session.coordinator.approval_system = self

    return MockApprovalSystem


async def test_the_size_limit_of_the_document():
    """Test size limit enforcement."""
    found = await block_with("test_injection_size_limit").run(preamble())
    found["test_hook_result_fields"]()
    found["test_injection_size_limit"]()


async def test_the_linter_feedback_loop_of_the_document(session: AmplifierSession, tmp_path: Path):
    """Test end-to-end linter feedback with context injection."""
    block = block_with("test_linter_feedback_loop")
    source = block.source.replace("/tmp/test.py", str(tmp_path / "test.py"))
    registry: HookRegistry = session.coordinator.hooks
    given = {"session": session, "registry": registry, "linter_feedback_hook": linter_feedback_hook}
    found = await Block(block.document, block.line, source).run(preamble() | given)
    await found["test_linter_feedback_loop"]()
    assert (tmp_path / "test.py").read_text() == "x" * 200


async def test_the_production_protection_of_the_document(session: AmplifierSession):
    """Test production protection with actual approval flow."""
    block = block_with("test_production_protection_real_world")
    source = block.source.replace("Mock ApprovalSystem", "MockApprovalSystem")

    async def production_guard(event: str, data: dict[str, Any]) -> HookResult:
        if "/production/" not in data["tool_input"]["file_path"]:
            return HookResult()
        return HookResult(action="ask_user", approval_prompt="Write to production?")

    session.coordinator.hooks.register("tool:pre", production_guard)
    given = {"session": session, "MockApprovalSystem": approval_of(session)}
    found = await Block(block.document, block.line, source).run(preamble() | given)
    await found["test_production_protection_real_world"]()
