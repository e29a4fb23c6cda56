"""The words of a question: its prompt and its reason, without what is shown elsewhere anyway.

Hooks repeat the input in their prompts for front ends that show nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from amplifier_core.approval import ApprovalQuestion, read_option
from amplifier_core.events import is_unique
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS
from amplifier_hooks.modules.guarding import read_command, shorten

UNTIL = "until the session ends"

_SHELL_HOOKS_SHOW = 2_000
_HEADINGS = ("The command:", "The input:")
_APPROVAL = "The command needs approval: "


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """What is left to say in words, beside the call itself."""

    prompt: str
    reason: str

    @classmethod
    def of(cls, question: ApprovalQuestion) -> QuestionWords:
        """Each thing once: the input is shown below, and the prompt may hold the reason."""
        prompt = _leave_out_input(question) if question.tool_name else question.prompt
        reason = (question.reason or "").strip()
        return cls(prompt, "" if reason and _is_said(reason, prompt) else reason)


def describe_scope(option: str, question: ApprovalQuestion) -> str:
    """What an option that is remembered covers, and until when; empty for every other one."""
    meaning = read_option(option)
    if not meaning.remembered:
        return ""
    if meaning.scoped:
        return UNTIL
    return f"{_name_scope(question)}, {UNTIL}"


def _name_scope(question: ApprovalQuestion) -> str:
    if is_unique(question.event) or not question.digest:
        return "whenever this is asked"
    if question.tool_name == "Bash":
        return "this exact command"
    return "this exact change" if question.tool_name in EDITING_TOOLS else "this exact call"


def _leave_out_input(question: ApprovalQuestion) -> str:
    """The prompt without one copy of the input, and without the heading above that copy."""
    framed = f"\n{question.prompt}\n"
    for text in _list_renderings(question):
        before, found, after = framed.partition(f"\n{text}\n")
        if not found:
            continue
        head = before.rstrip()
        for heading in _HEADINGS:
            head = head.removesuffix(f"\n{heading}").rstrip()
        rest = after.strip("\n")
        left = f"{head}\n\n{rest}".strip("\n") if rest else head.strip("\n")
        return left or question.prompt
    return question.prompt


def _list_renderings(question: ApprovalQuestion) -> Iterator[str]:
    """The input as hooks write it: a command, or JSON, cut where it is long."""
    given = question.tool_input
    command = read_command(given.get("command"))
    texts = [command] if command and command.strip() else []
    for default in (repr, str):
        try:
            texts.append(json.dumps(given, ensure_ascii=False, default=default))
        except (ValueError, TypeError, RecursionError):
            return
    for text in texts:
        yield from dict.fromkeys((text, shorten(text)))
    yield f"{question.tool_name}: {texts[-1][:_SHELL_HOOKS_SHOW]}"


def _is_said(reason: str, prompt: str) -> bool:
    """Whether the prompt holds the whole reason, word for word."""
    words, said = _fold(reason.removeprefix(_APPROVAL)), _fold(prompt)
    at = said.find(words)
    while at >= 0:
        around = said[at - 1 : at] + said[at + len(words) : at + len(words) + 1]
        if not any(ch.isalnum() for ch in around):
            return True
        at = said.find(words, at + 1)
    return False


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".")
