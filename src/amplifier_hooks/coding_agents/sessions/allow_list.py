"""What a person lets Claude Code run unasked, by the settings that no project can write.

Only a question of hooks-command-guard gives way to such a pattern, and only where every command of
the call is one that the person has named. Claude Code then goes by its own list: it may still ask.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from amplifier_core.approval import ApprovalQuestion
from amplifier_core.events import TOOL_PRE
from amplifier_hooks.coding_agents.installing import places
from amplifier_hooks.guards.bash import Command, is_harmless, unwrap_command
from amplifier_hooks.modules.registration import read_command

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
