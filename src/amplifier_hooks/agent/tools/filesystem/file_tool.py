"""What the tools for files have in common: roots, limits, and one event after the work."""

from __future__ import annotations

from pydantic import BaseModel, PositiveInt

from amplifier_core.events import ARTIFACT_READ, ARTIFACT_WRITE
from amplifier_core.events.payloads import ArtifactReadData, ArtifactWriteData
from amplifier_core.interfaces import Host
from amplifier_hooks.agent.tools.base import InputT, InputTool, announce
from amplifier_hooks.agent.tools.roots import Place, Roots, refuse_protected


class FilesystemConfig(BaseModel):
    """Options of tool-filesystem."""

    roots: list[str] | None = None
    allowed_write_paths: list[str] | None = None
    working_dir: str | None = None
    tools: list[str] | None = None
    protected: list[str] = [".amplifier/"]
    max_bytes: PositiveInt = 10_000_000
    max_lines: PositiveInt = 2_000
    max_line_length: PositiveInt = 2_000
    max_output: PositiveInt = 200_000


class FileTool(InputTool[InputT]):
    """A tool that reads or writes one file inside the roots."""

    def __init__(self, host: Host, config: FilesystemConfig) -> None:
        self._host = host
        self._config = config

    def _locate(self, file_path: str) -> Place:
        return self._read_roots(self._config.roots).locate(file_path)

    def _read_roots(self, configured: list[str] | None) -> Roots:
        return Roots.from_host(self._host, configured, self._config.working_dir)

    def _locate_for_writing(self, file_path: str) -> Place:
        allowed = self._config.allowed_write_paths
        roots = self._read_roots(self._config.roots if allowed is None else allowed)
        place = roots.locate(file_path, writing=True)
        refuse_protected(place, self._config.protected)
        return place

    async def _announce_read(self, place: Place, size: int) -> None:
        data = ArtifactReadData(path=str(place.path), bytes=size)
        await announce(self._host, ARTIFACT_READ, data)

    async def _announce_write(self, place: Place, size: int) -> None:
        data = ArtifactWriteData(path=str(place.path), bytes=size)
        await announce(self._host, ARTIFACT_WRITE, data)

    def _number(self, line: str, number: int) -> str:
        """A line with its number, cut where it is too long."""
        limit = self._config.max_line_length
        if len(line) > limit:
            line = f"{line[:limit]}… ({len(line) - limit} more characters)"
        return f"{number:>6}\t{line}"
