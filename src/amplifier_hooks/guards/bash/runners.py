"""Programs that are given commands as words: `hyperfine 'a' 'b'`, `nodemon --exec a`, `tmux`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from amplifier_hooks.guards.bash.commands import Command, Options, read_options
from amplifier_hooks.guards.bash.script import Script, join_scripts
from amplifier_hooks.guards.bash.words import Word, create_literal, split_names
from amplifier_hooks.guards.bash.wrappers import create_inner, parse_inner


@dataclass(frozen=True, slots=True)
class Runs:
    """What such a program runs; `whole` unless there may be more that is not in sight."""

    texts: tuple[Word, ...] = ()
    """Handed to a shell."""
    commands: tuple[tuple[Word, ...], ...] = field(default=())
    whole: bool = True


_UNSEEN = Runs(whole=False)
_ADDRESS = re.compile(r"(?:https?(?:-get)?|tcp|file|unix)(?::|\|).*|:?\d+|-?[\d.]+")


def _read_every_word(command: Command) -> Runs:
    """Each word may be a command, and so may the value of each option."""
    texts = [_take_value(word) if word.is_flag else word for word in command.words]
    read = tuple(one for one in texts if one is not None and not _is_address(one))
    return Runs(read, whole=not any(_begins_unseen(one) for one in read))


def _take_value(word: Word) -> Word | None:
    value = (word.value or "").partition("=")[2]
    return create_literal(value) if value else None


def _is_address(word: Word) -> bool:
    return word.value is not None and _ADDRESS.fullmatch(word.value) is not None


def _begins_unseen(word: Word) -> bool:
    """`{program} x`, where another option says what the program is."""
    return (word.value or word.raw).lstrip().startswith("{")


def _read_options_of(*names: str) -> Callable[[Command], Runs]:
    """The values of these options."""

    def read(command: Command) -> Runs:
        found: list[Word] = []
        for at, word in enumerate(command.words):
            name, equals, value = (word.value or "").partition("=")
            if name in names:
                found += [create_literal(value)] if equals else command.words[at + 1 : at + 2]
        return Runs(tuple(found))

    return read


def _read_watchexec(command: Command) -> Runs:
    reading = read_options(command.words, _WATCHEXEC)
    if reading.doubt is not None or not reading.rest:
        return _UNSEEN
    raw = " ".join(word.raw for word in reading.rest)
    values = [word.value for word in reading.rest]
    joined = None if None in values else " ".join(value or "" for value in values)
    return Runs((Word(raw, joined),))


_WATCHEXEC = Options.read(
    "crpNnvV1 --clear --restart --postpone --notify --no-vcs-ignore --no-project-ignore --no-meta "
    "--no-default-ignore --verbose --quiet",
    "ewWifsdokI --exts --watch --watch-non-recursive --ignore --filter --signal --debounce "
    "--on-busy-update --stop-signal --stop-timeout --delay-run --poll --workdir --ignore-file",
)


def _read_cargo(command: Command) -> Runs:
    """`cargo watch -x test -s 'make lint'`."""
    if [word.value for word in command.words[:1]] != ["watch"]:
        return Runs()
    texts = _read_options_of("-s", "--shell")(command).texts
    inner = _read_options_of("-x", "--exec")(command).texts
    known = tuple(
        Word(f"cargo {one.raw}", None if one.value is None else f"cargo {one.value}")
        for one in inner
    )
    return Runs((*texts, *known))


# ---- terminals that are kept -------------------------------------------------------------------

_TMUX = Options.read("2CDhlNuvV", "cfLST")
_RUNNING: Mapping[str, Options] = {
    **dict.fromkeys(("new-session", "new"), Options.read("AdDEPX", "cefFnstxy")),
    **dict.fromkeys(("new-window", "neww"), Options.read("abdkPS", "ceFnt")),
    **dict.fromkeys(("split-window", "splitw"), Options.read("bdfhIvPZ", "ceFlpt")),
    **dict.fromkeys(("respawn-pane", "respawnp", "respawn-window"), Options.read("k", "cet")),
}
_LOOKING = split_names(
    "ls list-sessions capture-pane capturep kill-session kill-window kill-pane kill-server "
    "has-session has list-windows lsw list-panes lsp attach attach-session a select-window "
    "select-pane resize-window resize-pane rename-window rename-session display-message show "
    "show-buffer detach wait-for wait clear-history start-server show-options show-window-options "
    "showw list-keys lsk list-commands move-window movew swap-pane swapp swap-window swapw "
    "next-window next previous-window prev select-layout"
)
_KEYS = re.compile(r"Enter|C-[a-z]|\^[A-Z]|Escape|Space|Tab|Up|Down|Left|Right|BSpace|q|y|n")
_SCREEN = Options.read("aAdDfiLlmnOqQRrUvwxX", "cehpsStT")
_SCREEN_LOOKS = frozenset({"-ls", "-list", "-r", "-x", "-d", "-dr", "-rd", "-wipe", "-v"})


def _read_tmux(command: Command) -> Runs:
    reading = read_options(command.words, _TMUX)
    if reading.doubt is not None or reading.has("c", "f") or not reading.rest:
        return _UNSEEN
    parts = [_read_tmux_command(part) for part in _split_at_semicolons(reading.rest)]
    return Runs(
        tuple(text for part in parts for text in part.texts),
        tuple(one for part in parts for one in part.commands),
        all(part.whole for part in parts),
    )


def _split_at_semicolons(words: Sequence[Word]) -> Iterator[list[Word]]:
    part: list[Word] = []
    for word in words:
        if word.value == ";":
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _read_tmux_command(words: list[Word]) -> Runs:
    name = words[0].value if words else "new-session"
    if name in _LOOKING or not words:
        return Runs()
    if name in {"send-keys", "send"}:
        return _read_typed(words[1:])
    options = _RUNNING.get(name or "")
    if options is None:
        return _UNSEEN
    reading = read_options(words[1:], options)
    if reading.doubt is not None or reading.has("e"):
        return _UNSEEN
    return _read_command(reading.rest)


def _read_command(words: Sequence[Word]) -> Runs:
    """A single word is a text for a shell, several are a command."""
    if not words:
        return Runs()
    return Runs((words[0],)) if len(words) == 1 else Runs(commands=(tuple(words),))


def _read_typed(words: Sequence[Word]) -> Runs:
    """A line that is typed as a whole; a part of one may become anything with the next."""
    reading = read_options(words, Options.read("FHKMRXl", "cNt"))
    typed = list(reading.rest)
    keys = [word for word in typed if _KEYS.fullmatch(word.value or "")]
    if reading.doubt is not None or reading.has("X", "M"):
        return _UNSEEN
    if len(keys) == len(typed):
        return Runs()
    ends = (typed[-1].value or "") in {"Enter", "C-m", "C-j"}
    return Runs((typed[0],), whole=ends and len(typed) == 2)


def _read_screen(command: Command) -> Runs:
    if command.words and command.words[0].value in _SCREEN_LOOKS:
        return Runs()
    reading = read_options(command.words, _SCREEN)
    if reading.doubt is not None or reading.has("c", "s") or not reading.rest:
        return _UNSEEN
    if not reading.has("X"):
        return _read_command(reading.rest)
    values = [word.value for word in reading.rest]
    return Runs() if values[0] in {"quit", "kill", "title"} else _UNSEEN


_READERS: Mapping[str, Callable[[Command], Runs]] = {
    **dict.fromkeys(("hyperfine", "concurrently", "start-server-and-test"), _read_every_word),
    **dict.fromkeys(("nodemon", "chokidar"), _read_options_of("-x", "--exec", "-c", "--command")),
    "nix-shell": _read_options_of("--run", "--command"),
    **dict.fromkeys(("split", "gsplit"), _read_options_of("--filter")),
    **dict.fromkeys(("tsc-watch", "tsup"), _read_options_of("--onSuccess", "--onFailure")),
    **dict.fromkeys(
        ("ptw", "pytest-watch"), _read_options_of("--runner", "--onpass", "--onfail", "--afterrun")
    ),
    "cross-env-shell": _read_every_word,
    "watchexec": _read_watchexec,
    "cargo": _read_cargo,
    "tmux": _read_tmux,
    "screen": _read_screen,
}
WORD_RUNNERS: frozenset[str] = frozenset(_READERS)
"""The programs that are read here."""


def unwrap_words(command: Command, owner: str) -> Script:
    """What the words of the program run, as far as they tell."""
    runs = _READERS[command.name or ""](command)
    texts = [parse_inner(command, word, owner) for word in runs.texts]
    return join_scripts([*texts, Script(tuple(create_inner(command, list(one)) for one in
                                              runs.commands))])  # fmt: skip


def is_read_whole(command: Command) -> bool:
    """Whether everything that the program runs was found, and is judged in its place."""
    reader = _READERS.get(command.name or "")
    if reader is None:
        return False
    runs = reader(command)
    return runs.whole and all(word.value is not None for word in runs.texts)
