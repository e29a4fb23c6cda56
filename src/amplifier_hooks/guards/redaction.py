"""hooks-redaction: replace secrets wherever they appear, and ask before one is written.

Listens to  prompt:submit, provider:request, provider:response, tool:pre, tool:post, tool:error,
            mcp:list and the notifications that repeat their texts
Answers     modify, ask_user or deny, or continue; registers a scrubber for display, trail, logs
            and saved state
Configure   on_write, off, patterns, allow, environment, allow_in_tools, events, replacement,
            notify, priority, write_priority, timeout, approval_*
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from operator import is_
from typing import Any, Literal

from pydantic import BaseModel, Field, field_validator

from amplifier_core import events
from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import TOOL_PRE
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_core.utils.frozen import FrozenDict
from amplifier_core.utils.nested import iterate_texts
from amplifier_hooks.guards.mcp.protocol import LIST
from amplifier_hooks.guards.policy.patterns import PatternError
from amplifier_hooks.guards.policy.secrets import SHAPES, Redactor
from amplifier_hooks.guards.policy.tool_calls import (
    EDITING_TOOLS,
    find_path,
    is_reading,
    iterate_texts_under,
    list_paths,
)
from amplifier_hooks.modules.options import check_known, check_pattern_names, parse_config
from amplifier_hooks.modules.registration import (
    GuardConfig,
    Removal,
    Reply,
    combine_removals,
    register_guards,
    shorten,
)

NAME = "hooks-redaction"

FIELDS: dict[str, tuple[str, ...]] = {**events.texts, LIST: ("items", "instructions")}
"""What is looked through, per event."""

OnWrite = Literal["ask", "deny", "tell-and-redact", "off"]


class Config(GuardConfig):
    """The options of hooks-redaction."""

    on_write: OnWrite = "ask"
    off: list[str] = Field(default_factory=list)
    patterns: dict[str, str] = Field(default_factory=dict)
    allow: list[str] = Field(default_factory=list)
    environment: list[str] = Field(default_factory=list)
    allow_in_tools: list[str] = Field(default_factory=list)
    events: list[str] = Field(default_factory=lambda: list(FIELDS), min_length=1)
    replacement: str = "[REDACTED:{name}]"
    notify: bool = False
    priority: int = -1000  # first: other hooks see what it left
    write_priority: int = 900  # behind the hooks that change a call: what is judged is what runs
    # Without "always": a yes to one token is no yes to the next.
    approval_options: list[str] = Field(
        default_factory=lambda: ["Allow once", "Deny"], min_length=1
    )

    @field_validator("off")
    @classmethod
    def _check_shapes(cls, value: list[str]) -> list[str]:
        return check_known(value, SHAPES, "shape")

    @field_validator("events")
    @classmethod
    def _check_events(cls, value: list[str]) -> list[str]:
        return check_known([events.canonical(name) for name in value], FIELDS, "event")

    @field_validator("patterns")
    @classmethod
    def _check_names(cls, value: dict[str, str]) -> dict[str, str]:
        check_pattern_names(value)
        return value


_OWN = "amplifier_"


class SecretFilter(logging.Filter):
    """Rewrites the records of our loggers; those of the application around us stay as they are."""

    def __init__(self, redact_text: Callable[[str], str]) -> None:
        super().__init__()
        self._redact_text = redact_text

    def filter(self, record: logging.LogRecord) -> bool:
        """Replace what is secret in the message and in the traceback; every record passes."""
        if not record.name.startswith(_OWN):
            return True
        try:
            message = record.getMessage()
            clean = self._redact_text(message)
            if clean is not message:
                record.msg = clean
                record.args = None
            if record.exc_info and not record.exc_text:
                record.exc_text = logging.Formatter().formatException(record.exc_info)
            if record.exc_text:
                record.exc_text = self._redact_text(record.exc_text)
        except Exception as error:  # noqa: BLE001 - a log line must not stop what it tells of
            record.msg = f"[withheld: {type(error).__name__}]"
            record.args = None
            record.exc_info = record.exc_text = None
        return True


def watch_logs(redact_text: Callable[[str], str]) -> Callable[[], None]:
    """Filter what every handler of the root logger writes; the returned call ends it."""
    found = SecretFilter(redact_text)
    handlers = list(logging.getLogger().handlers)
    for handler in handlers:
        handler.addFilter(found)

    def end() -> None:
        for handler in handlers:
            handler.removeFilter(found)

    return end


_CALLS = frozenset({"tool_call", "tool_use"})
_LONG = 100_000
"""Letters of a text that is looked through in a thread: longer ones take over a millisecond."""
_NOTHING = (None, None)


class Masking:
    """Answers with the same data, its secrets replaced."""

    def __init__(self, redactor: Redactor, *, notify: bool) -> None:
        self._redactor = redactor
        self._notify = notify
        self._looked_through: dict[int, tuple[Any, Any]] = {}
        """Messages that cannot change, by identity, and what to send for them."""

    def on_event(self, event: str, data: dict[str, Any]) -> Reply:
        """At once, so that calls side by side keep their order; long texts in a thread."""
        fields = FIELDS.get(events.canonical(event), ())
        looked_at = {name: data[name] for name in fields if name in data}
        if any(len(text) > _LONG for text in iterate_texts(self._list_unread(event, looked_at))):
            return asyncio.to_thread(self._answer, event, data, looked_at)
        return self._answer(event, data, looked_at)

    def _answer(self, event: str, data: dict[str, Any], looked_at: dict[str, Any]) -> HookResult:
        if events.canonical(event) == events.PROVIDER_REQUEST:
            new = self._mask_request(looked_at)
        else:
            new = self._mask_fields(event, looked_at)
        changed = [name for name, value in new.items() if value is not data[name]]
        if not changed:
            return HookResult(action="continue")
        message = f"A secret was replaced in {', '.join(changed)} ({event})."
        return HookResult(
            action="modify",
            data={**data, **new},
            user_message=message if self._notify else None,
            user_message_level="warning",
        )

    def _mask_fields(self, event: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._mask(name, event, value) for name, value in fields.items()}

    def _mask(self, name: str, event: str, value: Any) -> Any:
        if events.canonical(event) == events.PROVIDER_RESPONSE and name == "response":
            return self._mask_reply(value)
        return self._redactor.redact(value)

    def _mask_request(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The conversation; of what cannot change, only what is new since the last request is read.

        That is known by its identity: who holds a read-only message has that one.
        """
        messages = fields.get("messages")
        if not isinstance(messages, list):
            return {name: self._redactor.redact(value) for name, value in fields.items()}
        if len(self._looked_through) > 2 * len(messages):
            self._looked_through.clear()
        new = [self._mask_message(one) for one in messages]
        return {"messages": messages if all(map(is_, new, messages)) else new}

    def _mask_message(self, message: Any) -> Any:
        known = self._looked_through.get(id(message), _NOTHING)
        if known[0] is message:
            return known[1]
        new = self._redactor.redact(message)
        if type(message) is FrozenDict:
            self._looked_through[id(message)] = (message, new)
        return new

    def _list_unread(self, event: str, fields: Mapping[str, Any]) -> Any:
        """What is to be looked through: of a conversation, the messages that are new."""
        messages = fields.get("messages")
        if events.canonical(event) != events.PROVIDER_REQUEST or not isinstance(messages, list):
            return fields
        known = self._looked_through
        return [one for one in messages if known.get(id(one), _NOTHING)[0] is not one]

    def _mask_reply(self, reply: Any) -> Any:
        """A model's reply; not its tool calls, which run as they are or are asked about."""
        if isinstance(reply, BaseModel):
            parts = {**reply.__dict__, **(reply.model_extra or {})}
            new = self._mask_parts(parts)
            return reply if new is parts else reply.model_copy(update=new)
        if not isinstance(reply, Mapping):
            return self._redactor.redact(reply)
        return self._mask_parts(reply)

    def _mask_parts(self, parts: Mapping[str, Any]) -> Mapping[str, Any]:
        new = {
            name: value if name == "tool_calls" else self._mask_part(value, name)
            for name, value in parts.items()
        }
        return parts if all(new[name] is value for name, value in parts.items()) else new

    def _mask_part(self, value: Any, name: str) -> Any:
        if isinstance(value, str):
            masked = self._redactor.scrub_keyed(value, name)
            return value if masked == value else masked
        if not isinstance(value, list):
            return self._redactor.redact(value)
        new = [one if _is_call(one) else self._redactor.redact(one) for one in value]
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new


def _is_call(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, Mapping) else getattr(block, "type", None)
    return kind in _CALLS


_REPLACED = ("old_string", "old_str", "old_text", "oldText")
"""What an edit takes out stands in the file already."""


class WriteGuard:
    """Stands before tool calls whose input holds a token, or a mark where a secret was."""

    def __init__(self, config: Config, redactor: Redactor) -> None:
        self._config = config
        self._redactor = redactor

    def on_call(self, event: str, data: dict[str, Any]) -> HookResult:
        tool = str(data.get("tool_name", ""))
        given = data.get("tool_input")
        if any(fnmatchcase(tool, glob) for glob in self._config.allow_in_tools):
            return HookResult(action="continue")
        found = self._redactor.find_tokens(given)
        if found:
            return self._answer_tokens(tool, found, data)
        marks = self._find_marks(tool, given)
        return self._answer_marks(tool, marks, given) if marks else HookResult(action="continue")

    # Tokens

    def _answer_tokens(
        self, tool: str, found: list[tuple[str, str]], data: dict[str, Any]
    ) -> HookResult:
        what = shorten(", ".join(_describe(name, place) for name, place in found))
        if self._config.on_write == "tell-and-redact":
            clean = self._redactor.redact_tokens(data.get("tool_input"))
            told = f"{tool} goes on without a secret that was in its input: {what}"
            return _warn(told, action="modify", data={**data, "tool_input": clean})
        reason = (
            f"the input of {tool} holds a secret ({what}); have the program read it from its "
            "environment or from a file instead"
        )
        if self._config.on_write == "deny":
            return HookResult(action="deny", reason=reason)
        prompt = f"The input of {tool} holds a secret: {what}. Let {tool} use it as it is?"
        return self._config.ask_user(prompt, "a program can read it from its environment instead")

    # Marks

    def _find_marks(self, tool: str, given: Any) -> list[str]:
        """Marks that would take the place of a value in a file."""
        if not isinstance(given, Mapping) or not _writes_file(tool, given):
            return []
        taken_out = "\n".join(iterate_texts_under(given, _REPLACED))
        texts = [text for text in iterate_texts(given) if text not in taken_out]
        return sorted(
            mark
            for mark in self._redactor.marks
            if mark not in taken_out and any(mark in text for text in texts)
        )

    def _answer_marks(self, tool: str, marks: list[str], given: Any) -> HookResult:
        what = ", ".join(marks)
        where = shorten(find_path(given) or "a file")
        reason = (
            f"{what} stands for a value that was not shown; writing it to {where} would lose the "
            "value that is there. Edit only the lines around it"
        )
        if self._config.on_write == "deny":
            return HookResult(action="deny", reason=reason)
        if self._config.on_write == "tell-and-redact":
            return _warn(f"{tool} writes {what} to {where} instead of the value that was hidden")
        prompt = (
            f"{tool} would write {what} to {where}. It stands for a value that the agent was not "
            "shown, and which would be lost. Write it all the same?"
        )
        return self._config.ask_user(prompt, "the lines around it can be edited alone")


def _writes_file(tool: str, given: Mapping[str, Any]) -> bool:
    """Whether a tool changes a file: one of ours, or one that names a file and may change it."""
    if tool in EDITING_TOOLS:
        return True
    return not is_reading(tool) and next(list_paths(given), None) is not None


def _describe(name: str, place: str) -> str:
    return f"{name} in {place!r}" if place else name


def _warn(message: str, **answer: Any) -> HookResult:
    return HookResult(
        **{"action": "continue", **answer}, user_message=message, user_message_level="warning"
    )


_SHORTEST_ENVIRONMENT_VALUE = 8


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to redact. Fails closed: what cannot be looked through goes nowhere."""
    settings = parse_config(Config, config, NAME)
    redactor = _build_redactor(settings)
    return combine_removals(
        [
            _register_masking(coordinator, settings, redactor),
            _register_write_guard(coordinator, settings, redactor),
            watch_logs(redactor.redact_text),
            coordinator.register_scrubber(redactor),
        ]
    )


def _register_masking(host: Host, settings: Config, redactor: Redactor) -> Removal:
    masking = Masking(redactor, notify=settings.notify)
    heard = [event for event in settings.events if event != TOOL_PRE]
    return register_guards(
        host,
        NAME,
        [(event, masking.on_event) for event in heard],
        priority=settings.priority,
        timeout=settings.timeout,
    )


def _register_write_guard(host: Host, settings: Config, redactor: Redactor) -> Removal:
    wanted = settings.on_write != "off" and TOOL_PRE in settings.events
    changes = settings.on_write == "tell-and-redact"
    return register_guards(
        host,
        NAME,
        [(TOOL_PRE, WriteGuard(settings, redactor).on_call)] if wanted else [],
        priority=settings.priority if changes else settings.write_priority,
        timeout=settings.timeout,
    )


def _build_redactor(config: Config) -> Redactor:
    try:
        return Redactor(collect_shapes(config), NAME, config.replacement, config.allow)
    except PatternError as wrong:
        raise ModuleLoadError(f"{NAME}: option 'patterns' or 'allow': {wrong}") from wrong


def collect_shapes(config: Config) -> dict[str, str]:
    """Own patterns first, so that they name what they share with ours."""
    named = {**config.patterns, **{k: v for k, v in SHAPES.items() if k not in config.patterns}}
    shapes = {name: shape for name, shape in named.items() if name not in config.off}
    for name, value in sorted(os.environ.items()):
        listed = any(fnmatchcase(name, glob) for glob in config.environment)
        if listed and len(value) >= _SHORTEST_ENVIRONMENT_VALUE:
            shapes[f"env-{name}"] = re.sub(r"([^A-Za-z0-9\s])", r"\\\1", value)
    return shapes
