"""What a program may send to have it judged."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from amplifier_hooks.server.bodies import STORABLE, Body

MAX_WAIT = 60.0
LONGEST_LEASE = 3600.0

EventId = Annotated[str, Field(min_length=1, max_length=200), STORABLE]
Key = Annotated[str, Field(min_length=1, max_length=200), STORABLE]
Program = Annotated[str, Field(pattern=r"^[\p{L}\p{N} ._/@+-]{1,60}$")]
Tool = Annotated[str, Field(min_length=1, max_length=400), STORABLE]
Milliseconds = Annotated[float, Field(ge=0, le=1e12)]
Wait = Annotated[
    float, Field(ge=0, le=MAX_WAIT, description="Seconds to wait while a person is asked.")
]


def _check_folder(text: str) -> str:
    if text and not PurePath(text).is_absolute():
        raise ValueError("must be an absolute path")
    return text


Folder = Annotated[str, Field(max_length=4096), STORABLE, AfterValidator(_check_folder)]


class NewSession(Body):
    """A session to open."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"key": "0b9d53c1", "program": "my-agent"}]}
    )

    key: Annotated[Key, Field(description="Made up once for each session.")]
    program: Annotated[Program, Field(description="What runs the agent, in words.")]
    requests: Annotated[
        bool, Field(description="Whether each request to the model is sent as an event.")
    ] = False
    lease: Annotated[
        float,
        Field(ge=5, le=LONGEST_LEASE, description="Seconds without a request of the program."),
    ] = 60.0


class Renewal(Body):
    """That the program is still there."""


class End(Body):
    """That a session is over."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "complete"}]})

    reason: Literal["complete", "error", "user_exit"] = "complete"


class EventBody(Body):
    """What every event has."""

    id: Annotated[EventId, Field(description="Made up once for each event of a session.")]
    wait: Wait = 0.0


class Prompt(EventBody):
    """A turn begins."""

    event: Literal["prompt"]
    text: str
    metadata: dict[str, Any] = Field(default_factory=dict)


class Request(EventBody):
    """The program is about to ask its model."""

    event: Literal["request"]
    messages: list[dict[str, Any]]
    model: str | None = None
    provider: str = ""
    tools: list[str] = Field(default_factory=list)


class ReplyCall(Body):
    """A tool call that the model wants."""

    id: str
    name: str
    arguments: dict[str, Any]


class Reply(EventBody):
    """The model has answered."""

    event: Literal["reply"]
    text: str
    calls: list[ReplyCall] = Field(default_factory=list)
    model: str | None = None
    provider: str = ""
    usage: dict[str, Any] = Field(default_factory=dict)
    finish_reason: str | None = None
    duration_ms: Milliseconds = 0.0


class Call(EventBody):
    """The program is about to run a tool; the id is that of the call."""

    event: Literal["call"]
    tool: Tool
    input: dict[str, Any]
    cwd: Annotated[Folder, Field(description="Where it runs, if not in the session's folder.")] = ""


class Failure(Body):
    """Why a tool failed."""

    message: str
    type: str = "ToolError"


class Result(EventBody):
    """A tool has run, has failed, or was not run after all."""

    event: Literal["result"]
    call: Annotated[EventId, Field(description="The id of the call.")]
    output: Any = None
    error: Failure | None = None
    not_run: Annotated[str | None, Field(description="Why the tool was not run.")] = None
    success: bool = True
    input: Annotated[
        dict[str, Any] | None, Field(description="What it ran with, if that was something else.")
    ] = None
    duration_ms: Milliseconds | None = None

    @model_validator(mode="after")
    def _has_one_end(self) -> Self:
        ends = [one for one in ("output", "error", "not_run") if one in self.model_fields_set]
        if len(ends) != 1:
            said = " and ".join(ends) or "none of them"
            raise ValueError(f"has one of output, error and not_run; got {said}")
        return self


class Answer(EventBody):
    """The agent's last words are about to go out."""

    event: Literal["answer"]
    text: str
    streamed: Annotated[bool, Field(description="Whether somebody has read it already.")] = False


Event = Annotated[Prompt | Request | Reply | Call | Result | Answer, Field(discriminator="event")]
"""One of the events, told apart by its `event`."""

AnyEvent = Prompt | Request | Reply | Call | Result | Answer
