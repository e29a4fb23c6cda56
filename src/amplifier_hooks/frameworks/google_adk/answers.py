"""The answer of an agent: the text of an event that ends its turn."""

from __future__ import annotations

from typing import Any

from google.adk.events.event import Event
from google.genai import types

from amplifier_hooks.frameworks.google_adk.contents import read_text, replace_text


def read_answer(event: Event) -> str:
    """The text that an agent answers with, if this event is its answer."""
    if event.partial or event.author == "user" or not event.is_final_response():
        return ""
    return read_text(event.content.parts if event.content else None)


def change_answer(event: Event, before: str, after: str) -> Event:
    """The event with another answer, also where the framework has copied it to."""
    content = event.content or types.Content(role="model")
    delta = {key: _swap(value, before, after) for key, value in event.actions.state_delta.items()}
    actions = event.actions.model_copy(update={"state_delta": delta})
    return event.model_copy(
        update={
            "content": replace_text(content, after),
            "actions": actions,
            "output": _swap(event.output, before, after),
        }
    )


def _swap(value: Any, before: str, after: str) -> Any:
    """What the framework keeps under the agent's `output_key`."""
    return after if value == before else value
