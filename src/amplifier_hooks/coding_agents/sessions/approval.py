"""Who answers the questions of an agent's session: its own prompt, or what is known of a yes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from amplifier_core.approval import (
    AnyAnswer,
    AnyApprovalSystem,
    ApprovalAnswer,
    ApprovalQuestion,
    DecidingApprovalSystem,
    HandedOver,
    read_option,
)
from amplifier_core.errors import ApprovalError
from amplifier_core.handovers import Handover
from amplifier_core.utils import digest
from amplifier_hooks.approvals.remote import LeftOpen, Patience
from amplifier_hooks.external.conversation import current_event
from amplifier_hooks.external.tool_calls import OpenCall
from amplifier_hooks.text.short_ids import shorten_id


class HostPrompt:
    """Hands the question over: the answer is the agent's to get, and a no keeps the tool away."""

    def __init__(self, agent: str) -> None:
        self._agent = agent

    async def decide(self, question: ApprovalQuestion) -> HandedOver:
        """Let it pass here, so that the agent asks before it goes on."""
        event = current_event.get()
        if event is None or "ask" not in event.powers:
            raise ApprovalError("nobody can be asked at this event of the agent")
        if find_once(question) is None:
            raise ApprovalError(f"none of {', '.join(question.options)} allows it once")
        said = [event.question] if event.question else []
        event.question = "\n".join([*said, question.prompt])
        return HandedOver(self._agent, goes_on=True)


def find_once(question: ApprovalQuestion) -> str | None:
    """The option of a question that allows it this time, and is not kept."""
    options = (one for one in question.options if read_option(one).allows)
    return next((one for one in options if not read_option(one).remembered), None)


# Where nobody sits in front of the agent

ASKED = "guest_asked"
"""In the state of a session: questions about calls that were refused, and are still open."""

SHORT_WAIT = 20.0
"""Seconds that a question is waited for, where nobody was named to answer it."""


NOBODY = (
    "amplifier: nobody can be asked here. What needs a yes waits "
    f"{SHORT_WAIT:g} s for `amplifier approvals`, then it is refused; a later yes counts when the "
    "agent tries again."
)


def make_patience(state: dict[str, Any]) -> Patience:
    """Wait briefly; refused calls are told how a person can still allow them."""
    kept = state.get(ASKED)
    state[ASKED] = dict(kept) if isinstance(kept, dict) else {}
    return Patience(SHORT_WAIT, state[ASKED], _find_place, _is_part, _say_left_open)


def _find_place() -> str:
    event = current_event.get()
    return "" if event is None else event.folder


def _is_part(question: ApprovalQuestion) -> bool:
    event = current_event.get()
    return event is not None and question.tool_call_id != event.call_id


def _say_left_open(left: LeftOpen) -> None:
    event = current_event.get()
    if event is not None:
        event.left_open = (
            "Refused: nobody can be asked here. A person can still allow it, for "
            f"{max(1, round(left.seconds / 60))} min: amplifier approvals allow "
            f"{shorten_id(left.approval.id)}. Once it is allowed, do exactly the same again."
        )


# What was allowed before

ALWAYS = "guest_always"
"""In the state of a session: what was answered for always."""

RAN = "guest_ran"
"""In the state of a session: what its agent asked its person about, and then ran."""

MOST_RAN = 512

FindRule = Callable[[ApprovalQuestion], str | None]
"""The rule of the person that allows what is asked about."""


class AllowedCalls:
    """The calls that an agent asked its person about and then ran: the person said yes.

    Exactly the same call needs no second yes in that session: of the same tool, with the same
    input, in the same folder, where the same hook asks the same.
    """

    def __init__(self, state: dict[str, Any]) -> None:
        self._state = state

    def note(self, call: OpenCall, asked: Iterable[Handover]) -> None:
        """A call has run, as it was judged; these are the questions about it."""
        kept = self._read()
        for one in asked:
            # Once the turn has ended, or the agent was started anew, a result is no clear sign.
            if call.folder and one.goes_on and not one.not_run and not one.lost:
                about = (one.hook, one.event, one.tool, one.prompt, one.digest, call.folder)
                kept[digest(about)] = call.given or call.id
        self._state[RAN] = dict([*kept.items()][-MOST_RAN:])

    def find(self, question: ApprovalQuestion, folder: str) -> str | None:
        """The call by which exactly this was allowed."""
        if not folder:
            return None
        tool = question.tool_name or ""
        about = (question.hook, question.event, tool, question.prompt, question.digest, folder)
        return self._read().get(digest(about))

    def _read(self) -> dict[str, str]:
        kept = self._state.get(RAN)
        return dict(kept) if isinstance(kept, dict) else {}


class RememberingApproval:
    """Asks once where a person said always; within one process the gate itself remembers.

    `find_rule` names a rule of the person that holds instead of a question.
    """

    def __init__(self, system: AnyApprovalSystem, state: dict[str, Any]) -> None:
        self._system = system
        self._state = state
        self.find_rule: FindRule = lambda question: None
        self.allowed = AllowedCalls(state)

    def recall(self, question: ApprovalQuestion) -> ApprovalAnswer | None:
        """A yes that needs no question: exactly this has run before, or a rule allows it."""
        event = current_event.get()
        once = find_once(question)
        if event is None or once is None:
            return None
        if earlier := self.allowed.find(question, event.folder):
            return ApprovalAnswer(once, by=f"rule:remembered from {earlier}")
        rule = self.find_rule(question)
        if rule is None:
            return None
        event.left_to_program = True
        return ApprovalAnswer(once, by=f"rule:{rule}")

    async def decide(self, question: ApprovalQuestion) -> AnyAnswer:
        """The answer that was given before, or the person's."""
        known = self._recall_always(question)
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

    def _recall_always(self, question: ApprovalQuestion) -> ApprovalAnswer | None:
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
