"""The JSON schema of files with cases, made of the rules that they are checked with."""

from __future__ import annotations

from typing import Any

from amplifier_hooks.agent.bundles.schema import SUBSTITUTION, Schema, get_schema
from amplifier_hooks.cli.commands.schema.bundle_schema import DIALECT
from amplifier_hooks.insight.cases.schema import FILE

_KEYS = {
    "hook": "The hook file, the folder of a package, or the id of a module; paths from this file.",
    "bundle": "A bundle whose hooks are tested together.",
    "config": "Options of the module.",
    "timeout": "Seconds that the hooks may take for one event.",
    "cases": "Events, and what the hooks should answer.",
    "event": "The event to send, such as tool:pre.",
    "data": "Fields of the event; in `expect`, after the hooks. A name may be a path.",
    "expect": "The action, or a mapping with what is expected of the answer.",
    "times": "How often the event is sent.",
    "complete": "false: send exactly these data, without samples of the other fields.",
    "name": "What the case is called.",
    "files": "Text files by path; the case runs in a new folder that contains them.",
    "steps": "Several events, in order.",
    "error": "A part of the error of a hook that should fail.",
}


def write_schema() -> Schema:
    """The whole schema; a list alone stands for the cases of a file."""
    file = _rewrite(get_schema(FILE))
    either = {"anyOf": [file, file["properties"]["cases"]]}
    return {"$schema": DIALECT, "title": "Cases for hooks", **either}


def _rewrite(schema: Any) -> Any:
    """The same without substitutions, which such files do not have, and with descriptions."""
    if isinstance(schema, list):
        return [_rewrite(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if SUBSTITUTION in schema.get("anyOf", []):
        return _rewrite(next(one for one in schema["anyOf"] if one != SUBSTITUTION))
    inner = {key: _rewrite(value) for key, value in schema.items()}
    if "properties" in inner:
        inner["properties"] = {
            key: {"description": _KEYS[key], **one} if key in _KEYS else one
            for key, one in inner["properties"].items()
        }
    return inner
