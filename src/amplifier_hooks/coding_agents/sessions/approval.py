"""Answers to the questions of an agent's session: by its own prompt, or from an earlier yes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from amplifier_core.events import TOOL_PRE
from amplifier_core.handovers import Handover
from amplifier_core.utils import digest
from amplifier_hooks.coding_agents.installing import places
from amplifier_hooks.external.conversation import current_event
from amplifier_hooks.external.tool_calls import OpenCall
from amplifier_hooks.guards.bash import Command, is_harmless, unwrap_command
from amplifier_hooks.modules.registration import read_command
from amplifier_hooks.text.short_ids import shorten_id

if TYPE_CHECKING:
    from amplifier_hooks.approvals.remote import LeftOpen, Patience

AGENT = "claude"
ALLOWED = "guest_allow_list"
"""In the state of a session: the patterns as they were when it began."""

_GIVES_WAY = "hooks-command-guard"
_PATTERN = re.compile(r"Bash\((?P<words>[^()]+)\)")
_RULE = re.compile(r"\[(?P<rule>own:|[a-z0-9][a-z0-9_-]*(?=\]))")
_STANDS = re.compile(
    r"own:|secret|protected|agent-|guard|shell-setup|opaque|unclear$|unknown|.*-runs$|runs-|forge-secret"
    r"|git-(config|alias|tools|each)|hidden|written-then|downloaded|download-"
    r"|shell-inside|open-shell|persist"
)
"""The rules whose questions stand: those of the person, about secrets, settings and agents, and
where something else runs than what the command names."""
_MORE_REASONS = re.compile(r"; and \d+ more reasons")


def read_allow_list(env: Mapping[str, str] | None = None) -> list[str]:
    """The patterns for commands in the settings of the person and of the machine."""
    place = places.PLACES[AGENT]
    files = [place.find_home(os.environ if env is None else env) / place.user[0]]
    for name in place.system:
        path = places.ETC / name
        files += sorted(path.glob("*.json")) if path.is_dir() else [path]
    return [*dict.fromkeys(one for path in files for one in _read_patterns(path))]


def _read_patterns(path: Path) -> Iterator[str]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return
    permissions = settings.get("permissions") if isinstance(settings, dict) else None
    allow = permissions.get("allow") if isinstance(permissions, dict) else None
    for one in allow if isinstance(allow, list) else ():
        if isinstance(one, str) and _read_words(one):
            yield one


def _read_words(pattern: str) -> str:
    """The words of a command with its stars; empty for a pattern that names no command."""
    found = _PATTERN.fullmatch(pattern)
    words = "" if found is None else found["words"]
    if words.endswith(":*"):  # that word, and whatever follows it
        words = f"{words.removesuffix(':*')} *"
    first = words.split()[0] if words.split() else ""
    # What is no plain name of a program is for Claude Code to understand.
    return words if re.fullmatch(r"[A-Za-z0-9_.+-]+", first) else ""


class AllowList:
    """Finds the pattern of the person that allows what is asked about."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = {one: _read_words(one) for one in patterns}

    def find_rule(self, question: ApprovalQuestion) -> str | None:
        """Whose rule it is, and which; None where the question stands."""
        if not self._patterns or not _can_give_way(question):
            return None
        source = read_command(question.tool_input.get("command"))
        script = unwrap_command(source or "", _GIVES_WAY)
        if not script.commands or script.unclear or not script.whole:
            return None
        used: dict[str, None] = {}
        for command in script.commands:
            pattern = self._find(command)
            if pattern is None and not _only_looks(command):
                return None
            used |= {} if pattern is None else {pattern: None}
        return f"claude's allow list, {', '.join(used)}" if used else None

    def _find(self, command: Command) -> str | None:
        text = _spell(command)
        if text is None:
            return None
        fitting = (one for one, words in self._patterns.items() if _fits(text, words))
        return next(fitting, None)


def _can_give_way(question: ApprovalQuestion) -> bool:
    reason = question.reason or ""
    rules = [found["rule"] for found in _RULE.finditer(reason)]
    known = question.event == TOOL_PRE and question.tool_name == "Bash" and bool(rules)
    stands = any(_STANDS.match(rule) for rule in rules) or _MORE_REASONS.search(reason)
    return known and question.hook == _GIVES_WAY and not stands


def _only_looks(command: Command) -> bool:
    return is_harmless(command) and _spell(command) is not None


def _spell(command: Command) -> str | None:
    """The command as its words read; None if it does more than they say, or they may vary."""
    written = [one for one in command.redirects if one.writes and one.target.value != "/dev/null"]
    if written or command.assigns or not command.certain:
        return None
    return " ".join([str(command.program), *(str(word.value) for word in command.words)])


def _fits(text: str, words: str) -> bool:
    """As Claude Code compares: word for word, and a star stands for anything."""
    return text == words.removesuffix(" *") or fnmatchcase(text, _escape(words))


def _escape(words: str) -> str:
    return words.replace("[", "[[]").replace("?", "[?]")


_CALM = (None, "calm")


def _is_calm(plan: Mapping[str, Any]) -> bool:
    """Whether no command guard of the bundle has a stricter profile."""
    guards = (
        one
        for one in plan.get("hooks") or ()
        if isinstance(one, Mapping) and one.get("module") == _GIVES_WAY
    )
    return all((one.get("config") or {}).get("profile") in _CALM for one in guards)


def load_allow_list(agent: str, plan: Mapping[str, Any], state: dict[str, Any]) -> AllowList:
    """As it was when the session began: what is added meanwhile may be the agent's own.

    Empty for other agents, and in a bundle whose profile is not `calm`.
    """
    if agent != AGENT or not _is_calm(plan):
        return AllowList(())
    kept = state.get(ALLOWED)
    if not isinstance(kept, list):
        kept = state[ALLOWED] = read_allow_list()
    return AllowList(one for one in kept if isinstance(one, str))


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
    from amplifier_hooks.approvals.remote import Patience

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
