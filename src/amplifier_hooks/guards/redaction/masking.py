"""Masking: the data of an event with its secrets replaced, guesses included."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from amplifier_core import events
from amplifier_core.models import HookResult
from amplifier_hooks.guards.policy.secrets import Redactor
from amplifier_hooks.guards.redaction.config import FIELDS

_CALLS = frozenset({"tool_call", "tool_use"})


class Masking:
    """Answers with the same data, its secrets replaced."""

    def __init__(self, redactor: Redactor, *, notify: bool) -> None:
        self._redactor = redactor
        self._notify = notify

    def on_event(self, event: str, data: dict[str, Any]) -> HookResult:
        fields = FIELDS.get(events.canonical(event), ())
        new = {name: self._mask(name, event, data[name]) for name in fields if name in data}
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

    def _mask(self, name: str, event: str, value: Any) -> Any:
        if events.canonical(event) == events.PROVIDER_RESPONSE and name == "response":
            return self._mask_reply(value)
        return self._redactor.redact(value)

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
