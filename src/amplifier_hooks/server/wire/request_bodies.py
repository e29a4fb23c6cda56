"""A question that an agent puts, and that it no longer asks."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import Field

from amplifier_hooks.approvals.models import ApprovalRequest, Option, Requirement
from amplifier_hooks.server.wire.bodies import Body
from amplifier_hooks.server.wire.text import STORABLE, Comment, Id, Name

_LONGEST = 30 * 24 * 3600.0
_LONG = Field(max_length=1024 * 1024)


class OptionBody(Body):
    """A possible answer."""

    id: Annotated[int, Field(ge=0, le=1000)]
    label: Annotated[str, Field(min_length=1, max_length=200), STORABLE]
    allows: bool
    remembered: bool = False


class RequirementBody(Body):
    """Who may allow it."""

    persons: Annotated[int, Field(ge=1, le=100)] = 1
    requester_may_approve: bool = True
    scope: Name = ""


class ApprovalRequestBody(Body):
    """A question for people; who asks is what the token says."""

    key: Annotated[str, Field(min_length=1, max_length=1000), STORABLE]
    session_id: Id
    prompt: Annotated[str, Field(max_length=64 * 1024), STORABLE]
    options: Annotated[list[OptionBody], Field(min_length=1, max_length=16)]
    timeout: Annotated[float, Field(gt=0, le=_LONGEST)]
    digest: Name
    hook: Name
    event: Name = ""
    reason: Annotated[str, _LONG, STORABLE] = ""
    tool_name: Name = ""
    tool_call_id: Name = ""
    tool_input: dict[str, Any] = Field(default_factory=dict)
    preview: Annotated[str, _LONG, STORABLE] = ""
    notes: Annotated[list[Annotated[str, _LONG, STORABLE]], Field(max_length=16)] = Field(
        default_factory=list
    )
    default: Literal["allow", "deny"] = "deny"
    editable: bool = False
    requester: Annotated[Name, Field(description="Ignored: the token says who asks.")] = ""
    machine: Name = ""
    working_dir: Annotated[str, Field(max_length=4096), STORABLE] = ""
    requirement: RequirementBody = RequirementBody()

    def to_request(self, requester: str) -> ApprovalRequest:
        """For the store; keys of different agents never meet."""
        given = self.model_dump(exclude={"options", "notes", "requirement", "requester", "key"})
        return ApprovalRequest(
            **given,
            key=f"{requester}:{sha256(self.key.encode()).hexdigest()}",
            requester=requester,
            options=tuple(Option(**one.model_dump()) for one in self.options),
            notes=tuple(self.notes),
            requirement=Requirement(**self.requirement.model_dump()),
        )


class WithdrawalBody(Body):
    """That the agent no longer asks."""

    by: Name = ""
    option: Name = ""
    reason: Comment = ""
