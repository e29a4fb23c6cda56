"""The JSON schema of `amplifier.yaml`, from the models that bundles are checked with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from amplifier_hooks.agent.bundles.schema import BundleFile
from amplifier_hooks.cli.commands.schema.module_options import (
    SUBSTITUTION,
    Schema,
    find_modules,
    relax,
    wrap_references,
    write_options,
)

DIALECT = "http://json-schema.org/draft-07/schema#"


class Generator(GenerateJsonSchema):
    """Without titles and defaults of keys: a key that is left out has no value."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: Any) -> Schema:
        return self.generate_inner(schema["schema"])


def write_schema() -> Schema:
    """The whole schema; it needs nothing from elsewhere."""
    bundle = wrap_references(relax(BundleFile.model_json_schema(schema_generator=Generator)))
    definitions = bundle.pop("$defs")
    definitions["substitution"] = {"type": "string", "pattern": r"\$\{"}
    configs = list(_write_configs(definitions))
    for name in ("Module", "Hook"):
        entry = {**definitions[name], "allOf": configs}
        entry["properties"]["module"] = _offer_ids(entry["properties"]["module"])
        definitions[name] = {"anyOf": [_offer_ids({"type": "string", "pattern": r"\S"}), entry]}
    # The word alone is short for its mode, and YAML may read `off` as false.
    definitions["Sandbox"] = {"anyOf": [_write_modes(), definitions["Sandbox"]]}
    return {"$schema": DIALECT, **bundle, "title": "amplifier.yaml", "$defs": definitions}


def _offer_ids(text: Schema) -> Schema:
    """Any text, with the modules that come along to choose from."""
    described = {key: one for key, one in text.items() if key == "description"}
    return {**described, "anyOf": [{"enum": list(find_modules())}, text]}


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
