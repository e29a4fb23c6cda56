"""Tool calls of every framework: denied, changed, withheld, and failed."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_core import HookResult
from tests.adapters.drivers.driver import Driver
from tests.adapters.stage import (
    DONE,
    Stage,
    attempt,
    call,
    change_input,
    change_output,
    run_in_thread,
    use,
)

DENY = HookResult(action="deny", reason="not on my machine")


async def test_a_call_goes_through_unchanged(driver: Driver, stage: Stage) -> None:
    """Hooks that say continue leave no trace in what the agent does."""
    stage.listen("tool:pre", "tool:post")
    ran = await driver.run(stage.hooks, use(call("note", text="milk")))
    assert ran.calls == [("note", {"text": "milk"})]
    assert "noted milk" in ran.requests[-1]
    assert ran.answer == DONE
    assert stage.heard.names == ["tool:pre", "tool:post"]
    pre, post = (data for _, data in stage.heard.events)
    assert pre["tool_name"] == post["tool_name"] == "note"
    assert pre["tool_input"] == {"text": "milk"}
    assert "noted milk" in str(post["tool_result"]["output"])
    assert post["success"] is True


async def test_deny_keeps_the_tool_from_running(driver: Driver, stage: Stage) -> None:
    """A denied call does not run, and the model reads why."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("tool:post")
    ran = await driver.run(stage.hooks, use(call("wipe", path="/")))
    assert ran.calls == []
    assert "not on my machine" in ran.requests[-1]
    assert "policy" in ran.requests[-1]
    assert stage.heard.names == []


async def test_modify_changes_the_input(driver: Driver, stage: Stage) -> None:
    """The tool runs with what a hook made of its arguments."""
    stage.answer("tool:pre", change_input(text="oat milk"))
    ran = await driver.run(stage.hooks, use(call("note", text="milk")))
    assert ran.calls == [("note", {"text": "oat milk"})]
    assert "noted oat milk" in ran.requests[-1]


async def test_an_input_that_the_tool_does_not_take_runs_nothing(
    driver: Driver, stage: Stage
) -> None:
    """What a hook leaves is checked as what a model sends."""
    stage.answer("tool:pre", change_input(text=["no", "text"]))
    ran = await driver.run(stage.hooks, use(call("note", text="milk")))
    assert ("note", {"text": ["no", "text"]}) not in ran.calls


async def test_modify_changes_the_output(driver: Driver, stage: Stage) -> None:
    """The model reads the result that a hook left."""
    stage.answer("tool:post", change_output("noted [removed]"))
    ran = await driver.run(stage.hooks, use(call("note", text="milk")))
    assert ran.calls == [("note", {"text": "milk"})]
    assert "noted [removed]" in ran.requests[-1]
    assert "noted milk" not in ran.requests[-1]


async def test_deny_withholds_the_output(driver: Driver, stage: Stage) -> None:
    """A result that a hook denies is not seen by the model; the reason is."""
    stage.answer("tool:post", HookResult(action="deny", reason="holds a secret"))
    ran = await driver.run(stage.hooks, use(call("note", text="milk")))
    assert ran.calls == [("note", {"text": "milk"})]
    assert "holds a secret" in ran.requests[-1]
    assert "noted milk" not in ran.requests[-1]


async def test_one_of_parallel_calls_is_denied(driver: Driver, stage: Stage) -> None:
    """Each call of a reply is judged by itself."""
    stage.answer("tool:pre", DENY, tool="wipe")
    script = use(call("note", 1, text="a"), call("wipe", 2, path="/"), call("note", 3, text="c"))
    ran = await driver.run(stage.hooks, script)
    assert sorted(one["text"] for one in ran.ran("note")) == ["a", "c"]
    assert ran.ran("wipe") == []
    assert "not on my machine" in ran.requests[-1]
    assert "noted a" in ran.requests[-1]
    assert "noted c" in ran.requests[-1]


async def test_a_guard_that_raises_denies(driver: Driver, stage: Stage) -> None:
    """A guard fails closed."""

    def raise_error(data: dict[str, object]) -> HookResult:
        raise OSError("no database")

    stage.answer("tool:pre", raise_error, name="guard", on_error="deny")
    ran = await driver.run(stage.hooks, use(call("wipe", path="/")))
    assert ran.calls == []
    assert "guard" in ran.requests[-1]


async def test_a_guard_that_hangs_denies(driver: Driver, stage: Stage) -> None:
    """A guard that does not answer in its time denies."""

    async def hang(event: str, data: object) -> HookResult:
        await asyncio.Event().wait()
        return HookResult()

    stage.registry.register("tool:pre", hang, name="guard", on_error="deny", timeout=0.2)
    ran = await driver.run(stage.hooks, use(call("wipe", path="/")))
    assert ran.calls == []
    assert "guard" in ran.requests[-1]


async def test_an_observer_that_raises_stops_nothing(driver: Driver, stage: Stage) -> None:
    """Who only watches cannot break the agent, and the trail has the failure."""

    def raise_error(data: dict[str, object]) -> HookResult:
        raise OSError("no database")

    stage.answer("tool:pre", raise_error, name="observer")
    ran = await driver.run(stage.hooks, use(call("note", text="milk")))
    assert ran.calls == [("note", {"text": "milk"})]
    assert ran.answer == DONE
    assert [one["hook"] for one in stage.of_type("hook_failed")] == ["observer"]


async def test_a_tool_that_raises_is_told(driver: Driver, stage: Stage) -> None:
    """Hooks hear of a tool that failed, and the framework goes on as without us."""
    stage.listen("tool:error", "tool:post")
    ran, error = await attempt(driver.run(stage.hooks, use(call("boom", text="x"))))
    if error is None:
        assert ("boom", {"text": "x"}) in ran.calls
    else:
        assert "boom x" in str(error)
    failed = [data for name, data in stage.heard.events if name == "tool:error"] or [
        data for name, data in stage.heard.events if not data.get("success", True)
    ]
    assert "boom" in str(failed[0])


async def test_a_tool_that_nobody_has_runs_nothing(driver: Driver, stage: Stage) -> None:
    """A tool that the model made up is answered, and nothing runs."""
    ran, error = await attempt(driver.run(stage.hooks, use(call("rocket", to="the moon"))))
    assert ran.calls == []
    assert error is None or "rocket" in str(error)


async def test_the_synchronous_entry_point_is_governed(driver: Driver, stage: Stage) -> None:
    """A thread without a loop: denied, changed and allowed as elsewhere."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.answer("tool:pre", change_input(text="oat milk"), tool="note", name="changer")
    script = use(call("note", 1, text="milk"), call("wipe", 2, path="/"))
    ran = await run_in_thread(driver, stage, script)
    assert ran.calls == [("note", {"text": "oat milk"})]
    assert "not on my machine" in ran.requests[-1]
    assert ran.answer == DONE


async def test_tools_of_an_mcp_server_are_governed(driver: Driver, stage: Stage) -> None:
    """Tools that come from an MCP server pass the same hooks."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.answer("tool:pre", change_input(text="oat milk"), tool="note", name="changer")
    stage.answer("tool:post", change_output("noted [removed]"), tool="note", name="cleaner")
    script = use(call("note", 1, text="milk"), call("wipe", 2, path="/"))
    ran = await driver.run_with_mcp(stage.hooks, script)
    assert ran.calls == [("note", {"text": "oat milk"})]
    assert "not on my machine" in ran.requests[-1]
    assert "noted [removed]" in ran.requests[-1]


@pytest.mark.parametrize("answered", ["continue", "deny"])
async def test_a_call_of_a_sub_agent_is_seen(driver: Driver, stage: Stage, answered: str) -> None:
    """What a sub-agent does passes the same hooks."""
    if answered == "deny":
        stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("tool:pre")
    helper = use(call("wipe", 7, path="/tmp/x"))
    ran = await driver.run_with_helper(stage.hooks, use(call("helper", task="Clean up.")), helper)
    heard = [data["tool_name"] for _, data in stage.heard.events]
    assert ("wipe" in heard) is (answered == "continue")  # a deny ends the chain
    assert ran.ran("wipe") == ([{"path": "/tmp/x"}] if answered == "continue" else [])
