"""A git command apart from the options of git itself: `git -C x reset --hard` is a `reset`."""

from __future__ import annotations

from dataclasses import dataclass

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.word import Word, split_names

_VALUED = split_names(
    "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source"
)


@dataclass(frozen=True, slots=True)
class GitCall:
    """The subcommand with its own words, and the folders that `-C` names, in their order."""

    subcommand: str
    own: Command
    folders: tuple[Word, ...] = ()
    elsewhere: bool = False
    """Whether it is about a repository or a working tree that options name."""

    def has(self, *flags: str) -> bool:
        """Whether one of these options is among those of the subcommand."""
        return not self.own.flags.isdisjoint(flags)


def read_git(command: Command) -> GitCall | None:
    """What git is asked to do; None if it is another program, or only running it would tell."""
    if command.name != "git":
        return None
    words = list(command.words)
    folders: list[Word] = []
    elsewhere = False
    while words and words[0].is_flag:
        flag = words.pop(0).value or ""
        elsewhere = elsewhere or flag.startswith(("--git-dir", "--work-tree"))
        if flag in _VALUED and words:
            value = words.pop(0)
            folders += [value] if flag == "-C" else []
    if not words or words[0].value is None:
        return None
    own = Command(words[0].value, tuple(words[1:]))
    return GitCall(words[0].value, own, tuple(folders), elsewhere)
