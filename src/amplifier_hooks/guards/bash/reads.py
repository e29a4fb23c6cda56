"""Files of interest whose content a command would read, found by looking, never by running it.

What is named counts as read unless the program is known to leave the content alone; what lies in
a folder counts where a program goes through folders and its options do not leave the file out.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import Any

from amplifier_hooks.guards.bash.commands import (
    Command,
    Options,
    Reading,
    find_values,
    read_options,
)
from amplifier_hooks.guards.bash.find import FoundFiles, list_chosen, list_roots
from amplifier_hooks.guards.bash.git import GitCall, read_git
from amplifier_hooks.guards.bash.gitignore import is_ignored
from amplifier_hooks.guards.bash.movements import locate
from amplifier_hooks.guards.bash.named_files import (
    SECONDS,
    TEXT_MAKERS,
    Guarded,
    Keeps,
    Read,
    ScriptFacts,
    Search,
)
from amplifier_hooks.guards.bash.search_expressions import (
    read_basic,
    read_extended,
    read_fixed,
    read_other,
)
from amplifier_hooks.guards.bash.unwrap import SHELLS
from amplifier_hooks.guards.bash.words import Word, create_literal, split_names
from amplifier_hooks.guards.bash.workspace import Workspace
from amplifier_hooks.guards.bash.wrappers import (
    MANAGERS,
    PACKAGE_RUNNERS,
    PREFIXES,
    RUNNERS,
)
from amplifier_hooks.guards.policy.patterns import compile_pattern

_LARGEST_INDEX = 16_000_000
_LISTING = frozenset({"files_with_matches", "count"})


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
    "return id groups top htop pstree expr pgrep pkill ps who w whois finger dig nslookup host "
    "ping ping6 traceroute ifconfig ip netstat ss fg bg jobs renice killall read mapfile "
    "readarray rename prename"
)
"""They tell of a file, change it, or hand it to a person, but do not show what is in it."""
_READERS = split_names(
    "cat bat batcat less more most head tail tac nl rev cut sort uniq paste join comm diff "
    "cmp sdiff colordiff icdiff delta vimdiff od xxd hexdump hd strings base64 base32 basenc "
    "uuencode gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat zstd zstdcat lz4 zless view "
    "vi vim nvim nano pico micro emacs ed ex jq yq xq dasel column fold fmt pr expand "
    "unexpand iconv split csplit shuf look pv dd curl wget http https xh nc ncat socat telnet "
    "ftp sftp lftp openssl gpg gpg2 age mail mutt sendmail pbcopy xclip xsel wl-copy clip "
    "qrencode lp lpr source . m4 gcc cc cpp tr exec script psql mysql "
    "sqlite3 dotenv scp rclone aws gsutil gh gcloud az sh bash zsh dash ksh fish csh tcsh "
    "rbash ash less.sh glow rich mdcat envsubst while until for"
)
_COPIERS = split_names("cp gcp mv gmv ln gln install ginstall rsync scp")
_ARCHIVERS = split_names("tar gtar bsdtar zip 7z 7za 7zr 7zz rar cpio pax ar jar zpaq")
_DEEP_BY_NATURE = split_names("rg ag ack rgrep ugrep ug")
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
    script = ScriptFacts(tuple(commands))
    files: dict[Path, Read] = {}
    doubts: dict[str, None] = {}
    deadline = time.monotonic() + SECONDS
    workspace = Workspace(bases[0], home)
    for command in commands:
        for base in locate(command, bases, workspace, commands):
            search = Search(command, base, home, guarded, script, _list_produced_by, deadline)
            for read in _find_reads(search):
                known = files.get(read.path)
                if known is None or _rank(read) > _rank(known):
                    files[read.path] = read
            doubts |= dict.fromkeys(search.doubts)
    return Reads(tuple(files.values()), tuple(doubts))


def look_up_hidden_names(
    commands: Sequence[Command],
    bases: Sequence[Path],
    home: Path,
    guarded: Guarded,
    list_words: Callable[[Command], Iterable[Word]],
) -> Iterator[tuple[Command, Read]]:
    """The files of interest that words may name which only running the commands would tell."""
    script = ScriptFacts(tuple(commands))
    deadline = time.monotonic() + SECONDS
    workspace = Workspace(bases[0], home)
    for command in commands:
        words = [word for word in list_words(command) if word.value is None]
        for base in locate(command, bases, workspace, commands) if words else ():
            search = Search(command, base, home, guarded, script, _list_produced_by, deadline)
            yield from ((command, one) for one in search.find_named(words))
            if not {"xargs", "parallel"}.isdisjoint(command.via):
                yield from ((command, one) for one in _find_piped(search))


def _prints_environment(script: ScriptFacts) -> bool:
    """Whether what a file puts into the environment may be printed."""
    return _PRINTS_ENVIRONMENT.search(script.text) is not None


def _list_produced_by(search: Search, maker: Command, makers: Sequence[Command]) -> Iterator[Path]:
    """What one of several commands names, as far as the filters among them let it through."""
    for path in _list_produced(replace(search, command=maker), search.command):
        if all(_lets_through(one, path, search) for one in makers):
            yield path


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


def _find_reads(search: Search) -> Iterator[Read]:
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


def _find_substituted(search: Search) -> Iterator[Read]:
    """`$(< file)`."""
    texts = {word.raw for word in search.command.words}
    texts |= {one.target.raw for one in search.command.redirects}
    for text in (*texts, search.command.text):
        for one in _SUBSTITUTED_FILE.finditer(text):
            raw = (one[1] or one[2]).strip("\"'")
            yield from search.find_named([Word(raw, None)])


def _choose_finder(command: Command) -> Callable[[Search], Iterator[Read]]:
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


def _find_words(search: Search) -> Iterator[Read]:
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
    if command.name in {"head", "tail"}:
        counts = [
            *find_values(command.words, "-n", "--lines"),
            *find_values(command.words, "-c", "--bytes"),
        ]
        plain = [w for w in plain if w not in counts and not w.raw.strip("\"'").startswith("+")]
    sure = command.name in _READERS or command.name in _INTERPRETERS
    shows = command.name not in {"source", "."} or _prints_environment(search.script)
    yield from search.find_named(plain, sure=sure, shows=shows)
    yield from search.find_named(used, shows=_prints_environment(search.script))
    if "xargs" in command.via and any(one.value is None for one in command.words):
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


def _find_used(search: Search) -> Iterator[Read]:
    """A program that runs another one: its own options may name a file for use."""
    used = _list_used(search.command)
    yield from search.find_named(used, shows=_prints_environment(search.script))
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


def _find_docker_copies(search: Search) -> Iterator[Read]:
    """`docker run --env-file x` uses a file, `docker cp` copies one."""
    command = search.command
    if command.name in {"docker", "podman"}:
        yield from search.find_named(_list_used(command), shows=_prints_environment(search.script))
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


def _find_grepped(search: Search) -> Iterator[Read]:
    command = search.command
    is_deep_by_nature = command.name in _DEEP_BY_NATURE
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
    if "xargs" in command.via and any(one.value is None for one in words):
        expression = _read_expression(command, reading, _know(search, given))
        facts: dict[str, Any] = {"shows": not silent, "search": expression, "below": True}
        yield from (replace(one, **facts) for one in _find_piped(search))
    is_deep = is_deep_by_nature or reading.has("r", "R", "recursive", "dereference-recursive")
    if is_deep or _read_value(reading, "d", "directories") == "recurse":
        roots = words or [create_literal(".")]
        filtered = _GrepFilter(command, reading)
        expression = _read_expression(command, reading, _know(search, given))
        for read in search.find_below(roots, filtered.keeps, shows=not silent):
            if filtered.names(read.path, search.guarded):
                yield replace(read, below=False)
            else:
                known = given is None or given.value is not None or bool(expression)
                yield replace(read, search=expression, sure=read.sure and known)
        if not silent and _seeks_keys(given):
            _doubt_home(search, roots, filtered)


_KEY_WORDS = re.compile(
    r"(?i)AKIA|ASIA|gh[pousr]_|github_pat|xox[abp]|\bsk[-_]|AIza|PRIVATE KEY|BEGIN [(A-Z]|eyJ|"
    r"api.{0,6}key|access.{0,6}key|secret|token|passw(?:or)?d|credential|bearer"
)


def _seeks_keys(given: Word | None) -> bool:
    return given is None or given.value is None or bool(_KEY_WORDS.search(given.value))


def _doubt_home(search: Search, roots: Sequence[Word], filtered: _GrepFilter) -> None:
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


def _know(search: Search, given: Word | None) -> Word | None:
    """An expression with the values that the script gives its variables."""
    if given is None or given.value is not None or given.runs:
        return given
    texts = [one.value for one in search.resolve(given) if one.value]
    return create_literal("\n".join(texts)) if texts else given  # each line is one


def _read_value(reading: Reading, *names: str) -> str | None:
    found = reading.find(*names)
    return None if found is None else found.value


def _read_expression(command: Command, reading: Reading, given: Word | None) -> str | None:
    """What lines have to match to come out; None for any."""
    around = reading.has("v", "invert-match", "A", "B", "C", "after-context", "context")
    if around or reading.has("before-context", "L", "files-without-match"):
        return None
    return _read_patterns(command, reading, given)


def _read_patterns(command: Command, reading: Reading, given: Word | None) -> str | None:
    """The expressions that are sought, as one; None if they are not known."""
    if given is None or given.value is None or reading.has("f", "file"):
        return None
    named = [word for name, word in reading.given if name in {"e", "regexp"}] or [given]
    texts = [word.value if word is not None else None for word in named]
    known = [None if text is None else _translate(command, reading, text) for text in texts]
    return None if None in known else "|".join(one or "" for one in known)


def _translate(command: Command, reading: Reading, text: str) -> str | None:
    if command.name == "fgrep" or reading.has("F", "fixed-strings"):
        return read_fixed(text)
    if command.name in {"rg", "ag", "ack"} or reading.has("P", "perl-regexp"):
        return read_other(text)
    is_extended = command.name in {"egrep", "ugrep", "ug"} or reading.has("E", "extended-regexp")
    return read_extended(text) if is_extended else read_basic(text)


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


def _find_found(search: Search) -> Iterator[Read]:
    """`find … -exec cat {} +`: the files that its tests leave over."""
    for body in _list_find_bodies(search.command):
        if body and _body_reads(body):
            yield from _find_by_body(search, body)


def _find_by_body(search: Search, body: list[Word]) -> Iterator[Read]:
    command = search.command
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
    is_find = command.name in {"find", "gfind"}
    roots = list_roots(command) if is_find else [create_literal(".")]
    known = [None if word.value == "{}" else word.value for word in body[1:]]

    def runs_body(one: Command, _: Path) -> bool:
        return [word.value for word in one.words] == known

    keep = _keep_with(FoundFiles(command, runs_body).touch, inner) if is_find else _keep_all
    yield from search.find_below(roots, keep, shows=not silent, search=expression)


def _keep_all(path: Path, root: Path) -> bool:
    return True


def _keep_with(fits: Callable[[Path, Path], bool], reader: Command) -> Keeps:
    """Whether find comes to a file, or to a folder that a reader then goes through."""

    def keep(path: Path, root: Path) -> bool:
        below = Path(os.path.relpath(path, root))
        return fits(root, below) or (
            _goes_deep(reader) and any(fits(root, one) for one in below.parents)
        )

    return keep


def _goes_deep(command: Command) -> bool:
    """Whether a program reads what is in the folders that it is given."""
    name = command.name or ""
    deep = {"-r", "-R", "-a", "--recursive", "--archive", "--dereference-recursive"}
    return name in _DEEP_BY_NATURE | _ARCHIVERS | SHELLS or not deep.isdisjoint(command.flags)


def _list_find_bodies(command: Command) -> Iterator[list[Word]]:
    runs = {"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}
    for at, word in enumerate(command.words):
        if word.value in runs:
            rest = command.words[at + 1 :]
            yield list(takewhile(lambda one: one.value not in {";", "+"}, rest))


def _body_reads(body: Sequence[Word]) -> bool:
    name = (body[0].value or "").rpartition("/")[2]
    if name in SHELLS:
        names = set(re.findall(r"[A-Za-z0-9_-]+", " ".join(word.raw for word in body)))
        return bool(names & (_READERS | _GREPS | _COPIERS | _ARCHIVERS) - SHELLS)
    if name in PREFIXES:
        return _body_reads(body[1:]) if len(body) > 1 else False
    known = _READERS | _GREPS | _COPIERS | _ARCHIVERS | _INTERPRETERS
    return name in known or name.startswith("python")


# What comes through a pipe


def _find_piped(search: Search) -> Iterator[Read]:
    """`… | xargs cat`: the files that the commands before it name."""
    # A command of that name further on cannot be meant, nor this one itself.
    before = [*takewhile(lambda one: one is not search.command, search.script.commands)]
    feeding = {*search.command.piped_from}
    feeding.update(*(one.piped_from for one in before if one.name in {"xargs", "parallel"}))
    sources = [one for one in before if one.name in feeding]
    for source in sources:
        for path in _list_produced(replace(search, command=source), search.command):
            if search.is_guarded(path) and all(_lets_through(one, path, search) for one in sources):
                yield Read(path, search.command.text, source.text, below=_names_all(source))
        if source.name in TEXT_MAKERS and not {"find", "ls", "git", "fd", "rg", "grep"} & {
            one.name for one in sources
        }:
            search.doubts.append(f"only running it would tell which files {source.text} names")


def _names_all(command: Command) -> bool:
    """Whether the output of a command names everything in a folder."""
    is_find = command.name in {"find", "gfind"}
    return is_find and list_chosen(command) == tuple(list_roots(command))


def _lets_through(command: Command, path: Path, search: Search) -> bool:
    """Whether the name of a file passes a filter: `find . | grep '\\.py$' | xargs cat`."""
    if command.name not in _GREPS - _DEEP_BY_NATURE or not command.piped_from:
        return True
    reading = read_options(command.words, _GREP)
    words = list(reading.rest)
    given = reading.find("e", "regexp") or (words.pop(0) if words else None)
    if words or reading.has("L", "c", "q", "r", "R", "z", "null-data"):
        return True
    below = os.path.relpath(path, search.base)
    roots = (word.raw.lstrip("\"'")[:1] for one in search.script.commands for word in one.operands)
    printed = [path.name, below, f"./{below}"]
    printed += [str(path)] if not {"/", "~", "$"}.isdisjoint(roots) else []
    if reading.has("v", "invert-match"):
        sought = given.value if given is not None else None
        plain = bool(sought) and re.fullmatch(r"[\w/-]+", sought or "") is not None
        return not (plain and all((sought or "") in one for one in printed))
    expression = _read_patterns(command, reading, given)
    if expression is None:
        return True
    return any(map(compile_pattern(expression, "", ignore_case=True).occurs_in, printed))


def _list_produced(search: Search, reader: Command) -> Iterator[Path]:
    """The files of interest that the output of a command may name to the one that reads them."""
    command = search.command
    name = command.name
    if name in {"echo", "printf"}:
        texts = [part for word in command.words for part in (word.value or "").split()]
        for text in (one for one in texts if "%" not in one):
            word = Word(text, text, glob=any(s in text for s in "*?["), tilde=text[:1] == "~")
            for path, _ in search.find_paths(word):
                yield path
                yield from search.list_below(path) if _goes_deep(reader) else ()
    elif name in {"find", "gfind"}:
        keep = _keep_with(FoundFiles(command, lambda _command, _path: False).names, reader)
        yield from (one.path for one in search.find_below(list_roots(command), keep))
    elif name in {"fd", "fdfind"} or name in _GREPS:
        found = (replace(one, shows=True) for one in _find_grepped(search) if one.below)
        yield from (one.path for one in found if one.comes_out(""))
    elif name == "ls":
        roots = list(command.operands) or [create_literal(".")]
        hidden = bool(command.flags & {"-a", "-A", "--all"})
        deep = _goes_deep(reader)
        reads = search.find_below(
            roots,
            lambda path, root: deep or (path.parent == root and (hidden or path.name[0] != ".")),
        )
        yield from (one.path for one in reads)
        yield from (one.path for one in search.find_named(command.operands))
    elif (call := read_git(command)) is not None and call.subcommand == "ls-files":
        yield from (one.path for one in _find_tracked(search, call))


# Copies and archives


def _find_copied(search: Search) -> Iterator[Read]:
    """All but the last word, unless an option says where to."""
    command = search.command
    used = _list_used(command)
    words = [one for one in command.operands if one not in used]
    into = any(flag.startswith(("-t", "--target")) for flag in command.flags)
    excluded = _Exclusions(command)
    words = excluded.leave(search, words)
    sources = words if into and command.name != "rsync" else words[:-1]
    yield from search.find_named(used, shows=_prints_environment(search.script))
    yield from search.find_named(sources)
    if "xargs" in command.via or command.flags & {"--files-from"}:
        yield from _find_piped(search)
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

    def leave(self, search: Search, words: Iterable[Word]) -> list[Word]:
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


def _find_archived(search: Search) -> Iterator[Read]:
    """What is packed, each word seen from the folder that `-C` before it names."""
    command = search.command
    unpacks = command.name in {"tar", "gtar", "bsdtar"} and command.flags & {"-x", "-t"}
    is_flat = command.name == "zip" and not command.flags & {"-r", "--recurse-paths"}
    excluded = _Exclusions(command)
    if not unpacks and ("xargs" in command.via or command.piped_from):
        yield from _find_piped(search)
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


def _enter(search: Search, folders: Sequence[Word]) -> Iterator[Search]:
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


def _find_in_git(search: Search) -> Iterator[Read]:
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


def _find_added(search: Search, call: GitCall) -> Iterator[Read]:
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


def _find_tracked(search: Search, call: GitCall) -> Iterator[Read]:
    """What `git ls-files` names: of interest, and known to git."""
    index = _read_index(search.base)
    globs = [word.value or "*" for word in call.own.operands]

    def keep(path: Path, root: Path) -> bool:
        inner = os.path.relpath(path, root)
        named = not globs or any(
            fnmatchcase(inner, glob) or fnmatchcase(path.name, glob) or inner.startswith(glob)
            for glob in globs
        )
        others = call.has("-o", "--others")
        return named and (others or os.fsencode(inner) in index)

    yield from search.find_below([create_literal(".")], keep)


# Program text


_WITHOUT_GLOBS = split_names("sed gsed awk gawk mawk nawk")
"""Their `.*` is an expression."""


def _find_in_code(search: Search) -> Iterator[Read]:
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
                is_glob = command.name not in _WITHOUT_GLOBS and any(s in part for s in "*?")
                word = Word(part, part, glob=is_glob, tilde=part.startswith("~"))
                yield from (
                    Read(path, command.text, part, certain)
                    for path, certain in search.find_paths(word)
                    if search.is_guarded(path)
                )
        if _COMPUTED.search(text) and _OPENS.search(text):
            search.doubts.append(f"the program text of {command.name} computes what it reads")


def _may_be_name(part: str, search: Search) -> bool:
    """`process.env` in a program is no file, unless there is one."""
    if "/" in part or part.startswith(("~", ".")):
        return len(part) > 1
    bare = part.casefold()
    plain = {one.rpartition("/")[2].casefold() for one in search.guarded.patterns}
    return bare in plain or os.path.lexists(search.base / part)
