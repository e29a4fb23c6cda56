"""Dangers in a shell script: rules by name, each finding with its reason."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from amplifier_hooks.guards.bash.code_rules import (
    check_downloaded_code,
    check_fork_bomb,
    check_hidden_substitution,
    check_opaque_code,
    check_sourced_file,
    check_written_then_run,
)
from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.consequences import (
    ACTING,
    OTHER_ACTS,
    changes_data,
    changes_elsewhere,
    find_act,
    harms_database,
    is_of_project,
    is_remote_copy,
    sends_away,
)
from amplifier_hooks.guards.bash.find import list_chosen
from amplifier_hooks.guards.bash.git import GitCall, open_repository, read_git
from amplifier_hooks.guards.bash.listed_commands import LISTED, ListedCommand
from amplifier_hooks.guards.bash.script import Script
from amplifier_hooks.guards.bash.situations import (
    MOST_WORDS,
    Finding,
    Objection,
    Situation,
    add_input,
    list_situations,
    list_written,
)
from amplifier_hooks.guards.bash.variables import DECLARING, list_set_names
from amplifier_hooks.guards.bash.words import Word, split_names
from amplifier_hooks.guards.bash.workspace import Reach, Workspace
from amplifier_hooks.guards.bash.write_rules import (
    check_device_write,
    check_protected_write,
    check_unknown_write,
)
from amplifier_hooks.guards.policy.paths import match_glob

_DELETING = frozenset({"rm", "unlink", "shred", "trash", "trash-put"})
_RIGHTS = frozenset({"chmod", "chown", "chgrp", "chattr", "setfacl"})
_WHERE = {
    Reach.OUTSIDE: "outside the working directory",
    Reach.PROJECT: "the whole working directory",
    Reach.UNKNOWN: "and only running it would tell what that is",
}


def check_deletion(situation: Situation) -> Objection | None:
    """`rm -r` and `find -delete`."""
    command = situation.command
    if command.name == "rm" and _is_recursive(command):
        if "--no-preserve-root" in command.flags:
            return "deny", "it deletes with the protection of / switched off"
        return _judge_deletion(situation, command.operands)
    if command.name in _DELETING:
        return _judge_files(situation)
    if command.name in {"find", "gfind"} and "-delete" in command.flags:
        return _judge_deletion(situation, list_chosen(command))
    return None


def _judge_files(situation: Situation) -> Objection | None:
    """Single files: those of the project can be had back, others are not its business."""
    for word in situation.command.operands[:MOST_WORDS]:
        if word.value is not None and situation.rate_word(word) in {Reach.OUTSIDE, Reach.SYSTEM}:
            return "ask", f"it deletes {word.raw}, outside the working directory"
    return None


def check_sending(situation: Situation) -> Objection | None:
    """What goes to other machines, or changes something there."""
    command = situation.command
    if sends_away(command):
        return "ask", "it sends something to another machine"
    if is_remote_copy(command):
        return "ask", "it copies files to or from another machine"
    call = read_git(command)
    if call is not None and call.subcommand == "push" and _pushes_elsewhere(situation, call):
        return "ask", "it publishes to an address that is no remote of this project"
    return None


def check_database(situation: Situation) -> Objection | None:
    """`psql -c 'delete from users'`: data that go, and rights that come."""
    command = add_input(situation)
    if harms_database(command):
        return "ask", "it deletes data, or changes who may use them"
    if changes_elsewhere(command):
        return "ask", "it changes, or may change, data in production or on another machine"
    if command.name in _DATABASE_FILES and changes_data(command):
        file = next(iter(situation.command.operands), None)
        if file is not None and situation.rate_word(file) in {Reach.OUTSIDE, Reach.SYSTEM}:
            return "ask", f"it changes {file.raw}, outside the working directory"
    return None


_DATABASE_FILES = frozenset({"sqlite3", "duckdb", "litecli", "sqlite"})
_CHOOSERS = frozenset({"ps", "pgrep", "pidof"})
_FILTERS = split_names("grep egrep rg awk gawk mawk sed pgrep pidof")


def check_killing(situation: Situation) -> Objection | None:
    """`ps aux | grep x | xargs kill` and `kill $(pgrep x)`, which are `pkill x`."""
    command = situation.command
    sources = {run for word in command.words for run in word.runs} | set(command.piped_from)
    if command.name != "kill" or _CHOOSERS.isdisjoint(sources):
        return None
    patterns = [
        word.value or word.raw
        for one in situation.script.commands
        if one.name in _FILTERS and (one.name in sources or sources & {*one.piped_from})
        for word in one.operands[:1]
    ]
    named = [re.sub(r"\[(\w)\]", r"\1", one) for one in patterns]
    if any(map(is_of_project, named)):
        return None
    return "ask", "it kills processes that it finds by name"


def _pushes_elsewhere(situation: Situation, call: GitCall) -> bool:
    """Only `origin`, and what the project's branches are bound to, is known."""
    words = call.own.operands
    if not words or words[0].value is None:
        return False
    name = words[0].value
    if name == "origin":
        others = (read_git(one) for one in situation.script.commands)
        return any(
            one is not None
            and one.subcommand == "remote"
            and "origin" in _list_words(one)
            and not {"add", "set-url"}.isdisjoint(_list_words(one))
            for one in others
        )
    return not any(_names_remote(folder, name) for folder in situation.directories.known)


def _list_words(call: GitCall) -> list[str | None]:
    return [word.value for word in call.own.words]


def _names_remote(folder: Path, name: str) -> bool:
    """Whether a branch of the repository around a folder is bound to a remote of this name."""
    top = next((one for one in (folder, *folder.parents) if (one / ".git").is_dir()), None)
    if top is None:
        return False
    try:
        text = (top / ".git" / "config").read_text(errors="replace")
    except OSError:
        return False
    bound = re.escape(name)
    return bool(
        re.search(
            rf"^\[branch [^\n]*\]\n(?:\s+[^\n]*\n)*?\s+remote = {bound}\s*$", text, re.MULTILINE
        )
    )


def check_rights(situation: Situation) -> Objection | None:
    """`chmod -R` and its like."""
    command = situation.command
    if command.name not in _RIGHTS or not _is_recursive(command):
        return None
    worst = situation.rate(command.arguments[1:])
    if worst is None or worst[0] is Reach.INSIDE:
        return None
    reason = f"it changes the rights of {worst[1].raw} and everything below"
    return "deny" if worst[0] is Reach.SYSTEM else "ask", reason


def _judge_deletion(situation: Situation, words: tuple[Word, ...]) -> Objection | None:
    worst = situation.rate(words)
    if worst is None or worst[0] is Reach.INSIDE:
        return None
    reach, word = worst
    if reach is Reach.SYSTEM:
        return "deny", f"it deletes {word.raw} and everything below"
    return "ask", f"it deletes {word.raw} recursively, {_WHERE[reach]}"


def _is_recursive(command: Command) -> bool:
    """Long options may be abbreviated, as getopt allows it: `--recurs`."""
    return any(
        flag in {"-r", "-R"} or (len(flag) > 2 and "--recursive".startswith(flag))
        for flag in command.flags
    )


_SECONDS = 4.0
_WORK = "it discards uncommitted work"
_EVERYTHING = frozenset({"*", "**", ":", ":/", ":/*", ":/.", ":(top)", ":(top)*", ":(top)."})
_REPOSITORY_FILES = (
    "**/.git/{HEAD,index,packed-refs,shallow,logs,objects,refs,worktrees}",
    "**/.git/{logs,objects,refs,worktrees}/**",
)
_EXCEPT = (":!", ":^", ":(exclude", ":(top,exclude")


def check_discarding(situation: Situation) -> Objection | None:
    """What does the same as `git reset --hard` or `rm -r .`, in other words."""
    call = read_git(situation.command)
    if call is None:
        return _check_repository_files(situation)
    words = call.own.operands
    everything = _names_everything(situation, words) or call.has("--pathspec-from-file")
    if call.subcommand in {"checkout", "restore"} and everything and _writes_files(call):
        return "ask", _WORK
    if call.subcommand == "checkout-index" and call.has("-f", "--force"):
        return ("ask", _WORK) if everything or call.has("-a", "--all", "--stdin") else None
    if call.subcommand == "rm" and everything and not call.has("--cached", "-n"):
        return "ask", "it deletes the files of the whole working directory"
    if call.subcommand == "prune" and not call.has("-n", "--dry-run"):
        return "ask", "it deletes lost work for good"
    if _moves_branch(call) and _loses_commits(situation, call):
        return "ask", "it moves a branch, which may leave commits without one"
    return None


def _check_repository_files(situation: Situation) -> Objection | None:
    """`rm -r .git/refs` and `> .git/HEAD`; a lock that was left behind is nobody's work."""
    command = situation.command
    only_read = [one.target for one in command.redirects if not one.writes]
    written = (word for word in list_written(command) if word not in only_read)
    for word in islice(written, MOST_WORDS):
        for path in situation.find_paths(word):
            if match_glob(path, _REPOSITORY_FILES) and path.suffix != ".lock":
                return "ask", f"it changes {word.raw}, in which git keeps history"
    return None


def _moves_branch(call: GitCall) -> bool:
    """`-M` and `-C` of `git branch` put a branch in the place of another one."""
    if call.subcommand == "branch":
        return call.has("-M", "-C") or (call.has("-f", "--force") and call.has("-m", "-c"))
    return call.subcommand in {"checkout", "switch"} and call.has("-B", "-C", "--force-create")


def _loses_commits(situation: Situation, call: GitCall) -> bool:
    """Whether one of the words is a branch, and another one or what is checked out is elsewhere."""
    if not situation.directories.complete or call.folders or call.elsewhere:
        return True
    deadline = time.monotonic() + _SECONDS
    # `-C main` may also be a folder, elsewhere in the line; what is not there has no repository.
    for folder in filter(Path.is_dir, situation.directories.known):
        reader = open_repository(folder, deadline)
        if reader is None:
            continue
        here = reader.find_revision("HEAD")
        words = [word.value or "" for word in call.own.operands]
        is_there = any(reader.find_commit(f"refs/heads/{one}") for one in words)
        meant = {found for one in words if (found := reader.find_commit(one))}
        if (is_there and len({here, *meant}) > 1) or reader.late:
            return True
    return False


def _writes_files(call: GitCall) -> bool:
    """Not with `-p`, which asks about each piece, nor where only the index is set back."""
    if call.has("-p", "--patch"):
        return False
    only_index = call.has("-S", "--staged") and not call.has("-W", "--worktree")
    return call.subcommand != "restore" or not only_index


def _names_everything(situation: Situation, words: Iterable[Word]) -> bool:
    """Whether one of the words is a pathspec that covers the whole project, or more."""
    for word in words:
        if word.value is None:
            continue
        if word.value in _EVERYTHING or word.value.startswith(_EXCEPT):
            return True
        if situation.rate_word(word) in {Reach.PROJECT, Reach.SYSTEM}:
            return True
    return False


_RISKY_NAMES = split_names(
    "PATH IFS ENV BASH_ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS4 PAGER EDITOR VISUAL "
    "BROWSER LESSOPEN LESSCLOSE MANPAGER PYTHONPATH PYTHONSTARTUP PYTHONHOME NODE_OPTIONS "
    "NODE_PATH PERL5OPT PERL5LIB PERL5DB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS HOME CDPATH "
    "SHELL GCONV_PATH FZF_DEFAULT_COMMAND RIPGREP_CONFIG_PATH PWD OLDPWD LESS LESSKEY "
    "EXINIT VIMINIT MANOPT MAKEFLAGS TMPDIR POSIXLY_CORRECT FIGNORE GLOBIGNORE EXECIGNORE HISTFILE "
    "INPUTRC TERMINFO LOCPATH NLSPATH HOSTALIASES CURL_HOME WGETRC XDG_CONFIG_HOME"
)
_RISKY_STARTS = ("LD_", "DYLD_", "GIT_", "BASH_", "SSH_", "npm_config_", "PYTHON", "AMPLIFIER_")
_RISKY_ENDS = ("_COMMAND", "ASKPASS", "PAGER", "_PRELOAD", "_HOOK")
# The options that make the difference; none means that it is the command itself.
_SETUP_FLAGS = {
    "hash": frozenset({"-p"}),
    "enable": frozenset[str](),
    "alias": frozenset[str](),
    "bind": frozenset[str](),
    "complete": frozenset({"-C", "-F"}),
    "compgen": frozenset({"-C", "-F"}),
    "history": frozenset({"-s", "-r", "-p"}),
    "fc": frozenset[str](),
    "shopt": frozenset({"-s", "-o"}),
    "jobs": frozenset({"-x"}),
}
_ODD_OPTIONS = frozenset({"keyword", "history", "histexpand", "emacs", "vi", "posix"})
_PRIVILEGED = frozenset({"sudo", "su", "doas", "pkexec", "runuser", "run0", "gosu"})


def check_environment(situation: Situation) -> Objection | None:
    """Variables that make other programs run something else."""
    for name in list_set_names(situation.command):
        if name is None:
            return "ask", "only running it would tell which variable it sets"
        risky = name.startswith(_RISKY_STARTS) or name.endswith(_RISKY_ENDS)
        if risky or name in _RISKY_NAMES:
            return "ask", f"it sets {name}, which changes what other programs run"
    return None


def check_shell_setup(situation: Situation) -> Objection | None:
    """What makes the shell itself read or find commands in another way."""
    command = situation.command
    flags = _SETUP_FLAGS.get(command.name or "")
    if flags is not None and (not flags or command.flags & flags):
        return "ask", f"{command.name} changes which command a name stands for"
    if command.name in DECLARING and command.flags & {"-n", "-i"} and _gives_attribute(command):
        return "ask", "it declares a name whose assignments mean something else"
    if command.name == "set" and _sets_odd_option(command):
        return "ask", "it changes how the shell reads its commands"
    return None


def _gives_attribute(command: Command) -> bool:
    """`unset -n` and `export -n` take away instead."""
    return command.name not in {"unset", "export"}


def _sets_odd_option(command: Command) -> bool:
    values = {word.value for word in command.words}
    return bool(command.flags & {"-k", "-H", "-B"} or values & _ODD_OPTIONS)


def check_privileges(situation: Situation) -> Objection | None:
    """`sudo` and its like."""
    if situation.command.name in _PRIVILEGED:
        return "ask", f"{situation.command.name} runs it with the rights of another user"
    return None


def check_unknown_program(situation: Situation) -> Objection | None:
    """`$x -rf /`."""
    if situation.command.program is None:
        return "ask", "only running it would tell which program it is"
    return None


_CHECKS: Mapping[str, Callable[[Situation], Objection | None]] = {
    "recursive-delete": check_deletion,
    "sending": check_sending,
    "database-data": check_database,
    "kill-found": check_killing,
    "recursive-rights": check_rights,
    "device-write": check_device_write,
    "downloaded-code": check_downloaded_code,
    "fork-bomb": check_fork_bomb,
    "protected-write": check_protected_write,
    "unknown-write": check_unknown_write,
    "opaque-code": check_opaque_code,
    "hidden-substitution": check_hidden_substitution,
    "written-then-run": check_written_then_run,
    "sourced-file": check_sourced_file,
    "environment": check_environment,
    "shell-setup": check_shell_setup,
    "privileges": check_privileges,
    "unknown-program": check_unknown_program,
    "git-discard": check_discarding,
}

RULES: frozenset[str] = frozenset(
    {*_CHECKS, *ACTING, *OTHER_ACTS, *(entry.rule for entry in LISTED)}
)
"""The names of all built-in rules."""


def find_dangers(
    script: Script, workspace: Workspace, listed: tuple[ListedCommand, ...], off: frozenset[str]
) -> Iterator[tuple[Situation, Finding]]:
    """All that speaks against the commands of a script, in their order."""
    for situation in list_situations(script, workspace):
        text = situation.command.text
        for rule, (action, reason) in _find_objections(situation, listed):
            if rule not in off:
                yield situation, Finding(action, rule, reason, text)


def _find_objections(
    situation: Situation, listed: tuple[ListedCommand, ...]
) -> Iterator[tuple[str, Objection]]:
    command = situation.command
    for rule, check in _CHECKS.items():
        if found := check(situation):
            yield rule, found
    if act := find_act(command):
        yield act[0], ("ask", act[1])
    for entry in listed:
        told = add_input(situation) if entry.rule.startswith("database") else command
        if entry.pattern.matches(told):
            yield entry.rule, (entry.action, entry.reason)
