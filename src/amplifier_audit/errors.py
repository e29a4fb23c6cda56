"""The exceptions of the audit trail.

AuditError
└── AuditUnavailable    the log cannot take a record durably
"""

from __future__ import annotations


class AuditError(Exception):
    """The audit trail cannot do what was asked."""


class AuditUnavailable(AuditError):
    """The log cannot take a record durably."""
