"""Models of the SDK behind hooks: each request before it goes out, each reply before it counts."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from agents import Model, ModelProvider, ModelResponse, UserError
from agents.items import TResponseStreamEvent
from openai.types.responses import (
    ResponseCompletedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
)

from amplifier_core.answers import describe_denial
from amplifier_core.operation import KERNEL
from amplifier_hooks.frameworks.openai_agents.attaching import attach_request
from amplifier_hooks.frameworks.openai_agents.messages import (
    CannotWrite,
    change_output,
    change_text,
    list_items,
    make_message,
    make_response,
    read_items,
    read_reply,
    read_reply_text,
    refuse,
    replace_output,
    stream_message,
    wants_nothing,
    write_items,
)
from amplifier_hooks.frameworks.openai_agents.turn import Turn, current
from amplifier_hooks.guards.policy.unread_tools import OfferedTool

_NAMES = (
    "system_instructions",
    "input",
    "model_settings",
    "tools",
    "output_schema",
    "handoffs",
    "tracing",
)


@dataclass(slots=True)
class Exchange:
    """One request of a turn and its reply."""

    turn: Turn
    model: Any
    given: dict[str, Any]
    """The arguments of the SDK's call of the model, by name."""
    unnamed: int = 0
    """How many of them had no name: a model of somebody else may name them otherwise."""
    started: float = 0.0

    @classmethod
    def read(cls, turn: Turn, model: Any, args: tuple[Any, ...], more: dict[str, Any]) -> Exchange:
        """The call of a model that the SDK has made like this."""
        return cls(turn, model, {**dict(zip(_NAMES, args, strict=False)), **more}, len(args))

    def call(self, method: Any) -> Any:
        """Call the model in the same way, with what hooks left."""
        names = _NAMES[: self.unnamed]
        named = {key: value for key, value in self.given.items() if key not in names}
        return method(*(self.given[name] for name in names), **named)

    @property
    def provider(self) -> str:
        """Who makes the model: the SDK does not say, but the class of the model does."""
        kind: Any = type(self.model)
        return _name_provider(kind)

    @property
    def model_name(self) -> str | None:
        """The name of the model, if it has one."""
        name = getattr(self.model, "model", None)
        return None if name is None else str(name)

    async def open(self) -> str | None:
        """Judge the request and leave it as hooks left it; returns why it must not go out."""
        self.turn.answered = None
        attach_request(self.given["tools"], self.given["handoffs"], self.turn)
        instructions = self.given["system_instructions"]
        items = list_items(self.given["input"])
        tools: list[str | OfferedTool] = [_describe_tool(one) for one in self.given["tools"]]
        tools += [one.tool_name for one in self.given["handoffs"]]
        verdict = await self.turn.run.request(
            read_items(instructions, items),
            provider=self.provider,
            model=self.model_name,
            tools=tools,
            keeps=bool(self.given.get("previous_response_id") or self.given.get("conversation_id")),
        )
        if not verdict.allowed:
            return verdict.reason
        if verdict.changed:
            try:
                written = write_items(verdict.placed, instructions, items)
            except CannotWrite as error:
                return describe_denial(KERNEL, str(error))
            self.given["system_instructions"], self.given["input"] = written
        self.started = time.monotonic()
        return None

    async def close(self, output: list[Any], usage: Any, *, streamed: bool) -> list[Any]:
        """Judge the reply, and the answer if it is one; returns the output that counts."""
        spent = time.monotonic() - self.started
        reply = read_reply(output, usage, self.model_name, spent)
        verdict = await self.turn.run.review(reply, provider=self.provider)
        if not verdict.allowed:
            return [await self.end(verdict.reason)]
        if verdict.changed:
            try:
                output = change_output(output, verdict)
            except CannotWrite as error:
                return [await self.end(describe_denial(KERNEL, str(error)))]
        text = read_reply_text(output)
        if not text or not wants_nothing(output):
            return output
        answer = await self.turn.run.answer(text, streamed=streamed)
        self.turn.answered = answer.text
        if not answer.allowed:
            return [refuse(answer.text, self.given["output_schema"])]
        return change_text(output, answer.text) if answer.changed else output

    async def end(self, reason: str) -> ResponseOutputMessage:
        """End the turn with a reason of ours, which is its answer."""
        answer = await self.turn.run.answer(reason)
        self.turn.answered = answer.text
        return refuse(answer.text, self.given["output_schema"])


@cache
def _name_provider(kind: Any) -> str:
    is_openai = any(one.__module__.startswith("agents.models.openai") for one in kind.__mro__)
    return "openai" if is_openai else str(kind.__name__).removesuffix("Model").lower()


class _Governed:
    """What is put in front of the class of a model."""

    async def get_response(self, *args: Any, **more: Any) -> ModelResponse:
        inner: Any = super()
        turn = current.get()
        if turn is None:
            plain: ModelResponse = await inner.get_response(*args, **more)
            return plain
        exchange = Exchange.read(turn, self, args, more)
        if (reason := await exchange.open()) is not None:
            return make_response(await exchange.end(reason))
        response: ModelResponse = await exchange.call(inner.get_response)
        output = await exchange.close(response.output, response.usage, streamed=False)
        return replace_output(response, output)

    async def stream_response(self, *args: Any, **more: Any) -> AsyncIterator[TResponseStreamEvent]:
        inner: Any = super()
        turn = current.get()
        if turn is None:
            async with contextlib.aclosing(inner.stream_response(*args, **more)) as plain:
                async for event in plain:
                    yield event
            return
        exchange = Exchange.read(turn, self, args, more)
        if (reason := await exchange.open()) is not None:
            for event in stream_message(await exchange.end(reason)):
                yield event
            return
        streamed: list[Any] = []
        # Closed with this one, and not some time later: the model holds a connection.
        async with contextlib.aclosing(exchange.call(inner.stream_response)) as stream:
            async for event in stream:
                if isinstance(event, ResponseOutputItemDoneEvent):
                    streamed.append(event.item)
                yield await _close_stream(exchange, event, streamed)


async def _close_stream(exchange: Exchange, event: Any, streamed: list[Any]) -> Any:
    """The event; if it is the last one, with the reply that counts."""
    if not isinstance(event, ResponseCompletedEvent):
        return event
    response = event.response
    # Of a last event without output, the SDK takes the items that were streamed.
    given = response.output or streamed
    output = await exchange.close(given, response.usage, streamed=True)
    if output is response.output:
        return event
    # Both are copied: the model may keep its own.
    left = {"output": output or [make_message("")]}
    return event.model_copy(update={"response": response.model_copy(update=left)})


class _GovernedProvider:
    """What is put in front of the class of a model provider."""

    def get_model(self, model_name: str | None) -> Model:
        inner: Any = super()
        model: Model = inner.get_model(model_name)
        return govern_model(model)


def govern_model(model: Model) -> Model:
    """The model with hooks in front of it, in a governed turn; elsewhere itself."""
    turn = current.get()
    if turn is None or isinstance(model, _Governed):
        return model
    known = turn.models.get(id(model))
    if known is None:
        # The model is kept with the other one: its id is not used again while this turn lasts.
        known = turn.models[id(model)] = (model, _stand_in(model, _Governed))
    governed: Model = known[1]
    return governed


def govern_provider(provider: ModelProvider) -> ModelProvider:
    """The provider, giving out models with hooks in front of them."""
    if isinstance(provider, _GovernedProvider):
        return provider
    found: ModelProvider = _stand_in(provider, _GovernedProvider)
    return found


def _describe_tool(tool: Any) -> str | OfferedTool:
    """A function of the program; of what runs at the provider there is only a name."""
    name = str(getattr(tool, "name", tool))
    schema = getattr(tool, "params_json_schema", None)
    return OfferedTool(name, schema) if isinstance(schema, dict) else name


def _stand_in(original: Any, front: type) -> Any:
    """Another object of the same kind with the same state, and with methods of ours in front."""
    kind: Any = type(original)
    if not hasattr(original, "__dict__"):
        raise UserError(f"Hooks cannot be put in front of a {kind.__name__}: its class has slots")
    stand_in: Any = object.__new__(_derive(kind, front))
    stand_in.__dict__ = original.__dict__
    return stand_in


@cache
def _derive(kind: Any, front: type) -> type[Any]:
    named = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    return type(kind.__name__, (front, kind), named)
