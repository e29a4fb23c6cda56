"""Speaking with `codex app-server`: the only way to learn which hooks Codex would run."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any

from amplifier_core.errors import AmplifierError

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
