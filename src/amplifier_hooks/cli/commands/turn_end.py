"""The end of a turn, as its events tell it: complete or early, with a whole reply or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.events import EXECUTION_COMPLETE, PROVIDER_RESPONSE
from amplifier_core.hooks import HookRegistry
from amplifier_core.llm_errors import LLMError
from amplifier_core.models import CONTINUE, HookResult
from amplifier_hooks.cli.display.observer import LAST
from amplifier_hooks.modules.finish_reason import explain_cut, read_finish_reason

ENDED_EARLY = frozenset({"interrupted", "error", "cancelled", "incomplete"})
"""How loops, ours and others, call a turn that did not come to its end."""


class TurnEnd:
    """What is known about the end of the last turn of one session; sub-agents do not count."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self._session = ""
        self._outcome = "success"

    def follow(self, hooks: HookRegistry, session_id: str) -> None:
        """Hear of each reply, and of the end of each turn."""
        self._session = session_id
        hooks.register(PROVIDER_RESPONSE, self._note_reply, priority=LAST, name="cli-run")
        hooks.register(EXECUTION_COMPLETE, self._note_outcome, priority=LAST, name="cli-run")

    def forget(self) -> None:
        """A new turn begins."""
        self.finish_reason, self._outcome = None, "success"

    @property
    def is_early(self) -> bool:
        """Whether the turn did not come to its end."""
        return self._outcome in ENDED_EARLY

    @property
    def is_cut(self) -> bool:
        """Whether the last reply of the model is not whole."""
        return explain_cut(self.finish_reason) is not None

    def check(self, reply: str) -> None:
        """Raise if the model was cut off before it said anything; our loops do so themselves."""
        if self.is_cut and not (self.is_early or reply.strip()):
            raise LLMError(f"The reply of the model is empty: {explain_cut(self.finish_reason)}")

    def describe_cut(self) -> str:
        """What a person should know about a reply that is not whole."""
        return f"The reply is cut off: {explain_cut(self.finish_reason)}."

    async def _note_reply(self, event: str, data: Mapping[str, Any]) -> HookResult:
        if data.get("session_id") == self._session:
            self.finish_reason = read_finish_reason(data)
        return CONTINUE

    async def _note_outcome(self, event: str, data: Mapping[str, Any]) -> HookResult:
        if data.get("session_id") == self._session:
            self._outcome = str(data.get("status"))
        return CONTINUE
