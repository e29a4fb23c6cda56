"""A text in the shape of a tool's result: Claude Code ignores a result of any other shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_KEPT = ("type", "status", "mode", "kind", "role", "filepath")
"""The ends of keys whose texts say what the rest is; they have a fixed set of values."""

_SHOWN = ("stdout", "content", "result", "text", "output", "newString", "filenames")
"""The keys whose text the model reads, the likeliest first."""

SHOWN_BY = frozenset({"Bash", "Read", "Grep", "Glob", "WebFetch", "Agent"})
"""The tools whose text the model reads; of others it may be told only that they succeeded."""

_DEEPEST = 50

Place = tuple[str | int, ...]


def reshape(tool: str, shape: Any, text: str) -> Any:
    """The result of a tool with nothing in it but this text."""
    if tool == "Read":
        return _reshape_read(shape, text)
    if not isinstance(shape, dict | list):
        return text
    emptied = _empty("", shape, _DEEPEST)
    place = _find_place(emptied, shape)
    if place:
        _put(emptied, place, text)
    emptied = _drop_empty(emptied)
    if tool == "Bash" and isinstance(emptied, dict):
        emptied["isImage"] = False
    return emptied


def has_shape(shape: Any, output: Any) -> bool:
    """Whether an output still is of this shape, so that only its texts may have changed."""
    if isinstance(shape, dict):
        return isinstance(output, dict) and output.keys() == shape.keys()
    return isinstance(shape, list) == isinstance(output, list)


def _reshape_read(shape: Any, text: str) -> dict[str, Any]:
    """A file of text, also in the place of a picture or a notebook."""
    file = shape.get("file") if isinstance(shape, dict) else None
    path = file.get("filePath") if isinstance(file, dict) else None
    lines = text.count("\n") + 1
    named = {"filePath": path if isinstance(path, str) else "", "content": text}
    counted = {"numLines": lines, "startLine": 1, "totalLines": lines}
    return {"type": "text", "file": {**named, **counted}}


def _empty(key: str, value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if key.lower().endswith(_KEPT) else ""
    if depth and isinstance(value, dict):
        return {name: _empty(name, inner, depth - 1) for name, inner in value.items()}
    if depth and isinstance(value, list):
        if all(isinstance(one, str) for one in value):
            return [""] if value else []
        return [_empty(key, one, depth - 1) for one in value]
    return value if not isinstance(value, dict | list) else type(value)()


def _drop_empty(value: Any) -> Any:
    """Lists of texts that are empty now: an empty name of something is worse than none."""
    if isinstance(value, dict):
        return {name: _drop_empty(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [] if value == [""] else [_drop_empty(one) for one in value]
    return value


def _find_place(emptied: Any, shape: Any) -> Place:
    """Where the text goes: to what the model reads, else to where most of the text was."""
    places = [place for place, key in _walk(emptied) if not key.lower().endswith(_KEPT)]
    for name in _SHOWN:
        for place in places:
            if name in place:
                return place
    return max(places, key=lambda place: len(_get(shape, place)), default=())


def _walk(value: Any, place: Place = (), key: str = "") -> Iterator[tuple[Place, str]]:
    """Every text in it, and the name it has."""
    if isinstance(value, str):
        yield place, key
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _walk(inner, (*place, name), name)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _walk(inner, (*place, index), key)


def _get(value: Any, place: Place) -> str:
    for step in place:
        value = value[step]
    return value if isinstance(value, str) else ""


def _put(value: Any, place: Place, text: str) -> None:
    for step in place[:-1]:
        value = value[step]
    value[place[-1]] = text
