"""Writing where it does harm: devices, files that decide what runs later, the system."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.find import leave_bodies, unwrap_find
from amplifier_hooks.guards.bash.harmless import is_harmless
from amplifier_hooks.guards.bash.implied_writes import look_up_writes
from amplifier_hooks.guards.bash.situations import MOST_WORDS, Objection, Situation, list_written
from amplifier_hooks.guards.bash.words import Word, split_names
from amplifier_hooks.guards.bash.workspace import Reach, Workspace, is_system_place
from amplifier_hooks.guards.policy.paths import match_glob
from amplifier_hooks.guards.policy.protected_places import (
    is_above_project_place,
    is_project_place,
    lies_at_project_place,
)

_DEVICE_FILES = split_names(
    "/dev/null /dev/zero /dev/stdout /dev/stderr /dev/stdin /dev/tty /dev/full "
    "/dev/random /dev/urandom /dev/fd/** /dev/shm/** /dev/pts/**"
)
_STARTUP_FILES = (
    "~/.{bashrc,bash_profile,bash_login,bash_logout,profile,zshrc,zprofile,zshenv,zlogin,kshrc}",
    "~/.{inputrc,vimrc,exrc,emacs,tmux.conf,screenrc,gdbinit,pythonrc,lesskey,curlrc,wgetrc}",
    "~/.{bash_aliases,bash_functions,bash_completion,zsh_aliases,aliases,cshrc,tcshrc,login}",
    "~/.{xprofile,xinitrc,xsessionrc,xsession,pam_environment,direnvrc}",
    "~/.config/{zsh,nushell,environment.d,direnv,fish,autostart,systemd,git,amplifier}/**",
    "~/.{gitconfig,npmrc,pypirc,netrc}",
    "~/.{ssh,aws,gnupg,kube,docker,claude,codex,gemini,cursor}/**",
    "~/.local/{bin,share/amplifier}/**",
    "~/Library/LaunchAgents/**",
    "**/.git/{config,hooks/**,info/attributes,config.worktree,modules/**}",
    # git runs the `exec` lines of what is left to do
    "**/.git/{rebase-merge,rebase-apply,sequencer}/**",
    "**/.git",
    "**/.{amplifier,claude}/**",
    "**/amplifier.yaml",
    "/etc/**",
)
_TELLING_NAMES = frozenset({"etc", "amplifier.yaml", "library"})
_GIT_NAMES_ONLY = split_names("add commit stage status log diff show blame")
# Of these `list_written` knows all that they write to.
_FULLY_READ = split_names(
    "cp mv ln install rsync scp tee sort uniq shuf sed gsed awk gawk mawk dd truncate less "
    "more bash sh source . file stat"
)


def check_device_write(situation: Situation) -> Objection | None:
    """A device of the machine, or a network connection that bash opens as a file."""
    for word in islice(list_written(situation.command), MOST_WORDS):
        for path in situation.find_paths(word):
            if path.parts[:2] != ("/", "dev") or match_glob(path, _DEVICE_FILES):
                continue
            if path.parts[2:3] in {("tcp",), ("udp",)}:
                return "ask", f"it opens a network connection through {word.raw}"
            return "deny", f"it writes to the device {word.raw}"
    return None


def check_protected_write(situation: Situation) -> Objection | None:
    """Files that decide what runs later, and places of the system."""
    written = tuple(list_written(situation.command))
    if len(written) > MOST_WORDS:
        return "ask", f"it writes to {len(written)} places, too many to be looked at"
    objections = (_judge_write(situation, word) for word in written)
    found = next((one for one in objections if one is not None), None)
    return found or _judge_named(situation) or _judge_unnamed(situation)


def check_unknown_write(situation: Situation) -> Objection | None:
    """`> $file`, and a relative path behind a `cd $directory`."""
    for redirect in situation.command.redirects:
        if redirect.writes and redirect.target.value is None:
            return "ask", f"only running it would tell what it writes to: {redirect.target.raw}"
    for word in islice(list_written(situation.command), MOST_WORDS):
        if word.value is not None and situation.is_adrift(word):
            return "ask", f"only running it would tell in which directory it writes {word.raw}"
    return None


def _judge_write(situation: Situation, word: Word) -> Objection | None:
    if word.value is None:
        return None
    if all(match_glob(path, _DEVICE_FILES) for path in situation.find_paths(word)):
        return None
    if _decides_what_runs(situation, word):
        return "ask", f"it writes to {word.raw}, which decides what runs later"
    if situation.rate_word(word) is Reach.SYSTEM and _is_of_system(situation, word):
        return "ask", f"it writes to {word.raw}, a place of the system"
    return None


def _is_of_system(situation: Situation, word: Word) -> bool:
    """Not the folder of temporary files, in which everybody writes, nor one beside the system."""
    return any(is_system_place(path) for path in situation.find_paths(word)) or word.tilde


def _judge_named(situation: Situation) -> Objection | None:
    """Any program that does more than look may write to what it names, however it is told to."""
    command = situation.command
    if command.name in {"find", "gfind"} and _only_looks(command):
        command = leave_bodies(command)
    if is_harmless(command) or _only_names(command):
        return None
    for word in islice(_list_named(command), MOST_WORDS):
        if _decides_what_runs(situation, word):
            return "ask", f"it may write to {word.raw}, which decides what runs later"
    return None


def _only_looks(find: Command) -> bool:
    """Whether what it runs on what it finds does no more than look."""
    return all(map(is_harmless, unwrap_find(find, "shell parsing").commands))


def _judge_unnamed(situation: Situation) -> Objection | None:
    """What comes out of folders, archives, patches and commits, at the top of the project."""
    workspace = situation.workspace
    found = look_up_writes(
        [situation.command],
        situation.directories.known,
        workspace.home,
        _may_decide_unnamed,
        situation.script.commands,
    )
    for write in sorted(found.writes, key=lambda one: one.path):
        if _decides_unnamed(workspace, write.path, is_link=write.is_link):
            return "ask", f"it would write {write.path}, which decides what runs later"
    doubt = next(iter(sorted(found.doubts)), None)
    return None if doubt is None else ("ask", f"it may write what decides what runs later: {doubt}")


def _may_decide_unnamed(path: str) -> bool:
    return _may_decide(Path(path)) or is_project_place(Path(path))


def _decides_unnamed(workspace: Workspace, path: Path, *, is_link: bool) -> bool:
    """Further down, an archive or a branch may have settings of its own, as a clone may."""
    if not path.is_relative_to(workspace.working_dir):
        return _is_startup_file(workspace, path)
    below = path.relative_to(workspace.working_dir)
    if is_link and is_above_project_place(below):
        return True
    return lies_at_project_place(below) or below.parts[:1] in {("amplifier.yaml",), (".git",)}


def _only_names(command: Command) -> bool:
    first = command.arguments[0].value if command.arguments else None
    if command.name == "git":
        return first in _GIT_NAMES_ONLY
    return command.name in _FULLY_READ


def _list_named(command: Command) -> Iterator[Word]:
    """Its words, and what stands in them behind an equals sign or an option's letter."""
    for word in command.words:
        if word.value is None:
            continue
        if not word.is_flag:
            yield word
        elif len(word.value) > 2:
            yield Word(word.raw, word.value[2:])
        if (value := word.value.partition("=")[2]) != "":
            yield Word(word.raw, value, tilde=value.startswith("~"))


def _decides_what_runs(situation: Situation, word: Word) -> bool:
    named = situation.find_paths(word)
    return any(
        is_project_place(path) or _is_startup_file(situation.workspace, path) for path in named
    )


def _is_startup_file(workspace: Workspace, path: Path) -> bool:
    if not _may_decide(path):
        return False
    # `match_glob` expands `~` to the home of this process, which need not be that of the workspace.
    own = [f"{workspace.home}{glob[1:]}" for glob in _STARTUP_FILES if glob[0] == "~"]
    return match_glob(path, (*own, *_STARTUP_FILES)) is not None


def _may_decide(path: Path) -> bool:
    """A quick look: all of those globs have a component like these."""
    return any(part[:1] == "." or part.casefold() in _TELLING_NAMES for part in path.parts)
