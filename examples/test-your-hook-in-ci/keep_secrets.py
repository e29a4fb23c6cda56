"""Keep the agent away from files with secrets.

Listens to  tool:pre
Answers     deny, or continue
"""

import re
from typing import Any

from amplifier_core import HookResult, hook

FILES = {".env", ".netrc", "id_ed25519", "credentials.json"}
PLACES = ("file_path", "path", "command")


@hook("tool:pre", on_error="deny", timeout=10)
async def keep_secrets(event: str, data: dict[str, Any]) -> HookResult:
    """A file counts wherever it is named: as a path, in a folder, in a command."""
    for place in PLACES:
        text = data["tool_input"].get(place, "")
        if found := FILES.intersection(re.split(r"[\s/\\=:;|<>'\"]+", text)):
            reason = f"{min(found)} has secrets. Ask for the value that you need."
            return HookResult(action="deny", reason=reason)
    return HookResult(action="continue")
