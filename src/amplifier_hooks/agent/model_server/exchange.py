"""The exchange: one request, and the reply of the script to it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from amplifier_core.message_models import Usage
from amplifier_core.utils.tokens import estimate_tokens
from amplifier_hooks.agent.providers.script import Reply, ScriptedCall
from amplifier_hooks.agent.providers.usage import build_usage


@dataclass(frozen=True, slots=True)
class Exchange:
    """`number` makes the ids in a reply distinct; `body` is the request's."""

    reply: Reply
    number: int
    body: dict[str, Any]

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return str(self.body.get("model") or "scripted")

    @property
    def usage(self) -> Usage:
        """The tokens as written in the script, or an estimate."""
        if self.reply.usage is not None:
            return self.reply.usage
        asked = estimate_tokens(json.dumps(self.body, ensure_ascii=False))
        return build_usage(input_tokens=asked, output_tokens=self.reply.output_tokens)

    def number_calls(self, prefix: str) -> list[tuple[str, ScriptedCall]]:
        """The tool calls with the ids of the script, or with numbered ones."""
        numbered = enumerate(self.reply.tool_calls, 1)
        return [(call.id or f"{prefix}_{self.number}_{n}", call) for n, call in numbered]
