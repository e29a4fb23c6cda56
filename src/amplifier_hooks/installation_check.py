"""Whether what this package stands on is installed, is ours, and whole.

Another project has an `amplifier-core` too, and pip puts one in the place of the other.
"""

from __future__ import annotations

import sys


def find_clash() -> str | None:
    """One sentence about what is wrong and what to do; None if all is well."""
    try:
        import amplifier_audit as amplifier_audit
        from amplifier_core import only_kernel as only_kernel
    except Exception as error:  # noqa: BLE001 - another kernel may fail in any way
        if "amplifier-hooks" in str(error):
            return str(error)  # of our own kernel, which found files of another
        return (
            f"amplifier-hooks is not completely installed ({error}): another distribution, "
            "amplifier-core, took the place of its kernel, or a part of it was removed; run "
            f"`{sys.executable} -m pip uninstall amplifier-core amplifier-audit amplifier-hooks` "
            "and install amplifier-hooks again, as docs/installing.md says"
        )
    return None
