"""Git commands that discard work as a whole, where options alone do not tell."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from amplifier_hooks.guards.bash.danger.finding import Objection, Situation
from amplifier_hooks.guards.bash.git_call import GitCall, read_git
from amplifier_hooks.guards.bash.place import Reach
from amplifier_hooks.guards.bash.unnamed.git_reader import open_repository
from amplifier_hooks.guards.bash.word import Word

_SECONDS = 4.0
_WORK = "it discards uncommitted work"
_EVERYTHING = frozenset({"*", "**", ":", ":/", ":/*", ":/.", ":(top)", ":(top)*", ":(top)."})
_EXCEPT = (":!", ":^", ":(exclude", ":(top,exclude")


def check_discarding(situation: Situation) -> Objection | None:
    """What does the same as `git reset --hard` or `rm -r .`, in other words."""
    call = read_git(situation.command)
    if call is None:
        return None
    words = call.own.operands
    everything = _names_everything(situation, words) or call.has("--pathspec-from-file")
    if call.subcommand in {"checkout", "restore"} and everything and _writes_files(call):
        return "ask", _WORK
    if call.subcommand == "checkout-index" and call.has("-f", "--force"):
        return ("ask", _WORK) if everything or call.has("-a", "--all", "--stdin") else None
    if call.subcommand == "rm" and everything and not call.has("--cached", "-n"):
        return "ask", "it deletes the files of the whole working directory"
    if call.subcommand == "prune" and not call.has("-n", "--dry-run"):
        return "ask", "it deletes lost work for good"
    if _moves_branch(call) and _loses_commits(situation, call):
        return "ask", "it moves a branch, which may leave commits without one"
    return None


def _moves_branch(call: GitCall) -> bool:
    """`-M` and `-C` of `git branch` put a branch in the place of another one."""
    if call.subcommand == "branch":
        return call.has("-M", "-C") or (call.has("-f", "--force") and call.has("-m", "-c"))
    return call.subcommand in {"checkout", "switch"} and call.has("-B", "-C", "--force-create")


def _loses_commits(situation: Situation, call: GitCall) -> bool:
    """Whether one of the words is a branch that is somewhere else than what is checked out."""
    if not situation.directories.complete or call.folders or call.elsewhere:
        return True
    deadline = time.monotonic() + _SECONDS
    # `-C main` may also be a folder, elsewhere in the line; what is not there has no repository.
    for folder in filter(Path.is_dir, situation.directories.known):
        reader = open_repository(folder, deadline)
        if reader is None:
            continue
        here = reader.find_revision("HEAD")
        named = (reader.find_commit(f"refs/heads/{word.value}") for word in call.own.operands)
        if any(found and found != here for found in named) or reader.late:
            return True
    return False


def _writes_files(call: GitCall) -> bool:
    """Not with `-p`, which asks about each piece, nor where only the index is set back."""
    if call.has("-p", "--patch"):
        return False
    only_index = call.has("-S", "--staged") and not call.has("-W", "--worktree")
    return call.subcommand != "restore" or not only_index


def _names_everything(situation: Situation, words: Iterable[Word]) -> bool:
    """Whether one of the words is a pathspec that covers the whole project, or more."""
    for word in words:
        if word.value is None:
            continue
        if word.value in _EVERYTHING or word.value.startswith(_EXCEPT):
            return True
        if situation.rate_word(word) in {Reach.PROJECT, Reach.SYSTEM}:
            return True
    return False
