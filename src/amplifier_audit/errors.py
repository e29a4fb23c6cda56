"""The exceptions of the audit trail.

AuditError
├── AuditUnavailable    the log cannot take a record durably
├── NotALog             the path holds no log that can be read
├── MalformedRecord     a line that no writer of this format has written
├── BadCheckpoint       a text that is not a checkpoint
├── BadKey              a key that cannot be used
├── WitnessUnavailable  a witness does not answer, or not as one
└── WitnessRefused      a witness has seen another history
"""

from __future__ import annotations


class AuditError(Exception):
    """The audit trail cannot do what was asked."""


class AuditUnavailable(AuditError):
    """The log cannot take a record durably."""


class NotALog(AuditError):
    """The path holds no log that can be read."""


class MalformedRecord(AuditError):
    """A line that no writer of this format has written."""


class BadCheckpoint(AuditError):
    """A text that is not a checkpoint."""


class BadKey(AuditError):
    """A key that cannot be used."""


class WitnessUnavailable(AuditError):
    """A witness does not answer, or not as one."""


class WitnessRefused(AuditError):
    """A witness has seen another history of the log."""
