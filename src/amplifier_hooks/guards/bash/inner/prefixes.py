"""Commands that stand before another one: `sudo ls`, `nice make`, `timeout 5 pytest`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import dropwhile

from amplifier_hooks.guards.bash.command import Command, name_program
from amplifier_hooks.guards.bash.options import Options, Reading, read_options
from amplifier_hooks.guards.bash.script import Script
from amplifier_hooks.guards.bash.word import UNKNOWN, Word


@dataclass(frozen=True, slots=True)
class _Prefix:
    """How a prefix is written: its options, then so many words, then the command."""

    options: Options
    positional: int = 0


def _prefix(plain: str = "", valued: str = "", optional: str = "", positional: int = 0) -> _Prefix:
    return _Prefix(Options.read(plain, valued, optional), positional)


_TIMEOUT = _prefix(
    "vfp --preserve-status --foreground --verbose", "ks --signal --kill-after", "", 1
)
_TRACER = _prefix("cCdfFhiknqrtTvVwxyYzZDSbL --decode-fds", "aAbeEIoOpPsuUXln")
_PREFIXES = {
    "sudo": _prefix(
        "AbBEHKknPSvN --askpass --background --preserve-env --set-home --non-interactive --stdin "
        "--validate --remove-timestamp --reset-timestamp",
        "aCcDghpRrTtUu --user --group --host --prompt --close-from --role --type --chdir --chroot "
        "--command-timeout --other-user --login-class",
    ),
    "doas": _prefix("Ln", "aCu"),
    "timeout": _TIMEOUT,
    "gtimeout": _TIMEOUT,
    "nice": _prefix("0123456789", "n --adjustment"),
    "ionice": _prefix("t --ignore", "cn --class --classdata"),
    "nohup": _prefix(),
    "setsid": _prefix("cfw --ctty --fork --wait"),
    "stdbuf": _prefix("", "ioe --input --output --error"),
    "time": _prefix("apqv --append --portability --quiet --verbose", "fo --format --output"),
    "command": _prefix("pvV"),
    "builtin": _prefix(),
    "exec": _prefix("cl", "a"),
    "coproc": _prefix(),
    "chroot": _prefix("--skip-chdir", "--userspec --groups", "", 1),
    "taskset": _prefix("ac --all-tasks --cpu-list", "", "", 1),
    "chrt": _prefix("abdfiorRv", "TPD", "", 1),
    "strace": _TRACER,
    "ltrace": _TRACER,
    "unshare": _prefix(
        "imnpuUCTfrc --fork --map-root-user --map-current-user --keep-caps",
        "RwSG --root --wd --setuid --setgid",
        "--mount --uts --ipc --net --pid --user --cgroup --time --mount-proc",
    ),
    "busybox": _prefix(),
    "toybox": _prefix(),
    "caffeinate": _prefix("dimsu", "tw"),
    "unbuffer": _prefix("p"),
    "proot": _prefix("0", "rbwkq"),
    "fakeroot": _prefix("u", "lsib"),
    "setarch": _prefix("vhBFILRSTXZ3", "", "", 1),
    "chronic": _prefix("ev"),
    "rlwrap": _prefix("aAciImnNrRtuUvwWzX", "bCDefgHlopPqsS"),
    "catchsegv": _prefix(),
    "pkexec": _prefix("--disable-internal-agent --keep-cwd", "u --user"),
}
_PLAIN = re.compile(r"[A-Za-z0-9_./:=@%+,-]+")
_BEFORE_ASSIGNMENTS = frozenset({"sudo", "doas", "time", "coproc"})
_SHELL_STARTERS = frozenset({"sudo", "doas", "chroot", "unshare", "fakeroot", "proot", "pkexec"})

PREFIXES: frozenset[str] = frozenset(_PREFIXES)
"""The names of all of them."""


def unwrap_prefix(command: Command, owner: str) -> Script:
    """The command behind the prefix."""
    prefix = _PREFIXES[command.name or ""]
    reading = read_options(command.words, prefix.options)
    if command.name == "command" and reading.has("v", "V"):
        return Script(())
    rest = list(reading.rest)
    if command.name in _BEFORE_ASSIGNMENTS:
        return open_assigned(command, reading)
    return open_rest(command, reading, rest[: prefix.positional], rest[prefix.positional :])


def open_assigned(command: Command, reading: Reading) -> Script:
    """The command behind `NAME=value`; `time NAME=value` alone sets the variable."""
    rest = list(dropwhile(_is_assignment, reading.rest))
    names = tuple(_split_name(word) for word in reading.rest[: len(reading.rest) - len(rest)])
    script = open_rest(command, reading, [], rest)
    if not script.commands and names:
        return replace(script, commands=(replace(command, program=":", words=(), assigns=names),))
    return replace(script, commands=tuple(replace(c, assigns=names) for c in script.commands))


def open_rest(command: Command, reading: Reading, before: list[Word], rest: list[Word]) -> Script:
    """The command that the words behind the options are, with what is not certain about them."""
    doubt = reading.doubt or next(
        (f"{word.raw} may be several words" for word in before if not word.fixed), None
    )
    unclear: tuple[str, ...] = ()
    if doubt is not None:
        unclear += (f"what {command.name} runs is not certain: {doubt}",)
    if not rest:
        if command.name in _SHELL_STARTERS:
            unclear += (f"{command.name} starts a shell, whose input is not in sight",)
        return Script((), unclear)
    return Script((create_inner(command, rest),), unclear)


def unwrap_env(command: Command, owner: str) -> Script:
    """`env -S TEXT` splits its text into words; otherwise it is a plain prefix."""
    reading = read_options(command.words, _ENV)
    if reading.rest and reading.rest[0].value == "-":  # an old way to write `-i`
        reading = replace(reading, rest=reading.rest[1:])
    text = reading.find("S", "split-string")
    if text is not None:
        return _unwrap_split(command, reading, text, owner)
    return open_assigned(command, reading)


_ENV = Options.read(
    "i0v --ignore-environment --null --debug --list-signal-handling",
    "uCaS --unset --chdir --argv0 --split-string",
    "--block-signal --default-signal --ignore-signal",
)


def _unwrap_split(command: Command, reading: Reading, text: Word, owner: str) -> Script:
    """Only blanks between plain words mean the same to env as to anybody else."""
    parts = (text.value or "").split()
    plain = all(_PLAIN.fullmatch(part) for part in parts)
    words = [*(Word(part, part) for part in parts), *reading.rest]
    inner = unwrap_env(replace(command, words=tuple(words)), owner) if words else Script(())
    if plain and parts and text.fixed and reading.doubt is None:
        return inner
    doubt = reading.doubt or f"env splits {text.raw} by rules of its own"
    return replace(inner, unclear=(*inner.unclear, doubt))


_XARGS = Options.read(
    "0ortxp --null --open-tty --no-run-if-empty --interactive --verbose --exit",
    "IndPLsaE --max-args --max-procs --arg-file --delimiter --max-chars --process-slot-var",
    "iel --replace --eof --max-lines",
)


def unwrap_xargs(command: Command, owner: str) -> Script:
    """`xargs a b` runs `a b` with words that come from its input."""
    reading = read_options(command.words, _XARGS)
    mark = _find_mark(reading)
    # With a mark the input stands where the mark is, otherwise at the end.
    rest = [UNKNOWN if mark and mark in word.raw else word for word in reading.rest]
    return open_rest(command, reading, [], [*rest, UNKNOWN] if rest else [])


def _find_mark(reading: Reading) -> str | None:
    if not reading.has("I", "i", "replace"):
        return None
    value = reading.find("I", "i", "replace")
    return "{}" if value is None else value.value or value.raw


def create_inner(command: Command, words: list[Word]) -> Command:
    """The command that these words of another one are, with its pipes and redirections."""
    return replace(
        command,
        program=name_program(words[0]),
        words=tuple(words[1:]),
        text=" ".join(word.raw for word in words),
        assigns=(),
        via=(*command.via, command.name or "?"),
    )


def _is_assignment(word: Word) -> bool:
    """`$x=1` may be anything; `A=$x` is one, as long as it is a single word."""
    name = _split_name(word)
    return name.isidentifier() and "=" in word.raw and word.single


def _split_name(word: Word) -> str:
    return (word.raw if word.value is None else word.value).partition("=")[0].removeprefix('"')
