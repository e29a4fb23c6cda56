"""Results on the wire, as hooks see them and back."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from amplifier_core.models import ToolResult
from amplifier_hooks.guards.mcp.results import (
    TOOL,
    WHOLE,
    add_texts,
    drop_lookalikes,
    hide_bulk,
    make_error,
    make_text,
    read_call,
    show_bulk,
    write_call,
)

BYTES = base64.b64encode(b"\xff\x00\xfe").decode()
TEXT = base64.b64encode(b"hello there?>").decode()
PICTURE_BLOCK = {"type": "image", "data": TEXT, "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("value", "key", "shown"),
    [
        (PICTURE_BLOCK, "data", "<"),
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
    assert show_bulk({**PICTURE_BLOCK, "data": "gone"}, PICTURE_BLOCK)["data"] == "gone"


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ({"content": [1], "Content": [2]}, {"content": [1]}),
        ({"ResultType": "input_required"}, {}),
        ({"content": [{"type": "text", "text": "a", "TEXT": "b"}]}, None),
        ({"inputRequests": {"Name": {"method": "a", "Method": "b"}}}, None),
        ({"tools": [{"name": "a", "DESCRIPTION": "b"}]}, {"tools": [{"name": "a"}]}),
    ],
)
def test_a_key_that_differs_in_case_only_goes(value: Any, left: Any) -> None:
    """At any depth, where the protocol gives the names."""
    found = drop_lookalikes(value)
    if left is not None:
        assert found == left
    assert found != value
    assert drop_lookalikes(found) is found


@pytest.mark.parametrize(
    "value",
    [
        {"structuredContent": {"Name": 1, "name": 2}},
        {"content": {"Name": "what a person filled in"}},
        {"inputResponses": {"Text": {"action": "accept"}, "text": {"action": "decline"}}},
        {"tools": [{"inputSchema": {"properties": {"Uri": {}}}}]},
        {"other": 1, "Other": 2},
        [1, "Content", None],
    ],
)
def test_names_that_are_the_servers_own_stay(value: Any) -> None:
    """The very same object comes back."""
    assert drop_lookalikes(value) is value


PICTURE = {"type": "image", "data": "aGVsbG8gd29ybGQ=", "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("result", "seen"),
    [
        ({"content": [make_text("a"), make_text("b")]}, "a\nb"),
        ({"content": []}, ""),
        ({"content": [make_text("3")], "structuredContent": {"result": 3}}, 3),
        ({"content": [make_text('{"a": 1}')], "structuredContent": {"a": 1}}, {"a": 1}),
        (
            {"content": [make_text("sum")], "structuredContent": {"a": 1}},
            {"content": "sum", "structuredContent": {"a": 1}},
        ),
    ],
)
def test_hooks_see_the_value_of_a_result(result: dict[str, Any], seen: Any) -> None:
    """Its parts only if it says more than one thing."""
    assert read_call(result) == ToolResult(output=seen)


def test_a_result_that_is_an_error_has_not_succeeded() -> None:
    """What it says is what went wrong."""
    read = read_call({"content": [make_text("broken")], "isError": True})
    assert (read.success, read.output, read.error) == (False, "broken", "broken")


def test_hooks_see_the_size_of_a_picture_and_clients_the_picture() -> None:
    """Also when a hook has changed something else."""
    before = {"content": [make_text("see"), PICTURE]}
    blocks = read_call(before).output
    assert blocks[1]["data"].startswith("<12 bytes, sha256 ")
    blocks[0]["text"] = "look"
    written = write_call(before, ToolResult(output=blocks))
    assert written == {"content": [make_text("look"), PICTURE]}


@pytest.mark.parametrize(
    ("before", "output", "written"),
    [
        ({"content": [make_text("a")]}, "b", {"content": [make_text("b")]}),
        ({"content": [], "_meta": {"x": 1}}, {"k": 1}, None),
        (
            {"content": [make_text("3")], "structuredContent": {"result": 3}},
            4,
            {"content": [make_text("4")], "structuredContent": {"result": 4}},
        ),
        (
            {"content": [make_text("{}")], "structuredContent": {}},
            {"a": 1},
            {"content": [make_text('{"a": 1}')], "structuredContent": {"a": 1}},
        ),
        (
            {"content": [make_text("x")], "structuredContent": {"a": 1}},
            {"content": "y", "structuredContent": {"a": 2}},
            {"content": [make_text("y")], "structuredContent": {"a": 2}},
        ),
    ],
)
def test_what_hooks_left_is_written_in_the_form_it_had(
    before: dict[str, Any], output: Any, written: Any
) -> None:
    """Nothing of the old content goes out beside it."""
    found = TOOL.write(before, ToolResult(output=output))
    if written is None:
        assert found == {"_meta": {"x": 1}, "content": [make_text('{"k": 1}')]}
    else:
        assert found == written


def test_a_result_that_hooks_made_a_failure_is_an_error() -> None:
    """With its reason."""
    written = write_call({"content": []}, ToolResult.failed("no"))
    assert written == {"content": [make_text("no")], "isError": True}


def test_an_error_says_that_it_is_complete_where_that_is_asked() -> None:
    """In the newer protocol."""
    assert make_error("no") == {"content": [make_text("no")], "isError": True}
    assert make_error("no", modern=True)["resultType"] == "complete"


def test_texts_come_behind_what_a_result_says() -> None:
    """Without any, it is the very same."""
    result = {"content": [make_text("a")]}
    assert add_texts(result, []) is result
    assert add_texts(result, ["b"])["content"] == [make_text("a"), make_text("b")]


def test_other_results_are_seen_as_they_are() -> None:
    """But for what is bulky, and only an object can be written."""
    before = {"contents": [{"uri": "a:b", "blob": "aGk="}]}
    seen = WHOLE.read(before)
    assert WHOLE.write(before, seen) == before
    with pytest.raises(TypeError, match="a hook left a str"):
        WHOLE.write(before, ToolResult(output="text"))
