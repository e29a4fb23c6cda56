"""Replace e-mail addresses by pseudonyms: the same address always by the same one.

Listens to  prompt:submit, tool:post
Answers     modify, or continue
"""

import re
from typing import Any

from amplifier_core import HookResult, hook

ADDRESS = re.compile(r"\b[\w.%+-]+@[\w.-]+\.[A-Za-z]{2,}\b")
_known: dict[str, str] = {}


# -1100: before hooks-redaction, which would leave only [REDACTED:email].
@hook("prompt:submit", "tool:post", priority=-1100, on_error="deny")
async def use_pseudonyms(event: str, data: dict[str, Any]) -> HookResult:
    """A guard, because a failure would show the model what it must not see."""
    key = "prompt" if event == "prompt:submit" else "tool_result"
    changed = replace_in(data[key])
    if changed == data[key]:
        return HookResult(action="continue")
    return HookResult(action="modify", data={**data, key: changed})


def replace_in(value: Any) -> Any:
    """The value with every address in it replaced, however deep it is."""
    if isinstance(value, str):
        return ADDRESS.sub(lambda found: name_for(found[0]), value)
    if isinstance(value, dict):
        return {key: replace_in(one) for key, one in value.items()}
    if isinstance(value, list):
        return [replace_in(one) for one in value]
    return value


def name_for(address: str) -> str:
    """`customer-1`, `customer-2`: for as long as the session runs."""
    return _known.setdefault(address.casefold(), f"customer-{len(_known) + 1}")
