"""Handing a question to the framework's own interrupt, and taking the answer back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from amplifier_core import events
from amplifier_core.approval import (
    ApprovalAnswer,
    ApprovalQuestion,
    HandedOver,
    allows,
    read_option,
)
from amplifier_core.errors import ApprovalError
from amplifier_core.utils import safe_repr

USELESS_ANSWER = "no answer to it came back"
"""What shows that something did not run: what the framework gave was no answer to the question."""

HandOver = Callable[["Handed"], Any]
"""Puts the question to the framework: raises its interrupt, or returns the answer that came."""


@dataclass(frozen=True, slots=True)
class Handed:
    """A question on its way to a person; `digest` is that of exactly what would run."""

    prompt: str
    options: tuple[str, ...]
    tool_name: str
    tool_input: dict[str, Any]
    tool_call_id: str
    digest: str
    hook: str
    answered: tuple[dict[str, Any], ...] = ()
    """What was asked about this call before: each with its hook, its prompt and the answer."""

    def to_payload(self) -> dict[str, Any]:
        """For the framework's interrupt: values that JSON can hold."""
        payload = {
            "amplifier": "approval",
            "prompt": self.prompt,
            "options": list(self.options),
            "tool_name": self.tool_name,
            "tool_input": self.tool_input,
            "tool_call_id": self.tool_call_id,
            "digest": self.digest,
            "hook": self.hook,
        }
        return {**payload, "answered": list(self.answered)} if self.answered else payload


def answer(
    payload: dict[str, Any], option: str, *, by: str = "", comment: str = ""
) -> dict[str, Any]:
    """The answer to the payload of an interrupt, bound to what was shown."""
    options = payload.get("options") or []
    if option not in options:
        raise ValueError(f"{option!r} is not one of {', '.join(map(str, options))}")
    return {"option": option, "digest": payload["digest"], "by": by, "comment": comment}


def decide(
    payload: Mapping[str, Any],
    yes: bool,
    *,
    comment: str = "",
    edited_input: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A yes or a no in the framework's own form, bound to what the payload showed.

    A yes is for this once; with `edited_input`, for these arguments instead of those shown.
    """
    meanings = [(str(one), read_option(str(one))) for one in payload.get("options") or ()]
    fitting = [
        option
        for option, means in meanings
        if not means.remembered and (means.allows if yes else means.refuses)
    ]
    # Of a question without a yes or a no, what nobody offered: the kernel takes it for a no,
    # unless some option allows.
    option = fitting[0] if fitting else "Allow once" if yes else "Deny"
    given = {"option": option, "digest": payload.get("digest"), "by": "", "comment": comment}
    return given if edited_input is None else {**given, "edited_input": edited_input}


def bind_plain(payload: Mapping[str, Any], given: Any) -> Any:
    """A plain answer (True, "y", an option) bound to what the payload showed; others as given."""
    if isinstance(given, bool):
        return decide(payload, given)
    if not isinstance(given, str):
        return given
    if given in (payload.get("options") or ()):
        return answer(dict(payload), given)
    return decide(payload, given.strip().lower() == "y" or allows(given))


def find_answered(payload: Mapping[str, Any], handed: Handed) -> Any:
    """The answer to this question that a later question of the same call carries along."""
    for one in payload.get("answered") or ():
        if (one.get("hook"), one.get("prompt")) == (handed.hook, handed.prompt):
            return one.get("answer")
    return None


def say_no(question: ApprovalQuestion, why: str) -> ApprovalAnswer:
    """Decide nothing, whatever the default of the question is."""
    if question.default == "deny":
        raise ApprovalError(why)
    # The kernel applies the default to an error; an answer nobody offered is a no.
    return ApprovalAnswer(why)


Key = tuple[str, str, str]
"""What an answer is about: the digest of what would run, the hook that asks, and its question."""


@dataclass(slots=True)
class Handover:
    """The approval system of one tool call whose questions the framework asks."""

    framework: str
    asked: Handed | None = None
    """What was asked and not answered yet."""
    _answers: dict[Key, ApprovalAnswer] = field(default_factory=dict)
    _left: dict[Key, ApprovalAnswer] = field(default_factory=dict)
    _edits: dict[str, ApprovalAnswer] = field(default_factory=dict)
    """Answers that changed the call, by the hook that asked."""
    _answered: list[dict[str, Any]] = field(default_factory=list)

    def start_again(self) -> None:
        """The call goes through its hooks once more: each answer so far counts once more."""
        self._left = dict(self._answers)

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer | HandedOver:
        """The answer that came for exactly this; else it is handed over, and the question kept."""
        known = self._left.pop((question.digest, question.hook, question.prompt), None)
        if known is not None:
            return known
        edit = self._edits.get(question.hook)
        if edit is not None and edit.edited_input == question.tool_input:
            # The hook's words may name what was changed; who changed it has said yes to this.
            return ApprovalAnswer(edit.option, by=edit.by, comment=edit.comment)
        self.asked = Handed(
            prompt=question.prompt,
            options=question.options,
            tool_name=question.tool_name or "",
            tool_input=question.tool_input,
            tool_call_id=question.tool_call_id,
            digest=question.digest,
            hook=question.hook,
            answered=tuple(self._answered),
        )
        return HandedOver(self.framework)

    def take(self, given: Any) -> str | None:
        """Keep the framework's answer; returns why it is none, if so."""
        asked = self.asked
        self.asked = None
        if asked is None:
            return "nothing was asked"
        if not isinstance(given, dict) or not isinstance(given.get("option"), str):
            shown = safe_repr(given)[:80]
            return f"{shown} is no answer to it; amplifier_hooks.frameworks.answer makes one"
        if given.get("digest") != asked.digest:
            return "the answer is about something else than what would run now"
        who = str(given.get("by") or "") or None
        if who and who.startswith("rule:"):
            who = None
        said = str(given.get("comment") or "") or None
        edited = given.get("edited_input")
        made = ApprovalAnswer(given["option"], by=who, comment=said, edited_input=edited)
        if isinstance(edited, dict):
            self._edits[asked.hook] = made
        self._left[asked.digest, asked.hook, asked.prompt] = made
        self._answers[asked.digest, asked.hook, asked.prompt] = made
        self._answered.append({"hook": asked.hook, "prompt": asked.prompt, "answer": given})
        return None


asked_by_framework: ContextVar[Handover | None] = ContextVar("asked_by_framework", default=None)
"""For the call under way, if the framework asks its people itself."""


class RunApproval:
    """The approval system of a run: the framework where it asks itself, else who was named."""

    def __init__(self, named: Any) -> None:
        self._named = named

    async def decide(self, question: ApprovalQuestion) -> Any:
        """Pass the question on."""
        handover = asked_by_framework.get()
        # A framework that asks about a result would run the tool again to get there.
        if handover is not None and question.event == events.TOOL_PRE:
            return await handover.decide(question)
        if self._named is None:
            return say_no(question, "there is nobody to ask: no approval system was named")
        if hasattr(self._named, "decide"):
            return await self._named.decide(question)
        return await self._named.request_approval(
            question.prompt, list(question.options), question.timeout, question.default
        )
