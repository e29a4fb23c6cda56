"""Codex runs a hook only if somebody has trusted it; without a word it skips all others."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from amplifier_hooks.coding_agents.installing.codex.config import list_state_keys, remove_states
from amplifier_hooks.coding_agents.installing.codex.server import CodexHook, CodexServer
from amplifier_hooks.coding_agents.installing.line import is_line
from amplifier_hooks.coding_agents.installing.places import PLACES
from amplifier_hooks.coding_agents.installing.record import Record, Records
from amplifier_hooks.coding_agents.installing.settings_file import (
    SettingsError,
    SettingsFile,
    delete_settings,
    read_settings,
    write_settings,
)
from amplifier_hooks.machine.files import compute_digest

TRUST = "trust"
"""In the place of the scope, in the record of Codex's own file."""


@dataclass(frozen=True, slots=True)
class CodexTrust:
    """Gives, reads and removes Codex's trust in the hooks of one file."""

    hooks_file: Path
    folder: Path
    """Where sessions are started: Codex looks for hooks from there."""
    program: str
    env: Mapping[str, str] | None = None

    @property
    def config(self) -> Path:
        """Where Codex writes down what it trusts."""
        return find_config(self.env)

    def read(self) -> list[CodexHook]:
        """Our hooks as Codex sees them."""
        with CodexServer(self.program, self.env) as server:
            return self._list(server)

    def give(self, records: Records) -> list[CodexHook]:
        """Have our hooks trusted as they are now; returns how Codex sees them afterwards."""
        before = read_settings(self.config)
        known = records.find(self.config)
        with CodexServer(self.program, self.env) as server:
            new = [one for one in self._list(server) if one.trust != "trusted"]
            if new:
                server.trust(new)
            found = self._list(server)
        after = read_settings(self.config).content
        if new and after is not None:
            record = Record(
                path=str(self.config),
                agent="codex",
                scope=TRUST,
                root="",
                written=compute_digest(after),
                existed=known.existed if known else before.content is not None,
                mode=known.mode if known else before.mode,
            )
            old = records.read_before(self.config) if known else before.content
            records.save(record, old)
        return found

    def _list(self, server: CodexServer) -> list[CodexHook]:
        mine = os.path.realpath(self.hooks_file)
        found = server.list_hooks(self.folder)
        return [
            one for one in found if is_line(one.command) and os.path.realpath(one.source) == mine
        ]


def find_program(env: Mapping[str, str] | None = None) -> str | None:
    """The Codex that is installed."""
    return shutil.which("codex", path=None if env is None else env.get("PATH"))


def find_config(env: Mapping[str, str] | None = None) -> Path:
    """Where Codex keeps what it trusts, also for the hooks of projects."""
    return PLACES["codex"].find_home(os.environ if env is None else env) / "config.toml"


def build_key(hooks_file: Path, event: str, position: tuple[int, int]) -> str:
    """What Codex calls a hook."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()
    return f"{hooks_file}:{name}:{position[0]}:{position[1]}"


def normalize_key(key: str) -> str:
    """The same for every way to the file: Codex may have come to it through other links."""
    file, *position = key.rsplit(":", 3)
    return ":".join([os.path.realpath(file), *position])


def remove_trust(keys: list[str], records: Records, env: Mapping[str, str] | None = None) -> bool:
    """Take out what Codex has written down about these hooks; whether there was something.

    SettingsError if the file cannot be read; it is as it was then.
    """
    path = find_config(env)
    file, record = read_settings(path), records.find(path)
    wanted, states = set(map(normalize_key, keys)), list_state_keys(file.text)
    mine = [key for key in states if normalize_key(key) in wanted]
    if not mine:
        _check_readable(file)
        return False
    known = records.read_before(path)
    is_all = set(mine) == set(states)
    content = _build_without(file, record, known, mine, is_all=is_all)
    if record is not None and not record.existed and not content.strip():
        delete_settings(file)
    else:
        write_settings(file, content, file.mode)
    if record is not None and not is_all:  # the others are perhaps ours, of a project
        records.save(replace(record, written=compute_digest(content)), known)
    else:
        records.forget(path)
    return True


def _build_without(
    file: SettingsFile, record: Record | None, known: bytes | None, mine: list[str], *, is_all: bool
) -> bytes:
    """The content without these hooks: what it was before, if nobody has changed it since."""
    is_untouched = record is not None and record.written == compute_digest(file.content or b"")
    if is_untouched and is_all:
        return known or b""
    keeps = known is not None and re.search(rb"(?m)^\s*\[hooks\.state\]", known) is not None
    return file.encode(remove_states(file.text, mine, keep_section=keeps))


def _check_readable(file: SettingsFile) -> None:
    try:
        tomllib.loads(file.text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"{file.path} cannot be read ({error}), so what it says about our hooks in "
            "[hooks.state] stays there"
        ) from error
