"""One thing that `amplifier doctor` looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Health = Literal["good", "absent", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    section: str
    name: str
    health: Health
    detail: str
