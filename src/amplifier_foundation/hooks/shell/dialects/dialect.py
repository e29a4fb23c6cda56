"""What makes the protocol of one agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amplifier_foundation.hooks.shell.handler import Call, Handler, Reply
from amplifier_foundation.hooks.shell.verdict import NOTHING, Verdict, failed

Build = Callable[[Call], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Occasion:
    """Which of our events a native one stands for; some only for certain tools or outcomes."""

    event: str
    tools: frozenset[str] | None = None
    success: bool | None = None

    def fits(self, data: Mapping[str, Any]) -> bool:
        """Whether this occurrence is one of them."""
        name = str(data.get("tool_name") or "")
        if self.tools is not None and not (name in self.tools or _is_mcp(name, self.tools)):
            return False
        return self.success is None or _succeeded(data) is self.success


def _is_mcp(name: str, tools: frozenset[str]) -> bool:
    return "mcp__*" in tools and name.startswith("mcp__")


def _succeeded(data: Mapping[str, Any]) -> bool:
    finished = data.get("status") in (None, "success")
    return finished and bool(data.get("success", True)) and "error" not in data


@dataclass(frozen=True, slots=True)
class Dialect:
    """Names, units, order, payload, answer and failure direction."""

    name: str
    events: Mapping[str, tuple[Occasion, ...]]
    payload: Callable[[Call], dict[str, Any]]
    answer: Callable[[Handler, Call, Reply], Verdict]
    matches: Callable[[str | None, Iterable[str]], bool]
    matched: Callable[[Call], tuple[str, ...]]
    environment: Callable[[Call], dict[str, str]]
    timeout: Callable[[str], float]  # seconds by default, by native event
    unit: float = 1.0  # seconds in one unit of a written timeout
    in_order: bool = False
    tool_names: Mapping[str, str] = field(default_factory=dict)  # ours to theirs

    def tool(self, name: str) -> str:
        """Their name of a tool."""
        return self.tool_names.get(name, name)


class Answer(BaseModel):
    """An object that a hook printed; keys that we do not know are no mistake."""

    model_config = ConfigDict(extra="ignore", strict=True)


class CommonAnswer(Answer):
    """The fields on which agents agree."""

    continue_: bool = Field(True, alias="continue")
    stopReason: str | None = None  # noqa: N815 - the name on the wire
    suppressOutput: bool = False  # noqa: N815
    systemMessage: str | None = None  # noqa: N815
    reason: str | None = None

    @property
    def stop(self) -> str | None:
        """Why the run is to end, if it is."""
        return None if self.continue_ else self.stopReason or "A hook ended the run."

    @property
    def notes(self) -> tuple[str, ...]:
        """What the person is to read."""
        return (self.systemMessage,) if self.systemMessage else ()


A = TypeVar("A", bound=Answer)


def extra_fields(builders: Mapping[str, Build], call: Call) -> dict[str, Any]:
    """The fields that only this native event has."""
    build = builders.get(call.native)
    return {} if build is None else build(call)


def names_of_tool(call: Call, theirs: Mapping[str, str]) -> tuple[str, ...]:
    """Our name and theirs: matchers are written with either."""
    return tuple({call.tool, theirs.get(call.tool, call.tool)})


def read_answer(
    model: type[A], handler: Handler, reply: Reply, *, blocks: bool = True
) -> A | Verdict:
    """JSON at exit 0; without it, what its absence means."""
    ended = by_exit_code(handler, reply, blocks=blocks)
    if ended is not None:
        return ended
    printed = read_json(reply.stdout)
    return unreadable(handler, reply.stdout) if printed is None else valid(model, handler, printed)


def by_exit_code(handler: Handler, reply: Reply, *, blocks: bool = True) -> Verdict | None:
    """A block at 2, where the agent has that; a failure at all others; None at 0."""
    if reply.failure is not None:
        return failed(reply.failure, fail_closed=handler.fail_closed)
    if reply.code == 2 and blocks:
        return Verdict(decision="deny", reason=reply.stderr.strip() or "Blocked by a hook.")
    if reply.code != 0:
        sentence = f"Hook {handler.label!r} exited with {reply.code}: {first_line(reply.stderr)}"
        return failed(sentence, fail_closed=handler.fail_closed)
    return None


def valid(model: type[A], handler: Handler, printed: dict[str, Any]) -> A | Verdict:
    """The object in the agent's form, or the failure to be one."""
    try:
        return model.model_validate(printed)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"])) or "answer"
        sentence = f"Hook {handler.label!r} answered with a wrong {key!r}: {first['msg']}"
        return failed(sentence, fail_closed=handler.fail_closed)


def read_json(text: str) -> dict[str, Any] | None:
    """The object that a hook printed, or None when it printed something else."""
    stripped = text.strip()
    if not stripped.startswith("{"):
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def unreadable(handler: Handler, text: str) -> Verdict:
    """Plain text is no answer; something that begins like one is a failed one."""
    if not text.strip().startswith("{"):
        return NOTHING
    sentence = f"Hook {handler.label!r} answered with JSON that cannot be read"
    return failed(sentence, fail_closed=handler.fail_closed)


def first_line(text: str) -> str:
    """Enough of an error output to recognise it by."""
    lines = text.strip().splitlines()
    return lines[0][:300] if lines else "no message"
