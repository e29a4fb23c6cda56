"""What became of the sessions of a run of pytest, told in one line at its end."""

from __future__ import annotations

from collections import Counter

AS_BEFORE = "as before"


class Tally(Counter[str]):
    """How many sessions came out as before, and for which reasons others were left out."""

    def tell(self, what: str) -> str:
        """One line, so that nothing is left out in silence."""
        left = [f"{number} ({why})" for why, number in sorted(self.items()) if why != AS_BEFORE]
        return f"{what}: {self[AS_BEFORE]} {AS_BEFORE}; left out: {', '.join(left) or 'none'}"
