"""The capability: where it stands, and from where to where it goes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent, RunTimedOut, UnexpectedModelBehavior
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models.test import TestModel

from amplifier_core import HookResult
from amplifier_hooks.frameworks.pydantic_ai import AmplifierHooks
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.pydantic_ai import PydanticAIDriver
from tests.adapters.stage import DONE, Stage, ask, call, use, wait_for_ever

DENY = HookResult(action="deny", reason="against the rules")
WIPE = use(call("wipe", path="/tmp/x"))
LIFE = ("session:start", "prompt:submit", "provider:request", "tool:pre", "session:end")
build = PydanticAIDriver().build


class Changer(AbstractCapability[Any]):
    """Changes arguments as late as a capability can."""

    async def before_tool_execute(self, ctx: Any, *, args: Any, **_: Any) -> Any:
        return {"path": "/tmp/changed"}


@pytest.mark.parametrize("first", [True, False])
async def test_a_person_sees_what_other_capabilities_made_of_the_call(
    stage: Stage, first: bool
) -> None:
    """Wherever ours stands in the list, and also if they change arguments while it executes."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person("Allow")
    ours, ran = AmplifierHooks(stage.hooks), Ran()
    both = [ours, Changer()] if first else [Changer(), ours]
    await build(stage.hooks, WIPE, ran, capabilities=both).run("Do it.")
    assert [one.tool_input for one in stage.person.questions] == [{"path": "/tmp/changed"}]
    assert ran.calls == [("wipe", {"path": "/tmp/changed"})]


async def test_the_same_hooks_of_an_agent_and_its_caller_judge_once(stage: Stage) -> None:
    """One session, and one of each event."""
    stage.listen(*LIFE)
    hooks, ran = stage.hooks, Ran()
    agent = build(hooks, WIPE, ran)
    await agent.run("Do it.", capabilities=[AmplifierHooks(hooks)])
    request = "provider:request"
    assert stage.heard.names == [*LIFE[:2], request, "tool:pre", request, "session:end"]
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]


async def test_different_hooks_of_an_agent_and_its_caller_both_judge(stage: Stage) -> None:
    """Each may deny; what one of them denied has not failed for the other."""
    other = Stage()
    other.answer("tool:pre", DENY)
    stage.listen("tool:pre", "tool:error", "tool:post")
    ran = Ran()
    agent = build(stage.hooks, WIPE, ran)
    await agent.run("Do it.", capabilities=[AmplifierHooks(other.hooks)])
    assert ran.calls == []
    assert stage.heard.names == ["tool:pre"]
    assert "against the rules" in ran.requests[-1]


async def test_runs_at_once_have_nothing_in_common(stage: Stage) -> None:
    """The agent keeps no state of a run."""
    stage.listen("session:start")
    capability, ran = AmplifierHooks(stage.hooks), Ran()
    agent = build(stage.hooks, [DONE, DONE], ran, capabilities=[capability])
    await asyncio.gather(agent.run("One."), agent.run("Two."))
    started = {data["session_id"] for _, data in stage.heard.events}
    assert len(started) == 2
    assert not capability._turn.is_alive


def test_it_can_be_named_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the path of a bundle."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "amplifier.yaml").write_text("audit: {enabled: false}\n")
    (tmp_path / "agent.yaml").write_text("capabilities: [{AmplifierHooks: amplifier.yaml}]\n")
    agent = Agent.from_file(
        "agent.yaml", custom_capability_types=[AmplifierHooks], model=TestModel()
    )
    found: list[Any] = []
    agent.root_capability.apply(found.append)
    assert [one for one in found if isinstance(one, AmplifierHooks)]


def test_there_are_two_ways_to_ask(stage: Stage) -> None:
    """The message says which."""
    with pytest.raises(ValueError, match="'inline' or 'interrupt', not 'never'"):
        AmplifierHooks(stage.hooks, asks="never")  # type: ignore[arg-type]


# The end of a run


async def end_of(stage: Stage) -> str:
    """The reason that hooks were told, once."""
    (event,) = [data for name, data in stage.heard.events if name == "session:end"]
    return str(event["reason"])


async def test_a_run_that_is_left_early_has_an_end(stage: Stage) -> None:
    """Its caller breaks out of the loop over its nodes."""
    stage.listen("session:end")
    async with build(stage.hooks, WIPE, Ran()).iter("Do it.") as run:
        async for _ in run:
            break
    assert await end_of(stage) == "user_exit"


async def test_a_run_that_takes_too_long_has_an_end(stage: Stage) -> None:
    """Also while a person thinks, and what it asked about does not run."""
    stage.listen("session:end")
    stage.answer("tool:pre", ask())
    stage.ask_person(wait_for_ever)
    ran = Ran()
    with pytest.raises(RunTimedOut):
        await build(stage.hooks, WIPE, ran).run("Do it.", timeout=0.5)
    assert await end_of(stage) == "timeout"
    assert ran.calls == []


async def test_a_run_that_raises_has_an_end(stage: Stage) -> None:
    """Of the error that the framework raised."""
    stage.listen("session:end")
    script: list[Step] = [[call("rocket", 1)], [call("rocket", 2)]]
    with pytest.raises(UnexpectedModelBehavior, match="rocket"):
        await build(stage.hooks, script, Ran()).run("Do it.")
    assert await end_of(stage) == "error"


async def test_nodes_driven_by_the_caller_are_governed(stage: Stage) -> None:
    """`iter` with the loop of the caller, to its end."""
    stage.listen("session:end")
    stage.answer("tool:pre", DENY)
    ran = Ran()
    async with build(stage.hooks, WIPE, ran).iter("Do it.") as run:
        async for _ in run:
            pass
    assert run.result is not None
    assert run.result.output == DONE
    assert ran.calls == []
    assert await end_of(stage) == "complete"


# A fault of ours


async def test_nothing_runs_where_the_adapter_fails(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it raises ends the run."""

    def fail(**_: object) -> None:
        raise ArithmeticError("a fault of ours")

    monkeypatch.setattr("amplifier_hooks.frameworks.pydantic_ai.tools.Wanted", fail)
    ran = Ran()
    with pytest.raises(ArithmeticError, match="a fault of ours"):
        await build(stage.hooks, WIPE, ran).run("Do it.")
    assert ran.calls == []


async def test_nothing_starts_where_no_session_opens(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is not called."""
    hooks, ran = stage.hooks, Ran()

    async def fail(*_: object) -> None:
        raise OSError("no disk")

    monkeypatch.setattr(hooks, "open", fail)
    with pytest.raises(OSError, match="no disk"):
        await build(hooks, WIPE, ran).run("Do it.")
    assert ran.requests == []
