"""The servers of a bundle: what its entries say of them, and how they are started."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveFloat, model_validator

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.mcp.definitions import NewTools
from amplifier_hooks.guards.mcp.protocol import check_server_name, identify_address
from amplifier_hooks.guards.policy.secrets import TOKENS, Redactor
from amplifier_hooks.guards.policy.secrets.stream import LiteralScrubber
from amplifier_hooks.machine.files import Snapshot, digest_files, normalize
from amplifier_hooks.machine.programs import list_binding_words

NAME = "tool-mcp"


class Restart(BaseModel):
    """How often a server that ended is started again, and after how many seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attempts: NonNegativeInt = 5
    delay: PositiveFloat = 1.0
    max_delay: PositiveFloat = 30.0

    def get_delay(self, failures: int) -> float:
        """Before the next start, after so many failures in a row; twice as long each time."""
        return float(min(self.delay * 2 ** min(failures - 1, 20), self.max_delay))


class ServerConfig(BaseModel):
    """One server. Times are seconds; `env` and `headers` have texts, or say where those are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: str | None = Field(None, min_length=1)
    args: list[str] = Field(default_factory=list)
    # Checked by `read_value`: an error of pydantic's would show what is wrong with a secret.
    env: dict[str, Any] = Field(default_factory=dict)
    cwd: str | None = None
    url: str | None = Field(None, min_length=1)
    headers: dict[str, Any] = Field(default_factory=dict)
    tools: list[str] | None = None
    exclude: list[str] = Field(default_factory=list)
    new_tools: NewTools = "allow"
    timeout: PositiveFloat = 120.0
    start_timeout: PositiveFloat = 30.0
    required: bool = False
    restart: Restart = Field(default_factory=Restart)

    @model_validator(mode="after")
    def _check_way(self) -> ServerConfig:
        if (self.command is None) == (self.url is None):
            raise ValueError("a server has either `command` or `url`")
        if self.url is None and self.headers:
            raise ValueError("`headers` are for a server with `url`")
        if self.command is None and (self.args or self.env or self.cwd):
            raise ValueError("`args`, `env` and `cwd` are for a server with `command`")
        if self.url is not None and urlsplit(self.url).scheme not in ("http", "https"):
            raise ValueError("`url` has to begin with http:// or https://")
        return self

    def describe(self) -> str:
        """What is started or connected to, for people: without passwords, variables and headers."""
        if self.url is None:
            return shlex.join([self.command or "", *self.args])
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=""))

    def wants(self, tool: str) -> bool:
        """Whether a tool of the server is used; `tools` and `exclude` are patterns."""
        wanted = self.tools is None or any(fnmatchcase(tool, one) for one in self.tools)
        return wanted and not any(fnmatchcase(tool, one) for one in self.exclude)

    def list_unmet(self, found: list[str]) -> list[str]:
        """The patterns of `tools` that no tool fits: most likely misspelt."""
        wanted = self.tools or ()
        return [one for one in wanted if not any(fnmatchcase(tool, one) for tool in found)]


class Config(BaseModel):
    """The options of tool-mcp."""

    servers: dict[str, ServerConfig] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_names(self) -> Config:
        for name in self.servers:
            check_server_name(name)
        return self


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


_KEYS = frozenset({"env", "file", "prefix"})
_TELLING = re.compile(
    r"key|token|secret|passw|credential|authorization|cookie|\bauth\b", re.IGNORECASE
)
"""Characters of a value that is hidden: to hide shorter ones would spoil every text."""
_LARGEST = 64 * 1024


class Secrets:
    """What one server was given by reference; it appears in no text that leaves this module."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._scrub = LiteralScrubber(())

    def resolve(self, input: Mapping[str, Any], owner: str, base: Path) -> dict[str, str]:
        """The values by their names; ModuleLoadError for one that is not there."""
        return {name: self._read(value, f"{owner}.{name}", base) for name, value in input.items()}

    def _read(self, value: Any, place: str, base: Path) -> str:
        if not isinstance(value, Mapping):
            return write_plain(value)
        found = _read_reference(value, place, base)
        self._add(found)
        return f"{value.get('prefix') or ''}{found}"

    def add_literals(self, input: Mapping[str, Any]) -> list[str]:
        """Hide what looks like a secret and stands in the bundle; returns the names of it."""
        names = list(find_literals(input))
        for name in names:
            for word in str(input[name]).split():  # `Bearer` is none
                self._add(word if len(word) > _SHORTEST else "")
        return names

    def _add(self, value: str) -> None:
        if len(value) >= _SHORTEST and value not in self._values:
            self._values.add(value)
            self._scrub = LiteralScrubber(self._values)

    def hide(self, text: str) -> str:
        """The text without these values."""
        return self._scrub(text)


def write_plain(value: Any) -> str:
    """A value of the bundle, as a program gets it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_values(input: Mapping[str, Any], owner: str) -> None:
    """ModuleLoadError if a value is neither a text nor says where it is; no value is shown."""
    for name, value in input.items():
        if isinstance(value, str | int | float):
            continue
        place = f"{owner}.{name}"
        if not isinstance(value, Mapping):
            raise ModuleLoadError(f"option '{place}' is a text, or {{env: NAME}} or {{file: PATH}}")
        if unknown := sorted(map(str, value.keys() - _KEYS)):
            raise ModuleLoadError(
                f"option '{place}' has {', '.join(unknown)}; it may have env or file, and prefix"
            )
        if ("env" in value) == ("file" in value):
            raise ModuleLoadError(f"option '{place}' needs either env or file")
        if not all(isinstance(one, str) for one in value.values()):
            raise ModuleLoadError(f"option '{place}' has something else than texts")


def find_literals(input: Mapping[str, Any]) -> Iterator[str]:
    """The names of values that look like secrets and stand in the bundle itself."""
    known = [one for one in os.environ.values() if len(one) >= _SHORTEST]
    for name, value in input.items():
        if not isinstance(value, str) or len(value) < _SHORTEST:
            continue
        # What a variable of the bundle, ${NAME}, was replaced by is no literal.
        if any(one in value for one in known):
            continue
        if _TELLING.search(name) or _has_shape(value):
            yield name


def _has_shape(value: str) -> bool:
    return bool(_make_redactor().find_tokens(value))


@cache
def _make_redactor() -> Redactor:
    return Redactor(TOKENS, "tool-mcp", "")


def _read_reference(value: Mapping[str, Any], place: str, base: Path) -> str:
    if "env" in value:
        found = os.environ.get(str(value["env"]))
        if not found:
            raise ModuleLoadError(
                f"option '{place}' names the environment variable {value['env']!r}, "
                "which is not set"
            )
        return found
    path = base / Path(str(value["file"])).expanduser()
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(_LARGEST).strip()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise ModuleLoadError(f"option '{place}' names the file {path}: {why}") from error
