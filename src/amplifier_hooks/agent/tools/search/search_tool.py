"""What the tools for searching have in common: roots, limits, work in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from typing import Literal, TypeVar

from pydantic import BaseModel, PositiveFloat, PositiveInt

from amplifier_core.interfaces import Host
from amplifier_hooks.agent.tools.base import InputT, InputTool
from amplifier_hooks.agent.tools.roots import Place, Roots

T = TypeVar("T")

SKIPPED = (".git", ".hg", ".svn", ".amplifier", ".venv", "node_modules", "__pycache__")


class SearchConfig(BaseModel):
    """Options of tool-search."""

    roots: list[str] | None = None
    working_dir: str | None = None
    tools: list[str] | None = None
    skip: list[str] = list(SKIPPED)
    engine: Literal["auto", "re2", "re"] = "auto"
    max_results: PositiveInt = 250
    max_files: PositiveInt = 100_000
    max_bytes: PositiveInt = 10_000_000
    seconds: PositiveFloat = 20.0


class SearchTool(InputTool[InputT]):
    """A tool that goes through the files below a place."""

    def __init__(self, host: Host, config: SearchConfig) -> None:
        self._host = host
        self._config = config

    def _locate(self, path: str) -> Place:
        config = self._config
        return Roots.from_host(self._host, config.roots, config.working_dir).locate(path)


async def run_in_thread(work: Callable[[threading.Event], T]) -> T:
    """Off the loop; a cancelled call tells the thread to stop."""
    stop = threading.Event()
    try:
        return await asyncio.to_thread(work, stop)
    finally:
        stop.set()


def format_answer(lines: Iterable[str], notes: Iterable[str]) -> str:
    """The lines that were found, and below them what was left out."""
    return "\n".join([*lines, *(f"({note})" for note in notes)])
