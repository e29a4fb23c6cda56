"""The address of a store: which one is meant, and on which database it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeGuard
from urllib.parse import unquote

from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.machine.locations import find_data_home

VARIABLE = "AMPLIFIER_STORE"

_POSTGRES = ("postgresql://", "postgres://")


def find_store() -> str:
    """The store that is meant when none is named."""
    default = find_data_home() / "amplifier" / "store" / "store.db"
    return os.environ.get(VARIABLE) or str(default)


def names_postgres(url: str | Path) -> TypeGuard[str]:
    """Whether it is on PostgreSQL; else it is a file."""
    return isinstance(url, str) and url.startswith(_POSTGRES)


def read_path(url: str | Path) -> Path:
    """The file that a path or `sqlite:///path` names."""
    text = os.fspath(url)
    scheme, separator, rest = text.partition("://")
    if not separator:
        path = Path(text)
    elif scheme == "sqlite" and rest.startswith("/"):
        path = Path(unquote(rest))
    else:
        raise BadRequest(
            f"{scheme}://… is no store; use a path, sqlite:///PATH or postgresql://HOST/DATABASE"
        )
    if not text or "\0" in text or ":memory:" in text:
        raise BadRequest(f"{text!r} is no file for a store; use a path on a local disk")
    return path.expanduser().absolute()
