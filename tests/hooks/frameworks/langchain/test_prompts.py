"""The prompt and the answer of a run, in the state of its agent."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from amplifier_core import HookResult
from amplifier_hooks.external.verdicts import TextVerdict
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware
from amplifier_hooks.frameworks.langchain.messages import change_prompt, read_answer, read_prompt
from tests.adapters.drivers.driver import Step
from tests.adapters.drivers.langchain import make_model
from tests.adapters.stage import DONE, Stage, call

SAY: Any = {"messages": "Do it."}


class Weather(BaseModel):
    """The weather somewhere."""

    place: str
    degrees: int


def change(text: str) -> Any:
    """A hook's answer: another answer."""
    return lambda data: HookResult(action="modify", data={**data, "response": text})


async def ask_weather(stage: Stage, strategy: Any, script: list[Step], **more: Any) -> Any:
    """Run an agent that answers with a Weather."""
    middleware = [AmplifierMiddleware(stage.hooks)]
    options: Any = {"response_format": strategy(Weather), **more}
    agent = create_agent(make_model(script, []), [], middleware=middleware, **options)
    return await agent.ainvoke(SAY, {"configurable": {"thread_id": "1"}})


BY_TOOL: list[Step] = [[call("Weather", place="Rome", degrees=30)]]
BY_TEXT: list[Step] = ['{"place": "Rome", "degrees": 30}']
WAYS = pytest.mark.parametrize(
    ("strategy", "script"), [(ToolStrategy, BY_TOOL), (ProviderStrategy, BY_TEXT)]
)


def test_the_prompt_is_all_that_was_said_since_the_agent_spoke() -> None:
    """A text in two messages is judged as a whole; what was judged before is not repeated."""
    said = [HumanMessage("old"), AIMessage("hm"), HumanMessage("my PIN"), HumanMessage("is 4711")]
    assert read_prompt(said) == "my PIN\n\nis 4711"
    assert read_prompt([HumanMessage("a"), AIMessage("b")]) == ""


def test_a_changed_prompt_stands_where_the_last_one_stood() -> None:
    """The others go; what is no text stays."""
    image = {"type": "image", "url": "https://example.org/a.png"}
    said = [HumanMessage("my PIN", id="1"), HumanMessage([image, "is 4711"], id="2")]
    update = change_prompt({"messages": said}, TextVerdict(True, "[removed]", True))
    assert update is not None
    removed, changed = update["messages"]
    assert isinstance(removed, RemoveMessage)
    assert removed.id == "1"
    assert changed.id == "2"
    assert changed.content == [{"type": "text", "text": "[removed]"}, image]


def test_a_refused_prompt_leaves_nothing_of_an_older_answer() -> None:
    """A caller who reads structured_response does not get that of the turn before."""
    state = {"messages": [HumanMessage("hi", id="1")], "structured_response": {"old": 1}}
    update = change_prompt(state, TextVerdict(False, "no"))
    assert update is not None
    assert update["jump_to"] == "end"
    assert update["structured_response"] is None
    assert update["messages"][-1].content == "no"


def test_a_prompt_that_is_not_there_can_be_refused_and_added() -> None:
    """An agent may be called without a prompt."""
    state: dict[str, Any] = {"messages": []}
    refused = change_prompt(state, TextVerdict(False, "no"))
    added = change_prompt(state, TextVerdict(True, "hi", True))
    assert refused is not None
    assert added is not None
    assert [one.content for one in refused["messages"]] == ["no"]
    assert [one.content for one in added["messages"]] == ["hi"]
    assert change_prompt(state, TextVerdict(True, "")) is None


def test_an_answer_is_of_this_turn() -> None:
    """Not the last one that the thread has."""
    said = [HumanMessage("a"), AIMessage("old"), HumanMessage("b")]
    assert read_answer({"messages": said}) == ""
    results = [AIMessage(""), ToolMessage("30 degrees", tool_call_id="1")]
    assert read_answer({"messages": [HumanMessage("a"), *results]}) == "30 degrees"


@WAYS
async def test_a_structured_answer_is_seen(stage: Stage, strategy: Any, script: list[Step]) -> None:
    """As JSON, whichever way the model gave it; the caller gets the object."""
    stage.listen("prompt:answer")
    state = await ask_weather(stage, strategy, script)
    assert state["structured_response"] == Weather(place="Rome", degrees=30)
    seen = Weather.model_validate_json(stage.heard.events[0][1]["response"])
    assert seen.degrees == 30


@WAYS
async def test_a_structured_answer_is_changed(
    stage: Stage, strategy: Any, script: list[Step]
) -> None:
    """The caller gets an object of the same kind."""
    stage.answer("prompt:answer", change('{"place": "Rome", "degrees": 20}'))
    state = await ask_weather(stage, strategy, script)
    assert state["structured_response"] == Weather(place="Rome", degrees=20)
    assert [one.content for one in state["messages"][1:]] == ['{"place": "Rome", "degrees": 20}']


@WAYS
async def test_a_structured_answer_that_a_hook_spoils_stays_inside(
    stage: Stage, strategy: Any, script: list[Step]
) -> None:
    """What is no such object is not handed over as one."""
    stage.answer("prompt:answer", change("hot"))
    state = await ask_weather(stage, strategy, script)
    assert state["structured_response"] is None
    assert "left no Weather" in state["messages"][-1].content
    assert "Rome" not in str(state)


@WAYS
async def test_a_denied_structured_answer_stays_inside(
    stage: Stage, strategy: Any, script: list[Step]
) -> None:
    """In no form: the object, the text, the call, and its result are gone."""
    stage.answer("prompt:answer", HookResult(action="deny", reason="secret"))
    saver = InMemorySaver()
    state = await ask_weather(stage, strategy, script, checkpointer=saver)
    assert state["structured_response"] is None
    assert "secret" in state["messages"][-1].content
    assert "Rome" not in str(state)


async def test_the_result_of_a_tool_may_be_the_answer(stage: Stage) -> None:
    """A tool with return_direct ends the run; its result is judged as the answer."""

    def weather(place: str) -> str:
        """Tell the weather."""
        return f"{place}: 30 degrees"

    stage.answer("prompt:answer", HookResult(action="deny", reason="secret"))
    stage.listen("prompt:complete")
    agent = create_agent(
        make_model([[call("weather", place="Rome")]], []),
        [StructuredTool.from_function(weather, return_direct=True)],
        middleware=[AmplifierMiddleware(stage.hooks)],
    )
    state = await agent.ainvoke(SAY)
    assert "secret" in state["messages"][-1].content
    assert "30 degrees" not in str(state)


async def test_a_changed_answer_is_the_stored_one(stage: Stage) -> None:
    """The thread goes on with what the caller got."""
    stage.answer("prompt:answer", change("Nearly done."))
    requests: list[str] = []
    agent = create_agent(
        make_model([DONE, DONE], requests),
        [],
        middleware=[AmplifierMiddleware(stage.hooks)],
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "1"}}
    await agent.ainvoke({"messages": "One."}, config)
    state = await agent.ainvoke({"messages": "Two."}, config)
    assert "Nearly done." in requests[-1]
    assert DONE not in requests[-1]
    said = [one.content for one in state["messages"]]
    assert said == ["One.", "Nearly done.", "Two.", "Nearly done."]
