"""Questions that agents ask in these tests."""

from __future__ import annotations

import itertools
from typing import Any

from amplifier_hooks.approvals.models import ApprovalRequest, Option

DENY, ONCE, ALWAYS = 2, 0, 1
OPTIONS = (
    Option(id=ONCE, label="Allow once", allows=True),
    Option(id=ALWAYS, label="Allow always", allows=True, remembered=True),
    Option(id=DENY, label="Deny", allows=False),
)
COMMAND = "sed -i 's/checkout=off/checkout=on/' production/flags.env"
DIFF = """--- production/flags.env
+++ production/flags.env
@@ -1,3 +1,3 @@
 search=on
-checkout=off
+checkout=on
 beta=off
"""

_numbers = itertools.count(1)


def make_question(**changes: Any) -> ApprovalRequest:
    """A guard's question about a command, unless something else is wanted."""
    number = next(_numbers)
    command = changes.get("tool_input", {}).get("command", COMMAND)
    facts: dict[str, Any] = {
        "key": f"question-{number}",
        "session_id": "shop-1",
        "prompt": "Allow Bash to write to the guarded path ~/shop/production/flags.env?"
        f"\n\nThe command:\n{command}",
        "options": OPTIONS,
        "timeout": 300.0,
        "digest": f"sha256:{number:064x}",
        "hook": "hooks-production-guard",
        "event": "tool:pre",
        "reason": "guarded by 'production/**'",
        "tool_name": "Bash",
        "tool_call_id": f"call-{number}",
        "tool_input": {"command": COMMAND},
        "editable": True,
        "requester": "agent-7",
        "machine": "build-3",
        "working_dir": "/home/ann/shop",
    }
    return ApprovalRequest(**{**facts, **changes})


def make_edit(**changes: Any) -> ApprovalRequest:
    """A question about a change of a file, with its diff."""
    given = {
        "file_path": "production/flags.env",
        "old_string": "checkout=off",
        "new_string": "checkout=on",
    }
    facts: dict[str, Any] = {
        "prompt": "Allow Edit to change production/flags.env?",
        "tool_name": "Edit",
        "tool_input": given,
        "preview": DIFF,
        "notes": ("The file is not under version control.",),
    }
    return make_question(**{**facts, **changes})
