"""The options of hooks-progress-monitor."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

NAME = "hooks-progress-monitor"
Steps = tuple[int, int, int]
LONGEST_CYCLE = 4
_MOST = 200


class Config(BaseModel):
    """The options of hooks-progress-monitor.

    `repeats`, `cycles` and `reads` are the counts at which the agent is nudged gently, nudged
    firmly, and stopped; an empty list turns that check off.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    show: bool = True
    interval: float = Field(10.0, ge=0)
    repeats: Steps | tuple[()] = (3, 5, 7)
    cycles: Steps | tuple[()] = (2, 3, 4)
    reads: Steps | tuple[()] = (20, 40, 100)
    reading_tools: frozenset[str] = frozenset({"Read", "Glob", "Grep", "LS"})
    last_resort: Literal["ask_user", "deny", "none"] = "ask_user"
    approval_timeout: float = Field(300.0, gt=0)
    ephemeral: bool = False
    priority: int = -50

    @field_validator("repeats", "cycles", "reads")
    @classmethod
    def _check_steps(cls, value: Steps | tuple[()]) -> Steps | tuple[()]:
        if value and not 2 <= value[0] < value[1] < value[2] <= _MOST:
            raise ValueError(f"must be three rising numbers from 2 to {_MOST}, such as [3, 5, 7]")
        return value

    @property
    def history(self) -> int:
        """How many calls have to be remembered for the checks to see what they look for."""
        repeats, cycles, reads = (
            max(s, default=1) for s in (self.repeats, self.cycles, self.reads)
        )
        return max(repeats, cycles * LONGEST_CYCLE, reads)
