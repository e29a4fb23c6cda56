"""Emitting: what hooks get, what the caller gets back."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type, var-annotated"

from __future__ import annotations

import asyncio
import copy
import pickle
import re

import pytest
from pydantic import BaseModel

from amplifier_core.hooks import Dispatch, HookRegistry, dispatch_of
from amplifier_core.models import CONTINUE, HookResult
from amplifier_core.testing import EventRecorder
from tests.support.hooks import PRE, Data, asks, injects, modifies, raises, returns, says


@pytest.fixture
def registry() -> HookRegistry:
    return HookRegistry()


async def test_nobody_listens(registry):
    """The data as given plus the default fields; no timestamp, nothing else paid."""
    registry.set_default_fields(session_id="s")
    given = {"x": [1]}
    result = await registry.emit(PRE, given)
    assert (result.action, result.data) == ("continue", {"session_id": "s", "x": [1]})
    assert result.data["x"] is given["x"]
    assert given == {"x": [1]}


async def test_the_registry_stamps_the_time(registry):
    """ISO 8601 with `+00:00`; the caller cannot forge it."""
    registry.register(PRE, says())
    result = await registry.emit(PRE, {"timestamp": "forged"})
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", result.data["timestamp"])


@pytest.mark.parametrize("guard", [False, True])
async def test_modify_cannot_change_time_or_session(registry, guard):
    """`modify` cannot change `timestamp` or `session_id`."""
    on_error = "deny" if guard else "continue"
    registry.register(PRE, modifies(timestamp="x", session_id="other"), on_error=on_error)
    result = await registry.emit(PRE, {"session_id": "mine"})
    assert result.data["session_id"] == "mine"
    assert result.data["timestamp"].startswith("2")
    bare = await registry.emit(PRE, {})
    assert "session_id" not in bare.data


class Payload(BaseModel):
    tool_name: str = "Write"


@pytest.mark.parametrize(
    ("given", "seen_as"),
    [
        (None, {}),
        ("text", {"data": "text"}),
        (5, {"data": 5}),
        (Payload(), {"tool_name": "Write"}),
        ({"a": 1}, {"a": 1}),
    ],
)
async def test_data_of_any_form(registry, given, seen_as):
    """`emit` tolerates data that is `None`, a string or a pydantic model."""
    assert (await registry.emit(PRE, given)).data == seen_as
    seen = EventRecorder()
    registry.register(PRE, seen)
    await registry.emit(PRE, given)
    await registry.dispatch(PRE, given)
    for _, data in seen.events:
        data.pop("timestamp")
        assert data == seen_as
    assert len(seen.events) == 2


async def test_emit_returns_a_real_coroutine(registry):
    emitted = registry.emit(PRE, {})
    assert asyncio.iscoroutine(emitted)
    await emitted


async def test_a_chain_of_modify_is_continue_with_the_final_data(registry):
    """`emit()` returns `action="continue"` with the final `data`."""
    for value in range(3):
        registry.register(PRE, modifies(**{f"k{value}": value}))
    result = await registry.emit(PRE, {})
    assert result.action == "continue"
    assert [result.data[f"k{value}"] for value in range(3)] == [0, 1, 2]


@pytest.mark.parametrize("louder", [asks(), injects("text")])
@pytest.mark.parametrize("position", [0, 1])
async def test_what_a_redactor_changed_survives(registry, louder, position):
    """What a redacting hook changed survives another hook's injection or question (F3)."""
    registry.register(PRE, louder, priority=position)
    registry.register(PRE, modifies(secret="[gone]"), priority=1 - position)
    result = await registry.emit(PRE, {"secret": "hunter2"})
    assert result.data["secret"] == "[gone]"
    assert result.action != "continue"


async def test_deny_carries_what_the_denying_hook_gave(registry):
    """Except on `deny`, where it is what the denying hook gave (usually `None`)."""
    registry.register(PRE, modifies(x=1))
    registry.register(PRE, says("deny", reason="no", data={"why": "x"}))
    after = EventRecorder()
    registry.register(PRE, after)
    result = await registry.emit(PRE, {})
    assert (result.action, result.reason, result.data) == ("deny", "no", {"why": "x"})
    assert after.events == []


async def test_several_questions_keep_the_first_and_all(registry):
    """`emit()` returns the first; the folded result privately carries its whole dispatch (F1)."""
    registry.register(PRE, asks("second?"), priority=2)
    registry.register(PRE, asks("first?"), priority=1)
    registry.register(PRE, injects("found"), priority=3)
    result = await registry.emit(PRE, {})
    assert result.approval_prompt == "first?"
    assert [one.result.action for one in dispatch_of(result).spoken] == [
        "ask_user", "ask_user", "inject_context",
    ]  # fmt: skip


async def test_injections_are_joined_in_execution_order(registry):
    """`emit()` joins them with a blank line, in execution order."""
    many = [{"content": "two"}, {"content": "", "role": "user"}, {"content": "three"}]
    registry.register(PRE, injects("four", context_injection_role="user"), priority=2)
    registry.register(PRE, injects("one", context_injections=many), priority=1)
    result = await registry.emit(PRE, {})
    assert result.context_injection == "one\n\ntwo\n\nthree\n\nfour"
    assert result.context_injection_role == "system"
    assert result.context_injections is None  # or a loop would inject them twice


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        (None, "continue"),
        ({"action": "deny", "reason": "dict", "newer_field": 1}, "deny"),
        ({}, "continue"),
        ({"action": "continue"}, "continue"),
        (HookResult.model_validate({}), "continue"),
    ],
)
async def test_answers_that_are_understood(registry, caplog, answer, action):
    """A dict that validates as a `HookResult` is one. `None` is `continue` without a warning."""
    registry.register(PRE, returns(answer))
    assert (await registry.emit(PRE, {})).action == action
    assert caplog.messages == []


NONSENSE = [
    ("text", "returned str, not a HookResult"),
    ({"action": "shout"}, "returned a dict that is no HookResult"),
    ({1: 2}, "returned a dict that is no HookResult"),
    (HookResult(action="modify"), "answered 'modify' without a dict in data"),
    (HookResult.model_construct(action="shout"), "answered the unknown action 'shout'"),
    (42, "returned int, not a HookResult"),
    ([HookResult(action="deny")], "returned list, not a HookResult"),
]


@pytest.mark.parametrize(("answer", "text"), NONSENSE)
async def test_answers_that_are_not(registry, caplog, answer, text):
    """Anything else: warn with the hook's name and count it as `continue`."""
    registry.register(PRE, returns(answer), name="odd")
    result = await registry.emit(PRE, {"x": 1})
    assert (result.action, result.data["x"]) == ("continue", 1)
    [record] = caplog.records
    assert record.levelname == "WARNING"
    assert f"Hook 'odd' on 'tool:pre' {text}" in record.getMessage()


@pytest.mark.parametrize(("answer", "text"), NONSENSE)
async def test_a_guards_nonsense_denies(registry, answer, text):
    """… unless the hook is registered with `on_error="deny"`."""
    registry.register(PRE, returns(answer), name="odd", on_error="deny")
    result = await registry.emit(PRE, {})
    assert result.action == "deny"
    assert text in result.reason


async def test_a_hook_that_fails_to_build_its_answer_is_a_failed_hook(registry, caplog):
    """A hook that raises while building one is a failed hook, nothing more."""

    async def shouting(event: str, data: Data) -> HookResult:
        return HookResult(action="shout")

    registry.register(PRE, shouting)
    assert (await registry.emit(PRE, {})).action == "continue"
    assert "Hook 'shouting' failed on 'tool:pre': ValidationError" in caplog.text


async def test_a_failing_hook_is_logged_with_its_traceback(registry, caplog):
    """Log with traceback, go on."""
    seen = EventRecorder()
    registry.register(PRE, raises(ValueError("boom")), name="broken")
    registry.register(PRE, seen)
    result = await registry.emit(PRE, {})
    assert (result.action, len(seen.events)) == ("continue", 1)
    assert "Hook 'broken' failed on 'tool:pre': ValueError: boom" in caplog.messages[0]
    assert "Traceback" in caplog.text


async def test_an_exception_that_cannot_be_printed(registry, caplog):
    class Rude(Exception):
        def __str__(self) -> str:
            raise ValueError("no")

    registry.register(PRE, raises(Rude()), name="rude", on_error="deny")
    result = await registry.emit(PRE, {})
    assert result.reason == "hook 'rude' failed and fails closed: Rude"


async def test_every_kind_of_handler_answers(registry):
    """Any callable that returns a `HookResult` or an awaitable of one."""

    class Awaitable:
        def __await__(self):
            yield from asyncio.sleep(0).__await__()
            return HookResult(action="modify", data={"by": "awaitable"})

    class Object:
        async def __call__(self, event: str, data: Data) -> HookResult:
            return HookResult(action="modify", data={**data, "and": "object"})

    registry.register(PRE, lambda event, data: Awaitable())
    registry.register(PRE, Object())
    registry.register(PRE, lambda event, data: HookResult())
    registry.register(PRE, lambda event, data: asyncio.ensure_future(returns(None)(event, data)))
    result = await registry.emit(PRE, {})
    assert {key: result.data[key] for key in ("by", "and")} == {"by": "awaitable", "and": "object"}


class TestCollecting:
    """The `data` of each result that has some, in execution order."""

    async def test_data_in_order(self, registry):
        registry.register(PRE, says(data={"n": 2}), priority=2)
        registry.register(PRE, says(data={"n": 1}), priority=1)
        registry.register(PRE, says())
        registry.register(PRE, says("deny"))
        assert await registry.emit_and_collect(PRE, {}) == [{"n": 1}, {"n": 2}]

    async def test_slow_and_failing_hooks_are_skipped(self, registry, caplog):
        """A handler that times out or fails is skipped."""

        async def slow(event: str, data: Data) -> HookResult:
            await asyncio.sleep(10)
            return HookResult(data={"late": True})

        registry.register(PRE, slow, name="slow", timeout=0.01)
        registry.register(PRE, raises(ValueError("x")), on_error="deny")
        registry.register(PRE, returns("text"))
        registry.register(PRE, says(data={"n": 1}))
        assert await registry.emit_and_collect(PRE, {}, timeout=5) == [{"n": 1}]
        assert (
            "Hook 'slow' failed on 'tool:pre': HookTimeout: took longer than 0.01 s" in caplog.text
        )

    async def test_the_question_is_the_same_for_all(self, registry):
        async def meddler(event: str, data: Data) -> HookResult:
            data["x"].append(1)
            return HookResult(action="modify", data=data)

        seen = EventRecorder()
        registry.register(PRE, meddler)
        registry.register(PRE, seen)
        given = {"x": []}
        assert (await registry.emit_and_collect(PRE, given))[0]["x"] == [1]
        assert given == {"x": []}
        assert seen.events[0][1]["x"] == []

    @pytest.mark.parametrize("timeout", [0, -1, float("nan")])
    async def test_a_limit_is_checked(self, registry, timeout):
        with pytest.raises(ValueError, match="positive and finite"):
            await registry.emit_and_collect(PRE, {}, timeout=timeout)


class TestTheCarriedDispatch:
    async def test_results_compare_copy_and_dump_without_it(self, registry):
        registry.register(PRE, says("deny", reason="no"))
        result = await registry.emit(PRE, {})
        assert result == HookResult(action="deny", reason="no")
        assert "_dispatch" not in result.model_dump()
        assert "_dispatch" not in repr(result)
        assert dispatch_of(copy.deepcopy(result)) is dispatch_of(result)
        assert isinstance(dispatch_of(result), Dispatch)
        travelled = pickle.loads(pickle.dumps(result))
        assert (travelled.reason, dispatch_of(travelled)) == ("no", None)

    async def test_a_copy_with_another_action_is_another_answer(self, registry):
        registry.register(PRE, injects("x"))
        result = await registry.emit(PRE, {})
        assert dispatch_of(result) is not None
        assert dispatch_of(result.model_copy(update={"action": "deny"})) is None
        assert dispatch_of(CONTINUE) is None


async def test_a_thousand_emits_at_once(registry):
    """1,000 concurrent emits: each has its own data, in its own order."""

    async def slow(event: str, data: Data) -> HookResult:
        await asyncio.sleep(data["n"] % 7 / 1000)
        return HookResult(action="modify", data={**data, "list": [*data["list"], data["n"]]})

    async def meddler(event: str, data: Data) -> HookResult:
        data["list"].append("leak")
        await asyncio.sleep(0)
        return HookResult()

    for handler in (slow, meddler, slow):
        registry.register(PRE, handler)
    given = [{"n": n, "list": []} for n in range(1000)]
    results = await asyncio.gather(*(registry.emit(PRE, data) for data in given))
    assert [result.data["list"] for result in results] == [[n, n] for n in range(1000)]
    assert all(data["list"] == [] for data in given)


async def test_frozen_and_interned():
    """Results are frozen, so interning the usual one is a way."""
    assert HookResult(action="continue") is HookResult()
    assert HookResult() == HookResult.model_validate({"action": "continue"})
    with pytest.raises(ValueError, match="frozen"):
        HookResult().action = "deny"
    assert HookResult(whatever=1).action == "continue"
