"""Whether a hook wants to see an event: matchers and `if` rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleError
from amplifier_hooks.guards.policy.patterns import PatternError, compile_pattern

_PLAIN = re.compile(r"[A-Za-z0-9_\- ,|]*\Z")
_RULE = re.compile(r"([A-Za-z0-9_*-]+)(?:\((.*)\))?\Z", re.DOTALL)
# Where one command of a line may begin: a rule about `rm` must see `cd x && rm y` too.
_SEPARATORS = re.compile(r"&&|\|\||[;&|\n`(){}]|\$\(")
_ASSIGNMENT = re.compile(r"^(?:[A-Za-z_][A-Za-z0-9_]*=\S*\s+)+")
_LONGEST = 1000  # characters handed to an engine that could stall


def matches_listed(matcher: str | None, values: Iterable[str]) -> bool:
    """Claude's rule: all, exact names in a list, or an unanchored regular expression."""
    if matcher is None or _matches_all(matcher):
        return True
    if _PLAIN.match(matcher):
        names = {name.strip() for name in re.split(r"[,|]", matcher)}
        return not names.isdisjoint(values)
    return any(search(matcher, value) for value in values)


def matches_regex(matcher: str | None, values: Iterable[str]) -> bool:
    """An unanchored regular expression."""
    if matcher is None or _matches_all(matcher):
        return True
    return any(search(matcher, value) for value in values)


def matches_whole(matcher: str | None, values: Iterable[str]) -> bool:
    """A regular expression for the whole value."""
    if matcher is None or _matches_all(matcher):
        return True
    return any(search(f"^(?:{matcher})$", value) for value in values)


def _matches_all(matcher: str) -> bool:
    return matcher.strip() in {"", "*"}


def search(pattern: str, text: str) -> bool:
    """Whether the expression occurs; a pattern that does not compile matches its own text only."""
    occurs_in = _compile(pattern)
    return text == pattern if occurs_in is None else occurs_in(text)


@lru_cache(maxsize=512)
def _compile(pattern: str) -> Callable[[str], bool] | None:
    try:
        return compile_pattern(pattern, "hooks-shell").occurs_in
    except (PatternError, ModuleError):
        pass  # look-around, or RE2 is not installed: the slower engine, on short text only
    try:
        find = re.compile(pattern).search
    except re.error:
        return None
    return lambda text: find(text[:_LONGEST]) is not None


def passes_rule(
    rule: str | None, names: Iterable[str], tool_input: Mapping[str, Any], cwd: str
) -> bool:
    """An `if` rule such as `Bash(git *)`; what cannot be read as a rule filters nothing."""
    parsed = _RULE.match(rule.strip()) if rule else None
    if parsed is None:
        return True
    tool = parsed[1]
    spec = parsed[2]
    if not any(fnmatchcase(name, tool) for name in names):
        return False
    return spec is None or spec in {"", "*"} or _fits(spec, tool_input, cwd)


def _fits(spec: str, tool_input: Mapping[str, Any], cwd: str) -> bool:
    command = tool_input.get("command")
    if isinstance(command, str):
        return any(_fits_command(spec, piece) for piece in split_commands(command))
    path = tool_input.get("file_path") or tool_input.get("path")
    if isinstance(path, str):
        return _fits_path(spec, path, cwd)
    url = tool_input.get("url")
    if isinstance(url, str) and spec.startswith("domain:"):
        return re.search(rf"//{re.escape(spec[7:])}(?=[:/]|$)", url) is not None
    return any(fnmatchcase(str(value), spec) for value in tool_input.values())


def split_commands(line: str) -> list[str]:
    """The line itself and every piece of it that might be a command."""
    pieces = [line.strip(), *(piece.strip() for piece in _SEPARATORS.split(line))]
    return [_ASSIGNMENT.sub("", piece) for piece in dict.fromkeys(pieces) if piece]


def _fits_command(spec: str, command: str) -> bool:
    if spec.endswith(":*"):
        prefix = spec[:-2]
        return command == prefix or command.startswith(prefix + " ")
    if spec.endswith(" *") and command == spec[:-2]:
        return True
    return fnmatchcase(command, spec)


def _fits_path(spec: str, path: str, cwd: str) -> bool:
    """`//x` from the root, `~/x` from home, `/x` and `x` from the project; `**` as usual."""
    root = Path(cwd)
    if spec.startswith("//"):
        pattern = spec[1:]
    elif spec.startswith("~/"):
        pattern = str(Path(spec).expanduser())
    else:
        pattern = str(root / spec.lstrip("/").removeprefix("./"))
    target = str((root / Path(path).expanduser()).absolute())
    loose = fnmatchcase(target, pattern) or fnmatchcase(target, pattern.replace("/**/", "/"))
    return loose or ("/" not in spec and fnmatchcase(Path(target).name, spec))
