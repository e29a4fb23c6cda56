"""A command with its surroundings: where its script goes, which values its variables have, what it
names to write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from glob import iglob
from itertools import islice, product
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from amplifier_hooks.guards.bash.commands import Command, find_values
from amplifier_hooks.guards.bash.script import Script, parse_script
from amplifier_hooks.guards.bash.variables import list_set_names
from amplifier_hooks.guards.bash.words import Word, create_literal, split_names
from amplifier_hooks.guards.bash.workspace import Directories, Reach, Workspace, list_directories

_ASSIGNED = re.compile(r"(?:export\s+|local\s+|readonly\s+)?([A-Za-z_]\w*)=(.*)", re.DOTALL)
_LOOP = re.compile(r"for\s+([A-Za-z_]\w*)\s+in\s+(.*?)\s*(?:;|\n)\s*do\b", re.DOTALL)
_EXPANSION = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:[%#/:^,][^{}]*)?\})")
_SHORTENED = re.compile(r"\$\{\w+(?:%%?[^}]*/|/)")
"""`${x%/*}` is another folder than the one that was assigned."""
_MOST = 50


@dataclass(frozen=True, slots=True)
class Values:
    """Each variable with the texts that it is given; None if one of them is not literal."""

    known: dict[str, tuple[str, ...] | None] = field(default_factory=dict)

    @classmethod
    def read(cls, commands: Iterable[Command], places: Mapping[str, str] | None = None) -> Values:
        """From the assignments and loops of a script, wherever they stand.

        `places` are what substitutions such as `$(pwd)` stand for.
        """
        known: dict[str, tuple[str, ...] | None] = {}
        for command in commands:
            for name in list_set_names(command):
                if name is None:
                    return cls({})
                given = (
                    _read_given(command, name, places or {}) if name in command.assigns else None
                )
                before = known.get(name, ())
                known[name] = None if given is None or before is None else (*before, *given)
        return cls(known)

    def resolve(self, word: Word) -> list[Word]:
        """Every word that this one may become; none if a variable of it is not known."""
        names = [one or two for one, two in _EXPANSION.findall(word.raw)]
        lists = [self.known.get(name) or () for name in dict.fromkeys(names)]
        if not lists or not all(lists) or _SHORTENED.search(word.raw):
            return []
        found = list(_combine(word.raw, list(dict.fromkeys(names)), lists))
        return found if all(one.value is not None for one in found) else []


def _combine(raw: str, names: list[str], lists: list[tuple[str, ...]]) -> Iterator[Word]:
    for chosen in list(product(*lists))[:_MOST]:
        values = dict(zip(names, chosen, strict=True))
        text = _fill(raw, values)
        # In quotes a shell would take `~` as it is, but it became a folder when it was assigned.
        yield from _read_words(text.strip("\"'") if text.lstrip("\"'")[:1] == "~" else text)


def _fill(raw: str, values: dict[str, str]) -> str:
    return _EXPANSION.sub(lambda found: values[found[1] or found[2]], raw)


def _read_given(command: Command, name: str, places: Mapping[str, str]) -> tuple[str, ...] | None:
    loop = _LOOP.match(command.text)
    if loop is not None and loop[1] == name:
        return _read_literals(loop[2])
    assigned = _ASSIGNED.match(command.text)
    if assigned is not None and assigned[1] == name and command.program == ":":
        place = places.get(assigned[2].strip("\"' \n"))
        given = _read_temporary(assigned[2]) or _read_literals(assigned[2])
        return given if place is None else (place,)
    return None


_TEMPORARY = re.compile(
    r"[\"']?(?:\$\(|`)mktemp(?P<flags>(?: -[dqu]+| --directory| --quiet| -t| --tmpdir)*)"
    r"(?: (?:-p )?(?P<place>/tmp/)?(?P<template>[\w.-]*))?(?: 2>/dev/null)?(?:\)|`)[\"']?"
)


def _read_temporary(text: str) -> tuple[str, ...] | None:
    """`$(mktemp -d)` is a new name among the temporary files; `mktemp x.XXX` is one right here."""
    found = _TEMPORARY.fullmatch(text.strip())
    if found is None:
        return None
    template = found["template"] or "tmp.XXXXXXXXXX"
    is_here = found["template"] and not found["place"] and not re.search(" -t| --tmp", found[1])
    return (template if is_here else f"/tmp/{template}",)


def _read_literals(text: str) -> tuple[str, ...] | None:
    words = _read_words(text)
    values = [word.raw.strip("\"'") if word.tilde else word.value for word in words]
    return None if None in values else tuple(value or "" for value in values)


def _read_words(text: str) -> tuple[Word, ...]:
    commands = parse_script(f"echo {text}").commands
    return commands[0].words if commands else ()


_PRINTING = frozenset({"echo", "printf"})
DOWNLOADERS = split_names("curl wget fetch aria2c axel http https xh lynx nc ncat socat")
_WRITE_TO_LAST = split_names("cp ln install rsync scp")
_COPIERS = _WRITE_TO_LAST | {"mv"}
_WRITE_TO_ALL = split_names(
    "tee truncate mv shred rm unlink rmdir sponge touch mkdir mkfifo mknod ex ed gzip gunzip bzip2 "
    "bunzip2 xz unxz zstd zip patch"
)
_COMPRESSORS = split_names("gzip gunzip bzip2 bunzip2 xz unxz zstd")
_PRINTING_FLAGS = frozenset({"-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"})
"""With these they leave the file alone."""
_TARGET_OPTIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "curl": (
        ("-o", "--output"),
        ("--", "--output-dir"),
        ("-D", "--dump-header"),
        ("-c", "--cookie-jar"),
        ("--", "--trace-ascii"),
        ("--", "--trace"),
        ("--", "--stderr"),
        ("--", "--libcurl"),
        ("--", "--etag-save"),
    ),
    "wget": (
        ("-O", "--output-document"),
        ("-P", "--directory-prefix"),
        ("-o", "--output-file"),
        ("-a", "--append-output"),
        ("--", "--save-cookies"),
    ),
    "aria2c": (("-d", "--dir"), ("-o", "--out")),
    "tar": (("-C", "--directory"), ("-f", "--file")),
    "bsdtar": (("-C", "--directory"), ("-f", "--file")),
    "sort": (("-o", "--output"),),
    "shuf": (("-o", "--output"),),
    "unzip": (("-d", "--"),),
    "patch": (("-o", "--output"), ("-d", "--directory"), ("-r", "--reject-file")),
    "cp": (("-t", "--target-directory"),),
    "mv": (("-t", "--target-directory"),),
    "ln": (("-t", "--target-directory"),),
    "install": (("-t", "--target-directory"),),
    "rsync": (("--", "--log-file"), ("--", "--backup-dir"), ("--", "--write-batch")),
    "git": (("-C", "--"), ("--", "--git-dir"), ("--", "--work-tree"), ("-o", "--output")),
    "tree": (("-o", "--"),),
    "cpio": (("-D", "--directory"), ("-O", "--file")),
    "7z": (("-o", "--"),),
    "gcc": (("-o", "--output"),),
    "cc": (("-o", "--output"),),
    "openssl": (("--", "--out"),),
    "strace": (("-o", "--output"),),
    "time": (("-o", "--output"),),
    "script": (("-O", "--log-out"), ("-B", "--log-io"), ("-I", "--log-in")),
}
_FIND_TARGETS = frozenset({"-fprint", "-fprint0", "-fprintf", "-fls"})


def list_written(command: Command) -> Iterator[Word]:
    """Every word of the command that names something it writes to, or a file it reads from."""
    yield from (one.target for one in command.redirects if not one.names_stream)
    yield from _list_named(command)


def list_outputs(script: Script) -> Iterator[str]:
    """The names of the files that a script writes or fetches."""
    for command in script.commands:
        words = [one.target for one in command.redirects if one.writes]
        words += [*_list_named(command), *_list_fetched(command)]
        yield from filter(None, map(name_file, words))
        if command.name in DOWNLOADERS:
            yield from filter(None, map(_name_download, command.arguments))


def _list_fetched(command: Command) -> tuple[Word, ...]:
    """What is fetched or copied may keep its name."""
    return command.arguments if command.name in DOWNLOADERS | _COPIERS else ()


def _list_named(command: Command) -> Iterator[Word]:
    yield from _list_operands(command)
    for short, long in _TARGET_OPTIONS.get(command.name or "", ()):
        yield from find_values(command.words, short, long)


def _list_operands(command: Command) -> Iterator[Word]:
    prints = command.name in _COMPRESSORS and not command.flags.isdisjoint(_PRINTING_FLAGS)
    if (command.name in _WRITE_TO_ALL and not prints) or _edits_in_place(command):
        yield from command.operands
    elif command.name in _WRITE_TO_LAST:
        yield from command.operands[-1:]
    elif command.name in {"uniq", "xxd"}:
        yield from command.operands[1:2]
    elif command.name == "dd":
        yield from _list_dd_outputs(command)
    elif command.name in {"find", "gfind"}:
        pairs = zip(command.words, command.words[1:], strict=False)
        yield from (word for before, word in pairs if before.value in _FIND_TARGETS)


def _edits_in_place(command: Command) -> bool:
    flags = command.flags
    if command.name in {"perl", "ruby"}:
        return "-i" in flags
    return command.name in {"sed", "gsed", "yq"} and any(
        flag.startswith(("-i", "--in-p")) for flag in flags
    )


def _list_dd_outputs(command: Command) -> Iterator[Word]:
    for word in command.words:
        if word.value and word.value.startswith("of="):
            yield create_literal(word.value.removeprefix("of="))


def _name_download(word: Word) -> str | None:
    """The file that `curl -O` and `wget` make of an address: what stands last in its path."""
    path = urlsplit_safely(word.value or "")
    return unquote(path).rstrip("/").rpartition("/")[2] or None


def urlsplit_safely(address: str) -> str:
    """The path of an address; of what is no address, everything."""
    try:
        return urlsplit(address).path
    except ValueError:
        return address


Action = Literal["ask", "deny"]
"""What a guard should do about a finding."""

Objection = tuple[Action, str]
"""What to do and why: the answer of one check."""

MOST_WORDS = 200
"""A command of more words is not looked at word by word."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What speaks against a command."""

    action: Action
    rule: str
    reason: str
    command: str


@dataclass(frozen=True, slots=True)
class Situation:
    """A command with its surroundings: where its script goes, and what it writes."""

    command: Command
    script: Script
    workspace: Workspace
    directories: Directories
    outputs: frozenset[str] = frozenset()
    values: Values = field(default_factory=Values)
    found: dict[Word, set[Path]] = field(default_factory=dict)
    rated: dict[Word, Reach] = field(default_factory=dict)
    """What was found before, for all commands of the script."""

    def rate(self, words: tuple[Word, ...]) -> tuple[Reach, Word] | None:
        """The worst place among the words, and the word that names it."""
        if len(words) > MOST_WORDS:
            return Reach.UNKNOWN, words[0]
        rated = [(self.rate_word(word), word) for word in words]
        return max(rated, key=lambda pair: pair[0], default=None)

    def rate_word(self, word: Word) -> Reach:
        """The worst place that the word may name."""
        if word not in self.rated:
            reach = self.workspace.rate(word, self.directories.known)
            self.rated[word] = max(reach, Reach.UNKNOWN) if self.is_adrift(word) else reach
        return self.rated[word]

    def find_paths(self, word: Word) -> set[Path]:
        """Every path that the word may name, from each directory that the script may be in."""
        if word not in self.found:
            paths = (
                self.workspace.find_path(one, start)
                for start in self.directories.known
                for one in (word, *self._expand_glob(word, start))
            )
            self.found[word] = {path for path in paths if path is not None}
        return self.found[word]

    def _expand_glob(self, word: Word, start: Path) -> Iterator[Word]:
        """What `.c*/settings.json` stands for, among the files that are there."""
        if word.glob and word.value and "\0" not in word.value:
            home = word.tilde and word.value.startswith("~/")
            text = f"{self.workspace.home}{word.value[1:]}" if home else word.value
            found = islice(iglob(text, root_dir=start), MOST_WORDS)  # noqa: PTH207
            yield from map(create_literal, found)

    def resolve(self, word: Word) -> list[Word]:
        """What a word with variables becomes, if the script itself gives them their values."""
        return self.values.resolve(word)

    def is_adrift(self, word: Word) -> bool:
        """Whether it is relative to a directory that only running the script would tell."""
        absolute = word.tilde or (word.value or "").startswith("/")
        return not self.directories.complete and not absolute


_PLACES = ("$(git rev-parse --show-toplevel)", "$(pwd)", "$PWD", "$HOME")


def _list_places(script: Script, workspace: Workspace) -> dict[str, str]:
    """What these stand for, unless the script may have gone elsewhere before."""
    goes = (one for one in script.commands if one.name in {"cd", "pushd", "popd"})
    if any(word.value is not None or not word.raw.strip("\"'").startswith("$")
           for one in goes for word in one.words):  # fmt: skip
        return {}
    found = {
        one: workspace.find_place(Word(one, None), workspace.working_dir) for one in _PLACES
    }  # fmt: skip
    return {one: str(path) for one, path in found.items() if path is not None}


def list_situations(script: Script, workspace: Workspace) -> Iterator[Situation]:
    """Every command of a script in its surroundings."""
    values = Values.read(script.commands, _list_places(script, workspace))
    directories = list_directories(script.commands, workspace, values.resolve)
    outputs = frozenset(map(strip_directory, list_outputs(script)))
    found: dict[Word, set[Path]] = {}
    rated: dict[Word, Reach] = {}
    for command in script.commands:
        yield Situation(command, script, workspace, directories, outputs, values, found, rated)


def add_input(situation: Situation) -> Command:
    """A shell of a database does what its input says: `echo flushall | redis-cli`."""
    command = situation.command
    texts = [] if command.stdin is None else [command.stdin]
    if not _PRINTING.isdisjoint(command.piped_from):
        printed = (one for one in situation.script.commands if one.name in _PRINTING)
        texts += [word for one in printed for word in one.words]
    parts = [create_literal(part) for text in texts for part in (text.value or "").split()]
    return replace(command, words=(*command.words, *texts, *parts)) if texts else command


def name_file(word: Word) -> str | None:
    """The path, also if only the name at its end is literal: `"$tmp/x.py"`."""
    if word.value is not None:
        return word.value
    text = word.raw.strip("\"'")
    last = strip_directory(text)
    return None if "/" not in text or re.search(r"[$`*?\[\"')]", last) else text


def strip_directory(path: str) -> str:
    """The name of a file: a `cd` before it may change what its directory is called."""
    return path.rstrip("/").rpartition("/")[2]
