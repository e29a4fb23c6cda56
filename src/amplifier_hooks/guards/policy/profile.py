"""The profile: one word at the top of a bundle for how much all guards ask."""

from __future__ import annotations

from typing import Literal

Profile = Literal["calm", "careful", "strict"]
"""`calm` asks about consequences, `careful` also about what cannot be read, `strict` lets only
listed programs run."""

PROFILED_GUARDS = frozenset({"hooks-command-guard"})
"""The guards that have the option `profile`."""
