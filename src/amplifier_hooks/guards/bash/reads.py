"""Files of interest whose content a command would read, found by looking, never by running it.

What is named counts as read unless the program is known to leave the content alone; what lies in
a folder counts where a program goes through folders and its options do not leave the file out.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from glob import iglob
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, Protocol

from amplifier_hooks.guards.bash.commands import Command, Options, Reading, read_options
from amplifier_hooks.guards.bash.find import list_roots
from amplifier_hooks.guards.bash.git import GitCall, read_git
from amplifier_hooks.guards.bash.gitignore import is_ignored
from amplifier_hooks.guards.bash.movements import locate
from amplifier_hooks.guards.bash.unwrap import SHELLS
from amplifier_hooks.guards.bash.words import Word, create_literal, split_names
from amplifier_hooks.guards.bash.workspace import Workspace
from amplifier_hooks.guards.bash.wrappers import (
    MANAGERS,
    PACKAGE_RUNNERS,
    PREFIXES,
    RUNNERS,
)
from amplifier_hooks.guards.policy.paths import expand_braces
from amplifier_hooks.guards.policy.patterns import PatternError, compile_pattern

_SECONDS = 2.0
_MOST_ENTRIES = 30_000
_MOST_FILES = 1_000
_MOST_VALUES = 16
_LARGEST_INDEX = 16_000_000
_LONGEST_PATH = 4_096
_LARGEST_SEARCHED = 1_000_000
_LISTING = frozenset({"files_with_matches", "count"})
_NOT_ENTERED = frozenset({".git", "node_modules", "__pycache__", "site-packages", ".tox"})


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


@dataclass(frozen=True, slots=True)
class Reads:
    """What was found, and why there may be more."""

    files: tuple[Read, ...] = ()
    doubts: tuple[str, ...] = ()


_LOOKING = split_names(
    "ls dir vdir exa eza lsd stat test [ rm unlink rmdir shred touch mkdir mkfifo chmod chown "
    "chgrp chattr lsattr setfacl getfacl file wc du df tree basename dirname realpath "
    "readlink echo printf pwd cd pushd popd which type command export unset set alias unalias "
    "true false : ps kill tee truncate md5sum sha1sum sha224sum sha256sum sha384sum sha512sum "
    "shasum b2sum cksum sum sleep code open xdg-open subl idea fallocate mktemp sponge trash "
    "inotifywait fswatch watchman gitleaks trufflehog detect-secrets ssh-add ssh-keygen "
    "ssh-copy-id brew apt apt-get dnf yum pip pip3 docker podman make mount umount exit "
    "return"
)
"""They tell of a file, change it, or hand it to a person, but do not show what is in it."""
_READERS = split_names(
    "cat bat batcat less more most head tail tac nl rev cut sort uniq paste join comm diff "
    "cmp sdiff colordiff icdiff delta vimdiff od xxd hexdump hd strings base64 base32 basenc "
    "uuencode gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat zstd zstdcat lz4 zless view "
    "vi vim nvim nano pico micro emacs ed ex jq yq xq dasel column fold fmt pr expand "
    "unexpand iconv split csplit shuf look pv dd curl wget http https xh nc ncat socat telnet "
    "ftp sftp lftp openssl gpg gpg2 age mail mutt sendmail pbcopy xclip xsel wl-copy clip "
    "qrencode lp lpr source . m4 gcc cc cpp tr read mapfile readarray exec script psql mysql "
    "sqlite3 dotenv scp rclone aws gsutil gh gcloud az sh bash zsh dash ksh fish csh tcsh "
    "rbash ash less.sh glow rich mdcat envsubst while until for"
)
_COPIERS = split_names("cp gcp mv gmv ln gln install ginstall rsync scp")
_ARCHIVERS = split_names("tar gtar bsdtar zip 7z 7za 7zr 7zz rar cpio pax ar jar zpaq")
_GREPS = split_names("grep egrep fgrep zgrep rgrep ggrep rg ag ack ugrep ug")
_EXPRESSION_FIRST = split_names("sed gsed awk gawk mawk nawk jq yq perl ruby")
_INTERPRETERS = split_names(
    "awk gawk mawk nawk sed gsed perl ruby node nodejs deno bun php lua tclsh osascript julia "
    "guile rscript r elixir erl ocaml scala groovy pwsh powershell sqlite3 psql mysql ed ex "
    "vi vim nvim emacs gdb expect m4 gnuplot ts-node tsx"
)
_WRAPPERS = (
    PREFIXES | RUNNERS | MANAGERS | SHELLS | PACKAGE_RUNNERS
    | split_names(
        "env genv xargs entr gdb flock watch eval trap su runuser script ssh parallel alias find "
        "gfind fd fdfind complete compgen"
    )
)  # fmt: skip
"""What they run is looked at by itself."""
_TEXT_MAKERS = split_names(
    "printf base64 base32 xxd tr rev sed awk python python3 perl ruby node openssl dd cut "
    "head tail curl wget"
)
_LISTERS = split_names("find gfind fd fdfind ls git rg grep")
"""Name files; what selects some of them can only name these."""
_SELECTORS = split_names("head tail")
_USES = split_names(
    "--env-file --envfile --dotenv --key --key-file --keyfile --private-key --identity-file "
    "--identity --kubeconfig --netrc-file --cert --tls-key --tlskey --ssl-key --credentials "
    "--credentials-file --service-account-file --from-env-file --ca --cacert --client-key "
    "--keystore --passfile --password-file --vault-password-file --with-key --key-path "
    "--var-file --secret --volume --mount"
)
"""Options that name a file for use: what is in it is not shown."""
_SHORT_USES = {
    **dict.fromkeys(("ssh", "scp", "sftp", "ssh-copy-id", "mosh", "autossh"), frozenset({"-i"})),
    **dict.fromkeys(("docker", "podman", "docker-compose"), frozenset({"-v"})),
    "dotenv": frozenset({"-e", "-f"}),
    "dotenvx": frozenset({"-f"}),
    "env-cmd": frozenset({"-f", "--file"}),
    "openssl": frozenset({"-key", "-inkey", "-signkey", "-CAkey"}),
}
_PRINTS_ENVIRONMENT = re.compile(
    r"\b(?:printenv|process\.env|os\.environ|export -p|declare -[xp]|compgen -v|getenv)\b|\$ENV\b|"
    r"(?:^|[\s;&|(])(?:env|set)\s*(?:$|[;&|)\n>])|\b(?:echo|printf)\b[^;&|\n]*\$"
)
_SUBSTITUTED_FILE = re.compile(r"\$\(\s*<\s*([^\s()]+)\s*\)|`\s*<\s*([^\s`]+)\s*`")
_ASSIGNED = re.compile(r"(?:^|[\s;&|(])([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^\s;&|()]*)")
_LOOPED = re.compile(r"\bfor\s+([A-Za-z_]\w*)\s+in\s+([^;\n]*)")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?[-=]([^}]*))?\})")
_NAMED = re.compile(r"\$\{?([A-Za-z_]\w*)")
_SUBSTITUTED = re.compile(r"(?:^|[\s;&|(])([A-Za-z_]\w*)=\"?(?=\$\(|`)")
_BETWEEN = re.compile(r"""[\s"'`(),;=|<>{}\[\]]+""")
_CONCATENATED = re.compile(r"""(["'])\s*[+.]\s*["']|(["'])\s+["'](?=[^"']*["'])""")
_COMPUTED = re.compile(
    r"b64decode|fromCharCode|fromCodePoint|\bchr\(|unhexlify|fromhex|pack\(|\\x[0-9A-Fa-f]{2}|"
    r"'base64'|\"base64\"|\[::-1\]|reverse\(|\bexec\(|\beval\("
)
_OPENS = re.compile(r"open|read|file|File|slurp|cat|require|import_module|load|getline|glob")


def look_up_reads(
    commands: Sequence[Command], bases: Sequence[Path], home: Path, guarded: Guarded
) -> Reads:
    """What commands would read of the files of interest, from each folder they may run in."""
    script = _ScriptFacts(tuple(commands))
    files: dict[Path, Read] = {}
    doubts: dict[str, None] = {}
    deadline = time.monotonic() + _SECONDS
    workspace = Workspace(bases[0], home)
    for command in commands:
        for base in locate(command, bases, workspace, commands):
            search = _Search(command, base, home, guarded, script, deadline)
            for read in _find_reads(search):
                known = files.get(read.path)
                if known is None or _rank(read) > _rank(known):
                    files[read.path] = read
            doubts |= dict.fromkeys(search.doubts)
    return Reads(tuple(files.values()), tuple(doubts))


def build_search(given: Any) -> Command | None:
    """A call of Grep as the command that it is; None if it names files only."""
    if not isinstance(given, Mapping) or given.get("output_mode") in _LISTING:
        return None
    words = ["--hidden", "-e", str(given.get("pattern", ""))]
    for key, option in (("glob", "-g"), ("type", "-t")):
        if given.get(key):
            words += [option, str(given[key])]
    words.append(str(given.get("path") or "."))
    return Command("rg", tuple(map(create_literal, words)), "Grep")


def _rank(read: Read) -> tuple[bool, bool, bool]:
    return read.shows, read.sure, read.search is None


class _ScriptFacts:
    """What the commands of a script tell of one another."""

    def __init__(self, commands: tuple[Command, ...]) -> None:
        self.commands = commands
        self.text = "\n".join(one.text for one in commands)
        self.below: dict[Path, list[Path]] = {}

    @cached_property
    def values(self) -> dict[str, list[str]]:
        """What variables are set to in the script."""
        found: dict[str, list[str]] = {}
        for name, value in _ASSIGNED.findall(self.text):
            found.setdefault(name, []).append(value.strip("\"'"))
        for name, words in _LOOPED.findall(self.text):
            found.setdefault(name, []).extend(one.strip("\"'") for one in words.split())
        return found

    @cached_property
    def computed(self) -> dict[str, list[Word]]:
        """The substitutions that variables are set to in the script: `f=$(ls | head -1)`."""
        found: dict[str, list[Word]] = {}
        for match in _SUBSTITUTED.finditer(self.text):
            raw = _read_balanced(self.text, match.end())
            inside = [one for one in self.commands if one.text and one.text in raw]
            if inside:
                word = Word(raw, None, runs=tuple(one.name for one in inside))
                found.setdefault(match[1], []).append(word)
        return found

    @cached_property
    def prints_environment(self) -> bool:
        """Whether what a file puts into the environment may be printed."""
        return _PRINTS_ENVIRONMENT.search(self.text) is not None


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
    return _VARIABLE.sub(_ANY_PART, text)


def _name_rest(word: Word) -> Iterator[Word]:
    """What is said of a name of which a part is not: `$folder/.env`."""
    if word.value is None:
        text = _replace_substitutions(word.raw).replace('"', "").replace("'", "")
        if text.strip(_ANY_PART + "/"):
            yield create_literal(text)


@dataclass
class _Search:
    """One command in one folder that it may run in."""

    command: Command
    base: Path
    home: Path
    guarded: Guarded
    script: _ScriptFacts
    deadline: float
    doubts: list[str] = field(default_factory=list)

    # Words

    def find_named(self, words: Iterable[Word], **facts: Any) -> Iterator[Read]:
        """The files of interest that words name, also as `@file`, `name=file` and `-ffile`."""
        for word in words:
            for known in [*self.resolve(word), *_name_rest(word)]:
                for part in _list_parts(known):
                    if part.value != known.value or self._is_plain(known):
                        yield from self._find_files(part, **facts)

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
        for name in _NAMED.findall(word.raw):
            for computed in self.script.computed.get(name, ()):
                yield from self._resolve_substitution(computed)
        for text in islice(self._fill(word.raw), _MOST_VALUES):
            for one in islice(expand_braces(text), _MOST_VALUES):
                plain = one.replace('"', "").replace("'", "").replace("\\", "")
                plain = re.sub(r"[?*+@!]\(([^()|]*)[^()]*\)", r"\1", plain)
                if "$" not in plain and "`" not in plain:
                    is_glob = any(sign in plain for sign in "*?[")
                    yield Word(one, plain, glob=is_glob, tilde=plain.startswith("~"))

    def _fill(self, text: str, depth: int = 3) -> Iterator[str]:
        found = _VARIABLE.search(text)
        if found is None or depth == 0:
            yield text
            return
        name = found[1] or found[2]
        values = {"HOME": [str(self.home)], "PWD": [str(self.base)]}.get(
            name, self.script.values.get(name, [])
        )
        for value in [*values, *([found[3]] if found[3] else [])]:
            filled = text[: found.start()] + value + text[found.end() :]
            yield from self._fill(filled, depth - 1)

    def _resolve_substitution(self, word: Word) -> Iterator[Word]:
        """`$(find . -name x)`, `$(echo x)`; what is computed is a doubt."""
        makers = [one for one in self.script.commands if one.text and one.text in word.raw]
        produced = [path for one in makers for path in _list_produced(replace(self, command=one))]
        yield from (create_literal(str(path)) for path in produced)
        is_selection = set(word.runs) - _SELECTORS <= _LISTERS
        computed = not is_selection and any(name in _TEXT_MAKERS for name in word.runs)
        if computed and not any(map(self.is_guarded, produced)):
            self.doubts.append(f"only running it would tell which file {word.raw} is")

    # Folders

    def find_below(
        self,
        roots: Iterable[Word],
        keep: Callable[[Path, Path], bool] = lambda _path, _root: True,
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


def _find_reads(search: _Search) -> Iterator[Read]:
    command = search.command
    for redirect in command.redirects:
        if redirect.operator in {"<", "<>"}:
            yield from search.find_named([redirect.target])
    yield from _find_substituted(search)
    name = command.name
    if name is None or name in _LOOKING:
        yield from _find_docker_copies(search)
        return
    yield from _choose_finder(command)(search)
    if name in _INTERPRETERS or name.startswith(("python", "pypy")):
        yield from _find_in_code(search)


def _find_substituted(search: _Search) -> Iterator[Read]:
    """`$(< file)`."""
    texts = {word.raw for word in search.command.words}
    texts |= {one.target.raw for one in search.command.redirects}
    for text in (*texts, search.command.text):
        for one in _SUBSTITUTED_FILE.finditer(text):
            raw = (one[1] or one[2]).strip("\"'")
            yield from search.find_named([Word(raw, None)])


def _choose_finder(command: Command) -> Callable[[_Search], Iterator[Read]]:
    name = command.name or ""
    if name in _GREPS:
        return _find_grepped
    if name == "git":
        return _find_in_git
    if name in {"find", "gfind", "fd", "fdfind"}:
        return _find_found
    if name in _COPIERS:
        return _find_copied
    if name in _ARCHIVERS:
        return _find_archived
    if name in _WRAPPERS and name not in SHELLS:
        return _find_used
    return _find_words


_NO_FILES = frozenset({"process.env", "Bun.env", "import.meta.env"})
"""Code of one word: `node -p process.env`."""


def _find_words(search: _Search) -> Iterator[Read]:
    """The words of any other program, which may well print what is in the files they name."""
    command = search.command
    if _edits_in_place(command) or (command.name in SHELLS and "-c" in command.flags):
        return
    used = _list_used(command)
    outputs = _list_outputs(command)
    plain = [one for one in command.words if one not in used and one not in outputs]
    if command.name in _EXPRESSION_FIRST and not command.flags & {"-f", "--file"}:
        first = next((one for one in plain if not one.is_flag), None)
        plain = [one for one in plain if one is not first]
    plain = [one for one in plain if one.value not in _NO_FILES]
    sure = command.name in _READERS or command.name in _INTERPRETERS
    shows = command.name not in {"source", "."} or search.script.prints_environment
    yield from search.find_named(plain, sure=sure, shows=shows)
    yield from search.find_named(used, shows=search.script.prints_environment)
    if command.via[-1:] == ("xargs",) and any(one.value is None for one in command.words):
        yield from _find_piped(search)
    if command.name in {"diff", "cmp", "aws", "gsutil", "rclone"}:
        goes_deep = command.flags & {"-r", "-R", "--recursive"} or command.name == "rclone"
        if goes_deep:
            yield from search.find_below(plain)


_WRITES_ELSEWHERE = re.compile(
    r"/dev/|STDERR|STDOUT|\b(?:system|exec|open|qx|warn|die)\b|`|(?:^|[;{}/gip0-9])\s*w\s+\S"
)
"""What an editing script does beside editing: `sed 's/a/b/w /dev/stderr'`."""


def _edits_in_place(command: Command) -> bool:
    flags = command.flags
    if any(_WRITES_ELSEWHERE.search(word.value or word.raw) for word in command.words):
        return False
    if command.name in {"perl", "ruby"}:
        return "-i" in flags
    return command.name in {"sed", "gsed", "yq"} and any(
        flag.startswith(("-i", "--in-p")) for flag in flags
    )


def _find_used(search: _Search) -> Iterator[Read]:
    """A program that runs another one: its own options may name a file for use."""
    used = _list_used(search.command)
    yield from search.find_named(used, shows=search.script.prints_environment)
    if search.command.name == "xargs":
        lists = [word for word in search.command.words if not word.is_flag][:1]
        if search.command.flags & {"-a", "--arg-file"}:
            yield from search.find_named(lists)


def _list_used(command: Command) -> list[Word]:
    short = _SHORT_USES.get(command.name or "", frozenset())
    found = []
    for at, word in enumerate(command.words):
        text = word.value if word.value is not None else word.raw
        name, equals, _ = text.partition("=")
        if name not in _USES and name not in short:
            continue
        found.append(word)
        if not equals:
            found += command.words[at + 1 : at + 2]
    return found


_OUTPUTS = split_names("-o --output -O --out -out --output-document of")


def _list_outputs(command: Command) -> list[Word]:
    """What is written: `-o file`, `of=file`."""
    found = []
    for at, word in enumerate(command.words):
        name, equals, _ = (word.value or "").partition("=")
        if name in _OUTPUTS:
            found.append(word)
            if not equals:
                found += command.words[at + 1 : at + 2]
    return found


def _find_docker_copies(search: _Search) -> Iterator[Read]:
    """`docker run --env-file x` uses a file, `docker cp` copies one."""
    command = search.command
    if command.name in {"docker", "podman"}:
        yield from search.find_named(_list_used(command), shows=search.script.prints_environment)
        if any(word.value == "cp" for word in command.words):
            yield from search.find_named(command.operands)


# Programs that search


_GREP = Options.read(
    "EFGPivwxyncbHhoqsLlzZrRaIUTu --recursive --dereference-recursive --quiet --silent --count "
    "--files-with-matches --files-without-match --line-number --ignore-case --fixed-strings "
    "--no-filename --with-filename --only-matching --invert-match --word-regexp --perl-regexp "
    "--extended-regexp --text --null --hidden --no-ignore --files --no-ignore-vcs --unrestricted",
    "efmABCDd --regexp --file --max-count --after-context --before-context --context --include "
    "--exclude --exclude-dir --exclude-from --color --colour --label --directories --glob --iglob "
    "--type --type-not --max-depth --ignore",
    permutes=True,
)
_RIPGREP = replace(
    _GREP,
    plain=(_GREP.plain | {"S", "p", "N", "."}) - {"r", "E", "T"},
    valued=_GREP.valued | {"g", "t", "T", "j", "M", "r", "E"},
)
_SILENT = ("q", "quiet", "silent", "l", "L", "c", "count", "files-with-matches",
           "files-without-match", "files")  # fmt: skip


def _find_grepped(search: _Search) -> Iterator[Read]:
    command = search.command
    is_deep_by_nature = command.name in {"rg", "ag", "ack", "rgrep", "ugrep", "ug"}
    reading = read_options(command.words, _RIPGREP if is_deep_by_nature else _GREP)
    given = reading.find("e", "regexp")
    words = list(reading.rest)
    lists_files = reading.has("files") and command.name == "rg"
    if given is None and not reading.has("f", "file") and not lists_files and words:
        given = words.pop(0)
    patterns = [reading.find("f", "file")]
    yield from search.find_named([one for one in patterns if one is not None])
    silent = reading.has(*_SILENT)
    yield from search.find_named(words, shows=not silent)
    if command.via[-1:] == ("xargs",) and any(one.value is None for one in words):
        yield from (replace(one, shows=not silent) for one in _find_piped(search))
    is_deep = is_deep_by_nature or reading.has("r", "R", "recursive", "dereference-recursive")
    if is_deep or _read_value(reading, "d", "directories") == "recurse":
        roots = words or [create_literal(".")]
        filtered = _GrepFilter(command, reading)
        for read in search.find_below(roots, filtered.keeps, shows=not silent):
            if filtered.names(read.path, search.guarded):
                yield replace(read, below=False)
            else:
                yield replace(read, search=_read_expression(command, reading, given))
        if not silent and _seeks_keys(given):
            _doubt_home(search, roots, filtered)


_KEY_WORDS = re.compile(
    r"(?i)AKIA|ASIA|gh[pousr]_|github_pat|xox[abp]|\bsk[-_]|AIza|PRIVATE KEY|BEGIN [(A-Z]|eyJ|"
    r"api.{0,6}key|access.{0,6}key|secret|token|passw(?:or)?d|credential|bearer"
)


def _seeks_keys(given: Word | None) -> bool:
    return given is None or given.value is None or bool(_KEY_WORDS.search(given.value))


def _doubt_home(search: _Search, roots: Sequence[Word], filtered: _GrepFilter) -> None:
    """A search for keys in all of a home, or of the machine, is too large to be looked at."""
    likely = [search.home / one for one in (".aws/credentials", ".ssh/id_rsa", ".config/x/token")]
    for word in roots:
        for known in search.resolve(word):
            for root, _ in search.find_paths(known):
                top = Path(os.path.normpath(root))
                if search.home.is_relative_to(top) and any(
                    filtered.keeps(one, top) for one in likely
                ):
                    search.doubts.append(f"it searches {word.raw} for keys")


def _read_value(reading: Reading, *names: str) -> str | None:
    found = reading.find(*names)
    return None if found is None else found.value


def _read_expression(command: Command, reading: Reading, given: Word | None) -> str | None:
    """What lines have to match to come out; None for any."""
    around = reading.has("v", "invert-match", "A", "B", "C", "f", "after-context", "context")
    if given is None or given.value is None or around or reading.has("file", "before-context"):
        return None
    several = sum(name in {"e", "regexp"} for name, _ in reading.given) > 1
    if several:
        return None
    fixed = command.name == "fgrep" or reading.has("F", "fixed-strings")
    return re.escape(given.value) if fixed else given.value


class _GrepFilter:
    """The files of a folder that options of a search leave over."""

    def __init__(self, command: Command, reading: Reading) -> None:
        self._included = list(_list_values(reading, "include", "g", "glob", "iglob"))
        self._excluded = [
            *_list_values(reading, "exclude"),
            *(one[1:] for one in self._included if one.startswith("!")),
        ]
        self._included = [one for one in self._included if not one.startswith("!")]
        self._folders = list(_list_values(reading, "exclude-dir"))
        self._is_ripgrep = command.name in {"rg", "ag", "ugrep", "ug"}
        self._typed = reading.has("t", "type") and command.name == "rg"
        loose = sum(name in {"u", "unrestricted"} for name, _ in reading.given)
        self._hidden = reading.has("hidden", ".") or loose > 1
        self._ignored = loose > 0 or reading.has("no-ignore", "no-ignore-vcs")

    def keeps(self, path: Path, root: Path) -> bool:
        """Whether the search would look at this file."""
        inner = Path(os.path.relpath(path, root))
        if self._folders and any(
            fnmatchcase(one, glob) for one in inner.parts[:-1] for glob in self._folders
        ):
            return False
        if any(_fits_name(inner, glob) for glob in self._excluded):
            return False
        if self._included and not any(_fits_name(inner, glob) for glob in self._included):
            return False
        return not self._is_ripgrep or self._survives_defaults(path, inner)

    def names(self, path: Path, guarded: Guarded) -> bool:
        """Whether an option names such files: `-g '.env*'`, but not `--include='*.json'`."""
        known = {one.rpartition("/")[2].casefold() for one in guarded.patterns}
        told = [one for one in self._included if _fits_name(Path(path.name), one)]
        return any({one.casefold(), one.casefold().strip("*")} & known for one in told)

    def _survives_defaults(self, path: Path, inner: Path) -> bool:
        is_hidden = any(part.startswith(".") for part in inner.parts if part != "..")
        named = any(_fits_name(inner, glob) for glob in self._included)
        if self._typed or (is_hidden and not self._hidden and not named):
            return False
        return self._ignored or not is_ignored(path)


def _fits_name(inner: Path, glob: str) -> bool:
    plain = glob.removeprefix("**/").removeprefix("/")
    return fnmatchcase(inner.name, plain) or fnmatchcase(inner.as_posix(), plain)


def _list_values(reading: Reading, *names: str) -> Iterator[str]:
    for name, value in reading.given:
        if name in names and value is not None and value.value:
            yield value.value


def _find_found(search: _Search) -> Iterator[Read]:
    """`find … -exec cat {} +`: the files that its tests leave over."""
    command = search.command
    body = _take_find_body(command)
    if not body or not _body_reads(body):
        return
    inner = replace(command, program=body[0].value, words=tuple(body[1:]), text=command.text)
    if _edits_in_place(inner):
        return
    expression = None
    silent = False
    if inner.name in _GREPS:
        reading = read_options(inner.words, _GREP)
        silent = reading.has(*_SILENT)
        given = reading.find("e", "regexp") or next(iter(reading.rest), None)
        expression = _read_expression(inner, reading, given)
    roots = list_roots(command) if command.name in {"find", "gfind"} else [create_literal(".")]
    tests = _FindTests(command)
    yield from search.find_below(roots, tests.keep, shows=not silent, search=expression)


def _take_find_body(command: Command) -> list[Word]:
    runs = {"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}
    at = next((n for n, word in enumerate(command.words) if word.value in runs), None)
    return [] if at is None else list(command.words[at + 1 :])


def _body_reads(body: Sequence[Word]) -> bool:
    name = (body[0].value or "").rpartition("/")[2]
    if name in SHELLS:
        names = set(re.findall(r"[A-Za-z0-9_-]+", " ".join(word.raw for word in body)))
        return bool(names & (_READERS | _GREPS | _COPIERS | _ARCHIVERS) - SHELLS)
    if name in PREFIXES:
        return _body_reads(body[1:]) if len(body) > 1 else False
    known = _READERS | _GREPS | _COPIERS | _ARCHIVERS | _INTERPRETERS
    return name in known or name.startswith("python")


class _FindTests:
    """The tests of `find` that look at names."""

    def __init__(self, command: Command) -> None:
        self._names: list[str] = []
        self._paths: list[str] = []
        self._left_out: list[str] = []
        self._nothing = False
        negated = False
        for at, word in enumerate(command.words):
            following = command.words[at + 1].value if at + 1 < len(command.words) else None
            if word.value in {"-name", "-iname"} and following:
                (self._left_out if negated else self._names).append(following)
            elif word.value in {"-path", "-ipath", "-wholename"} and following:
                (self._left_out if negated else self._paths).append(following)
            elif word.value == "-type" and following == "d" and not negated:
                self._nothing = True
            negated = word.value in {"!", "-not"}

    def keep(self, path: Path, root: Path) -> bool:
        """Whether find would come to this file."""
        inner = f"./{os.path.relpath(path, root)}"
        if self._nothing or any(_fits_find(path, inner, glob) for glob in self._left_out):
            return False
        wanted = [*self._names, *self._paths]
        return not wanted or any(_fits_find(path, inner, glob) for glob in wanted)


def _fits_find(path: Path, inner: str, glob: str) -> bool:
    texts = (path.name, str(path), inner)
    return any(fnmatchcase(text.casefold(), glob.casefold()) for text in texts)


# What comes through a pipe


def _find_piped(search: _Search) -> Iterator[Read]:
    """`… | xargs cat`: the files that the commands before it name."""
    # A command of that name further on cannot be meant, nor this one itself.
    before = takewhile(lambda one: one is not search.command, search.script.commands)
    sources = [one for one in before if one.name in search.command.piped_from]
    for source in sources:
        for path in _list_produced(replace(search, command=source)):
            if search.is_guarded(path):
                yield Read(path, search.command.text, source.text)
        if source.name in _TEXT_MAKERS and not {"find", "ls", "git", "fd", "rg", "grep"} & {
            one.name for one in sources
        }:
            search.doubts.append(f"only running it would tell which files {source.text} names")


def _list_produced(search: _Search) -> Iterator[Path]:
    """The files of interest that the output of a command may name."""
    command = search.command
    name = command.name
    if name in {"echo", "printf"}:
        texts = [part for word in command.words for part in (word.value or "").split()]
        for text in (one for one in texts if "%" not in one):
            word = Word(text, text, glob=any(s in text for s in "*?["), tilde=text[:1] == "~")
            yield from (path for path, _ in search.find_paths(word))
    elif name in {"find", "gfind"}:
        reads = search.find_below(list_roots(command), _FindTests(command).keep)
        yield from (one.path for one in reads)
    elif name in {"fd", "fdfind"} or name in _GREPS:
        yield from (one.path for one in _find_grepped(search) if one.below)
    elif name == "ls":
        roots = list(command.operands) or [create_literal(".")]
        hidden = bool(command.flags & {"-a", "-A", "--all"})
        reads = search.find_below(
            roots, lambda path, root: path.parent == root and (hidden or path.name[0] != ".")
        )
        yield from (one.path for one in reads)
        yield from (one.path for one in search.find_named(command.operands))
    elif (call := read_git(command)) is not None and call.subcommand == "ls-files":
        yield from (one.path for one in _find_tracked(search, call))


# Copies and archives


def _find_copied(search: _Search) -> Iterator[Read]:
    """All but the last word, unless an option says where to."""
    command = search.command
    used = _list_used(command)
    words = [one for one in command.operands if one not in used]
    into = any(flag.startswith(("-t", "--target")) for flag in command.flags)
    excluded = _Exclusions(command)
    words = excluded.leave(search, words)
    sources = words if into and command.name != "rsync" else words[:-1]
    yield from search.find_named(used, shows=search.script.prints_environment)
    yield from search.find_named(sources)
    deep = command.flags & {"-r", "-R", "-a", "--recursive", "--archive"}
    if command.name == "mv" or not deep:
        return
    yield from search.find_below(sources, excluded.keep)


class _Exclusions:
    """`--exclude`, `-x` and their like."""

    def __init__(self, command: Command) -> None:
        self._globs: list[str] = []
        self._vcs = "--exclude-vcs-ignores" in command.flags
        takes_rest = False
        for at, word in enumerate(command.words):
            text = word.value or ""
            name, _, value = text.partition("=")
            following = command.words[at + 1].value if at + 1 < len(command.words) else None
            if takes_rest and not word.is_flag:
                self._globs.append(text)
            elif name in {"--exclude", "--filter", "-f"} and value:
                self._globs.append(value.removeprefix("- "))
            elif name == "--exclude" and following:
                self._globs.append(following)
            elif text.startswith(("-xr!", "-x!")):
                self._globs.append(text.partition("!")[2])
            takes_rest = (takes_rest and not word.is_flag) or text in {"-x", "--exclude"}

    def leave(self, search: _Search, words: Iterable[Word]) -> list[Word]:
        """The words that are not excluded, nor what excludes."""
        return [w for w in words if self.keep(search.base / (w.value or "?"), search.base)]

    def keep(self, path: Path, root: Path) -> bool:
        """Whether it is copied."""
        inner = Path(os.path.relpath(path, root))
        names = [*inner.parts, inner.as_posix(), f"{root.name}/{inner.as_posix()}"]
        globs = [glob.removeprefix("./").strip("/") for glob in self._globs]
        if any(fnmatchcase(name, glob) for name in names for glob in globs):
            return False
        return not (self._vcs and is_ignored(path))


def _find_archived(search: _Search) -> Iterator[Read]:
    """What is packed, each word seen from the folder that `-C` before it names."""
    command = search.command
    unpacks = command.name in {"tar", "gtar", "bsdtar"} and command.flags & {"-x", "-t"}
    is_flat = command.name == "zip" and not command.flags & {"-r", "--recurse-paths"}
    excluded = _Exclusions(command)
    for folder, given in _list_packed(command):
        for inside in _enter(search, folder):
            words = excluded.leave(inside, given)
            yield from inside.find_named(words)
            if not unpacks and not is_flat:
                yield from inside.find_below(words, excluded.keep)


def _list_packed(command: Command) -> Iterator[tuple[tuple[Word, ...], list[Word]]]:
    """The operands behind each `-C`, which is seen from the one before it."""
    if command.name not in {"tar", "gtar", "bsdtar"}:
        yield (), list(command.operands)
        return
    folders: tuple[Word, ...] = ()
    words: list[Word] = []
    goes = False
    for word in command.words:
        text = word.value or ""
        attached = re.match(r"--directory=(.+)|-C(.+)", text)
        if goes or attached:
            yield folders, words
            words = []
            target = replace(word, value=attached[1] or attached[2]) if attached else word
            folders = (*folders, target)
        elif not word.is_flag:
            words.append(word)
        goes = text == "--directory" or bool(re.fullmatch(r"-[a-zA-Z]*C", text))
    yield folders, words


def _enter(search: _Search, folders: Sequence[Word]) -> Iterator[_Search]:
    """The same search from other folders; from all if one of them is not known."""
    bases = [search.base]
    for folder in folders:
        found = [path for one in search.resolve(folder) for path, _ in search.find_paths(one)]
        if not found:
            bases.append(search.base)
            continue
        bases = [base / path.relative_to(search.base) if path.is_relative_to(search.base) else path
                 for base in bases for path in found]  # fmt: skip
    yield from (replace(search, base=one) for one in dict.fromkeys(bases))


# Git


_GIT_SHOWING = split_names(
    "show diff blame annotate cat-file archive difftool format-patch stash hash-object commit "
    "add stage send-email mv"
)
_GIT_DEEP = split_names("add stage")


def _find_in_git(search: _Search) -> Iterator[Read]:
    """`git show HEAD:.env`, `git log -p -- .env`, `git add .`, `git grep x`."""
    call = read_git(search.command)
    if call is None:
        return
    base = search.base
    for folder in call.folders:
        base = base / (folder.value or ".")
    inside = replace(search, base=base)
    shows = call.subcommand in _GIT_SHOWING or (
        call.subcommand in {"log", "reflog", "whatchanged"}
        and call.has("-p", "-u", "--patch", "-L", "-S", "-G")
    )
    if shows and not call.has("--name-only", "--name-status", "--stat", "--dry-run", "-n"):
        yield from inside.find_named(call.own.words)
    if call.subcommand == "grep":
        words = [one for one in call.own.operands if "--" in (one.value or "")]
        yield from inside.find_named(call.own.operands[1:] or words, shows=not call.has("-l", "-c"))
    if call.subcommand in _GIT_DEEP:
        yield from _find_added(inside, call)
    if call.subcommand == "commit" and call.has("-a", "--all"):
        return  # what is tracked already, it has


def _find_added(search: _Search, call: GitCall) -> Iterator[Read]:
    """What `git add .` takes up that is neither left out by `.gitignore` nor known to git."""
    roots: list[Word] = list(call.own.operands)
    if call.has("-A", "--all") and not roots:
        roots = [create_literal(".")]
    if call.has("-u", "--update", "-n", "--dry-run"):
        return
    forced = call.has("-f", "--force")
    index = _read_index(search.base)

    def keep(path: Path, root: Path) -> bool:
        known = os.fsencode(path.name) in index
        return not known and (forced or not is_ignored(path))

    # Nothing of it comes out, and it is undone as easily.
    yield from search.find_below(roots, keep, shows=False)


def _read_index(base: Path) -> bytes:
    """Git's list of the files that it knows, whose names stand in it as they are."""
    for folder in (base, *base.parents):
        file = folder / ".git" / "index"
        if file.is_file():
            try:
                with file.open("rb") as opened:
                    return opened.read(_LARGEST_INDEX)
            except OSError:
                return b""
    return b""


def _find_tracked(search: _Search, call: GitCall) -> Iterator[Read]:
    """What `git ls-files` names: of interest, and known to git."""
    index = _read_index(search.base)
    globs = [word.value or "*" for word in call.own.operands]

    def keep(path: Path, root: Path) -> bool:
        inner = os.path.relpath(path, root)
        named = not globs or any(
            fnmatchcase(inner, glob) or fnmatchcase(path.name, glob) or inner.startswith(glob)
            for glob in globs
        )
        return named and os.fsencode(inner) in index

    yield from search.find_below([create_literal(".")], keep)


# Program text


def _find_in_code(search: _Search) -> Iterator[Read]:
    """Names in the text of a one-liner or a here-document; what computes them is a doubt."""
    command = search.command
    texts = [word.value for word in command.words if word.value]
    if command.stdin is not None and command.stdin.value:
        texts.append(command.stdin.value)
    for text in texts:
        if not re.search(r"""[\s"'`(<]""", text):
            continue  # a word like any other
        plain = _CONCATENATED.sub("", text)
        for part in dict.fromkeys(_BETWEEN.split(plain)):
            if part and "\0" not in part and _may_be_name(part, search):
                is_glob = any(sign in part for sign in "*?")
                word = Word(part, part, glob=is_glob, tilde=part.startswith("~"))
                yield from (
                    Read(path, command.text, part, certain)
                    for path, certain in search.find_paths(word)
                    if search.is_guarded(path)
                )
        if _COMPUTED.search(text) and _OPENS.search(text):
            search.doubts.append(f"the program text of {command.name} computes what it reads")


def _may_be_name(part: str, search: _Search) -> bool:
    """`process.env` in a program is no file, unless there is one."""
    if "/" in part or part.startswith(("~", ".")):
        return len(part) > 1
    bare = part.casefold()
    plain = {one.rpartition("/")[2].casefold() for one in search.guarded.patterns}
    return bare in plain or os.path.lexists(search.base / part)
