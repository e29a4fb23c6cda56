"""Events, models, errors and the small helpers."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type, attr-defined, metaclass"

from __future__ import annotations

import asyncio
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import amplifier_core
from amplifier_core import errors, events, models
from amplifier_core.approval import ApprovalSystem, DecidingApprovalSystem
from amplifier_core.approval.passage import digest_operation
from amplifier_core.models import DEFAULT_APPROVAL_OPTIONS, HookResult, ToolResult, continue_with
from amplifier_core.precedence import fold, strongest
from amplifier_core.testing import ScriptedApproval
from amplifier_core.utils import (
    DONE,
    canonical_bytes,
    clock,
    describe_error,
    digest,
    redact_secrets,
    retry,
    run_with_timeout,
    safe_repr,
)
from tests.support.people import PlainPerson


class TestEvents:
    def test_every_upper_case_name_is_listed(self):
        """`events.ALL_EVENTS` lists every event constant of `events`."""
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


class TestFolding:
    def test_silence_is_continue(self):
        assert fold([], {"a": 1}) == continue_with({"a": 1})
        assert strongest([]) is None


class TestResults:
    def test_the_fields_and_defaults(self):
        """All 14 fields of the guide's table, plus two that existing modules pass."""
        result = HookResult()
        assert list(HookResult.model_fields) == [
            "action", "data", "reason", "context_injection", "context_injection_role", "ephemeral",
            "append_to_last_tool_result", "approval_prompt", "approval_options", "approval_timeout",
            "approval_default", "suppress_output", "user_message", "user_message_level",
            "user_message_source", "context_injections",
        ]  # fmt: skip
        assert (result.action, result.context_injection_role) == ("continue", "system")
        assert (result.approval_timeout, result.approval_default) == (300.0, "deny")
        assert result.approval_options is None
        assert DEFAULT_APPROVAL_OPTIONS == ("Allow", "Deny")

    @pytest.mark.parametrize(
        "wrong",
        [{"action": "shout"}, {"context_injection_role": "tool"}, {"approval_default": "maybe"},
         {"user_message_level": "loud"}, {"data": [1]}, {"approval_timeout": "soon"}],
    )  # fmt: skip
    def test_wrong_values_do_not_construct(self, wrong):
        """`HookResult(action="shout")` is a `ValidationError` at construction."""
        with pytest.raises(ValueError, match="validation error"):
            HookResult(**wrong)

    def test_what_the_kernel_fills_is_what_validation_makes(self):
        made, validated = continue_with({"a": 1}), HookResult.model_validate({"data": {"a": 1}})
        assert made == validated
        assert made.model_dump() == validated.model_dump()
        assert made.model_copy(update={"reason": "x"}).reason == "x"
        assert models.replace_fields(made, reason="x", _private=1).model_fields_set == {
            "action", "data", "reason",
        }  # fmt: skip

    def test_a_subclass_is_not_interned(self):
        class Mine(HookResult):
            more: int = 1

        assert Mine().more == 1
        assert Mine(action="continue") is not Mine(action="continue")

    def test_tool_results(self):
        """`ToolResult.error` is a string."""
        assert ToolResult(success=False, error={"message": "no"}).error == "no"
        assert ToolResult(error={"code": 5}).error == "{'code': 5}"
        assert ToolResult(error="plain").error == "plain"
        assert ToolResult.failed("no").get_serialized_output() == "no"
        silent = "The tool failed without saying why."
        assert ToolResult(success=False).get_serialized_output() == silent
        assert ToolResult(output="text").get_serialized_output() == "text"
        assert ToolResult(output={"ü": [1]}).get_serialized_output() == '{"ü": [1]}'
        circle: list[Any] = []
        circle.append(circle)
        assert ToolResult(output=circle).get_serialized_output() == "[[...]]"

    def test_message_and_tool_call_live_next_door(self):
        assert models.ToolCall.__name__ == "ToolCall"
        assert models.Message.__name__ == "Message"
        with pytest.raises(AttributeError, match="no attribute 'Nope'"):
            models.Nope  # noqa: B018

    def test_the_package_re_exports_lazily(self):
        assert amplifier_core.HookResult is HookResult
        with pytest.raises(AttributeError, match="no attribute 'Nope'"):
            amplifier_core.Nope  # noqa: B018


def test_protocols_of_approval():
    assert isinstance(PlainPerson(), ApprovalSystem)
    assert isinstance(ScriptedApproval(), DecidingApprovalSystem)
    assert errors.ApprovalTimeoutError is errors.ApprovalTimeout
    assert issubclass(errors.InjectionTooLarge, ValueError)
    assert str(errors.UnknownTool("Wirte", {"Write", "Bash"})) == (
        "Unknown tool 'Wirte'; have ['Bash', 'Write']"
    )


def test_the_clock_formats_once_a_millisecond():
    times = iter([0, 999_999, 1_000_000, 1_700_000_000_123_456_789])
    now = clock(lambda: next(times))
    first = now()
    assert now() is first
    assert first == "1970-01-01T00:00:00.000+00:00"
    assert now() == "1970-01-01T00:00:00.001+00:00"
    assert now() == "2023-11-14T22:13:20.123+00:00"


class Rude:
    def __repr__(self) -> str:
        raise ValueError("no")


class RudeDict(dict):
    def items(self) -> Any:
        raise ValueError("no")


def deep(depth: int, leaf: Any) -> Any:
    value = leaf
    for _ in range(depth):
        value = {"a": value}
    return value


def cyclic(leaf: Any) -> Any:
    value: dict[str, Any] = {"leaf": leaf}
    value["self"] = [value]
    return value


class TestDigests:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ({"a": 1}, {"a": 2}), ({"a": 1}, {"b": 1}), ({1: "a"}, {2: "a"}), ([1], [1, 1]),
            (deep(10_000, 1), deep(10_000, 2)), (deep(3_000, 1), deep(2_999, 1)),
            (cyclic(1), cyclic(2)), (10**5000, 10**5000 + 1), (b"a", b"b"), ({1}, {2}),
            ({1: "x", "a": {1}}, {1: "x", "a": {2}}), (math.nan, 1.0), ("\ud800", "\ud801"),
            (deep(3_000, (1, 2)), deep(3_000, (2, 1))), (RudeDict(a=1), RudeDict(a=2)),
            ({1: 0, "1": 1}, {1: 1, "1": 0}),
        ],
        ids=lambda value: type(value).__name__,
    )  # fmt: skip
    def test_different_values_differ_and_equal_ones_agree(self, one, other):
        assert digest(one) != digest(other)
        assert digest(one) == digest(one)

    def test_order_of_keys_does_not_matter(self):
        assert digest({"a": 1, "b": {1, 2}}) == digest({"b": {2, 1}, "a": 1})
        assert digest({1: 1, "b": 2}) == digest({"b": 2, 1: 1})

    def test_it_never_raises(self):
        for odd in (Rude(), [Rude()], {1: Rude(), "a": 1}, object(), {Rude(): 1}):
            assert len(digest(odd)) == 64

    @given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5))
    def test_bytes_are_ascii_and_stable(self, value):
        assert canonical_bytes(value).isascii()
        assert canonical_bytes(value) == canonical_bytes(value)

    def test_the_operation_is_digested_not_its_time(self):
        call = {"tool_name": "Write", "tool_input": {"a": 1}}
        assert digest_operation("tool:pre", {**call, "timestamp": 1}) == digest_operation(
            "tool:pre", call
        )
        assert digest_operation("e", {"a": 1, "timestamp": 1}) == digest_operation("e", {"a": 1})
        assert digest_operation("e", {"a": 1}) != digest_operation("f", {"a": 1})


def test_texts_of_what_refuses():
    class Silent(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert safe_repr(Rude()) == "<Rude whose repr raised ValueError>"
    assert describe_error(Silent()) == "Silent"
    assert describe_error(ValueError("x")) == "ValueError: x"


def test_redacting_by_key():
    given_data = {
        "api_key": "k", "Authorization": "b", "total_tokens": 5, "empty_password": "",
        "in": [{"my-secret": "s", "path": "/x"}],
    }  # fmt: skip
    assert redact_secrets(given_data) == {
        "api_key": "[REDACTED]", "Authorization": "[REDACTED]", "total_tokens": 5,
        "empty_password": "", "in": [{"my-secret": "[REDACTED]", "path": "/x"}],
    }  # fmt: skip


async def test_something_done_can_be_awaited_or_not():
    await DONE
    assert list(DONE.__await__()) == []


class TestFinishing:
    async def test_the_outcome_and_the_error_go_through(self):
        async def work(error: Exception | None = None) -> int:
            if error is not None:
                raise error
            return 5

        assert await run_with_timeout(work(), None) == 5
        with pytest.raises(ValueError, match="x"):
            await run_with_timeout(work(ValueError("x")), 1)

    async def test_a_future_that_is_done(self):
        future = asyncio.get_running_loop().create_future()
        future.set_result(1)
        assert await run_with_timeout(future, 1) == 1

    async def test_late_work_is_stopped(self):
        ended = []

        async def late() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                ended.append(True)

        with pytest.raises(TimeoutError, match=r"took longer than 0\.01 s"):
            await run_with_timeout(late(), 0.01)
        assert ended == [True]

    async def test_work_that_fails_while_it_is_stopped(self, caplog):
        async def bad() -> None:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                raise ValueError("x") from None

        with pytest.raises(TimeoutError):
            await run_with_timeout(bad(), 0.01)
        assert caplog.messages == []

    async def test_both_at_once(self):
        async def exactly() -> int:
            await asyncio.sleep(0.01)
            time.sleep(0.02)
            return 1

        assert await run_with_timeout(exactly(), 0.02) == 1


class TestRetrying:
    async def call(self, failures: list[Exception], **settings: Any) -> tuple[Any, list[Any]]:
        seen: list[Any] = []

        async def attempt() -> str:
            if failures:
                raise failures.pop(0)
            return "done"

        async def note(number: int, pause: float, error: Exception) -> None:
            seen.append((number, pause))

        return await retry(attempt, on_retry=note, delay=0.001, **settings), seen

    def failure(self, **facts: Any) -> Exception:
        error = ValueError("x")
        vars(error).update(facts)
        return error

    async def test_until_it_works(self):
        failures = [self.failure(retryable=True), self.failure(retryable=True, retry_after=0.0)]
        assert await self.call(failures) == ("done", [(1, 0.001), (2, 0.0)])

    async def test_what_is_not_retryable_is_raised(self):
        with pytest.raises(ValueError, match="x"):
            await self.call([self.failure()])

    async def test_at_last_it_is_raised(self):
        with pytest.raises(ValueError, match="x"):
            await self.call([self.failure(retryable=True)] * 3, attempts=2)
        with pytest.raises(ValueError, match="attempts must be at least 1, got 0"):
            await self.call([], attempts=0)

    async def test_without_a_listener(self):
        async def once() -> int:
            if not done:
                done.append(1)
                raise self.failure(retryable=True)
            return 1

        done: list[int] = []
        assert await retry(once, delay=0) == 1
