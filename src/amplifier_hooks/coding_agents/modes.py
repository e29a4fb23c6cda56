"""The ways to start each agent, and whether it asks its hooks before a tool runs.

`make agents` starts the real programs in each of these ways, and compares. The tables in
docs/guests.md and the notes of `amplifier guard AGENT --status` are written from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to start an agent."""

    agent: str
    start: str
    """As a person would type it."""

    holds: bool = True
    """Whether a denied call does not run, and is in the trail."""

    options: frozenset[str] = frozenset()
    """Where it does not hold and other events still arrive: what its command line has then."""

    note: str = ""
    """What people should know about it."""


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


_UNASKED = "it runs tools without asking any hook, so every prompt is refused"
_SETTINGS = "the hooks in your settings do not run"

MODES: tuple[Mode, ...] = (
    Mode("claude", "claude -p"),
    Mode("claude", "claude -p --resume"),
    Mode("claude", "claude -p --resume --fork-session"),
    Mode("claude", "claude -p --continue"),
    Mode("claude", "claude -p --input-format stream-json", note="the SDK, and editors through it"),
    Mode("claude", "claude -p --permission-mode plan"),
    Mode("claude", "claude --agents"),
    Mode("claude", "claude, a sub-agent in the background"),
    Mode("claude", "claude, a command in the background"),
    Mode("claude", "claude --plugin-dir"),
    Mode("claude", "claude, a command in a file of its commands", note="`` !`…` ``"),
    Mode("claude", "claude --bare", holds=False, note="no hook runs"),
    Mode("claude", "claude --safe-mode", holds=False, note=_SETTINGS),
    Mode("claude", "claude --restricted", holds=False, note=_SETTINGS),
    Mode("claude", "claude --setting-sources project", holds=False, note=_SETTINGS),
    Mode(
        "claude",
        "claude --settings '{\"disableAllHooks\": true}'",
        holds=False,
        note=_SETTINGS,
    ),
    Mode("codex", "codex exec"),
    Mode("codex", "codex exec resume"),
    Mode("codex", "codex review"),
    Mode("codex", "codex app-server", note="editors"),
    Mode("codex", "codex --disable hooks", holds=False, note="no hook runs"),
    Mode("codex", "codex exec --ignore-user-config", holds=False, note="no hook is trusted"),
    Mode("gemini", "gemini -p"),
    Mode("gemini", "gemini -p --resume"),
    Mode("gemini", "gemini --acp", holds=False, options=frozenset({"acp"}), note=_UNASKED),
    Mode(
        "gemini",
        "gemini --experimental-acp",
        holds=False,
        options=frozenset({"experimental-acp"}),
        note=_UNASKED,
    ),
    Mode(
        "gemini",
        "gemini, a command in a file of its commands",
        holds=False,
        note="`!{…}` runs before any hook is asked",
    ),
    Mode("copilot", "copilot -p"),
    Mode("copilot", "copilot -p --continue"),
    Mode("copilot", "copilot --acp", note="editors"),
    Mode("copilot", "copilot -p --autopilot"),
    Mode("copilot", "copilot -p --fleet"),
    Mode("copilot", "copilot -p --no-custom-instructions"),
    Mode("opencode", "opencode run"),
    Mode("opencode", "opencode run --continue"),
    Mode("opencode", "opencode run --attach", note="with opencode serve, as opencode web"),
    Mode("opencode", "opencode acp", note="editors"),
    Mode(
        "opencode",
        "opencode, a command in a file of its commands",
        holds=False,
        note="`` !`…` `` runs before any hook is asked",
    ),
    Mode("opencode", "opencode --pure", holds=False, note="it loads no plugin"),
)
