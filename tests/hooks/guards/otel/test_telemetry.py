"""What each event becomes: spans, span events, metrics."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import ALL_EVENTS
from amplifier_hooks.guards.otel import mount
from amplifier_hooks.guards.otel.genai_names import Attribute
from amplifier_hooks.guards.otel.telemetry import count_tokens, describe_reply, is_number
from amplifier_hooks.modules.installation import name_install_command
from tests.hooks.guards.otel.collector import Span, collector
from tests.hooks.guards.otel.story import chat, story
from tests.support.harness import Harness


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"endpoint": "localhost:4318"}, "must be an address that begins with http"),
        ({"interval": 0}, "option 'interval' cannot be 0"),
    ],
)
async def test_bad_options_are_explained(
    harness: Harness, config: dict[str, Any], sentence: str
) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError) as caught:
        await mount(harness.coordinator, config)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, True), (0.5, True), (True, False), ("1", False), (None, False)],
)
def test_numbers_are_numbers_and_nothing_else(value: Any, expected: bool) -> None:
    assert is_number(value) is expected


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 5, "output_tokens": 7}, {"input": 5, "output": 7}),
        ({"input_tokens": 0}, {"input": 0}),
        ({"input_tokens": -3}, {"input": 0}),
        ({"input_tokens": "5"}, {}),
        ({"output_tokens": True}, {}),
        (None, {}),
        ([], {}),
    ],
)
def test_tokens_are_counted_where_a_provider_reports_them(
    usage: Any, expected: dict[str, int]
) -> None:
    assert count_tokens(usage) == expected


def test_a_full_reply_is_described_in_full() -> None:
    usage = {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_read_tokens": 3,
        "cache_write_tokens": 4,
    }
    assert describe_reply({"model": "m", "finish_reason": "stop"}, usage) == {
        Attribute.INPUT_TOKENS: 1,
        Attribute.OUTPUT_TOKENS: 2,
        Attribute.CACHE_READ_TOKENS: 3,
        Attribute.CACHE_CREATION_TOKENS: 4,
        Attribute.RESPONSE_MODEL: "m",
        Attribute.FINISH_REASONS: ["stop"],
    }


ODD = st.none() | st.booleans() | st.integers(-9, 10**9) | st.text() | st.lists(st.integers())


@given(
    st.dictionaries(st.sampled_from(["model", "finish_reason"]), ODD),
    ODD | st.dictionaries(st.sampled_from(["input_tokens", "cache_read_tokens"]), ODD),
)
def test_any_reply_is_described_in_values_that_can_be_exported(
    response: dict[str, Any], usage: Any
) -> None:
    """Texts on one line, counts that are not negative, lists of texts."""
    for value in describe_reply(response, usage).values():
        texts = value if isinstance(value, list) else [value]
        for text in texts:
            assert isinstance(text, int | str)
            assert not isinstance(text, str) or (len(text) <= 100 and "\n" not in text)
            assert not isinstance(text, int) or text >= 0


FIGURES: dict[str, Any] = {
    "answers": {"continue": 5, "deny": 2, "modify": 0},
    "shadowed": {"ask_user": 3},
    "failures": 1,
    "timeouts": 0,
    "p50_ms": 2.0,
    "p99_ms": None,
}
HOOK = {"amplifier.hook.name": "guard"}


async def test_what_hooks_did_in_a_session_is_sent_at_its_end(harness: Harness) -> None:
    """By hook and action; what is no figure is left out."""
    odd = {"text": "no", "guard": FIGURES, "wrong": {"answers": {"deny": "many"}, "p50_ms": "x"}}
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            for stats in ({"hooks": odd}, {"hooks": 3}, None):
                await harness.emit("session:start", mount_plan={}, source="startup")
                await harness.emit("session:end", reason="complete", stats=stats)
    calls = kept.metric("amplifier.hook.calls")
    assert sorted((point["amplifier.hook.action"], value) for point, value in calls) == [
        ("continue", 5),
        ("deny", 2),
    ]
    shadowed = {**HOOK, "amplifier.hook.action": "ask_user"}
    assert kept.metric("amplifier.hook.shadowed") == [(shadowed, 3)]
    assert kept.metric("amplifier.hook.failures") == [(HOOK, 1)]
    assert kept.metric("amplifier.hook.timeouts") == []
    ((attributes, seconds),) = kept.metric("amplifier.hook.duration")
    assert (attributes, seconds) == ({**HOOK, "amplifier.hook.quantile": "p50"}, 0.002)


def tree(spans: list[Span]) -> set[tuple[str, str]]:
    """Each span's name with its parent's."""
    by_id = {span.span_id: span.name for span in spans}
    return {(span.name, by_id.get(span.parent_id, "")) for span in spans}


async def test_the_tree_is_session_turn_chat_and_tool(harness: Harness) -> None:
    """Span tree session → turn → chat / execute_tool."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url, "agent_name": "helper"}):
            await story(harness)
    assert tree(kept.spans) == {
        ("invoke_workflow helper session", ""),
        ("invoke_agent helper", "invoke_workflow helper session"),
        ("chat claude-x", "invoke_agent helper"),
        ("execute_tool Bash", "invoke_agent helper"),
    }
    assert len(kept.spans) == 5
    assert len({span.trace_id for span in kept.spans}) == 1
    assert {span.attributes["gen_ai.conversation.id"] for span in kept.spans} == {"test-session"}
    assert {span.status for span in kept.spans} == {"UNSET"}
    assert kept.services == {"amplifier"}


async def test_parallel_calls_are_not_confused(harness: Harness) -> None:
    """Of two calls at once, the one that was denied has the error."""

    async def one(name: str, denied: bool) -> None:
        await harness.emit("tool:pre", tool_name=name, tool_input={}, tool_call_id=name)
        await asyncio.sleep(0.02)
        if denied:
            await harness.emit("policy:violation", event="tool:pre", hook="guard", reason="no")
        else:
            await harness.emit("tool:post", tool_name=name, tool_call_id=name, success=True)

    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await asyncio.gather(one("First", True), one("Second", False), one("Third", False))
    assert {span.name: span.status for span in kept.spans if "execute_tool" in span.name} == {
        "execute_tool First": "ERROR",
        "execute_tool Second": "UNSET",
        "execute_tool Third": "UNSET",
    }


async def test_a_sub_agent_hangs_below_the_call_that_started_it(harness: Harness) -> None:
    """One trace for a session and its sub-agents."""
    child = {"session_id": "child", "parent_id": "test-session"}
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await harness.emit("session:start")
            await harness.emit("prompt:submit", prompt="x")
            call = {"tool_name": "Delegate", "tool_input": {}, "tool_call_id": "1"}
            await harness.emit("tool:pre", **call)
            await harness.emit("agent:spawn", agent_name="finder", parent_session_id="test-session")
            await harness.emit("session:start", **child)
            await harness.emit("prompt:submit", prompt="find", **child)
            await chat(harness, **child)
            await harness.emit("orchestrator:complete", status="success", **child)
            await harness.emit("session:end", reason="complete", **child)
            await harness.emit("tool:post", **call, success=True)
            await harness.emit("orchestrator:complete", status="success")
    assert ("invoke_agent finder", "execute_tool Delegate") in tree(kept.spans)
    assert ("chat claude-x", "invoke_agent finder") in tree(kept.spans)
    assert len({span.trace_id for span in kept.spans}) == 1


@pytest.mark.parametrize("order", [1, -1])
async def test_missing_and_repeated_events_leave_no_span_open(harness: Harness, order: int) -> None:
    """Whatever order events come in, every span ends and none is lost."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            for event in [*ALL_EVENTS[::order], *ALL_EVENTS[::order]]:
                await harness.emit(event, tool_name="T", provider="p", model="m")
    opened = {span.span_id for span in kept.spans}
    assert all(span.parent_id in opened for span in kept.spans if span.parent_id)
    assert any(span.name == "execute_tool T" for span in kept.spans)


def test_the_sdk_is_imported_only_when_mounted() -> None:
    """No heavy import at module top level."""
    program = "import sys, amplifier_hooks.guards.otel; print('opentelemetry' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True
    )
    assert ran.stdout.strip() == "False"


def test_without_the_extra_the_error_says_what_to_install(tmp_path: Path) -> None:
    """An extra that is missing is named."""
    program = """
import asyncio, pathlib, sys
sys.modules["opentelemetry.trace"] = None
from amplifier_hooks.guards.otel import mount
from tests.support.harness import Harness
try:
    asyncio.run(mount(Harness(pathlib.Path(".")).coordinator, {}))
except Exception as error:
    print(type(error).__name__, error)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True
    )
    assert ran.stdout.startswith("ModuleLoadError hooks-otel needs the package 'opentelemetry")
    assert name_install_command("otel") in ran.stdout


async def test_what_was_said_stays_here_unless_asked_for(harness: Harness) -> None:
    """Sensitive content opt-in."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await story(harness)
            await harness.emit("policy:violation", event="tool:pre", hook="guard", reason="secret")
            await harness.emit("approval:required", hook="guard", prompt="secret")
    assert "secret" not in kept.text()
    with collector() as kept:
        config = {"endpoint": kept.url, "capture_content": True, "max_content_length": 100}
        async with harness.mounted("otel", config):
            await story(harness)
    call = next(span for span in kept.spans if span.name == "chat claude-x").attributes
    ran = kept.named("execute_tool Bash").attributes
    assert "secret words" in call["gen_ai.input.messages"]
    assert "secret words" in call["gen_ai.output.messages"]
    assert ran["gen_ai.tool.call.arguments"] == '{"command":"secret"}'
    assert "secret" in ran["gen_ai.tool.call.result"]
    assert all(len(str(value)) <= 100 for value in (*call.values(), *ran.values()))


async def test_a_denied_call_ends_with_the_hooks_name(harness: Harness) -> None:
    """Hook decisions as span events under an own prefix."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await harness.emit("prompt:submit", prompt="x")
            await harness.emit("tool:pre", tool_name="Bash", tool_input={}, tool_call_id="1")
            await harness.emit("policy:violation", event="tool:pre", hook="guard", reason="no")
    ran = kept.named("execute_tool Bash")
    assert ran.status == "ERROR"
    assert ran.attributes["error.type"] == "denied"
    what = {"amplifier.hook.name": "guard", "amplifier.hook.event": "tool:pre"}
    assert ran.events == [("amplifier.hook.denied", what)]
    assert kept.metric("amplifier.hook.denials") == [(what, 1)]


@pytest.mark.parametrize(
    ("event", "span"),
    [
        ("provider:request", "chat m"),
        ("provider:response", "chat m"),
        ("tool:post", "execute_tool T"),
        ("prompt:submit", "invoke_agent amplifier"),
    ],
)
async def test_whatever_is_denied_has_an_end(harness: Harness, event: str, span: str) -> None:
    """A chain that a deny stopped never comes to the hook that closes the span."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await harness.emit("prompt:submit", prompt="x")
            await harness.emit("provider:request", provider="p", model="m", messages=[])
            await harness.emit("tool:pre", tool_name="T", tool_call_id="1")
            await harness.emit("policy:violation", event=event, hook="guard", reason="no")
    found = kept.named(span)
    assert (found.status, found.attributes["error.type"]) == ("ERROR", "denied")


async def test_retries_and_compactions_are_events_of_their_span(harness: Harness) -> None:
    """Happenings under an own prefix, with their figures."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await harness.emit("prompt:submit", prompt="x")
            await harness.emit("context:post_compact", tokens_before=900, tokens_after=100)
            await harness.emit("provider:request", provider="p", model="m", messages=[])
            await harness.emit(
                "provider:retry", attempt=1, delay_ms=50, error={"type": "Overloaded"}
            )
            await harness.emit("provider:response", response={}, usage={})
    assert kept.named("chat m").events == [
        (
            "amplifier.provider.retry",
            {"amplifier.attempt": 1, "amplifier.delay_ms": 50, "error.type": "Overloaded"},
        )
    ]
    assert kept.named("invoke_agent amplifier").events == [
        (
            "amplifier.context.compacted",
            {"amplifier.tokens_before": 900, "amplifier.tokens_after": 100},
        )
    ]


async def test_a_session_that_failed_says_so(harness: Harness) -> None:
    """The reason of session:end is an attribute, and an error where it is one."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await harness.emit("session:start")
            await harness.emit("session:end", reason="timeout")
    span = kept.named("invoke_workflow amplifier session")
    assert (span.status, span.attributes["amplifier.session.reason"]) == ("ERROR", "timeout")


async def test_approvals_are_events_of_the_call_they_gate(harness: Harness) -> None:
    """Approvals as span events under an own prefix."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            call = {"tool_name": "Write", "tool_input": {}, "tool_call_id": "1"}
            await harness.emit("tool:pre", **call)
            gate = {"hook": "guard", "prompt": "secret?", "digest": "abc"}
            await harness.emit("approval:required", **gate)
            await harness.emit("approval:granted", **gate, decision="Allow", how="person")
            await harness.emit("tool:post", **call, success=True)
    names = [name for name, _ in kept.named("execute_tool Write").events]
    assert names == ["amplifier.approval.required", "amplifier.approval.granted"]
    assert kept.metric("amplifier.approvals") == [
        ({"amplifier.hook.name": "guard", "amplifier.approval.decision": "granted"}, 1)
    ]


@pytest.mark.parametrize(
    ("event", "span", "error"),
    [
        ("provider:error", "chat m", "RateLimit"),
        ("error:provider", "chat m", "RateLimit"),
        ("tool:error", "execute_tool T", "RateLimit"),
    ],
)
async def test_failures_have_their_type(
    harness: Harness, event: str, span: str, error: str
) -> None:
    """error.type and the status of the span."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await harness.emit("provider:request", provider="p", model="m", messages=[])
            await harness.emit("tool:pre", tool_name="T", tool_call_id="1")
            await harness.emit(
                event, error={"type": "RateLimit", "message": "x"}, tool_name="T", tool_call_id="1"
            )
    found = kept.named(span)
    assert (found.status, found.attributes["error.type"]) == ("ERROR", error)
