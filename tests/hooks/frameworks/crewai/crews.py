"""Crews for the tests, and a model object that answers in plain text."""

from __future__ import annotations

import json
from typing import Any

from crewai import Agent, Crew, Task

from tests.adapters.drivers.crewai import ScriptedModel, make_agent, make_crew
from tests.adapters.drivers.driver import Ran, Step

__all__ = ["TextModel", "make_agent", "make_crew", "make_text_crew"]


class TextModel(ScriptedModel):
    """One that knows no tools: it writes which one it wants."""

    def supports_function_calling(self) -> bool:
        return False

    def call(self, messages: Any, *arguments: Any, **more: Any) -> Any:
        answer = super().call(messages, *arguments, **more)
        if isinstance(answer, str):
            return f"Thought: I know\nFinal Answer: {answer}"
        wanted = answer[0]["function"]
        given = json.dumps(json.loads(wanted["arguments"]))
        return f"Thought: I try\nAction: {wanted['name']}\nAction Input: {given}"


def make_text_crew(script: list[Step], ran: Ran) -> Crew:
    """A crew whose agent uses tools by writing about them."""
    agent: Agent = make_agent("worker", script, ran)
    agent.llm = TextModel.make(script, ran)
    task = Task(description="Do it.", expected_output="an answer", agent=agent)
    return Crew(agents=[agent], tasks=[task])
