"""Every payload that a session emits has exactly the fields of its typed schema."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="attr-defined"

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, get_origin, get_type_hints, is_typeddict

import pytest
from pydantic import TypeAdapter

from amplifier_core import events
from amplifier_core.llm_errors import AuthenticationError
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, MockTool, ScriptedApproval
from tests.support.sessions import SessionHarness, calls


def fits(kind: Any, value: Any) -> None:
    """The value is of the declared type, key by key; pydantic reads typed dicts from 3.12 on."""
    if not is_typeddict(kind):
        TypeAdapter(kind).validate_python(value, strict=True)
        return
    hints = get_type_hints(kind, include_extras=True)
    optional = {name for name, part in hints.items() if get_origin(part) is NotRequired}
    assert hints.keys() - optional <= value.keys(), f"{kind.__name__} without all of its fields"
    assert value.keys() <= hints.keys(), f"{kind.__name__} and {value.keys() - hints.keys()}"
    for name, part in get_type_hints(kind).items():
        if name in value:
            fits(part, value[name])


def conforms(event: str, data: Mapping[str, Any]) -> None:
    fits(events.payload_type(event), dict(data))


async def eventful(harness: SessionHarness) -> EventRecorder:
    """A session in which as much as possible happens."""
    heard = harness.listen()
    harness.hooks.register(
        "tool:pre",
        EventRecorder(HookResult(action="ask_user", approval_prompt="run it?")),
        name="asker",
    )
    async with harness:
        await harness.session.execute("go", metadata={"source": "test"})
        await harness.session.context.compact("manual")
        await harness.coordinator.request_cancel()
    return heard


async def test_each_payload_of_a_whole_session_matches_its_schema_key_by_key() -> None:
    """A whole session runs; each emitted payload is compared with its typed schema."""
    script = [
        {"error": {"type": "overloaded"}},
        {"thinking": "hm", **calls("Echo", text="one", word="a")},
        calls("Broken", text="two"),
        calls("Missing", text="three"),
        {"text": "done"},
    ]
    broken = MockTool("Broken", ValueError("no"))
    person = ScriptedApproval("Allow", "Deny")
    harness = SessionHarness(
        script,
        tools=[MockTool("Echo", "ok"), broken],
        approval=person,
        loop="loop-streaming",
        context_config={"max_tokens": 40, "keep_last": 1},
    )
    heard = await eventful(harness)
    for event, data in heard.events:
        conforms(event, data)
    missing = {
        "session:resume", "session:fork", "plan:start", "plan:end", "agent:spawn",
        "agent:complete", "decision:agent_resolution", "artifact:read", "artifact:write",
        "provider:error", "error:provider", "error:tool", "error:orchestration",
        "cancel:completed", "execution:end", "module:load_failed",
        "module:on_session_ready_failed", "llm:request", "llm:response", "context:compaction",
        "context:include", "provider:resolve", "provider:throttle",
        "provider:tool_sequence_repaired",
    }  # fmt: skip
    assert set(heard.names) == set(events.ALL_EVENTS) - missing


async def test_a_failing_provider_tells_exactly_what_the_reference_says() -> None:
    """provider:error, error:orchestration and the error notification carry their fields."""
    harness = SessionHarness([{"error": {"type": "authentication"}}])
    heard = harness.listen()
    async with harness:
        with pytest.raises(AuthenticationError):
            await harness.session.execute("go")
    for event, data in heard.events:
        conforms(event, data)
    assert {"provider:error", "error:orchestration"} <= set(heard.names)
    kinds = [data["notification_type"] for _, data in heard.get_events("user:notification")]
    assert kinds == ["error"]


async def test_the_metadata_of_a_prompt_is_passed_through() -> None:
    """prompt:submit carries the optional prompt metadata."""
    harness = SessionHarness([{"text": "hi"}])
    heard = harness.listen()
    async with harness:
        await harness.session.execute("hello", metadata={"channel": "mail"})
    ((_, data),) = heard.get_events("prompt:submit")
    assert data["metadata"] == {"channel": "mail"}


@pytest.mark.parametrize("source", ["startup", "resume"])
async def test_the_start_says_where_the_session_comes_from(source: str) -> None:
    """session:start has source startup or resume; a resumed one emits session:resume as well."""
    state = None
    if source == "resume":
        async with SessionHarness([{"text": "hi"}]) as first:
            await first.session.execute("hello")
            state = await first.session.state()
    harness = SessionHarness([{"text": "again"}], state=state)
    heard = harness.listen()
    async with harness:
        pass
    ((_, started),) = heard.get_events("session:start")
    assert started["source"] == source
    assert started["mount_plan"]["session"]["orchestrator"]["module"] == "loop-basic"
    resumed = heard.get_events("session:resume")
    assert [data["messages_count"] for _, data in resumed] == ([2] if source == "resume" else [])
    for event, data in heard.events:
        conforms(event, data)


class TestEvents:
    def test_every_upper_case_name_is_listed(self):
        """A logger that registers for the list misses no event."""
        names = {name for name in vars(events) if name.isupper() and name != "ALL_EVENTS"}
        assert {getattr(events, name) for name in names} == set(events.ALL_EVENTS)
        assert len(events.ALL_EVENTS) == len(set(events.ALL_EVENTS)) == len(names)

    def test_every_event_has_a_payload(self):
        """A typed payload (TypedDict) per event."""
        for event in events.ALL_EVENTS:
            assert {"session_id", "timestamp"} < events.payload_type(event).__required_keys__, event
        assert events.payload_type("my:own") is None
        assert events.payload_type("error:tool") is events.payload_type("tool:error")

    def test_spellings(self):
        assert events.spellings("execution:end") == ("execution:complete", "execution:end")
        assert events.spellings("tool:pre") == ("tool:pre",)
        assert events.canonical("error:provider") == "provider:error"
