"""What programs that only look would show of files outside of the project, for strict profiles."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.harmless import is_harmless
from amplifier_hooks.guards.bash.situations import Situation
from amplifier_hooks.guards.bash.words import Word, split_names
from amplifier_hooks.guards.bash.workspace import Reach

_SHOWING = split_names(
    "cat head tail wc cut nl tac rev cmp comm column fold expand paste join od hexdump strings "
    "base64 sort uniq diff xxd bat"
)
_SEARCHING = split_names("grep egrep fgrep rg ag jq")
"""Their first word is what they search for, unless an option says it."""
_SAYING = frozenset({"-e", "-f", "--regexp", "--file"})


def find_read_elsewhere(situation: Situation) -> Word | None:
    """The first file outside of the project that such a command would show."""
    if not is_harmless(situation.command):
        return None
    named = _list_read(situation.command)
    far = (one for one in named if situation.rate_word(one) in {Reach.OUTSIDE, Reach.SYSTEM})
    return next(far, None)


def _list_read(command: Command) -> Iterator[Word]:
    yield from (one.target for one in command.redirects if one.operator == "<")
    if command.name in _SHOWING:
        yield from command.operands
    elif command.name in _SEARCHING:
        yield from command.operands[0 if command.flags & _SAYING else 1 :]
