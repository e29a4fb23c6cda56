"""Which of the mounted providers a session talks to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def resolve_provider(providers: Mapping[str, Any], orchestrator: Any = None) -> Any:
    """The provider that the loop was configured with, else the first one; None if there is none."""
    wanted = getattr(getattr(orchestrator, "config", None), "provider", None)
    return providers.get(wanted) if wanted else next(iter(providers.values()), None)
