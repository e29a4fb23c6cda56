"""What an option of a question means. Every gate and every front end asks here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from amplifier_core.models import DEFAULT_APPROVAL_OPTIONS

ALLOWING = frozenset(
    {"allow", "yes", "approve", "accept", "ok", "proceed", "continue", "run", "confirm"}
)
REFUSING = frozenset(
    {"deny", "no", "reject", "refuse", "decline", "block", "cancel", "stop", "abort", "never"}
)


_USUAL = frozenset({"Allow", "Allow once", "Allow always"})


@dataclass(frozen=True, slots=True)
class OptionMeaning:
    """What happens when a person chooses an option."""

    allows: bool
    """Everything that does not clearly allow is a no."""
    refuses: bool
    """Whether it is a plain no, and not something unclear that counts as one."""
    remembered: bool
    """Whether the same question gets the same answer for the rest of the session."""
    scoped: bool = False
    """Whether its words say for what: the prompt is the scope, and not the exact input."""


def read_option(option: str) -> OptionMeaning:
    """What an option means: its first word allows or refuses, a last word "always" remembers.

    "Always for …" remembers as well, for what the words say.
    """
    words = re.findall(r"[^\W_]+", option.lower())
    first, scoped = words[:1], ("always", "for") in pairwise(words[:-1])
    return OptionMeaning(
        allows=not ALLOWING.isdisjoint(first),
        refuses=not REFUSING.isdisjoint(first),
        remembered=scoped or words[-1:] == ["always"],
        scoped=scoped,
    )


def allows(option: str) -> bool:
    """Whether an option means yes."""
    return read_option(option).allows


def allows_unoffered(answer: str, offered: Sequence[str]) -> bool:
    """Whether an answer that was not offered is a yes all the same, for this once.

    Front ends that keep their own "always" answer so, in words of their own.
    """
    return answer in _USUAL and any(allows(option) for option in offered)


def find_unclear_options(options: Sequence[str]) -> list[str]:
    """Options that are neither a yes nor a plain no; they count as a no."""
    meanings = ((option, read_option(option)) for option in options)
    return [option for option, meaning in meanings if not (meaning.allows or meaning.refuses)]


def resolve_options(offered: Sequence[str] | None) -> tuple[str, ...]:
    """The options of a question; a hook that offers none gets the usual two."""
    return tuple(offered) if offered else DEFAULT_APPROVAL_OPTIONS
