"""tool-search: find files by path (Glob) and text in files (Grep).

Emits       artifact:read for each file of which Grep shows text
Configure   roots, working_dir, tools, skip, engine, max_results, max_files, max_bytes, seconds
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt

from amplifier_core.events import ARTIFACT_READ
from amplifier_core.interfaces import Cleanup, Host, Tool
from amplifier_core.models import ToolResult
from amplifier_core.payloads import ArtifactReadData
from amplifier_hooks.agent.tools.base import InputT, InputTool, Refused, announce, mount_tools
from amplifier_hooks.agent.tools.roots import Place, Roots, format_path
from amplifier_hooks.agent.tools.search_walk import (
    Engine,
    Entry,
    Mode,
    Report,
    Request,
    Walk,
    require_glob,
    scan,
)
from amplifier_hooks.guards.policy.paths import match_glob
from amplifier_hooks.guards.policy.walls import build_wall
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.sandbox.process import run_command
from amplifier_hooks.sandbox.wall import Wall

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


_WILDCARDS = frozenset("*?[{")


class GlobInput(BaseModel):
    """What Glob is told."""

    pattern: str = Field(description="Such as `**/*.py`, `src/*.{ts,tsx}` or `docs/**`")
    path: str = Field(".", description="Directory to search; the working directory by default")


class Glob(SearchTool[GlobInput]):
    """Finds files by name."""

    name = "Glob"
    description = (
        "Find files by the pattern of their path: `*` and `?` stay within a name, `**` spans "
        "directories, `{a,b}` and `[abc]` work as in a shell, letter case makes no difference. The "
        "paths come one per line, the file changed last first. `*.py` finds only files in the "
        "directory itself, `**/*.py` also those below."
    )
    input_model: ClassVar[type[BaseModel]] = GlobInput

    async def run(self, given: GlobInput) -> ToolResult:
        """Find the files in a thread; the newest come first."""
        pattern, path = split_pattern(given.pattern, given.path)
        require_glob(pattern)
        place = self._locate(path)
        found, notes = await run_in_thread(lambda stop: self._find(place, pattern, stop))
        if not found:
            hint = "" if "**" in pattern else f"; `**/{pattern}` also looks further down"
            sentence = f"No file matches {pattern!r} in {path!r}{hint}"
            return ToolResult(output=format_answer([sentence], notes))
        shown = found[: self._config.max_results]
        if len(found) > len(shown):
            notes.append(f"{len(found)} files match, the {len(shown)} changed last are shown")
        return ToolResult(output=format_answer(shown, notes))

    def _find(
        self, place: Place, pattern: str, stop: threading.Event
    ) -> tuple[list[str], list[str]]:
        """The paths, and what to say about them."""
        walk = Walk(place, self._config.skip, self._config.max_files, self._config.seconds, stop)
        found = [
            (-_get_time_of_change(entry), format_path(place.path / entry.path))
            for entry in walk
            if match_glob(Path("/", entry.path), ["/" + pattern])
        ]
        return [path for _, path in sorted(found)], [walk.unfinished] if walk.unfinished else []


def split_pattern(pattern: str, path: str) -> tuple[str, str]:
    """An absolute pattern names its own directory: the part before the first wildcard."""
    if not pattern.strip() or "\0" in pattern:
        raise Refused(f"The pattern {pattern!r} names no file; use `**` for all files")
    parts = PurePosixPath(pattern).parts
    if ".." in parts:
        raise Refused(f"The pattern {pattern!r} has a `..`; give the directory as `path` instead")
    if not pattern.startswith("/"):
        return pattern, path
    plain = next((n for n, part in enumerate(parts) if _WILDCARDS & set(part)), len(parts) - 1)
    return str(PurePosixPath(*parts[plain:])), str(PurePosixPath(*parts[:plain]))


def _get_time_of_change(entry: Entry) -> int:
    try:
        return os.stat(entry.name, dir_fd=entry.parent, follow_symlinks=False).st_mtime_ns
    except OSError:  # gone meanwhile
        return 0


START_UP = 5.0  # seconds that a new interpreter may take on a busy machine
_REPORT_LIMIT = 50_000_000
_CHILD = "from amplifier_hooks.agent.tools.search_walk import main; main()"


class GrepInput(BaseModel):
    """What Grep is told."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    pattern: str = Field(description="Regular expression (RE2: no look-around, no back-references)")
    path: str = Field(".", description="File or directory; the working directory by default")
    glob: str | None = Field(None, description="Only files of this name, such as `*.py`")
    output_mode: Mode = Field(
        "files_with_matches",
        description="`content` shows the lines, `count` how many match, else only the file names",
    )
    ignore_case: bool = Field(False, alias="-i", description="Upper and lower case are the same")
    numbers: bool = Field(True, alias="-n", description="Show line numbers (for `content`)")
    after: int = Field(0, alias="-A", ge=0, le=100, description="Lines to show after each match")
    before: int = Field(0, alias="-B", ge=0, le=100, description="Lines to show before each match")
    around: int = Field(0, alias="-C", ge=0, le=100, description="Lines to show on both sides")
    multiline: bool = Field(False, description="A match may span lines, and `.` matches line ends")
    head_limit: int | None = Field(None, ge=1, description="Show at most so many results")


class Grep(SearchTool[GrepInput]):
    """Finds text in files."""

    name = "Grep"
    description = (
        "Find text in files by a regular expression, line by line. By default it names the files; "
        'with output_mode "content" it shows the lines as path:line:text, with "count" how many '
        "lines match in each file. `glob` limits the files, `-i` ignores case, `-A`, `-B` and `-C` "
        "show lines around. Binary files, links and directories such as .git are left out."
    )
    input_model: ClassVar[type[BaseModel]] = GrepInput

    async def run(self, given: GrepInput) -> ToolResult:
        """Scan the files and announce those of which text is shown."""
        place = self._locate(given.path)
        report = await self._scan(place, self._build_request(given))
        for path, size in report.shown:
            await announce(self._host, ARTIFACT_READ, ArtifactReadData(path=path, bytes=size))
        lines = report.lines or [f"No match for {given.pattern!r} in {given.path!r}"]
        return ToolResult(output=format_answer(lines, report.notes))

    def _build_request(self, given: GrepInput) -> Request:
        config = self._config
        return Request(
            pattern=given.pattern,
            ignore_case=given.ignore_case,
            multiline=given.multiline,
            glob=given.glob,
            mode=given.output_mode,
            numbers=given.numbers,
            before=given.before or given.around,
            after=given.after or given.around,
            max_results=min(given.head_limit or config.max_results, config.max_results),
            max_bytes=config.max_bytes,
            max_files=config.max_files,
            seconds=config.seconds,
            skip=config.skip,
            engine=_choose_engine(config.engine),
        )

    async def _scan(self, place: Place, request: Request) -> Report:
        if request.engine == "re2":
            return await run_in_thread(lambda stop: scan(place, request, stop))
        return await _scan_apart(place, request, build_wall(self._host))


async def _scan_apart(place: Place, request: Request, wall: Wall | None) -> Report:
    """In a process that can be ended when a pattern takes for ever."""
    job = {
        "asked": place.asked,
        "root": str(place.root),
        "parts": place.parts,
        "hidden": [str(path) for path in place.places.hidden],
        "request": request.model_dump(),
    }
    outcome = await run_command(
        # -P: a json.py that an agent wrote beside us is no module of ours.
        [sys.executable, "-P", "-c", _CHILD],
        stdin=json.dumps(job),
        timeout=request.seconds + START_UP,
        output_limit=_REPORT_LIMIT,
        wall=wall,
        contained=True,
    )
    if outcome.timed_out:
        raise Refused(
            f"The pattern {request.pattern!r} took longer than {request.seconds:g} seconds; "
            "simplify it, or install google-re2"
        )
    if outcome.returncode != 0:
        raise Refused(f"The search failed: {outcome.stderr.strip()[-500:]}")
    answer = json.loads(outcome.stdout)
    if "refused" in answer:
        raise Refused(answer["refused"])
    return Report.model_validate(answer)


def _choose_engine(configured: Literal["auto", "re2", "re"]) -> Engine:
    if configured != "auto":
        return configured
    return "re2" if importlib.util.find_spec("re2") is not None else "re"


NAME = "tool-search"


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Mount Glob and Grep, or the one that `tools` names."""
    options = await parse_known(coordinator, SearchConfig, config, NAME)
    tools: list[Tool] = [Glob(coordinator, options), Grep(coordinator, options)]
    return await mount_tools(coordinator, tools, options.tools, NAME)
