"""Approval systems that decide by a policy first, and ask a person only where it says so."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from amplifier_core.approval import (
    AnyAnswer,
    AnyApprovalSystem,
    ApprovalAnswer,
    ApprovalQuestion,
    ApprovalTimeout,
    DecidingApprovalSystem,
    read_option,
)
from amplifier_core.errors import ApprovalError
from amplifier_core.events import TOOL_PRE
from amplifier_core.models import Decision
from amplifier_core.utils import describe_error
from amplifier_hooks.guards.policy.paths import resolve
from amplifier_hooks.guards.policy.protected_places import ProtectedPlaces, list_places
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS, PATH_KEYS, iterate_texts_under

logger = logging.getLogger(__name__)

Verdict = Literal["allow", "deny", "ask"]


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a policy says about a question, by which rule, and what the agent is told with a no."""

    verdict: Verdict
    rule: str
    reason: str = ""


class PolicyApproval:
    """Answers by `judge`; what is to be asked goes on to `otherwise`, and without it is refused.

    The trail has each decision with `by="rule:NAME"`.
    """

    governing_files: tuple[Path, ...] = ()
    """Files that the agent must not write, because they govern it."""

    def __init__(self, otherwise: AnyApprovalSystem | None = None) -> None:
        self._otherwise = otherwise

    def refer(self, find: Callable[[AnyApprovalSystem | None], AnyApprovalSystem | None]) -> None:
        """Have other people asked: `find` makes them of those who would be asked now."""
        self._otherwise = find(self._otherwise)

    def judge(self, question: ApprovalQuestion) -> Ruling:
        """The ruling on a question; it may read files, and runs in a thread."""
        raise NotImplementedError

    async def decide(self, question: ApprovalQuestion) -> AnyAnswer:
        """The answer of the policy, or of the person it refers to."""
        try:
            ruling = await asyncio.to_thread(self.judge, question)
        except Exception as error:
            logger.exception("The approval policy failed")
            ruling = Ruling("deny", "failed", f"the policy failed: {describe_error(error)}")
        if ruling.verdict == "ask":
            return await self._ask(question, ruling)
        if ruling.verdict == "deny":
            return refuse(question.options, ruling)
        once = find_once(question.options) or "Allow once"
        return ApprovalAnswer(once, by=f"rule:{ruling.rule}")

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Decision
    ) -> str:
        """The short form, which tells nothing of the call: no rule can allow it."""
        question = ApprovalQuestion(prompt, tuple(options), timeout, default, hook="")
        answer = await self._ask(question, Ruling("ask", "unknown"))
        return answer if isinstance(answer, str) else getattr(answer, "option", "")

    async def _ask(self, question: ApprovalQuestion, ruling: Ruling) -> AnyAnswer:
        system = self._otherwise
        if system is None:
            return refuse(question.options, ruling)
        try:
            if isinstance(system, DecidingApprovalSystem):
                return await system.decide(question)
            options = list(question.options)
            return await system.request_approval(
                question.prompt, options, question.timeout, question.default
            )
        except ApprovalTimeout:
            raise
        except ApprovalError as error:
            why = "; ".join(filter(None, (ruling.reason, str(error))))
            return refuse(question.options, Ruling("deny", ruling.rule, why))


def refuse(options: Sequence[str], ruling: Ruling) -> ApprovalAnswer:
    """A no for this time only, in the words that were offered."""
    meanings = [(option, read_option(option)) for option in options]
    no = [option for option, one in meanings if not one.allows and not one.remembered]
    refusals = [option for option in no if read_option(option).refuses] or no
    option = refusals[0] if refusals else "Deny"
    return ApprovalAnswer(option, by=f"rule:{ruling.rule}", comment=ruling.reason or None)


def find_once(options: Sequence[str]) -> str | None:
    """The option that allows it this time only: a rule decides anew each time."""
    meanings = ((option, read_option(option)) for option in options)
    return next((option for option, one in meanings if one.allows and not one.remembered), None)


class RefusingApproval(PolicyApproval):
    """Asks nobody; every question is answered with no."""

    def refer(self, find: Callable[[AnyApprovalSystem | None], AnyApprovalSystem | None]) -> None:
        """Nobody is asked, wherever they are."""

    def judge(self, question: ApprovalQuestion) -> Ruling:
        """No."""
        return Ruling(
            "deny", "deny", "nobody is asked here, and everything that needs it is denied"
        )


EDITS_RULE = "edits"
PARTICULAR = frozenset({"hooks-production-guard", "hooks-redaction", "hooks-secret-guard"})
"""Hooks that ask because of the place or the content, and not because it is an edit."""


class EditsApproval(PolicyApproval):
    """Allows Write, Edit, MultiEdit and NotebookEdit below a folder.

    Commands, protected places, the bundle's own files, guarded paths and secrets go on to
    `otherwise`.
    """

    def __init__(
        self,
        folder: Path,
        otherwise: AnyApprovalSystem | None = None,
        governing: Iterable[Path] = (),
    ) -> None:
        """`governing` are the files and folders of the bundle, which are for a person to change."""
        super().__init__(otherwise)
        self._folder = folder.resolve()
        self._governing = [one.resolve() for one in governing]

    def judge(self, question: ApprovalQuestion) -> Ruling:
        """Allow what is an edit, concerns only files below the folder, and no protected place."""
        is_edit = question.event == TOOL_PRE and question.tool_name in EDITING_TOOLS
        reason = f"only edits of files below {self._folder} are allowed without a person"
        if not is_edit or not self._is_inside(question.tool_input):
            return Ruling("ask", EDITS_RULE, reason)
        if question.hook in PARTICULAR:
            return Ruling("ask", EDITS_RULE, f"{question.hook} asks about this file or its content")
        return Ruling("allow", EDITS_RULE)

    @cached_property
    def _places(self) -> ProtectedPlaces:
        return list_places([self._folder])

    def _is_inside(self, tool_input: Any) -> bool:
        """Whether there is a path, and all of them lead to where edits are allowed."""
        given = list(iterate_texts_under(tool_input, PATH_KEYS))
        return bool(given) and all(map(self._is_editable, given))

    def _is_editable(self, given: str) -> bool:
        try:
            path = resolve(given, self._folder)
        except ValueError:
            return False
        inside = path != self._folder and path.is_relative_to(self._folder)
        inside = inside and not any(path.is_relative_to(one) for one in self._governing)
        lexical = self._folder / given
        return inside and not any(
            self._places.find_refusal(one, writing=True) for one in (path, lexical)
        )
