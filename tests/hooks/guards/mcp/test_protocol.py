"""Names of servers and of what they offer: models take them, and none stands for two things."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_core import events
from amplifier_hooks.guards.mcp.protocol import (
    LIST,
    LONGEST,
    ListData,
    check_server_name,
    identify_address,
    make_server_name,
    name_method,
    name_tool,
)

TAKEN_BY_MODELS = re.compile(r"[A-Za-z0-9_-]{1,64}")
SERVERS = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,30}[A-Za-z0-9-])?", fullmatch=True).filter(
    lambda name: "__" not in name
)


def test_a_plain_tool_keeps_its_name():
    """What people write in rules is what they read in the documentation of a server."""
    assert name_tool("time", "get_current_time") == "mcp__time__get_current_time"


@settings(max_examples=25)
@given(SERVERS, st.text(min_size=1, max_size=200))
def test_models_take_every_name(server, tool):
    """Whatever a server calls its tools."""
    assert TAKEN_BY_MODELS.fullmatch(name_tool(server, tool))


@settings(max_examples=25)
@given(SERVERS, SERVERS, st.text(min_size=1), st.text(min_size=1))
def test_two_tools_of_two_servers_never_have_one_name(one, other, tool, second):
    """So that no server can stand in for another."""
    if one != other:
        assert name_tool(one, tool) != name_tool(other, second)


@pytest.mark.parametrize(
    ("tool", "second"),
    [("a b", "a_b"), ("a.b", "a b"), ("x" * 100, "x" * 101), ("é", "è"), ("A", "a")],
)
def test_two_tools_of_one_server_that_look_alike_stay_apart(tool, second):
    """Digits that depend on the full name tell them apart."""
    assert name_tool("s", tool) != name_tool("s", second)


def test_a_long_name_is_shortened_to_what_models_take():
    """The beginning stays, for people who write rules with patterns."""
    name = name_tool("server", "a" * 100)
    assert len(name) == LONGEST
    assert name.startswith("mcp__server__aaa")


@pytest.mark.parametrize("name", ["a", "time", "my-server", "a_b", "A1", "x" * 32])
def test_a_fitting_name_of_a_server_is_taken(name):
    """Letters, digits, dashes and single underscores."""
    assert check_server_name(name) == name


@pytest.mark.parametrize("name", ["", "_a", "-a", "a_", "a__b", "a b", "a/b", "é", "x" * 33, "a\n"])
def test_a_name_that_could_be_mistaken_is_refused(name):
    """`a` with the tool `b__c` must not look like the server `a__b`."""
    with pytest.raises(ValueError, match="no name for a server"):
        check_server_name(name)


@settings(max_examples=25)
@given(st.text(max_size=80))
def test_any_name_can_be_made_fitting(name):
    """Clients call their servers whatever they like."""
    check_server_name(make_server_name(name))


def test_names_that_were_made_fitting_stay_apart():
    """Two servers of a client must not become one."""
    assert make_server_name("a b") != make_server_name("a/b")
    assert make_server_name("time") == "time"


def test_no_tool_is_called_like_a_method():
    """A server cannot name a tool so that rules for resources see it."""
    assert name_method("s", "resources/read") == "mcp__s__resources/read"
    assert name_tool("s", "resources/read") != name_method("s", "resources/read")


def test_no_tool_is_called_as_another_one_was_renamed():
    """A server could have its calls of one allowed under the name of the other."""
    renamed = name_tool("s", "read file")
    assert name_tool("s", renamed.removeprefix("mcp__s__")) != renamed


def test_two_addresses_are_two_servers_and_no_secret_stands_in_either() -> None:
    """What is often a key is told apart by its digest."""
    plain = "https://x.test/mcp"
    addresses = [plain, f"{plain}?server=a", f"{plain}?server=b", "https://me:pass@x.test/mcp"]
    found = [identify_address(one) for one in addresses]
    assert found[0] == plain
    assert len(set(found)) == 4
    assert not any(secret in one for one in found for secret in ("server=", "pass", "me:"))
    assert "[" not in identify_address("http://[broken")


def test_the_event_has_its_name_and_the_type_of_its_data() -> None:
    """So that hooks and their authors' tools know both."""
    assert LIST == "mcp:list"
    assert events.payload_type(LIST) is ListData
