"""Errors of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_core.errors import AmplifierError

if TYPE_CHECKING:
    from amplifier_hooks.approvals.models import Approval


class StoreError(AmplifierError):
    """The store cannot do what it was asked to."""


class StoreUnavailable(StoreError):
    """The database, or the server in front of it, does not answer."""


class StoreOutage(StoreUnavailable):
    """It does not answer at present; the same may succeed later."""


class NotFound(StoreError):
    """There is no such approval, rule, session or trail."""


class NotAllowed(StoreError):
    """This person may not do this."""


class BadRequest(StoreError):
    """The request makes no sense; the message says what would."""


class TooMany(StoreError):
    """A limit is reached: of waiting approvals, or of requests."""


class Conflict(StoreError):
    """Somebody was first, or time was; `approval` is how it stands."""

    def __init__(self, message: str, approval: Approval | None = None) -> None:
        super().__init__(message)
        self.approval = approval
