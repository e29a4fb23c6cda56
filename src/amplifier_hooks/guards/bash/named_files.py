"""Files of interest that the words of a command name: outright, by a variable, or by what prints.

Names are found by looking, never by running anything.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from glob import iglob
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.variable_texts import fill_variables, list_values
from amplifier_hooks.guards.bash.words import Word, create_literal, split_names
from amplifier_hooks.guards.policy.paths import expand_braces
from amplifier_hooks.guards.policy.patterns import PatternError, compile_pattern

SECONDS = 2.0
"""Folders are looked through for no longer than this."""
_MOST_ENTRIES = 30_000
_MOST_FILES = 1_000
_MOST_VALUES = 16
_LONGEST_PATH = 4_096
_LARGEST_SEARCHED = 1_000_000
_NOT_ENTERED = frozenset({".git", "node_modules", "__pycache__", "site-packages", ".tox"})


Keeps = Callable[[Path, Path], bool]
"""Whether a file in a folder counts."""


class Guarded(Protocol):
    """The files of interest."""

    @property
    def patterns(self) -> Sequence[str]:
        """Globs of their names."""
        ...

    def may_guard(self, path: str) -> bool:
        """A quick look whether a path can be one of them."""
        ...

    def find_hit(self, given: str, base: Path | None = None) -> Any:
        """Something true for one of them; ValueError if the path cannot be resolved."""
        ...


Lists = Callable[["Search", "Command", Sequence["Command"]], Iterator[Path]]
"""The files of interest that the output of commands may name to a command."""


@dataclass(frozen=True, slots=True)
class Read:
    """A file that a command would read."""

    path: Path
    command: str
    given: str
    """The word that names it, or the folder that it is in."""
    sure: bool = True
    """Whether that word surely names it, and the program surely reads it."""
    shows: bool = True
    """Whether the content comes out, or goes into a copy; else it is used, as `--env-file` does."""
    search: str | None = None
    """Only lines that match this expression come out."""
    below: bool = False
    """Whether it is only one of the files of a folder."""

    def comes_out(self, owner: str) -> bool:
        """Whether anything of the file is shown: of a search in a folder, if a line matches."""
        if not self.shows:
            return False
        if self.search is None or not self.below:
            return True
        try:
            pattern = compile_pattern(self.search, owner, ignore_case=True)
            with self.path.open("rb") as file:
                text = file.read(_LARGEST_SEARCHED).decode("utf-8", "replace")
        except (PatternError, OSError):
            return True
        return pattern.occurs_in(text)


TEXT_MAKERS = split_names(
    "printf base64 base32 xxd tr rev sed awk python python3 perl ruby node openssl dd cut "
    "head tail curl wget"
)
"""What they print may be put together of anything."""
_LISTERS = split_names("find gfind fd fdfind ls git rg grep")
"""Name files; what selects some of them can only name these."""
_SELECTORS = split_names("head tail")
_ADDRESS = re.compile(r"[\"']?(?:https?|wss?|s?ftp|ssh|git)://")
_STREAM = re.compile(r"^[\w@=:-]*[<>]\(")
"""`<(…)` is no file whose name is computed: in it is what the commands inside print."""
_TAKING = frozenset({"read", "mapfile", "readarray"})
"""They set a variable to what they read."""
_APART = re.compile(r"""[\s"'`(){}=;|&<>$:,]+""")
_NAMED = re.compile(r"\$\{?([A-Za-z_]\w*)")
_REPLACED = re.compile(r"\$(?:[A-Za-z_]\w*|\{[^{}]*\})")


@dataclass(frozen=True)
class ScriptFacts:
    """What the commands of a script tell of one another."""

    commands: tuple[Command, ...]
    below: dict[Path, list[Path]] = field(default_factory=dict)
    """What was found in folders before."""

    @cached_property
    def text(self) -> str:
        """All commands, one a line."""
        return "\n".join(one.text for one in self.commands)

    @cached_property
    def values(self) -> dict[str, list[str]]:
        """What variables are set to in the script."""
        return list_values(self.text)

    @cached_property
    def mentioned(self) -> list[str]:
        """Everything in the script that may be a name, wherever it stands."""
        fed = (one.stdin.raw for one in self.commands if one.stdin is not None)
        return list(dict.fromkeys(filter(None, _APART.split("\n".join([self.text, *fed])))))

    def list_makers(self, name: str) -> Iterator[tuple[Command, ...]]:
        """The commands whose output a variable is given: `f=$(…)`, `for f in $(…)`, `read f`."""
        for at, one in enumerate(self.commands):
            if one.program == ":" and name in one.assigns:
                head = one.text.partition("; do")[0].partition("\ndo")[0]
                made = [other for other in self.commands if other is not one and other.text in head]
            elif one.name in _TAKING and name in {word.value for word in one.words}:
                made = [*self._list_streamed(one), *self._list_feeding(at)]
            else:
                continue
            if made := [other for other in made if other.text]:
                yield tuple(made)

    def _list_streamed(self, command: Command) -> Iterator[Command]:
        streams = [one.target.raw for one in command.redirects if one.operator == "<"]
        for one in self.commands:
            if any(_STREAM.match(raw) and one.text in raw for raw in streams):
                yield one

    def _list_feeding(self, at: int) -> Iterator[Command]:
        feeding = self.commands[at].piped_from
        return (one for one in self.commands[:at] if one.name in feeding)


def _read_balanced(text: str, start: int) -> str:
    """The substitution that begins here, with its brackets."""
    if text[start] == "`":
        return text[start : text.find("`", start + 1) + 1]
    depth = 0
    for index in range(start + 1, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return text[start : index + 1]
    return text[start:]


_ANY_PART = "…"
"""Stands for a part of a path that only running would tell: `/proc/$pid/environ`."""


def _replace_substitutions(text: str) -> str:
    while (start := min((i for i in (text.find("$("), text.find("`")) if i >= 0), default=-1)) >= 0:
        text = text.replace(_read_balanced(text, start) or text[start:], _ANY_PART, 1)
    return _REPLACED.sub(_ANY_PART, text)


def _name_rest(word: Word) -> Iterator[Word]:
    """What is said of a name of which a part is not: `$folder/.env`."""
    if word.value is None:
        text = _replace_substitutions(word.raw).replace('"', "").replace("'", "")
        if text.strip(_ANY_PART + "/"):
            yield create_literal(text)


@dataclass
class Search:
    """One command in one folder that it may run in."""

    command: Command
    base: Path
    home: Path
    guarded: Guarded
    script: ScriptFacts
    list_named: Lists
    deadline: float
    doubts: list[str] = field(default_factory=list)

    # Words

    def find_named(self, words: Iterable[Word], **facts: Any) -> Iterator[Read]:
        """The files of interest that words name, also as `@file`, `name=file` and `-ffile`."""
        for word in words:
            if _ADDRESS.match(word.raw):
                continue
            known = list(self.resolve(word))
            for one in [*known, *_name_rest(word)]:
                for part in _list_parts(one):
                    if part.value != one.value or self._is_plain(one):
                        yield from self._find_files(part, **facts)
            if not known and not word.runs:
                yield from self._find_mentioned(word, **facts)

    def _find_mentioned(self, word: Word, **facts: Any) -> Iterator[Read]:
        """Where nothing tells what a variable holds, it may hold any name in the script."""
        given = {**facts, "sure": False}
        for text in self.script.mentioned:
            one = Word(text, text, glob=any(s in text for s in "*?["), tilde=text[:1] == "~")
            yield from (replace(read, given=word.raw) for read in self._find_files(one, **given))

    def _is_plain(self, word: Word) -> bool:
        """`file=@.env` is no name of a file, unless there is one."""
        text = word.value or ""
        if not re.search(r"[=@:]", text):
            return True
        return os.path.lexists(self.base / text)

    def _find_files(self, word: Word, **facts: Any) -> Iterator[Read]:
        sure = facts.pop("sure", True)
        for path, certain in self.find_paths(word):
            if self.is_guarded(path):
                yield Read(path, self.command.text, word.raw, sure=sure and certain, **facts)

    def find_paths(self, word: Word) -> Iterator[tuple[Path, bool]]:
        """The paths that a word names, and whether that is certain."""
        text = word.value or ""
        if word.tilde and (text == "~" or text.startswith("~/")):
            text = f"{self.home}{text[1:]}"
        if not text or "\0" in text or len(text) > _LONGEST_PATH:
            return
        if not word.glob:
            yield self.base / text, True
            return
        found = list(islice(iglob(text, root_dir=self.base), _MOST_FILES))  # noqa: PTH207
        yield from ((self.base / one, True) for one in found)
        if not found:
            yield from self._guess_names(text)

    def _guess_names(self, glob: str) -> Iterator[tuple[Path, bool]]:
        """What a glob that fits nothing now could fit by then: `.e?v`, but not `*`."""
        folder, _, last = glob.rpartition("/")
        if not re.match(r"\.[^*?\[.]|[A-Za-z_]{2}", last) and last not in self.guarded.patterns:
            return
        for pattern in self.guarded.patterns:
            name = re.sub(r"\[.*?\]|[*?]", "x", pattern.rpartition("/")[2])
            if name and fnmatchcase(name.casefold(), last.casefold()):
                yield self.base / folder / name, last.startswith(".")
                return

    def is_guarded(self, path: Path) -> bool:
        """Whether it is a file of interest."""
        try:
            return bool(self.guarded.find_hit(str(path)))
        except ValueError:
            return False

    def resolve(self, word: Word) -> Iterator[Word]:
        """The words that a word may become: variables of the script, braces, substitutions."""
        if word.value is not None:
            yield word
            return
        if word.runs:
            yield from self._resolve_substitution(word)
            return
        yield from self._resolve_listed(word)
        for text in islice(fill_variables(word.raw, self._list_texts), _MOST_VALUES):
            for one in islice(expand_braces(text), _MOST_VALUES):
                plain = one.replace('"', "").replace("'", "").replace("\\", "")
                plain = re.sub(r"[?*+@!]\(([^()|]*)[^()]*\)", r"\1", plain)
                if "$" not in plain and "`" not in plain:
                    is_glob = any(sign in plain for sign in "*?[")
                    yield Word(one, plain, glob=is_glob, tilde=plain.startswith("~"))

    def _resolve_listed(self, word: Word) -> Iterator[Word]:
        """`"$f"` and `out/$f`, where a command prints what f is; `$f.html` is another file."""
        text = word.raw.replace('"', "")
        for name in _NAMED.findall(text):
            head, _, tail = text.partition("$")
            ends = re.fullmatch(r"\{?\w+(?:\[[@*\w]+\])?\}?", tail) is not None
            for makers in self.script.list_makers(name) if ends else ():
                for one in self._list_made(makers, word.raw):
                    inner = os.path.relpath(one.value or "", self.base)
                    yield create_literal(f"{head}{inner}") if head else one

    def _list_texts(self, name: str, *, each: bool) -> list[str]:
        """What a variable may hold; a glob as the names that it stands for, where each is asked."""
        known = {"HOME": [str(self.home)], "PWD": [str(self.base)]}.get(name)
        values = self.script.values.get(name, []) if known is None else known
        if not each:
            return values
        expanded = ([*islice(iglob(one, root_dir=self.base), _MOST_FILES)] for one in values)  # noqa: PTH207
        return [
            name for one, names in zip(values, expanded, strict=True) for name in names or [one]
        ]

    def _resolve_substitution(self, word: Word) -> Iterator[Word]:
        """`$(find . -name x)`, `$(echo x)`; what is computed is a doubt."""
        if _STREAM.match(word.raw):
            return  # what the commands inside read is looked at by itself
        makers = [one for one in self.script.commands if one.text and one.text in word.raw]
        yield from self._list_made(makers, word.raw, word.runs)

    def _list_made(
        self, makers: Sequence[Command], raw: str, runs: Sequence[str | None] | None = None
    ) -> Iterator[Word]:
        produced = [path for one in makers for path in self.list_named(self, one, makers)]
        yield from (create_literal(str(path)) for path in produced)
        names = {one.name for one in makers} if runs is None else set(runs)
        is_selection = names - _SELECTORS <= _LISTERS
        if not is_selection and names & TEXT_MAKERS and not any(map(self.is_guarded, produced)):
            self.doubts.append(f"only running it would tell which file {raw} is")

    # Folders

    def find_below(
        self,
        roots: Iterable[Word],
        keep: Keeps = lambda _path, _root: True,
        **facts: Any,
    ) -> Iterator[Read]:
        """The files of interest in folders; `keep` is asked about each file and its folder."""
        for word in roots:
            for known in self.resolve(word):
                for root, certain in self.find_paths(known):
                    for path in self.list_below(root):
                        if keep(path, root):
                            yield Read(
                                path, self.command.text, known.raw, certain, below=True, **facts
                            )

    def list_below(self, root: Path) -> list[Path]:
        """All files of interest below a folder, looked up once."""
        top = Path(os.path.normpath(root))
        if top not in self.script.below:
            self.script.below[top] = list(self._walk(top)) if top.is_dir() else []
        return self.script.below[top]

    def _walk(self, top: Path) -> Iterator[Path]:
        left = _MOST_ENTRIES
        for folder, folders, files in os.walk(top):
            folders[:] = [one for one in folders if one not in _NOT_ENTERED]
            left -= len(files) + 1
            for name in files:
                path = f"{folder}/{name}"
                if self.guarded.may_guard(path) and self.is_guarded(Path(path)):
                    yield Path(path)
            if left < 0 or time.monotonic() > self.deadline:
                return


def _list_parts(word: Word) -> Iterator[Word]:
    """A word, and what stands in it behind `@`, `=`, `:` or the letter of an option."""
    text = word.value or ""
    cut = [text]
    if "=" in text:
        cut.append(text.partition("=")[2])
    if word.is_flag and not text.startswith("--"):
        cut.append(text[2:])
    cut += [one.partition("@")[2] for one in cut if "@" in one and "://" not in one]
    cut += [one.partition(":")[2] for one in (text,) if ":" in one and "://" not in one]
    cut += [one.partition(":")[0] for one in (text,) if ":" in one and "://" not in one]
    cut += [one[7:] for one in (text,) if one[:7].casefold() == "file://"]
    for one in dict.fromkeys(cut):
        if one and not (one == text and word.is_flag) and (one == text or one[0] != "@"):
            tilde = word.tilde if one == text else one.startswith("~/")
            yield replace(word, value=one, tilde=tilde)
