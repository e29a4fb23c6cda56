"""What people may send; unknown fields and values of other types are refused."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from amplifier_hooks.approvals.models import Choice, StandingWish
from amplifier_hooks.server.wire.text import Comment, Id

MAX_REFUSALS = 500
_YEAR = 366 * 24 * 3600.0


class Body(BaseModel):
    """The base of all bodies."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, hide_input_in_errors=True
    )


class LoginBody(Body):
    """A one-time code."""

    code: Annotated[Id, Field(description="The code that `amplifier serve` printed.")]


class StandingBody(Body):
    """That the answer is kept as a rule."""

    scope: Annotated[Id, Field(description="The id of one of the approval's scopes.")]
    seconds: Annotated[float, Field(gt=0, le=_YEAR)] = 30 * 24 * 3600.0
    uses: Annotated[int | None, Field(ge=1, le=1_000_000)] = None

    def to_wish(self) -> StandingWish:
        """For the store."""
        return StandingWish(self.scope, self.seconds, self.uses)


class DecisionBody(Body):
    """A decision; who made it is never part of it."""

    option: Annotated[int, Field(ge=0, le=1000, description="The id of an offered option.")]
    nonce: Id
    key: Annotated[Id, Field(description="Made up once a decision; again: the same answer.")]
    comment: Comment = ""
    edited_input: dict[str, Any] | None = None
    standing: StandingBody | None = None

    def to_choice(self) -> Choice:
        """For the store."""
        wish = None if self.standing is None else self.standing.to_wish()
        return Choice(self.option, self.nonce, self.key, self.comment, self.edited_input, wish)


class RefusedApproval(Body):
    """One of several approvals to refuse."""

    id: Id
    nonce: Id


class RefusalsBody(Body):
    """Several approvals that are refused at once."""

    approvals: Annotated[list[RefusedApproval], Field(min_length=1, max_length=MAX_REFUSALS)]
    key: Id
    comment: Comment = ""


class TokenBody(Body):
    """A token to make."""

    name: Id
    scopes: Annotated[list[Id], Field(min_length=1, max_length=32)]
    seconds: Annotated[float | None, Field(gt=0, le=10 * _YEAR)] = None


class CodeBody(Body):
    """A one-time code to make."""

    name: Id
    scopes: Annotated[list[Id], Field(min_length=1, max_length=32)] = ["read", "decide"]
    seconds: Annotated[float, Field(ge=1, le=24 * 3600.0)] = 600.0
