"""Codex runs a hook only if somebody has trusted it; without a word it skips all others."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import subprocess
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any

from amplifier_core.errors import AmplifierError
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

# A line that begins a table or a list of tables, with what may stand behind it.
_HEADER = re.compile(r"^[ \t]*\[\[?[^\n]*\]\]?[ \t]*(?:#[^\n]*)?$", re.MULTILINE)


def list_state_keys(text: str) -> list[str]:
    """The hooks about which Codex has written something down; none if the file is broken."""
    return list(_get_state(text))


def remove_states(text: str, keys: Collection[str], *, keep_section: bool) -> str:
    """The text without the tables of these hooks; as it is, if that cannot be done safely.

    The empty section around them goes as well, unless it was there before.
    """
    wanted = {key: value for key, value in _get_state(text).items() if key not in keys}
    changed = text
    for key in keys:
        changed = _remove_table(changed, ("hooks", "state", key))
    if not wanted and not keep_section:
        changed = _remove_table(changed, ("hooks", "state"))
    return changed if _is_same_but(text, changed, wanted) else text


def _get_state(text: str) -> dict[str, Any]:
    try:
        state = tomllib.loads(text).get("hooks", {}).get("state", {})
    except (tomllib.TOMLDecodeError, AttributeError):
        return {}
    return state if isinstance(state, dict) else {}


def _remove_table(text: str, path: tuple[str, ...]) -> str:
    """Take out the table with this name, from its header to the next one."""
    headers = list(_HEADER.finditer(text))
    for number, header in reversed(list(enumerate(headers))):
        if _read_header(header.group()) != path:
            continue
        is_last = number == len(headers) - 1
        end = len(text) if is_last else headers[number + 1].start()
        before = text[: header.start()]
        if is_last and before.endswith("\n\n"):
            before = before[:-1]  # the empty line that stood before it
        return before + text[end:]
    return text


def _read_header(line: str) -> tuple[str, ...] | None:
    """The names in a header, as TOML reads them; None if this is not one."""
    try:
        value: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None
    names = []
    while isinstance(value, dict) and len(value) == 1:
        name, value = next(iter(value.items()))
        names.append(name)
    return tuple(names)


def _is_same_but(old: str, new: str, state: dict[str, Any]) -> bool:
    """Whether TOML reads the same in both, apart from what is known about hooks."""
    try:
        before = tomllib.loads(old)
        after = tomllib.loads(new)
    except tomllib.TOMLDecodeError:
        return False
    found = after.get("hooks", {}).get("state", {})
    for one in (before, after):
        hooks = one.get("hooks")
        if isinstance(hooks, dict):
            hooks.pop("state", None)
            if not hooks:
                one.pop("hooks")
    return bool(found == state and before == after)


_SECONDS = 30.0
_ME = {"name": "amplifier", "title": "Amplifier", "version": "1"}


class CodexError(AmplifierError):
    """Codex did not say, or do, what it was asked for."""


@dataclass(frozen=True, slots=True)
class CodexHook:
    """One hook as Codex sees it."""

    key: str
    """The file, the event, and the position in it."""
    command: str
    digest: str
    trust: str
    """trusted, untrusted or modified."""
    enabled: bool
    source: Path


class CodexServer:
    """A server that runs within a `with` block, and is asked one thing after the other."""

    def __init__(
        self, program: str, env: Mapping[str, str] | None = None, seconds: float = _SECONDS
    ) -> None:
        self._program = program
        self._env = None if env is None else dict(env)
        self._end = monotonic() + seconds
        self._number = 0
        self._pending = b""

    def __enter__(self) -> CodexServer:
        try:
            self._process = subprocess.Popen(
                [self._program, "app-server"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._env,
                start_new_session=True,
            )
        except OSError as error:
            why = error.strerror or str(error)
            raise CodexError(f"{self._program} cannot be started: {why}") from error
        try:
            self._ask("initialize", {"clientInfo": _ME})
            self._send({"method": "initialized"})
        except BaseException:
            self._stop(failed=True)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop(failed=error is not None)

    def list_hooks(self, folder: Path) -> list[CodexHook]:
        """Every hook that Codex has found for sessions in a folder."""
        answer = self._ask("hooks/list", {"cwds": [str(folder)]})
        try:
            (place,) = answer["data"]
            found = [_read(one) for one in place["hooks"]]
            wrong = [one["message"] for one in place["errors"]] or place["warnings"]
        except (KeyError, TypeError, ValueError) as error:
            raise CodexError(f"{self._program} lists hooks in a way that is new to us") from error
        if wrong and not found:
            raise CodexError(f"Codex runs no hook: {wrong[0]}")
        return found

    def trust(self, hooks: list[CodexHook]) -> None:
        """Have Codex write down that these hooks, as they are now, may be run."""
        value = {one.key: {"trusted_hash": one.digest} for one in hooks}
        edit = {"keyPath": "hooks.state", "value": value, "mergeStrategy": "upsert"}
        self._ask("config/batchWrite", {"edits": [edit], "filePath": None, "expectedVersion": None})

    def _ask(self, method: str, params: Any) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") != self._number or "method" in message:
                continue
            if "error" in message:
                why = message["error"].get("message", message["error"])
                raise CodexError(f"{self._program} refuses {method}: {why}")
            return message.get("result")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise CodexError(f"{self._program} app-server has ended") from error

    def _receive(self) -> dict[str, Any]:
        """The next line that is an object."""
        while b"\n" not in self._pending:
            self._pending += self._read_more()
        line, _, self._pending = self._pending.partition(b"\n")
        try:
            message = json.loads(line)
        except ValueError:
            return {}
        return message if isinstance(message, dict) else {}

    def _read_more(self) -> bytes:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        left = self._end - monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            raise CodexError(f"{self._program} app-server does not answer")
        more = os.read(descriptor, 65536)
        if not more:
            raise CodexError(f"{self._program} app-server has ended without an answer")
        return more

    def _stop(self, *, failed: bool) -> None:
        """Close its input, which ends it; if that does not, or it has failed, by force."""
        with self._process as process:
            assert process.stdin is not None
            try:
                process.stdin.close()
                process.wait(0 if failed else 5)
            except (OSError, subprocess.TimeoutExpired):
                process.kill()


def _read(hook: Mapping[str, Any]) -> CodexHook:
    return CodexHook(
        key=hook["key"],
        command=hook.get("command") or "",
        digest=hook["currentHash"],
        trust=hook["trustStatus"],
        enabled=bool(hook.get("enabled", True)),
        source=Path(hook["sourcePath"]),
    )


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
    file = read_settings(path)
    record = records.find(path)
    wanted = set(map(normalize_key, keys))
    states = list_state_keys(file.text)
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
