"""Which databases this process keeps its answers in."""

from __future__ import annotations

import os
import sys

_ENGINE = "amplifier_hooks.approvals.stores.postgres"


def uses_postgres() -> bool:
    """Whether it has opened one on PostgreSQL, or would: its driver is loaded only for that."""
    return _ENGINE in sys.modules or os.environ.get("AMPLIFIER_STORE", "").startswith("postgres")
