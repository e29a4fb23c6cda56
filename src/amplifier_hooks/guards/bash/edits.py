"""Edits in place that find nothing: `sed -i s/a/b/` leaves a file alone that has no `a`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from amplifier_hooks.guards.bash.code_rules import list_sed_scripts
from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.search_expressions import read_basic, read_extended, read_other
from amplifier_hooks.guards.bash.words import Word
from amplifier_hooks.guards.policy.patterns import PatternError, compile_pattern

_REPLACEMENT = re.compile(
    r"\s*s(?P<mark>[/|#,:@!%])(?P<sought>(?:\\.|(?!(?P=mark))[^\\\n\[])*)(?P=mark)"
    r"(?:\\.|(?!(?P=mark))[^\\\n])*(?P=mark)[gIimp0-9]*\s*(?:[;\n]|$)"
)
_LARGEST = 1_000_000


def finds_nothing(command: Command, path: Path) -> bool:
    """Whether all that a command does to a file is to replace what is not in it."""
    sought = list(_list_sought(command))
    if not sought or None in sought:
        return False
    try:
        if path.stat().st_size > _LARGEST:
            return False
        text = path.read_text(encoding="utf-8", errors="replace")
        patterns = [compile_pattern(one or "", "", ignore_case=True) for one in sought]
    except (OSError, PatternError):
        return False
    return not any(one.occurs_in(text) for one in patterns)


def _list_sought(command: Command) -> Iterator[str | None]:
    """The expressions that are replaced; None for one that is not known, or another order."""
    scripts, read = _list_scripts(command)
    for word in scripts:
        if word.value is None or not word.fixed:
            yield None
        else:
            yield from _list_replaced(word.value, read)


_Reads = Callable[[str], str | None]


def _list_scripts(command: Command) -> tuple[list[Word], _Reads]:
    if command.name in {"sed", "gsed"}:
        is_extended = not {"-E", "-r", "--regexp-extended"}.isdisjoint(command.flags)
        return list_sed_scripts(command), read_extended if is_extended else read_basic
    if command.name == "perl" and command.flags <= _PERL_FLAGS:
        return [two for one, two in pairwise(command.words) if _ENDS_IN_E.fullmatch(one.raw)], (
            read_other
        )
    return [], read_other


def _list_replaced(script: str, read: _Reads) -> Iterator[str | None]:
    at = 0
    while at < len(script):
        found = _REPLACEMENT.match(script, at)
        if found is None:
            yield None
            return
        yield read(found["sought"].replace(f"\\{found['mark']}", found["mark"]))
        at = found.end()


_PERL_FLAGS = frozenset({"-p", "-i", "-e", "-pi", "-pe", "-pie"})
_ENDS_IN_E = re.compile(r"-[pi]*e")
