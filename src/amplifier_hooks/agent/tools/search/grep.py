"""Grep: text in files, by a regular expression."""

from __future__ import annotations

import importlib.util
import json
import sys
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.events import ARTIFACT_READ
from amplifier_core.events.payloads import ArtifactReadData
from amplifier_core.models import ToolResult
from amplifier_hooks.agent.tools.base import Refused, announce
from amplifier_hooks.agent.tools.roots import Place
from amplifier_hooks.agent.tools.search.finder import Engine
from amplifier_hooks.agent.tools.search.scan import Mode, Report, Request, scan
from amplifier_hooks.agent.tools.search.search_tool import SearchTool, format_answer, run_in_thread
from amplifier_hooks.guards.policy.walls import build_wall
from amplifier_hooks.sandbox.process import run_command
from amplifier_hooks.sandbox.wall import Wall

START_UP = 5.0  # seconds that a new interpreter may take on a busy machine
_REPORT_LIMIT = 50_000_000
_CHILD = "from amplifier_hooks.agent.tools.search.scan import main; main()"


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
