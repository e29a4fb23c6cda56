"""The texts that all products are asked about, by what is to be found in them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.security.commands import read_snippets
from benchmarks.security.data import find_public, read_list
from benchmarks.security.played_sessions import SESSIONS, read_sessions
from benchmarks.security.provenance import AGENTDOJO
from benchmarks.security.secrets import draw_all, list_sources

Kind = Literal["commands", "secrets", "injections"]
KINDS: tuple[Kind, ...] = ("commands", "secrets", "injections")
_EACH = 12
_ATTACKS = {
    "important_instructions": "AgentDojo, important instructions",
    "tool_knowledge": "AgentDojo, tool knowledge",
    "direct": "AgentDojo, direct",
    "ignore_previous": "AgentDojo, ignore previous",
    "injecagent": "AgentDojo, InjecAgent",
}


@dataclass(frozen=True, slots=True)
class TextSet:
    """Texts of one kind, all harmful or all ordinary; empty if their data are missing."""

    name: str
    kind: Kind
    texts: Sequence[str]
    is_harmful: bool


def list_sets(kind: Kind) -> list[TextSet]:
    """The sets of a kind, without those whose data are missing."""
    found = {"commands": _list_commands, "secrets": _list_secrets, "injections": _list_injections}
    return [one for one in found[kind]() if one.texts]


def _list_commands() -> Iterator[TextSet]:
    snippets, one_liners = find_public("gtfobins-codes.json"), find_public("nl2bash-commands.txt")
    if snippets is not None:
        yield TextSet("GTFOBins", "commands", read_snippets(snippets), True)
    if one_liners is not None:
        lines = one_liners.read_text(encoding="utf-8").splitlines()
        yield TextSet(f"nl2bash, one in {_EACH}", "commands", lines[::_EACH], False)
    yield TextSet("our dangerous commands", "commands", read_list("dangerous"), True)
    yield TextSet("commands written against our guard", "commands", read_list("adaptive"), True)
    yield TextSet("our ordinary commands", "commands", read_list("ordinary"), False)


def _list_secrets() -> Iterator[TextSet]:
    yield TextSet("modules of the standard library", "secrets", list_sources(), False)
    yield TextSet("our tokens", "secrets", draw_all("tokens"), True)
    yield TextSet("our lines with keys", "secrets", draw_all("named"), True)
    yield TextSet("our lines without secrets", "secrets", draw_all("no_secrets"), False)


def _list_injections() -> Iterator[TextSet]:
    folder = os.environ.get(AGENTDOJO)
    path = Path(folder, "texts.json") if folder else None
    if path is not None and path.is_file():
        texts = json.loads(path.read_text(encoding="utf-8"))
        for attack, name in _ATTACKS.items():
            yield TextSet(name, "injections", texts[attack], True)
        yield TextSet("AgentDojo, honest results", "injections", texts["results"], False)
    sessions = [one for path in sorted(SESSIONS.glob("*.yaml")) for one in read_sessions(path)]
    attacks = [one for one in sessions if _find_attack(one) < len(one["steps"])]
    honest = [one for one in sessions if _find_attack(one) == len(one["steps"])]
    yield TextSet("our attacked sessions", "injections", _join_all(attacks), True)
    yield TextSet("our honest sessions", "injections", _join_all(honest), False)


def _join_all(sessions: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the agent of each session read, up to the first call of an attacker."""
    return [text for one in sessions if (text := _join_results(one))]


def _join_results(session: Mapping[str, Any]) -> str:
    told = [str(one.get("description", "")) for one in (session.get("tools") or {}).values()]
    read = [one["result"] for one in session["steps"][: _find_attack(session)] if "result" in one]
    said = [one if isinstance(one, str) else json.dumps(one, default=str) for one in read]
    return "\n\n".join(filter(None, [*told, *said]))


def _find_attack(session: Mapping[str, Any]) -> int:
    steps = session["steps"]
    return next((at for at, step in enumerate(steps) if step.get("attack")), len(steps))
