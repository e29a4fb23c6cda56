"""Writing where it does harm: devices, files that decide what runs later, the system."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from amplifier_foundation.bash.command import Command
from amplifier_foundation.bash.danger.finding import MOST_WORDS, Objection, Situation
from amplifier_foundation.bash.place import Reach
from amplifier_foundation.bash.word import Word, split_names
from amplifier_foundation.policy.paths import match_glob

_DEVICE_FILES = split_names(
    "/dev/null /dev/zero /dev/stdout /dev/stderr /dev/stdin /dev/tty /dev/full "
    "/dev/random /dev/urandom /dev/fd/** /dev/shm/** /dev/pts/**"
)
_STARTUP_FILES = (
    "~/.{bashrc,bash_profile,bash_login,bash_logout,profile,zshrc,zprofile,zshenv,zlogin,kshrc}",
    "~/.config/fish/**",
    "~/.config/autostart/**",
    "~/.{gitconfig,npmrc,pypirc,netrc}",
    "~/.ssh/**",
    "~/.aws/**",
    "~/Library/LaunchAgents/**",
    "**/.git/{config,hooks/**}",
    "**/.amplifier/**",
    "**/amplifier.yaml",
    "/etc/**",
)
_WRITE_TO_LAST = frozenset({"cp", "ln", "install", "rsync", "scp"})
_WRITE_TO_ALL = split_names("tee truncate mv shred rm unlink rmdir sponge")


def check_device_write(situation: Situation) -> Objection | None:
    """A device of the machine, or a network connection that bash opens as a file."""
    for word in islice(_list_written(situation.command), MOST_WORDS):
        path = situation.place.find_path(word)
        if path is None or path.parts[:2] != ("/", "dev") or match_glob(path, _DEVICE_FILES):
            continue
        if path.parts[2:3] in {("tcp",), ("udp",)}:
            return "ask", f"it opens a network connection through {word.raw}"
        return "deny", f"it writes to the device {word.raw}"
    return None


def check_protected_write(situation: Situation) -> Objection | None:
    """Files that decide what runs later, and places of the system."""
    written = tuple(_list_written(situation.command))
    if len(written) > MOST_WORDS:
        return "ask", f"it writes to {len(written)} places, too many to be looked at"
    objections = (_judge_write(situation, word) for word in written)
    return next((found for found in objections if found is not None), None)


def check_unknown_write(situation: Situation) -> Objection | None:
    """`> $file`."""
    for redirect in situation.command.redirects:
        if redirect.writes and redirect.target.value is None:
            return "ask", f"only running it would tell what it writes to: {redirect.target.raw}"
    return None


def _judge_write(situation: Situation, word: Word) -> Objection | None:
    place = situation.place
    path = place.find_path(word)
    if path is None or match_glob(path, _DEVICE_FILES):
        return None
    # `match_glob` expands `~` to the home of this process, which need not be that of the place.
    own = (str(place.home) + glob[1:] for glob in _STARTUP_FILES if glob[0] == "~")
    if match_glob(path, (*own, *_STARTUP_FILES)):
        return "ask", f"it writes to {word.raw}, which decides what runs later"
    if place.rate(word, situation.directories) is Reach.SYSTEM:
        return "ask", f"it writes to {word.raw}, a place of the system"
    return None


def _list_written(command: Command) -> Iterator[Word]:
    """Every word of the command that names something it writes to."""
    for redirect in command.redirects:
        if not _is_descriptor(redirect.target):
            yield redirect.target
    if command.name in _WRITE_TO_ALL or _edits_in_place(command):
        yield from command.operands
    elif command.name in _WRITE_TO_LAST:
        yield from command.operands[-1:]
    elif command.name == "dd":
        yield from _list_dd_outputs(command)


def _edits_in_place(command: Command) -> bool:
    flags = command.flags
    return command.name == "sed" and any(flag.startswith(("-i", "--in-p")) for flag in flags)


def _list_dd_outputs(command: Command) -> Iterator[Word]:
    for word in command.words:
        if word.value and word.value.startswith("of="):
            yield Word(word.raw, word.value.removeprefix("of="))


def _is_descriptor(target: Word) -> bool:
    """`2>&1` and `>&-` name a stream that is open already."""
    return target.value is not None and target.value.lstrip("-").isdigit()
