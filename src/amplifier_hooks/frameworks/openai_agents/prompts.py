"""The prompt in what a run is started with."""

from __future__ import annotations

from typing import Any

from agents import GuardrailFunctionOutput, InputGuardrail, InputGuardrailTripwireTriggered
from agents.guardrail import InputGuardrailResult

from amplifier_hooks.external.messages import read_text
from amplifier_hooks.frameworks.openai_agents.messages import change_item, read_item


class PromptDenied(InputGuardrailTripwireTriggered):
    """A hook does not let a run start; programs that know guardrails know what to do."""

    def __init__(self, reason: str) -> None:
        output = GuardrailFunctionOutput(output_info=reason, tripwire_triggered=True)
        guardrail: InputGuardrail[Any] = InputGuardrail(lambda *_: output, name="amplifier")
        super().__init__(InputGuardrailResult(guardrail=guardrail, output=output))
        self.args = (reason,)


def read_prompt(given: Any) -> str:
    """The text of the prompt: of the last message of the user, in a list."""
    if isinstance(given, str):
        return given
    number = _find_last(given)
    return "" if number is None else read_text(read_item(given[number])["content"])


def change_prompt(given: Any, text: str) -> Any:
    """The same start with another prompt."""
    if isinstance(given, str):
        return text
    number, message = _find_last(given), {"role": "user", "content": text}
    if number is None:
        return [*given, message]
    return [*given[:number], change_item(given[number], message), *given[number + 1 :]]


def _find_last(items: list[Any]) -> int | None:
    found = [number for number, one in enumerate(items) if one.get("role") == "user"]
    return found[-1] if found else None
