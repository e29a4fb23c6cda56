"""What a client may say over a WebSocket; anything else ends the connection."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from amplifier_hooks.http_guard import Refusal
from amplifier_hooks.server.guard import check_json
from amplifier_hooks.server.wire.bodies import Body, DecisionBody, StandingBody
from amplifier_hooks.server.wire.text import Comment, Id, Name

MAX_MESSAGE = 64 * 1024

T = TypeVar("T")


class BadMessage(Exception):
    """A message that nobody may send; the text says why, without repeating it."""


class Hello(Body):
    """The first message. A browser proves with `csrf` that our own page sends it."""

    type: Literal["hello"]
    csrf: Name = ""
    session: Name | None = None
    after: Annotated[int, Field(ge=0, le=2**53)] = 0


class Watch(Body):
    """Which session's records to send, and from where on; null: of none."""

    type: Literal["watch"]
    session: Name | None
    after: Annotated[int, Field(ge=0, le=2**53)] = 0


class Decide(Body):
    """A decision, as `POST /approvals/ID/decision` takes it."""

    type: Literal["decide"]
    id: Id
    option: Annotated[int, Field(ge=0, le=1000)]
    nonce: Id
    key: Id
    comment: Comment = ""
    edited_input: dict[str, Any] | None = None
    standing: StandingBody | None = None

    def to_body(self) -> DecisionBody:
        """Without what only the socket needs."""
        return DecisionBody(
            option=self.option,
            nonce=self.nonce,
            key=self.key,
            comment=self.comment,
            edited_input=self.edited_input,
            standing=self.standing,
        )


class Pong(Body):
    """The answer to a ping."""

    type: Literal["pong"]


ClientMessage = Watch | Decide | Pong
_HELLO: TypeAdapter[Hello] = TypeAdapter(Hello)
_LATER: TypeAdapter[ClientMessage] = TypeAdapter(
    Annotated[ClientMessage, Field(discriminator="type")]
)


def parse_hello(text: str) -> Hello:
    """The first message."""
    return _parse(_HELLO, text)


def parse_message(text: str) -> ClientMessage:
    """Any later message."""
    return _parse(_LATER, text)


def _parse(adapter: TypeAdapter[T], text: str) -> T:
    if len(text) > MAX_MESSAGE:
        raise BadMessage(f"a message has at most {MAX_MESSAGE} bytes")
    try:
        check_json(text.encode("utf-8", "surrogatepass"))
    except Refusal as refusal:
        raise BadMessage(refusal.message) from refusal
    try:
        return adapter.validate_json(text)
    except (ValidationError, RecursionError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else None
        raise BadMessage(first["msg"] if first else "nested too deeply") from error
