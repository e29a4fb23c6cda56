"""Values that a server gets, and where they come from: the bundle, a variable, or a file.

env: {TZ: UTC, TOKEN: {env: DOCS_TOKEN}}
headers: {Authorization: {file: ~/.docs-token, prefix: "Bearer "}}
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.policy.secrets import TOKENS, Redactor
from amplifier_hooks.guards.policy.secrets.stream import LiteralScrubber

_KEYS = frozenset({"env", "file", "prefix"})
_TELLING = re.compile(
    r"key|token|secret|passw|credential|authorization|cookie|\bauth\b", re.IGNORECASE
)
_SHORTEST = 6
"""Characters of a value that is hidden: to hide shorter ones would spoil every text."""
_LARGEST = 64 * 1024


class Secrets:
    """What one server was given by reference; it appears in no text that leaves this module."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._scrub = LiteralScrubber(())

    def resolve(self, input: Mapping[str, Any], owner: str, base: Path) -> dict[str, str]:
        """The values by their names; ModuleLoadError for one that is not there."""
        return {name: self._read(value, f"{owner}.{name}", base) for name, value in input.items()}

    def _read(self, value: Any, place: str, base: Path) -> str:
        if not isinstance(value, Mapping):
            return write_plain(value)
        found = _read_reference(value, place, base)
        self._add(found)
        return f"{value.get('prefix') or ''}{found}"

    def add_literals(self, input: Mapping[str, Any]) -> list[str]:
        """Hide what looks like a secret and stands in the bundle; returns the names of it."""
        names = list(find_literals(input))
        for name in names:
            for word in str(input[name]).split():  # `Bearer` is none
                self._add(word if len(word) > _SHORTEST else "")
        return names

    def _add(self, value: str) -> None:
        if len(value) >= _SHORTEST and value not in self._values:
            self._values.add(value)
            self._scrub = LiteralScrubber(self._values)

    def hide(self, text: str) -> str:
        """The text without these values."""
        return self._scrub(text)


def write_plain(value: Any) -> str:
    """A value of the bundle, as a program gets it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_values(input: Mapping[str, Any], owner: str) -> None:
    """ModuleLoadError if a value is neither a text nor says where it is; no value is shown."""
    for name, value in input.items():
        if isinstance(value, str | int | float):
            continue
        place = f"{owner}.{name}"
        if not isinstance(value, Mapping):
            raise ModuleLoadError(f"option '{place}' is a text, or {{env: NAME}} or {{file: PATH}}")
        if unknown := sorted(map(str, value.keys() - _KEYS)):
            raise ModuleLoadError(
                f"option '{place}' has {', '.join(unknown)}; it may have env or file, and prefix"
            )
        if ("env" in value) == ("file" in value):
            raise ModuleLoadError(f"option '{place}' needs either env or file")
        if not all(isinstance(one, str) for one in value.values()):
            raise ModuleLoadError(f"option '{place}' has something else than texts")


def find_literals(input: Mapping[str, Any]) -> Iterator[str]:
    """The names of values that look like secrets and stand in the bundle itself."""
    known = [one for one in os.environ.values() if len(one) >= _SHORTEST]
    for name, value in input.items():
        if not isinstance(value, str) or len(value) < _SHORTEST:
            continue
        # What a variable of the bundle, ${NAME}, was replaced by is no literal.
        if any(one in value for one in known):
            continue
        if _TELLING.search(name) or _has_shape(value):
            yield name


def _has_shape(value: str) -> bool:
    return bool(_make_redactor().find_tokens(value))


@cache
def _make_redactor() -> Redactor:
    return Redactor(TOKENS, "tool-mcp", "")


def _read_reference(value: Mapping[str, Any], place: str, base: Path) -> str:
    if "env" in value:
        found = os.environ.get(str(value["env"]))
        if not found:
            raise ModuleLoadError(
                f"option '{place}' names the environment variable {value['env']!r}, "
                "which is not set"
            )
        return found
    path = base / Path(str(value["file"])).expanduser()
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(_LARGEST).strip()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise ModuleLoadError(f"option '{place}' names the file {path}: {why}") from error
