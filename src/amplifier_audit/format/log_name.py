"""The name of a log: whose trail it is, in a form that fits a folder and a line of a checkpoint."""

from __future__ import annotations

import hashlib
import re

from amplifier_audit.errors import AuditError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)


def name_log(session: str) -> str:
    """The name of a session's log: its id where that is plain, else a digest of the id."""
    digest = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()
    return session if is_log_name(session) else digest


def is_log_name(text: object) -> bool:
    """Whether a value can be the name of a log."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def refuse_bad_log_name(name: str | None) -> None:
    """No name, or one that stays on its line and in its folder."""
    if name is not None and not is_log_name(name):
        raise AuditError(
            f"A log's name has up to 128 letters, digits, dots, dashes and underscores, "
            f"and begins with a letter or digit; got {name!r}"
        )
