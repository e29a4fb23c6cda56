"""The script of a conversation: what a model says, reply by reply.

`provider-scripted` plays it inside the process, `model_server` plays it over HTTP.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from amplifier_core.errors import ModuleLoadError
from amplifier_core.message_models import Usage
from amplifier_core.utils.tokens import estimate_tokens
from amplifier_hooks.agent.providers.usage import complete_counts
from amplifier_hooks.machine.text import clip_text
from amplifier_hooks.modules.options import parse_config

FailureType = Literal[
    "rate_limit",
    "overloaded",
    "server_error",
    "timeout",
    "connection",
    "authentication",
    "access_denied",
    "not_found",
    "invalid_request",
    "context_length",
    "content_filter",
]
WhenDone = Literal["close", "raise", "repeat"]

CLOSING = "The script is finished."

_WORD = re.compile(r"\s*\S+|\s+\Z")


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Failure(_Line):
    """An error before a reply, `times` in a row; in a stream, `after` this many events."""

    type: FailureType
    message: str = ""
    retry_after: float | None = Field(None, ge=0)
    times: int = Field(1, ge=1)
    after: int | None = Field(None, ge=0)

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, value: Any) -> Any:
        return {"type": value} if isinstance(value, str) else value

    @property
    def sentence(self) -> str:
        """What the caller reads."""
        return self.message or f"The script says {self.type.replace('_', ' ')}."


class ScriptedCall(_Line):
    """A tool call. `arguments`, if given, is sent as it is, so it may be malformed."""

    name: str
    input: dict[str, Any] = Field(default_factory=dict)
    arguments: str | None = None
    id: str | None = None

    @property
    def written_arguments(self) -> str:
        """The arguments as the model writes them, which need not be JSON."""
        if self.arguments is not None:
            return self.arguments
        return json.dumps(self.input, ensure_ascii=False)


class Reply(_Line):
    """One reply of the model, which may be empty."""

    text: str = ""
    thinking: str | None = None
    signature: str | None = None
    tool_calls: tuple[ScriptedCall, ...] = ()
    usage: Usage | None = None
    finish_reason: str | None = None
    expect: str | None = None
    delay: float = Field(0.0, ge=0)
    pause: float = Field(0.0, ge=0)
    break_after: int | None = Field(None, ge=0)
    error: Failure | None = None

    @field_validator("usage", mode="before")
    @classmethod
    def _complete_usage(cls, value: Any) -> Any:
        return complete_counts(value) if isinstance(value, Mapping) else value

    @property
    def only_fails(self) -> bool:
        """Whether the error is all there is, so that the next request gets the next reply."""
        return self.error is not None and not (self.text or self.thinking or self.tool_calls)

    @property
    def output_tokens(self) -> int:
        """An estimate of its size."""
        calls = "".join(call.written_arguments for call in self.tool_calls)
        return estimate_tokens(self.text + (self.thinking or "") + calls)


def split_words(text: str) -> list[str]:
    """The text in the pieces it is streamed in: words, each with the space before it."""
    return _WORD.findall(text)


class _File(_Line):
    script: list[Reply]


def replies_of(script: Sequence[Reply | Mapping[str, Any]], owner: str = "script") -> list[Reply]:
    """Validate a script that was written in Python or in a config."""
    lines = [line if isinstance(line, Reply) else dict(line) for line in script]
    return parse_config(_File, {"script": lines}, owner).script


def read_script(path: str | Path) -> list[Reply]:
    """Read a YAML file: a list of replies, or a mapping with the list under `script`."""
    path = Path(path)
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as failure:
        reason = " ".join(str(failure).split())
        raise ModuleLoadError(f"The script {str(path)!r} cannot be read: {reason}") from failure
    document = content if isinstance(content, Mapping) else {"script": content}
    return parse_config(_File, document, f"script {path.name}").script


class Playback:
    """Walks through a script: which reply is next, and which error comes before it."""

    def __init__(self, replies: Sequence[Reply], when_done: WhenDone = "close") -> None:
        self.replies = tuple(replies)
        self.when_done = when_done
        self.position = 0
        self.lap = 0
        self._failed = 0

    def peek(self) -> Reply | None:
        """The reply to the next request, or None after the end of the script."""
        if self.position >= len(self.replies) and self.when_done == "repeat" and self.replies:
            self.position, self.lap = 0, self.lap + 1
        return self.replies[self.position] if self.position < len(self.replies) else None

    def find_surprise(self, said: str) -> str | None:
        """A sentence about a request that the script does not expect; None if it does.

        `said` is everything that was said to the model since its last reply.
        """
        reply = self.peek()
        if reply is None or reply.expect is None or reply.expect in said:
            return None
        return (
            f"Reply {self.position + 1} of the script expects {reply.expect!r} in what was said "
            f"last, which is {clip_text(said, 120)!r}"
        )

    def take(self) -> Reply | Failure | None:
        """Take the next reply or failure; None after the end of the script."""
        reply = self.peek()
        if reply is None:
            return None
        if reply.error is not None and self._failed < reply.error.times:
            return self._fail(reply, reply.error)
        self._advance()
        return reply

    def _fail(self, reply: Reply, error: Failure) -> Failure:
        self._failed += 1
        if reply.only_fails and self._failed >= error.times:
            self._advance()
        return error

    def _advance(self) -> None:
        self.position += 1
        self._failed = 0
