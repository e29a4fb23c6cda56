"""A run from its prompt to its answer."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel
from pydantic_ai import DeferredToolRequests, ImageUrl
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelRequest, UserPromptPart

from amplifier_core import HookResult
from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.pydantic_ai import AmplifierHooks, RunRefused, resume
from amplifier_hooks.frameworks.pydantic_ai.turn import Turn
from tests.adapters.drivers.driver import Call, Ran, Step
from tests.adapters.drivers.pydantic_ai import PydanticAIDriver, describe
from tests.adapters.stage import DONE, Stage, ask, call, use

build = PydanticAIDriver().build


def say_please(data: dict[str, Any]) -> HookResult:
    """Another prompt."""
    return HookResult(action="modify", data={**data, "prompt": f"{data['prompt']} Please."})


async def test_a_prompt_with_a_picture_keeps_it(stage: Stage) -> None:
    """Hooks judge its text."""
    stage.answer("prompt:submit", say_please)
    picture = ImageUrl("https://example.com/cat.png")
    result = await build(stage.hooks, [DONE], Ran()).run(["Who is this?", picture])
    part = result.all_messages()[0].parts[0]
    assert isinstance(part, UserPromptPart)
    assert part.content == ["Who is this? Please.", picture]


async def test_a_prompt_at_the_end_of_the_history_is_one(stage: Stage) -> None:
    """Servers pass on whole conversations, and no prompt beside them."""
    stage.answer("prompt:submit", say_please)
    ran = Ran()
    history = [ModelRequest(parts=[UserPromptPart("Buy milk.")])]
    result = await build(stage.hooks, [DONE], ran).run(message_history=history)
    assert "Buy milk. Please." in ran.requests[0]
    assert "Buy milk. Please." in describe(result.all_messages())
    assert history[0].parts[0].content == "Buy milk."


async def test_a_run_that_goes_on_after_a_pause_submits_nothing(stage: Stage) -> None:
    """Its prompt was judged before."""
    stage.answer("tool:pre", ask())
    stage.listen("prompt:submit", "prompt:answer")
    asking = [AmplifierHooks(stage.hooks, asks="interrupt")]
    wanted = [str, DeferredToolRequests]
    script = use(call("note", text="a"))
    agent = build(stage.hooks, script, Ran(), capabilities=asking, output_type=wanted)
    paused = await agent.run("Do it.")
    assert stage.heard.names == ["prompt:submit"]
    chosen = answer(paused.output.metadata["call_1"], "Allow")
    results = resume(paused.output, {"call_1": chosen})
    await agent.run(message_history=paused.all_messages(), deferred_tool_results=results)
    assert stage.heard.names == ["prompt:submit", "prompt:answer"]


async def test_a_changed_prompt_cannot_get_lost(stage: Stage) -> None:
    """Where the caller runs the first node by itself, the run is refused."""
    stage.answer("prompt:submit", say_please)
    ran = Ran()

    async def drive() -> None:
        async with build(stage.hooks, [DONE], ran).iter("Do it.") as run:
            first: Any = run.next_node
            await run.next(await first.run(run.ctx))

    with pytest.raises(RunRefused, match=r"agent_run\.next\(node\)"):
        await drive()
    assert ran.requests == []


class Answer(BaseModel):
    """No text."""

    number: int


async def test_an_answer_that_is_no_text_is_json_for_hooks(stage: Stage) -> None:
    """What they make of it is an object of the same kind."""
    stage.answer(
        "prompt:answer",
        lambda data: HookResult(action="modify", data={**data, "response": '{"number": 2}'}),
    )
    script: list[Step] = [[Call("final_result", {"number": 1})]]
    result = await build(stage.hooks, script, Ran(), output_type=Answer).run("Do it.")
    assert result.output == Answer(number=2)


async def test_a_denied_answer_is_not_in_the_messages(stage: Stage) -> None:
    """Who shows the conversation shows the reason."""
    stage.answer("prompt:answer", HookResult(action="deny", reason="against the rules"))
    result = await build(stage.hooks, [DONE], Ran()).run("Do it.")
    assert "against the rules" in result.output
    assert DONE not in describe(result.all_messages())
    assert "against the rules" in describe(result.all_messages())


class Keep(AbstractCapability[Any]):
    """Keeps what another instance of ours knows of a run."""

    turn: Turn | None = None

    async def before_run(self, ctx: Any) -> None:
        found: list[Any] = []
        ctx.root_capability.apply(found.append)
        self.turn = next(one._turn for one in found if isinstance(one, AmplifierHooks))


async def test_nothing_is_done_for_a_run_that_has_ended(stage: Stage) -> None:
    """Whoever holds on to it, and also if its session goes on."""
    hooks, keep = stage.hooks, Keep()
    agent = build(hooks, [DONE], Ran(), capabilities=[AmplifierHooks(hooks), keep])
    async with hooks.conversation():
        await agent.run("Do it.")
        assert keep.turn is not None
        assert not keep.turn.is_alive
        with pytest.raises(RunRefused, match="has ended"):
            keep.turn.use()


def test_nothing_is_done_for_a_run_that_nobody_has_judged(stage: Stage) -> None:
    """It has no session."""
    with pytest.raises(RunRefused, match="not judged this run yet"):
        Turn(stage.hooks).use()
