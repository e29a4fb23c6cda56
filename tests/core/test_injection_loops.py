"""A loop built with the public API sends no request that a model refuses, whatever hooks inject."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.injection import UNPLACED
from amplifier_core.message_models import ToolCall
from amplifier_core.models import HookResult
from amplifier_core.testing import MemoryAudit, MemoryContext, MockTool
from amplifier_core.tool_call import call_tool
from amplifier_core.utils import resolve
from amplifier_core.utils.conversation import add_message
from tests.support.harness import Harness
from tests.support.hooks import POST, PRE, Data, injects
from tests.support.message_rules import check_history, check_request, show_roles


class Dicts:
    """What somebody writes in five minutes."""

    def __init__(self) -> None:
        self.messages: list[Data] = []

    def add_message(self, message: Data) -> None:
        self.messages.append(message)

    def get_messages(self) -> list[Data]:
        return self.messages


class Roles(Dicts):
    def add_message(self, role: str, content: Any, **more: Any) -> None:  # type: ignore[override]
        self.messages.append({"role": role, "content": content, **more})


class AsyncDicts(Dicts):
    async def add_message(self, message: Data) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        self.messages.append(message)

    async def get_messages(self) -> tuple[Data, ...]:  # type: ignore[override]
        return tuple(self.messages)


CONTEXTS = [Dicts, Roles, AsyncDicts, MemoryContext]


def reply(*calls: str) -> Data:
    asked = [{"id": call, "name": "Write", "arguments": {"n": call}} for call in calls]
    return {"role": "assistant", "content": "", "tool_calls": asked}


def result(call: str) -> Data:
    return {"role": "tool", "content": "done", "tool_call_id": call}


async def by_call_tool(harness: Harness, call: str) -> None:
    asked = ToolCall(id=call, name="Write", arguments={})
    await call_tool(harness.coordinator, asked, {"Write": MockTool("Write")})


async def by_events(harness: Harness, call: str) -> None:
    await harness.run(PRE, tool_name="Write", tool_input={}, tool_call_id=call)
    await harness.run(POST, tool_name="Write", tool_input={}, tool_call_id=call, tool_result={})


async def by_emitting(harness: Harness, call: str) -> None:
    for event in (PRE, POST):
        answer = await harness.hooks.emit(event, {"tool_name": "Write", "tool_input": {}})
        await harness.coordinator.process_hook_result(answer, event)


WAYS = [by_call_tool, by_events, by_emitting]


async def build(kind: Any, **fields: Any) -> Harness:
    harness = Harness(context=kind())
    harness.hooks.register(PRE, injects("before", **fields), name="pre")
    harness.hooks.register(POST, injects("after", **fields), name="post")
    await add_message(harness.context, {"role": "user", "content": "go"})
    return harness


async def read(context: Any) -> list[Data]:
    return list(await resolve(context.get_messages()))


@pytest.mark.parametrize("kind", CONTEXTS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("role", ["system", "user", "assistant"])
async def test_a_text_never_stands_between_a_call_and_its_result(kind, way, role):
    """The loop adds the result after the call is done, as every loop does."""
    harness = await build(kind, context_injection_role=role)
    for call in ("1", "2"):
        await add_message(harness.context, reply(call))
        await way(harness, call)
        check_history(await read(harness.context))
        await add_message(harness.context, result(call))
        await harness.run("provider:request")
        check_request(await read(harness.context))
    told = [one for one in await read(harness.context) if one.get("metadata")]
    assert [one["content"] for one in told] == ["before", "after"] * 2


@pytest.mark.parametrize("kind", CONTEXTS)
@pytest.mark.parametrize("way", WAYS)
async def test_calls_that_run_side_by_side(kind, way):
    """Results come in any order, and each as soon as it is there."""
    harness = await build(kind)
    await add_message(harness.context, reply("1", "2", "3"))

    async def run(call: str, pause: float) -> None:
        await asyncio.sleep(pause)
        await way(harness, call)
        await add_message(harness.context, result(call))
        check_history(await read(harness.context))

    await asyncio.gather(run("1", 0.02), run("2", 0), run("3", 0.01))
    sent = (await harness.coordinator.open_request({})).data["messages"]
    check_request(sent)
    assert sum(one["role"] == "system" for one in sent) == 6


@pytest.mark.parametrize("kind", CONTEXTS)
async def test_results_that_never_come(kind):
    """The next request says that there is none; what hooks said is not lost."""
    harness = await build(kind)
    await add_message(harness.context, reply("1", "2"))
    await by_call_tool(harness, "1")
    await add_message(harness.context, result("1"))
    await add_message(harness.context, {"role": "user", "content": "forget it"})
    sent = (await harness.coordinator.open_request({})).data["messages"]
    check_request(sent)
    assert {"before", "after", "forget it"} <= {one["content"] for one in sent}


@pytest.mark.parametrize("kind", [Dicts, Roles, AsyncDicts])
async def test_a_text_that_could_not_be_placed_is_reported(kind):
    """A session that ends in the middle of a call: shown, recorded and counted."""
    harness = await build(kind)
    stats: Data = {"tool_invocations": 0}
    harness.coordinator.register_capability("session.stats", stats)
    await add_message(harness.context, reply("1"))
    await by_call_tool(harness, "1")
    await harness.coordinator.cleanup()
    assert [text for text, level, _ in harness.shown if level == "warning"] == [
        f"A text of hook '{hook}' was lost: {UNPLACED}" for hook in ("pre", "post")
    ]
    assert [(one["text"], one["fault"]) for one in harness.bodies("injection_unused")] == [
        ("before", True),
        ("after", True),
    ]
    assert stats["injections_unused"] == 2


async def test_results_that_are_in_when_the_session_ends():
    """What waited for them goes behind them."""
    harness = await build(Dicts)
    await add_message(harness.context, reply("1"))
    await by_call_tool(harness, "1")
    await add_message(harness.context, result("1"))
    await harness.coordinator.cleanup()
    assert show_roles(await read(harness.context)) == "user assistant(1) tool(1) system system"
    assert harness.bodies("injection_unused") == []


async def test_given_messages_get_what_waited_for_the_results():
    """Also if the list that is given is the context's own."""
    for copy in (list, lambda messages: messages):
        harness = await build(Dicts)
        await add_message(harness.context, reply("1"))
        await by_call_tool(harness, "1")
        await add_message(harness.context, result("1"))
        given = copy(harness.context.messages)
        sent = (await harness.coordinator.open_request({"messages": given})).data["messages"]
        assert show_roles(sent) == "user assistant(1) tool(1) system system"


@pytest.mark.parametrize("kind", CONTEXTS)
async def test_what_is_appended_to_the_last_result(kind):
    """It is part of the result of that request, and of nothing if the last message is another's."""
    harness = await build(kind, ephemeral=True, append_to_last_tool_result=True)
    await add_message(harness.context, reply("1"))
    await by_call_tool(harness, "1")
    await add_message(harness.context, result("1"))
    sent = (await harness.coordinator.open_request({})).data["messages"]
    check_request(sent)
    assert sent[-1]["content"] == "done\n\nbefore\n\nafter"
    await by_call_tool(harness, "2")
    await add_message(harness.context, {"role": "user", "content": "go on"})
    sent = (await harness.coordinator.open_request({})).data["messages"]
    check_request(sent)
    assert [one["content"] for one in sent[-2:]] == ["before", "after"]


async def test_a_context_that_cannot_say_what_it_holds_is_complained_of_once(caplog):
    """Nobody can know there; it has the text at once, as ever."""

    class Silent:
        def __init__(self) -> None:
            self.kept: list[Data] = []

        def add_message(self, message: Data) -> None:
            self.kept.append(message)

    harness = Harness(context=Silent())
    harness.hooks.register(POST, injects("x"))
    with caplog.at_level(logging.WARNING):
        await harness.run(POST)
        await harness.run(POST)
    assert [one["content"] for one in harness.context.kept] == ["x", "x"]
    assert caplog.text.count("Silent has no get_messages()") == 1


class TestEphemeral:
    """A text for the next request that no request has."""

    @staticmethod
    def build() -> Harness:
        harness = Harness()
        harness.hooks.register(POST, injects("now", ephemeral=True), name="clock")
        return harness

    async def test_a_loop_that_never_takes_it_is_told_at_the_end(self):
        harness = self.build()
        await harness.run(POST)
        await harness.coordinator.cleanup()
        [(text, level, source)] = harness.shown
        assert text.startswith("A text of hook 'clock' was lost: it is for the next request only")
        assert "open_request()" in text
        assert "take_ephemeral()" in text
        assert (level, source) == ("warning", "hook:clock")
        [body] = harness.bodies("injection_unused")
        assert (body["text"], body["ephemeral"], body["fault"]) == ("now", True, True)

    async def test_it_is_told_when_a_whole_turn_has_passed(self):
        """Old news is for no request any more."""
        harness = self.build()
        stats: Data = {}
        harness.coordinator.register_capability("session.stats", stats)
        harness.coordinator.reset_turn()
        await harness.run(POST)
        harness.coordinator.reset_turn()
        await harness.run("prompt:submit")
        assert harness.shown == []
        harness.coordinator.reset_turn()
        await harness.run("prompt:submit")
        assert len(harness.shown) == stats["injections_unused"] == 1
        assert harness.coordinator.take_ephemeral() == []

    @pytest.mark.parametrize("way", ["open_request", "take_ephemeral"])
    async def test_a_loop_that_takes_it_is_told_nothing(self, way):
        """What comes after the last request is recorded, and no fault."""
        harness = self.build()
        await harness.run(POST)
        harness.coordinator.reset_turn()
        if way == "open_request":
            taken = (await harness.coordinator.open_request({})).data["messages"]
        else:
            taken = harness.coordinator.take_ephemeral()
        assert [one["content"] for one in taken] == ["now"]
        await harness.run(POST)
        harness.coordinator.reset_turn()
        await harness.coordinator.cleanup()
        assert harness.shown == []
        assert [one["fault"] for one in harness.bodies("injection_unused")] == [False]

    async def test_a_coordinator_without_anything_else(self):
        """Neither figures nor a trail are needed for it to be said."""
        audit = MemoryAudit()
        coordinator = SessionCoordinator(audit=audit)
        coordinator.hooks.register(POST, injects("now", ephemeral=True))
        assert isinstance(await coordinator.execute_with_hooks(POST, {}), HookResult)
        await coordinator.cleanup()
        assert [one for one in audit.records if one["type"] == "injection_unused"]
