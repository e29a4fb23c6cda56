"""Commands that stand before another one: `sudo ls`, `env A=1 make`, `timeout 5 pytest`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from amplifier_foundation.bash.command import Command, name_program
from amplifier_foundation.bash.inner.text import find_option_value, parse_inner, parse_joined
from amplifier_foundation.bash.script import Script
from amplifier_foundation.bash.word import UNKNOWN, Word


@dataclass(frozen=True, slots=True)
class _Prefix:
    """How a prefix is written: options with a value, then so many words, then the command."""

    valued: frozenset[str] = frozenset()
    positional: int = 0


def _prefix(valued: str = "", positional: int = 0) -> _Prefix:
    return _Prefix(frozenset(valued.split()), positional)


_PREFIXES = {
    "sudo": _prefix(
        "-u -g -h -p -C -T -r -t -D -R -U --user --group --host --prompt --close-from --role "
        "--type --chdir --chroot --command-timeout --other-user"
    ),
    "doas": _prefix("-u -C -a"),
    "env": _prefix("-u -C --unset --chdir -a --argv0"),
    "timeout": _prefix("-s -k --signal --kill-after", 1),
    "gtimeout": _prefix("-s -k --signal --kill-after", 1),
    "nice": _prefix("-n --adjustment"),
    "ionice": _prefix("-c -n -p --class --classdata"),
    "nohup": _prefix(),
    "setsid": _prefix(),
    "stdbuf": _prefix("-i -o -e --input --output --error"),
    "time": _prefix("-f -o --format --output"),
    "command": _prefix(),
    "builtin": _prefix(),
    "exec": _prefix("-a"),
    "coproc": _prefix(),
    "xargs": _prefix(
        "-I -n -P -L -d -s -a -E --max-args --max-procs --max-lines --delimiter --max-chars "
        "--arg-file --replace --eof"
    ),
    "chroot": _prefix("--userspec --groups", 1),
    "flock": _prefix("-w -E --timeout --wait --conflict-exit-code", 1),
    "taskset": _prefix("", 1),
    "chrt": _prefix("", 1),
    "watch": _prefix("-n --interval"),
    "strace": _prefix("-e -o -p -s -u -E"),
    "ltrace": _prefix("-e -o -p -s -u"),
    "unshare": _prefix(),
    "busybox": _prefix(),
    "toybox": _prefix(),
    "caffeinate": _prefix("-t -w"),
    "unbuffer": _prefix(),
    "proot": _prefix("-r -b -w"),
    "fakeroot": _prefix("-l -s -i -b"),
    "gdb": _prefix("-x -ex"),
    "entr": _prefix(),
}
_BEFORE_ASSIGNMENTS = frozenset({"env", "sudo", "doas", "time", "coproc"})

PREFIXES: frozenset[str] = frozenset(_PREFIXES)
"""The names of all of them."""


def unwrap_prefix(command: Command, owner: str) -> Script:
    """The command behind the prefix."""
    rest = _skip_options(command)
    if not rest or (command.name == "command" and command.flags & {"-v", "-V"}):
        return Script(())
    # What xargs adds to the words comes from its input.
    extra = (UNKNOWN,) if command.name == "xargs" else ()
    return Script((create_inner(command, rest, extra),))


def unwrap_env(command: Command, owner: str) -> Script:
    """`env -S TEXT` splits its text into words; otherwise it is a plain prefix."""
    text = find_option_value(command.words, "-S", "--split-string")
    return unwrap_prefix(command, owner) if text is None else parse_inner(command, text, owner)


def unwrap_flock(command: Command, owner: str) -> Script:
    """`flock FILE -c TEXT` hands its text to a shell; otherwise it is a plain prefix."""
    if "-c" not in command.flags:
        return unwrap_prefix(command, owner)
    return parse_inner(command, find_option_value(command.words, "-c", "--command"), owner)


def unwrap_watch(command: Command, owner: str) -> Script:
    """`watch a b` hands its words to a shell."""
    return parse_joined(command, _skip_options(command), owner)


def create_inner(command: Command, words: list[Word], extra: tuple[Word, ...] = ()) -> Command:
    """The command that these words of another one are, with its pipes and redirections."""
    return replace(
        command,
        program=name_program(words[0]),
        words=(*words[1:], *extra),
        text=" ".join(word.raw for word in words),
        assigns=(),
        via=(*command.via, command.name or "?"),
    )


def _skip_options(command: Command) -> list[Word]:
    """The words from the inner program on."""
    prefix = _PREFIXES[command.name or ""]
    words = list(command.words)
    positional = prefix.positional
    while words:
        word = words[0]
        if word.value == "--":
            words.pop(0)
        elif word.is_flag:
            words = words[2:] if word.value in prefix.valued else words[1:]
        elif _is_assignment(word) and command.name in _BEFORE_ASSIGNMENTS:
            words.pop(0)
        elif positional:
            positional -= 1
            words.pop(0)
        else:
            break
    return words


def _is_assignment(word: Word) -> bool:
    name, equals, _ = word.raw.partition("=")
    return bool(equals) and name.isidentifier()
