"""Look for a pattern in the files below a place.

With RE2 the time grows with the text and no faster, so it runs in a thread. The standard library's
engine can take for ever and holds the interpreter meanwhile, so it runs in a process of its own
(`main`), which can be ended.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.roots import Place, format_path, open_file
from amplifier_hooks.agent.tools.search.finder import Engine, Span, make_finder
from amplifier_hooks.agent.tools.search.walk import Entry, Walk
from amplifier_hooks.guards.policy.paths import match_glob
from amplifier_hooks.guards.policy.places import Places

Mode = Literal["files_with_matches", "content", "count"]

GRACE = 10
"""Seconds of work that a scan in a process of its own has beyond its limit."""

_SNIFF = 8192
_LONGEST_LINE = 500


class Request(BaseModel):
    """What to look for, how to tell it, and when to stop."""

    pattern: str
    ignore_case: bool = False
    multiline: bool = False
    glob: str | None = None
    mode: Mode = "files_with_matches"
    numbers: bool = True
    before: int = 0
    after: int = 0
    max_results: int
    max_bytes: int
    max_files: int
    seconds: float
    skip: list[str]
    engine: Engine


class Report(BaseModel):
    """Lines of the answer, files that were shown with their sizes, and what was left out."""

    lines: list[str] = []
    shown: list[tuple[str, int]] = []
    notes: list[str] = []


def scan(place: Place, request: Request, stop: threading.Event | None = None) -> Report:
    """Go through the files until the limits are reached."""
    return _Scan(place, request).run(stop or threading.Event())


def require_glob(pattern: str) -> None:
    """Refuse a pattern of file names that cannot be read."""
    try:
        match_glob(Path("/"), [pattern])
    except ValueError as wrong:
        raise Refused(str(wrong)) from wrong


class _Scan:
    """One pass over the files, and the report that grows meanwhile."""

    def __init__(self, place: Place, request: Request) -> None:
        self.place = place
        self.request = request
        self.report = Report()
        self.too_large = 0
        self.find = make_finder(
            request.pattern,
            request.engine,
            ignore_case=request.ignore_case,
            multiline=request.multiline,
        )
        require_glob(request.glob or "*")

    def run(self, stop: threading.Event) -> Report:
        request = self.request
        walk = Walk(self.place, request.skip, request.max_files, request.seconds, stop)
        for entry in walk:
            if self._is_wanted(entry) and not self._look_into(entry):
                self.report.notes.append(f"only the first {request.max_results} results are shown")
                break
        if walk.unfinished:
            self.report.notes.append(walk.unfinished)
        if self.too_large:
            size = f"{request.max_bytes:,} bytes"
            self.report.notes.append(f"{self.too_large} files over {size} were left out")
        return self.report

    def _is_wanted(self, entry: Entry) -> bool:
        glob = self.request.glob
        if not glob:
            return True
        return match_glob(Path("/", entry.path or entry.name), [glob]) is not None

    def _look_into(self, entry: Entry) -> bool:
        """Add what one file holds; False when the answer is full."""
        data = _load(entry, self.request.max_bytes, self.place)
        if data is None:
            self.too_large += 1
        spans = list(self.find(data)) if data else []
        return self._add(self.place.path / entry.path, data or b"", spans) if spans else True

    def _add(self, path: Path, data: bytes, spans: Sequence[Span]) -> bool:
        room = self.request.max_results - len(self.report.lines)
        lines = _format_file(path, data, spans, self.request)
        self.report.lines += lines[:room]
        if room > 0 and self.request.mode == "content":
            self.report.shown.append((format_path(path), len(data)))
        return len(lines) <= room


def _load(entry: Entry, limit: int, place: Place) -> bytes | None:
    """The content of a text file; nothing of any other; None when it is too large."""
    try:
        descriptor = open_file(entry.name, entry.parent, entry.path, place)
    except (OSError, Refused):  # no permission, gone, a link, a pipe, hidden
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if os.fstat(descriptor).st_size > limit:
            return None
        data = file.read(limit)
    return b"" if b"\0" in data[:_SNIFF] else data


def _format_file(path: Path, data: bytes, spans: Sequence[Span], request: Request) -> list[str]:
    if request.mode == "files_with_matches":
        return [format_path(path)]
    if request.mode == "count":
        return [f"{format_path(path)}:{len(spans)}"]
    lines = data.removesuffix(b"\n").split(b"\n")
    hits = {number for first, last in spans for number in range(first, last + 1)}
    around = {
        number
        for hit in hits
        for number in range(max(hit - request.before, 0), hit + request.after + 1)
        if number < len(lines)
    }
    return [_format_line(path, n, lines[n], n in hits, request.numbers) for n in sorted(around)]


def _format_line(path: Path, number: int, line: bytes, hit: bool, numbers: bool) -> str:
    mark = ":" if hit else "-"
    text = line.decode(errors="replace").rstrip("\r")
    text = text if len(text) <= _LONGEST_LINE else text[:_LONGEST_LINE] + "…"
    place = f"{format_path(path)}{mark}{number + 1}" if numbers else format_path(path)
    return f"{place}{mark}{text}"


def main() -> None:
    """One scan for a parent process: a job on stdin, the report or the refusal on stdout."""
    job: dict[str, Any] = json.load(sys.stdin)
    places = Places(tuple(map(Path, job.get("hidden", ()))), ())
    guarded = places.identify(writing=False)
    place = Place(job["asked"], Path(job["root"]), tuple(job["parts"]), places, guarded)
    request = Request.model_validate(job["request"])
    _limit_processor_time(request.seconds)
    try:
        answer = scan(place, request).model_dump_json()
    except Refused as refusal:
        answer = json.dumps({"refused": str(refusal)})
    sys.stdout.write(answer)


def _limit_processor_time(seconds: float) -> None:
    """A parent that was killed cannot end this process, and a hostile pattern never would."""
    limit = int(seconds) + GRACE
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
