"""The options of hooks-cost-control."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from amplifier_hooks.guards.cost_control.price import Price
from amplifier_hooks.modules.guarding import GuardConfig

NAME = "hooks-cost-control"
Span = Literal["turn", "session", "day"]
SPANS: tuple[Span, ...] = ("turn", "session", "day")


class Limits(BaseModel):
    """What a turn, a session or a day may take, and what happens when it is used up."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tokens: int | None = Field(None, gt=0)
    money: float | None = Field(None, gt=0, allow_inf_nan=False)
    over: Literal["warn", "ask_user", "deny"] = "deny"
    warn_at: float = Field(0.8, gt=0, le=1)

    @model_validator(mode="after")
    def _check_limits(self) -> Limits:
        if self.tokens is None and self.money is None:
            raise ValueError("needs 'tokens' or 'money'")
        return self


class Config(GuardConfig):
    """The options of hooks-cost-control."""

    priority: int = 950
    turn: Limits | None = None
    session: Limits | None = None
    day: Limits | None = None
    prices: dict[str, Price] = Field(default_factory=dict)
    unknown_price: Price | None = None
    currency: str = "USD"
    file: str = ".amplifier/cost.json"

    def list_limits(self) -> Iterator[tuple[Span, Limits]]:
        """The spans that have a limit."""
        for span in SPANS:
            found: Limits | None = getattr(self, span)
            if found is not None:
                yield span, found
