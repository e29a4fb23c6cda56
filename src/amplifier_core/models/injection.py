"""One hook's text on its way into the conversation."""

from __future__ import annotations

from dataclasses import dataclass, field

from amplifier_core.models.hook_counts import HookCounts
from amplifier_core.models.hook_result import Role


@dataclass(frozen=True, slots=True)
class Injection:
    """What a hook adds to the conversation, and how."""

    hook: str
    event: str
    text: str
    role: Role = "system"
    ephemeral: bool = False
    append_to_last_tool_result: bool = False
    user_message: str | None = None  # what the person reads if it cannot be injected
    counts: HookCounts | None = field(default=None, repr=False, compare=False)
    """The figures of that hook."""

    @property
    def size(self) -> int:
        return len(self.text.encode("utf-8", "surrogatepass"))
