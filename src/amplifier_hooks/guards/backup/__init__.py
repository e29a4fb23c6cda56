"""hooks-backup: copy a file before an editing tool changes it.

Listens to  tool:pre
Answers     continue, always; with a message when a copy could not be made
Configure   directory, roots, tools, max_count, max_bytes, max_age_days, max_file_bytes, timeout
"""

from __future__ import annotations

from amplifier_hooks.guards.backup.config import DIRECTORY, NAME, Config
from amplifier_hooks.guards.backup.hook import mount
from amplifier_hooks.guards.backup.restorations import Restoration, list_restorations
from amplifier_hooks.guards.backup.store import (
    Backup,
    BackupError,
    Limits,
    find_backup,
    find_surplus,
    list_backups,
    locate_store,
    restore,
)

__all__ = [
    "DIRECTORY",
    "NAME",
    "Backup",
    "BackupError",
    "Config",
    "Limits",
    "Restoration",
    "find_backup",
    "find_surplus",
    "list_backups",
    "list_restorations",
    "locate_store",
    "mount",
    "restore",
]
