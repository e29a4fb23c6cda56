"""Values as TOML writes them, in one line."""

from __future__ import annotations

import datetime
import json
import re
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_value(value: Any) -> str:
    """The value, as `tomllib` reads it back."""
    if isinstance(value, dict):
        members = (f"{write_key(key)} = {write_value(one)}" for key, one in value.items())
        inner = ", ".join(members)
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(write_value, value))}]"
    if isinstance(value, str):
        return _write_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return repr(value)


def write_key(*names: str) -> str:
    """A key, with dots between its parts."""
    return ".".join(one if _BARE.fullmatch(one) else _write_text(one) for one in names)


def _write_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
