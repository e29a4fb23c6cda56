"""Where a regular expression matches in the bytes of a file, by one of two engines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Literal

from amplifier_hooks.agent.tools.base import Refused

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
        counted, at = start, max(end, start + 1)


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
