"""The values that a script itself gives its variables: `D=build`, `for f in *.txt`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.script import parse_script
from amplifier_hooks.guards.bash.variables import list_set_names
from amplifier_hooks.guards.bash.words import Word

_ASSIGNED = re.compile(r"(?:export\s+|local\s+|readonly\s+)?([A-Za-z_]\w*)=(.*)", re.DOTALL)
_LOOP = re.compile(r"for\s+([A-Za-z_]\w*)\s+in\s+(.*?)\s*(?:;|\n)\s*do\b", re.DOTALL)
_EXPANSION = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:[%#/:^,][^{}]*)?\})")
_SHORTENED = re.compile(r"\$\{\w+(?:%%?[^}]*/|/)")
"""`${x%/*}` is another folder than the one that was assigned."""
_MOST = 50


@dataclass(frozen=True, slots=True)
class Values:
    """Each variable with the texts that it is given; None if one of them is not literal."""

    known: dict[str, tuple[str, ...] | None] = field(default_factory=dict)

    @classmethod
    def read(cls, commands: Iterable[Command], places: Mapping[str, str] | None = None) -> Values:
        """From the assignments and loops of a script, wherever they stand.

        `places` are what substitutions such as `$(pwd)` stand for.
        """
        known: dict[str, tuple[str, ...] | None] = {}
        for command in commands:
            for name in list_set_names(command):
                if name is None:
                    return cls({})
                given = (
                    _read_given(command, name, places or {}) if name in command.assigns else None
                )
                before = known.get(name, ())
                known[name] = None if given is None or before is None else (*before, *given)
        return cls(known)

    def resolve(self, word: Word) -> list[Word]:
        """Every word that this one may become; none if a variable of it is not known."""
        names = [one or two for one, two in _EXPANSION.findall(word.raw)]
        lists = [self.known.get(name) or () for name in dict.fromkeys(names)]
        if not lists or not all(lists) or _SHORTENED.search(word.raw):
            return []
        found = list(_combine(word.raw, list(dict.fromkeys(names)), lists))
        return found if all(one.value is not None for one in found) else []


def _combine(raw: str, names: list[str], lists: list[tuple[str, ...]]) -> Iterator[Word]:
    for chosen in list(product(*lists))[:_MOST]:
        values = dict(zip(names, chosen, strict=True))
        text = _fill(raw, values)
        # In quotes a shell would take `~` as it is, but it became a folder when it was assigned.
        yield from _read_words(text.strip("\"'") if text.lstrip("\"'")[:1] == "~" else text)


def _fill(raw: str, values: dict[str, str]) -> str:
    return _EXPANSION.sub(lambda found: values[found[1] or found[2]], raw)


def _read_given(command: Command, name: str, places: Mapping[str, str]) -> tuple[str, ...] | None:
    loop = _LOOP.match(command.text)
    if loop is not None and loop[1] == name:
        return _read_literals(loop[2])
    assigned = _ASSIGNED.match(command.text)
    if assigned is not None and assigned[1] == name and command.program == ":":
        place = places.get(assigned[2].strip("\"' \n"))
        given = _read_temporary(assigned[2]) or _read_literals(assigned[2])
        return given if place is None else (place,)
    return None


_TEMPORARY = re.compile(
    r"[\"']?(?:\$\(|`)mktemp(?P<flags>(?: -[dqu]+| --directory| --quiet| -t| --tmpdir)*)"
    r"(?: (?:-p )?(?P<place>/tmp/)?(?P<template>[\w.-]*))?(?: 2>/dev/null)?(?:\)|`)[\"']?"
)


def _read_temporary(text: str) -> tuple[str, ...] | None:
    """`$(mktemp -d)` is a new name among the temporary files; `mktemp x.XXX` is one right here."""
    found = _TEMPORARY.fullmatch(text.strip())
    if found is None:
        return None
    template = found["template"] or "tmp.XXXXXXXXXX"
    is_here = found["template"] and not found["place"] and not re.search(" -t| --tmp", found[1])
    return (template if is_here else f"/tmp/{template}",)


def _read_literals(text: str) -> tuple[str, ...] | None:
    words = _read_words(text)
    values = [word.raw.strip("\"'") if word.tilde else word.value for word in words]
    return None if None in values else tuple(value or "" for value in values)


def _read_words(text: str) -> tuple[Word, ...]:
    commands = parse_script(f"echo {text}").commands
    return commands[0].words if commands else ()
