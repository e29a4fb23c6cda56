"""Whatever a bundle may say, it can be trusted: each key of the schema, each kind of its values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.agent.bundles.schema import BundleFile
from amplifier_hooks.agent.trust.material import collect_material
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.yaml_files.node import BundleError
from tests.support.project import Project

Schema = dict[str, Any]
SCHEMA: Schema = BundleFile.model_json_schema()
_NEEDED: dict[str, dict[str, Any]] = {
    # What a key needs beside it, for a bundle that can be used.
    "approval.server": {"via": "server", "token": "t0ken-t0ken"},
    "approval.token": {"via": "server", "server": "http://127.0.0.1:8411"},
    "approval.persons": {"via": "store"},
    "approval.requester_may_approve": {"via": "store"},
    "approval.scope": {"via": "store"},
}
_SERVER = {"server": "http://127.0.0.1:8411", "token": "t0ken-t0ken"}


def list_values(schema: Schema, path: str) -> Iterator[tuple[str, Any]]:
    """Valid values of a schema, at least one of each kind, with the keys that lead to them."""
    if "$ref" in schema:
        yield from list_values(SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], path)
    elif "anyOf" in schema:
        for one in schema["anyOf"]:
            yield from list_values(one, path)
    elif "enum" in schema:
        yield from ((path, one) for one in schema["enum"])
    elif schema.get("type") == "object":
        yield from _list_objects(schema, path)
    elif schema.get("type") == "array":
        yield from ((where, [one]) for where, one in list_values(schema["items"], f"{path}[]"))
    else:
        kinds = schema.get("type", ["string", "integer", "number", "boolean", "null"])
        for kind in [kinds] if isinstance(kinds, str) else kinds:
            yield from ((path, one) for one in _list_scalars(kind, schema))


def _list_objects(schema: Schema, path: str) -> Iterator[tuple[str, Any]]:
    needed = {name: f"a-{name}" for name in schema.get("required", ())}
    for name, inner in schema.get("properties", {}).items():
        below = f"{path}.{name}" if path else name
        for where, value in list_values(inner, below):
            yield where, {**needed, **_NEEDED.get(below, {}), name: value}
    if isinstance(free := schema.get("additionalProperties"), dict):
        for where, value in list_values(free, f"{path}.any"):
            yield where, {"any": value}


def _list_scalars(kind: str, schema: Schema) -> list[Any]:
    least = schema.get("minimum", 0)
    numbers = [least, least + 60]
    address = "http://127.0.0.1:8411" if "http" in schema.get("pattern", "") else "a text"
    return {
        "string": [address],
        "integer": numbers,
        "number": [60, 0.5, 86_400.0],
        "boolean": [True, False],
        "null": [None],
    }[kind]


CASES = [(path, value) for path, value in list_values(SCHEMA, "") if not path.startswith("include")]


def merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """One bundle with another one's keys."""
    both = {k: merge(below[k], above[k]) for k in below.keys() & above.keys() if k == "session"}
    return {**below, **above, **both}


def test_a_bundle_with_any_valid_value_can_be_trusted(project: Project, tmp_path: Path) -> None:
    """What was trusted is found again, by who runs it and by who lists it."""
    for number, (path, value) in enumerate(CASES):
        if (value.get("approval") or {}).get("via") in ("server", ["server"]):
            value = {**value, "approval": {**_SERVER, **value["approval"]}}
        sections = merge(project.plan, value)
        store = TrustStore(tmp_path / "trust" / str(number))
        material = collect_material(project.bundle(**sections), project.folder)
        store.trust(material, "ann")
        again = collect_material(project.bundle(**sections), project.folder)
        assert store.is_trusted(again), path
        assert [one.digest for one in store.list()] == [material.digest], path


def test_every_key_of_the_schema_is_tried() -> None:
    """Among them those that an outline keeps as a digest."""
    tried = {path for path, _ in CASES}
    assert {
        "approval.timeout",
        "approval.via[]",
        "audit.sign",
        "session.limits.agent_depth",
    } <= tried
    assert len(tried) > 100


def test_a_value_that_is_not_valid_is_no_bundle(project: Project) -> None:
    """So the values above are tried because they are valid, not because nobody looks."""
    with pytest.raises(BundleError):
        project.bundle(approval={"timeout": "soon"})
