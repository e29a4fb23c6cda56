"""What an audit log can be given by name."""

from __future__ import annotations

import inspect

from amplifier_audit.log import AuditLog
from amplifier_audit.settings import Options


def test_opening_takes_what_the_constructor_takes() -> None:
    """So that neither lags behind the other."""
    parameters = inspect.signature(AuditLog).parameters.values()
    named = {one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}
    assert named == set(Options.__annotations__)
