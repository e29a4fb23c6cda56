"""A saved call without a result is given one before any context, loop or provider sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.session import OPEN_CALLS, AmplifierSession
from amplifier_core.utils.conversation import NO_RESULT
from tests.support.message_rules import check_request, show_roles
from tests.support.modules import write_module

CONTEXT = """
class Context:
    def __init__(self):
        self.kept = []

    async def add_message(self, message):
        self.kept.append(message)

    async def get_messages(self):
        return list(self.kept)

    get_messages_for_request = get_messages

    async def set_messages(self, messages):
        self.kept = list(messages)

    async def clear(self):
        self.kept.clear()


async def mount(coordinator, config):
    await coordinator.mount("context", Context())
"""

LOOP = """
class Loop:
    async def execute(self, prompt, context, providers, tools, hooks, **more):
        await context.add_message({"role": "user", "content": prompt})
        [provider] = providers.values()
        return await provider.complete(await context.get_messages_for_request())


async def mount(coordinator, config):
    await coordinator.mount("orchestrator", Loop())
"""


class Provider:
    """One that is not ours: it sends what it gets."""

    name = "theirs"

    def __init__(self) -> None:
        self.sent: list[Any] = []

    async def complete(self, messages: list[dict[str, Any]]) -> str:
        check_request(messages)
        self.sent = messages
        return "done"


def reply(*calls: str) -> dict[str, Any]:
    asked = [{"id": call, "name": "Write", "arguments": {}} for call in calls]
    return {"role": "assistant", "content": "", "tool_calls": asked}


USER = {"role": "user", "content": "go"}
RESULT = {"role": "tool", "content": "ok", "tool_call_id": "1"}
NOTE = {"role": "system", "content": "note", "metadata": {"source": "hook"}}


@pytest.mark.parametrize(
    ("saved", "sent"),
    [
        ([USER, reply("1")], "user assistant(1) tool(1) user"),
        ([USER, reply("1", "2"), RESULT], "user assistant(1,2) tool(1) tool(2) user"),
        ([USER, reply("2"), USER, reply("1"), RESULT],
         "user assistant(2) tool(2) user assistant(1) tool(1) user"),
        ([USER, reply("1"), NOTE, RESULT], "user assistant(1) tool(1) system user"),
        ([RESULT, USER], "user user user"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("theirs", [("context", "orchestrator"), ("orchestrator",)])
async def test_every_provider_gets_a_conversation_that_models_accept(
    tmp_path: Path, saved: list[Any], sent: str, theirs: tuple[str, ...]
) -> None:
    """Whatever is not ours: the provider, the loop, the context."""
    files = {"context": CONTEXT, "orchestrator": LOOP}
    plan: dict[str, Any] = {"session": {"context": "context-simple", "orchestrator": "loop-basic"}}
    for kind in theirs:
        plan["session"][kind] = str(write_module(tmp_path, files[kind], f"their_{kind}.py"))
    session = AmplifierSession(plan, state={"version": 1, "messages": saved})
    await session.initialize()
    provider = Provider()
    await session.coordinator.mount("providers", provider, "theirs")
    assert await session.execute("go on") == "done"
    assert show_roles(provider.sent) == sent
    await session.cleanup()


async def test_the_result_says_that_there_is_none() -> None:
    """And the saved messages of the caller are left as they are."""
    plan = {"session": {"context": "context-simple", "orchestrator": "loop-basic"}}
    saved = [USER, reply("1")]
    async with AmplifierSession(plan, state={"version": 1, "messages": saved}) as session:
        last = (await session.state())["messages"][-1]
    assert (last["role"], last["content"], last["tool_call_id"]) == ("tool", NO_RESULT, "1")
    assert saved == [USER, reply("1")]


async def test_a_call_that_the_loop_is_to_run_stays_open() -> None:
    """A state that names it is made for one session; what that saves does not name it again."""
    plan = {"session": {"context": "context-simple", "orchestrator": "loop-basic"}}
    state = {"version": 1, "messages": [USER, reply("1")], "session_state": {OPEN_CALLS: ["1"]}}
    async with AmplifierSession(plan, state=state) as session:
        kept = await session.state()
        assert show_roles(kept["messages"]) == "user assistant(1)"
        assert kept["session_state"] == {}
