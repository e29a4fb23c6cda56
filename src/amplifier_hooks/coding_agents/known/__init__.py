"""The agents that can be guarded, by the names of their commands; cheap to import.

To add one: a module here, a dialect, and what may start it in `guards/policy/agent_programs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from amplifier_hooks.coding_agents.known import claude, codex, copilot, cursor, gemini, opencode
from amplifier_hooks.coding_agents.known.agent import KnownAgent, Mode

_MODULES = (claude, codex, gemini, copilot, cursor, opencode)
KNOWN: Mapping[str, KnownAgent] = {module.AGENT.name: module.AGENT for module in _MODULES}
TITLES: Mapping[str, str] = {name: one.title for name, one in KNOWN.items()}


# `make agents` starts the real programs in each of these ways, and compares. The tables in
# docs/guests.md and the notes of `amplifier guard AGENT --status` are written from here.
MODES: tuple[Mode, ...] = tuple(mode for agent in KNOWN.values() for mode in agent.modes)


def find_unguarded(agent: str, words: Sequence[str]) -> Mode | None:
    """The mode in which an agent with this command line runs tools without asking its hooks."""
    found = (one for one in MODES if one.agent == agent and one.options)
    return next((one for one in found if has_option(words, one.options)), None)


def can_be_unguarded(agent: str) -> bool:
    """Whether the command line of an agent may show that it does not ask before tools."""
    return any(one.agent == agent and one.options for one in MODES)


def list_unguarded(agent: str) -> Iterator[str]:
    """A sentence for each reason why tools are not judged, with the ways to start it so."""
    reasons: dict[str, list[str]] = {}
    for one in MODES:
        if one.agent == agent and not one.holds:
            reasons.setdefault(one.note, []).append(one.start)
    for note, starts in reasons.items():
        yield f"not guarded: {' · '.join(starts)} ({note})"


def has_option(words: Sequence[str], names: frozenset[str]) -> bool:
    """Whether a command line sets one of these options, in any spelling that parsers accept.

    `--acp`, `--acp=true` and `--experimentalAcp` do; `--acp=false`, `--acp false` and `--no-acp`
    do not. What stands behind `--` counts as well: interpreters and wrappers use that word, too.
    """
    wanted = {_fold(name) for name in names}
    for word, following in pairwise((*words, "")):
        name, equals, value = word.partition("=")
        chosen = value if equals else following
        if word.startswith("--") and _fold(name) in wanted and chosen != "false":
            return True
    return False


def _fold(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()
