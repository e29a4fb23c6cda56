"""How a server is started: its program, found beforehand, with nothing inherited by accident."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.agent.tools.mcp.config import Config, ServerConfig
from amplifier_hooks.guards.mcp.protocol import identify_address
from amplifier_hooks.machine.files import Snapshot, digest_files, normalize
from amplifier_hooks.machine.programs import list_binding_words

_INHERITED = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER")
"""What nearly every program needs, and no secret stands in."""

_CODE = frozenset(
    {".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".sh", ".rb", ".pl", ".php", ".lua",
     ".jar", ".wasm", ".exs"}
)  # fmt: skip
_SECRET = re.compile(r"key|token|secret|passw|credential", re.IGNORECASE)
_SHORTEST = 6


@dataclass(frozen=True, slots=True)
class Launch:
    """A process that is ready to be started."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path


def prepare_launch(server: ServerConfig, env: Mapping[str, str], cwd: Path) -> Launch:
    """The process of a server; ModuleLoadError if there is no such program or folder."""
    input = {name: os.environ[name] for name in _INHERITED if name in os.environ} | dict(env)
    if not cwd.is_dir():
        raise ModuleLoadError(f"its folder {cwd} does not exist")
    program = _find_program(server.command or "", input.get("PATH"), cwd)
    words = [*list_binding_words(input.get("PATH")), program, *server.args]
    return Launch(words[0], tuple(words[1:]), input, cwd)


def _find_program(command: str, path: str | None, cwd: Path) -> str:
    wanted = str(cwd / Path(command).expanduser()) if "/" in command else command
    found = shutil.which(wanted, path=path)
    if found is None:
        where = "" if "/" in command else " in PATH"
        raise ModuleLoadError(f"there is no program {command!r}{where} that can be started")
    return found


def identify_server(server: ServerConfig, cwd: Path) -> list[str]:
    """What a server is to those who allow its tools: its command, or its address.

    The folder is a part of it if the command has a file in it.
    """
    if server.url is not None:
        return [identify_address(server.url)]
    words = [_name_secrets(one) for one in (server.command or "", *server.args)]
    return [*words, *([str(cwd)] if list_files(server, cwd) else [])]


def _name_secrets(word: str) -> str:
    """A word of a command with the names of variables where their secrets are."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST and value in word and _SECRET.search(name):
            word = word.replace(value, f"${{{name}}}")
    return word


def check_files(server: ServerConfig, cwd: Path, trusted: Mapping[Path, bytes]) -> None:
    """ModuleLoadError if a file that the command names is not as a person trusted it.

    An agent that can change the file must not have it run outside of its sandbox.
    """
    for path in list_files(server, cwd):
        known = trusted.get(normalize(path))
        if known is not None and path.read_bytes() != known:
            raise ModuleLoadError(f"its file {path} has changed since it was trusted; reload it")


def digest_own_files(server: ServerConfig, cwd: Path) -> str:
    """Of the files that a command names: another content is another server."""
    return digest_files((str(path), path.read_bytes()) for path in list_files(server, cwd))


def list_files(server: ServerConfig, cwd: Path) -> list[Path]:
    """The files below a folder that a server's command names and that are run, by their names.

    Others are data, such as a database, and change all the time.
    """
    words = [server.command or "", *server.args] if server.command else []
    found = [cwd / one for one in words if one]
    own = [path for path in found if normalize(path).is_relative_to(normalize(cwd))]
    return [path for path in own if path.is_file() and _is_code(path)]


def _is_code(path: Path) -> bool:
    return path.suffix.lower() in _CODE or os.access(path, os.X_OK)


def read_entry_files(config: Mapping[str, Any], folder: Path, snapshot: Snapshot) -> Iterator[Path]:
    """Read the files that the servers of an entry with these options run into a snapshot."""
    for server in Config.model_validate(config).servers.values():
        for path in list_files(server, folder / Path(server.cwd or "").expanduser()):
            snapshot.read(path)
            yield path


def list_entry_commands(config: Mapping[str, Any], folder: Path, snapshot: Snapshot) -> list[str]:
    """The servers that an entry with these options starts or calls."""
    return [one.describe() for one in Config.model_validate(config).servers.values()]
