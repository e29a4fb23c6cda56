"""Answers that a person gave for always, kept beyond the process that asked."""

from __future__ import annotations

from typing import Any

from amplifier_core.approval import (
    AnyAnswer,
    AnyApprovalSystem,
    ApprovalAnswer,
    ApprovalQuestion,
)
from amplifier_core.approval.meaning import read_option
from amplifier_core.approval.question import DecidingApprovalSystem

ALWAYS = "guest_always"
"""In the state of a session: what was answered for always."""


class RememberingApproval:
    """Asks once where a person said always; within one process the gate itself remembers."""

    def __init__(self, system: AnyApprovalSystem, state: dict[str, Any]) -> None:
        self._system = system
        self._state = state

    async def decide(self, question: ApprovalQuestion) -> AnyAnswer:
        """The answer that was given before, or the person's."""
        known = self._recall(question)
        if known is not None:
            return known
        answer = await self._ask(question)
        self._remember(question, answer)
        return answer

    async def _ask(self, question: ApprovalQuestion) -> AnyAnswer:
        system: Any = self._system
        if isinstance(system, DecidingApprovalSystem):
            return await system.decide(question)
        answer: str = await system.request_approval(
            question.prompt, list(question.options), question.timeout, question.default
        )
        return answer

    def _recall(self, question: ApprovalQuestion) -> ApprovalAnswer | None:
        kept = self._list_kept()
        found = [kept.get(_build_key(question, scoped)) for scoped in (False, True)]
        dicts = [one for one in found if isinstance(one, dict)]
        said = [one for one in dicts if one.get("option") in question.options]
        if not said:
            return None
        chosen = min(said, key=lambda one: read_option(one["option"]).allows)  # a no is stronger
        return ApprovalAnswer(chosen["option"], by=f"rule:always, said by {chosen.get('by')}")

    def _remember(self, question: ApprovalQuestion, answer: AnyAnswer) -> None:
        option = answer if isinstance(answer, str) else getattr(answer, "option", None)
        meaning = read_option(option) if isinstance(option, str) else None
        edited = isinstance(answer, ApprovalAnswer) and answer.edited_input is not None
        if meaning is None or not meaning.remembered or edited or option not in question.options:
            return
        by = answer.by if isinstance(answer, ApprovalAnswer) else None
        kept = self._list_kept()
        kept[_build_key(question, meaning.scoped)] = {"option": option, "by": by or "a person"}
        self._state[ALWAYS] = kept

    def _list_kept(self) -> dict[str, Any]:
        kept = self._state.get(ALWAYS)
        return dict(kept) if isinstance(kept, dict) else {}


def _build_key(question: ApprovalQuestion, scoped: bool) -> str:
    about = "" if scoped else question.digest
    return "\n".join([question.hook, question.tool_name or "", about, question.prompt])
