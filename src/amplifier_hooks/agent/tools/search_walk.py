"""The files below a place: links are not followed, and there is an end to it."""

from __future__ import annotations

import json
import os
import re
import resource
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.roots import (
    Place,
    format_path,
    open_directory,
    open_file,
    open_parent,
)
from amplifier_hooks.guards.policy.paths import match_glob
from amplifier_hooks.guards.policy.protected_places import ProtectedPlaces, fold_name

Engine = Literal["re2", "re"]
Span = tuple[int, int]
Finder = Callable[[bytes], Iterator[Span]]
"""First and last line of each match, counted from 0."""

_Search = Callable[[bytes, int], Span | None]


def make_finder(
    pattern: str, engine: Engine, *, ignore_case: bool = False, multiline: bool = False
) -> Finder:
    """A finder for the pattern; with `multiline` a match may span lines."""
    compile_ = _compile_re2 if engine == "re2" else _compile_re
    search = _make_search(compile_(pattern, ignore_case=ignore_case, multiline=multiline))
    if multiline:
        return lambda data: _find_across_lines(data, search)
    # One look at the whole file spares the look at each line, unless it may mean something else.
    sieve = not re.search(r"\\[AzZ]", pattern)
    return lambda data: (
        _find_lines(data, search) if not sieve or _occurs(data, search) else iter(())
    )


def _occurs(data: bytes, search: _Search) -> bool:
    return search(data.replace(b"\r\n", b"\n"), 0) is not None


def _find_lines(data: bytes, search: _Search) -> Iterator[Span]:
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n")):
        if search(line.removesuffix(b"\r"), 0) is not None:
            yield number, number


def _find_across_lines(data: bytes, search: _Search) -> Iterator[Span]:
    at = line = counted = 0
    while at <= len(data) and (found := search(data, at)) is not None:
        start, end = found
        line += data.count(b"\n", counted, start)
        yield line, line + data.count(b"\n", start, max(end - 1, start))
        counted = start
        at = max(end, start + 1)


def _make_search(compiled: Any) -> _Search:
    def search(data: bytes, start: int) -> Span | None:
        found = compiled.search(data, start)
        return None if found is None else found.span()

    return search


def _compile_re2(pattern: str, *, ignore_case: bool, multiline: bool) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    flags = "(?ms)" if multiline else "(?m)"
    try:
        return re2.compile(flags + pattern, options)
    except (re2.error, UnicodeEncodeError) as wrong:
        reason = wrong.args[0] if wrong.args else wrong
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise Refused(
            f"{pattern!r} is not a pattern of RE2: {text}; look-around and back-references "
            "are not supported, and literal ( [ { . * + ? need a backslash"
        ) from None


def _compile_re(pattern: str, *, ignore_case: bool, multiline: bool) -> Any:
    flags = re.MULTILINE
    flags |= re.DOTALL if multiline else 0
    flags |= re.IGNORECASE if ignore_case else 0
    try:
        # On bytes: positions stay those of the file; letters beyond ASCII compare exactly.
        return re.compile(pattern.encode(), flags)
    except (re.error, UnicodeEncodeError) as wrong:
        raise Refused(f"{pattern!r} is not a regular expression: {wrong}") from None


MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Entry:
    """A file met on the way; `parent` is a descriptor that is valid until the next step."""

    path: str
    name: str
    parent: int


@dataclass(slots=True)
class Walk:
    """One pass; `unfinished` says afterwards why it stopped early, if it did."""

    place: Place
    skip: Sequence[str]
    max_entries: int
    seconds: float
    stop: threading.Event = field(default_factory=threading.Event)
    unfinished: str | None = None

    def __iter__(self) -> Iterator[Entry]:
        try:
            yield from self._walk_tree() if _is_directory(self.place) else self._yield_single()
        except FileNotFoundError as missing:
            raise Refused(f"No file or directory {self.place.asked!r}") from missing

    def _yield_single(self) -> Iterator[Entry]:
        with open_parent(self.place) as (parent, name):
            yield Entry("", name, parent)

    def _walk_tree(self) -> Iterator[Entry]:
        deadline = time.monotonic() + self.seconds
        left = self.max_entries
        with open_directory(self.place) as top:
            for root, directories, files, parent in os.fwalk(".", dir_fd=top):
                prefix = root[2:] + "/" if len(root) > 1 else ""
                if self._is_guarded(parent):
                    directories.clear()
                    continue
                self._prune(directories, prefix)
                for name in self._choose_visible(prefix, files):
                    left -= 1
                    self.unfinished = self._explain_stop(left, deadline)
                    if self.unfinished:
                        return
                    yield Entry(prefix + name, name, parent)

    def _prune(self, directories: list[str], prefix: str) -> None:
        """Tell the walk where to go next, by changing its own list."""
        chosen = [name for name in directories if name not in self.skip]
        deep = prefix.count("/") >= MAX_DEPTH
        directories[:] = [] if deep else self._choose_visible(prefix, chosen)

    def _is_guarded(self, directory: int) -> bool:
        """Whether this is a hidden place, under whatever name the walk came to it."""
        guarded = self.place.guarded
        return guarded is not None and guarded.find(os.fstat(directory)) is not None

    def _choose_visible(self, prefix: str, names: Iterable[str]) -> list[str]:
        """Without those that are hidden, such as a key among other files."""
        places = self.place.places
        folder = self.place.path / prefix
        suspects = {fold_name(path.name) for path in places.hidden}
        return sorted(
            name
            for name in names
            if fold_name(name) not in suspects or not places.is_hidden(folder / name)
        )

    def _explain_stop(self, left: int, deadline: float) -> str | None:
        if left < 0:
            return f"stopped after {self.max_entries:,} files"
        if self.stop.is_set() or time.monotonic() > deadline:
            return f"stopped after {self.seconds:g} seconds"
        return None


def _is_directory(place: Place) -> bool:
    if not place.parts:
        return True
    with open_parent(place) as (parent, name):
        return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)


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
    places = ProtectedPlaces(tuple(map(Path, job.get("hidden", ()))), ())
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
