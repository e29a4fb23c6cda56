"""One line of a check: what was tried, and how it went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "cannot", "yours", "broken", "untried"]
"""How a line went:

ok       it works
cannot   the agent has no way to do this
yours    hooks of the person blocked it, so the rest could not be seen
broken   it does not work
untried  something before it is broken
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a line is about, its state, and what was seen."""

    name: str
    state: State
    detail: str = ""

    @property
    def fails(self) -> bool:
        """Whether the guard does not do what it should."""
        return self.state in ("broken", "untried")
