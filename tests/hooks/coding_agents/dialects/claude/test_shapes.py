"""Texts in the shape of a tool's result."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.dialects.claude.shapes import has_shape, reshape
from tests.hooks.coding_agents.dialects.recordings import list_recordings, load_recording

SECRET = "sk-live-1234567890"
RECORDED = [name for name in list_recordings("claude") if name.startswith("PostToolUse.")]


def list_texts(value: Any) -> list[str]:
    """Every text in a value."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in list_texts(one)]


def describe(value: Any) -> Any:
    """The shape of a value: its keys, and the kinds of what they hold."""
    if isinstance(value, dict):
        return {key: describe(inner) for key, inner in value.items()}
    return type(value)


@pytest.mark.parametrize("name", ["PostToolUse", *RECORDED])
def test_a_result_keeps_its_shape_and_shows_the_text_once(name: str) -> None:
    """The program drops a result of any other shape, and shows the old one."""
    recorded = load_recording("claude", name)
    shaped = reshape(recorded["tool_name"], recorded["tool_response"], "[hidden]")
    assert describe(shaped) == describe(recorded["tool_response"])
    assert list_texts(shaped).count("[hidden]") == 1


@pytest.mark.parametrize(
    ("tool", "shape", "expected"),
    [
        (
            "Bash",
            {"stdout": "", "stderr": SECRET, "interrupted": True, "isImage": False},
            {"stdout": "T", "stderr": "", "interrupted": True, "isImage": False},
        ),
        (
            "Bash",
            {"stdout": "aW1hZ2U=", "stderr": "", "interrupted": False, "isImage": True},
            {"stdout": "T", "stderr": "", "interrupted": False, "isImage": False},
        ),
        (
            "Grep",
            {"mode": "content", "filenames": [], "content": SECRET, "numLines": 1},
            {"mode": "content", "filenames": [], "content": "T", "numLines": 1},
        ),
        (
            "Grep",
            {"mode": "files_with_matches", "filenames": ["a", SECRET], "numFiles": 2},
            {"mode": "files_with_matches", "filenames": ["T"], "numFiles": 2},
        ),
        (
            "Glob",
            {"filenames": ["a", "b"], "durationMs": 1, "numFiles": 2, "truncated": False},
            {"filenames": ["T"], "durationMs": 1, "numFiles": 2, "truncated": False},
        ),
        (
            "WebFetch",
            {"bytes": 9, "code": 200, "codeText": "OK", "result": SECRET, "url": "https://a.test"},
            {"bytes": 9, "code": 200, "codeText": "", "result": "T", "url": ""},
        ),
        (
            "TaskOutput",
            {"retrieval_status": "success", "task": {"task_type": "bash", "log": SECRET}},
            {"retrieval_status": "success", "task": {"task_type": "bash", "log": "T"}},
        ),
        (
            "ToolSearch",
            {"matches": ["TaskCreate"], "query": "select:TaskCreate", "total_deferred_tools": 15},
            {"matches": [], "query": "T", "total_deferred_tools": 15},
        ),
        ("Unknown", {"a": "x", "b": SECRET, "n": 1}, {"a": "", "b": "T", "n": 1}),
        ("Unknown", {"n": 1, "empty": []}, {"n": 1, "empty": []}),
        ("Unknown", [{"text": SECRET}, {"text": "x"}], [{"text": "T"}, {"text": ""}]),
        ("Unknown", SECRET, "T"),
        ("Unknown", None, "T"),
    ],
)
def test_nothing_is_left_of_the_old_result_but_what_says_what_it_is(
    tool: str, shape: Any, expected: Any
) -> None:
    """Words with a fixed set of values stay, or the program would refuse the whole."""
    assert reshape(tool, shape, "T") == expected


@pytest.mark.parametrize(
    "shape",
    [
        {"type": "image", "file": {"base64": "aW1hZ2U=", "filePath": "/p/a.png"}},
        {"type": "notebook", "file": {"filePath": "/p/a.png", "cells": [{"source": SECRET}]}},
    ],
)
def test_a_picture_that_must_not_be_seen_becomes_a_file_of_text(shape: Any) -> None:
    """A text in the place of its bytes would be no picture."""
    file = {"filePath": "/p/a.png", "content": "T", "numLines": 1, "startLine": 1, "totalLines": 1}
    assert reshape("Read", shape, "T") == {"type": "text", "file": file}


@pytest.mark.parametrize(
    ("shape", "output", "expected"),
    [
        ({"a": 1}, {"a": "x"}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1}, [1], False),
        ([1], ["a", "b"], True),
        ([1], {"a": 1}, False),
        ("text", {"a": 1}, True),
    ],
)
def test_a_shape_is_known_by_its_outermost_keys(shape: Any, output: Any, expected: bool) -> None:
    """A tool that gives no object takes anything."""
    assert has_shape(shape, output) is expected


values = st.recursive(
    st.text(max_size=9) | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


@given(st.sampled_from(["Bash", "Read", "Other"]), values)
def test_no_shape_can_break_it_and_no_secret_survives(tool: str, shape: Any) -> None:
    """Whatever a tool of tomorrow gives."""
    shaped = reshape(tool, {"unknown": shape, "secret": SECRET}, "T")
    assert SECRET not in list_texts(shaped)


def test_a_bottomless_result_is_cut_off() -> None:
    """It is not worth a crash."""
    deep: Any = SECRET
    for _ in range(900):
        deep = {"a": deep}
    assert SECRET not in list_texts(reshape("Other", deep, "T"))
