"""The encoder of pydantic_core, for writers in whose environment it is installed.

Imported only by `encoding`, and only when something is written: reading and verifying need the
standard library alone. What it writes reads as what the standard library would write.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic_core import SchemaValidator, core_schema, to_json

from amplifier_audit.format.limits import KEY_LIMIT, SAFE_INTEGER, WIDE


def dump_ascii(value: Any) -> bytes:
    """The JSON of a value that the walk has simplified."""
    return to_json(value, ensure_ascii=True)


def encode_usual(value: Any) -> bytes | None:
    """The JSON of an object that needs no walk, which is nearly every record, or None.

    Few brackets cannot be nested deep, and a short text has few members: so all limits hold.
    """
    if type(value) is not dict or not _make_plain_validator().isinstance_python(value):
        return None
    text = to_json(value, ensure_ascii=True)
    few = len(text) <= WIDE.text and text.count(b"{") + text.count(b"[") <= WIDE.depth
    return text if few and b"\\ud" not in text else None


@cache
def _make_plain_validator() -> SchemaValidator:
    """Accepts dicts of what JSON and the strict parser take as it is, at any depth."""
    entry = core_schema.definition_reference_schema("entry")
    name = core_schema.str_schema(strict=True, max_length=KEY_LIMIT)
    members = core_schema.dict_schema(name, entry, strict=True, max_length=WIDE.members)
    kinds = core_schema.union_schema(
        [
            core_schema.str_schema(strict=True, max_length=WIDE.text),
            core_schema.none_schema(),
            core_schema.bool_schema(strict=True),
            core_schema.int_schema(ge=-SAFE_INTEGER, le=SAFE_INTEGER, strict=True),
            # Integers get here as well, rounded: 2^53 + 1 would pass for 2^53.
            core_schema.float_schema(
                gt=-SAFE_INTEGER, lt=SAFE_INTEGER, strict=True, allow_inf_nan=False
            ),
            members,
            core_schema.list_schema(entry, strict=True, max_length=WIDE.members),
        ],
        mode="left_to_right",
        ref="entry",
    )
    return SchemaValidator(core_schema.definitions_schema(members, [kinds]))
