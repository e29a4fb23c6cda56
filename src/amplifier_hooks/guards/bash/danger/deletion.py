"""Deleting and opening up whole trees: how bad it is depends on where they are."""

from __future__ import annotations

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.danger.finding import Objection, Situation
from amplifier_hooks.guards.bash.inner.find import list_roots, name_entry_of
from amplifier_hooks.guards.bash.place import Reach
from amplifier_hooks.guards.bash.word import Word, split_names

# Options of find beside which everything is found.
_UNCHOOSING = split_names(
    "-delete -depth -d -xdev -mount -type -mindepth -maxdepth -print -H -L -P"
)
_RIGHTS = frozenset({"chmod", "chown", "chgrp", "chattr", "setfacl"})
_WHERE = {
    Reach.OUTSIDE: "outside the working directory",
    Reach.PROJECT: "the whole working directory",
    Reach.UNKNOWN: "and only running it would tell what that is",
}


def check_deletion(situation: Situation) -> Objection | None:
    """`rm -r` and `find -delete`."""
    command = situation.command
    if command.name == "rm" and _is_recursive(command):
        if "--no-preserve-root" in command.flags:
            return "deny", "it deletes with the protection of / switched off"
        return _judge_deletion(situation, command.operands)
    if command.name in {"find", "gfind"} and "-delete" in command.flags:
        return _judge_deletion(situation, _list_found(command))
    return None


def check_rights(situation: Situation) -> Objection | None:
    """`chmod -R` and its like."""
    command = situation.command
    if command.name not in _RIGHTS or not _is_recursive(command):
        return None
    worst = situation.rate(command.arguments[1:])
    if worst is None or worst[0] is Reach.INSIDE:
        return None
    reason = f"it changes the rights of {worst[1].raw} and everything below"
    return "deny" if worst[0] is Reach.SYSTEM else "ask", reason


def _judge_deletion(situation: Situation, words: tuple[Word, ...]) -> Objection | None:
    worst = situation.rate(words)
    if worst is None or worst[0] is Reach.INSIDE:
        return None
    reach, word = worst
    if reach is Reach.SYSTEM:
        return "deny", f"it deletes {word.raw} and everything below"
    return "ask", f"it deletes {word.raw} recursively, {_WHERE[reach]}"


def _is_recursive(command: Command) -> bool:
    """Long options may be abbreviated, as getopt allows it: `--recurs`."""
    return any(
        flag in {"-r", "-R"} or (len(flag) > 2 and "--recursive".startswith(flag))
        for flag in command.flags
    )


def _list_found(command: Command) -> tuple[Word, ...]:
    """The places that find searches; entries of them if it chooses among what it finds."""
    places = tuple(list_roots(command))
    chooses = {word.value for word in command.words if word.is_flag} - _UNCHOOSING
    return tuple(map(name_entry_of, places)) if chooses else places
