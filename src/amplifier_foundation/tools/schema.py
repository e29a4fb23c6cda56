"""The JSON schema of an input model, plain enough for every model API."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Without references, titles and nullable unions, which some servers do not take."""
    schema = model.model_json_schema(by_alias=True)
    plain: dict[str, Any] = _plain(schema, schema.pop("$defs", {}))
    plain["additionalProperties"] = False
    return plain


def _plain(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        node = {**definitions[node["$ref"].rpartition("/")[2]], **node}
    if "anyOf" in node:
        node = {**_without_null(node["anyOf"]), **node}
    return {
        key: _plain_properties(value, definitions)
        if key == "properties"
        else _plain(value, definitions)
        for key, value in node.items()
        if key not in {"title", "$ref", "anyOf"} and not (key == "default" and value is None)
    }


def _plain_properties(properties: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Here the keys are names, also one called `title`."""
    return {name: _plain(value, definitions) for name, value in properties.items()}


def _without_null(options: list[dict[str, Any]]) -> dict[str, Any]:
    return next(option for option in options if option.get("type") != "null")
