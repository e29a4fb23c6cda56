"""The files that commands write, as far as their words name them."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.options import find_values
from amplifier_hooks.guards.bash.script import Script
from amplifier_hooks.guards.bash.word import Word, create_literal, split_names

DOWNLOADERS = split_names("curl wget fetch aria2c axel http https xh lynx nc ncat socat")
_WRITE_TO_LAST = split_names("cp ln install rsync scp")
_COPIERS = _WRITE_TO_LAST | {"mv"}
_WRITE_TO_ALL = split_names(
    "tee truncate mv shred rm unlink rmdir sponge touch mkdir mkfifo mknod ex ed gzip gunzip bzip2 "
    "bunzip2 xz unxz zstd zip patch"
)
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
        yield from filter(None, (word.value for word in words))
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
    if command.name in _WRITE_TO_ALL or _edits_in_place(command):
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
