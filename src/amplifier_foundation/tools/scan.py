"""Look for a pattern in the files below a place.

With RE2 the time grows with the text and no faster, so it runs in a thread. The standard library's
engine can take for ever and holds the interpreter meanwhile, so it runs in a process of its own
(`main`), which can be ended.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from amplifier_foundation.policy.paths import match_glob
from amplifier_foundation.tools.base import Refused
from amplifier_foundation.tools.roots import Place, open_file, shown
from amplifier_foundation.tools.walk import Entry, Walk

Mode = Literal["files_with_matches", "content", "count"]
Engine = Literal["re2", "re"]
Finder = Callable[[bytes], Iterator[tuple[int, int]]]

_SNIFF = 8192
_LONGEST_LINE = 500


GRACE = 10
"""Seconds of work that a scan in a process of its own has beyond its limit."""


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
    find = _finder(request)
    require_glob(request.glob or "*")
    walk = Walk(place, request.skip, request.max_files, request.seconds, stop or threading.Event())
    report = Report()
    too_large = 0
    for entry in walk:
        if request.glob and not match_glob(Path("/", entry.path or entry.name), [request.glob]):
            continue
        data = _load(entry, request.max_bytes)
        too_large += data is None
        if not _add(report, place.path / entry.path, data or b"", find, request):
            report.notes.append(f"only the first {request.max_results} results are shown")
            break
    report.notes += [walk.unfinished] if walk.unfinished else []
    if too_large:
        report.notes.append(f"{too_large} files over {request.max_bytes:,} bytes were left out")
    return report


def require_glob(pattern: str) -> None:
    try:
        match_glob(Path("/"), [pattern])
    except ValueError as wrong:
        raise Refused(str(wrong)) from wrong


def _load(entry: Entry, limit: int) -> bytes | None:
    """The content of a text file; nothing of any other; None when it is too large."""
    try:
        descriptor = open_file(entry.name, entry.parent, entry.path)
    except (OSError, Refused):  # no permission, gone, a link, a pipe
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if os.fstat(descriptor).st_size > limit:
            return None
        data = file.read(limit)
    return b"" if b"\0" in data[:_SNIFF] else data


def _add(report: Report, path: Path, data: bytes, find: Finder, request: Request) -> bool:
    """Add what one file holds; False when the answer is full."""
    spans = list(find(data)) if data else []
    if not spans:
        return True
    room = request.max_results - len(report.lines)
    told = _told(path, data, spans, request)
    report.lines += told[:room]
    if room > 0 and request.mode == "content":
        report.shown.append((shown(path), len(data)))
    return len(told) <= room


def _told(path: Path, data: bytes, spans: Sequence[tuple[int, int]], request: Request) -> list[str]:
    if request.mode == "files_with_matches":
        return [shown(path)]
    if request.mode == "count":
        return [f"{shown(path)}:{len(spans)}"]
    lines = data.removesuffix(b"\n").split(b"\n")
    hits = {number for first, last in spans for number in range(first, last + 1)}
    around = {
        number
        for hit in hits
        for number in range(max(hit - request.before, 0), hit + request.after + 1)
        if number < len(lines)
    }
    return [_line(path, n, lines[n], n in hits, request.numbers) for n in sorted(around)]


def _line(path: Path, number: int, line: bytes, hit: bool, numbers: bool) -> str:
    mark = ":" if hit else "-"
    text = line.decode(errors="replace").rstrip("\r")
    text = text if len(text) <= _LONGEST_LINE else text[:_LONGEST_LINE] + "…"
    place = f"{shown(path)}{mark}{number + 1}" if numbers else shown(path)
    return f"{place}{mark}{text}"


def _finder(request: Request) -> Finder:
    search = _re2_search(request) if request.engine == "re2" else _re_search(request)
    if request.multiline:
        return lambda data: _spans(data, search)
    # One look at the whole file spares the look at each line, unless it may mean something else.
    sieve = not re.search(r"\\[AzZ]", request.pattern)
    return lambda data: _lines(data, search) if not sieve or _any(data, search) else iter(())


Search = Callable[[bytes, int], tuple[int, int] | None]


def _any(data: bytes, search: Search) -> bool:
    return search(data.replace(b"\r\n", b"\n"), 0) is not None


def _lines(data: bytes, search: Search) -> Iterator[tuple[int, int]]:
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n")):
        if search(line.removesuffix(b"\r"), 0) is not None:
            yield number, number


def _spans(data: bytes, search: Search) -> Iterator[tuple[int, int]]:
    """First and last line of each match, over line ends."""
    at = line = counted = 0
    while at <= len(data) and (found := search(data, at)) is not None:
        start, end = found
        line += data.count(b"\n", counted, start)
        yield line, line + data.count(b"\n", start, max(end - 1, start))
        counted, at = start, max(end, start + 1)


def _re2_search(request: Request) -> Search:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not request.ignore_case
    flags = "(?ms)" if request.multiline else "(?m)"
    try:
        compiled = re2.compile(flags + request.pattern, options)
    except (re2.error, UnicodeEncodeError) as wrong:
        reason = wrong.args[0] if wrong.args else wrong
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise Refused(
            f"{request.pattern!r} is not a pattern of RE2: {text}; look-around and back-references "
            "are not supported, and literal ( [ { . * + ? need a backslash"
        ) from None

    def search(data: bytes, start: int) -> tuple[int, int] | None:
        found = compiled.search(data, start)
        return None if found is None else found.span()

    return search


def _re_search(request: Request) -> Search:
    flags = re.MULTILINE | (re.DOTALL if request.multiline else 0)
    try:
        # On bytes: positions stay those of the file; letters beyond ASCII compare exactly.
        compiled = re.compile(
            request.pattern.encode(), flags | (re.IGNORECASE if request.ignore_case else 0)
        )
    except (re.error, UnicodeEncodeError) as wrong:
        raise Refused(f"{request.pattern!r} is not a regular expression: {wrong}") from None

    def search(data: bytes, start: int) -> tuple[int, int] | None:
        found = compiled.search(data, start)
        return None if found is None else found.span()

    return search


def main() -> None:
    """One scan for a parent process: a job on stdin, the report or the refusal on stdout."""
    job: dict[str, Any] = json.load(sys.stdin)
    place = Place(job["asked"], Path(job["root"]), tuple(job["parts"]))
    request = Request.model_validate(job["request"])
    _end_by_itself(request.seconds)
    try:
        answer = scan(place, request).model_dump_json()
    except Refused as refusal:
        answer = json.dumps({"refused": str(refusal)})
    sys.stdout.write(answer)


def _end_by_itself(seconds: float) -> None:
    """A parent that was killed cannot end this process, and a hostile pattern never would."""
    limit = int(seconds) + GRACE
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
