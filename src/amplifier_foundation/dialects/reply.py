"""What came back from an external hook."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reply:
    """An exit code and two streams, or the reason why there are none."""

    code: int = 0
    stdout: str = ""
    stderr: str = ""
    failure: str | None = None
    timed_out: bool = False
