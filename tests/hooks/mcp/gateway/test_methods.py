"""The methods that hooks judge."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.guards.mcp.frames import FrameError
from amplifier_hooks.mcp.gateway.methods import FROM_CLIENT, FROM_SERVER

META = {"progressToken": 1}


@pytest.mark.parametrize(
    ("method", "params", "name", "seen"),
    [
        ("tools/call", {"name": "a", "arguments": {"x": 1}}, "mcp__s__a", {"x": 1}),
        ("tools/call", {"name": "a"}, "mcp__s__a", {}),
        ("resources/read", {"uri": "a:b", "_meta": META}, "mcp__s__resources/read", {"uri": "a:b"}),
        (
            "prompts/get",
            {"name": "p", "arguments": {"x": "1"}},
            "mcp__s__prompts/get",
            {"name": "p", "arguments": {"x": "1"}},
        ),
        ("tasks/result", {"taskId": "t"}, "mcp__s__tasks/result", {"taskId": "t"}),
    ],
)
def test_hooks_see_what_a_client_asks_for(
    method: str, params: dict[str, Any], name: str, seen: dict[str, Any]
) -> None:
    """Under a name that rules can match; what they leave goes back to its place."""
    found = FROM_CLIENT[method]
    assert found.name_call("s", params) == name
    assert found.read(params) == seen
    assert found.read(found.put(params, seen)) == seen
    changed = found.put({**params, "_meta": META}, {**seen, "new": 1})
    assert changed["_meta"] == META
    assert found.read(changed) != seen or method != "tools/call"


def test_hooks_see_all_that_a_server_asks_for() -> None:
    """But for what only programs read; a key that a hook took out is gone."""
    sample = FROM_SERVER["sampling/createMessage"]
    params = {"messages": [], "maxTokens": 5, "_meta": META}
    assert sample.read(params) == {"messages": [], "maxTokens": 5}
    assert sample.put(params, {"messages": []}) == {"messages": [], "_meta": META}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {}),
        ("tools/call", {"name": None}),
        ("tools/call", {"name": "a", "arguments": []}),
        ("tools/call", {"name": "a", "ARGUMENTS": {}}),
        ("resources/read", {"uri": {}}),
        ("resources/read", {"uri": "a", "URI": "b"}),
        ("prompts/get", {"name": 1}),
        ("tasks/result", {}),
    ],
)
def test_what_cannot_be_judged_is_refused(method: str, params: dict[str, Any]) -> None:
    """With the id of the request."""
    with pytest.raises(FrameError) as caught:
        FROM_CLIENT[method].check(params, 9)
    assert caught.value.id == 9


ODD = (
    " delete_all",
    "delete_all ",
    "delete\u200b_all",
    "\uff44elete_all",
    "delete_all\n",
    "\ufb01nd",
    "",
)


@pytest.mark.parametrize("method", ["tools/call", "prompts/get"])
@pytest.mark.parametrize("name", ODD)
def test_a_name_that_could_be_taken_for_another_is_refused(method: str, name: str) -> None:
    """Rules and people read one name, and the server would run another."""
    with pytest.raises(FrameError, match="the name"):
        FROM_CLIENT[method].check({"name": name}, 1)


@pytest.mark.parametrize("name", ["delete_all", "List Files", "größe", "a/b.c-d", "日本"])
def test_ordinary_names_pass(name: str) -> None:
    """Whatever their language."""
    FROM_CLIENT["tools/call"].check({"name": name}, 1)
