"""Hooks that run what a person has seen.

A command is trusted together with the files it names. What it starts are copies of the bytes that
were trusted, in a folder that no tool of the agent can write to; what else it names must not have
changed when it runs.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from amplifier_hooks.coding_agents.dialects.dialect import Handler
from amplifier_hooks.coding_agents.shell_hooks.scripts.names import (
    list_modules,
    list_named,
    runs_modules,
)
from amplifier_hooks.coding_agents.shell_hooks.scripts.places import is_part_of_script, is_script
from amplifier_hooks.coding_agents.shell_hooks.scripts.positions import (
    IsKnown,
    find_script_words,
    find_scripts,
)
from amplifier_hooks.machine.files import Snapshot, normalize

_FROM_ELSEWHERE = {"PYTHONSAFEPATH": "1"}


def read_scripts(handlers: Iterable[Handler], project: Path, snapshot: Snapshot) -> None:
    """Read the files that hooks name into the snapshot, and code beside those that they start."""
    for handler in handlers:
        folder = _get_folder(handler, project)
        for path in list_named(_get_texts(handler), folder):
            if is_script(path):
                snapshot.read(path)
        for path in _find_started(handler, folder, Path.is_file):
            if path.is_file():
                snapshot.read(path)
                _read_beside(path, project, snapshot)


def _read_beside(path: Path, project: Path, snapshot: Snapshot) -> None:
    if path.parent not in (normalize(project), normalize(Path.home())):
        snapshot.read_tree(path.parent, "*", is_part_of_script)


def _get_folder(handler: Handler, project: Path) -> Path:
    return normalize(project / handler.cwd) if handler.cwd else project


def _get_texts(handler: Handler) -> tuple[str, ...]:
    return handler.args if handler.args is not None else (handler.command or "",)


def _find_started(handler: Handler, folder: Path, is_known: IsKnown) -> Iterator[Path]:
    if handler.args is not None:
        numbers = find_script_words(handler.args, folder, is_known)
        yield from (normalize(folder / handler.args[number]) for number in numbers)
    elif handler.command is not None:
        found = find_scripts(handler.command, folder, is_known)
        yield from (word.path for word in found)


@dataclass(frozen=True, slots=True)
class Pins:
    """Writes trusted scripts where only we write, and leads hooks to them."""

    snapshot: Snapshot
    project: Path
    folder: Path

    def pin(self, handler: Handler) -> Handler:
        """The hook with its scripts replaced by copies, and with what must not have changed."""
        texts, folder = _get_texts(handler), _get_folder(handler, self.project)
        if handler.url is not None:
            return handler
        started = set(_find_started(handler, folder, self.snapshot.__contains__))
        named = [path for path in list_named(texts, folder) if path not in started]
        own_modules = any(path in self.snapshot for path in list_modules(texts, folder))
        safe = _FROM_ELSEWHERE if runs_modules(texts) and not own_modules else {}
        return replace(
            handler,
            run=self._redirect(handler, folder),
            expects={path: self._get(path) for path in named},
            env={**safe, **handler.env},
        )

    def _get(self, path: Path) -> bytes | None:
        return self.snapshot.read(path) if path in self.snapshot else None

    def _redirect(self, handler: Handler, folder: Path) -> str | tuple[str, ...]:
        is_known = self.snapshot.__contains__
        if handler.args is not None:
            words = list(handler.args)
            for number in find_script_words(handler.args, folder, is_known):
                words[number] = str(self._copy(normalize(folder / words[number])))
            return tuple(words)
        command, parts, last = handler.command or "", [], 0
        for word in find_scripts(command, folder, is_known):
            parts += [command[last : word.start], shlex.quote(str(self._copy(word.path)))]
            last = word.end
        return "".join([*parts, command[last:]])

    def _copy(self, path: Path) -> Path:
        """Where the copy of a script is, with what lies beside it; nothing if it is not trusted."""
        if path in self.snapshot:
            for one in [one for one in self.snapshot.files if one.is_relative_to(path.parent)]:
                self._write(one)
        return self._place(path)

    def _write(self, path: Path) -> None:
        target = self._place(path)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            target.write_bytes(self.snapshot.read(path))
            target.chmod(0o500)

    def _place(self, path: Path) -> Path:
        return self.folder.joinpath(*path.parts[1:])
