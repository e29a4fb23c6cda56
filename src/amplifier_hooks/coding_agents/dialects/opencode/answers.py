"""What OpenCode's plugin is answered: read by us, and written by us."""

from __future__ import annotations

import json
from typing import Any

from amplifier_hooks.coding_agents.dialects.answer import Answer, read_answer
from amplifier_hooks.coding_agents.dialects.dialect import Call, Handler, Reply, build_reply
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import UNCHANGED, Verdict


class Output(Answer):
    """The object on stdout: a denial, or changes; the plugin looks for the denial first."""

    deny: str | None = None
    """The plugin throws this: the tool does not run, or its result is not shown."""

    args: dict[str, Any] | None = None
    """In the place of the tool's input."""

    output: str | None = None
    """In the place of what the tool returned."""

    prompt: str | None = None
    """In the place of what the person wrote."""

    context: list[str] | None = None
    """For the model, behind the prompt or behind the tool's result."""


def read_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """What the plugin makes of it: JSON at exit 0, a denial at 2."""
    output = read_answer(Output, handler, reply)
    if isinstance(output, Verdict):
        return output
    if output.deny is not None:
        return Verdict("deny", output.deny or None)
    return Verdict(
        tool_input=output.args,
        output=UNCHANGED if output.output is None else output.output,
        prompt=output.prompt,
        context=tuple(output.context or ()),
    )


def write_reply(incoming: Incoming, verdict: Verdict) -> Reply:
    """A denial alone, or every change."""
    if verdict.decision == "deny":
        return build_reply({"deny": verdict.reason})
    return build_reply(
        {
            "args": verdict.tool_input,
            "output": None if verdict.output is UNCHANGED else _print(verdict.output),
            "prompt": verdict.prompt,
            "context": list(verdict.context) or None,
        }
    )


def _print(output: Any) -> str:
    """OpenCode's tools return texts."""
    return output if isinstance(output, str) else json.dumps(output, default=str)
