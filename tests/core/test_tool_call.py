"""The one path of a tool call: what a person approved runs unchanged, or nothing does."""

from __future__ import annotations

import asyncio
import sys
import time
from contextvars import Context
from types import SimpleNamespace
from typing import Any, get_type_hints

import pytest

from amplifier_core import payloads
from amplifier_core.answers import Outcome
from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.message_models import ToolCall
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.payloads import ToolPreData
from amplifier_core.records import DenialContradicted
from amplifier_core.testing import (
    EventRecorder,
    MemoryAudit,
    MemoryContext,
    MockTool,
    ScriptedApproval,
)
from amplifier_core.tool_call import (
    after_failure,
    after_tool,
    before_tool,
    call_tool,
    record_denial_contradicted,
)
from tests.support.hooks import injects, modifies, says
from tests.support.sessions import SessionHarness, calls
from tests.support.waiting import wait_until

ASK = HookResult(action="ask_user", approval_prompt="run it?", approval_options=["Allow", "Deny"])


async def asking(event: str, data: dict[str, Any]) -> HookResult:
    return ASK


async def test_an_unknown_tool_is_a_result_that_names_the_right_ones() -> None:
    """The model can correct itself."""
    async with SessionHarness(tools=[MockTool("Echo")]) as harness:
        heard = harness.listen()
        result = await harness.session.execute_tool("Wirte", {})
    assert result.error == "Unknown tool 'Wirte'; have Echo"
    assert "tool:error" in heard.names


@pytest.mark.parametrize("audit", [None, MemoryAudit()], ids=["unrecorded", "recorded"])
async def test_a_tool_that_goes_while_its_call_waits_for_room_is_unknown(audit: Any) -> None:
    """Also where nobody listens: it is a result for the model, and stops no turn."""
    limits = {"session": {"limits": {"tool_calls_at_once": 1}}}
    coordinator = SessionCoordinator(config=limits, audit=audit)
    done = asyncio.Event()

    async def wait(given: dict[str, Any]) -> str:
        await done.wait()
        return "done"

    tools: dict[str, Any] = {"Wait": SimpleNamespace(execute=wait), "Gone": MockTool("Gone")}
    first, second = (ToolCall(id=name, name=name, arguments={}) for name in tools)
    under_way = [asyncio.create_task(call_tool(coordinator, one, tools)) for one in (first, second)]
    await asyncio.sleep(0)
    del tools["Gone"]
    done.set()
    waited, gone = await asyncio.gather(*under_way)
    assert waited.output == "done"
    assert not gone.success
    assert "Unknown tool 'Gone'" in str(gone.error)


@pytest.mark.parametrize("event", ["tool:pre", "tool:post"])
async def test_what_hooks_inject_waits_for_the_end_of_a_single_call(event: str) -> None:
    """Nothing may come between a call and its result, whoever called the tool."""
    context = MemoryContext()
    coordinator = SessionCoordinator(context=context)
    coordinator.hooks.register(event, injects("mind the gap"))
    seen: list[int] = []

    def look(given: dict[str, Any]) -> str:
        seen.append(len(context.messages))
        return "done"

    call = ToolCall(id="1", name="Look", arguments={})
    result = await call_tool(coordinator, call, {"Look": SimpleNamespace(execute=look)})
    assert (result.output, seen) == ("done", [0])
    assert "mind the gap" in context.messages[0]["content"]


@pytest.mark.parametrize("audit", [None, MemoryAudit()], ids=["unrecorded", "recorded"])
async def test_a_tool_gets_a_copy_of_what_was_asked_for(audit: Any) -> None:
    """What it does to its input does not change what the conversation says of the call."""

    async def change(given: dict[str, Any]) -> str:
        given["path"]["more"] = "added"
        return "done"

    asked: dict[str, Any] = {"path": {"name": "a"}}
    call = ToolCall(id="1", name="Change", arguments=asked)
    tools = {"Change": SimpleNamespace(execute=change)}
    assert (await call_tool(SessionCoordinator(audit=audit), call, tools)).output == "done"
    assert call.arguments == {"path": {"name": "a"}}


async def test_an_exception_by_which_a_framework_steers_passes() -> None:
    """The caller gets it, the trail says that the call was interrupted, and no tool has failed."""

    class Detour(Exception):
        pass

    def leave(given: dict[str, Any]) -> None:
        raise Detour

    tool = SimpleNamespace(execute=leave, steering=(Detour,))
    audit, heard = MemoryAudit(), EventRecorder()
    coordinator = SessionCoordinator(audit=audit)
    coordinator.hooks.register("tool:error", heard)
    with pytest.raises(Detour):
        await call_tool(coordinator, ToolCall(id="1", name="go", arguments={}), {"go": tool})
    assert audit.of_type("tool_finished")[0]["body"]["outcome"] == "interrupted"
    assert heard.events == []


async def test_every_call_counts_once_whatever_becomes_of_it() -> None:
    """Also one of an unknown tool, and one that is denied."""
    async with SessionHarness(tools=[MockTool("Echo")]) as harness:
        stats = harness.session.stats
        assert stats["tool_invocations"] == 0
        for name in ("Echo", "Unknown", "Echo"):
            await harness.session.execute_tool(name, {})
        harness.hooks.register("tool:pre", EventRecorder(HookResult(action="deny", reason="no")))
        await harness.session.execute_tool("Echo", {})
        assert stats["tool_invocations"] == 4


@pytest.mark.parametrize("failure", [ValueError("bad"), RecursionError("deep"), MemoryError()])
async def test_a_tool_that_raises_tells_tool_error_and_not_tool_post(failure: Exception) -> None:
    """tool:pre → gates → tool → tool:post or tool:error."""
    async with SessionHarness(tools=[MockTool("Broken", failure)]) as harness:
        heard = harness.listen()
        result = await harness.session.execute_tool("Broken", {"a": 1})
    assert not result.success
    assert type(failure).__name__ in (result.error or "")
    assert "tool:error" in heard.names
    assert "tool:post" not in heard.names


@pytest.mark.parametrize(
    ("answer", "output"),
    [("text", "text"), ({"a": 1}, {"a": 1}), (None, None), (ToolResult(output=3), 3)],
)
async def test_what_a_tool_returns_becomes_a_result(answer: Any, output: Any) -> None:
    """A tool may return a plain value."""

    class Plain(MockTool):
        async def execute(self, input: dict[str, Any]) -> Any:
            return answer

    async with SessionHarness(tools=[Plain("Plain")]) as harness:
        result = await harness.session.execute_tool("Plain", {})
    assert (result.success, result.output) == (True, output)


@pytest.mark.parametrize("event", ["tool:pre", "tool:post"])
async def test_a_result_says_by_a_field_that_the_call_was_denied(event: str) -> None:
    """A denial before or after the tool sets `denied`; what a tool writes into `error` does not."""
    failed = ToolResult.failed("Operation denied by a sign on the door")
    async with SessionHarness(tools=[MockTool("Door", failed)]) as harness:
        assert not (await harness.session.execute_tool("Door", {})).denied
        harness.hooks.register(event, EventRecorder(HookResult(action="deny", reason="no")))
        result = await harness.session.execute_tool("Door", {})
    assert (result.success, result.denied) == (False, True)


async def test_changing_the_callers_dict_while_the_person_thinks_changes_nothing() -> None:
    """The call was copied before the question was asked."""
    given = {"file": "harmless"}

    def tamper(question: ApprovalQuestion) -> str:
        given["file"] = "/etc/passwd"
        return "Allow"

    async with SessionHarness(
        tools=[MockTool("Write")], approval=ScriptedApproval(tamper)
    ) as harness:
        harness.hooks.register("tool:pre", asking)
        await harness.session.execute_tool("Write", given)
        assert harness.tools["Write"].calls == [{"file": "harmless"}]


async def test_a_hook_that_kept_its_data_cannot_change_it_later() -> None:
    """It kept a copy."""
    kept: list[dict[str, Any]] = []

    async def keeper(event: str, data: dict[str, Any]) -> HookResult:
        changed = {**data, "tool_input": {"file": "harmless", "deep": {"list": [1]}}}
        kept.append(changed)
        return HookResult(action="modify", data=changed)

    def tamper(question: ApprovalQuestion) -> str:
        kept[0]["tool_input"]["file"] = "/etc/passwd"
        kept[0]["tool_input"]["deep"]["list"].append(2)
        return "Allow"

    async with SessionHarness(
        tools=[MockTool("Write")], approval=ScriptedApproval(tamper)
    ) as harness:
        harness.hooks.register("tool:pre", keeper, priority=1)
        harness.hooks.register("tool:pre", asking, priority=2)
        await harness.session.execute_tool("Write", {})
        assert harness.tools["Write"].calls == [{"file": "harmless", "deep": {"list": [1]}}]


async def test_the_person_sees_the_final_input_even_if_a_later_hook_changed_it() -> None:
    """The question is put when every hook has spoken."""
    person = ScriptedApproval("Allow")

    async def later(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "tool_input": {"file": "final"}})

    async with SessionHarness(tools=[MockTool("Write")], approval=person) as harness:
        harness.hooks.register("tool:pre", asking, priority=1)
        harness.hooks.register("tool:pre", later, priority=2)
        await harness.session.execute_tool("Write", {"file": "first"})
        assert person.questions[0].tool_input == {"file": "final"}
        assert harness.tools["Write"].calls == [{"file": "final"}]


async def test_the_approval_system_cannot_change_what_runs_by_touching_the_question() -> None:
    """The digest of what was shown is compared with what is about to run."""

    def tamper(question: ApprovalQuestion) -> str:
        question.tool_input["file"] = "/etc/passwd"
        return "Allow"

    async with SessionHarness(
        tools=[MockTool("Write")], approval=ScriptedApproval(tamper)
    ) as harness:
        harness.hooks.register("tool:pre", asking)
        result = await harness.session.execute_tool("Write", {"file": "harmless"})
        ran = harness.tools["Write"].calls
    assert ran in ([], [{"file": "harmless"}])
    assert result.success is bool(ran)


@pytest.mark.parametrize("change", ["unmount", "replace"])
async def test_a_tool_that_changed_during_the_wait_does_not_run(change: str) -> None:
    """Gone or replaced, it is not the tool that was approved."""
    other = MockTool("Write")
    async with SessionHarness(tools=[MockTool("Write")]) as harness:

        def swap(question: ApprovalQuestion) -> str:
            tools = harness.coordinator.mount_points["tools"]
            tools.pop("Write") if change == "unmount" else tools.update(Write=other)
            return "Allow"

        harness.coordinator._gate.system = ScriptedApproval(swap)
        harness.hooks.register("tool:pre", asking)
        result = await harness.session.execute_tool("Write", {})
        assert not result.success
        assert other.calls == harness.tools["Write"].calls == []


async def test_a_deny_hook_added_during_the_wait_is_heard() -> None:
    """The person's yes is no word against it."""
    async with SessionHarness(tools=[MockTool("Write")]) as harness:

        def forbid(question: ApprovalQuestion) -> str:
            denial = HookResult(action="deny", reason="new rule")
            harness.hooks.register("tool:pre", EventRecorder(denial), name="late")
            return "Allow"

        harness.coordinator._gate.system = ScriptedApproval(forbid)
        harness.hooks.register("tool:pre", asking)
        result = await harness.session.execute_tool("Write", {})
        assert result.error == "Operation denied by late: new rule"
        assert harness.tools["Write"].calls == []


async def test_edited_input_passes_the_hooks_again_and_is_what_runs() -> None:
    """The guards judge what the person wrote, and the gate does not ask twice."""
    edited = ApprovalAnswer("Allow", by="ann", comment="use b", edited_input={"file": "b"})
    person = ScriptedApproval(edited)
    seen: list[Any] = []

    async def watch(event: str, data: dict[str, Any]) -> None:
        seen.append(data["tool_input"])

    async with SessionHarness(tools=[MockTool("Write")], approval=person) as harness:
        harness.hooks.register("tool:pre", watch, priority=-1)
        harness.hooks.register("tool:pre", asking)
        result = await harness.session.execute_tool("Write", {"file": "a"})
        assert seen == [{"file": "a"}, {"file": "b"}]
        assert str(result.output).startswith("The user allowed this and said: use b\n\n")
        assert harness.tools["Write"].calls == [{"file": "b"}]
    assert len(person.questions) == 1


async def test_edited_input_that_a_guard_denies_does_not_run() -> None:
    """A person who edits cannot write past a guard."""
    person = ScriptedApproval(ApprovalAnswer("Allow", edited_input={"file": "/etc/passwd"}))

    async def guard(event: str, data: dict[str, Any]) -> HookResult:
        if data["tool_input"]["file"].startswith("/etc"):
            return HookResult(action="deny", reason="system file")
        return HookResult(action="continue")

    async with SessionHarness(tools=[MockTool("Write")], approval=person) as harness:
        harness.hooks.register("tool:pre", guard, priority=-1, on_error="deny")
        harness.hooks.register("tool:pre", asking)
        result = await harness.session.execute_tool("Write", {"file": "a"})
        assert result.error == "Operation denied by guard: system file"
        assert harness.tools["Write"].calls == []


async def test_nothing_gated_runs_when_the_trail_cannot_be_written() -> None:
    """A decision that cannot be recorded is not acted on."""
    async with SessionHarness(
        tools=[MockTool("Write")], approval=ScriptedApproval("Allow")
    ) as harness:
        harness.hooks.register("tool:pre", asking)
        harness.trail.fail("the disk is full")
        result = await harness.session.execute_tool("Write", {})
        assert not result.success
        assert "the disk is full" in (result.error or "") or "audit" in (result.error or "")
        assert harness.tools["Write"].calls == []


async def test_the_start_of_a_gated_call_is_durable_before_it_runs() -> None:
    """A crash in the middle leaves a record of what had begun."""
    async with SessionHarness(approval=ScriptedApproval("Allow")) as harness:
        durable: list[str] = []

        class Looks(MockTool):
            async def execute(self, input: dict[str, Any]) -> ToolResult:
                durable.extend(
                    one["type"] for one in harness.trail.records[: harness.trail.durable]
                )
                return ToolResult(output="ok")

        await harness.coordinator.mount("tools", Looks("Looks"))
        harness.hooks.register("tool:pre", asking)
        await harness.session.execute_tool("Looks", {})
    assert {"approval_requested", "approval_decided", "tool_started"} <= set(durable)


async def test_what_a_tool_prints_is_never_taken_for_a_hooks_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Tools' output is never touched, not even when a hook calls a tool."""

    class Prints(MockTool):
        async def execute(self, input: dict[str, Any]) -> ToolResult:
            sys.stdout.write("from the tool\n")
            return ToolResult(output="ok")

    async with SessionHarness(tools=[Prints("Prints")]) as harness:

        async def caller(event: str, data: dict[str, Any]) -> HookResult:
            sys.stdout.write("from the hook\n")
            if event == "prompt:submit":
                await harness.session.execute_tool("Prints", {})
                sys.stdout.write("from the hook again\n")
            return HookResult(action="continue", suppress_output=True)

        harness.hooks.register("prompt:submit", caller)
        await harness.session.execute("x")
    printed = capsys.readouterr().out
    assert "from the tool" in printed
    assert "from the hook" not in printed


@pytest.mark.parametrize(
    ("answer", "outcome", "success"),
    [
        ("fine", "returned", True),
        (ToolResult.failed("no"), "returned", False),
        (ValueError("bad"), "raised", None),
    ],
)
async def test_the_end_of_a_call_is_recorded_with_its_outcome_and_its_time(
    answer: Any, outcome: str, success: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In milliseconds; `tool:post` is told the same."""
    clock: Any = SimpleNamespace(now=1000.0, perf_counter=lambda: clock.now)
    monkeypatch.setattr("amplifier_core.tool_call.time", clock)

    def work(given: dict[str, Any]) -> Any:
        clock.now += 2.5
        if isinstance(answer, Exception):
            raise answer
        return answer

    async with SessionHarness(tools=[MockTool("Works", work)]) as harness:
        heard = harness.listen()
        await harness.session.execute_tool("Works", {})
    (finished,) = harness.trail.of_type("tool_finished")
    body = finished["body"]
    assert (body["outcome"], body.get("success"), body["ms"]) == (outcome, success, 2500)
    told = [data["duration_ms"] for event, data in heard.events if event == "tool:post"]
    assert told == ([] if success is None else [2500])


async def test_a_cancelled_call_is_recorded_and_leaves_nothing_behind() -> None:
    """Neither a task nor a tool that counts as running."""

    class Sleeps(MockTool):
        async def execute(self, input: dict[str, Any]) -> ToolResult:
            await asyncio.sleep(30)
            return ToolResult()

    async with SessionHarness(tools=[Sleeps("Sleeps")]) as harness:
        before = asyncio.all_tasks()
        work = asyncio.create_task(harness.session.execute_tool("Sleeps", {}))
        while not harness.coordinator.cancellation.running_tools:
            await asyncio.sleep(0)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        finished = harness.trail.of_type("tool_finished")
        assert [one["body"]["outcome"] for one in finished] == ["cancelled"]
        assert harness.coordinator.cancellation.running_tools == set()
        assert asyncio.all_tasks() == before


@pytest.mark.parametrize(
    ("answer", "success", "output"),
    [
        ({"success": True, "count": 3}, True, {"success": True, "count": 3}),
        ({"success": False, "error": "no"}, False, None),
        ({"success": True, "output": [1]}, True, [1]),
        ("plain", True, "plain"),
    ],
)
async def test_a_plain_function_may_be_a_tool_and_its_own_fields_are_not_lost(
    answer: Any, success: bool, output: Any
) -> None:
    """A dict of a ToolResult's fields is one; any other dict is the output."""

    class Plain(MockTool):
        def execute(self, input: dict[str, Any]) -> Any:  # type: ignore[override]
            return answer

    async with SessionHarness(tools=[Plain("Plain")]) as harness:
        result = await harness.session.execute_tool("Plain", {})
    assert (result.success, result.output) == (success, output)


async def test_a_tool_that_cancels_itself_has_failed() -> None:
    """The turn goes on with an error for the agent."""

    class Sulking(MockTool):
        async def execute(self, input: dict[str, Any]) -> ToolResult:
            raise asyncio.CancelledError

    async with SessionHarness(
        [calls("Sulking"), {"text": "went on"}], tools=[Sulking("Sulking")]
    ) as harness:
        assert await harness.session.execute("x") == "went on"
        assert harness.texts("tool") == ["the tool cancelled itself"]


async def test_a_hook_that_leaves_no_result_is_told_to_the_agent() -> None:
    """A changed result that is none is a sentence, not the end of the turn."""

    async def spoil(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "tool_result": {"success": "perhaps"}})

    async with SessionHarness(tools=[MockTool("Echo")]) as harness:
        harness.hooks.register("tool:post", spoil)
        result = await harness.session.execute_tool("Echo", {})
    assert str(result.error).startswith("A hook left no usable result: ValidationError")


async def test_a_hook_that_drops_the_tools_name_stops_the_call() -> None:
    """Guards judged a call without a name; it must not run under one."""
    tool = MockTool("Echo")

    async def drop(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={"tool_input": data["tool_input"]})

    async with SessionHarness(tools=[tool]) as harness:
        harness.hooks.register("tool:pre", drop)
        result = await harness.session.execute_tool("Echo", {})
    assert result.error == "Unknown tool 'None'; have Echo"
    assert tool.calls == []


async def test_a_hook_that_leaves_no_input_stops_the_call() -> None:
    """What hooks leave of a call must be a call."""
    tool = MockTool("Echo")

    async def spoil(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "tool_input": "text"})

    async with SessionHarness(tools=[tool]) as harness:
        harness.hooks.register("tool:pre", spoil)
        result = await harness.session.execute_tool("Echo", {})
    assert result.error == "A hook left no usable input for Echo: str"
    assert tool.calls == []


@pytest.mark.parametrize(
    ("level", "gated", "recorded"),
    [
        ("decisions", False, []),
        ("decisions", True, [True]),
        ("normal", False, [False]),
        ("normal", True, [True]),
        ("full", False, [False]),
    ],
)
async def test_the_start_of_a_call_is_recorded(
    level: Any, gated: bool, recorded: list[bool]
) -> None:
    """Of every call, or of those alone that a person had to allow: as the trail's level says."""
    trail, tool = MemoryAudit(level=level), MockTool("Echo")
    board = SessionCoordinator(approval_system=ScriptedApproval("Allow"), audit=trail)
    await board.mount("tools", tool)
    if gated:
        board.hooks.register("tool:pre", asking)
    call = ToolCall(id="7", name="Echo", arguments={"a": 1})
    assert (await call_tool(board, call)).success
    bodies = [record["body"] for record in trail.of_type("tool_started")]
    assert [body["gated"] for body in bodies] == recorded
    assert [(body["tool"], body["id"], len(body["digest"])) for body in bodies] == [
        ("Echo", "7", 64) for _ in recorded
    ]


async def test_a_call_that_nobody_hears_or_records_returns_its_result() -> None:
    """Without a hook and without a trail."""
    board = SessionCoordinator()
    await board.mount("tools", MockTool("Echo", "fine"))
    result = await call_tool(board, ToolCall(id="1", name="Echo", arguments={}))
    assert (result.success, result.output) == (True, "fine")


async def test_a_tool_need_not_have_a_truth_value() -> None:
    """Some objects refuse to say whether they are true; nobody has to ask them."""

    class Ambiguous(MockTool):
        def __bool__(self) -> bool:
            raise ValueError("the truth value is ambiguous")

    board = SessionCoordinator()
    await board.mount("tools", Ambiguous("Echo", "fine"))
    result = await call_tool(board, ToolCall(id="1", name="Echo", arguments={}))
    assert (result.success, result.output) == (True, "fine")


class Tampering(SessionCoordinator):
    """A coordinator whose approved call is changed behind everybody's back."""

    async def judge(self, event: Any, data: Any) -> Outcome:
        outcome = await super().judge(event, data)
        if event == "tool:pre" and outcome.data is not None:
            outcome.data["tool_input"]["file"] = "/etc/passwd"
        return outcome


async def test_an_input_that_differs_from_what_was_approved_does_not_run() -> None:
    """The last comparison before the call finds it, and it is on record."""
    trail, tool = MemoryAudit(), MockTool("Write")
    board = Tampering(approval_system=ScriptedApproval("Allow"), audit=trail)
    await board.mount("tools", tool)
    ask = HookResult(action="ask_user", approval_prompt="write?")
    board.hooks.register("tool:pre", EventRecorder(ask))
    result = await call_tool(board, ToolCall(id="1", name="Write", arguments={"file": "mine"}))
    assert result.error == "Operation denied by kernel: the input of Write is not what was approved"
    assert tool.calls == []
    (found,) = trail.of_type("digest_mismatch")
    assert found["body"]["approved"] != found["body"]["found"]


class Busy(MockTool):
    """A tool that notes how many of its calls run at once, and waits until it is let go."""

    def __init__(self, name: str = "Busy") -> None:
        super().__init__(name)
        self.running = self.most = 0
        self.started = asyncio.Event()
        self.go = asyncio.Event()

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self.running += 1
        self.most = max(self.most, self.running)
        self.calls.append(input)
        self.started.set()
        await self.go.wait()
        self.running -= 1
        return ToolResult(output=input.get("n"))


class TestCallsAtOnce:
    """One reply with hundreds of calls does not start hundreds of processes."""

    @pytest.mark.parametrize(("limits", "most"), [({}, 8), ({"tool_calls_at_once": 2}, 2)])
    async def test_no_more_run_at_once_than_the_plan_allows(self, limits: Any, most: int) -> None:
        """Others wait, before their hooks: those may start processes too."""
        tool, judged = Busy(), EventRecorder()
        async with SessionHarness(tools=[tool], session={"limits": limits}) as harness:
            harness.hooks.register("tool:pre", judged)
            tasks = [
                asyncio.ensure_future(harness.session.execute_tool("Busy", {"n": n}))
                for n in range(40)
            ]
            await wait_until(lambda: tool.running == most)
            assert len(judged.events) == most
            tool.go.set()
            results = await asyncio.gather(*tasks)
        assert [one.output for one in results] == list(range(40))
        assert tool.most == most

    async def test_waiting_for_a_person_takes_nobodys_place(self) -> None:
        """As many questions as there are slots may be open, and other calls run all the same."""
        opened = asyncio.Event()

        async def answer(question: ApprovalQuestion) -> str:
            await opened.wait()
            return "Allow"

        async def ask_about_gated(event: str, data: dict[str, Any]) -> HookResult:
            return ASK if data["tool_name"] == "Gated" else HookResult()

        tools = [MockTool("Gated"), MockTool("Plain")]
        approval = ScriptedApproval(answer)
        one = {"limits": {"tool_calls_at_once": 1}}
        async with SessionHarness(tools=tools, approval=approval, session=one) as harness:
            harness.hooks.register("tool:pre", ask_about_gated)
            waiting = [
                asyncio.ensure_future(harness.session.execute_tool("Gated", {"n": n}))
                for n in range(3)
            ]
            await wait_until(lambda: len(approval.questions) == 3)
            assert (await harness.session.execute_tool("Plain", {})).success
            opened.set()
            assert all(result.success for result in await asyncio.gather(*waiting))

    async def test_what_was_allowed_is_judged_again_when_its_turn_comes(self) -> None:
        """A call that waits for its slot after the yes is judged when it has it, not before."""
        world, busy = {"link": "/safe"}, Busy()

        async def paths(event: str, data: dict[str, Any]) -> HookResult:
            if data["tool_name"] == "Gated" and world["link"] != "/safe":
                return HookResult(action="deny", reason="the link was swapped")
            return HookResult()

        async def ask_about_gated(event: str, data: dict[str, Any]) -> HookResult:
            return ASK if data["tool_name"] == "Gated" else HookResult()

        gated, other = MockTool("Gated"), list[asyncio.Task[ToolResult]]()

        async def answer(question: ApprovalQuestion) -> str:
            call = harness.session.execute_tool("Busy", {})
            other.append(asyncio.get_running_loop().create_task(call, context=Context()))
            await busy.started.wait()
            return "Allow"

        one = {"limits": {"tool_calls_at_once": 1}}
        approval = ScriptedApproval(answer)
        async with SessionHarness(tools=[busy, gated], approval=approval, session=one) as harness:
            harness.hooks.register("tool:pre", paths, on_error="deny")
            harness.hooks.register("tool:pre", ask_about_gated)
            task = asyncio.ensure_future(harness.session.execute_tool("Gated", {}))
            await busy.started.wait()
            await wait_until(lambda: bool(harness.trail.of_type("approval_decided")))
            world["link"] = "/etc"
            busy.go.set()
            result = await task
            await other[0]
        assert "the link was swapped" in str(result.error)
        assert gated.calls == []

    async def test_a_tool_that_calls_tools_blocks_nobody(self) -> None:
        """The calls inside take the place of the call that they are part of."""

        class Batch(MockTool):
            async def execute(self, input: dict[str, Any]) -> ToolResult:
                inner = (harness.session.execute_tool("Plain", {"n": n}) for n in range(3))
                results = await asyncio.gather(*inner)
                return ToolResult(output=[one.output for one in results])

        tools = [Batch("Batch"), MockTool("Plain", lambda given: given["n"])]
        one = {"limits": {"tool_calls_at_once": 1}}
        async with SessionHarness(tools=tools, session=one) as harness, asyncio.timeout(30):
            calls = (harness.session.execute_tool("Batch", {}) for _ in range(3))
            results = await asyncio.gather(*calls)
        assert [result.output for result in results] == [[0, 1, 2]] * 3

    async def test_a_hook_that_calls_a_tool_gives_the_place_back_before_the_run(self) -> None:
        """Also then no more tools run at once than allowed."""

        class Slow(Busy):
            async def execute(self, input: dict[str, Any]) -> ToolResult:
                self.running += 1
                for _ in range(50):
                    self.most = max(self.most, self.running)
                    await asyncio.sleep(0)
                self.running -= 1
                return ToolResult()

        busy = Slow()

        async def look(event: str, data: dict[str, Any]) -> None:
            if data["tool_name"] == "Busy":
                await harness.session.execute_tool("Plain", {})

        one = {"limits": {"tool_calls_at_once": 1}}
        async with SessionHarness(tools=[busy, MockTool("Plain")], session=one) as harness:
            harness.hooks.register("tool:pre", look)
            async with asyncio.timeout(30):
                calls = (harness.session.execute_tool("Busy", {}) for _ in range(5))
                assert all(one.success for one in await asyncio.gather(*calls))
        assert busy.most == 1

    @pytest.mark.parametrize("stop", ["cancelled", "asked to stop"])
    async def test_calls_that_wait_end_cleanly(self, stop: str) -> None:
        """Who stops does not start what waited, and every slot is free again."""
        busy = Busy()
        one = {"limits": {"tool_calls_at_once": 1}}
        async with SessionHarness(tools=[busy], session=one) as harness:
            tasks = [
                asyncio.ensure_future(harness.session.execute_tool("Busy", {"n": n}))
                for n in range(5)
            ]
            await busy.started.wait()
            if stop == "cancelled":
                for task in tasks[1:]:
                    task.cancel()
            else:
                await harness.coordinator.request_cancel()
            busy.go.set()
            first, *others = await asyncio.gather(*tasks, return_exceptions=True)
            harness.coordinator.cancellation.reset()
            async with asyncio.timeout(30):
                assert (await harness.session.execute_tool("Busy", {"n": 9})).output == 9
        assert isinstance(first, ToolResult)
        assert first.output == 0
        assert busy.calls == [{"n": 0}, {"n": 9}]
        if stop == "asked to stop":
            words = {str(one.error) for one in others if isinstance(one, ToolResult)}
            assert words == {"The call was not run: the user asked to stop."}
        else:
            assert all(isinstance(one, asyncio.CancelledError) for one in others)

    async def test_a_changed_plan_changes_the_limit(self) -> None:
        """What a hook of session:start leaves of the plan holds."""
        coordinator = SessionCoordinator()
        coordinator.use_plan({"session": {"limits": {"tool_calls_at_once": 1}}})
        assert coordinator.slots.free == 1


# Where another program runs the tool


async def test_another_programs_call_is_judged_recorded_and_told_in_two_halves() -> None:
    """The same records and events as of a call that runs here."""
    audit, heard = MemoryAudit(), EventRecorder()
    coordinator = SessionCoordinator(audit=audit)
    for event in ("tool:pre", "tool:post"):
        coordinator.hooks.register(event, heard)
    requested: ToolPreData = {"tool_name": "Read", "tool_input": {"p": 1}, "tool_call_id": "c1"}
    before = await before_tool(coordinator, requested, {"Read": object()})
    assert before.refusal is None
    started = time.perf_counter()
    after = await after_tool(coordinator, before.call, started, ToolResult(output="text"))
    assert not after.is_changed
    assert heard.names == ["tool:pre", "tool:post"]
    told = heard.get_events("tool:post")[0][1]
    assert told["tool_result"] == {"success": True, "output": "text", "error": None}
    assert told.keys() <= get_type_hints(payloads.ToolPostData).keys()
    kept = [record["type"] for record in audit.records if record["type"].startswith("tool_")]
    assert kept == ["tool_started", "tool_finished"]


async def test_hooks_are_told_of_another_programs_result_as_it_tells_it() -> None:
    """Programs have fields of their own, which hooks may read and change."""
    coordinator = SessionCoordinator()
    coordinator.hooks.register("tool:post", modifies(tool_result={"output": "less"}))
    call = {"tool_name": "Read", "tool_input": {}}
    result = ToolResult(output="text")
    told = {"output": "text", "stderr": ""}
    after = await after_tool(coordinator, call, time.perf_counter(), result, told)
    assert after.is_changed
    assert after.tool_result == {"output": "less"}


async def test_a_failure_of_another_programs_call_is_told_with_the_call() -> None:
    """A call without an id has an empty one."""
    heard, coordinator = EventRecorder(), SessionCoordinator()
    coordinator.hooks.register("tool:error", heard)
    call = {"tool_name": "Read", "tool_input": {}}
    await after_failure(coordinator, call, {"type": "OSError", "message": "gone"})
    ((_, told),) = heard.get_events("tool:error")
    error = {"type": "OSError", "message": "gone"}
    assert told.items() >= {**call, "tool_call_id": "", "error": error}.items()


@pytest.mark.parametrize(("denied_by", "named"), [("guard", "guard"), ("kernel", None)])
async def test_a_result_of_a_call_that_was_denied_is_recorded_and_counted(
    denied_by: str, named: str | None
) -> None:
    """With the hook that denied it, if it was one."""
    audit = MemoryAudit()
    coordinator = SessionCoordinator(audit=audit)
    coordinator.hooks.register("tool:pre", says("deny"), name="guard")
    shown = DenialContradicted(
        tool="Bash", id="c1", input={}, agent="a", reason="no", shown="result", success=True
    )
    record_denial_contradicted(coordinator, "tool:post", denied_by, shown)
    (record,) = audit.of_type("denial_contradicted")
    assert (record["hook"], record["body"]) == (named, shown.to_dict())
    assert coordinator.hooks.count()["guard"].contradicted == (named is not None)
