"""Keys that some readers take for others: Go's, for one, does not tell "Content" from "content"."""

from __future__ import annotations

from typing import Any

_KNOWN = (
    "action arguments blob code content contents data description inputRequests inputResponses "
    "inputSchema instructions isError items message messages method mimeType model name "
    "nextCursor outputSchema params prompts requestState resourceTemplates resources "
    "resource result resultType role stopReason structuredContent systemPrompt task tasks "
    "text title tools type uri url _meta"
)
"""What clients and servers act upon, or models read."""

_OWN = frozenset(
    {"structuredContent", "arguments", "inputSchema", "outputSchema", "requestedSchema", "input"}
    | {"_meta", "metadata"}
)
"""Below these keys, names are the server's own."""

_BY_NAME = frozenset({"inputRequests", "inputResponses"})
"""The names right below these keys are the server's own."""

_BY_FOLDED = {one.casefold(): one for one in _KNOWN.split()}


def drop_lookalikes(value: Any) -> Any:
    """The same without keys that differ from known ones in case only; itself if it has none."""
    if isinstance(value, list):
        new = [drop_lookalikes(one) for one in value]
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new
    if not isinstance(value, dict):
        return value
    kept = {
        name: _drop_below(name, one)
        for name, one in value.items()
        if _BY_FOLDED.get(name.casefold(), name) == name
    }
    return _choose(value, kept)


def _drop_below(name: str, value: Any) -> Any:
    if name in _OWN or (name == "content" and isinstance(value, dict) and "type" not in value):
        return value  # of an elicitation, what a person has filled in
    if name in _BY_NAME and isinstance(value, dict):
        return _choose(value, {key: drop_lookalikes(one) for key, one in value.items()})
    return drop_lookalikes(value)


def _choose(value: dict[str, Any], kept: dict[str, Any]) -> dict[str, Any]:
    same = len(kept) == len(value) and all(kept[name] is one for name, one in value.items())
    return value if same else kept
