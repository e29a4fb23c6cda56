"""How much hooks may inject, and how much they have."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from amplifier_core.errors import InjectionTooLarge
from amplifier_core.models.injection import Injection as Injection
from amplifier_core.mount_plan import InjectionLimits
from amplifier_core.utils.tokens import estimate_tokens

logger = logging.getLogger(__name__)


class InjectionBudget:
    """The tokens that hooks injected in the running turn."""

    def __init__(self, limits: InjectionLimits, count: Callable[[str], int] | None = None) -> None:
        self.limits = limits
        self.used = 0
        self.count = count or estimate_tokens

    def count_tokens(self, text: str) -> int:
        """What a text costs; a counter that fails or talks nonsense is not asked again."""
        try:
            found: Any = self.count(text)
        except Exception as error:  # noqa: BLE001 - a provider's code
            found = error
        if type(found) is int and found >= 0:
            return found
        logger.error("A token count of %r; from now on four characters are one", found)
        self.count = estimate_tokens
        return estimate_tokens(text)

    def check_size(self, injection: Injection) -> None:
        """Raise when one injection is over the size limit."""
        limit = self.limits.size
        if limit is not None and injection.size > limit:
            raise InjectionTooLarge(
                f"Context injection of hook '{injection.hook}' exceeds {limit} bytes: "
                f"it has {injection.size}"
            )

    def spend(self, tokens: int) -> bool:
        """Count tokens; False, and nothing counted, if they do not fit and must be dropped."""
        limit = self.limits.budget
        fits = limit is None or self.used + tokens <= limit
        if not fits and self.limits.over_budget == "drop":
            return False
        self.used += tokens
        return True

    def is_exceeded(self) -> bool:
        """Whether the soft limit has been passed."""
        return self.limits.budget is not None and self.used > self.limits.budget
