"""Images, sounds and files in results: hooks see their text, or their size and a digest."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from amplifier_core.utils import digest

_MEDIA = ("image", "audio")
_UNREADABLE = ("image/", "audio/", "video/")
_AS_TEXT = "<base64 of this text> "
_STANDARD = str.maketrans("-_", "+/")
_OWN = frozenset({"structuredContent", "arguments", "input", "_meta"})
"""Below these keys there are no images and files, only what a server or a model calls so."""


def hide_bulk(value: Any) -> Any:
    """The same with the text that a file has, or the size and a digest of an image or a file."""
    if isinstance(value, list):
        return [hide_bulk(one) for one in value]
    if not isinstance(value, dict):
        return value
    bulk = _find_bulk_key(value)
    return {
        name: _describe_bulk(value, one) if name == bulk else _hide_below(name, one)
        for name, one in value.items()
    }


def _hide_below(name: str, value: Any) -> Any:
    return value if _is_own(name, value) else hide_bulk(value)


def _is_own(name: str, value: Any) -> bool:
    """Whether what stands there is no image and no file, whatever it is called."""
    filled_in = name == "content" and isinstance(value, dict) and "type" not in value
    return name in _OWN or filled_in


def _find_bulk_key(value: Mapping[str, Any]) -> str | None:
    """The key with base64; a text that only has such a name is shown to hooks as it is."""
    if value.get("type") in _MEDIA and isinstance(value.get("data"), str):
        return "data"
    return "blob" if "uri" in value and isinstance(value.get("blob"), str) else None


def _describe_bulk(owner: Mapping[str, Any], data: str) -> str:
    kind = str(owner.get("mimeType") or "").lower()
    plain = "".join(data.split()).translate(_STANDARD).rstrip("=")
    try:
        found = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
        if kind.startswith(_UNREADABLE) and "xml" not in kind:
            return _summarize(data)
        return _AS_TEXT + found.decode(errors="replace" if kind.startswith("text/") else "strict")
    except UnicodeDecodeError:
        return _summarize(data)
    except ValueError:
        return data


def _summarize(data: str) -> str:
    return f"<{len(data) * 3 // 4} bytes, sha256 {digest(data)[:32]}>"


def show_bulk(value: Any, before: Any) -> Any:
    """The same with the images and files that it had; what a hook wrote there stays."""
    return _put_back(value, dict(_iterate_bulk(before)))


def _iterate_bulk(value: Any) -> Iterator[tuple[str, str]]:
    """Each as hooks see it, and as it is."""
    if isinstance(value, list):
        for one in value:
            yield from _iterate_bulk(one)
    elif isinstance(value, dict):
        bulk = _find_bulk_key(value)
        if bulk is not None:
            yield _describe_bulk(value, value[bulk]), value[bulk]
        for name, one in value.items():
            if not _is_own(name, one):
                yield from _iterate_bulk(one)


def _put_back(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_put_back(one, known) for one in value]
    if not isinstance(value, dict):
        return value
    bulk = _find_bulk_key(value)
    return {
        name: _encode(one, known) if name == bulk else _put_back(one, known)
        for name, one in value.items()
    }


def _encode(shown: str, known: Mapping[str, str]) -> str:
    if shown in known or not shown.startswith(_AS_TEXT):
        return known.get(shown, shown)
    return base64.b64encode(shown.removeprefix(_AS_TEXT).encode()).decode()
