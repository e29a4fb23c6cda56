"""The JSON schema of `amplifier.yaml`, made of the rules that bundles are checked with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amplifier_hooks.agent.bundles import schema as rules
from amplifier_hooks.agent.bundles.schema import SUBSTITUTION, Schema, get_schema, text
from amplifier_hooks.cli.commands.schema import descriptions
from amplifier_hooks.cli.commands.schema.module_options import find_modules, write_options

DIALECT = "http://json-schema.org/draft-07/schema#"

_SECTIONS: dict[int, tuple[str, descriptions.Meanings]] = {
    id(get_schema(rule)): (name, meanings)
    for rule, name, meanings in (
        (rules.BUNDLE, "bundle", descriptions.BUNDLE),
        (rules.MODULE, "module", descriptions.MODULE),
        (rules.HOOK, "hook", descriptions.HOOK),
        (rules.SESSION, "session", descriptions.SESSION),
        (rules.LIMITS, "limits", descriptions.LIMITS),
        (rules.AGENT, "agent", descriptions.AGENT),
        (rules.APPROVAL, "approval", descriptions.APPROVAL),
        (rules.AUDIT, "audit", descriptions.AUDIT),
        (rules.SANDBOX, "sandbox", descriptions.SANDBOX),
    )
}


def write_schema() -> Schema:
    """The whole schema; it needs nothing from elsewhere."""
    definitions: dict[str, Schema] = {
        "substitution": {"type": "string", "pattern": r"\$\{"},
    }
    bundle = _rewrite(get_schema(rules.BUNDLE), definitions, top=True)
    configs = list(_write_configs(definitions))
    for name in ("module", "hook"):
        entry = {**definitions[name], "allOf": configs}
        entry["properties"]["module"] = _offer_ids(entry["properties"]["module"])
        definitions[name] = {"anyOf": [_offer_ids({}), entry]}
    # The word alone is short for its mode, and YAML may read `off` as false.
    definitions["sandbox"] = {"anyOf": [_write_modes(), definitions["sandbox"]]}
    return {"$schema": DIALECT, "title": "amplifier.yaml", **bundle, "$defs": definitions}


def _rewrite(schema: Any, definitions: dict[str, Schema], *, top: bool = False) -> Any:
    """A schema whose sections are definitions, with a description for each key."""
    if isinstance(schema, list):
        return [_rewrite(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if not top and id(schema) in _SECTIONS:
        name = _SECTIONS[id(schema)][0]
        if name not in definitions:
            definitions[name] = _rewrite(schema, definitions, top=True)
        return {"$ref": f"#/$defs/{name}"}
    inner = {key: _rewrite(value, definitions) for key, value in schema.items()}
    if id(schema) in _SECTIONS:
        meanings = _SECTIONS[id(schema)][1]
        inner["properties"] = {
            key: _describe(one, meanings.get(key)) for key, one in inner["properties"].items()
        }
    return inner


def _describe(schema: Schema, meaning: str | None) -> Schema:
    """Beside a reference nothing else counts in this dialect, so it is wrapped."""
    body = {"allOf": [schema]} if "$ref" in schema else schema
    return body if meaning is None else {"description": meaning, **body}


def _offer_ids(schema: Schema) -> Schema:
    """Any text, with the modules that come along to choose from."""
    described = {key: one for key, one in schema.items() if key == "description"}
    return {**described, "anyOf": [{"enum": list(find_modules())}, get_schema(text)]}


def _write_modes() -> Schema:
    return {"anyOf": [{"enum": ["required", "auto", "off", False]}, SUBSTITUTION]}


def _write_configs(definitions: dict[str, Schema]) -> Iterator[Schema]:
    """For each module that comes along, the options that its entry may have."""
    for name, entry in find_modules().items():
        options, needed = write_options(entry)
        definitions |= needed
        definitions[f"{name}.options"] = options
        config = {"anyOf": [{"$ref": f"#/$defs/{name}.options"}, {"type": "null"}]}
        yield {
            "if": {"properties": {"module": {"const": name}}, "required": ["module"]},
            "then": {"properties": {"config": config}},
        }
