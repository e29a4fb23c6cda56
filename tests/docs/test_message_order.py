"""Every program of the documentation that builds messages sends what models accept.

Programs that show one tool call keep neither the call nor its result. Here each of them is made a
loop: before a call the conversation gets the reply that asks for it, after it the result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import tool_call
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.utils import resolve
from amplifier_core.utils.conversation import add_message, list_open_ids
from amplifier_hooks.agent.loops.model_call import RequestBuilder
from tests.docs.blocks import Block
from tests.docs.test_examples import BLOCKS
from tests.support.message_rules import check_history, check_request

BUILDS_MESSAGES = re.compile(r"call_tool|execute_with_hooks|open_session|Session\(|open_request")
PROGRAMS = [block for block in BLOCKS if BUILDS_MESSAGES.search(block.source)]


class Watched:
    """Looks at what a program keeps and sends, and adds what a loop would add."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.checked = 0
        self._call, self._judge = tool_call.call_tool, SessionCoordinator.execute_with_hooks
        self._build, self._open = RequestBuilder.build, SessionCoordinator.open_request
        watch = self

        async def judge(coordinator: Any, event: str, data: Any = None) -> Any:
            return await watch.judge(coordinator, event, data)

        async def open_request(coordinator: Any, data: Any) -> Any:
            outcome = await watch._open(coordinator, data)
            if outcome.allowed:
                watch.check(outcome.data["messages"])
            return outcome

        def build(builder: Any, *args: Any) -> Any:
            request = watch._build(builder, *args)
            watch.check([one.model_dump(exclude_none=True) for one in request.messages])
            return request

        monkeypatch.setattr(tool_call, "call_tool", self.call)
        monkeypatch.setattr(SessionCoordinator, "execute_with_hooks", judge)
        monkeypatch.setattr(SessionCoordinator, "open_request", open_request)
        monkeypatch.setattr(RequestBuilder, "build", build)

    def check(self, messages: list[Any]) -> None:
        check_request(messages)
        self.checked += 1

    async def call(self, coordinator: Any, call: Any, tools: Any = None) -> Any:
        """A tool call of a program, as a loop makes it."""
        added = await self._add_reply(coordinator, call.id, call.name)
        result = await self._call(coordinator, call, tools)
        await self._add_result(coordinator, call.id, added)
        return result

    async def judge(self, coordinator: Any, event: str, data: Mapping[str, Any] | None) -> Any:
        """The two halves of one."""
        call, name = str((data or {}).get("tool_call_id", "0")), (data or {}).get("tool_name")
        if event == "tool:pre":
            await self._add_reply(coordinator, call, str(name))
        outcome = await self._judge(coordinator, event, data)
        if event == "tool:post":
            await self._add_result(coordinator, call, added=True)
        elif event != "tool:pre":
            await self._check_history(coordinator)
        return outcome

    async def _read(self, coordinator: Any) -> list[Any] | None:
        read = getattr(coordinator.context, "get_messages", None)
        return None if read is None else list(await resolve(read()))

    async def _check_history(self, coordinator: Any) -> None:
        if (messages := await self._read(coordinator)) is not None:
            check_history(messages)
            self.checked += 1

    async def _add_reply(self, coordinator: Any, call: str, name: str) -> bool:
        """Whether it had to be added: a whole loop does it itself."""
        messages = await self._read(coordinator)
        if messages is None or call in list_open_ids(messages):
            return False
        asked = [{"id": call, "name": name, "arguments": {}}]
        reply = {"role": "assistant", "content": "", "tool_calls": asked}
        await add_message(coordinator.context, reply)
        return True

    async def _add_result(self, coordinator: Any, call: str, added: bool) -> None:
        if not added or call not in list_open_ids(await self._read(coordinator) or []):
            return
        result = {"role": "tool", "content": "done", "tool_call_id": call}
        await add_message(coordinator.context, result)
        await self._judge(coordinator, "provider:response", {})
        await self._check_history(coordinator)


def test_the_whole_loops_are_among_the_programs():
    """Programs that are not seen are not checked."""
    pages = {block.document for block in PROGRAMS}
    assert {"embedding", "inject-context", "testing-hooks"} <= pages


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda block: block.name)
async def test_what_a_program_sends_is_what_models_accept(
    program: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Whatever its hooks inject."""
    monkeypatch.chdir(tmp_path)
    watched = Watched(monkeypatch)
    await program.run({"__name__": "__main__"})
    if "call_tool" in program.source or "open_session" in program.source:
        assert watched.checked or "Coordinator(" not in program.source
