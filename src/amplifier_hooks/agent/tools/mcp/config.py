"""The options of tool-mcp: which servers, how they are reached, and what is used of them."""

from __future__ import annotations

import shlex
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveFloat, model_validator

from amplifier_hooks.guards.mcp.definitions import NewTools
from amplifier_hooks.guards.mcp.protocol import check_server_name

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
