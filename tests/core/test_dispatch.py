"""Emitting: what hooks get, what the caller gets back."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type, call-overload"

from __future__ import annotations

import asyncio
import copy
import enum
import itertools
import pickle
import time
from typing import Any

import pytest

from amplifier_core.approval import ApprovalAnswer
from amplifier_core.dispatch import MAX_DEPTH, Dispatch, find_dispatch
from amplifier_core.errors import HookDepthExceeded, HookTimeout
from amplifier_core.hooks import HookHandler, HookRegistry
from amplifier_core.models import CONTINUE, HookResult
from amplifier_core.precedence import list_injections
from amplifier_core.testing import EventRecorder, MemoryAudit, ScriptedApproval
from tests.support.harness import Harness
from tests.support.hooks import PRE, Data, asks, injects, modifies, raises, returns, says


@pytest.fixture
def registry() -> HookRegistry:
    return HookRegistry()


@pytest.mark.parametrize("guard", [False, True])
async def test_modify_cannot_change_time_or_session(registry, guard):
    """When and in which session an event happened is not a hook's to say."""
    on_error = "deny" if guard else "continue"
    registry.register(PRE, modifies(timestamp="x", session_id="other"), on_error=on_error)
    result = await registry.emit(PRE, {"session_id": "mine"})
    assert result.data["session_id"] == "mine"
    assert result.data["timestamp"].startswith("2")
    bare = await registry.emit(PRE, {})
    assert "session_id" not in bare.data


async def test_a_chain_of_modify_is_continue_with_the_final_data(registry):
    """Each hook builds on the one before."""
    for value in range(3):
        registry.register(PRE, modifies(**{f"k{value}": value}))
    result = await registry.emit(PRE, {})
    assert result.action == "continue"
    assert [result.data[f"k{value}"] for value in range(3)] == [0, 1, 2]


class Unstable(str):
    """Never where a dict looks for it."""

    def __hash__(self):
        return next(NUMBERS)


class Raising(str):
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        raise ValueError("compared")


NUMBERS = itertools.count()
ODD_KEYS = [3, None, (1, 2), Unstable("x"), Raising("x")]


@pytest.mark.parametrize("value", [1, {"a": 1}, [{}], object()])
@pytest.mark.parametrize("form", [dict, type("Odd", (dict,), {})])
@pytest.mark.parametrize("key", ODD_KEYS, ids=lambda key: type(key).__name__)
async def test_a_change_with_a_key_that_is_no_text_is_a_failure_of_its_hook(key, form, value):
    """A result made past its validation stops no event: a guard denies, others are passed over."""

    async def change(event, data):
        odd = form({**data, key: value})
        return HookResult.model_construct(action="modify", data=odd)

    harness = Harness()
    harness.hooks.register(PRE, change, name="odd")
    harness.hooks.register(PRE, modifies(after=1))
    result = await harness.run(PRE, tool_name="Read")
    assert result.data["tool_name"] == "Read"
    assert result.data["after"] == 1
    assert ["data that cannot be used" in text for text, *_ in harness.screen.messages] == [True]
    harness.hooks.register(PRE, change, name="guard", on_error="deny")
    denied = await harness.run(PRE, tool_name="Read")
    assert denied.action == "deny"
    assert "data that cannot be used" in denied.reason


@pytest.mark.parametrize("louder", [asks(), injects("text")])
@pytest.mark.parametrize("position", [0, 1])
async def test_what_a_redactor_changed_survives(registry, louder, position):
    """A question or an injection of another hook does not bring the secret back."""
    registry.register(PRE, louder, priority=position)
    registry.register(PRE, modifies(secret="[gone]"), priority=1 - position)
    result = await registry.emit(PRE, {"secret": "hunter2"})
    assert result.data["secret"] == "[gone]"
    assert result.action != "continue"


async def test_deny_carries_what_the_denying_hook_gave(registry):
    """Not what other hooks had made of the data; nobody runs after it."""
    registry.register(PRE, modifies(x=1))
    registry.register(PRE, says("deny", reason="no", data={"why": "x"}))
    after = EventRecorder()
    registry.register(PRE, after)
    result = await registry.emit(PRE, {})
    assert (result.action, result.reason, result.data) == ("deny", "no", {"why": "x"})
    assert after.events == []


async def test_several_questions_keep_the_first_and_all(registry):
    """The caller sees one question; behind it every answer is kept."""
    registry.register(PRE, asks("second?"), priority=2)
    registry.register(PRE, asks("first?"), priority=1)
    registry.register(PRE, injects("found"), priority=3)
    result = await registry.emit(PRE, {})
    assert result.approval_prompt == "first?"
    assert [one.result.action for one in find_dispatch(result).answers] == [
        "ask_user", "ask_user", "inject_context",
    ]  # fmt: skip


async def test_injections_are_joined_in_execution_order(registry):
    """Whatever order they were registered in."""
    many = [{"content": "two"}, {"content": "", "role": "user"}, {"content": "three"}]
    registry.register(PRE, injects("four", context_injection_role="user"), priority=2)
    registry.register(PRE, injects("one", context_injections=many), priority=1)
    result = await registry.emit(PRE, {})
    assert result.context_injection == "one\n\ntwo\n\nthree\n\nfour"
    assert result.context_injection_role == "system"
    assert [(one.content, one.role, one.event) for one in result.context_injections] == [
        ("one", "system", PRE),
        ("two", "system", PRE),
        ("three", "system", PRE),
        ("four", "user", PRE),
    ]
    assert [one.content for one in list_injections(result)] == ["one", "two", "three", "four"]


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        (None, "continue"),
        ({"action": "deny", "reason": "dict"}, "deny"),
        ({}, "continue"),
        ({"action": "continue"}, "continue"),
        (HookResult.model_validate({}), "continue"),
    ],
)
async def test_answers_that_are_understood(registry, caplog, answer, action):
    """A dict of its fields will do, and silence says nothing."""
    registry.register(PRE, returns(answer))
    assert (await registry.emit(PRE, {})).action == action
    assert caplog.messages == []


NONSENSE = [
    ("text", "returned str, not a HookResult"),
    ({"action": "shout"}, "returned a dict that is not a HookResult"),
    ({1: 2}, "returned a dict that is not a HookResult"),
    (HookResult(action="modify"), "answered 'modify' without a dict in data"),
    (HookResult.model_construct(action="shout"), "answered the unknown action 'shout'"),
    (42, "returned int, not a HookResult"),
    ([HookResult(action="deny")], "returned list, not a HookResult"),
]


@pytest.mark.parametrize(("answer", "text"), NONSENSE)
async def test_answers_that_are_not(registry, caplog, answer, text):
    """The author is warned by name; the operation goes on."""
    registry.register(PRE, returns(answer), name="odd")
    result = await registry.emit(PRE, {"x": 1})
    assert (result.action, result.data["x"]) == ("continue", 1)
    [record] = caplog.records
    assert record.levelname == "WARNING"
    assert f"Hook 'odd' on 'tool:pre' {text}" in record.getMessage()


@pytest.mark.parametrize(("answer", "text"), NONSENSE)
async def test_a_guards_nonsense_denies(registry, caplog, answer, text):
    """A guard that cannot be understood did not allow, and the log does not say otherwise."""
    registry.register(PRE, returns(answer), name="odd", on_error="deny")
    result = await registry.emit(PRE, {})
    assert result.action == "deny"
    assert text in result.reason
    assert "\n" not in result.reason
    [message] = caplog.messages
    assert message.endswith("; as it is a guard, this is denied")


async def test_a_hook_that_fails_to_build_its_answer_is_a_failed_hook(registry, caplog):
    """A misspelt action crashes its own hook only."""

    async def shouting(event: str, data: Data) -> HookResult:
        return HookResult(action="shout")

    registry.register(PRE, shouting)
    assert (await registry.emit(PRE, {})).action == "continue"
    assert "Hook 'shouting' failed on 'tool:pre': ValidationError" in caplog.text
    registry.register(PRE, shouting, name="guard", on_error="deny")
    denied = await registry.emit(PRE, {})
    assert denied.reason.startswith(
        "hook 'guard' failed and fails closed: ValidationError: action:"
    )
    assert "\n" not in denied.reason


async def test_a_failing_hook_is_logged_with_its_traceback(registry, caplog):
    """And the hooks after it run."""
    seen = EventRecorder()
    registry.register(PRE, raises(ValueError("boom")), name="broken")
    registry.register(PRE, seen)
    result = await registry.emit(PRE, {})
    assert (result.action, len(seen.events)) == ("continue", 1)
    assert "Hook 'broken' failed on 'tool:pre': ValueError: boom" in caplog.messages[0]
    assert "Traceback" in caplog.text


async def test_the_log_has_one_traceback_of_each_kind_of_failure(registry, caplog):
    """Each failure is logged; a hook that fails at every call does not fill the log."""
    errors = iter([ValueError("one"), ValueError("two"), OSError("three"), ValueError("four")])

    def fail(event, data):
        raise next(errors)

    registry.register(PRE, fail, name="broken")
    for _ in range(4):
        await registry.emit(PRE, {})
    assert [bool(one.exc_info) for one in caplog.records] == [True, False, True, False]
    assert caplog.messages[-1] == "Hook 'broken' failed on 'tool:pre': ValueError: four"


async def test_an_exception_that_cannot_be_printed(registry, caplog):
    class Rude(Exception):
        def __str__(self) -> str:
            raise ValueError("no")

    registry.register(PRE, raises(Rude()), name="rude", on_error="deny")
    result = await registry.emit(PRE, {})
    assert result.reason == "hook 'rude' failed and fails closed: Rude"


async def test_every_kind_of_handler_answers(registry):
    """Plain, async, awaitable or a task: what counts is the answer."""

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


class TestTheCarriedDispatch:
    async def test_results_compare_copy_and_dump_without_it(self, registry):
        registry.register(PRE, says("deny", reason="no"))
        result = await registry.emit(PRE, {})
        assert result == HookResult(action="deny", reason="no", context_injections=[])
        assert "_dispatch" not in result.model_dump()
        assert "_dispatch" not in repr(result)
        assert repr(result).startswith("HookResult(action='deny'")
        assert find_dispatch(copy.deepcopy(result)) is find_dispatch(result)
        assert isinstance(find_dispatch(result), Dispatch)
        travelled = pickle.loads(pickle.dumps(result))
        assert (travelled.reason, find_dispatch(travelled)) == ("no", None)

    async def test_a_copy_with_another_action_is_another_answer(self, registry):
        registry.register(PRE, injects("x"))
        result = await registry.emit(PRE, {})
        assert find_dispatch(result) is not None
        assert find_dispatch(result.model_copy(update={"action": "deny"})) is None
        assert find_dispatch(CONTINUE) is None


async def sleeping(event: str, data: Data) -> HookResult:
    await asyncio.sleep(60)
    return HookResult()


async def blocking(event: str, data: Data) -> HookResult:
    until = time.monotonic() + 0.03
    while time.monotonic() < until:
        pass
    return HookResult()


def blocking_plainly(event: str, data: Data) -> HookResult:
    time.sleep(0.03)
    return HookResult()


async def swallowing(event: str, data: Data) -> HookResult:
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        await asyncio.sleep(0)
    return HookResult()


async def deep(event: str, data: Data) -> HookResult:
    return await deep(event, data)


async def cancelling_itself(event: str, data: Data) -> HookResult:
    inner = asyncio.ensure_future(asyncio.sleep(60))
    inner.cancel()
    await inner
    return HookResult()


def interrupted(kind: type[BaseException]):
    async def hook(event: str, data: Data) -> HookResult:
        raise kind

    return hook


FAILURES = {
    "Exception": raises(Exception("x")),
    "ValueError": raises(ValueError("x")),
    "CancelledError": raises(asyncio.CancelledError()),
    "inner CancelledError": cancelling_itself,
    "RecursionError": deep,
    "MemoryError": raises(MemoryError()),
    "TimeoutError": raises(TimeoutError("its own")),
    "StopAsyncIteration": raises(StopAsyncIteration()),
    "string": returns("allow"),
    "unknown action": returns({"action": "allow"}),
    "modify without data": returns(HookResult(action="modify")),
    "sleeps": sleeping,
    "blocks": blocking,
    "blocks plainly": blocking_plainly,
    "swallows": swallowing,
}


POSITIONS = {"first": -5, "middle": 0, "last": 5}


def surrounded(registry: HookRegistry, failing, position: int, on_error: str) -> EventRecorder:
    seen = EventRecorder()
    registry.register(PRE, says(), priority=-1)
    registry.register(PRE, modifies(x=1), priority=1)
    registry.register(PRE, seen, priority=9)
    registry.register(
        PRE, failing, priority=position, name="failing", on_error=on_error, timeout=0.02
    )
    return seen


@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
@pytest.mark.parametrize("kind", FAILURES)
class TestTheMatrix:
    """Each way to fail, at each place in the chain: a guard denies, an observer is passed over."""

    async def test_a_guard_denies(self, registry, kind, position):
        surrounded(registry, FAILURES[kind], position, "deny")
        result = await registry.emit(PRE, {"x": 0})
        assert result.action == "deny"
        assert result.reason.startswith("hook 'failing' failed and fails closed: ")

    async def test_an_observer_does_not(self, registry, kind, position):
        seen = surrounded(registry, FAILURES[kind], position, "continue")
        result = await registry.emit(PRE, {"x": 0})
        assert (result.action, result.data["x"]) == ("continue", 1)
        assert len(seen.events) == 1


@pytest.mark.parametrize("on_error", ["deny", "continue"])
async def test_none_is_continue_for_guards_too(registry, on_error):
    """A guard with no objection need not say so."""
    registry.register(PRE, returns(None), on_error=on_error)
    assert (await registry.emit(PRE, {})).action == "continue"


@pytest.mark.parametrize("on_error", ["deny", "continue"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_interrupts_are_never_swallowed(kind, on_error):
    """Ctrl-C ends the program, not the hook."""
    registry = HookRegistry()
    registry.register(PRE, interrupted(kind), on_error=on_error)
    with pytest.raises(kind):
        asyncio.run(registry.emit(PRE, {}))


async def test_a_thousand_failures_disable_no_guard(registry):
    """However often it failed, it is asked again and denies again."""

    async def failing(event: str, data: Data) -> HookResult:
        raise ValueError("x")

    registry.register(PRE, failing, on_error="deny")
    for _ in range(1000):
        assert (await registry.emit(PRE, {})).action == "deny"


class TestTimeLimits:
    async def test_a_late_guard_says_so(self, registry):
        """Too late is failed; the reason says who and how late."""
        registry.register(PRE, sleeping, name="slow", on_error="deny", timeout=0.01)
        result = await registry.emit(PRE, {})
        assert result.reason == (
            "hook 'slow' failed and fails closed: HookTimeout: took longer than 0.01 s"
        )

    async def test_its_own_timeout_error_is_not_ours(self, registry):
        registry.register(PRE, raises(TimeoutError("its own")), on_error="deny", timeout=5)
        run = await registry.dispatch(PRE, {})
        assert not run.all_answers[0].timed_out
        assert "TimeoutError: its own" in run.all_answers[0].result.reason

    async def test_the_dispatch_knows_who_was_late(self, registry):
        registry.register(PRE, sleeping, timeout=0.01)
        run = await registry.dispatch(PRE, {})
        assert run.all_answers[0].timed_out
        assert isinstance(run.all_answers[0].error, HookTimeout)

    async def test_a_hook_in_time_answers(self, registry):
        registry.register(PRE, says("deny", reason="in time"), timeout=5)
        assert (await registry.emit(PRE, {})).reason == "in time"
        assert (await HookHandler(says("deny"), timeout=5).execute(PRE, {})).action == "deny"

    async def test_a_hook_that_never_stops_is_left_behind(self, registry, caplog):
        ends = asyncio.Event()

        async def stubborn(event: str, data: Data) -> HookResult:
            while not ends.is_set():
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    continue
            return HookResult()

        registry.register(PRE, stubborn, on_error="deny", timeout=0.01)
        started = time.monotonic()
        assert (await registry.emit(PRE, {})).action == "deny"
        assert time.monotonic() - started < 40
        assert "ignores its cancellation and is left behind" in caplog.text
        ends.set()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
            await task

    async def test_no_task_stays(self, registry):
        registry.register(PRE, sleeping, timeout=0.01)
        registry.register(PRE, swallowing, timeout=0.01)
        await registry.emit(PRE, {})
        assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("timeout", [None, 30])
@pytest.mark.parametrize("on_error", ["deny", "continue"])
async def test_cancellation_goes_through(registry, timeout, on_error):
    """A cancelled caller does not wait for its hooks, and no task of theirs is left."""
    started, ended = asyncio.Event(), asyncio.Event()

    async def waiting(event: str, data: Data) -> HookResult:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return HookResult()

    after = EventRecorder()
    registry.register(PRE, waiting, timeout=timeout, on_error=on_error)
    registry.register(PRE, after)
    task = asyncio.ensure_future(registry.emit(PRE, {}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
    assert after.events == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_deadline_around_an_emit_holds(registry):
    registry.register(PRE, sleeping, on_error="deny")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await registry.emit(PRE, {})


async def test_the_dispatch_knows_who_failed_and_what_had_no_effect(registry):
    """A failure every time, advice once."""
    registry.register(PRE, raises(ValueError("torn")), name="broken")
    registry.register(PRE, says("ask_user"), name="vague")
    for expected in (
        [("broken", "torn", False), ("vague", "None", True)],
        [("broken", "torn", False)],
    ):
        run = await registry.dispatch(PRE, {})
        told = [(one.handler.name, str(one.error), bool(one.advice)) for one in run.problems]
        assert told == expected


async def test_the_answers_end_with_the_one_who_denied(registry):
    """Whoever stands behind was not asked."""
    for name, hook in (("one", says()), ("two", says("deny", reason="no")), ("three", says())):
        registry.register(PRE, hook, name=name)
    run = await registry.dispatch(PRE, {})
    assert [answer.hook for answer in run.all_answers] == ["one", "two"]


@pytest.mark.parametrize(("on_error", "action"), [("continue", "continue"), ("deny", "deny")])
async def test_a_hook_that_cancels_itself_has_failed(registry, on_error, action):
    """Nobody wanted the emit to end."""
    registry.register(PRE, raises(asyncio.CancelledError()), on_error=on_error)
    assert (await registry.emit(PRE, {})).action == action


async def test_of_those_who_are_not_asked_again_what_they_said_stands():
    """A failure is something said, silence is not."""
    harness = Harness(approval=ScriptedApproval("Allow"))
    harness.hooks.register(PRE, raises(ValueError("torn")), name="broken")
    harness.hooks.register(PRE, says(), name="silent")
    harness.hooks.register(PRE, asks(), name="asker")
    outcome = await harness.judge(PRE, tool_name="Write", tool_input={})
    assert outcome.allowed
    assert [(one.hook, one.error is None) for one in outcome.answers] == [
        ("broken", False),
        ("asker", True),
    ]


def test_a_plain_function_alone_answers(registry):
    """A hook that is not async is called, also where all others would be."""
    registry.register(PRE, lambda event, data: HookResult(action="deny", reason="plain"))
    result = asyncio.run(registry.emit(PRE, {}))
    assert (result.action, result.reason) == ("deny", "plain")


async def test_a_hook_alone_is_told_the_name_that_it_listens_to(registry):
    """Whichever of the two spellings of an event is emitted."""
    told = []

    async def listens(event: str, data: Data) -> None:
        told.append(event)

    registry.register("error:tool", listens)
    await registry.emit("tool:error", {})
    await registry.emit("error:tool", {})
    assert told == ["error:tool", "error:tool"]


class TestDepth:
    """A hook that emits its own event comes to an end."""

    def nesting(self, registry: HookRegistry, event: str = PRE):
        depths = []

        async def nested(name: str, data: Data) -> HookResult:
            depths.append(data["n"])
            return await registry.emit(event, {"n": data["n"] + 1})

        return nested, depths

    async def test_a_hook_that_emits_its_own_event(self, registry, caplog):
        nested, depths = self.nesting(registry)
        registry.register(PRE, nested)
        result = await registry.emit(PRE, {"n": 1})
        assert result.action == "continue"
        assert depths == list(range(1, MAX_DEPTH + 1))
        assert "was emitted 16 emits deep; at most 16" in caplog.text

    async def test_two_that_emit_each_others(self, registry):
        first, depths = self.nesting(registry, "tool:post")
        second, more = self.nesting(registry, PRE)
        registry.register(PRE, first)
        registry.register("tool:post", second)
        await registry.emit(PRE, {"n": 1})
        assert len(depths) + len(more) == MAX_DEPTH

    async def test_a_guard_at_the_limit_denies(self, registry):
        nested, depths = self.nesting(registry)
        registry.register(PRE, nested, name="guard", on_error="deny")
        result = await registry.emit(PRE, {"n": 1})
        assert result.action == "deny"
        assert "HookDepthExceeded" in result.reason
        assert depths == list(range(1, MAX_DEPTH + 1))

    async def test_collecting_counts_too(self, registry):
        errors = []

        async def nested(event: str, data: Data) -> HookResult:
            try:
                await registry.emit_and_collect(PRE, data, timeout=5)
            except HookDepthExceeded as error:
                errors.append(error)
            return HookResult()

        registry.register(PRE, nested)
        await registry.emit(PRE, {})
        assert len(errors) == 1

    async def test_the_limit_is_of_one_stack(self, registry):
        async def wide(event: str, data: Data) -> HookResult:
            if data["top"]:
                await asyncio.gather(*(registry.emit(PRE, {"top": False}) for _ in range(50)))
            return HookResult()

        registry.register(PRE, wide, on_error="deny")
        for _ in range(20):
            assert (await registry.emit(PRE, {"top": True})).action == "continue"


class TestInParallel:
    """Observers that opted in run side by side after all others, and decide nothing."""

    async def test_they_wait_for_one_another_and_see_the_final_data(self, registry):
        """One after another they would wait for ever: they cost the time of the slowest."""
        meeting, seen = asyncio.Barrier(3), []

        async def meet(event: str, data: Data) -> None:
            async with asyncio.timeout(30):
                await meeting.wait()
            seen.append(data["x"])
            data["x"] = "not for anybody else"

        for _ in range(3):
            registry.register(PRE, meet, -5, parallel=True)
        registry.register(PRE, modifies(x=2), 9)
        result = await registry.emit(PRE, {"x": 1})
        assert (result.action, result.data["x"], seen) == ("continue", 2, [2, 2, 2])

    @pytest.mark.parametrize("action", ["deny", "modify", "inject_context", "ask_user"])
    async def test_what_they_answer_has_no_effect(self, registry, action, caplog):
        """Their author is told, once."""
        registry.register(PRE, says(action, data={"x": 2}), name="o", parallel=True)
        for _ in range(2):
            result = await registry.emit(PRE, {"x": 1})
            assert (result.action, result.data["x"]) == ("continue", 1)
        assert [one.message for one in caplog.records] == [
            f"Hook 'o' on 'tool:pre' answered '{action}', which has no effect: "
            "with parallel=True it only observes"
        ]

    async def test_one_that_fails_or_is_late_leaves_the_others_alone(self, registry, caplog):
        heard = []

        async def late(event: str, data: Data) -> None:
            await asyncio.sleep(60)

        registry.register(PRE, raises(ValueError("x")), name="f", parallel=True)
        registry.register(PRE, late, name="late", parallel=True, timeout=0.01)
        registry.register(PRE, lambda event, data: heard.append(event), parallel=True)
        run = await registry.dispatch(PRE, {})
        assert [(one.hook, one.timed_out) for one in run.answers] == [("f", False), ("late", True)]
        assert heard == [PRE]
        assert "Hook 'f' failed on 'tool:pre': ValueError: x" in caplog.text

    async def test_a_denied_event_does_not_reach_them(self, registry):
        """Nothing that comes after a deny runs."""
        heard = []
        registry.register(PRE, lambda event, data: heard.append(event), parallel=True)
        registry.register(PRE, says("deny"))
        assert (await registry.emit(PRE, {})).action == "deny"
        assert heard == []

    async def test_cancelling_goes_through(self, registry):
        """And stops them."""
        began, stopped = asyncio.Event(), []

        async def wait(event: str, data: Data) -> None:
            began.set()
            try:
                await asyncio.sleep(60)
            finally:
                stopped.append(event)

        registry.register(PRE, wait, parallel=True)
        task = asyncio.ensure_future(registry.emit(PRE, {}))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert stopped == [PRE]

    async def test_collecting_asks_them_and_leaves_out_what_they_say(self, registry):
        heard = []

        async def tell(event: str, data: Data) -> HookResult:
            heard.append(event)
            return HookResult(data={"choice": 1})

        registry.register(PRE, tell, parallel=True)
        assert await registry.emit_and_collect(PRE, {}) == []
        assert heard == [PRE]

    @pytest.mark.parametrize("edited", [None, {"path": "other"}])
    async def test_after_a_wait_they_see_what_is_new_to_them(self, edited):
        """An operation that is as it was is not told of twice."""
        answer = ApprovalAnswer("Allow", edited_input=edited)
        harness, heard = Harness(approval=ScriptedApproval(answer)), []

        async def observe(event: str, data: Data) -> None:
            heard.append((data["tool_input"], data.get("judged_again")))

        harness.hooks.register(PRE, asks())
        harness.hooks.register(PRE, observe, parallel=True)
        assert (await harness.pre(path="a")).action == "continue"
        assert heard == [({"path": "a"}, None)] + ([] if edited is None else [(edited, None)])

    async def test_what_they_print_is_kept_apart_and_timed(self):
        """Though they run at the same time, and whoever else looks on sees one at a time."""
        meeting, watched = asyncio.Barrier(2), []
        harness = Harness(audit=MemoryAudit(level="full"))

        class Watch:
            def begin(self, handler: HookHandler) -> None:
                watched.append(handler.name)

            def end(self, handler: HookHandler) -> None:
                watched.append(handler.name)

        def says_its(name: str) -> Any:
            async def hook(event: str, data: Data) -> None:
                print(name, 1)  # noqa: T201
                async with asyncio.timeout(30):
                    await meeting.wait()
                print(name, 2)  # noqa: T201

            return hook

        harness.coordinator.watch_hooks(Watch)
        harness.hooks.register(PRE, says_its("a"), name="a", parallel=True)
        harness.hooks.register(PRE, says_its("b"), name="b", parallel=True)
        harness.hooks.register(PRE, says(), name="c")
        await harness.pre()
        assert sorted(harness.shown) == [
            ("a 1\na 2", "info", "hook:a"), ("b 1\nb 2", "info", "hook:b"),
        ]  # fmt: skip
        assert len(harness.bodies("hook_finished")) == 3
        assert watched == ["c", "c"]

    def test_a_guard_cannot_be_one(self, registry):
        """It decides; and the option is yes or no."""
        with pytest.raises(ValueError, match="cannot run with parallel=True"):
            registry.register(PRE, says(), on_error="deny", parallel=True)
        with pytest.raises(TypeError, match="parallel must be True or False, got 'yes'"):
            registry.register(PRE, says(), parallel="yes")
        registry.register(PRE, parallel=True)(says())
        assert registry.handlers_for(PRE)[0].parallel


@pytest.mark.parametrize("hooks", [1, 3])
@pytest.mark.parametrize("more", [{}, {"user_message": "m"}, {"ephemeral": True}])
async def test_a_folded_change_tells_which_fields_were_given(registry, hooks, more):
    """Those of the answer that stands for all, and those that folding filled, whoever asks."""
    for number in range(hooks):
        told = more if number == 0 else {"reason": "another"}
        registry.register(PRE, returns(HookResult(action="modify", data={"n": number}, **told)))
    given = {"action", "data", "context_injections", *more}
    for ask in (
        lambda result: result.model_fields_set,
        lambda result: set(result.model_dump(exclude_unset=True)),
        lambda result: copy.copy(result).model_fields_set,
        lambda result: copy.deepcopy(result).model_fields_set,
        lambda result: pickle.loads(pickle.dumps(result)).model_fields_set,
    ):
        assert ask(await registry.emit(PRE, {})) == given
    one, other = await registry.emit(PRE, {}), await registry.emit(PRE, {})
    one.model_fields_set.clear()
    assert other.model_fields_set == given


class Fields(dict):
    """A dict of another kind, which no constructor lets through."""


@pytest.mark.parametrize(
    "answer",
    [
        {"action": "modify", "data": {"a": 2, "timestamp": "later"}},
        HookResult.model_construct(action="modify", data=Fields(a=2, session_id="theirs")),
    ],
)
async def test_a_change_in_another_form_is_the_same_change(registry, answer):
    """Adopted, pinned and counted; the next hook and the caller have it."""
    seen = []
    registry.register(PRE, returns(answer), name="changes")
    registry.register(PRE, lambda event, data: seen.append(data["a"]))
    result = await registry.emit(PRE, {"a": 1})
    assert (result.action, result.data["a"], seen) == ("continue", 2, [2])
    assert set(result.data) == {"a", "timestamp"}
    assert result.data["timestamp"] != "later"
    assert type(result.data) is dict
    assert registry.count()["changes"].answers == {"modify": 1}


class Field(enum.StrEnum):
    """Names of fields, as an author may write them down."""

    NOTE = "note"


async def test_a_member_of_an_enum_of_texts_names_a_field() -> None:
    """Also in a result that was made past its validation, which would make a plain text of it."""

    async def change(event: str, data: Data) -> HookResult:
        changed = {**data, Field.NOTE: [1]}
        return HookResult().model_copy(update={"action": "modify", "data": changed})

    harness = Harness()
    harness.hooks.register(PRE, change)
    result = await harness.run(PRE, tool_name="Read")
    assert result.data["note"] == [1]
    assert harness.screen.messages == []
