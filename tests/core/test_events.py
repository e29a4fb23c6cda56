"""The events, their names and the types of their data."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="attr-defined"

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from pydantic import BaseModel, TypeAdapter

from amplifier_core import events, payloads
from amplifier_core.events import Event, EventData, EventName
from amplifier_core.llm_errors import AuthenticationError
from amplifier_core.models import HookResult
from amplifier_core.payloads import SessionForkData, normalize_data
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


def test_the_name_of_an_event_is_a_plain_string() -> None:
    """So that it is as fast as one, and can be written down as one."""
    assert type(events.TOOL_PRE) is str
    assert all(type(name) is str for name in events.ALL_EVENTS)


def test_a_module_may_define_events_of_its_own() -> None:
    """Then the type of its data is known like any other."""

    class DeployedData(EventData):
        version: str

    name = Event[DeployedData]("deploy:done")
    try:
        assert events.payload_type(name) is DeployedData
        assert name not in events.ALL_EVENTS
    finally:
        del events._types[name]


def test_every_event_of_ours_has_a_type() -> None:
    """Its name is written down, and the type is found by it."""
    for name in events.ALL_EVENTS:
        found = events.payload_type(name)
        assert found is not None
        assert is_typeddict(found)
        assert events.payload_type(name) is found


def test_an_event_that_nobody_has_defined_has_no_type() -> None:
    """It carries what its emitter likes."""
    assert events.payload_type("nobody:knows") is None


def test_the_literal_holds_every_spelling_of_every_event() -> None:
    """A new event that is missing here would be refused by type checkers."""
    known = {spelled for event in events.ALL_EVENTS for spelled in events.spellings(event)}
    names = get_args(EventName)
    assert set(names) == known
    assert len(names) == len(known)


TYPES = {
    "provider:resolve": payloads.ProviderResolveData,
    "llm:request": payloads.LlmCallData,
    "llm:response": payloads.LlmCallData,
    "provider:throttle": payloads.ProviderThrottleData,
    "provider:tool_sequence_repaired": payloads.ProviderToolSequenceRepairedData,
    "context:include": payloads.ContextIncludeData,
    "context:compaction": payloads.ContextCompactionData,
}


@pytest.mark.parametrize("event", TYPES)
def test_an_event_knows_its_type(event: str) -> None:
    assert events.payload_type(event) is TYPES[event]


def test_a_call_of_a_model_says_which_model_and_what_it_cost() -> None:
    """As a logging module of the ecosystem reads it."""
    hints = get_type_hints(payloads.LlmCallData)
    assert (hints["provider"], hints["model"]) == (str, str | None)
    assert {"status", "duration_ms", "usage", "request_id"} <= hints.keys()


ROOT = Path(__file__).parents[2]

PROGRAM = """
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import SESSION_FORK, TOOL_POST, TOOL_PRE
from amplifier_core.payloads import SessionForkData, ToolPreData

async def tell(coordinator: SessionCoordinator) -> None:
    fork: SessionForkData = {"child_id": "c", "agent_name": "a"}
    await coordinator.notify(SESSION_FORK, fork)
    call: ToolPreData = {"tool_name": "Read", "tool_input": {}, "tool_call_id": "1"}
    await coordinator.judge(TOOL_PRE, call)
    for event in (TOOL_PRE, TOOL_POST):
        coordinator.hooks.register(event, print)
"""


def check(path: Path, *lines: str) -> list[str]:
    """What mypy says of the program with these lines at its end."""
    path.write_text(PROGRAM + "".join(f"    {line}\n" for line in lines), encoding="utf-8")
    cache = ROOT / ".mypy_cache"  # what `make check` left, where it has run
    config = ROOT / "pyproject.toml"
    # A process of its own: mypy raises the recursion limit of the one it runs in.
    command = [sys.executable, "-m", "mypy", str(path), f"--config-file={config}"]
    run = subprocess.run(
        [*command, f"--cache-dir={cache}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert not run.stderr
    return [line for line in run.stdout.splitlines() if path.name in line]


@pytest.mark.timeout(180)
def test_the_type_checker_proves_what_an_event_carries(tmp_path: Path) -> None:
    """A missing field, another event's data and a plain dict are errors; the right data is none."""
    wrong = (
        'await coordinator.notify(SESSION_FORK, {"agent_name": "a"})',
        "await coordinator.notify(SESSION_FORK, call)",
        'await coordinator.judge(TOOL_PRE, {"tool_name": 5})',
        'await coordinator.notify("session:fork", call)',
    )
    first = len(PROGRAM.splitlines()) + 1
    found = check(tmp_path / "program.py", *wrong)
    errors = [int(line.split(":")[1]) for line in found if ": error:" in line]
    assert errors == [first + number for number in range(len(wrong))], found


def test_every_event_has_its_type() -> None:
    """No event of ours is without one."""
    assert all(events.payload_type(event) for event in events.ALL_EVENTS)
    assert events.payload_type("session:fork") is SessionForkData
    assert {"child_id", "agent_name"} <= SessionForkData.__required_keys__


class Payload(BaseModel):
    x: int = 1


@pytest.mark.parametrize(
    ("given", "data"),
    [
        (None, {}),
        (MappingProxyType({"x": 1}), {"x": 1}),
        (Payload(), {"x": 1}),
        ("text", {"data": "text"}),
        ([1], {"data": [1]}),
    ],
)
def test_whatever_is_emitted_becomes_a_dict(given: Any, data: dict[str, Any]) -> None:
    """A mapping, a model, nothing, or one value."""
    assert normalize_data(given) == data
