"""Programs that only look, with the options that make them do more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from amplifier_hooks.guards.bash.command_pattern import USUAL_PLACES
from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.script import Script
from amplifier_hooks.guards.bash.unwrap import SHELLS, read_invocation
from amplifier_hooks.guards.bash.variables import list_set_names
from amplifier_hooks.guards.bash.words import Word, split_names

_PLAIN = (
    "ls cat echo printf pwd head tail wc grep egrep fgrep cut tr nl tac rev cmp comm stat "
    "which type whoami id uname true false test [ basename dirname realpath readlink seq "
    "sleep printenv du df ps md5sum sha1sum sha256sum sha512sum cksum cd : export local declare "
    "typeset readonly unset set shift return exit break continue read wait pushd popd dirs umask "
    "getopts let times column fold expand paste join od hexdump strings "
    "base64 locale arch nproc uptime free groups tty logname jq tokei mkdir touch"
)
_SPOILED_BY = {
    "rg": "--pre --pre-glob --hostname-bin --search-zip -z",
    "ag": "--pager",
    "sort": "-o --output --compress-program -T --temporary-directory",
    "date": "-s --set -f --file",
    "tree": "-o -R",
    "find": "-delete -exec -execdir -ok -okdir -fprint -fprint0 -fprintf -fls",
    "fd": "-x -X --exec --exec-batch",
    "fdfind": "-x -X --exec --exec-batch",
    "bat": "--pager",
    "hostname": "-F --file -b --boot",
    "base64": "-o --output",
    "diff": "-l --paginate",
    "file": "-C --compile -z -Z --uncompress -f --files-from -m --magic-file",
    "hash": "-p",
    "jobs": "-x",
}
_SPOILERS: dict[str, frozenset[str]] = {
    **{name: frozenset() for name in _PLAIN.split()},
    **{name: frozenset(flags.split()) for name, flags in _SPOILED_BY.items()},
}
_GIT_READS = split_names(
    "status log diff show rev-parse ls-files blame describe shortlog rev-list cat-file "
    "ls-tree grep name-rev whatchanged count-objects merge-base for-each-ref "
    "show-ref diff-tree"
)
_GIT_SPOILERS = split_names(
    "-c --config-env --exec-path -p --paginate --output --ext-diff --textconv --filters -O "
    "--open-files-in-pager --git-dir --work-tree"
)
# They read settings in the directories that they look at, or start a pager.
_RUN_WHAT_FILES_SAY = frozenset({"git", "bat", "ag", "hostname"})


def is_harmless(command: Command) -> bool:
    """Whether the command, as far as its words tell, only looks."""
    if command.program is None or not _is_in_usual_place(command.program):
        return False
    name = command.program.rpartition("/")[2]
    if name == "git":
        return _only_reads_git(command)
    spoilers = _SPOILERS.get(name)
    if name == "xxd":
        return len(command.operands) < 2 and not _is_spoiled(command, frozenset({"-r", "--revert"}))
    return spoilers is not None and not _is_spoiled(command, spoilers)


def is_surely_harmless(command: Command) -> bool:
    """Whether it only looks, whatever its variables hold and whatever files are called."""
    name = (command.program or "").rpartition("/")[2]
    if not is_harmless(command) or name in _RUN_WHAT_FILES_SAY:
        return False
    if name in {"test", "["}:
        return _is_plain_test(command.words)
    if name == "set":
        return _sets_only_words(command.words)
    spoiled = name in _SPOILED_BY or name == "xxd"
    return not spoiled or not any(_may_be_flag(word) for word in command.words)


def _is_in_usual_place(program: str) -> bool:
    directory = program[: program.rfind("/") + 1]
    return not directory or directory in USUAL_PLACES


def _is_spoiled(command: Command, spoilers: frozenset[str]) -> bool:
    if not spoilers:
        return False
    # A variable may hold any option.
    uncertain = any(word.value is None for word in command.words)
    return uncertain or any(_is_spoiler(flag, spoilers) for flag in command.flags)


def _is_spoiler(flag: str, spoilers: frozenset[str]) -> bool:
    """Long options may be abbreviated, as getopt allows it."""
    if flag in spoilers:
        return True
    return flag.startswith("--") and any(spoiler.startswith(flag) for spoiler in spoilers)


def _may_be_flag(word: Word) -> bool:
    """`*` becomes the names of files, and a file may be called `--output=x`."""
    return word.value is None or (word.glob and word.value[:1] in {"*", "?", "[", "-"})


def _is_plain_test(words: tuple[Word, ...]) -> bool:
    """Whether no variable can become an operator: `[ -v … ]` evaluates what it gets."""
    left = [word for word in words if word.value not in {"!", "]"}]
    literal = all(word.fixed for word in left)
    if {word.value for word in left} & {"-v", "-R"}:
        return literal and not any("[" in word.raw for word in left)
    return literal or _has_sure_operator(left)


def _has_sure_operator(words: list[Word]) -> bool:
    """`"$x"`, `-n "$x"` and `"$x" = "$y"`; of more words any may be the operator."""
    if len(words) > 3 or not all(word.single for word in words):
        return False
    return len(words) == 1 or words[len(words) - 2].value is not None


def _sets_only_words(words: tuple[Word, ...]) -> bool:
    """`set -- $x` sets the parameters; without the dashes a word may be an option."""
    for word in words:
        if word.value == "--":
            return True
        if _may_be_flag(word):
            return False
    return True


def _only_reads_git(command: Command) -> bool:
    words = list(command.words)
    # Options of git itself come before the subcommand; these two change nothing that matters.
    while words and words[0].value in {"-C", "--no-pager"}:
        words = words[2 if words[0].value == "-C" else 1 :]
    reads = bool(words) and words[0].value in _GIT_READS
    return reads and not _is_spoiled(command, _GIT_SPOILERS)


_OWN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_READ_BY_OTHERS = re.compile(r"npm_config_.*|.*_proxy|auto_resume|histchars|_")


def find_unlisted(
    script: Script, permits: Callable[[Command], bool], permits_file: Callable[[Command], bool]
) -> Iterator[tuple[Command, str]]:
    """Each command that is on no list, with the reason.

    `permits` is asked about programs, `permits_file` about script files that a shell runs.
    """
    for command in script.commands:
        if command.program is None:
            yield command, "only running it would tell which program it is"
        elif not is_surely_harmless(command) and not permits(command):
            yield command, f"{command.name} is on no list"
        elif command.name in SHELLS and _runs_file(command) and not permits_file(command):
            yield command, f"the file that {command.name} runs is on no list"
        yield from ((command, f"the variable {n or '?'} is on no list") for n in _list_odd(command))


def _runs_file(command: Command) -> bool:
    invocation = read_invocation(command)
    return invocation.script_file is not None or invocation.reads_startup_files


def _list_odd(command: Command) -> Iterator[str | None]:
    """Variables that other programs, or the shell itself, may read."""
    for name in list_set_names(command):
        if name in {"REPLY", "MAPFILE", "OPTARG"}:
            continue
        if name is None or not _OWN_NAME.fullmatch(name) or _READ_BY_OTHERS.fullmatch(name):
            yield name
