"""Real paths, compared by component. Guards and tools share this one helper.

`resolve` first, then `is_within` or `match_glob`. No comparison here looks at a prefix of text.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

_MAX_ALTERNATIVES = 1_000


def resolve(path: str | Path, base: Path) -> Path:
    """The absolute path with every `..` and symlink resolved, also when its end does not exist yet.

    `~` is not expanded: it is the shell's, and guards that read the raw text would not see it.
    """
    text = os.fspath(path)
    if not text.strip():
        raise ValueError("The path is empty; give the path of a file or directory")
    if "\0" in text:
        raise ValueError(f"The path {text!r} has a NUL character, which no file name can have")
    try:
        real = (base / text).resolve()
        _refuse_loop(real)
    except (RuntimeError, OSError) as failure:
        raise ValueError(f"The path {text!r} cannot be resolved: {failure}") from failure
    return real


def _refuse_loop(real: Path) -> None:
    """Since Python 3.13, `Path.resolve` hands back a path through a loop of symlinks as it is."""
    try:
        real.stat()
    except OSError as failure:
        if failure.errno == errno.ELOOP:
            raise


def is_within(path: Path, roots: Iterable[Path]) -> bool:
    """Whether the path is one of the roots or below one, after resolving both."""
    real = resolve(path, Path.cwd())
    return any(real.is_relative_to(resolve(root, Path.cwd())) for root in roots)


def match_glob(path: Path, patterns: Iterable[str]) -> str | None:
    """The first glob that covers the path, or None.

    `*` and `?` stay within a component, `**` spans any number of them (none included), `[abc]` and
    `{a,b}` work as in a shell, and dotfiles are files. A pattern that starts with neither `/` nor
    `~/` counts at any depth; one that ends in `/` covers the directory and all below it. Letter
    case and Unicode composition make no difference.
    """
    parts = tuple(_fold(part) for part in path.parts if part != path.anchor)
    for pattern in patterns:
        home = str(Path.home()) if "~" in pattern else ""
        if any(_match_parts(parts, glob) for glob in _compile(pattern, home)):
            return pattern
    return None


def escape_glob(path: str) -> str:
    """A pattern that covers the path, whatever characters are in its name."""
    # A brace cannot be written as a class; any character in its place guards more, not less.
    return re.sub(r"[*?[]", r"[\g<0>]", path).replace("{", "?")


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


@lru_cache(maxsize=1024)
def _compile(pattern: str, home: str) -> tuple[tuple[str, ...], ...]:
    if not pattern.strip():
        raise ValueError("A path pattern is empty; use '**' to cover everything")
    expanded = list(itertools.islice(expand_braces(pattern), _MAX_ALTERNATIVES + 1))
    if len(expanded) > _MAX_ALTERNATIVES:
        raise ValueError(f"The path pattern {pattern!r} has over {_MAX_ALTERNATIVES} alternatives")
    return tuple(_split_pattern(alternative, home) for alternative in expanded)


def _split_pattern(pattern: str, home: str) -> tuple[str, ...]:
    if pattern.startswith("~/"):
        pattern = home + pattern[1:]
    below = ("**",) if pattern.endswith("/") else ()
    anywhere = () if pattern.startswith("/") else ("**",)
    parts = tuple(_fold(part) for part in pattern.split("/") if part not in {"", "."})
    return anywhere + parts + below


def expand_braces(pattern: str) -> Iterator[str]:
    """All globs that `{a,b}` stands for; a brace without partner or comma is itself."""
    span = _find_braces(pattern)
    if span is None:
        yield pattern
        return
    start, end, options = span
    for option in options:
        yield from expand_braces(pattern[:start] + option + pattern[end:])


def _find_braces(pattern: str) -> tuple[int, int, list[str]] | None:
    for start in (at for at, char in enumerate(pattern) if char == "{"):
        found = _find_close(pattern, start)
        if found is not None and len(found[1]) > 1:
            return start, found[0], found[1]
    return None


def _find_close(pattern: str, start: int) -> tuple[int, list[str]] | None:
    """The position after the partner of the brace at `start`, and the options between them."""
    depth = 0
    options = []
    last = start + 1
    for at in range(start, len(pattern)):
        char = pattern[at]
        depth += (char == "{") - (char == "}")
        if (char == "," and depth == 1) or depth == 0:
            options.append(pattern[last:at])
            last = at + 1
        if depth == 0:
            return at + 1, options
    return None


def _match_parts(parts: Sequence[str], glob: Sequence[str]) -> bool:
    return _match_wildcards(parts, glob, "**", _match_name)


def _match_name(name: str, glob: str) -> bool:
    return _match_wildcards(name, _tokenize(glob), "*", _match_char)


@lru_cache(maxsize=4096)
def _tokenize(glob: str) -> tuple[str, ...]:
    """Single characters, `*`, `?` and whole `[…]` classes."""
    tokens = []
    at = 0
    while at < len(glob):
        end = _find_class_end(glob, at) if glob[at] == "[" else at + 1
        tokens.append(glob[at:end])
        at = end
    return tuple(tokens)


def _find_class_end(glob: str, start: int) -> int:
    """Behind the bracket that closes the class, which has a character; without one, it is none."""
    first = start + 2 if glob[start + 1 : start + 2] in {"!", "^"} else start + 1
    return max(glob.find("]", first + 1), start) + 1


def _match_char(char: str, token: str) -> bool:
    if len(token) > 1:
        return _is_in_class(char, token[1:-1])
    return token in {"?", char}


def _is_in_class(char: str, body: str) -> bool:
    negated = body[0] in "!^"
    body = body[negated:]
    at = 0
    while at < len(body):
        step = 3 if body[at + 1 : at + 2] == "-" and at + 2 < len(body) else 1
        if body[at] <= char <= body[at + step - 1]:
            return not negated
        at += step
    return negated


def _match_wildcards(
    items: Sequence[str], glob: Sequence[str], star: str, same: Callable[[str, str], bool]
) -> bool:
    """Greedy matching that only ever returns to the last star: never exponential."""
    item = token = 0
    retry: tuple[int, int] | None = None
    while item < len(items):
        if token < len(glob) and glob[token] == star:
            retry = (item, token)
            token += 1
        elif token < len(glob) and same(items[item], glob[token]):
            item = item + 1
            token = token + 1
        elif retry is None:
            return False
        else:
            retry = (retry[0] + 1, retry[1])
            item = retry[0]
            token = retry[1] + 1
    return all(rest == star for rest in glob[token:])
