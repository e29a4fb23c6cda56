"""Images, sounds and files in results."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from amplifier_hooks.guards.mcp.bulk import hide_bulk, show_bulk

BYTES = base64.b64encode(b"\xff\x00\xfe").decode()
TEXT = base64.b64encode(b"hello there?>").decode()
PICTURE = {"type": "image", "data": TEXT, "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("value", "key", "shown"),
    [
        (PICTURE, "data", "<"),
        ({"uri": "a:b", "blob": BYTES}, "blob", "<"),
        ({"uri": "a:b", "blob": TEXT}, "blob", "<base64 of this text> hello there?>"),
        ({"uri": "a:b", "blob": TEXT.replace("/", "_").rstrip("=")}, "blob", "<base64 of this"),
        ({"uri": "a:b", "blob": BYTES, "mimeType": "text/x"}, "blob", "<base64 of this text> "),
        ({"uri": "a:b", "blob": TEXT, "mimeType": "image/svg+xml"}, "blob", "<base64 of this"),
        ({"uri": "a:b", "blob": "no base64!"}, "blob", "no base64!"),
        ({"data": TEXT}, "data", TEXT),
        ({"blob": TEXT}, "blob", TEXT),
    ],
)
def test_hooks_see_a_text_or_a_size(value: dict[str, Any], key: str, shown: str) -> None:
    """What is a text for whoever reads it is one for hooks; unchanged, it is what it was."""
    seen = hide_bulk([{"resource": value}])
    assert seen[0]["resource"][key].startswith(shown)
    assert show_bulk(seen, [{"resource": value}]) == [{"resource": value}]


@pytest.mark.parametrize("key", ["structuredContent", "arguments", "input", "content"])
def test_names_of_others_hide_nothing(key: str) -> None:
    """Below these keys, something that looks like a file is what a server or a person calls so."""
    value = {key: {"uri": "a:b", "blob": BYTES}}
    assert hide_bulk(value) == value


def test_a_changed_text_is_written_in_base64() -> None:
    """And what a hook wrote in place of an image stays as it wrote it."""
    before = {"uri": "a:b", "blob": TEXT}
    seen = hide_bulk(before)["blob"].replace("hello", "bye")
    left = show_bulk({"uri": "a:b", "blob": seen}, before)
    assert base64.b64decode(left["blob"]) == b"bye there?>"
    assert show_bulk({**PICTURE, "data": "gone"}, PICTURE)["data"] == "gone"
