"""hooks-production-guard: ask a person before anything writes to a guarded path.

Listens to  tool:pre
Answers     ask_user or deny, or continue
Configure   patterns, tools, shell, path_keys, command_keys, action, priority, timeout, approval_*
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from glob import iglob
from itertools import islice, product
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, Field, field_validator

from amplifier_core.events import TOOL_PRE
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_hooks.guards import bash
from amplifier_hooks.guards.policy.guarded_paths import Chosen, GuardedPaths, Hit
from amplifier_hooks.guards.policy.paths import match_glob, resolve
from amplifier_hooks.guards.policy.tool_calls import (
    ARGUMENT_KEYS,
    COMMAND_KEYS,
    EDITING_TOOLS,
    FILE_KEYS,
    PATH_KEYS,
    TOOLS,
    is_reading,
    iterate_texts_under,
    list_commands,
    list_paths,
)
from amplifier_hooks.guards.policy.unread_tools import offer_reader
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.modules.registration import (
    GuardConfig,
    Reply,
    get_base_dir,
    list_lines,
    look_up_tool,
    read_command,
    register_guards,
    shorten,
)

NAME = "hooks-production-guard"
Keys = str | list[str]
_MOST_FILES = 1_000
_LITERAL_DIRECTORY = re.compile(r"[\"']?([^$`{*?\[\\\"']*/)")
_WRITING_PROGRAMS = frozenset({"mkdir", "touch"})
_CREATING_PROGRAMS = frozenset(
    {"mkdir", "touch", "tee", "cp", "gcp", "mv", "ln", "install", "rsync", "scp", "sponge", "rm"}
    | {"truncate", "tar", "unzip", "rmdir", "dd"}
)
_GIT_CREATING = frozenset({"clone", "worktree", "init", "submodule", "mv", "subtree"})
_GIT_NAMING = frozenset(
    {"push", "pull", "fetch", "merge", "rebase", "branch", "switch", "tag", "cherry-pick", "remote"}
    | {"merge-base", "describe", "log", "rev-parse", "bisect", "config"}
)
_LOADING_OPTIONS = frozenset(
    {"--env-file", "--env-file-if-exists", "--envfile", "--dotenv", "--from-env-file"}
)
_LOADERS = {
    "dotenv": frozenset({"-e", "-f"}),
    "dotenvx": frozenset({"-f"}),
    "env-cmd": frozenset({"-f", "--file"}),
}
_BARE_NAME = re.compile(r"[A-Za-z][\w-]*")
_NAMES_ENVIRONMENT = re.compile(
    r"(?:^|[-_])(?:env|environment|mode|stage|profile|context|configuration|tier|workspace)$",
    re.IGNORECASE,
)
_COPYING_PROGRAMS = frozenset({"cp", "gcp"})
_COPYING_FLAGS = re.compile("-[finpuv]+|--")
_FINDERS = frozenset({"find", "gfind"})
_READERS = frozenset(
    {"md5", "shasum", "sum", "wc", "tar", "zip", "zcat", "zgrep", "identify", "ffprobe", "exiftool"}
    | {"more", "less", "xmllint", "pylint", "lint", "cpio", "sha1", "git", "mediainfo", "nm", "ldd"}
)
_FOLDER_PROGRAMS = frozenset({"rm", "mv", "trash", "chmod", "chown", "find", "gfind", "rsync"})


def _list_editing_tools() -> dict[str, Keys]:
    return {tool: list(PATH_KEYS) for tool in sorted(EDITING_TOOLS)}


class UnreadableInput(ValueError):
    """Not all parts of a command are known, or of the input of a tool that nobody described."""


class Config(GuardConfig):
    """The options of hooks-production-guard."""

    patterns: list[str] = Field(
        default_factory=lambda: ["production/**", "*.env", ".env.*"], min_length=1
    )
    tools: dict[str, Keys] = Field(default_factory=_list_editing_tools)
    shell: dict[str, str] = Field(default_factory=lambda: {"Bash": "command"})
    path_keys: list[str] = Field(
        default_factory=lambda: list(FILE_KEYS),
        validation_alias=AliasChoices("path_keys", "mcp_paths"),  # as older bundles say
    )
    command_keys: list[str] = Field(
        default_factory=lambda: list(COMMAND_KEYS),
        validation_alias=AliasChoices("command_keys", "mcp_commands"),
    )
    action: Literal["ask_user", "deny"] = "ask_user"

    @field_validator("patterns")
    @classmethod
    def _check_globs(cls, value: list[str]) -> list[str]:
        match_glob(Path("/"), value)
        return value


class ProductionGuard:
    """Stands before the tools that write."""

    def __init__(self, config: Config, guarded: GuardedPaths, base: Path) -> None:
        self._config = config
        self._guarded = guarded
        self._base = base

    def on_tool(self, event: str, data: dict[str, Any]) -> Reply:
        tool = str(data.get("tool_name", ""))
        given = data.get("tool_input") or {}
        command_key = look_up_tool(self._config.shell, tool)
        try:
            paths = self._list_paths(tool, given)
            commands = self._list_commands(tool, given)
        except UnreadableInput as wrong:
            return self._answer_unreadable(tool, wrong, _show_input(given, command_key))
        except ValueError as wrong:
            return HookResult(action="deny", reason=f"{tool}: {wrong}")
        if not paths and not commands:
            return HookResult(action="continue")
        return self._judge(tool, given, command_key, partial(self._find_hits, paths, commands))

    def _list_paths(self, tool: str, given: Any) -> list[str]:
        """What a call names; of a tool that the options do not name, what its keys tell."""
        keys = look_up_tool(self._config.tools, tool)
        if keys is not None:
            return list(_find_reader(tool)(given, [keys] if isinstance(keys, str) else keys))
        if look_up_tool(self._config.shell, tool) is not None or is_reading(tool):
            return []
        return _read_undescribed(list_paths, given, self._config.path_keys)

    def _list_commands(self, tool: str, given: Any) -> list[str]:
        keys = self._config.command_keys if self._config.shell else []
        key = look_up_tool(self._config.shell, tool)
        if key is None:
            return _read_undescribed(partial(list_commands, tool=tool), given, keys)
        if not key:  # it has no command, whatever its keys are called
            return []
        _check_command(given, key)
        return list_commands(given, list(dict.fromkeys([key, *keys])))

    def _is_part_of_all(self, hit: Hit) -> bool:
        """Whether it is touched only because everything in the project is."""
        try:
            return hit.below and self._base.is_relative_to(resolve(hit.given, self._base))
        except ValueError:
            return False

    async def _judge(
        self, tool: str, given: Any, command_key: str | None, find: Callable[[], list[Hit]]
    ) -> HookResult:
        try:
            hits = await asyncio.to_thread(find)
        except UnreadableInput as wrong:
            return self._answer_unreadable(tool, wrong, _show_input(given, command_key))
        except ValueError as wrong:
            return HookResult(action="deny", reason=f"{tool}: {wrong}")
        if not hits:
            return HookResult(action="continue")
        return self._answer(tool, hits, _show_input(given, command_key))

    def _find_hits(self, paths: list[str], commands: list[str]) -> list[Hit]:
        """Every guarded path of the call, each real path once, in the order they are written."""
        found = [self._guarded.find_hit(path) for path in paths]
        for command in commands:
            found += self.find_hits_in_command(command)
        return _list_once(found)

    def find_hits_in_command(self, command: str) -> list[Hit]:
        """Every guarded path that a command may write to; UnreadableInput if it hides any."""
        try:
            commands = bash.list_all_commands(command, NAME)
        except ValueError as wrong:
            raise UnreadableInput(str(wrong)) from wrong
        start = bash.Workspace(self._base, Path.home())
        bases = dict.fromkeys([self._base, *bash.list_directories(commands, start).known])
        named = _list_once(self._find_named_hits(commands, bases))
        folders = [hit.resolved for hit in named]
        unnamed = _list_once(self._find_unnamed_hits(commands, list(bases)))
        # `cp a .env` may write to `.env/a`; that it writes to `.env` says enough.
        return named + [
            hit for hit in unnamed if not any(map(hit.resolved.is_relative_to, folders))
        ]

    def _find_named_hits(
        self, commands: Sequence[bash.Command], bases: Iterable[Path]
    ) -> Iterator[Hit | None]:
        at = self._guarded.find_hit
        for (word, is_sure), base in product(_find_written_words(commands), bases):
            if is_sure or not _is_mere_name(word, base):
                yield from (_try_hit(at, path, base) for path in _find_paths(word, base))
        for command, base in product(filter(_takes_folders, commands), bases):
            below = partial(self._guarded.find_hit_below, chosen=_choose(command))
            words = _list_folders(command)
            paths = (path for word in words for path in _find_paths(word, base))
            yield from (_try_hit(below, path, base) for path in paths)
        hidden = bash.look_up_hidden_names(
            commands, list(bases), Path.home(), self._guarded, _list_hidden_words
        )
        for command, named in islice(hidden, _MOST_FILES):
            if not bash.finds_nothing(command, named.path):
                hit = _try_hit(at, str(named.path), self._base)
                yield replace(hit, given=".", below=True) if hit and named.below else hit

    def _find_unnamed_hits(
        self, commands: Sequence[bash.Command], bases: Sequence[Path]
    ) -> Iterator[Hit | None]:
        """What comes out of folders, archives, patches and commits."""
        found = bash.look_up_writes(commands, bases, Path.home(), self._guarded.may_guard)
        for write in islice(sorted(found.writes, key=lambda one: one.path), _MOST_FILES):
            yield _try_hit(self._guarded.find_hit, str(write.path), self._base)
            if write.is_link:
                yield self._guarded.find_hit_behind(str(write.path))

    def _answer(self, tool: str, hits: list[Hit], shown: str) -> HookResult:
        where = shorten(", ".join(str(hit.resolved) for hit in hits))
        globs = ", ".join(repr(glob) for glob in dict.fromkeys(hit.pattern for hit in hits))
        guarded = f"{where} {'is' if len(hits) == 1 else 'are'} guarded by {globs}"
        if self._config.action == "deny" and not all(map(self._is_part_of_all, hits)):
            return HookResult(action="deny", reason=f"{guarded}; {tool} may not write there")
        return self._config.ask_user(self._word_question(tool, hits, shown), f"guarded by {globs}")

    def _answer_unreadable(self, tool: str, wrong: Exception, shown: str) -> HookResult:
        """A command that hides what it writes could write anywhere."""
        if self._config.action == "deny":
            return HookResult(action="deny", reason=f"{wrong}; it may write to a guarded path")
        question = f"Allow {tool} to run this? It may write to a guarded path: {wrong}.\n\n{shown}"
        return self._config.ask_user(question, "it may write to a guarded path")

    def _word_question(self, tool: str, hits: list[Hit], shown: str) -> str:
        """All guarded paths and the exact input: an approval covers what was read, nothing else."""
        listed = [self._format_hit(hit) for hit in hits]
        if len(hits) == 1:
            return f"Allow {tool} to write to the guarded path {listed[0]}?\n\n{shown}"
        paths = list_lines(listed)
        return f"Allow {tool} to write to these {len(hits)} guarded paths?\n\n{paths}\n\n{shown}"

    def _format_hit(self, hit: Hit) -> str:
        """Where it leads, and what was given if that does not show it."""
        where = shorten(str(hit.resolved))
        if Path(self._base, hit.given) == hit.resolved:
            return where
        return f"{where} (given as {shorten(hit.given)!r})"


def _find_reader(tool: str) -> Callable[[Any, list[str]], Iterable[str]]:
    """Of a tool of ours it is known that a path stands nowhere else, and is taken as it is."""
    return iterate_texts_under if tool in TOOLS else list_paths


def _read_undescribed(
    read: Callable[[Any, list[str]], Iterable[str]], given: Any, keys: list[str]
) -> list[str]:
    try:
        return list(read(given, keys))
    except ValueError as wrong:
        raise UnreadableInput(str(wrong)) from wrong


def _try_hit(find: Callable[[str, Path], Hit | None], path: str, base: Path) -> Hit | None:
    """A word of a command need not be a path at all."""
    try:
        return find(path, base)
    except ValueError:
        return None


def _list_once(found: Iterable[Hit | None]) -> list[Hit]:
    """Each real path once, in the order of the call."""
    hits: dict[Path, Hit] = {}
    for hit in found:
        if hit is not None:
            hits.setdefault(hit.resolved, hit)
    return list(hits.values())


def _check_command(given: Any, key: str) -> None:
    """What cannot be read in the place of a command is an error, which denies."""
    value = given.get(key) if isinstance(given, dict) else given
    command = read_command(value) if isinstance(given, dict) else None
    if command is None and value is not None:
        raise ValueError(f"its input has no text under {key!r} that could be judged")


def _show_input(given: Any, command_key: str | None) -> str:
    """The command if the input is nothing else; otherwise the input, keys and all."""
    if command_key and isinstance(given, dict) and list(given) == [command_key]:
        return f"The command:\n\n{shorten(str(given[command_key]))}"
    return f"The input:\n\n{shorten(json.dumps(given, ensure_ascii=False, default=repr))}"


def _find_written_words(commands: Iterable[bash.Command]) -> Iterator[tuple[bash.Word, bool]]:
    """What a command may write to, and whether that surely names a file.

    Its redirections, and all words unless it only looks.
    """
    for command in commands:
        yield from ((redirect.target, True) for redirect in command.redirects if redirect.writes)
        if not bash.is_harmless(command) or command.name in _WRITING_PROGRAMS:
            words = command.operands[-1:] if _is_plain_copy(command) else _list_words(command)
            if _only_sends(command):
                words = ()
            yield from ((word, _creates(command)) for word in words)


def _list_hidden_words(command: bash.Command) -> Iterator[bash.Word]:
    """The words of a command that changes what it is given, as far as they are not literal."""
    yield from (one.target for one in command.redirects if one.writes)
    if command.name in bash.SHELLS and "-c" in command.flags:
        return  # the commands of its text are judged by themselves
    if command.name in _COPYING_PROGRAMS:
        into = not command.flags.isdisjoint({"-t", "--target-directory"})
        yield from command.words if into else command.operands[-1:]
    elif command.name is not None and _changes_operands(command):
        yield from (word for word, _ in _find_written_words([command]))


def _only_sends(command: bash.Command) -> bool:
    """A copy to another machine, which changes nothing on this one."""
    if command.name not in {"rsync", "scp"} or not command.operands:
        return False
    removes = any(flag.startswith("--remove") for flag in command.flags)
    return bash.is_remote(command.operands[-1]) and not removes


def _creates(command: bash.Command) -> bool:
    if command.name == "git":
        return not {word.value for word in command.arguments[:1]}.isdisjoint(_GIT_CREATING)
    return command.name in _CREATING_PROGRAMS


def _list_words(command: bash.Command) -> Iterator[bash.Word]:
    """All words but those that name an environment or a branch: `--mode production`."""
    if command.name == "git" and {word.value for word in command.arguments[:1]} & _GIT_NAMING:
        return
    words = _leave_loaded(command)
    for before, word in zip((None, *words), words, strict=False):
        named = "" if before is None or not before.is_flag else before.value or ""
        name, equals, value = (word.value or "").partition("=")
        if _NAMES_ENVIRONMENT.search(named) and not word.is_flag and "/" not in word.raw:
            continue
        if equals and _NAMES_ENVIRONMENT.search(name) and "/" not in value:
            continue
        yield word


def _leave_loaded(command: bash.Command) -> tuple[bash.Word, ...]:
    """All but the files that it only loads: `source .env`, `docker run --env-file .env`."""
    if command.name in {"source", "."}:
        return command.words[1:]
    named = [command.name or "", *(word.value or "" for word in command.words[:2])]
    loads = _LOADING_OPTIONS.union(*(_LOADERS.get(one, frozenset()) for one in named))
    pairs = zip((None, *command.words), command.words, strict=False)
    return tuple(
        word
        for before, word in pairs
        if (before is None or before.value not in loads)
        and (word.value or "").partition("=")[0] not in _LOADING_OPTIONS
    )


def _is_mere_name(word: bash.Word, base: Path) -> bool:
    """`production` is a branch, a server or a target, where there is no such folder."""
    if word.value is None or not _BARE_NAME.fullmatch(word.value):
        return False
    return not os.path.lexists(base / word.value)


def _is_plain_copy(command: bash.Command) -> bool:
    """`cp FROM… TO`, which only reads all but the last; a link would lead back to what it reads."""
    if command.name not in _COPYING_PROGRAMS or len(command.operands) < 2:
        return False
    flags = (word.value or "" for word in command.words if word.is_flag)
    known = all(word.fixed for word in command.words)
    return known and all(map(_COPYING_FLAGS.fullmatch, flags))


def _list_folders(command: bash.Command) -> Iterable[bash.Word]:
    """The folders that a command changes with all that is in them; not where it puts others."""
    if command.name in _FINDERS:
        return bash.list_roots(command)
    deletes = any(flag.startswith("--delete") for flag in command.flags)
    adds = command.name == "mv" or (command.name == "rsync" and not deletes)
    if adds and len(command.operands) > 1 and command.flags.isdisjoint({"-t", "-T"}):
        return command.operands[:-1]
    return command.words


def _takes_folders(command: bash.Command) -> bool:
    """Whether a command may remove, move or change a folder as a whole, with all that is in it."""
    in_git = command.name == "git" and any(w.value in {"rm", "mv"} for w in command.arguments)
    takes = in_git or (command.name in _FOLDER_PROGRAMS and not _only_sends(command))
    return takes and not bash.is_harmless(command)


def _choose(command: bash.Command) -> Chosen | None:
    """Of `find`, what it does something to; if that is done to folders, what is in them, too."""
    if command.name not in _FINDERS:
        return None
    found = bash.FoundFiles(command, _changes_file)
    alone = "-delete" in command.flags or not _takes_whole_folders(command)

    def touches(folder: Path, below: Path) -> bool:
        if found.touch(folder, below):
            return True
        return not alone and any(found.touch(folder, one) for one in below.parents)

    return touches


_PER_FILE = frozenset({"chmod", "chown", "chgrp", "touch", "sed", "gsed", "perl", "rmdir", "rm"})


def _takes_whole_folders(command: bash.Command) -> bool:
    """Whether what find runs would change a folder with all that is in it."""
    values = {word.value for word in command.words}
    if values.isdisjoint({"-r", "-R", "-rf", "-fr", "-Rf", "--recursive"}):
        bodies = (
            two.value
            for one, two in zip(command.words, command.words[1:], strict=False)
            if (one.value or "").startswith(("-exec", "-ok"))
        )
        return not all((body or "").rpartition("/")[2] in _PER_FILE for body in bodies)
    return True


_LOOKING = frozenset({"awk", "gawk", "mawk", "sed", "gsed", "perl", "php", "jar", "diff", "file"})


def _changes_file(command: bash.Command, path: Path) -> bool:
    return _changes_operands(command) and not bash.finds_nothing(command, path)


def _changes_operands(command: bash.Command) -> bool:
    """Whether a command that find runs on files does more than look at them."""
    if command.name in _LOOKING:
        return any((flag.startswith(("-i", "--in-place"))) for flag in command.flags) or any(
            word.value is None and word.raw != "?" for word in command.words
        )
    if command.name == "chmod" and "-R" not in command.flags:
        # Whoever owns the file can still read it, and its content stays.
        mode = next((word.value or "" for word in command.words if word.value != "-v"), "")
        return not re.fullmatch(r"0?[4-7][0-7][0-7]|[ugoa]*\+[rwxX]+|[goa]+-[wx]+", mode)
    if command.name in _COPYING_PROGRAMS:
        return not all(map(_COPYING_FLAGS.fullmatch, (f for f in command.flags)))
    if command.name in _READERS:
        return False
    if command.name in {"sh", "bash"}:
        text = next((word.value for word in command.words if not word.is_flag), None)
        inner = () if text is None else bash.list_all_commands(text, NAME)
        return not inner or any(map(_changes_operands, inner))
    return not bash.is_harmless(command)


def _find_paths(word: bash.Word, base: Path) -> Iterator[str]:
    """The word, what stands behind its equals sign (`of=…`) and behind its letter (`-o…`)."""
    if word.value is None:
        # Of `production/$x` the directory is certain, whatever is in it.
        yield from (f"{found[1]}?" for found in [_LITERAL_DIRECTORY.match(word.raw)] if found)
        return
    if not word.is_flag:
        yield _expand_home(word)
    elif not word.value.startswith("--") and (attached := word.value[2:]):
        yield attached
    if value := word.value.partition("=")[2]:
        yield value
    if word.glob:
        yield from _expand_glob(_expand_home(word), base)


def _expand_glob(pattern: str, base: Path) -> list[str]:
    """The files that a glob names now; too many to look at are an error, which denies."""
    # `Path.glob` takes no absolute pattern.
    found = list(islice(iglob(pattern, root_dir=base), _MOST_FILES + 1))  # noqa: PTH207
    if len(found) > _MOST_FILES:
        raise ValueError(f"{pattern!r} names over {_MOST_FILES} files, too many to be looked at")
    return found


def _expand_home(word: bash.Word) -> str:
    value = word.value or ""
    in_home = word.tilde and (value == "~" or value.startswith("~/"))
    return f"{Path.home()}{value[1:]}" if in_home else value


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to guard."""
    settings = parse_config(Config, config, NAME)
    if settings.shell:
        bash.ensure_available(NAME)
    base = get_base_dir(coordinator)
    guarding = ProductionGuard(settings, GuardedPaths(settings.patterns, base), base)
    commands = [*settings.command_keys, *ARGUMENT_KEYS] if settings.shell else []
    described = {**settings.tools, **settings.shell}
    offer_reader(
        coordinator,
        NAME,
        [*settings.path_keys, *commands],
        lambda tool: look_up_tool(described, tool) is not None,
    )
    return register_guards(
        coordinator,
        NAME,
        [(TOOL_PRE, guarding.on_tool)],
        priority=settings.priority,
        timeout=settings.timeout,
    )
