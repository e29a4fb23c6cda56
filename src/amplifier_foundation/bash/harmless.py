"""Programs that only look, with the options that make them do more."""

from __future__ import annotations

from amplifier_foundation.bash.command import Command
from amplifier_foundation.bash.word import split_names

_PLAIN = (
    "ls cat echo printf pwd head tail wc grep egrep fgrep cut tr nl tac rev diff cmp comm stat "
    "file which type whoami id uname true false test [ basename dirname realpath readlink seq "
    "sleep printenv du df ps md5sum sha1sum sha256sum sha512sum cksum cd : export local declare "
    "typeset readonly unset set shift return exit break continue read wait pushd popd dirs umask "
    "getopts let jobs hash times less more column fold expand paste join od xxd hexdump strings "
    "base64 locale arch nproc uptime free groups tty logname jq cloc tokei mkdir touch"
)
_SPOILED_BY = {
    "rg": "--pre --pre-glob --hostname-bin --search-zip -z",
    "ag": "--pager",
    "ack": "--pager",
    "sort": "-o --output --compress-program -T --temporary-directory",
    "date": "-s --set -f --file",
    "tree": "-o",
    "find": "-delete -exec -execdir -ok -okdir -fprint -fprint0 -fprintf -fls",
    "fd": "-x -X --exec --exec-batch",
    "fdfind": "-x -X --exec --exec-batch",
    "bat": "--pager",
    "hostname": "-F --file -b --boot",
    "less": "-k --lesskey-file -o -O --log-file",
    "base64": "-o --output",
    "xxd": "-r --revert",
}
_SPOILERS: dict[str, frozenset[str]] = {
    **{name: frozenset() for name in _PLAIN.split()},
    **{name: frozenset(flags.split()) for name, flags in _SPOILED_BY.items()},
}
_GIT_READS = split_names(
    "status log diff show rev-parse ls-files blame describe shortlog rev-list cat-file "
    "ls-tree grep name-rev whatchanged reflog count-objects merge-base for-each-ref "
    "show-ref diff-tree"
)
_GIT_SPOILERS = split_names(
    "-c --config-env --exec-path -p --paginate --output --ext-diff --textconv -O "
    "--open-files-in-pager --git-dir --work-tree"
)
_USUAL_PLACES = frozenset({"/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"})


def is_harmless(command: Command) -> bool:
    """Whether the command, as far as its words tell, only looks."""
    if command.program is None or not _is_in_usual_place(command.program):
        return False
    name = command.program.rpartition("/")[2]
    if name == "git":
        return _only_reads_git(command)
    spoilers = _SPOILERS.get(name)
    return spoilers is not None and not _is_spoiled(command, spoilers)


def _is_in_usual_place(program: str) -> bool:
    directory = program[: program.rfind("/") + 1]
    return not directory or directory in _USUAL_PLACES


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


def _only_reads_git(command: Command) -> bool:
    words = list(command.words)
    # Options of git itself come before the subcommand; these two change nothing that matters.
    while words and words[0].value in {"-C", "--no-pager"}:
        words = words[2 if words[0].value == "-C" else 1 :]
    reads = bool(words) and words[0].value in _GIT_READS
    return reads and not _is_spoiled(command, _GIT_SPOILERS)
