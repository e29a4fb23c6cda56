"""What an option of a question means: decided here alone, for the gate and every front end."""

from __future__ import annotations

import re
from dataclasses import dataclass

ALLOWING = frozenset(
    {"allow", "yes", "approve", "accept", "ok", "proceed", "continue", "run", "confirm"}
)
REFUSING = frozenset(
    {"deny", "no", "reject", "refuse", "decline", "block", "cancel", "stop", "abort", "never"}
)
REMEMBERED = "always"


@dataclass(frozen=True, slots=True)
class OptionMeaning:
    """What happens when a person takes an option.

    An option that neither allows nor refuses counts as a refusal; `refuses` says that it was
    written as one. `remembered`: the same answer holds for the rest of the session.
    """

    allows: bool
    refuses: bool
    remembered: bool


def read_option(option: str) -> OptionMeaning:
    """The meaning of an option: its first word allows or refuses, its last word may be "always"."""
    words = re.findall(r"[^\W_]+", option.lower())
    if not words:
        return OptionMeaning(allows=False, refuses=False, remembered=False)
    return OptionMeaning(
        allows=words[0] in ALLOWING,
        refuses=words[0] in REFUSING,
        remembered=words[-1] == REMEMBERED,
    )
