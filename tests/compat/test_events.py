"""The events of the ecosystem: their names, and what they carry."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import events
from amplifier_core.hooks import HookRegistry
from tests.support.sessions import SessionHarness

CONSTANTS = {
    "PROVIDER_THROTTLE": "provider:throttle",
    "PROVIDER_TOOL_SEQUENCE_REPAIRED": "provider:tool_sequence_repaired",
    "PROVIDER_RESOLVE": "provider:resolve",
    "LLM_REQUEST": "llm:request",
    "LLM_RESPONSE": "llm:response",
    "CONTEXT_COMPACTION": "context:compaction",
    "CONTEXT_INCLUDE": "context:include",
    "EXECUTION_END": "execution:end",
    "MODULE_ON_SESSION_READY_FAILED": "module:on_session_ready_failed",
    "MODULE_LOAD_FAILED": "module:load_failed",
}


@pytest.mark.parametrize(("name", "value"), CONSTANTS.items())
def test_a_constant_is_there_and_in_the_list(name: str, value: str) -> None:
    assert getattr(events, name) == value
    assert value in events.ALL_EVENTS


def test_the_list_and_the_names_agree() -> None:
    """One colon a name, none twice, as many upper-case names as entries."""
    upper = [name for name in vars(events) if name.isupper() and name != "ALL_EVENTS"]
    assert isinstance(events.ALL_EVENTS, list)
    assert len(upper) == len(events.ALL_EVENTS) == len(set(events.ALL_EVENTS))
    assert all(name.count(":") == 1 for name in events.ALL_EVENTS)
    assert {getattr(events, name) for name in upper} == set(events.ALL_EVENTS)


@pytest.mark.parametrize(
    "emitted", ["execution:end", "execution:complete", "tool:error", "error:tool"]
)
async def test_who_listens_to_everything_is_told_the_emitted_spelling(emitted: str) -> None:
    """Once, however many spellings of the event there are."""
    registry, heard = HookRegistry(), []

    async def log(event: str, data: dict[str, Any]) -> None:
        heard.append(event)

    for event in events.ALL_EVENTS:
        registry.register(event, log, name="logging")
    await registry.emit(emitted, {})
    assert heard == [emitted]


async def test_the_life_of_a_session_carries_what_existing_modules_read() -> None:
    """session:start and session:end; `parent_id` is there even when there is no parent."""
    harness = SessionHarness([{"text": "ok"}], session={"metadata": {"a": 1}})
    heard = harness.listen()
    await harness.session.execute("x")
    await harness.session.cleanup()
    told = dict(heard.events)
    start, end = told["session:start"], told["session:end"]
    assert start["session_id"] == end["session_id"] == harness.session.session_id
    assert start["parent_id"] is end["parent_id"] is None
    assert start["metadata"] == {"a": 1}


async def test_a_resumed_session_tells_of_that_too() -> None:
    harness = SessionHarness([{"text": "ok"}], is_resumed=True, session={"metadata": {"a": 1}})
    heard = harness.listen()
    await harness.session.execute("x")
    resume = dict(heard.events)["session:resume"]
    assert (resume["session_id"], resume["metadata"]) == (harness.session.session_id, {"a": 1})
    await harness.session.cleanup()


async def test_a_child_tells_of_its_parent() -> None:
    harness = SessionHarness([], parent_id="p")
    heard = harness.listen()
    await harness.session.initialize()
    fork = dict(heard.events)["session:fork"]
    assert (fork["parent"], fork["parent_id"]) == ("p", "p")
    assert fork["session_id"] == harness.session.session_id
    await harness.session.cleanup()


@pytest.mark.parametrize("immediate", [False, True])
async def test_a_stopped_run_says_how_it_was_stopped(immediate: bool) -> None:
    async with SessionHarness([{"text": "ok"}]) as harness:
        heard = harness.listen()

        async def stop(event: str, data: dict[str, Any]) -> None:
            await harness.coordinator.request_cancel(immediate=immediate)

        harness.hooks.register("provider:request", stop)
        await harness.session.execute("x")
    assert dict(heard.events)["cancel:completed"]["was_immediate"] is immediate
